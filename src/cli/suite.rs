//! `understudy suite`: the fingerprint of how every policy plays.
//!
//! Positions come from seeded games, a quarter of their moves at random; each policy decides each of them with a small
//! fixed budget and seed. The hash covers every row's key and the bits of its total, so a change of play shows, and a
//! change that should not change play shows too.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use super::{Failure, input, policies, progress};
use crate::arena::positions::{Position, Walk, walk};
use crate::bot::{Budget, Entry, Fnv, Game, Limits, Referee, Rng, Turn, Wire};
use crate::games::{self, Visitor};

/// What to fingerprint, and what to compare with.
#[derive(Args, Debug)]
pub struct SuiteArgs {
    /// Only this game
    #[arg(long, value_name = "G")]
    game: Option<String>,
    /// Compare with the lines of FILE (as this command prints them); exit 1 where they differ
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Positions of each game.
const POSITIONS: usize = 96;
/// What a decision may spend.
const LIMITS: Limits = Limits { time: None, nodes: Some(1500), worlds: Some(6), depth: Some(3) };

/// Prints the fingerprints, or compares them.
///
/// # Errors
/// For an unknown game, and where a fingerprint differs.
pub fn run(arguments: &SuiteArgs) -> Result<(), Failure> {
    let keys: Vec<&str> =
        games::KEYS.iter().copied().filter(|key| arguments.game.as_deref().is_none_or(|game| game == *key)).collect();
    if keys.is_empty() {
        return Err(policies::unknown_game(arguments.game.as_deref().unwrap_or_default()));
    }
    let bar = progress::bar(keys.len() as u64, "games");
    let mut prints = BTreeMap::new();
    for key in keys {
        prints.extend(games::visit(key, Suite).unwrap_or_default());
        bar.inc(1);
    }
    bar.finish_and_clear();
    let lines: Vec<String> = prints.iter().map(|(name, hash)| format!("{name} {hash:016x}")).collect();
    if let Some(file) = &arguments.check {
        compare(&lines, &input::read(Some(file))?, arguments.game.as_deref())?;
    }
    if arguments.json {
        let hashes: BTreeMap<_, _> = prints.iter().map(|(name, hash)| (name, format!("{hash:016x}"))).collect();
        return input::print_json(&serde_json::json!({ "fingerprints": hashes }));
    }
    let mut text = String::new();
    for line in &lines {
        let _ = writeln!(text, "{line}");
    }
    input::print(&text)
}

/// Every line of the one that is not in the other, in one failure.
fn compare(found: &[String], stored: &str, game: Option<&str>) -> Result<(), Failure> {
    let ours = |line: &&str| match line.split([' ', '/']).next() {
        Some(key) => game.is_none_or(|game| game == key),
        None => false,
    };
    let stored: Vec<&str> =
        stored.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).filter(ours).collect();
    let gone = stored.iter().filter(|line| !found.iter().any(|other| other == **line)).map(|line| format!("- {line}"));
    let new = found.iter().filter(|line| !stored.contains(&line.as_str())).map(|line| format!("+ {line}"));
    let differences: Vec<String> = gone.chain(new).collect();
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::failed(format!("the fingerprint differs:\n{}", differences.join("\n"))))
}

struct Suite;

impl Visitor for Suite {
    type Output = BTreeMap<String, u64>;

    /// One line for each policy, and one for the game over all of them.
    fn visit<G: Referee + Wire>(self) -> Self::Output {
        let walked = Walk { seats: None, seed: 1, wild: 0.25, choices: 2 };
        let positions = walk::<G>(&G::Rules::default(), &walked, POSITIONS);
        let mut prints = BTreeMap::new();
        let mut game = Fnv::default();
        for entry in &G::roster().entries {
            let hash = fingerprint(entry, &positions);
            game.write(entry.name.as_bytes());
            game.write(&hash.to_le_bytes());
            prints.insert(format!("{}/{}", G::KEY, entry.name), hash);
        }
        prints.insert(G::KEY.to_owned(), game.finish());
        prints
    }
}

fn fingerprint<G: Referee>(entry: &Entry<G>, positions: &[Position<G>]) -> u64 {
    let mut hash = Fnv::default();
    for position in positions {
        let budget = Budget::new(LIMITS);
        let mut rng = Rng::new(position.deal);
        let table = entry.policy.evaluate(&position.view, &mut Turn { budget: &budget, rng: &mut rng });
        for row in table.ranked() {
            hash.write(<G as Game>::key(row.mv()).as_bytes());
            hash.write(&row.total().to_bits().to_le_bytes());
        }
    }
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_line_by_line() {
        let found = ["a 1".to_owned(), "a/x 2".to_owned(), "b 3".to_owned()];
        assert_eq!(compare(&found, "# how made\na 1\n\na/x 2\nb 3\n", None), Ok(()));
        let changed = compare(&found, "a 1\na/x 9\nb 3\na/gone 4\n", None).expect_err("a change");
        assert_eq!(changed, Failure::failed("the fingerprint differs:\n- a/x 9\n- a/gone 4\n+ a/x 2"));
        assert_eq!(compare(&found[..2], "a 1\na/x 2\nb 7\n", Some("a")), Ok(()));
    }
}
