//! Worlds: the cards a seat cannot place, dealt to the other hands and the deck.

use super::card::{Card, Cards};
use super::moves::Move;
use super::phase::Phase;
use super::rollout;
use super::settlement::Paid;
use super::state::{Round, Window};
use super::view::View;
use crate::bot::{Rng, Seat, Seats};

/// A table as the view shows it, with nothing in the other hands but known cards, and no deck.
pub fn open_cards(view: &View) -> Round {
    let last = view.last_discard();
    let me = view.seat().index();
    let mut known = [Cards::NONE; 5];
    let mut registered = Seats::default();
    for (i, seat) in view.seats().iter().enumerate() {
        known[i] = seat.known;
        if seat.registered {
            registered = registered.with(Seat(i as u8));
        }
    }
    let mut hands = known;
    hands[me] = view.hand();
    Round {
        rules: *view.rules(),
        hands,
        known,
        registered,
        melds: *view.melds(),
        deck: [Card::default(); 52],
        deck_len: view.deck_remaining(),
        starter: view.starter(),
        turn_seat: view.turn_seat(),
        phase: view.phase(),
        open: last.card,
        open_seat: last.seat,
        turn: view.turn().unwrap_or_default(),
        completed_turns: view.completed_turns().min(usize::from(u16::MAX / 2)) as u16,
        window: Window::default(),
        finish: None,
    }
}

/// One world: the unseen cards dealt uniformly. It depends on the unseen cards, the counts and the stream only.
pub fn deal(open: &Round, view: &View, unseen: Cards, rng: &mut Rng) -> Round {
    let mut cards = [Card::default(); 52];
    let count = unseen.len() as usize;
    cards.iter_mut().zip(unseen.iter()).for_each(|(place, card)| *place = card);
    rng.shuffle(&mut cards[..count]);
    let mut world = *open;
    let mut next = cards[..count].iter().copied();
    for (i, seat) in view.seats().iter().enumerate().filter(|&(i, _)| i != view.seat().index()) {
        let hidden = u32::from(seat.hand_count).saturating_sub(seat.known.len()) as usize;
        world.hands[i] = next.by_ref().take(hidden).fold(world.hands[i], Cards::with);
    }
    world.deck.iter_mut().zip(next).for_each(|(place, card)| *place = card);
    world
}

/// Plays a line of the seat's own moves, then the round to its end with `easy` in every seat. Passing plays an open
/// window on from the seats behind this one.
pub fn play_out(world: &Round, seat: Seat, line: &[Move]) -> Paid {
    let mut round = *world;
    for &mv in line {
        match (round.phase(), mv) {
            (Phase::Window, Move::Pass) => rollout::window(&mut round, Some(seat)),
            _ => round.play(seat, mv),
        }
    }
    rollout::paid(&mut round)
}
