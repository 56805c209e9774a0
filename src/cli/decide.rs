//! `understudy decide`: one request, answered here or by a server.

use std::path::PathBuf;

use clap::Args;

use super::local::Local;
use super::remote::{self, Manner};
use super::request::{Overrides, read};
use super::weights::Replacement;
use super::{Failure, explain, input, json};
use crate::{games, pb};

/// Reads one DecideRequest as protobuf JSON and prints the DecideResponse. Start with `understudy example GAME`.
#[derive(Args, Debug)]
pub struct DecideArgs {
    /// The request, or a recorded call {request, reply}; - or nothing for standard input
    file: Option<PathBuf>,
    /// Print the whole table for people: best first, each term's contribution and value
    #[arg(long, conflicts_with = "json")]
    explain: bool,
    #[command(flatten)]
    overrides: Overrides,
    /// Ask the server at HOST:PORT instead of deciding here
    #[arg(long, value_name = "ADDR")]
    server: Option<String>,
    #[command(flatten, next_help_heading = "With --server")]
    manner: Manner,
    /// Tuned weights to decide with (repeatable)
    #[arg(long, value_name = "GAME/POLICY=FILE", conflicts_with = "server")]
    weights: Vec<Replacement>,
    /// Print the DecideResponse as protobuf JSON (the default)
    #[arg(long)]
    json: bool,
}

/// Decides.
///
/// # Errors
/// For a request that a server would refuse.
pub fn run(arguments: &DecideArgs) -> Result<(), Failure> {
    let mut requests = read(arguments.file.as_deref())?;
    if requests.len() > 1 {
        return Err(Failure::input(format!("{} requests; decide takes one (diagnose takes many)", requests.len())));
    }
    let mut request = arguments.overrides.apply(requests.remove(0));
    if arguments.explain && arguments.overrides.detail.is_none() {
        request.detail = pb::Detail::All as i32;
    }
    let response = match &arguments.server {
        Some(address) => remote::decide(address, &arguments.manner, request.clone())?,
        None => {
            let mut registry = games::registry();
            super::weights::apply(&mut registry, &arguments.weights)?;
            Local::new(registry).decide(request.clone())?
        }
    };
    if arguments.explain {
        return input::print(&explain::text(request.view.as_ref(), &response));
    }
    input::print_json(&json::write(&response)?)
}
