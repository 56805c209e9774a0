//! How hard a board is, measured for a greedy player; and boards of a wished difficulty.
//!
//! An [`Assessor`] works in small steps, so that a caller with a deadline can do the cheap part for a whole batch first
//! and stop anywhere in the rest:
//!
//! ```
//! use understudy::bot::Budget;
//! use understudy::games::apple::assess::{Assessor, Options};
//! use understudy::games::apple::Distribution;
//!
//! let options = Options::default();
//! let board = Distribution::Sum10.board(3);
//! let mut assessor = Assessor::start("boards[0]", board, &options);   // features and the greedy game: some 20 us
//! while !assessor.is_done() {
//!     let budget = Budget::new(options.search_limits());              // only a search looks at it
//!     assessor.step(&budget);                                         // one game, the bound, or the search
//! }
//! let assessment = assessor.finish();
//! assert_eq!(assessment.rank.percentile_of_mean, Some(52.5575));
//! ```

use super::board::Board;
use super::bound::upper_bound;
use super::boards::{Distribution, NoBoard};
use super::features::Features;
use super::greedy::{Line, finish_greedily, finish_with_random_ties, run_seed};
use super::lanes::Lanes;
use super::policies::{Expert, Hard};
use super::rects::{Ground, Play, Rectangle};
use super::reference::{COLUMNS, ROWS, RUNS, Reference, stars};
use super::rules::{Count, Ruleset, SumCheck};
use super::scan::Scan;
use super::view::{View, warnings};
use crate::bot::{Budget, Completion, Limits, Policy, Rng, Standing, Turn, Warning, decide};

/// Games with random ties at most.
pub const MAX_RUNS: u32 = 256;
/// The version of the greedy order.
pub const TIE: &str = "v1";
/// What the upper bound is.
pub const BOUND_KIND: &str = "MULTISET_EXACT";

/// A policy that looks for the best line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searcher {
    /// Restarts.
    Hard,
    /// Beam search.
    Expert,
}

impl Searcher {
    /// By its name, with or without the version: `hard`, `hard@1`.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Hard, Self::Expert].into_iter().find(|searcher| {
            let full = searcher.full_name();
            name == full || full.split_once('@').is_some_and(|(base, _)| base == name)
        })
    }

    /// Name and version.
    pub fn full_name(self) -> String {
        let (name, about) = match self {
            Self::Hard => ("hard", Hard::default().about()),
            Self::Expert => ("expert", Expert::default().about()),
        };
        format!("{name}@{}", about.version)
    }

    fn evaluate(self, view: &View, turn: &mut Turn<'_>) -> crate::bot::Evaluated<super::Apple> {
        match self {
            Self::Hard => Hard::default().evaluate(view, turn),
            Self::Expert => Expert::default().evaluate(view, turn),
        }
    }

    fn default_limits(self) -> Limits {
        match self {
            Self::Hard => Hard::default().about().default_limits,
            Self::Expert => Expert::default().about().default_limits,
        }
    }
}

/// What an assessment shall hold.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The rules; only the greedy order depends on them.
    pub ruleset: Ruleset,
    /// Greedy games with random ties, 0..=[`MAX_RUNS`]; 0 = features and the greedy game only.
    pub runs: u32,
    /// A search for the best line, seeded by the board's hash, with a node limit (`None`: the policy's own).
    pub best: Option<(Searcher, Option<u64>)>,
    /// The table that percentiles are taken from.
    pub reference: &'static Reference,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ruleset: Ruleset::default(),
            runs: RUNS,
            best: None,
            reference: Reference::of(Distribution::Sum10),
        }
    }
}

impl Options {
    /// The limits that a search's budget has to carry, beside the deadline of the call.
    pub fn search_limits(&self) -> Limits {
        match self.best {
            None => Limits::NONE,
            Some((_, Some(nodes))) => Limits::nodes(nodes),
            Some((searcher, None)) => searcher.default_limits(),
        }
    }
}

/// Greedy games with random ties.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// All scores, in the order of the runs.
    pub scores: Vec<u32>,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation with n - 1 in the denominator; `None` for a single run.
    pub sd: Option<f64>,
}

/// The best line a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// With its version.
    pub policy: String,
    /// Nodes spent.
    pub nodes: u64,
    /// Apples cleared; never below the greedy score.
    pub score: u32,
    /// The line.
    pub plan: Vec<Rectangle>,
    /// Whether nothing better exists, by one of the two proofs.
    pub proven_optimal: bool,
}

/// Where a board stands among the reference boards; higher = easier for a greedy player.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    /// Name of the table.
    pub reference: &'static str,
    /// Of the mean of 16 runs, 0..=100.
    pub percentile_of_mean: Option<f64>,
    /// Of the greedy score, 0..=100.
    pub percentile_of_greedy: Option<f64>,
    /// 1 (easiest) to 5 (hardest), from the percentile of the mean.
    pub stars: Option<u8>,
}

/// How hard a board is. What was not computed is absent, never 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// The board it is about.
    pub board_hash: u64,
    /// The rules, resolved.
    pub ruleset: Ruleset,
    /// What is worth a look.
    pub warnings: Vec<Warning>,
    /// What can be counted at sight.
    pub features: Features,
    /// The greedy game with its moves.
    pub greedy: Line,
    /// Greedy games with random ties.
    pub runs: Option<Runs>,
    /// More than this cannot be cleared ([`BOUND_KIND`]).
    pub upper_bound: Option<u32>,
    /// What a search found.
    pub best: Option<Best>,
    /// Against the reference table.
    pub rank: Rank,
    /// Some of what was asked for is missing.
    pub partial: bool,
}

/// A board being assessed.
pub struct Assessor {
    board: Board,
    options: Options,
    ranked: bool,
    start: Start,
    scores: Vec<u32>,
    /// A search was cut short by a clock.
    cut: bool,
    assessment: Assessment,
}

/// The start position, kept for the runs.
enum Start {
    Lanes(Box<(Play<3, Lanes>, Play<3, Lanes>)>),
    Scan(Box<(Play<{ super::cells::WIDE }, Scan>, Play<{ super::cells::WIDE }, Scan>)>),
}

impl Assessor {
    /// The first pass: warnings, features, the greedy game and its percentile. `prefix` is the board's field path.
    pub fn start(prefix: &str, board: Board, options: &Options) -> Self {
        let mut warnings = warnings(prefix, &board, None);
        let ranked = board.is_fresh()
            && (board.rows(), board.columns()) == (ROWS, COLUMNS)
            && options.ruleset.count == Count::Apples;
        if !ranked {
            warnings.push(Warning {
                field: "reference".to_owned(),
                code: "NO_REFERENCE",
                text: "percentiles exist for fresh 10 x 17 boards and count = APPLES only".to_owned(),
            });
        }
        let count = options.ruleset.count;
        let (start, features, greedy) = if Lanes::fits(&board) {
            let (play, features, greedy) = first_pass(&board, count);
            (Start::Lanes(Box::new((play.clone(), play))), features, greedy)
        } else {
            let (play, features, greedy) = first_pass(&board, count);
            (Start::Scan(Box::new((play.clone(), play))), features, greedy)
        };
        let rank = Rank {
            reference: options.reference.name(),
            percentile_of_mean: None,
            percentile_of_greedy: ranked.then(|| options.reference.percentile_of_greedy(greedy.score)),
            stars: None,
        };
        let assessment = Assessment {
            board_hash: board.hash(),
            ruleset: options.ruleset,
            warnings,
            features,
            greedy,
            runs: None,
            upper_bound: None,
            best: None,
            rank,
            partial: false,
        };
        Self { board, options: *options, ranked, start, scores: Vec::new(), cut: false, assessment }
    }

    /// Whether nothing is left to do.
    pub fn is_done(&self) -> bool {
        self.runs_left() == 0
            && (self.options.runs == 0 || self.assessment.upper_bound.is_some())
            && (self.options.best.is_none() || self.assessment.best.is_some() || self.cut)
    }

    /// Rough cost of what is left, in greedy games of this board: a run each, and the search as its nodes tell.
    pub fn games_left(&self) -> u64 {
        let search = if self.assessment.best.is_none() && !self.cut { self.options.search_limits().nodes } else { None };
        u64::from(self.runs_left()) + search.unwrap_or(0) / 50
    }

    fn runs_left(&self) -> u32 {
        self.options.runs - self.scores.len() as u32
    }

    /// Does the next piece: one game with random ties, the upper bound, or the whole search within `budget` (made from
    /// [`Options::search_limits`] and the caller's deadline). Does nothing when all is done.
    pub fn step(&mut self, budget: &Budget) {
        if self.runs_left() > 0 {
            self.run();
        } else if self.options.runs > 0 && self.assessment.upper_bound.is_none() {
            self.assessment.upper_bound = Some(upper_bound(&self.assessment.features.counts));
        } else if let Some((searcher, _)) = self.options.best
            && self.assessment.best.is_none()
            && !self.cut
        {
            self.assessment.best = self.search(searcher, budget);
            self.cut = self.assessment.best.is_none();
        }
    }

    fn run(&mut self) {
        let mut rng = Rng::new(run_seed(self.scores.len() as u32));
        let count = self.options.ruleset.count;
        let score = match &mut self.start {
            Start::Lanes(plays) => again(plays, count, &mut rng),
            Start::Scan(plays) => again(plays, count, &mut rng),
        };
        self.scores.push(score);
        if self.runs_left() > 0 {
            return;
        }
        let runs = summary(std::mem::take(&mut self.scores));
        if self.ranked && runs.scores.len() == RUNS as usize {
            let percentile = self.options.reference.percentile_of_sum(runs.scores.iter().sum());
            self.assessment.rank.percentile_of_mean = Some(percentile);
            self.assessment.rank.stars = Some(stars(percentile));
        }
        self.scores.clone_from(&runs.scores);
        self.assessment.runs = Some(runs);
    }

    /// `None` when a clock cut the search short: what it has by then does not repeat.
    fn search(&self, searcher: Searcher, budget: &Budget) -> Option<Best> {
        let greedy = &self.assessment.greedy;
        let mut best = Best {
            policy: searcher.full_name(),
            nodes: 0,
            score: greedy.score,
            plan: greedy.moves.clone(),
            proven_optimal: greedy.score == upper_bound(&self.assessment.features.counts),
        };
        if greedy.moves.is_empty() {
            // Nothing can be cleared, and nothing is.
            best.proven_optimal = true;
            return Some(best);
        }
        // The rules of the sum do not reach a search; the greedy reading does.
        let ruleset = Ruleset { sum_check: SumCheck::Warn, ..self.options.ruleset };
        let view = View::new(ruleset, self.board)?;
        let mut rng = Rng::new(self.assessment.board_hash);
        let table = searcher.evaluate(&view, &mut Turn { budget, rng: &mut rng });
        if table.completion == Completion::Time {
            return None;
        }
        let chosen = decide(&table);
        best.nodes = table.work.nodes;
        best.score = chosen.get_payoff().map_or(0.0, |payoff| payoff.mean) as u32;
        best.plan = chosen.get_line().iter().map(|mv| mv.rectangle).collect();
        best.proven_optimal = matches!(chosen.get_standing(), Standing::Won(_));
        Some(best)
    }

    /// What is known by now.
    pub fn finish(mut self) -> Assessment {
        self.assessment.partial = !self.is_done() || self.cut;
        self.assessment
    }
}

fn first_pass<const N: usize, G: Ground<N>>(board: &Board, count: Count) -> (Play<N, G>, Features, Line) {
    let start = Play::new(board);
    let features = Features::of(board, &start);
    let mut greedy = Line::default();
    finish_greedily(&mut start.clone(), count, |spot| greedy.push(spot));
    (start, features, greedy)
}

fn again<const N: usize, G: Ground<N>>(plays: &mut (Play<N, G>, Play<N, G>), count: Count, rng: &mut Rng) -> u32 {
    plays.1.copy(&plays.0);
    finish_with_random_ties(&mut plays.1, count, rng)
}

fn summary(scores: Vec<u32>) -> Runs {
    let n = scores.len() as f64;
    let mean = scores.iter().map(|&score| f64::from(score)).sum::<f64>() / n;
    let squares: f64 = scores.iter().map(|&score| (f64::from(score) - mean) * (f64::from(score) - mean)).sum();
    let sd = (scores.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
    Runs { scores, mean, sd }
}

/// The whole assessment in one go.
pub fn assess(prefix: &str, board: Board, options: &Options) -> Assessment {
    let mut assessor = Assessor::start(prefix, board, options);
    while !assessor.is_done() {
        assessor.step(&Budget::new(options.search_limits()));
    }
    assessor.finish()
}

/// A board that is wished for. Checked: sides within the limits, a band only with a table for it.
#[derive(Clone, Copy, Debug)]
pub struct Wish {
    /// Where the stream of candidates starts.
    pub seed: u64,
    /// How they are drawn.
    pub distribution: Distribution,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Closed band of percentiles of the mean of 16 runs; `None`: the first candidate.
    pub band: Option<(f64, f64)>,
    /// Candidates at most.
    pub max_tries: u32,
    /// What the board is assessed under.
    pub options: Options,
}

/// No candidate was in the band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotFound {
    /// Candidates looked at.
    pub tries: u32,
    /// Of the percentiles seen, the one nearest to the band; `None` when no board could be drawn.
    pub nearest: Option<f64>,
}

/// A board that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The board.
    pub board: Board,
    /// Candidates looked at, this one included.
    pub tries: u32,
    /// Its assessment.
    pub assessment: Assessment,
}

/// A search for a board, one candidate a step.
pub struct Generator {
    wish: Wish,
    rng: Rng,
    tries: u32,
    nearest: Option<f64>,
}

impl Generator {
    /// Before the first candidate.
    pub fn new(wish: Wish) -> Self {
        Self { rng: Rng::new(wish.seed), wish, tries: 0, nearest: None }
    }

    /// Candidates looked at.
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// Looks at the next candidate of the stream; `Ok(None)`: not in the band. About half a millisecond.
    ///
    /// # Errors
    /// The last candidate allowed was not in the band, or no board can be drawn at all.
    pub fn step(&mut self) -> Result<Option<Found>, NotFound> {
        let Wish { distribution, rows, columns, band, max_tries, options, .. } = self.wish;
        let board = distribution.next(&mut self.rng, rows, columns).map_err(|NoBoard| self.not_found())?;
        self.tries += 1;
        let assessment = assess("board", board, &options);
        let percentile = assessment.rank.percentile_of_mean;
        let missed = band.zip(percentile).map_or(0.0, |(band, percentile)| distance(band, percentile));
        if missed == 0.0 {
            return Ok(Some(Found { board, tries: self.tries, assessment }));
        }
        let so_far = self.nearest.zip(band).map_or(f64::INFINITY, |(nearest, band)| distance(band, nearest));
        if missed < so_far {
            self.nearest = percentile;
        }
        if self.tries == max_tries { Err(self.not_found()) } else { Ok(None) }
    }

    const fn not_found(&self) -> NotFound {
        NotFound { tries: self.tries, nearest: self.nearest }
    }

    /// All steps in one go.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn run(mut self) -> Result<Found, NotFound> {
        loop {
            if let Some(found) = self.step()? {
                return Ok(found);
            }
        }
    }
}

/// How far a percentile lies outside a closed band.
fn distance((low, high): (f64, f64), percentile: f64) -> f64 {
    (low - percentile).max(percentile - high).max(0.0)
}
