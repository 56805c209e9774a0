//! Games on file: one JSON line each, enough to play them again through the referee.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::match_::Played;
use crate::bot::{Ask, Game, Outcome, Referee, Seat};

/// The format that this program writes and reads.
pub const FORMAT: u32 = 1;

/// One game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this format.
    pub format: u32,
    /// The game's key.
    pub game: String,
    /// The rules, as `--rules` takes them.
    pub rules: String,
    /// Seed of the deal.
    pub deal: u64,
    /// Which seating of the deal.
    pub rotation: usize,
    /// Label of the player in each seat, in the order of the seats.
    pub seats: Vec<String>,
    /// The answers, grouped by question: seat and key of the move.
    pub steps: Vec<Vec<(u8, String)>>,
    /// How it ended.
    pub result: Ending,
}

/// How a recorded game ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// By its rules.
    Settled {
        /// What each seat got.
        payments: Vec<i64>,
        /// The seats that won.
        winners: Vec<u8>,
    },
    /// Stopped by a limit.
    Truncated {
        /// Plies until then.
        after_plies: u32,
    },
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settled { payments, winners } => write!(f, "payments {payments:?} with winners {winners:?}"),
            Self::Truncated { after_plies } => write!(f, "stopped after {after_plies} plies"),
        }
    }
}

impl Ending {
    /// An outcome, as it is written.
    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Known(settlement) => Self::Settled {
                payments: settlement.payments.clone(),
                winners: settlement.winners.iter().map(|seat| seat.0).collect(),
            },
            Outcome::Unknown { after_plies } => Self::Truncated { after_plies: *after_plies },
        }
    }
}

/// The JSON line of a game.
pub fn line<G: Game>(rules: &str, deal: u64, rotation: usize, seats: Vec<String>, played: &Played<G>) -> String {
    let steps = played.steps.iter().map(|step| step.iter().map(|(seat, mv)| (seat.0, G::key(mv))).collect());
    let record = Record {
        format: FORMAT,
        game: G::KEY.to_owned(),
        rules: rules.to_owned(),
        deal,
        rotation,
        seats,
        steps: steps.collect(),
        result: Ending::of(&played.outcome),
    };
    let mut text = serde_json::to_string(&record).expect("a record is plain data; this is a bug of record.rs");
    text.push('\n');
    text
}

/// Plays a record again through the referee.
///
/// # Errors
/// The first move that is not legal or not asked for, or how the result differs.
pub fn replay<G: Referee>(record: &Record) -> Result<(), String> {
    if record.format != FORMAT {
        return Err(format!("format {}, but this program reads {FORMAT}", record.format));
    }
    let rules = G::rules(&record.rules).ok_or_else(|| format!("no rules {:?}", record.rules))?;
    let seats = u8::try_from(record.seats.len()).ok().filter(|seats| G::SEATS.contains(seats));
    let seats = seats.ok_or_else(|| format!("{} seats", record.seats.len()))?;
    let mut state = G::deal(&rules, seats, record.deal);
    for (number, step) in record.steps.iter().enumerate() {
        let at = |what: String| format!("step {number}: {what}");
        check_asked(&G::ask(&state), step).map_err(at)?;
        let mut answers = Vec::new();
        for (seat, key) in step {
            let mv = G::parse_key(key).ok_or_else(|| at(format!("seat {seat}: {key:?} is no move")))?;
            answers.push((Seat(*seat), mv));
        }
        G::resolve(&mut state, &answers).map_err(|illegal| at(illegal.to_string()))?;
    }
    match G::ask(&state) {
        Ask::Over(outcome) if Ending::of(&outcome) == record.result => Ok(()),
        Ask::Over(outcome) => Err(format!("the result is {}, not {}", Ending::of(&outcome), record.result)),
        _ => Err(format!("the game is not over after {} steps", record.steps.len())),
    }
}

fn check_asked(ask: &Ask, step: &[(u8, String)]) -> Result<(), String> {
    let answered: Vec<u8> = step.iter().map(|(seat, _)| *seat).collect();
    let asked: Vec<u8> = match ask {
        Ask::One(seat) => vec![seat.0],
        Ask::Window(seats) => seats.iter().map(|seat| seat.0).collect(),
        Ask::Over(_) => return Err("the game is over already".to_owned()),
    };
    if answered == asked { Ok(()) } else { Err(format!("seats {asked:?} are asked, {answered:?} answer")) }
}
