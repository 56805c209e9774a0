//! `--weights GAME/POLICY=FILE`: tuned weights behind a policy. Shared by every subcommand that decides.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::Failure;
use crate::bot::{Registry, WeightsFile};

/// One `--weights GAME/POLICY=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The game's key.
    pub game: String,
    /// The policy whose weights are replaced.
    pub policy: String,
    /// The weights file.
    pub file: PathBuf,
}

impl FromStr for Replacement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(name, file)| Some((name.split_once('/')?, file)));
        match parts {
            Some(((game, policy), file)) if !game.is_empty() && !policy.is_empty() && !file.is_empty() => {
                Ok(Self { game: game.to_owned(), policy: policy.to_owned(), file: file.into() })
            }
            _ => Err(format!("{text:?} is not GAME/POLICY=FILE")),
        }
    }
}

/// Reads a weights file.
///
/// # Errors
/// When it is not there or not a weights file, with its name.
pub fn read(path: &Path) -> Result<WeightsFile, Failure> {
    let named = |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
    WeightsFile::parse(&text).map_err(|error| named(&error))
}

/// Puts the weights of every file behind its policy.
///
/// # Errors
/// One line a file that does not fit.
pub fn apply(registry: &mut Registry, replacements: &[Replacement]) -> Result<(), Failure> {
    let problems: Vec<String> =
        replacements.iter().filter_map(|replacement| replace(registry, replacement).err()).flatten().collect();
    if problems.is_empty() { Ok(()) } else { Err(Failure::Input(problems)) }
}

fn replace(registry: &mut Registry, replacement: &Replacement) -> Result<(), Vec<String>> {
    let Replacement { game, policy, file } = replacement;
    let weights = match read(file) {
        Ok(weights) => weights,
        Err(Failure::Input(problems)) => return Err(problems),
        Err(_) => return Err(vec![format!("{}: not read", file.display())]),
    };
    let named = |what: String| vec![format!("{}: {what}", file.display())];
    if weights.game != *game || weights.policy != *policy {
        return Err(named(format!("weights of {}/{}, not of {game}/{policy}", weights.game, weights.policy)));
    }
    registry.reweigh(game, policy, &weights.table, weights.players).map_err(|error| named(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_names_game_policy_and_file() {
        let found: Replacement = "toy/hard=a/b=c.json".parse().expect("well formed");
        assert_eq!((found.game.as_str(), found.policy.as_str()), ("toy", "hard"));
        assert_eq!(found.file, Path::new("a/b=c.json"));
        for bad in ["toy/hard", "toy=f", "/hard=f", "toy/=f", "toy/hard="] {
            assert!(bad.parse::<Replacement>().is_err(), "{bad}");
        }
    }
}
