//! `hard`: every whole turn, scored by the state it ends in, on one scale of points for all three decision points.

use std::sync::Arc;

use crate::bot::policy::Heeds;
use crate::bot::{
    About, Evaluated, Limits, Policy, PolicyKind, TermSet, Terms, Tuning, Turn, WeightTable, Weights, WeightsError, WeightsFile,
};
use crate::games::hoola::Hoola;
use crate::games::hoola::appraise::{Appraisal, Rows, appraise};
use crate::games::hoola::policies::rows::{END_TERMS, RowMaker, STATE_TERMS};
use crate::games::hoola::terms::HoolaTerms;
use crate::games::hoola::view::View;

/// The rows of weights: number of players, then what a candidate leads to.
pub const STAGES: [&str; 16] = [
    "2/unregistered", "2/registered", "2/draw_unregistered", "2/draw_registered",
    "3/unregistered", "3/registered", "3/draw_unregistered", "3/draw_registered",
    "4/unregistered", "4/registered", "4/draw_unregistered", "4/draw_registered",
    "5/unregistered", "5/registered", "5/draw_unregistered", "5/draw_registered",
];

/// The terms a row of `hard` shows.
const TERMS: TermSet = STATE_TERMS.union(END_TERMS);

/// Whole turns, scored.
#[derive(Clone, Debug)]
pub struct Hard {
    weights: Vec<Weights<HoolaTerms>>,
    /// Terms switched off, those of rows that end the round among them.
    off: TermSet,
}

/// The weights that ship with the program, one file a number of players. `tune` wrote them, but for 5 players: there it
/// found nothing better than the fit it was to beat.
const SHIPPED: [&str; 4] = [
    include_str!("../weights/hard-2.json"),
    include_str!("../weights/hard-3.json"),
    include_str!("../weights/hard-4.json"),
    include_str!("../weights/hard-5.json"),
];

impl Default for Hard {
    fn default() -> Self {
        let mut rows = Vec::with_capacity(STAGES.len());
        for (place, text) in SHIPPED.into_iter().enumerate() {
            let file = WeightsFile::parse(text).expect("shipped weights; this is a bug of the file");
            let whole = resolve(&file.table).expect("shipped weights; this is a bug of the file");
            rows.extend_from_slice(&whole[4 * place..4 * place + 4]);
        }
        Self::of(rows)
    }
}

/// The sixteen rows of a table, shown with the terms of rows that end the round.
fn resolve(table: &WeightTable) -> Result<Vec<Weights<HoolaTerms>>, WeightsError> {
    let rows = table.resolve::<HoolaTerms>(&STAGES, STATE_TERMS)?;
    Ok(rows.into_iter().map(|row| END_TERMS.iter().fold(row, |row, place| row.set(place, 0.0))).collect())
}

impl Hard {
    fn of(weights: Vec<Weights<HoolaTerms>>) -> Self {
        Self { weights, off: TermSet::default() }
    }

    /// The four rows of weights for a number of players.
    pub fn rows(&self, players: u8) -> Rows {
        let from = 4 * usize::from(players - 2);
        std::array::from_fn(|row| self.weights[from + row])
    }

    /// The terms switched off.
    pub const fn off(&self) -> TermSet {
        self.off
    }

    /// The same with a term off in every row.
    #[must_use]
    pub fn without(&self, term: &str) -> Option<Self> {
        let place = HoolaTerms::index(term)?;
        let off = self.off.union(TermSet::of(&[place]));
        Some(Self { weights: self.weights.iter().map(|row| row.times(place, 0.0)).collect(), off })
    }

    fn table_of(&self, rows: impl Iterator<Item = usize>) -> WeightTable {
        let (stages, values): (Vec<&str>, Vec<Vec<f64>>) = rows
            .map(|row| (STAGES[row], STATE_TERMS.iter().map(|place| self.weights[row].base(place)).collect()))
            .unzip();
        WeightTable::new::<HoolaTerms>(&stages, STATE_TERMS, &values)
    }
}

impl Policy<Hoola> for Hard {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Enumerates whole turns and plays for expected points: holds back for a hoola, prices every stop.",
            kind: PolicyKind::Terms,
            anytime: false,
            uses_seed: false,
            default_limits: Limits::NONE,
            heeds: Heeds::default(),
            terms: TERMS,
            aliases: &[],
            stages: &STAGES,
        }
    }

    fn evaluate(&self, view: &View, _turn: &mut Turn<'_>) -> Evaluated<Hoola> {
        let rows = self.rows(view.rules().players);
        let appraisal = appraise(view, &rows);
        let maker = RowMaker { view, rows: &rows, appraisal: &appraisal, shown: TERMS, off: self.off };
        table(&maker)
    }

    fn weights(&self) -> Vec<Weights<HoolaTerms>> {
        self.weights.clone()
    }

    fn tunable(&self) -> TermSet {
        STATE_TERMS
    }

    /// Totals are points, so a row is also held against what it paid. Two rows a decision in one world each, and many
    /// decisions: payments scatter far more between deals than between two ways to play one.
    fn tuning(&self) -> Tuning {
        Tuning {
            generations: 3,
            decisions: 250_000,
            share: 1.0,
            alone: 0.25,
            wild: 0.05,
            rows: 2,
            worlds: 1,
            temperature: f64::INFINITY,
            clip: 64.0,
            absolute: 0.03,
            ridge: 30.0,
            peers: 0.0,
            rollout_peers: 0.0,
        }
    }

    /// A table of all sixteen rows; with a number of players only its four are taken. A table of just those four fits
    /// too.
    fn with_weights(
        &self,
        table: &WeightTable,
        players: Option<u8>,
    ) -> Result<Arc<dyn Policy<Hoola>>, WeightsError> {
        Ok(Arc::new(self.reweighed(table, players)?))
    }

    fn table(&self, _players: Option<u8>) -> Option<WeightTable> {
        Some(self.table_of(0..STAGES.len()))
    }
}

impl Hard {
    /// See [`Policy::with_weights`].
    ///
    /// # Errors
    /// What does not fit, by name.
    pub fn reweighed(&self, table: &WeightTable, players: Option<u8>) -> Result<Self, WeightsError> {
        let Some(players) = players.filter(|players| (2..=5).contains(players)) else {
            return Ok(Self::of(resolve(table)?));
        };
        let from = 4 * usize::from(players - 2);
        let mut whole = self.table_of(0..STAGES.len());
        let four = table.stages == STAGES[from..from + 4];
        if !four && table.stages != STAGES {
            let expected = STAGES[from..from + 4].iter().map(|&stage| stage.to_owned()).collect();
            return Err(WeightsError::Stages { found: table.stages.clone(), expected });
        }
        if table.rows.len() != table.stages.len() {
            return Err(WeightsError::Shape(table.rows.len()));
        }
        // Columns may stand in any order, so the taken rows bring the other ones into theirs.
        for row in &mut whole.rows {
            let column = |id: &String| whole.terms.iter().position(|known| known == id);
            *row = table.terms.iter().filter_map(column).map(|at| row[at]).collect();
        }
        whole.terms.clone_from(&table.terms);
        let taken = if four { &table.rows[..] } else { &table.rows[from..from + 4] };
        whole.rows[from..from + 4].clone_from_slice(taken);
        Ok(Self::of(resolve(&whole)?))
    }
}

/// The table of an appraisal: a row for every candidate, going on in the best way.
pub fn table(maker: &RowMaker<'_>) -> Evaluated<Hoola> {
    let candidates = &maker.appraisal.candidates;
    let table = candidates.iter().map(|candidate| maker.row(candidate, candidate.best())).collect();
    with_facts(Evaluated::new(table), maker.appraisal)
}

/// What is worth knowing about the position as a whole.
pub fn with_facts(table: Evaluated<Hoola>, appraisal: &Appraisal) -> Evaluated<Hoola> {
    let Appraisal { looked, unseen, pot, .. } = appraisal;
    table
        .fact("plans", f64::from(looked.plans), "plans")
        .fact("plans_cut", f64::from(u8::from(looked.cut)), "")
        .fact("unseen", f64::from(unseen.len()), "cards")
        .fact("pot", *pot, "points")
}
