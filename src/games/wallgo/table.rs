//! The transposition table: what earlier lines of the same decision found out about a position.

use std::cell::RefCell;

use super::leaf::Leaf;
use super::rules::Position;

/// What the stored leaf says about the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Known {
    /// It is the value.
    Exactly = 0,
    /// The value is at least this.
    AtLeast = 1,
    /// At most this.
    AtMost = 2,
}

/// One position: its key, the leaf, and a [`Rest`]. Plain numbers, because a table of zeros comes from the system
/// untouched: pages that no search has reached cost neither time nor memory.
type Entry = [u64; 3];

/// What fits beside key and leaf.
#[derive(Clone, Copy)]
struct Rest {
    generation: u32,
    turn: u16,
    reach: u8,
    known: u8,
}

impl Rest {
    const fn of(word: u64) -> Self {
        Self { generation: word as u32, turn: (word >> 32) as u16, reach: (word >> 48) as u8, known: (word >> 56) as u8 }
    }

    const fn word(self) -> u64 {
        self.generation as u64 | (self.turn as u64) << 32 | (self.reach as u64) << 48 | (self.known as u64) << 56
    }
}

/// What the table knows of a position.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The leaf its best line led to; plies counted from the position.
    pub leaf: Leaf,
    /// What the leaf says.
    pub known: Known,
    /// How far was searched, in the searcher's own measure.
    pub reach: u8,
    /// The best turn's bits; 0 for none.
    pub turn: u16,
}

/// Entries of a full table: 48 MiB.
const FULL: usize = 1 << 21;
/// Entries of the smallest.
const LEAST: usize = 1 << 12;

/// A table of one thread. A generation a decision: what an earlier decision stored is as good as empty, so decisions
/// repeat exactly whatever ran before.
#[derive(Default)]
pub struct Table {
    entries: Vec<Entry>,
    mask: usize,
    generation: u32,
}

thread_local! {
    static KEPT: RefCell<Table> = RefCell::default();
}

impl Table {
    /// The thread's table, emptied, with room for about `nodes` nodes. Memory is taken on first use and kept.
    pub fn borrow(nodes: Option<u64>) -> Self {
        let mut table = KEPT.with(|kept| kept.take());
        // One node in four is stored at most; the size must not depend on anything but the limit.
        let wanted = nodes.map_or(FULL, |nodes| usize::try_from(nodes / 4).unwrap_or(FULL));
        let size = wanted.clamp(LEAST, FULL).next_power_of_two();
        if table.entries.len() < size {
            table.entries = vec![[0; 3]; size];
            table.generation = 0;
        }
        table.generation = table.generation.wrapping_add(1);
        if table.generation == 0 {
            table.entries.fill([0; 3]);
            table.generation = 1;
        }
        table.mask = size - 1;
        table
    }

    /// Hands it back to the thread.
    pub fn give_back(self) {
        KEPT.with(|kept| kept.replace(self));
    }

    /// What is known of a position.
    #[inline]
    pub fn get(&self, key: u64) -> Option<Memory> {
        let [stored, leaf, rest] = *self.entries.get(key as usize & self.mask)?;
        let rest = Rest::of(rest);
        if stored != key || rest.generation != self.generation {
            return None;
        }
        let known = match rest.known {
            0 => Known::Exactly,
            1 => Known::AtLeast,
            _ => Known::AtMost,
        };
        Some(Memory { leaf: Leaf(leaf), known, reach: rest.reach, turn: rest.turn })
    }

    /// Stores what was found, unless the place holds another position searched much further.
    #[inline]
    pub fn put(&mut self, key: u64, memory: Memory) {
        let generation = self.generation;
        let Some(entry) = self.entries.get_mut(key as usize & self.mask) else {
            return;
        };
        let mut old = Rest::of(entry[2]);
        let fresh = old.generation == generation;
        if fresh && entry[0] != key && old.reach > memory.reach + 8 {
            // Let the next one have it: nothing stays for ever.
            old.reach -= 4;
            entry[2] = old.word();
            return;
        }
        let turn = if memory.turn == 0 && fresh && entry[0] == key { old.turn } else { memory.turn };
        let rest = Rest { generation, turn, reach: memory.reach, known: memory.known as u8 };
        *entry = [key, memory.leaf.0, rest.word()];
    }
}

/// A hash of everything that matters of a position; passes count as none or some.
#[inline]
pub fn key(position: &Position) -> u64 {
    const fn mix(hash: u64, word: u64) -> u64 {
        let mixed = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        mixed ^ (mixed >> 29)
    }
    let board = &position.board;
    let rest = position.to_move as u64
        | ((position.passes > 0) as u64) << 1
        | (position.walls_left[0] as u64) << 8
        | (position.walls_left[1] as u64) << 16;
    let mut hash = mix(rest | 1 << 63, board.pieces[0]);
    hash = mix(hash, board.pieces[1]);
    hash = mix(hash, board.east);
    hash = mix(hash, board.south);
    mix(hash, hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(turn: u16, reach: u8) -> Memory {
        Memory { leaf: Leaf(0), known: Known::AtMost, reach, turn }
    }

    #[test]
    fn nothing_of_an_earlier_decision_is_left() {
        let mut table = Table::borrow(Some(0));
        table.put(7, memory(3, 20));
        assert_eq!(table.get(7).map(|known| known.turn), Some(3));
        table.put(7, memory(0, 1));
        assert_eq!(table.get(7).map(|known| known.turn), Some(3), "the same decision keeps the turn it knew");
        table.give_back();

        let mut table = Table::borrow(Some(0));
        assert!(table.get(7).is_none());
        table.put(7, memory(0, 1));
        assert_eq!(table.get(7).map(|known| known.turn), Some(0), "another decision's turn");
        // A deep entry of an earlier decision holds no place.
        table.put(9, memory(4, 40));
        table.give_back();
        let mut table = Table::borrow(Some(0));
        table.put(9 + LEAST as u64, memory(5, 1));
        assert_eq!(table.get(9 + LEAST as u64).map(|known| known.turn), Some(5));
        table.give_back();
    }
}
