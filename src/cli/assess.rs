//! `understudy assess` and `understudy train`: what the apple game has beside decisions. The one file of the command
//! line that names a game, as these two are about its boards and nothing else.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::json::{self, Named};
use super::{Failure, failure, input, progress};
use crate::bot::{Budget, Reject};
use crate::games::apple::assess::{Assessment, Assessor, Options};
use crate::games::apple::board::Board;
use crate::games::apple::boards::Distribution;
use crate::games::apple::reference::{BOARDS, Histograms};
use crate::games::apple::rules::Ruleset;
use crate::games::apple::wire::{BadCall, board_path, read_assess, write_assessment, write_board};
use crate::pb::apple as wire;

impl Named for wire::Board {
    const NAME: &'static str = "understudy.apple.v1.Board";
}

impl Named for wire::AssessBoardsRequest {
    const NAME: &'static str = "understudy.apple.v1.AssessBoardsRequest";
}

impl Named for wire::Assessment {
    const NAME: &'static str = "understudy.apple.v1.Assessment";
}

/// Apple boards in, difficulty out: one line a board, measured for a greedy player.
#[derive(Args, Debug)]
pub struct AssessArgs {
    /// Boards, one a line: digits with / between the rows and 0 for a cleared cell (4628/0153), or the JSON of a Board
    /// or of an AssessBoardsRequest; - or nothing for standard input
    file: Option<PathBuf>,
    /// Greedy games with random ties (0..=256) [default: 16]
    #[arg(long, value_name = "N")]
    runs: Option<u32>,
    /// Also look for the best line with this policy
    #[arg(long, value_name = "P")]
    best: Option<String>,
    /// Nodes for that search
    #[arg(long, value_name = "N", requires = "best", value_parser = clap::value_parser!(u32).range(1..))]
    max_nodes: Option<u32>,
    /// The rules
    #[arg(long, value_name = "NAME")]
    ruleset: Option<String>,
    /// The table that percentiles are taken from
    #[arg(long, value_name = "NAME")]
    reference: Option<String>,
    /// Show the moves of the greedy game
    #[arg(long, requires = "json")]
    trace: bool,
    /// Print one JSON object a board (an Assessment)
    #[arg(long)]
    json: bool,
}

/// Assesses boards.
///
/// # Errors
/// For input that is no board, every violation on its line.
pub fn run(arguments: &AssessArgs) -> Result<(), Failure> {
    let mut request = read(&input::read(arguments.file.as_deref())?)?;
    request.runs = arguments.runs.or(request.runs);
    request.trace |= arguments.trace;
    if let Some(policy) = &arguments.best {
        request.best = Some(wire::BestOptions { policy: policy.clone(), max_nodes: arguments.max_nodes });
    }
    for (field, given) in [(&mut request.ruleset, &arguments.ruleset), (&mut request.reference, &arguments.reference)] {
        if let Some(name) = given {
            field.clone_from(name);
        }
    }
    if request.ruleset.is_empty() {
        Ruleset::NAMES[0].clone_into(&mut request.ruleset);
    }
    let call = read_assess(&request).map_err(|bad| match bad {
        BadCall::Invalid(list) => Failure::violations(&list),
        BadCall::PolicyUnknown(text) => Failure::input(text),
    })?;
    let boards = sound(call.boards)?;
    let bar = progress::bar(boards.len() as u64, "boards");
    let mut text = if arguments.json { String::new() } else { HEAD.to_owned() };
    for (place, board) in boards.into_iter().enumerate() {
        let assessment = assess(&board_path(place), board, &call.options);
        let message = write_assessment(&assessment, call.trace);
        let line = if arguments.json { json::write(&message)?.to_string() } else { line(&message) };
        let _ = writeln!(text, "{line}");
        bar.inc(1);
    }
    bar.finish_and_clear();
    input::print(&text)
}

/// Every board, or every violation of every board.
fn sound(boards: Vec<Result<Board, Reject>>) -> Result<Vec<Board>, Failure> {
    let mut wrong = Vec::new();
    let mut sound = Vec::new();
    for board in boards {
        match board {
            Ok(board) => sound.push(board),
            Err(Reject::Invalid(list)) => wrong.extend(failure::lines(&list)),
            Err(Reject::NothingToDecide(text)) => return Err(Failure::input(text)),
        }
    }
    if wrong.is_empty() { Ok(sound) } else { Err(Failure::Input(wrong)) }
}

fn assess(prefix: &str, board: Board, options: &Options) -> Assessment {
    let mut assessor = Assessor::start(prefix, board, options);
    while !assessor.is_done() {
        assessor.step(&Budget::new(options.search_limits()));
    }
    assessor.finish()
}

fn read(text: &str) -> Result<wire::AssessBoardsRequest, Failure> {
    if text.trim_start().starts_with('{') {
        return read_json(text);
    }
    let mut request = wire::AssessBoardsRequest::default();
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let board = Board::parse(line);
        let board =
            board.ok_or_else(|| Failure::input(format!("line {number}: no board: rows of digits, as in 46/28")))?;
        request.boards.push(write_board(&board));
    }
    Ok(request)
}

fn read_json(text: &str) -> Result<wire::AssessBoardsRequest, Failure> {
    let mut all = wire::AssessBoardsRequest::default();
    for (number, value) in serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>().enumerate() {
        let at = |what: String| Failure::input(format!("object {}: {what}", number + 1));
        let value = value.map_err(|error| at(error.to_string()))?;
        if value.get("boards").is_some() {
            let boards = std::mem::take(&mut all.boards);
            all = json::read_value(value).map_err(at)?;
            all.boards.splice(0..0, boards);
        } else {
            all.boards.push(json::read_value(value).map_err(at)?);
        }
    }
    Ok(all)
}

const HEAD: &str = "board             apples  greedy    mean     sd  bound  best  percentile  stars\n";

fn line(assessment: &wire::Assessment) -> String {
    let features = assessment.features.clone().unwrap_or_default();
    let greedy = assessment.greedy.as_ref().map_or(0, |greedy| greedy.score);
    let runs = assessment.greedy_runs.as_ref();
    let rank = assessment.rank.clone().unwrap_or_default();
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    let whole = |value: Option<u32>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    format!(
        "{}  {:>6}  {greedy:>6}  {:>6}  {:>5}  {:>5}  {:>4}  {:>10}  {:>5}",
        assessment.board_hash,
        features.apples,
        number(runs.map(|runs| runs.mean)),
        number(runs.and_then(|runs| runs.sd)),
        whole(assessment.upper_bound.as_ref().map(|bound| bound.value)),
        whole(assessment.best.as_ref().map(|best| best.score)),
        number(rank.percentile_of_mean),
        whole(rank.stars)
    )
}

/// Makes the tables that ship with the program, from seeds alone.
#[derive(Args, Debug)]
pub struct TrainArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// How the greedy player fares on the boards of a distribution: the tables that percentiles are taken from
    AppleReferences(ReferenceArgs),
}

#[derive(Args, Debug)]
struct ReferenceArgs {
    /// The distribution of the boards
    #[arg(long, value_name = "NAME", default_value = "sum10.v1")]
    distribution: String,
    /// Boards of seeds 1..=N
    #[arg(long, value_name = "N", default_value_t = BOARDS, value_parser = clap::value_parser!(u32).range(1..))]
    boards: u32,
    /// Where the table is written [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Makes a table.
///
/// # Errors
/// For an unknown distribution, or a file that cannot be written.
pub fn train(arguments: &TrainArgs) -> Result<(), Failure> {
    let What::AppleReferences(arguments) = &arguments.what;
    let name = &arguments.distribution;
    let distribution = Distribution::named(name).ok_or_else(|| Failure::input(format!("no distribution {name:?}")))?;
    let bar = progress::bar(u64::from(arguments.boards), "boards");
    let table = Histograms::measure(distribution, arguments.boards, |_| bar.inc(1)).to_json();
    bar.finish_and_clear();
    match &arguments.out {
        None => input::print(&table),
        Some(path) => {
            std::fs::write(path, table).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
        }
    }
}
