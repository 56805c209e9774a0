//! Rows of the table from candidates: what `hard` and `expert` share.

use crate::bot::{Evaluation, Payoff, Proof, Standing, TermSet, Unit, Weights};
use crate::games::hoola::Hoola;
use crate::games::hoola::appraise::{Appraisal, Candidate, Continuation, Prospect, Row, Rows, State};
use crate::games::hoola::settlement::End;
use crate::games::hoola::terms::{HoolaTerm, HoolaTerms};
use crate::games::hoola::view::View;

/// The terms of a state: what `tune` learns.
pub const STATE_TERMS: TermSet = TermSet::of(&[
    HoolaTerm::Base as usize,
    HoolaTerm::Cards as usize,
    HoolaTerm::Sum as usize,
    HoolaTerm::Low as usize,
    HoolaTerm::Sevens as usize,
    HoolaTerm::Reach0 as usize,
    HoolaTerm::Reach1 as usize,
    HoolaTerm::Outs as usize,
    HoolaTerm::Wait as usize,
    HoolaTerm::Left as usize,
    HoolaTerm::Blocked as usize,
]);

/// The terms of rows that end the round.
pub const END_TERMS: TermSet = TermSet::of(&[HoolaTerm::Win as usize, HoolaTerm::Fail as usize]);

/// What a row needs beside its candidate.
pub struct RowMaker<'a> {
    /// The view decided on.
    pub view: &'a View,
    /// The weights of the four rows.
    pub rows: &'a Rows,
    /// Its appraisal.
    pub appraisal: &'a Appraisal,
    /// The terms to show.
    pub shown: TermSet,
    /// The terms of `shown` that are switched off.
    pub off: TermSet,
}

impl RowMaker<'_> {
    /// The terms of a state.
    pub fn terms(&self, state: &State) -> HoolaTerms {
        let rules = self.view.rules();
        state.terms(self.appraisal.unseen, rules.seven(), rules.run_wrap)
    }

    /// The row of a candidate that goes on in this way.
    pub fn row(&self, candidate: &Candidate, way: &Continuation) -> Evaluation<Hoola> {
        let zero = Weights::zero(self.shown);
        let row = match way.prospect {
            Prospect::Goes(state) => {
                let weights = self.rows[state.row() as usize];
                let row = Evaluation::weigh(candidate.mv, self.terms(&state), &weights);
                return self.finished(row.fact("weights", row_number(state.row()), ""), candidate, way);
            }
            Prospect::Out(end) => self.won(candidate, end, "goes_out"),
            Prospect::Certain(end) => {
                let pot = self.appraisal.pot * multiplier(end, self.view);
                let row = self.won(candidate, end, "certain_stop");
                row.fact("p_win", 1.0, "").fact("win_pay", pot, "points").fact("fail_pay", 0.0, "points")
            }
            Prospect::Compared { holds, win, fail } => {
                let weights = self.in_force(zero.set(HoolaTerm::Win as usize, win).set(HoolaTerm::Fail as usize, -fail));
                let terms = HoolaTerms {
                    win: Unit::clamp(holds),
                    fail: Unit::clamp(1.0 - holds),
                    ..HoolaTerms::default()
                };
                let row = Evaluation::weigh(candidate.mv, terms, &weights);
                row.fact("p_win", holds, "").fact("win_pay", win, "points").fact("fail_pay", fail, "points")
            }
        };
        self.finished(row, candidate, way)
    }

    fn in_force(&self, weights: Weights<HoolaTerms>) -> Weights<HoolaTerms> {
        self.off.iter().fold(weights, |weights, place| weights.times(place, 0.0))
    }

    /// A row that wins at once: its total is what the others are expected to pay.
    fn won(&self, candidate: &Candidate, end: End, how: &'static str) -> Evaluation<Hoola> {
        let multiplier = multiplier(end, self.view);
        let zero = Weights::zero(self.shown);
        let weights = self.in_force(zero.set(HoolaTerm::Win as usize, self.appraisal.pot * multiplier));
        let terms = HoolaTerms { win: Unit::ONE, ..HoolaTerms::default() };
        let proof = Proof { in_plies: Some(1), margin: multiplier as i32, how };
        Evaluation::weigh(candidate.mv, terms, &weights).standing(Standing::Won(proof))
    }

    fn finished(&self, row: Evaluation<Hoola>, candidate: &Candidate, way: &Continuation) -> Evaluation<Hoola> {
        let mean = row.total();
        let row = row.line(candidate.line(way, self.view));
        row.payoff(Payoff { mean, standard_error: 0.0, samples: 0 })
    }
}

/// The fact `weights`: which of the four rows of weights holds.
pub fn row_number(row: Row) -> f64 {
    f64::from(row as u8)
}

fn multiplier(end: End, view: &View) -> f64 {
    end.multiplier(view.rules()) as f64
}
