//! The command line: one file a subcommand. Exit 0 on success, 2 on bad usage or bad input, 1 on failure.

pub mod arena;
pub mod assess;
pub mod decide;
pub mod diagnose;
pub mod example;
pub mod explain;
pub mod failure;
pub mod findings;
pub mod input;
pub mod json;
pub mod local;
pub mod policies;
pub mod probe;
pub mod progress;
pub mod remote;
pub mod replay;
pub mod request;
pub mod serve;
pub mod suite;
pub mod tune;
pub mod weights;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use failure::Failure;

/// A bot for any empty seat: a view and a policy name in, a move and its whole table of reasons out.
#[derive(Parser, Debug)]
#[command(name = "understudy", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 success, 2 bad usage or bad input, 1 failure.")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Serve decisions over gRPC
    Serve(Box<serve::ServeArgs>),
    /// List games and policies with their terms and default budgets
    Policies(policies::PoliciesArgs),
    /// Print a valid request from a seeded game of bots: the first thing to feed to `decide`
    Example(example::ExampleArgs),
    /// Decide one request and print the move with its table
    Decide(decide::DecideArgs),
    /// Print a table and what may be wrong with the evaluation behind it
    Diagnose(diagnose::DiagnoseArgs),
    /// Play bots against bots and report means with 95 % intervals
    Arena(arena::ArenaArgs),
    /// Assess boards: difficulty for a greedy player
    Assess(assess::AssessArgs),
    /// Make the tables that ship with the program, from seeds alone
    Train(assess::TrainArgs),
    /// Check the health of a running server
    Probe(probe::ProbeArgs),
    /// Learn a policy's weights from self-play and write them if they win
    Tune(tune::TuneArgs),
    /// Play recorded games again through the referee
    Replay(replay::ReplayArgs),
    /// Print the fingerprint of how every policy plays, or compare it with a stored one
    Suite(suite::SuiteArgs),
}

/// Parses the arguments, runs the subcommand, and says in one line each what went wrong.
pub fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        // Its exit code tells how the drain went.
        Command::Serve(arguments) => return serve::run(&arguments),
        Command::Policies(arguments) => policies::run(&arguments),
        Command::Example(arguments) => example::run(&arguments),
        Command::Decide(arguments) => decide::run(&arguments),
        Command::Diagnose(arguments) => diagnose::run(&arguments),
        Command::Arena(arguments) => arena::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Assess(arguments) => assess::run(&arguments),
        Command::Train(arguments) => assess::train(&arguments),
        Command::Probe(arguments) => probe::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Suite(arguments) => suite::run(&arguments),
    }?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        super::Arguments::command().debug_assert();
    }
}
