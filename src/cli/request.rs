//! Requests as they come in: one JSON object, or a JSONL file of requests or of recorded calls.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{Failure, input, json};
use crate::pb;

/// What may be changed about a request on the command line.
#[derive(Args, Clone, Debug, Default)]
pub struct Overrides {
    /// Ask this policy instead
    #[arg(long, value_name = "P")]
    pub policy: Option<String>,
    /// Think with this seed instead
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// How much of the table to show instead
    #[arg(long, value_enum, value_name = "DETAIL")]
    pub detail: Option<Shown>,
    /// Limit the nodes; naming any limit replaces the request's whole budget
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_nodes: Option<u32>,
    /// Limit the worlds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_worlds: Option<u32>,
    /// Limit the depth
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_depth: Option<u32>,
    /// Limit the time, as in 250ms
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub max_time: Option<Duration>,
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    let fits = (1..=u128::from(u32::MAX)).contains(&time.as_micros());
    if fits { Ok(time) } else { Err("between 1us and an hour, please".to_owned()) }
}

/// How much of the table a reply shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shown {
    /// Only the move
    None,
    /// The five best rows
    Top,
    /// Every row
    All,
}

impl Overrides {
    /// The request with these changes.
    pub fn apply(&self, mut request: pb::DecideRequest) -> pb::DecideRequest {
        if let Some(policy) = &self.policy {
            request.policy.clone_from(policy);
        }
        request.seed = self.seed.or(request.seed);
        if let Some(detail) = self.detail {
            request.detail = match detail {
                Shown::None => pb::Detail::None,
                Shown::Top => pb::Detail::Top,
                Shown::All => pb::Detail::All,
            } as i32;
        }
        let budget = pb::Budget {
            max_time_us: self.max_time.map(|time| time.as_micros() as u32),
            max_nodes: self.max_nodes,
            max_worlds: self.max_worlds,
            max_depth: self.max_depth,
        };
        if budget != pb::Budget::default() {
            request.budget = Some(budget);
        }
        request
    }
}

/// The requests of a file: one JSON object over any number of lines, or one object a line. An object may also be a
/// recorded call `{request, reply}`, of which the request is taken.
///
/// # Errors
/// What does not fit, with its line where there are several.
pub fn read(file: Option<&Path>) -> Result<Vec<pb::DecideRequest>, Failure> {
    let text = input::read(file)?;
    let name = file.filter(|path| *path != Path::new("-")).map_or("standard input".to_owned(), show);
    let mut requests = Vec::new();
    for (number, value) in serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>().enumerate() {
        let at = |what: String| Failure::input(format!("{name}: request {}: {what}", number + 1));
        let mut value = value.map_err(|error| at(error.to_string()))?;
        if let Some(request) = value.get_mut("request") {
            value = request.take();
        }
        requests.push(json::read_value(value).map_err(at)?);
    }
    if requests.is_empty() {
        return Err(Failure::input(format!("{name}: no request in it; `understudy example GAME` prints one")));
    }
    Ok(requests)
}

fn show(path: &Path) -> String {
    PathBuf::from(path).display().to_string()
}
