//! Certain finishing lines: plays that nobody can answer, one after the other, and a last meld that needs no proof.
//!
//! Nobody plays in between, so what is unseen and the others' counts stay fixed along the line. Such a line is optimal,
//! not only winning: it ends the round with an empty hand and the others' tiles as they are, and they can only fall.

use super::Move;
use super::meld::Meld;
use super::melds;
use super::reading::{Reading, goes_out};
use super::tile::TileSet;
use super::view::View;

/// Melds looked at before giving up: a bound for hands that no game brings.
const STEPS: u32 = 100_000;

/// A meld of the hand, as a set of places in it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    places: u16,
    meld: Meld,
    certain: bool,
}

/// The search for lines from one hand.
#[derive(Clone, Debug)]
pub struct Lines {
    tiles: Vec<TileSet>,
    /// By the lowest place.
    pieces: Vec<Vec<Piece>>,
    /// Fewest plays for a set of places: with one unproven meld allowed, and with none. 0: not known yet.
    known: Vec<[u8; 2]>,
    steps: u32,
}

/// More plays than any hand has tiles: no line.
const NONE: u8 = u8::MAX;

impl Lines {
    /// The search from this view; `None` when it is plain that there is no line.
    pub fn of(view: &View, reading: &Reading<'_>) -> Option<Self> {
        let hand = view.hand();
        let (mut found, mut covered) = (Vec::new(), TileSet::EMPTY);
        melds::all(hand, view.deck(), |meld| {
            let certain = reading.unseen().certain(&meld);
            if certain {
                covered = covered.or(meld.tiles());
            }
            found.push((meld, certain));
        });
        // Tiles that no certain play sheds must go in the one last meld.
        let orphans = hand.minus(covered);
        if covered.is_empty() || (!orphans.is_empty() && !found.iter().any(|(meld, _)| orphans.within(meld.tiles()))) {
            return None;
        }
        let tiles: Vec<TileSet> = hand.into_iter().map(TileSet::of).collect();
        let mut lines = Self { known: vec![[0; 2]; 1 << tiles.len()], pieces: vec![Vec::new(); tiles.len()], tiles, steps: 0 };
        for (meld, certain) in found {
            let places = lines.places(meld.tiles());
            lines.pieces[places.trailing_zeros() as usize].push(Piece { places, meld, certain });
        }
        Some(lines)
    }

    fn places(&self, set: TileSet) -> u16 {
        self.tiles.iter().enumerate().fold(0, |places, (i, tile)| places | u16::from(set.meets(*tile)) << i)
    }

    /// Fewest plays that shed `left`, all of them certain but for `free` (0 or 1) of them.
    fn fewest(&mut self, left: u16, free: usize) -> u8 {
        if left == 0 {
            return 0;
        }
        let known = self.known[usize::from(left)][1 - free];
        if known != 0 {
            return known;
        }
        let mut best = NONE;
        let lowest = left.trailing_zeros() as usize;
        for i in 0..self.pieces[lowest].len() {
            self.steps += 1;
            if self.steps > STEPS {
                return NONE;
            }
            let piece = self.pieces[lowest][i];
            let used = usize::from(!piece.certain);
            if piece.places & !left == 0 && used <= free {
                best = best.min(self.fewest(left & !piece.places, free - used).saturating_add(1));
            }
        }
        self.known[usize::from(left)][1 - free] = best;
        best
    }

    /// The shortest certain line that starts with `first`, its own play included.
    pub fn from(&mut self, view: &View, reading: &Reading<'_>, first: &Meld) -> Option<Vec<Move>> {
        if goes_out(view, first) {
            return Some(vec![Move::Play(*first)]);
        }
        if !reading.unseen().certain(first) {
            return None;
        }
        let all = self.places(view.hand());
        let mut left = all & !self.places(first.tiles());
        let mut plays = self.fewest(left, 1);
        if plays == NONE {
            return None;
        }
        let (mut line, mut last, mut free) = (vec![Move::Play(*first)], None, 1);
        while left != 0 {
            let piece = self.next(left, free, plays)?;
            if piece.certain {
                line.push(Move::Play(piece.meld));
            } else {
                (last, free) = (Some(Move::Play(piece.meld)), 0);
            }
            left &= !piece.places;
            plays -= 1;
        }
        line.extend(last);
        Some(line)
    }

    /// A piece with which `left` takes `plays` plays.
    fn next(&mut self, left: u16, free: usize, plays: u8) -> Option<Piece> {
        let pieces = self.pieces[left.trailing_zeros() as usize].clone();
        pieces.into_iter().find(|piece| {
            let used = usize::from(!piece.certain);
            piece.places & !left == 0 && used <= free && self.fewest(left & !piece.places, free - used) == plays - 1
        })
    }
}
