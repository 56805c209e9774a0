//! `understudy example`: a request to start from.

use clap::Args;

use super::{Failure, input, json, policies};
use crate::arena::positions::{Walk, walk};
use crate::bot::{PolicyKind, Referee, Wire};
use crate::games::{self, Visitor};
use crate::pb;

/// What to print.
#[derive(Args, Debug)]
pub struct ExampleArgs {
    /// The game
    game: String,
    /// Seed of the first game
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print N requests, one a line (JSONL)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// The policy to ask for [default: the first that weighs terms]
    #[arg(long, value_name = "P")]
    policy: Option<String>,
    /// Number of players [default: every number the game allows, in turn]
    #[arg(long, value_name = "N")]
    players: Option<u8>,
    /// The rules: a ruleset name, perhaps with switches behind it
    #[arg(long, value_name = "NAME")]
    rules: Option<String>,
}

/// Prints requests from seeded games of bots.
///
/// # Errors
/// For an unknown game, policy or ruleset.
pub fn run(arguments: &ExampleArgs) -> Result<(), Failure> {
    let requests =
        games::visit(&arguments.game, Example(arguments)).ok_or_else(|| policies::unknown_game(&arguments.game))??;
    match arguments.count {
        None => {
            let request = requests.first().ok_or_else(|| Failure::failed("no position with a choice was found"))?;
            input::print_json(&json::write(request)?)
        }
        Some(_) => {
            let mut lines = String::new();
            for request in &requests {
                lines.push_str(&json::write(request)?.to_string());
                lines.push('\n');
            }
            input::print(&lines)
        }
    }
}

struct Example<'a>(&'a ExampleArgs);

impl Visitor for Example<'_> {
    type Output = Result<Vec<pb::DecideRequest>, Failure>;

    fn visit<G: Referee + Wire>(self) -> Self::Output {
        let arguments = self.0;
        let rules = rules::<G>(arguments.rules.as_deref())?;
        let seats = players::<G>(arguments.players)?;
        let policy = match &arguments.policy {
            Some(name) => {
                super::arena::find(&G::roster(), name)?;
                name.clone()
            }
            None => default_policy::<G>(),
        };
        let settings = Walk { seats, seed: arguments.seed, wild: 0.0, choices: 2 };
        let positions = walk::<G>(&rules, &settings, arguments.count.unwrap_or(1) as usize);
        let request = |view| pb::DecideRequest { view: Some(view), policy: policy.clone(), ..Default::default() };
        Ok(positions.iter().map(|position| request(G::write_view(&position.view))).collect())
    }
}

/// The rules of this name, or the game's default.
///
/// # Errors
/// For an unknown name, with what there is.
pub fn rules<G: Referee>(name: Option<&str>) -> Result<G::Rules, Failure> {
    let name = name.unwrap_or(G::RULESETS[0]);
    G::rules(name).ok_or_else(|| {
        Failure::input(format!("{name:?} are no rules of {}; there is {}", G::KEY, G::RULESETS.join(", ")))
    })
}

/// A number of players that the game allows.
///
/// # Errors
/// For any other number.
pub fn players<G: Referee>(players: Option<u8>) -> Result<Option<u8>, Failure> {
    match players {
        Some(players) if !G::SEATS.contains(&players) => {
            let (low, high) = (G::SEATS.start(), G::SEATS.end());
            let range = if low == high { low.to_string() } else { format!("{low} to {high}") };
            Err(Failure::input(format!("{players} players: {} is played by {range}", G::KEY)))
        }
        players => Ok(players),
    }
}

fn default_policy<G: Referee>() -> String {
    let roster = G::roster();
    let mut served = roster.entries.iter().filter(|entry| !entry.arena_only);
    let weighs = served.clone().find(|entry| entry.policy.about().kind == PolicyKind::Terms);
    weighs.or_else(|| served.next()).map_or("easy", |entry| entry.name).to_owned()
}
