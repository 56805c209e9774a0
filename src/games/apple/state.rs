//! The referee: owns the board, deals it by number and applies decisions.

use std::ops::RangeInclusive;

use super::board::Board;
use super::boards::Distribution;
use super::moves::Move;
use super::rects;
use super::rules::{Ruleset, SumCheck};
use super::view::View;
use super::Apple;
use crate::bot::{Ask, Illegal, MatchStyle, Outcome, Referee, Rng, Seat, Seats, Settlement};

/// What a match is played under: a ruleset, and where its boards come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The rules.
    pub ruleset: Ruleset,
    /// The distribution of the boards.
    pub distribution: Distribution,
}

/// A game in progress.
#[derive(Clone, Debug)]
pub struct State {
    ruleset: Ruleset,
    board: Board,
    cleared: u32,
}

impl State {
    /// A game that starts from this board, which need not be fresh.
    pub const fn on(board: Board, ruleset: Ruleset) -> Self {
        Self { ruleset, board, cleared: 0 }
    }

    /// The board as it is.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Apples cleared since the start.
    pub const fn cleared(&self) -> u32 {
        self.cleared
    }
}

impl Referee for Apple {
    type State = State;
    type Rules = Table;
    const STYLE: MatchStyle = MatchStyle::Solo;
    const SEATS: RangeInclusive<u8> = 1..=1;

    /// A ruleset name, switches, a distribution name, in any order: `fruitbox.v1 count=AREA sum10.v1`. Rules that refuse
    /// uneven sums deal from `sum10.v1`.
    fn rules(name: &str) -> Option<Table> {
        let mut words = name.split_whitespace().peekable();
        let named = words.peek().and_then(|word| Ruleset::named(word));
        if named.is_some() {
            words.next();
        }
        let mut ruleset = named.unwrap_or_default();
        let mut distribution = None;
        for word in words {
            match Distribution::named(word.strip_prefix("distribution=").unwrap_or(word)) {
                Some(found) => distribution = Some(found),
                None => ruleset = ruleset.switched(word)?,
            }
        }
        let strict = ruleset.sum_check == SumCheck::Require;
        let distribution = distribution.unwrap_or(if strict { Distribution::Sum10 } else { Distribution::Uniform });
        (!strict || distribution == Distribution::Sum10).then_some(Table { ruleset, distribution })
    }

    fn deal(rules: &Table, _seats: u8, seed: u64) -> State {
        State::on(rules.distribution.board(seed), rules.ruleset)
    }

    fn ask(state: &State) -> Ask {
        if rects::any(&state.board) {
            return Ask::One(Seat(0));
        }
        let payments = vec![i64::from(state.cleared)];
        Ask::Over(Outcome::Known(Settlement { payments, winners: Seats::default().with(Seat(0)) }))
    }

    fn view(state: &State, _seat: Seat) -> View {
        // Every move takes ten from the sum, so a sum that was accepted once stays acceptable.
        View::new(state.ruleset, state.board).expect("the deal met the ruleset; this is a bug of the referee")
    }

    fn resolve(state: &mut State, answers: &[(Seat, Move)]) -> Result<(), Illegal> {
        let illegal = |reason: String| Illegal { seat: Seat(0), reason };
        let [(_, mv)] = answers else {
            return Err(illegal(format!("{} answers to a game for one", answers.len())));
        };
        let spots = rects::legal(&state.board);
        let Some(spot) = spots.iter().find(|spot| spot.rectangle == mv.rectangle) else {
            return Err(illegal(format!("{:?} is not a canonical rectangle that sums to ten", mv.rectangle)));
        };
        for cell in spot.cells.iter() {
            state.board.clear(cell);
        }
        state.cleared += u32::from(spot.apples);
        Ok(())
    }

    /// Nothing is hidden.
    fn twin(state: &State, _seat: Seat, _rng: &mut Rng) -> State {
        state.clone()
    }
}
