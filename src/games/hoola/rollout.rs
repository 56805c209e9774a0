//! Plays a round to its end with `easy` in every seat, on the referee's own table and by its rules, without views:
//! `easy` asks nothing that a [`Scene`](super::phase::Scene) does not show.

use super::moves::Move;
use super::phase::Phase;
use super::policies::easy::{claim, decision};
use super::settlement::{Finish, Paid};
use super::state::Round;
use crate::bot::Seat;

/// Plays on from wherever the round stands. Answers to an open window that have arrived are asked for anew.
pub fn finish(round: &mut Round) -> Finish {
    loop {
        if let Some(finish) = round.finish() {
            return finish;
        }
        step(round);
    }
}

/// The same, with what it pays.
pub fn paid(round: &mut Round) -> Paid {
    finish(round);
    round.paid().expect("a finished round is paid; this is a bug of the referee")
}

/// Plays an open window on from the seats behind `after` (all seats for none); those before it have passed.
pub fn window(round: &mut Round, after: Option<Seat>) {
    let mut asked = after.is_none();
    for seat in round.priority() {
        if asked && let Some(own) = claim(&round.scene(seat)) {
            round.play(seat, Move::Claim(own));
            return;
        }
        asked |= after == Some(seat);
    }
    round.start_turn();
}

/// One decision of the seat whose turn it is, or a whole window.
pub fn step(round: &mut Round) {
    if round.phase() == Phase::Window {
        return window(round, None);
    }
    let seat = round.turn_seat;
    let (_, mv) = decision(&round.scene(seat));
    round.play(seat, mv);
}
