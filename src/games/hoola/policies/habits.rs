//! `hard` with one habit that it gave up: arena-only opponents that show what each judgement of `hard` is worth.

use crate::bot::{About, Evaluated, Evaluation, Policy, Standing, Turn, Weights};
use crate::games::hoola::Hoola;
use crate::games::hoola::moves::{Move, StopKind};
use crate::games::hoola::policies::easy;
use crate::games::hoola::policies::hard::Hard;
use crate::games::hoola::terms::HoolaTerms;
use crate::games::hoola::view::View;

/// What is done by rule instead of by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Habit {
    /// Registers as soon as it can.
    Registers,
    /// Calls a NORMAL stop exactly where `easy` does.
    StopsLikeEasy,
    /// Calls every NORMAL stop that is legal.
    StopsAlways,
    /// Claims whatever it can claim.
    ClaimsAlways,
    /// Never claims and never takes the open discard.
    NeverClaims,
    /// Once registered, lays off all it can.
    LaysOff,
}

/// `hard` with a habit.
#[derive(Clone, Debug)]
pub struct Habitual {
    hard: Hard,
    habit: Habit,
}

impl Habitual {
    /// The shipped `hard` with this habit.
    pub fn new(habit: Habit) -> Self {
        Self { hard: Hard::default(), habit }
    }

    /// Whether the habit asks for this move, where it has a say; else it forbids it.
    fn asks_for(&self, view: &View, legal: &[Move], mv: &Move) -> bool {
        let any = |wanted: fn(&Move) -> bool| !legal.iter().any(wanted) || wanted(mv);
        let stop = Move::Stop(StopKind::Normal);
        match self.habit {
            Habit::Registers if view.registered() => true,
            Habit::Registers => any(|mv| matches!(mv, Move::Register(_))),
            Habit::StopsAlways => !legal.contains(&stop) || *mv == stop,
            Habit::StopsLikeEasy => {
                let called = easy::stop(&view.scene()) == Some(StopKind::Normal);
                !legal.contains(&stop) || (*mv == stop) == called
            }
            Habit::ClaimsAlways => any(|mv| matches!(mv, Move::Claim(_))),
            Habit::NeverClaims => !matches!(mv, Move::Claim(_) | Move::Take(_)),
            Habit::LaysOff => any(|mv| matches!(mv, Move::LayOff { .. })),
        }
    }
}

impl Policy<Hoola> for Habitual {
    fn about(&self) -> About {
        About { summary: "hard with one habit that it gave up: an opponent for ablations.", ..self.hard.about() }
    }

    fn evaluate(&self, view: &View, turn: &mut Turn<'_>) -> Evaluated<Hoola> {
        let table = self.hard.evaluate(view, turn);
        let legal: Vec<Move> = table.rows().iter().map(|row| *row.mv()).collect();
        let judge = |row: Evaluation<Hoola>| {
            let won = matches!(row.get_standing(), Standing::Won(_));
            if won || self.asks_for(view, &legal, row.mv()) { row } else { row.barred("against_habit") }
        };
        Evaluated::new(table.into_rows().into_iter().map(judge).collect())
    }

    fn weights(&self) -> Vec<Weights<HoolaTerms>> {
        self.hard.weights()
    }
}
