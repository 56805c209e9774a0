//! The reliability promises of the service, one command each:
//!
//! ```text
//! cargo bench --bench reliability -- R3            # one promise in full
//! cargo bench --bench reliability -- --quick       # all of them, in their short forms
//! ```
//!
//! Every proof starts its own servers and peers on loopback, is bounded in count and time, prints its table, its
//! figures against their pass lines and a verdict; the exit code is 1 when one misses.
#![allow(clippy::disallowed_methods)] // a harness that measures reads the clock
#![allow(missing_docs)] // criterion-free bench: nothing here is public

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

mod admin;
mod load;
mod peers;
mod plot;
mod process;
mod proofs;
mod quiet;
mod report;
mod requests;
mod tls;
mod wire;

#[path = "../../fuzz/src/decision.rs"]
mod decision;
#[path = "../../fuzz/src/mutate.rs"]
mod mutate;
#[path = "../../fuzz/src/positions.rs"]
mod positions;
#[path = "../../fuzz/src/raw.rs"]
mod raw;
#[path = "../../fuzz/src/source.rs"]
mod source;

use proofs::PROOFS;
use report::Report;

/// Trouble of the harness itself: a proof that cannot be carried out has not passed.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// Proves the reliability promises.
#[derive(Parser)]
#[command(about)]
struct Options {
    /// Which promises: R1 to R15, CPU, START. None: all
    ids: Vec<String>,
    /// Short forms: seconds each
    #[arg(long)]
    quick: bool,
    /// Where every random choice starts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the goodput curve of R3 to this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// A second build of the program, for R10
    #[arg(long, value_name = "FILE")]
    other_build: Option<PathBuf>,
    /// What cargo bench passes
    #[arg(long, hide = true)]
    bench: bool,
}

/// What every proof gets.
pub struct Context {
    pub quick: bool,
    pub seed: u64,
    pub svg: Option<PathBuf>,
    pub other_build: Option<PathBuf>,
    /// A directory of this run, removed at its end.
    pub scratch: PathBuf,
}

impl Context {
    /// The full figure, or the short one.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

/// The allocator of the program, so that the figures are those of the program.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let served = match words.get(1).map(String::as_str) {
        Some("--be-server") => Some(peers::server(&words[1..])),
        Some("--be-plain") => {
            let spin = words.get(2).and_then(|word| word.parse().ok()).unwrap_or(0);
            Some(peers::plain(spin).map(|()| ExitCode::SUCCESS))
        }
        _ => None,
    };
    match served {
        Some(Ok(code)) => code,
        Some(Err(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        None => prove(&Options::parse()),
    }
}

fn prove(options: &Options) -> ExitCode {
    let unknown = options.ids.iter().find(|id| !PROOFS.iter().any(|proof| proof.id.eq_ignore_ascii_case(id)));
    if let Some(id) = unknown {
        let ids: Vec<&str> = PROOFS.iter().map(|proof| proof.id).collect();
        eprintln!("no promise {id:?}; there are {}", ids.join(", "));
        return ExitCode::from(2);
    }
    let scratch = std::env::temp_dir().join(format!("understudy-reliability-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir_all(&scratch) {
        eprintln!("{}: {error}", scratch.display());
        return ExitCode::FAILURE;
    }
    let context = Context {
        quick: options.quick,
        seed: options.seed,
        svg: options.svg.clone(),
        other_build: options.other_build.clone(),
        scratch,
    };
    println!("{}", report::conditions(options.quick, options.seed));
    let mut missed = Vec::new();
    for proof in PROOFS {
        if !options.ids.is_empty() && !options.ids.iter().any(|id| proof.id.eq_ignore_ascii_case(id)) {
            continue;
        }
        println!("\n{}  {}", proof.id, proof.promise);
        let began = Instant::now();
        let mut report = Report::default();
        if let Err(error) = (proof.run)(&context, &mut report) {
            report.check(false, format!("could not be carried out: {error}"), "a proof that runs");
        }
        let verdict = if report.passed() { "PASS" } else { "FAIL" };
        println!("{} {verdict}  ({:.1} s, {})", proof.id, began.elapsed().as_secs_f64(), report::load_average());
        if !report.passed() {
            missed.push(proof.id);
        }
    }
    let _ = std::fs::remove_dir_all(&context.scratch);
    if missed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nmissed: {}", missed.join(", "));
    ExitCode::FAILURE
}
