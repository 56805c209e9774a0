//! `understudy arena`: bots against bots.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::ProgressBar;

use super::weights::Replacement;
use super::{Failure, input, policies, progress};
use crate::arena::match_::Options;
use crate::arena::merge::{ShardFile, merge};
use crate::arena::player::limits_for;
use crate::arena::stats::Sprt;
use crate::arena::{Finished, Header, Mind, Player, Report, Schedule, SeatSpec, Setup, Shard, Watch, run as play};
use crate::bot::{Limits, MatchStyle, Policy, Referee, Roster, WeightsFile, Wire};
use crate::games::{self, Visitor};

/// Plays bots against bots on paired deals: each deal is replayed with the seats rotated, so that luck of the cards
/// cancels. Prints the mean payment per round with its 95 % interval over deals. With node or world budgets the
/// numbers are the same on every run and any number of threads; times are not.
///
/// Example: understudy arena GAME --seats hard,easy,easy --deals 1000
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct ArenaArgs {
    #[command(subcommand)]
    merge: Option<ArenaCommand>,
    /// The game
    #[arg(required = true)]
    game: Option<String>,
    /// Who sits where: policy names, or random; with a budget as in expert:worlds=100, sedol:time=500ms or
    /// normal:nodes=150000:depth=3, with other weights as in hard:weights=FILE. In a one-seat game everyone named
    /// plays each deal alone
    #[arg(long, value_name = "P,P,...", value_delimiter = ',', required = true)]
    seats: Vec<SeatSpec>,
    /// Number of players; the last of --seats fills the seats that are not named
    #[arg(long, value_name = "N")]
    players: Option<u8>,
    /// How many deals to play
    #[arg(long, value_name = "N", default_value_t = 400)]
    deals: u64,
    /// Seed of the first deal; deal i is dealt from seed + i
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The rules: a ruleset name, perhaps with switches behind it ("NAME switch=value")
    #[arg(long, value_name = "NAME")]
    rules: Option<String>,
    /// Replay every deal with the seats rotated
    #[arg(long, value_name = "BOOL", default_value_t = true, default_missing_value = "true", num_args = 0..=1,
          action = clap::ArgAction::Set)]
    rotate: bool,
    /// Nodes a decision may search, for every policy that counts nodes and names no budget of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_nodes: Option<u64>,
    /// Worlds a decision may sample, likewise
    #[arg(long, visible_alias = "worlds", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_worlds: Option<u32>,
    /// Depth a decision may reach, likewise
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_depth: Option<u32>,
    /// Time a decision may take, likewise; the numbers then do not repeat
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    max_time: Option<Duration>,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Play only part I of N (I from 0 to N-1) and print it as JSON for `arena merge`
    #[arg(long, value_name = "I/N", conflicts_with = "sprt")]
    shard: Option<Shard>,
    /// Stop as soon as the first policy's mean (its score where there are two sides) is decided to be at most LOW or
    /// at least HIGH, with 5 % error each
    #[arg(long, value_name = "LOW,HIGH", value_parser = parse_sprt, allow_hyphen_values = true)]
    sprt: Option<Sprt>,
    /// Write every game to FILE as JSON lines, for `understudy replay`
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// Play a reply's plan on while nobody else moves, instead of asking for every move
    #[arg(long)]
    follow_plan: bool,
    /// Count what kinds of moves are chosen among decisions with a choice
    #[arg(long)]
    kinds: bool,
    /// Tuned weights to play with (repeatable)
    #[arg(long, value_name = "GAME/POLICY=FILE")]
    weights: Vec<Replacement>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write the result to FILE instead of printing it: the whole of it, or nothing
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum ArenaCommand {
    /// Put the JSON files of all shards of a run together
    Merge(MergeArgs),
}

#[derive(Args, Debug)]
struct MergeArgs {
    /// What `arena --shard` printed, one file a shard
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

fn parse_sprt(text: &str) -> Result<Sprt, String> {
    let numbers = text.split_once(',').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match numbers {
        Some((low, high)) if low < high => Ok(Sprt { low, high }),
        _ => Err(format!("{text:?} is not LOW,HIGH with LOW below HIGH")),
    }
}

/// Plays, or merges.
///
/// # Errors
/// For bad usage, and for a policy whose move is illegal or missing.
pub fn run(arguments: &ArenaArgs) -> Result<(), Failure> {
    if let Some(ArenaCommand::Merge(arguments)) = &arguments.merge {
        return merge_files(arguments);
    }
    let key = arguments.game.as_deref().unwrap_or_default();
    games::visit(key, Play(arguments)).ok_or_else(|| policies::unknown_game(key))?
}

fn merge_files(arguments: &MergeArgs) -> Result<(), Failure> {
    let read = |path: &PathBuf| {
        let text = input::read(Some(path))?;
        serde_json::from_str::<ShardFile>(&text)
            .map_err(|error| Failure::input(format!("{}: not a shard: {error}", path.display())))
    };
    let files = arguments.files.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let (header, finished) = merge(files).map_err(Failure::input)?;
    input::print(&shown(&Report::of(&header, &finished.samples, &finished.think, None), arguments.json)?)
}

fn shown(report: &Report, json: bool) -> Result<String, Failure> {
    if json { input::pretty(report) } else { Ok(report.table()) }
}

struct Play<'a>(&'a ArenaArgs);

impl Visitor for Play<'_> {
    type Output = Result<(), Failure>;

    fn visit<G: Referee + Wire>(self) -> Self::Output {
        let arguments = self.0;
        let setup = setup::<G>(arguments)?;
        let schedule = Schedule {
            seed: arguments.seed,
            deals: arguments.deals,
            shard: arguments.shard.unwrap_or(Shard::WHOLE),
            threads: threads(arguments.threads),
            sprt: arguments.sprt,
        };
        let mut watch = Progress::start(&schedule, arguments.records.as_deref())?;
        let finished = play(&setup, &schedule, &mut watch).map_err(|broken| Failure::failed(broken.to_string()))?;
        watch.finish()?;
        conclude(&setup.header(&schedule), finished, arguments)
    }
}

/// Threads asked for, or one a core.
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into)).max(1)
}

fn conclude(header: &Header, finished: Finished, arguments: &ArenaArgs) -> Result<(), Failure> {
    let report = Report::of(header, &finished.samples, &finished.think, arguments.sprt);
    let text = match arguments.shard {
        None => shown(&report, arguments.json),
        Some(shard) => input::pretty(&ShardFile {
            report,
            shard,
            header: header.clone(),
            samples: finished.samples,
            think: finished.think,
        }),
    }?;
    match &arguments.out {
        None => input::print(&text),
        Some(path) => input::write_whole(path, &text),
    }
}

/// The bar, and the file of records.
struct Progress {
    bar: ProgressBar,
    records: Option<(PathBuf, BufWriter<File>)>,
    failed: Option<Failure>,
}

impl Progress {
    fn start(schedule: &Schedule, records: Option<&Path>) -> Result<Self, Failure> {
        let bar = progress::bar(schedule.shard.len(schedule.deals), "deals");
        let open = |path: &Path| match File::create(path) {
            Ok(file) => Ok((path.to_owned(), BufWriter::new(file))),
            Err(error) => Err(Failure::input(format!("{}: {error}", path.display()))),
        };
        Ok(Self { bar, records: records.map(open).transpose()?, failed: None })
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        if let Some((path, file)) = &mut self.records {
            let flushed = file.flush();
            flushed.map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?;
        }
        self.failed.map_or(Ok(()), Err)
    }
}

impl Watch for Progress {
    fn deal(&mut self, records: &str) {
        self.bar.inc(1);
        if let (Some((path, file)), None) = (&mut self.records, &self.failed) {
            let written = file.write_all(records.as_bytes());
            self.failed = written.err().map(|error| Failure::failed(format!("{}: {error}", path.display())));
        }
    }
}

fn setup<G: Referee + Wire>(arguments: &ArenaArgs) -> Result<Setup<G>, Failure> {
    let rules_name = arguments.rules.as_deref().unwrap_or(G::RULESETS[0]);
    let rules = G::rules(rules_name).ok_or_else(|| {
        Failure::input(format!("{rules_name:?} are no rules of {}; there is {}", G::KEY, G::RULESETS.join(", ")))
    })?;
    let roster = reweighed::<G>(&arguments.weights)?;
    for spec in arguments.seats.iter().filter(|spec| spec.name != "random") {
        find(&roster, &spec.name)?;
    }
    let specs = seats::<G>(&arguments.seats, arguments.players)?;
    let for_all = Limits {
        time: arguments.max_time,
        nodes: arguments.max_nodes,
        worlds: arguments.max_worlds,
        depth: arguments.max_depth,
    };
    let mut players: Vec<Player<G>> = Vec::new();
    let mut seats = Vec::new();
    for spec in specs {
        let place = match players.iter().position(|player| player.label == spec.text) {
            Some(place) => place,
            None => {
                players.push(player(&roster, spec, for_all)?);
                players.len() - 1
            }
        };
        seats.push(place);
    }
    if G::STYLE == MatchStyle::Solo {
        seats.sort_unstable();
        seats.dedup();
    }
    let options =
        Options { follow_plan: arguments.follow_plan, kinds: arguments.kinds, record: arguments.records.is_some() };
    Ok(Setup { rules, rules_name: rules_name.to_owned(), players, seats, rotate: arguments.rotate, options })
}

/// The seats, filled up with the last one named.
fn seats<G: Referee>(named: &[SeatSpec], players: Option<u8>) -> Result<Vec<&SeatSpec>, Failure> {
    let mut seats: Vec<&SeatSpec> = named.iter().collect();
    if G::STYLE == MatchStyle::Solo {
        return Ok(seats);
    }
    let wanted = players.map_or(seats.len(), usize::from);
    if let Some(last) = seats.last().copied() {
        while seats.len() < wanted {
            seats.push(last);
        }
    }
    let fits = u8::try_from(seats.len()).is_ok_and(|count| G::SEATS.contains(&count)) && seats.len() == wanted;
    if fits {
        return Ok(seats);
    }
    let (low, high) = (G::SEATS.start(), G::SEATS.end());
    let range = if low == high { low.to_string() } else { format!("{low} to {high}") };
    Err(Failure::input(format!("--seats names {}, but {} is played by {range}", seats.len(), G::KEY)))
}

/// The game's policies, with the weights of these files.
pub fn reweighed<G: Referee>(replacements: &[Replacement]) -> Result<Roster<G>, Failure> {
    let mut roster = G::roster();
    for replacement in replacements {
        if replacement.game != G::KEY {
            return Err(Failure::input(format!("--weights {}/...: the game is {}", replacement.game, G::KEY)));
        }
        let policy = find(&roster, &replacement.policy)?;
        let policy = policy.with_file(&replacement.file)?;
        roster.replace(&replacement.policy, policy);
    }
    Ok(roster)
}

/// A policy of a roster.
pub struct Found<'a, G: Referee> {
    /// Its name.
    pub name: &'static str,
    /// How it plays.
    pub policy: &'a std::sync::Arc<dyn Policy<G>>,
}

/// The policy of this name, perhaps with its version.
///
/// # Errors
/// For a name or version that is not there, with what there is.
pub fn find<'a, G: Referee>(roster: &'a Roster<G>, name: &str) -> Result<Found<'a, G>, Failure> {
    let unknown = || {
        let names: Vec<&str> = roster.entries.iter().map(|entry| entry.name).collect();
        Failure::input(format!("no policy {name:?} for {}; there is {}, random", G::KEY, names.join(", ")))
    };
    let base = name.split('@').next().unwrap_or_default();
    let entry = roster.find(base).ok_or_else(unknown)?;
    let version = entry.policy.about().version;
    if name != base && name != format!("{base}@{version}") {
        return Err(Failure::input(format!("no {name:?}; this program holds {base}@{version}")));
    }
    Ok(Found { name: entry.name, policy: &entry.policy })
}

impl<G: Referee> Found<'_, G> {
    fn with_file(&self, path: &Path) -> Result<std::sync::Arc<dyn Policy<G>>, Failure> {
        let WeightsFile { game, policy, players, table, .. } = super::weights::read(path)?;
        if game != G::KEY || policy != self.name {
            let what = format!("weights of {game}/{policy}, not of {}/{}", G::KEY, self.name);
            return Err(Failure::input(format!("{}: {what}", path.display())));
        }
        let fitted = self.policy.with_weights(&table, players);
        fitted.map_err(|error| Failure::input(format!("{}: {error}", path.display())))
    }
}

/// The player that a seat names.
pub fn player<G: Referee>(roster: &Roster<G>, spec: &SeatSpec, for_all: Limits) -> Result<Player<G>, Failure> {
    if spec.name == "random" {
        return Ok(Player { label: spec.text.clone(), mind: Mind::Random, limits: Limits::NONE });
    }
    let found = find(roster, &spec.name)?;
    let policy = match &spec.weights {
        Some(file) => found.with_file(Path::new(file))?,
        None => std::sync::Arc::clone(found.policy),
    };
    if policy.about().heeds.of(spec.limits) != spec.limits {
        return Err(Failure::input(format!("{}: {} takes no notice of one of these limits", spec.text, found.name)));
    }
    let limits = limits_for(policy.as_ref(), spec.limits, for_all);
    Ok(Player { label: spec.text.clone(), mind: Mind::Policy(policy), limits })
}
