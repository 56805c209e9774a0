//! Messages to values and back: the only file of the game that names protobuf types.

use super::Apple;
use super::assess::{Assessment, BOUND_KIND, MAX_RUNS, Options, Searcher, TIE, Wish};
use super::board::{Board, MAX_CELLS, MAX_SIDE};
use super::boards::Distribution;
use super::features::Features;
use super::moves::Move;
use super::rects::{self, Rectangle};
use super::reference::{COLUMNS, ROWS, RUNS, Reference};
use super::rules::{Count, Ruleset, SumCheck};
use super::view::{self, Claim, View};
use crate::bot::{Checked, Reject, Violations, Warning, Wire};
use crate::pb;
use crate::pb::apple as wire;

/// The ruleset a message means; `None` with at least one violation.
fn read_ruleset(message: Option<&wire::Ruleset>, wrong: &mut Violations) -> Option<Ruleset> {
    let before = wrong.len();
    let name = message.map_or("", |ruleset| ruleset.name.as_str());
    let named = Ruleset::named(name);
    if name.is_empty() {
        wrong.add("ruleset.name", "", "missing");
    } else if named.is_none() {
        wrong.add("ruleset.name", "", format!("unknown ruleset {:?}", name.chars().take(64).collect::<String>()));
    }
    let mut ruleset = named.unwrap_or_default();
    let message = message.cloned().unwrap_or_default();
    match wire::Count::try_from(message.count) {
        Ok(wire::Count::Unspecified) => {}
        Ok(wire::Count::Apples) => ruleset.count = Count::Apples,
        Ok(wire::Count::Area) => ruleset.count = Count::Area,
        Err(_) => wrong.add("ruleset.count", "", format!("unknown value {}", message.count)),
    }
    match wire::SumCheck::try_from(message.sum_check) {
        Ok(wire::SumCheck::Unspecified) => {}
        Ok(wire::SumCheck::Warn) => ruleset.sum_check = SumCheck::Warn,
        Ok(wire::SumCheck::Require) => ruleset.sum_check = SumCheck::Require,
        Err(_) => wrong.add("ruleset.sum_check", "", format!("unknown value {}", message.sum_check)),
    }
    (wrong.len() == before).then_some(ruleset)
}

/// The board of a message, or every reason against it, under the field path `prefix` (`boards[3]`).
///
/// # Errors
/// Every violation.
pub fn read_board(prefix: &str, message: &wire::Board, sum_check: SumCheck) -> Result<Board, Reject> {
    let mut wrong = Violations::under(prefix);
    let claim = Claim { rows: message.rows, columns: message.columns, cells: &message.cells };
    let board = view::check_board(claim, Some(sum_check), &mut wrong);
    wrong.finish()?;
    board.ok_or_else(|| Reject::Invalid(Violations::default()))
}

/// The message of a board.
pub fn write_board(board: &Board) -> wire::Board {
    wire::Board {
        rows: board.rows() as u32,
        columns: board.columns() as u32,
        cells: board.cells().iter().map(|&digit| u32::from(digit)).collect(),
    }
}

/// The message of a rectangle.
pub fn write_rectangle(rectangle: Rectangle) -> wire::Rectangle {
    wire::Rectangle {
        row_min: rectangle.row_min.into(),
        col_min: rectangle.col_min.into(),
        row_max: rectangle.row_max.into(),
        col_max: rectangle.col_max.into(),
    }
}

impl Wire for Apple {
    fn opens(view: &pb::View) -> bool {
        matches!(view.game, Some(pb::view::Game::Apple(_)))
    }

    fn read(view: pb::View) -> Result<Checked<Self>, Reject> {
        let mut wrong = Violations::under("view.apple");
        let message = match view.game {
            Some(pb::view::Game::Apple(message)) => message,
            _ => wire::View::default(),
        };
        let ruleset = read_ruleset(message.ruleset.as_ref(), &mut wrong);
        let claim = Claim { rows: message.rows, columns: message.columns, cells: &message.cells };
        let board = view::check_board(claim, ruleset.map(|ruleset| ruleset.sum_check), &mut wrong);
        wrong.finish()?;
        let view = ruleset.zip(board).and_then(|(ruleset, board)| View::new(ruleset, board));
        let view = view.ok_or_else(|| Reject::Invalid(Violations::default()))?.scored(message.score);
        let board = view.board();
        if !rects::any(board) {
            let text = format!("no move is left; {} apples stay on the board", board.apples());
            return Err(Reject::NothingToDecide(text));
        }
        Ok(Checked {
            view_hash: board.hash(),
            ruleset: view.ruleset().to_string(),
            warnings: view::warnings("view.apple", board, view.score()),
            view,
        })
    }

    fn write_view(view: &View) -> pb::View {
        let board = write_board(view.board());
        let ruleset = view.ruleset();
        let count = match ruleset.count {
            Count::Apples => wire::Count::Apples,
            Count::Area => wire::Count::Area,
        };
        let sum_check = match ruleset.sum_check {
            SumCheck::Warn => wire::SumCheck::Warn,
            SumCheck::Require => wire::SumCheck::Require,
        };
        let message = wire::View {
            ruleset: Some(wire::Ruleset {
                name: ruleset.name.to_owned(),
                count: count.into(),
                sum_check: sum_check.into(),
            }),
            rows: board.rows,
            columns: board.columns,
            cells: board.cells,
            score: view.score(),
        };
        pb::View { game: Some(pb::view::Game::Apple(message)) }
    }

    /// A move carries what it clears when its turn comes, so that later moves of a plan are told rightly. One that was
    /// only named is read off the view.
    fn write_move(view: &View, mv: &Move) -> pb::Move {
        let mv = if mv.apples > 0 { *mv } else { rects::read_off(view.board(), mv.rectangle) };
        let message = wire::Move {
            rectangle: Some(write_rectangle(mv.rectangle)),
            apples: mv.apples.into(),
            largest: mv.largest.into(),
            area: mv.rectangle.area(),
            cells: mv.cells.iter().map(|cell| cell as u32).collect(),
        };
        pb::Move { game: Some(pb::r#move::Game::Apple(message)) }
    }
}

/// A call of BoardService that is wrong as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadCall {
    /// The request breaks rules: every one, by field path.
    Invalid(Violations),
    /// No such searching policy; the text names those there are.
    PolicyUnknown(String),
}

/// Boards to assess, each checked on its own, in the order of the request.
pub struct Assessing {
    /// What is asked for.
    pub options: Options,
    /// Whether the greedy game's rectangles go into the reply.
    pub trace: bool,
    /// The boards, or why one is none.
    pub boards: Vec<Result<Board, Reject>>,
}

/// Boards of one call at most.
pub const MAX_BOARDS: usize = 1_024;

/// The field path of a board in a call.
pub fn board_path(index: usize) -> String {
    format!("boards[{index}]")
}

/// Reads a call; a bad board does not spoil it.
///
/// # Errors
/// What spoils the call as a whole.
pub fn read_assess(request: &wire::AssessBoardsRequest) -> Result<Assessing, BadCall> {
    let mut wrong = Violations::under("");
    let count = request.boards.len();
    if !(1..=MAX_BOARDS).contains(&count) {
        wrong.add("boards", "", format!("{count} boards, allowed are 1..={MAX_BOARDS}"));
    }
    let ruleset = named_ruleset(&request.ruleset, "", &mut wrong);
    let runs = request.runs.unwrap_or(RUNS);
    if runs > MAX_RUNS {
        wrong.add("runs", "", format!("{runs} is outside 0..={MAX_RUNS}"));
    }
    let best = request.best.as_ref();
    let searcher = best.map(|best| (Searcher::named(&best.policy), best.max_nodes.map(u64::from)));
    if let Some((_, Some(0))) = searcher {
        wrong.add("best.max_nodes", "", "0 nodes: leave it out for the policy's own limit");
    }
    let reference = named_reference(&request.reference, Distribution::Sum10, &mut wrong);
    if !wrong.is_empty() {
        return Err(BadCall::Invalid(wrong));
    }
    let best = match searcher {
        Some((None, _)) => return Err(policy_unknown(best.map_or("", |best| &best.policy))),
        Some((Some(searcher), nodes)) => Some((searcher, nodes)),
        None => None,
    };
    let options = Options { ruleset, runs, best, reference };
    let boards = request.boards.iter().enumerate();
    let boards = boards.map(|(i, board)| read_board(&board_path(i), board, ruleset.sum_check)).collect();
    Ok(Assessing { options, trace: request.trace, boards })
}

fn policy_unknown(name: &str) -> BadCall {
    let known = [Searcher::Hard, Searcher::Expert].map(Searcher::full_name).join(", ");
    BadCall::PolicyUnknown(format!("no policy {:?} that searches boards; there are {known}", cut(name)))
}

/// Names from a request are quoted, but not at any length.
fn cut(name: &str) -> String {
    name.chars().take(64).collect()
}

/// The ruleset of a call by name; the default where the name is empty and one may be left out.
fn named_ruleset(name: &str, default: &str, wrong: &mut Violations) -> Ruleset {
    let asked = if name.is_empty() { default } else { name };
    if asked.is_empty() {
        wrong.add("ruleset", "", "missing");
    } else if Ruleset::named(asked).is_none() {
        wrong.add("ruleset", "", format!("unknown ruleset {:?}", cut(asked)));
    }
    Ruleset::named(asked).unwrap_or_default()
}

fn named_reference(name: &str, default: Distribution, wrong: &mut Violations) -> &'static Reference {
    let found = if name.is_empty() { Some(Reference::of(default)) } else { Reference::named(name) };
    if found.is_none() {
        wrong.add("reference", "", format!("unknown reference {:?}", cut(name)));
    }
    found.unwrap_or_else(|| Reference::of(default))
}

/// Reads a wish for a board. `drawn` is the seed of a request that names none.
///
/// # Errors
/// Every violation.
pub fn read_wish(request: &wire::GenerateBoardRequest, drawn: u64) -> Result<Wish, BadCall> {
    let mut wrong = Violations::under("");
    let ruleset = named_ruleset(&request.ruleset, Ruleset::NAMES[0], &mut wrong);
    let distribution = match request.distribution.as_str() {
        "" => Some(Distribution::Sum10),
        name => Distribution::named(name),
    };
    if distribution.is_none() {
        wrong.add("distribution", "", format!("unknown distribution {:?}", cut(&request.distribution)));
    }
    let distribution = distribution.unwrap_or(Distribution::Sum10);
    if ruleset.sum_check == SumCheck::Require && distribution == Distribution::Uniform {
        wrong.add("distribution", "", format!("{} cannot meet {}: sums would be any", distribution.name(), ruleset.name));
    }
    let (rows, columns) = read_size(request, &mut wrong);
    let max_tries = request.max_tries.unwrap_or(TRIES);
    if !(1..=MOST_TRIES).contains(&max_tries) {
        wrong.add("max_tries", "", format!("{max_tries} is outside 1..={MOST_TRIES}"));
    }
    if let Some(band) = &request.band {
        read_band(band, ruleset, (rows, columns), &mut wrong);
    }
    let reference = named_reference(&request.reference, distribution, &mut wrong);
    if !wrong.is_empty() {
        return Err(BadCall::Invalid(wrong));
    }
    Ok(Wish {
        seed: request.seed.unwrap_or(drawn),
        distribution,
        rows: rows as usize,
        columns: columns as usize,
        band: request.band.as_ref().map(|band| (band.low, band.high)),
        max_tries,
        options: Options { ruleset, runs: RUNS, best: None, reference },
    })
}

/// Candidates looked at where a wish names no number.
const TRIES: u32 = 500;
/// Candidates that a wish may ask for.
const MOST_TRIES: u32 = 10_000;

fn read_size(request: &wire::GenerateBoardRequest, wrong: &mut Violations) -> (u32, u32) {
    let (rows, columns) = (request.rows, request.columns);
    if (rows, columns) == (0, 0) {
        return (ROWS as u32, COLUMNS as u32);
    }
    let before = wrong.len();
    for (path, side) in [("rows", rows), ("columns", columns)] {
        if !(1..=MAX_SIDE as u32).contains(&side) {
            wrong.add(path, "", format!("{side} is outside 1..={MAX_SIDE}; leave out both for {ROWS} x {COLUMNS}"));
        }
    }
    let product = u64::from(rows) * u64::from(columns);
    if wrong.len() == before && product > MAX_CELLS as u64 {
        wrong.add("rows", "", format!("{rows} x {columns} = {product} cells, the limit is {MAX_CELLS}"));
    }
    (rows, columns)
}

fn read_band(band: &wire::PercentileBand, ruleset: Ruleset, size: (u32, u32), wrong: &mut Violations) {
    let (low, high) = (band.low, band.high);
    // Written so that NaN is refused as well.
    if !(0.0 <= low && low < high && high <= 100.0) {
        wrong.add("band", "", format!("{low}..={high} is not a band: 0 <= low < high <= 100"));
    }
    if ruleset.count == Count::Area {
        wrong.add("band", "", "percentiles exist for count = APPLES only");
    }
    if size != (ROWS as u32, COLUMNS as u32) {
        wrong.add("band", "", format!("percentiles exist for {ROWS} x {COLUMNS} boards only"));
    }
}

/// The message of an assessment.
pub fn write_assessment(assessment: &Assessment, trace: bool) -> wire::Assessment {
    let Assessment { features, greedy, rank, .. } = assessment;
    let rectangles = |moves: &[Rectangle]| moves.iter().map(|&rectangle| write_rectangle(rectangle)).collect();
    wire::Assessment {
        board_hash: format!("{:016x}", assessment.board_hash),
        ruleset: assessment.ruleset.to_string(),
        tie: TIE.to_owned(),
        warnings: assessment.warnings.iter().map(write_notice).collect(),
        features: Some(write_features(features)),
        greedy: Some(wire::Greedy {
            score: greedy.score,
            moves: greedy.moves.len() as u32,
            trace: if trace { rectangles(&greedy.moves) } else { Vec::new() },
        }),
        greedy_runs: assessment.runs.as_ref().map(|runs| wire::GreedyRuns {
            scores: runs.scores.clone(),
            mean: runs.mean,
            sd: runs.sd,
        }),
        upper_bound: assessment.upper_bound.map(|value| wire::UpperBound { value, kind: BOUND_KIND.to_owned() }),
        best: assessment.best.as_ref().map(|best| wire::Best {
            policy: best.policy.clone(),
            nodes: best.nodes as u32,
            score: best.score,
            plan: rectangles(&best.plan),
            proven_optimal: best.proven_optimal,
        }),
        rank: Some(wire::Rank {
            reference: rank.reference.to_owned(),
            percentile_of_mean: rank.percentile_of_mean,
            percentile_of_greedy: rank.percentile_of_greedy,
            stars: rank.stars.map(u32::from),
        }),
        partial: assessment.partial,
    }
}

fn write_features(features: &Features) -> wire::Features {
    wire::Features {
        sum: features.sum,
        sum_of_squares: features.sum_of_squares,
        apples: features.apples,
        counts: features.counts.to_vec(),
        legal_moves: features.legal_moves,
        reachable_apples: features.reachable_apples,
        adjacent_pairs: features.adjacent_pairs,
    }
}

fn write_notice(warning: &Warning) -> wire::Notice {
    wire::Notice { field: warning.field.clone(), code: warning.code.to_owned(), text: warning.text.clone() }
}
