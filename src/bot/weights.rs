//! Weights: what a term is worth. In force they are one [`Weights`] a row; on file they are a [`WeightTable`].

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::rng::Fnv;
use super::terms::{Direction, TermSet, Terms};

/// The weights in force for a row: a base weight per term times a multiplier that the position sets (1 unless said).
/// Terms that the policy does not use are not shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights<T: Terms> {
    base: T::Values,
    multiplier: T::Values,
    shown: TermSet,
    stage: u8,
}

impl<T: Terms> Weights<T> {
    /// Weight 0 for each shown term.
    pub fn zero(shown: TermSet) -> Self {
        let mut multiplier = T::Values::default();
        multiplier.as_mut().fill(1.0);
        Self { base: T::Values::default(), multiplier, shown, stage: 0 }
    }

    /// These terms (places in [`Terms::SPECS`]) with these weights; exactly they are shown.
    pub fn of(pairs: &[(usize, f64)]) -> Self {
        let mut weights = Self::zero(TermSet::default());
        for &(place, weight) in pairs {
            weights.shown = weights.shown.union(TermSet::of(&[place]));
            weights.base.as_mut()[place] = weight;
        }
        weights
    }

    /// The same with a base weight replaced (and the term shown).
    #[must_use]
    pub fn set(mut self, place: usize, weight: f64) -> Self {
        self.shown = self.shown.union(TermSet::of(&[place]));
        self.base.as_mut()[place] = weight;
        self
    }

    /// The same with a term's multiplier replaced: urgency, say, or 0 for a term that is off.
    #[must_use]
    pub fn times(mut self, place: usize, multiplier: f64) -> Self {
        self.multiplier.as_mut()[place] = multiplier;
        self
    }

    /// The same as the row `stage` of a table.
    #[must_use]
    pub const fn at_stage(mut self, stage: u8) -> Self {
        self.stage = stage;
        self
    }

    /// Weight in force of the term at `place`.
    pub fn in_force(&self, place: usize) -> f64 {
        self.base.as_ref()[place] * self.multiplier.as_ref()[place]
    }

    /// Base weight of the term at `place`: what tuning learns.
    pub fn base(&self, place: usize) -> f64 {
        self.base.as_ref()[place]
    }

    /// Multiplier of the term at `place`: what tuning takes as given.
    pub fn multiplier(&self, place: usize) -> f64 {
        self.multiplier.as_ref()[place]
    }

    /// The terms that a row shows.
    pub const fn shown(&self) -> TermSet {
        self.shown
    }

    /// The row of the policy's weight table these weights come from; 0 where there is only one.
    pub const fn stage(&self) -> u8 {
        self.stage
    }

    /// Sum of weight times value over the shown terms, in the order of [`Terms::SPECS`].
    pub fn total(&self, terms: &T) -> f64 {
        let values = terms.values();
        let (values, base, multiplier) = (values.as_ref(), self.base.as_ref(), self.multiplier.as_ref());
        let mut total = 0.0;
        for (place, value) in values.iter().enumerate() {
            if self.shown.contains(place) {
                total += value * (base[place] * multiplier[place]);
            }
        }
        // A sum of negative zeros is -0.0, which orders below 0.0; adding 0.0 makes them one.
        total + 0.0
    }
}

/// A policy's weights by stage, as a weights file holds them. One row per stage, one column per term.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightTable {
    /// Names of the rows; a single row may be called `all`.
    pub stages: Vec<String>,
    /// Ids of the columns.
    pub terms: Vec<String>,
    /// `rows[stage][term]`.
    pub rows: Vec<Vec<f64>>,
}

/// Why a table does not fit a policy. Each names the offender.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WeightsError {
    /// The policy has no such term.
    #[error("unknown term {0:?}")]
    UnknownTerm(String),
    /// A term of the policy has no column.
    #[error("term {0:?} is missing")]
    MissingTerm(String),
    /// Row names differ from the policy's.
    #[error("stages {found:?}, but this policy has {expected:?}")]
    Stages {
        /// What the file has.
        found: Vec<String>,
        /// What the policy asks for.
        expected: Vec<String>,
    },
    /// A row has too many or too few numbers, or one that is not finite.
    #[error("row {0} does not hold one finite number per term")]
    Shape(usize),
    /// The sign contradicts the term's direction.
    #[error("term {term:?} in stage {stage:?}: a weight of {weight} is against its direction")]
    Sign {
        /// The term's id.
        term: String,
        /// The stage's name.
        stage: String,
        /// The offending weight.
        weight: f64,
    },
    /// This policy has no weights that a file could replace.
    #[error("this policy takes no weights")]
    Fixed,
    /// Not a weights file at all.
    #[error("not a weights file: {0}")]
    Unreadable(String),
}

impl WeightTable {
    /// The table with `rows[stage][column]` for these terms of `T`.
    pub fn new<T: Terms>(stages: &[&str], terms: TermSet, rows: &[Vec<f64>]) -> Self {
        Self {
            stages: stages.iter().map(|s| (*s).to_owned()).collect(),
            terms: terms.iter().map(|place| T::SPECS[place].id.to_owned()).collect(),
            rows: rows.to_vec(),
        }
    }

    /// The weights in force of each stage, for a policy with exactly these stages and terms.
    ///
    /// # Errors
    /// The first misfit, by name.
    pub fn resolve<T: Terms>(&self, stages: &[&str], terms: TermSet) -> Result<Vec<Weights<T>>, WeightsError> {
        if self.stages != stages || self.rows.len() != stages.len() {
            return Err(WeightsError::Stages {
                found: self.stages.clone(),
                expected: stages.iter().map(|s| (*s).to_owned()).collect(),
            });
        }
        let mut places = Vec::new();
        for id in &self.terms {
            match T::index(id) {
                Some(place) if terms.contains(place) => places.push(place),
                _ => return Err(WeightsError::UnknownTerm(id.clone())),
            }
        }
        if let Some(missing) = terms.iter().find(|place| !places.contains(place)) {
            return Err(WeightsError::MissingTerm(T::SPECS[missing].id.to_owned()));
        }
        let mut resolved = Vec::new();
        for (stage, row) in self.rows.iter().enumerate() {
            if row.len() != places.len() || row.iter().any(|w| !w.is_finite()) {
                return Err(WeightsError::Shape(stage));
            }
            let mut weights = Weights::zero(terms).at_stage(stage as u8);
            for (&place, &weight) in places.iter().zip(row) {
                weights = weights.set(place, weight);
            }
            resolved.push(weights);
        }
        Ok(resolved)
    }

    /// Whether every weight has the sign its term's direction asks for. A deliberately broken table may fail this and
    /// still be playable, so [`Self::resolve`] does not ask.
    ///
    /// # Errors
    /// The first weight with the wrong sign.
    pub fn check_signs<T: Terms>(&self) -> Result<(), WeightsError> {
        for (row, stage) in self.rows.iter().zip(&self.stages) {
            for (weight, term) in row.iter().zip(&self.terms) {
                let wrong = match T::index(term).map(|place| T::SPECS[place].direction) {
                    Some(Direction::Good) => *weight < 0.0,
                    Some(Direction::Cost) => *weight > 0.0,
                    Some(Direction::Free) | None => false,
                };
                if wrong {
                    return Err(WeightsError::Sign { term: term.clone(), stage: stage.clone(), weight: *weight });
                }
            }
        }
        Ok(())
    }

    /// FNV-1a over stages, term ids and the bits of every weight: two tables with one hash decide alike.
    pub fn hash(&self) -> u64 {
        let mut hash = Fnv::default();
        for name in self.stages.iter().chain(&self.terms) {
            hash.write(name.as_bytes());
            hash.write(&[0]);
        }
        for weight in self.rows.iter().flatten() {
            hash.write(&weight.to_bits().to_le_bytes());
        }
        hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot::Unit;

    crate::terms! {
        /// Three terms, of which a policy uses two.
        pub ToyTerms, ToyTerm {
            Good good: Good, "Speaks for the move.";
            Bad bad: Cost, "Speaks against it.";
            Other other: Free, "Not used here.";
        }
    }

    const USED: TermSet = TermSet::of(&[ToyTerm::Good as usize, ToyTerm::Bad as usize]);

    fn table() -> WeightTable {
        WeightTable::new::<ToyTerms>(&["early", "late"], USED, &[vec![1.0, -2.0], vec![3.0, 0.0]])
    }

    #[test]
    fn a_table_resolves_to_one_row_a_stage() {
        let rows = table().resolve::<ToyTerms>(&["early", "late"], USED).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[1].base(ToyTerm::Good as usize), rows[1].stage()), (3.0, 1));
        assert_eq!(rows[0].in_force(ToyTerm::Bad as usize), -2.0);
        assert_eq!(rows[0].shown(), USED);
        let half = rows[0].times(ToyTerm::Bad as usize, 0.5);
        assert_eq!((half.in_force(ToyTerm::Bad as usize), half.multiplier(ToyTerm::Bad as usize)), (-1.0, 0.5));
        assert_eq!(rows[0].total(&ToyTerms { bad: Unit::HALF, other: Unit::ONE, ..ToyTerms::default() }), -1.0);
    }

    #[test]
    fn columns_may_stand_in_any_order() {
        let swapped = WeightTable {
            terms: vec!["bad".into(), "good".into()],
            rows: vec![vec![-2.0, 1.0], vec![0.0, 3.0]],
            ..table()
        };
        let stages = ["early", "late"];
        assert_eq!(swapped.resolve::<ToyTerms>(&stages, USED), table().resolve::<ToyTerms>(&stages, USED));
    }

    #[test]
    fn every_misfit_is_named() {
        let resolve = |table: WeightTable| table.resolve::<ToyTerms>(&["early", "late"], USED).unwrap_err();
        let unknown = WeightTable { terms: vec!["good".into(), "other".into()], ..table() };
        assert_eq!(resolve(unknown), WeightsError::UnknownTerm("other".into()));
        let missing = WeightTable { terms: vec!["good".into()], rows: vec![vec![1.0], vec![1.0]], ..table() };
        assert_eq!(resolve(missing), WeightsError::MissingTerm("bad".into()));
        let short = WeightTable { rows: vec![vec![1.0, 1.0], vec![1.0]], ..table() };
        assert_eq!(resolve(short), WeightsError::Shape(1));
        let infinite = WeightTable { rows: vec![vec![f64::NAN, 1.0], vec![1.0, 1.0]], ..table() };
        assert_eq!(resolve(infinite), WeightsError::Shape(0));
        let stages = WeightTable { stages: vec!["early".into()], ..table() };
        assert!(matches!(resolve(stages), WeightsError::Stages { .. }));
    }

    #[test]
    fn signs_follow_directions() {
        assert_eq!(table().check_signs::<ToyTerms>(), Ok(()));
        let wrong = WeightTable { rows: vec![vec![1.0, 0.5], vec![1.0, 0.0]], ..table() };
        assert!(matches!(wrong.check_signs::<ToyTerms>(), Err(WeightsError::Sign { weight, .. }) if weight == 0.5));
        let wrong = WeightTable { rows: vec![vec![-1.0, 0.0], vec![1.0, 0.0]], ..table() };
        assert!(matches!(wrong.check_signs::<ToyTerms>(), Err(WeightsError::Sign { weight, .. }) if weight == -1.0));
    }

    #[test]
    fn the_hash_sees_every_part() {
        let same = table().hash();
        assert_eq!(same, table().hash());
        let changes = [
            WeightTable { rows: vec![vec![1.0, -2.0], vec![3.0, -0.1]], ..table() },
            WeightTable { stages: vec!["early".into(), "last".into()], ..table() },
            WeightTable { terms: vec!["good".into(), "worse".into()], ..table() },
        ];
        assert!(changes.iter().all(|changed| changed.hash() != same));
    }
}
