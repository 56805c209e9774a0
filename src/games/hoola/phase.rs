//! What the seat to answer may do: at turn start, in its turn, in the thank-you window.

use super::card::{Card, Cards};
use super::meld::{MeldKind, Melds, each_claim, each_group, holds_group, lay_off, new_kind};
use super::moves::{Move, StopKind};
use super::rules::{DiscardDraw, Rules};
use crate::bot::Seat;

/// What is being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Stop, draw, or take the open discard.
    TurnStart,
    /// Register, lay off, discard.
    Action,
    /// Claim the open discard or pass.
    Window,
}

/// The lay-offs made so far in a turn: they may cost the right to a hoola.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layoffs {
    /// None.
    #[default]
    None,
    /// Only on own melds.
    Own,
    /// On another seat's meld at least once.
    Others,
}

/// The turn in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnSoFar {
    /// Whether the seat was registered when the turn began.
    pub registered_at_start: bool,
    /// The discard it began with; none when the card came from the deck.
    pub taken_card: Option<Card>,
    /// Whose discard that was; none also for the opening card.
    pub taken_from: Option<Seat>,
    /// Lay-offs so far.
    pub layoffs: Layoffs,
}

/// What decides which moves are legal: own hand and what lies open. The referee's table and a seat's view both show it.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The switches in force.
    pub rules: &'a Rules,
    /// What is asked.
    pub phase: Phase,
    /// The hand of the seat that is asked.
    pub hand: Cards,
    /// Whether it has registered.
    pub registered: bool,
    /// The table.
    pub melds: &'a Melds,
    /// The last discard. At turn start and in a window it is open.
    pub open: Card,
    /// In a turn: the discard it began with.
    pub taken: Option<Card>,
}

impl Scene<'_> {
    /// Value of the hand.
    pub fn sum(&self) -> u32 {
        self.hand.sum(self.rules.seven())
    }

    /// Whether the condition of a stop holds.
    pub fn may_stop(&self, kind: StopKind) -> bool {
        let sum = self.sum();
        let low = !self.registered && sum <= u32::from(self.rules.low_limit);
        match kind {
            StopKind::Chongtong => {
                self.hand.sevens() == 4 && !(self.rules.chongtong_unregistered_only && self.registered)
            }
            StopKind::Low => low,
            StopKind::High => !self.registered && sum >= u32::from(self.rules.high_limit),
            StopKind::Normal => sum <= u32::from(self.rules.stop_limit) && !low,
        }
    }

    /// The card that may not be discarded: the one just taken under FREE, unless it is the only one left.
    pub fn just_taken(&self) -> Option<Card> {
        let held = self.taken.filter(|&card| self.rules.discard_draw == DiscardDraw::Free && self.hand.has(card));
        held.filter(|_| self.hand.len() > 1)
    }

    /// The cards that may be discarded.
    pub fn discards(&self) -> Cards {
        self.just_taken().map_or(self.hand, |card| self.hand.without(card))
    }

    /// Calls `found` with every legal move once, in no particular order.
    pub fn each_move(&self, mut found: impl FnMut(Move)) {
        match self.phase {
            Phase::TurnStart => {
                StopKind::ALL.into_iter().filter(|&kind| self.may_stop(kind)).for_each(|kind| found(Move::Stop(kind)));
                found(Move::Draw);
                match self.rules.discard_draw {
                    DiscardDraw::ThankyouOnly => {}
                    DiscardDraw::Free => found(Move::Take(Cards::NONE)),
                    DiscardDraw::MeldOnly => {
                        each_claim(self.hand, self.open, self.rules.run_wrap, |own| found(Move::Take(own)));
                    }
                }
            }
            Phase::Window => {
                found(Move::Pass);
                each_claim(self.hand, self.open, self.rules.run_wrap, |own| found(Move::Claim(own)));
            }
            Phase::Action => {
                self.each_new_meld(|cards| found(Move::Register(cards)));
                if self.registered {
                    self.each_lay_off(|meld, cards| found(Move::LayOff { meld, cards }));
                }
                self.discards().iter().for_each(|card| found(Move::Discard(card)));
            }
        }
    }

    /// Every new meld in the hand, the single 7s included.
    pub fn each_new_meld(&self, mut found: impl FnMut(Cards)) {
        each_group(self.hand, self.rules.run_wrap, &mut found);
        (self.hand & Cards::SEVENS).iter().for_each(|seven| found(Cards::of(seven)));
    }

    /// Every lay-off that a registered seat could make: one card, or two 7s on a SEVEN.
    pub fn each_lay_off(&self, mut found: impl FnMut(u8, Cards)) {
        for (id, meld) in self.melds.list().iter().enumerate() {
            (self.hand & meld.fits).iter().for_each(|card| found(id as u8, Cards::of(card)));
            if meld.kind == MeldKind::Seven {
                each_pair(self.hand & Cards::SEVENS, |pair| found(id as u8, pair));
            }
        }
    }

    /// Every legal move, in canonical order.
    pub fn legal(&self) -> Vec<Move> {
        let mut moves = Vec::with_capacity(24);
        self.each_move(|mv| moves.push(mv));
        moves.sort_unstable();
        moves
    }

    /// Whether the move is legal: the rules asked directly, without listing.
    pub fn is_legal(&self, mv: &Move) -> bool {
        let wrap = self.rules.run_wrap;
        let melds_open = |own: Cards| {
            let own_only = self.hand.covers(own) && own.len() >= 2;
            own_only && new_kind(own.with(self.open), wrap).is_some()
        };
        match (self.phase, *mv) {
            (Phase::TurnStart, Move::Stop(kind)) => self.may_stop(kind),
            (Phase::TurnStart, Move::Draw) | (Phase::Window, Move::Pass) => true,
            (Phase::TurnStart, Move::Take(own)) => match self.rules.discard_draw {
                DiscardDraw::MeldOnly => melds_open(own),
                DiscardDraw::ThankyouOnly => false,
                DiscardDraw::Free => own.is_empty(),
            },
            (Phase::Window, Move::Claim(own)) => melds_open(own),
            (Phase::Action, Move::Register(cards)) => self.hand.covers(cards) && new_kind(cards, wrap).is_some(),
            (Phase::Action, Move::LayOff { meld, cards }) => {
                let meld = self.melds.list().get(usize::from(meld));
                let fits = meld.and_then(|meld| lay_off(meld.kind, meld.cards, cards, wrap)).is_some();
                self.registered && self.hand.covers(cards) && fits
            }
            (Phase::Action, Move::Discard(card)) => self.discards().has(card),
            _ => false,
        }
    }

    /// Moves a player might expect although a rule forbids them here, with the rule.
    pub fn refused(&self) -> Vec<(Move, &'static str)> {
        match self.phase {
            Phase::TurnStart if self.sum() > u32::from(self.rules.stop_limit) => {
                vec![(Move::Stop(StopKind::Normal), "OVER_LIMIT")]
            }
            Phase::Action => self.refused_in_turn(),
            Phase::TurnStart | Phase::Window => Vec::new(),
        }
    }

    fn refused_in_turn(&self) -> Vec<(Move, &'static str)> {
        let mut refused = Vec::new();
        for (id, meld) in self.melds.list().iter().enumerate() {
            let lay = |card| Move::LayOff { meld: id as u8, cards: Cards::of(card) };
            let held_sevens = (self.hand & Cards::SEVENS).iter();
            match meld.kind {
                MeldKind::Seven => refused.extend(held_sevens.map(|seven| (lay(seven), "NEEDS_TWO_SEVENS"))),
                // Only a run of two shows that it began as a SEVEN.
                MeldKind::Run if meld.cards.len() == 2 => {
                    refused.extend(held_sevens.map(|seven| (lay(seven), "RUN_LOCKED")));
                }
                MeldKind::Run | MeldKind::Set => {}
            }
            if !self.registered {
                refused.extend((self.hand & meld.fits).iter().map(|card| (lay(card), "NOT_REGISTERED")));
            }
        }
        refused.extend(self.just_taken().map(|card| (Move::Discard(card), "JUST_TAKEN")));
        refused
    }

    /// Whether the hand holds a SET or a RUN.
    pub fn holds_group(&self) -> bool {
        holds_group(self.hand, self.rules.run_wrap)
    }
}

/// Calls `found` with every two of the cards.
pub fn each_pair(cards: Cards, mut found: impl FnMut(Cards)) {
    for low in cards.iter() {
        let above = cards.iter().filter(|&high| high > low);
        above.for_each(|high| found(Cards::of(low).with(high)));
    }
}
