//! `understudy policies`: the data of ListPolicies, for people or as JSON.

use std::fmt::Write as _;

use clap::Args;

use super::weights::Replacement;
use super::{Failure, input, json};
use crate::arena::report::aligned;
use crate::bot::registry::describe;
use crate::bot::{Bot, Registry};
use crate::{games, pb};

/// Which policies to list, and how.
#[derive(Args, Debug)]
pub struct PoliciesArgs {
    /// Only this game
    game: Option<String>,
    /// Print a ListPoliciesResponse as protobuf JSON
    #[arg(long)]
    json: bool,
    /// Weights to list instead of the built-in ones (repeatable)
    #[arg(long, value_name = "GAME/POLICY=FILE")]
    weights: Vec<Replacement>,
}

/// Lists the policies.
///
/// # Errors
/// For an unknown game.
pub fn run(arguments: &PoliciesArgs) -> Result<(), Failure> {
    let mut registry = games::registry();
    super::weights::apply(&mut registry, &arguments.weights)?;
    let listed = list(&registry, arguments.game.as_deref())?;
    if arguments.json {
        let response = pb::ListPoliciesResponse { policies: listed };
        return input::print_json(&json::write(&response)?);
    }
    input::print(&text(&listed))
}

fn list(registry: &Registry, game: Option<&str>) -> Result<Vec<pb::Policy>, Failure> {
    let mut listed = Vec::new();
    for entry in registry.games().filter(|entry| game.is_none_or(|game| game == entry.key())) {
        listed.extend(entry.bots().iter().map(|bot| describe(bot.as_ref() as &dyn Bot, entry.rulesets())));
    }
    if listed.is_empty() {
        return Err(unknown_game(game.unwrap_or_default()));
    }
    Ok(listed)
}

/// What to say when there is no such game.
pub fn unknown_game(game: &str) -> Failure {
    Failure::input(format!("no game {game:?}; there is {}", games::KEYS.join(", ")))
}

fn text(policies: &[pb::Policy]) -> String {
    let mut text = String::new();
    for policy in policies {
        let aliases =
            if policy.aliases.is_empty() { String::new() } else { format!(" ({})", policy.aliases.join(", ")) };
        let _ = writeln!(text, "{}/{}@{}{aliases}  {}", policy.game, policy.name, policy.version, policy.summary);
        let budget = policy.default_budget.unwrap_or_default();
        let limits = [
            budget.max_nodes.map(|nodes| format!("{nodes} nodes")),
            budget.max_worlds.map(|worlds| format!("{worlds} worlds")),
            budget.max_depth.map(|depth| format!("depth {depth}")),
            budget.max_time_us.map(|us| format!("{us} us")),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        if !limits.is_empty() {
            let _ = writeln!(text, "  default budget: {}", limits.join(", "));
        }
        if policy.stages.len() > 1 {
            let _ = writeln!(text, "  weights by stage: {}", policy.stages.join(", "));
        }
        let rows = policy.terms.iter().map(|term| {
            let weights = if term.stage_weights.is_empty() { vec![term.weight] } else { term.stage_weights.clone() };
            let weights: Vec<String> = weights.iter().map(|weight| format!("{weight}")).collect();
            vec![format!("  {}", term.id), weights.join(" "), term.summary.clone()]
        });
        text.push_str(&aligned(&rows.collect::<Vec<_>>(), 3));
        text.push('\n');
    }
    text
}
