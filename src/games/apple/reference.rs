//! Reference tables: how the greedy player fares on 20,000 boards of a distribution.
//!
//! The tables in this folder are made by [`Histograms::measure`] from seeds 1..=20,000 alone (`understudy train
//! apple-references`) and name what they depend on: ruleset, tie and runs. A change of any of these makes them stale.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::boards::Distribution;
use super::greedy::{greedy, random_tie_scores};
use super::rules::Count;

/// Boards in a table.
pub const BOARDS: u32 = 20_000;
/// Rows of its boards.
pub const ROWS: usize = 10;
/// Columns of its boards.
pub const COLUMNS: usize = 17;
/// Games with random ties per board.
pub const RUNS: u32 = 16;

/// Scores of the greedy player over many boards: the file in this folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histograms {
    /// Distribution of the boards.
    pub name: String,
    /// How the table was made.
    pub recipe: String,
    /// Rows of a board.
    pub rows: usize,
    /// Columns of a board.
    pub columns: usize,
    /// Boards measured.
    pub boards: u32,
    /// Ruleset, tie and runs.
    pub rules: String,
    /// `[score, boards]` of the greedy game, ascending.
    pub greedy: Vec<(u32, u32)>,
    /// `[sum of the 16 scores, boards]` of the games with random ties, ascending.
    pub greedy16_sum: Vec<(u32, u32)>,
}

impl Histograms {
    /// Plays the boards of seeds 1..=`boards`. `each` hears of every board done, by its seed.
    pub fn measure(distribution: Distribution, boards: u32, mut each: impl FnMut(u32)) -> Self {
        let (mut single, mut sixteen) = (BTreeMap::new(), BTreeMap::new());
        for seed in 1..=boards {
            let board = distribution.board(seed.into());
            *single.entry(greedy(&board, Count::Apples).score).or_insert(0) += 1;
            let sum: u32 = random_tie_scores(&board, Count::Apples, 0..RUNS).iter().sum();
            *sixteen.entry(sum).or_insert(0) += 1;
            each(seed);
        }
        Self {
            name: distribution.name().to_owned(),
            recipe: format!("understudy train apple-references: boards of seeds 1..={boards} of {}", distribution.name()),
            rows: ROWS,
            columns: COLUMNS,
            boards,
            rules: "fruitbox.v1, tie v1, greedy16.v1".to_owned(),
            greedy: single.into_iter().collect(),
            greedy16_sum: sixteen.into_iter().collect(),
        }
    }

    /// The table that ships with the program.
    pub fn shipped(distribution: Distribution) -> &'static Self {
        static UNIFORM: LazyLock<Histograms> = LazyLock::new(|| read(include_str!("reference_uniform_v1.json")));
        static SUM10: LazyLock<Histograms> = LazyLock::new(|| read(include_str!("reference_sum10_v1.json")));
        match distribution {
            Distribution::Uniform => &UNIFORM,
            Distribution::Sum10 => &SUM10,
        }
    }

    /// As the file holds it.
    pub fn to_json(&self) -> String {
        let pairs = |list: &[(u32, u32)]| {
            let pairs: Vec<String> = list.iter().map(|(value, boards)| format!("[{value},{boards}]")).collect();
            format!("[{}]", pairs.join(","))
        };
        let Self { name, recipe, rows, columns, boards, rules, greedy, greedy16_sum } = self;
        format!(
            "{{\n\"name\": {name:?},\n\"recipe\": {recipe:?},\n\"rows\": {rows},\n\"columns\": {columns},\n\"boards\": {boards},\n\
             \"rules\": {rules:?},\n\"greedy\": {},\n\"greedy16_sum\": {}\n}}\n",
            pairs(greedy),
            pairs(greedy16_sum)
        )
    }
}

fn read(text: &str) -> Histograms {
    serde_json::from_str(text).expect("a table that ships with the program is well-formed; a test reads it")
}

/// A table made ready for questions.
#[derive(Debug)]
pub struct Reference {
    distribution: Distribution,
    greedy: Ladder,
    greedy16_sum: Ladder,
}

/// `at[v]`: boards below v plus half the boards equal to v, doubled.
#[derive(Debug)]
struct Ladder(Vec<u32>);

impl Ladder {
    fn new(histogram: &[(u32, u32)]) -> Self {
        let top = histogram.last().map_or(0, |&(value, _)| value);
        let mut at = vec![0; top as usize + 2];
        let mut below = 0;
        let mut next = histogram.iter().peekable();
        for (value, twice) in at.iter_mut().enumerate() {
            let equal = next.next_if(|entry| entry.0 as usize == value).map_or(0, |entry| entry.1);
            *twice = 2 * below + equal;
            below += equal;
        }
        Self(at)
    }

    fn percentile(&self, value: u32) -> f64 {
        let last = self.0.len() - 1;
        f64::from(self.0[(value as usize).min(last)]) * 50.0 / f64::from(BOARDS)
    }
}

impl Reference {
    /// The reference with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Distribution::named(name).map(Self::of)
    }

    /// The reference of a distribution.
    pub fn of(distribution: Distribution) -> &'static Self {
        static UNIFORM: LazyLock<Reference> = LazyLock::new(|| Reference::new(Distribution::Uniform));
        static SUM10: LazyLock<Reference> = LazyLock::new(|| Reference::new(Distribution::Sum10));
        match distribution {
            Distribution::Uniform => &UNIFORM,
            Distribution::Sum10 => &SUM10,
        }
    }

    fn new(distribution: Distribution) -> Self {
        let table = Histograms::shipped(distribution);
        Self {
            distribution,
            greedy: Ladder::new(&table.greedy),
            greedy16_sum: Ladder::new(&table.greedy16_sum),
        }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.distribution.name()
    }

    /// Share of the table's boards on which the greedy game scores less, half of those that score the same included;
    /// 0..=100, higher = easier.
    pub fn percentile_of_greedy(&self, score: u32) -> f64 {
        self.greedy.percentile(score)
    }

    /// The same for the mean of 16 games with random ties, asked by their sum.
    pub fn percentile_of_sum(&self, sum: u32) -> f64 {
        self.greedy16_sum.percentile(sum)
    }
}

/// 1 (easiest) to 5 (hardest) from a percentile, in fifths.
pub fn stars(percentile: f64) -> u8 {
    match percentile {
        p if p >= 80.0 => 1,
        p if p >= 60.0 => 2,
        p if p >= 40.0 => 3,
        p if p >= 20.0 => 4,
        _ => 5,
    }
}
