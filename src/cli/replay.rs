//! `understudy replay`: recorded games, played again through the referee.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, input, policies};
use crate::arena::record::{Record, replay};
use crate::arena::report::grouped;
use crate::bot::{Referee, Wire};
use crate::games::{self, Visitor};

/// What to replay.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// JSONL as `arena --records` writes it; - or nothing for standard input
    file: Option<PathBuf>,
    /// Print one JSON document with the count
    #[arg(long)]
    json: bool,
}

/// Checks every game: all moves legal, result as stated.
///
/// # Errors
/// The first line that is no record (bad input), or whose game is not as it says (failure).
pub fn run(arguments: &ReplayArgs) -> Result<(), Failure> {
    let text = input::read(arguments.file.as_deref())?;
    let mut games = 0;
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = |what: String| format!("line {}: {what}", number + 1);
        let record: Record = serde_json::from_str(line).map_err(|error| {
            Failure::input(at(format!(
                "{error}; `arena --records` writes such lines, calls of `serve --record` are for `decide`"
            )))
        })?;
        let key = record.game.clone();
        let checked = games::visit(&key, Replay(&record)).ok_or_else(|| policies::unknown_game(&key))?;
        checked.map_err(|what| Failure::failed(at(what)))?;
        games += 1;
    }
    if arguments.json {
        return input::print_json(&serde_json::json!({ "games": games, "sound": true }));
    }
    input::print(&format!("{} games, every move legal, every result as stated\n", grouped(games)))
}

struct Replay<'a>(&'a Record);

impl Visitor for Replay<'_> {
    type Output = Result<(), String>;

    fn visit<G: Referee + Wire>(self) -> Self::Output {
        replay::<G>(self.0)
    }
}
