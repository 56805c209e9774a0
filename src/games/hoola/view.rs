//! What one seat knows: private fields, one checked constructor ([`super::check`]).

use super::card::{Card, Cards};
use super::meld::Melds;
use super::phase::{Phase, Scene, TurnSoFar};
use super::rules::{DiscardDraw, Rules};
use crate::bot::Seat;

/// What everybody sees of one seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeatView {
    /// Cards in its hand.
    pub hand_count: u8,
    /// Whether it has registered in this round.
    pub registered: bool,
    /// Cards it took under FREE and still holds.
    pub known: Cards,
}

/// One discard of the round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Discard {
    /// The card.
    pub card: Card,
    /// Who threw it; none for the opening card.
    pub seat: Option<Seat>,
    /// Who took it; none while it lies there.
    pub taken_by: Option<Seat>,
}

/// A checked view. Every field has passed the stages of [`super::check::check`], so nobody checks again.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub(super) rules: Rules,
    pub(super) seat: Seat,
    pub(super) starter: Seat,
    pub(super) turn_seat: Seat,
    pub(super) phase: Phase,
    pub(super) hand: Cards,
    pub(super) seats: [SeatView; 5],
    pub(super) melds: Melds,
    pub(super) discards: Vec<Discard>,
    pub(super) deck_remaining: u8,
    pub(super) turn: Option<TurnSoFar>,
    pub(super) standing: MatchStanding,
}

/// Where the match stands. Payments add up, so it changes no decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchStanding {
    /// Counted from 0.
    pub round_index: Option<u32>,
    /// Rounds of the match.
    pub rounds_total: Option<u32>,
    /// Points by seat; empty when not told.
    pub scores: Vec<i64>,
}

impl View {
    /// The switches in force.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Me.
    pub const fn seat(&self) -> Seat {
        self.seat
    }

    /// Starter of the round.
    pub const fn starter(&self) -> Seat {
        self.starter
    }

    /// Whose turn it is; in a window the discarder, for the opening card the starter.
    pub const fn turn_seat(&self) -> Seat {
        self.turn_seat
    }

    /// What is asked.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// My cards.
    pub const fn hand(&self) -> Cards {
        self.hand
    }

    /// What everybody sees of each seat.
    pub fn seats(&self) -> &[SeatView] {
        &self.seats[..usize::from(self.rules.players)]
    }

    /// Whether I have registered.
    pub fn registered(&self) -> bool {
        self.seats[self.seat.index()].registered
    }

    /// The table.
    pub const fn melds(&self) -> &Melds {
        &self.melds
    }

    /// The whole history of discards, in order; the last is the open one.
    pub fn discards(&self) -> &[Discard] {
        &self.discards
    }

    /// The last discard.
    pub fn last_discard(&self) -> Discard {
        self.discards[self.discards.len() - 1]
    }

    /// Cards in the deck.
    pub const fn deck_remaining(&self) -> u8 {
        self.deck_remaining
    }

    /// The turn in progress; only in ACTION.
    pub const fn turn(&self) -> Option<TurnSoFar> {
        self.turn
    }

    /// Turns that ended with a discard so far.
    pub fn completed_turns(&self) -> usize {
        self.discards.len() - 1
    }

    /// Cards that lie where I can see them, with my own.
    pub fn seen(&self) -> Cards {
        let lying = self.discards.iter().filter(|discard| discard.taken_by.is_none()).map(|discard| discard.card);
        let known = self.seats().iter().fold(self.hand | self.melds.cards(), |all, seat| all | seat.known);
        lying.fold(known, Cards::with)
    }

    /// Cards that I cannot place: in other hands or in the deck.
    pub fn unseen(&self) -> Cards {
        !self.seen()
    }

    /// What decides which moves are legal.
    pub fn scene(&self) -> Scene<'_> {
        Scene {
            rules: &self.rules,
            phase: self.phase,
            hand: self.hand,
            registered: self.registered(),
            melds: &self.melds,
            open: self.last_discard().card,
            taken: self.turn.and_then(|turn| turn.taken_card),
        }
    }

    /// The position in a few lines, for people.
    pub fn picture(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::new();
        let names = |cards: Cards| cards.iter().map(Card::name).collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "seat {} {:?}, deck {}", self.seat.0, self.phase, self.deck_remaining);
        let _ = writeln!(text, "hand {} (sum {})", names(self.hand), self.hand.sum(self.rules.seven()));
        for (i, seat) in self.seats().iter().enumerate() {
            let registered = if seat.registered { "registered" } else { "unregistered" };
            let me = if i == self.seat.index() { " (me)" } else { "" };
            let _ = writeln!(text, "seat {i}{me}: {} cards, {registered}", seat.hand_count);
        }
        for (id, meld) in self.melds.list().iter().enumerate() {
            let cards: Vec<String> = super::meld::in_order(meld.kind, meld.cards).into_iter().map(Card::name).collect();
            let _ = writeln!(text, "meld {id} of seat {}: {:?} {}", meld.owner, meld.kind, cards.join(" "));
        }
        let open = self.last_discard();
        let whose = open.seat.map_or_else(|| "opening card".to_owned(), |seat| format!("of seat {}", seat.0));
        let _ = write!(text, "last discard {} ({whose})", open.card.name());
        text
    }
}

/// Under FREE a round ends at the first turn start after this many completed turns.
pub const FREE_TURNS: usize = 100;

/// Whether a turn start would end the round as exhausted instead.
pub fn exhausted(rules: &Rules, deck: usize, completed_turns: usize) -> bool {
    deck == 0 || rules.discard_draw == DiscardDraw::Free && completed_turns >= FREE_TURNS
}
