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

/// One position: 24 bytes.
#[derive(Clone, Copy, Default)]
struct Entry {
    key: u64,
    leaf: u64,
    generation: u32,
    turn: u16,
    reach: u8,
    known: u8,
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
            table.entries = vec![Entry::default(); size];
            table.generation = 0;
        }
        table.generation = table.generation.wrapping_add(1);
        if table.generation == 0 {
            table.entries.fill(Entry::default());
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
        let entry = self.entries.get(key as usize & self.mask)?;
        if entry.key != key || entry.generation != self.generation {
            return None;
        }
        let known = match entry.known {
            0 => Known::Exactly,
            1 => Known::AtLeast,
            _ => Known::AtMost,
        };
        Some(Memory { leaf: Leaf(entry.leaf), known, reach: entry.reach, turn: entry.turn })
    }

    /// Stores what was found, unless the place holds another position searched much further.
    #[inline]
    pub fn put(&mut self, key: u64, memory: Memory) {
        let generation = self.generation;
        let Some(entry) = self.entries.get_mut(key as usize & self.mask) else {
            return;
        };
        let taken = entry.generation == generation && entry.key != key;
        if taken && entry.reach > memory.reach + 8 {
            // Let the next one have it: nothing stays for ever.
            entry.reach -= 4;
            return;
        }
        let turn = if memory.turn == 0 && entry.key == key { entry.turn } else { memory.turn };
        *entry = Entry {
            key,
            leaf: memory.leaf.0,
            generation,
            turn,
            reach: memory.reach,
            known: memory.known as u8,
        };
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
