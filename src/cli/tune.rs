//! `understudy tune`: a policy's weights from self-play.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;

use super::arena::{find, threads};
use super::{Failure, example, input, policies, progress};
use crate::arena::stats::Interval;
use crate::arena::tune::{Generation, Judgement, Task, broken, stages};
use crate::bot::policy::weights_hash;
use crate::bot::{Policy, Referee, Tuning, WeightsFile, Wire};
use crate::games::{self, Visitor};

/// Learns a policy's weights from self-play: at sampled decisions every candidate is played on over common hidden
/// worlds, differences of payments are regressed on differences of terms, and the next generation plays its own seat by
/// the result. Then the arena compares the result with the weights it started from, on fresh deals, and only a winner
/// is written. Same seed, same file, on any number of threads.
#[derive(Args, Debug)]
pub struct TuneArgs {
    /// The game
    game: String,
    /// The policy whose weights are learned
    #[arg(long, value_name = "P")]
    policy: String,
    /// Number of players [default: the most that the game allows]
    #[arg(long, value_name = "N")]
    players: Option<u8>,
    /// Seed of everything
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Weights to start from and to beat: built-in, broken (every good term +1, every cost -1), or a weights file
    #[arg(long, value_name = "WEIGHTS", default_value = "built-in")]
    start: String,
    /// Where a winner is written [default: GAME-POLICY[-PLAYERS].json]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Generations [default: the policy's own setting, like the settings below]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    generations: Option<u32>,
    /// Decisions gathered in a generation
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    decisions: Option<u32>,
    /// Hidden worlds over which the candidates of a decision are played on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    worlds: Option<u32>,
    /// Deals of each comparison in the arena
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(2..))]
    deals: u64,
    /// The rules: a ruleset name, perhaps with switches behind it
    #[arg(long, value_name = "NAME")]
    rules: Option<String>,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Tunes.
///
/// # Errors
/// For bad usage; and, as a failure, when the result does not win.
pub fn run(arguments: &TuneArgs) -> Result<(), Failure> {
    games::visit(&arguments.game, Tune(arguments)).ok_or_else(|| policies::unknown_game(&arguments.game))?
}

struct Tune<'a>(&'a TuneArgs);

impl Visitor for Tune<'_> {
    type Output = Result<(), Failure>;

    fn visit<G: Referee + Wire>(self) -> Self::Output {
        let arguments = self.0;
        let roster = G::roster();
        let found = find(&roster, &arguments.policy)?;
        let task = task::<G>(arguments, found.policy)?;
        let generations = learn(&task)?;
        let table = &generations.last().ok_or_else(|| Failure::failed("no generation"))?.table;
        let tuned =
            task.policy.with_weights(table, task.players).map_err(|error| Failure::failed(error.to_string()))?;
        let judgement = judge(&task, &tuned, arguments.deals)?;
        let built_in = match arguments.start.as_str() {
            "built-in" => None,
            _ => Some(judge_built_in(&task, found.policy, arguments.deals)?),
        };
        let mut file = WeightsFile::new(G::KEY, found.name, arguments.players, table.clone());
        provenance(&mut file, arguments, &task, &generations, &judgement);
        let path = arguments.out.clone().unwrap_or_else(|| default_path(&file));
        if judgement.won() {
            write(&path, &file.text())?;
        }
        let hash = format!("{:016x}", weights_hash(&tuned.weights()));
        let shown = Shown { generations: &generations, judgement: &judgement, built_in, path: &path, hash };
        if arguments.json {
            input::print_json(&shown.json(G::UNIT))?
        } else {
            input::print(&shown.text(G::UNIT))?
        }
        if judgement.won() { Ok(()) } else { Err(Failure::failed("the result does not win: nothing is written")) }
    }
}

fn task<G: Referee>(arguments: &TuneArgs, built_in: &Arc<dyn Policy<G>>) -> Result<Task<G>, Failure> {
    let rules = example::rules::<G>(arguments.rules.as_deref())?;
    let players = example::players::<G>(arguments.players)?;
    let own = built_in.tuning();
    let tuning = Tuning {
        generations: arguments.generations.unwrap_or(own.generations),
        decisions: arguments.decisions.unwrap_or(own.decisions),
        worlds: arguments.worlds.unwrap_or(own.worlds),
        ..own
    };
    let table = match arguments.start.as_str() {
        "built-in" => None,
        "broken" => Some(broken::<G::Terms>(&stages(built_in.as_ref()), built_in.tunable())),
        file => Some(super::weights::read(Path::new(file))?.table),
    };
    let policy = match table {
        None => Arc::clone(built_in),
        Some(table) => {
            let fitted = built_in.with_weights(&table, players);
            fitted.map_err(|error| Failure::input(format!("--start {}: {error}", arguments.start)))?
        }
    };
    Ok(Task {
        rules,
        rules_name: arguments.rules.clone().unwrap_or_else(|| G::RULESETS[0].to_owned()),
        policy,
        players,
        seats: players.unwrap_or(*G::SEATS.end()),
        tuning,
        seed: arguments.seed,
        threads: threads(arguments.threads),
    })
}

fn learn<G: Referee>(task: &Task<G>) -> Result<Vec<Generation>, Failure> {
    let bar = progress::bar(u64::from(task.tuning.decisions) * u64::from(task.tuning.generations), "decisions");
    let mut before = 0;
    let learned = task.learn(|decisions, finished| {
        bar.set_position(before + decisions);
        if finished.is_some() {
            before += u64::from(task.tuning.decisions);
        }
    });
    bar.finish_and_clear();
    learned.map_err(|error| Failure::input(error.to_string()))
}

fn judge<G: Referee>(task: &Task<G>, tuned: &Arc<dyn Policy<G>>, deals: u64) -> Result<Judgement, Failure> {
    task.judge(tuned, &task.policy, deals).map_err(|broken| Failure::failed(broken.to_string()))
}

/// The built-in weights against the easiest policy, on the deals of the judgement.
fn judge_built_in<G: Referee>(task: &Task<G>, policy: &Arc<dyn Policy<G>>, deals: u64) -> Result<Interval, Failure> {
    let judgement = task.judge(policy, policy, deals).map_err(|broken| Failure::failed(broken.to_string()))?;
    Ok(judgement.new_easy)
}

fn default_path(file: &WeightsFile) -> PathBuf {
    let players = file.players.map_or_else(String::new, |players| format!("-{players}"));
    PathBuf::from(format!("{}-{}{players}.json", file.game, file.policy))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::failed(format!("{}: {error}", path.display())))
}

/// The command that makes the same file again. The name of a file to start from stays out of it: a path is nobody's.
fn command(game: &str, arguments: &TuneArgs) -> String {
    let mut command = format!("understudy tune {game} --policy {} --seed {}", arguments.policy, arguments.seed);
    let mut flag = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            command += &format!(" --{name} {value}");
        }
    };
    flag("players", arguments.players.map(|players| players.to_string()));
    flag("start", Some(if arguments.start == "broken" { "broken" } else { "built-in" }.to_owned()));
    flag("generations", arguments.generations.map(|number| number.to_string()));
    flag("decisions", arguments.decisions.map(|number| number.to_string()));
    flag("worlds", arguments.worlds.map(|number| number.to_string()));
    flag("deals", Some(arguments.deals.to_string()));
    flag("rules", arguments.rules.clone());
    command
}

/// What happened, without anything that differs from run to run.
fn provenance<G: Referee>(
    file: &mut WeightsFile,
    arguments: &TuneArgs,
    task: &Task<G>,
    generations: &[Generation],
    judgement: &Judgement,
) {
    let mut note = |key: &str, value: String| file.provenance.insert(key.to_owned(), value);
    note("command", command(G::KEY, arguments));
    note("rules", task.rules_name.clone());
    note("seats", task.seats.to_string());
    note("settings", format!("{:?}", task.tuning));
    for (number, generation) in generations.iter().enumerate() {
        let Generation { deals, decisions, equations, .. } = generation;
        let what = format!("{deals} deals, {decisions} decisions, {equations} equations");
        note(&format!("generation {}", number + 1), what);
    }
    note("deals judged", judgement.deals.to_string());
    note("against a field of the start", shown(&judgement.direct, G::UNIT));
    note("against a field of the easiest", shown(&judgement.new_easy, G::UNIT));
    note("the start against the easiest", shown(&judgement.old_easy, G::UNIT));
}

fn shown(interval: &Interval, unit: &str) -> String {
    let width = interval.half_width.map_or_else(String::new, |width| format!(" +- {width:.3}"));
    format!("{:+.3}{width} {unit} per round", interval.mean)
}

struct Shown<'a> {
    generations: &'a [Generation],
    judgement: &'a Judgement,
    built_in: Option<Interval>,
    path: &'a Path,
    hash: String,
}

impl Shown<'_> {
    fn text(&self, unit: &str) -> String {
        let mut text = String::new();
        for (number, generation) in self.generations.iter().enumerate() {
            let Generation { deals, decisions, equations, .. } = generation;
            text +=
                &format!("generation {}: {deals} deals, {decisions} decisions, {equations} equations\n", number + 1);
        }
        let judgement = self.judgement;
        text += &format!("on {} fresh deals:\n", judgement.deals);
        text += &format!("  against a field of the start    {}\n", shown(&judgement.direct, unit));
        text += &format!("  against a field of the easiest  {}\n", shown(&judgement.new_easy, unit));
        text += &format!("  the start against the easiest   {}\n", shown(&judgement.old_easy, unit));
        if let Some(built_in) = &self.built_in {
            let recovered = judgement.new_easy.mean / built_in.mean * 100.0;
            text +=
                &format!("  the built-in against the same   {} ({recovered:.0} % reached)\n", shown(built_in, unit));
        }
        if judgement.won() {
            text += &format!("weights {} written to {}\n", self.hash, self.path.display());
        }
        text
    }

    fn json(&self, unit: &str) -> serde_json::Value {
        let interval = |interval: &Interval| json!({ "mean": interval.mean, "half_width": interval.half_width });
        let generation = |generation: &Generation| {
            json!({
                "deals": generation.deals,
                "decisions": generation.decisions,
                "equations": generation.equations,
                "table": generation.table,
            })
        };
        json!({
            "unit": unit,
            "generations": self.generations.iter().map(generation).collect::<Vec<_>>(),
            "deals": self.judgement.deals,
            "against_start": interval(&self.judgement.direct),
            "against_easiest": interval(&self.judgement.new_easy),
            "start_against_easiest": interval(&self.judgement.old_easy),
            "built_in_against_easiest": self.built_in.as_ref().map(interval),
            "written": self.judgement.won().then(|| self.path.display().to_string()),
            "weights_hash": self.hash,
        })
    }
}
