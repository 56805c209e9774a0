//! What a line leads to, in one word: the counts of its last board and how its value is known.

use super::rules::{Position, Rules, score};
use super::survey::{Counts, Survey};
use super::terms::{Term, WallgoTerms, access_values, fast_values};
use crate::bot::{Unit, Weights};

/// How the value of a leaf is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Weighed.
    Open = 0,
    /// The game is over, and won by the deciding side.
    EndWon = 1,
    /// Over and lost.
    EndLost = 2,
    /// Over and drawn.
    EndDrawn = 3,
    /// A lead of the deciding side that can no longer be caught (L5).
    CountWon = 4,
    /// A lead of the other side.
    CountLost = 5,
    /// Counts as a total of 0: a loss that is not proved.
    Zero = 6,
    /// Counts as one half: a capped line.
    Half = 7,
    /// Counts as 1: a win seen in a narrowed set.
    One = 8,
}

const KINDS: [Kind; 9] = [
    Kind::Open,
    Kind::EndWon,
    Kind::EndLost,
    Kind::EndDrawn,
    Kind::CountWon,
    Kind::CountLost,
    Kind::Zero,
    Kind::Half,
    Kind::One,
];

/// Counts from the deciding side's point of view (49 bits), kind (4 bits), plies to the end (7 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leaf(pub u64);

const KIND: u32 = 49;
const PLIES: u32 = 53;

impl Leaf {
    /// A leaf of this kind with these counts, `plies` from where the distance is counted.
    #[inline]
    pub const fn new(kind: Kind, counts: &Counts, plies: u32) -> Self {
        Self(counts.pack() | (kind as u64) << KIND | (plies as u64) << PLIES)
    }

    /// How its value is known.
    #[inline]
    pub const fn kind(self) -> Kind {
        let kind = (self.0 >> KIND & 15) as usize;
        KINDS[if kind < KINDS.len() { kind } else { 0 }]
    }

    /// Plies to the end; meant for ends only.
    #[inline]
    pub const fn plies(self) -> u32 {
        (self.0 >> PLIES & 127) as u32
    }

    /// Its counts.
    #[inline]
    pub const fn counts(self) -> Counts {
        Counts::unpack(self.0)
    }

    /// The same with its distance counted from `plies` further away.
    #[inline]
    #[must_use]
    pub const fn farther(self, plies: u32) -> Self {
        Self(self.0 + ((plies as u64) << PLIES))
    }

    /// The same with its distance counted from `plies` nearer.
    #[inline]
    #[must_use]
    pub const fn nearer(self, plies: u32) -> Self {
        Self(self.0 - ((plies as u64) << PLIES))
    }

    /// The same as another kind.
    #[must_use]
    pub const fn of_kind(self, kind: Kind) -> Self {
        Self(self.0 & !(15 << KIND) | (kind as u64) << KIND)
    }

    /// The margin that an end or a count guarantees the deciding side from its board on, in cells; negative when it is a
    /// loss. Backed up through a search it is the margin of one line: [`FastWeights::value`] puts the distance first.
    pub const fn margin(self) -> i32 {
        let counts = self.counts();
        match self.kind() {
            Kind::EndWon | Kind::EndLost | Kind::EndDrawn => counts.lead(),
            Kind::CountWon => counts.lead() - counts.mixed as i32,
            Kind::CountLost => counts.lead() + counts.mixed as i32,
            _ => 0,
        }
    }

    /// The terms a row shows that ends in this leaf.
    pub fn terms(self) -> WallgoTerms {
        match self.kind() {
            Kind::EndDrawn | Kind::Half => WallgoTerms::level(Unit::HALF),
            Kind::Zero => WallgoTerms::level(Unit::ZERO),
            Kind::One => WallgoTerms::level(Unit::ONE),
            _ => WallgoTerms::fast(&self.counts()),
        }
    }
}

/// The weights of the fast terms, for use inside a search.
#[derive(Clone, Copy, Debug)]
pub struct FastWeights {
    territory: f64,
    decided: f64,
    majority: f64,
    distance: f64,
    turn_distance: f64,
    exits: f64,
    turn: f64,
    active: f64,
}

/// What territory, the turn and the pieces that still compete are worth.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    land: f64,
    turn: f64,
    active: f64,
}

/// Above every total, below every proof by counting.
pub const PROVED: f64 = 2.0;

impl FastWeights {
    /// Those of a policy. Terms that counts do not tell must not be among them.
    pub fn of(weights: &Weights<WallgoTerms>) -> Self {
        let weight = |term: Term| weights.in_force(term as usize);
        Self {
            territory: weight(Term::Territory),
            decided: weight(Term::Decided),
            majority: weight(Term::Majority),
            distance: weight(Term::Distance),
            turn_distance: weight(Term::TurnDistance),
            exits: weight(Term::Exits),
            turn: weight(Term::Turn),
            active: weight(Term::Active),
        }
    }

    /// The total of a row that ends in these counts, bit for bit: the same sum in the same order.
    #[inline(always)]
    pub fn total(&self, counts: &Counts) -> f64 {
        self.with(&self.fixed(counts), counts)
    }

    /// The part of a total that walls and pieces do not change as long as no region is parted.
    #[inline(always)]
    pub fn fixed(&self, counts: &Counts) -> Fixed {
        let values = fast_values(counts);
        Fixed {
            land: values.territory * self.territory + values.decided * self.decided + values.majority * self.majority,
            turn: values.turn * self.turn,
            active: values.active * self.active,
        }
    }

    /// The total of counts whose fixed part is this one.
    #[inline(always)]
    pub fn with(&self, fixed: &Fixed, counts: &Counts) -> f64 {
        let access = access_values(counts);
        fixed.land
            + access.distance * self.distance
            + access.turn_distance * self.turn_distance
            + access.exits * self.exits
            + fixed.turn
            + fixed.active
    }

    /// What a leaf is worth to the deciding side. Ends beyond ±9, counts beyond ±5, totals in 0..=1: an end sooner and a
    /// larger margin first among wins, an end later first among losses.
    #[inline]
    pub fn value(&self, leaf: Leaf) -> f64 {
        match leaf.kind() {
            Kind::Open => self.total(&leaf.counts()),
            Kind::EndWon => 11.0 - f64::from(leaf.plies()) * 0.01 + f64::from(leaf.margin()) * 0.0001,
            Kind::EndLost => -11.0 + f64::from(leaf.plies()) * 0.01 + f64::from(leaf.margin()) * 0.0001,
            Kind::CountWon => 5.0 + f64::from(leaf.margin()) * 0.001,
            Kind::CountLost => -5.0 + f64::from(leaf.margin()) * 0.001,
            Kind::EndDrawn | Kind::Half => 0.5,
            Kind::Zero => 0.0,
            Kind::One => 1.0,
        }
    }
}

/// Judges positions for one deciding side.
#[derive(Clone, Copy, Debug)]
pub struct Judge<'a> {
    /// The switches.
    pub rules: &'a Rules,
    /// The deciding side.
    pub me: usize,
    /// Whether a lead larger than the mixed cells counts as decided.
    pub counting: bool,
}

impl Judge<'_> {
    /// The leaf that a position is, and its worth to the deciding side; `ply` plies from the root.
    #[inline(always)]
    pub fn judged(&self, weights: &FastWeights, position: &Position, ply: u32) -> (f64, Leaf) {
        let survey = Survey::of(&position.board);
        let counts = survey.counts(&position.board, self.me, position.mover() == self.me);
        if counts.mixed == 0 || position.blocked(self.rules) {
            let leaf = self.end(position, &survey, &counts, ply);
            return (weights.value(leaf), leaf);
        }
        let leaf = self.counted(&counts);
        let value = if leaf.kind() == Kind::Open { weights.total(&counts) } else { weights.value(leaf) };
        (value, leaf)
    }

    /// The leaf that a position is.
    pub fn leaf(&self, position: &Position, ply: u32) -> Leaf {
        let survey = Survey::of(&position.board);
        let counts = survey.counts(&position.board, self.me, position.mover() == self.me);
        if counts.mixed == 0 || position.blocked(self.rules) {
            return self.end(position, &survey, &counts, ply);
        }
        self.counted(&counts)
    }

    /// The leaf of a game that is not over.
    #[inline(always)]
    fn counted(&self, counts: &Counts) -> Leaf {
        let kind = match if self.counting { counts.decided() } else { 0 } {
            1 => Kind::CountWon,
            -1 => Kind::CountLost,
            _ => Kind::Open,
        };
        Leaf::new(kind, counts, 0)
    }

    #[inline(never)]
    fn end(&self, position: &Position, survey: &Survey, counts: &Counts, ply: u32) -> Leaf {
        let kind = match score(self.rules, &position.board, &survey.territory).winner {
            Some(winner) if usize::from(winner) == self.me => Kind::EndWon,
            Some(_) => Kind::EndLost,
            None => Kind::EndDrawn,
        };
        Leaf::new(kind, counts, ply.min(127))
    }
}
