//! Who sits at the table: a policy, what it may spend, and the name it is reported under.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use crate::bot::policy::weights_hash;
use crate::bot::{Game, Limits, Policy};

/// One entry of `--seats`: `NAME` or `NAME:key=value:key=value`, say `expert:worlds=100` or `sedol:time=500ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct SeatSpec {
    /// The policy's name.
    pub name: String,
    /// The limits it names.
    pub limits: Limits,
    /// A weights file for this seat only.
    pub weights: Option<String>,
    /// As given: the label in reports.
    pub text: String,
}

impl FromStr for SeatSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.trim().split(':');
        let name = parts.next().unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err("a seat without a policy name".to_owned());
        }
        let mut spec = Self { name, limits: Limits::NONE, weights: None, text: text.trim().to_owned() };
        for part in parts {
            let (key, value) = part.split_once('=').ok_or_else(|| format!("{part:?} is not key=value"))?;
            spec.take(key, value).map_err(|why| format!("{text}: {why}"))?;
        }
        Ok(spec)
    }
}

impl SeatSpec {
    fn take(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "nodes" => self.limits.nodes = Some(positive(key, value)?),
            "worlds" => self.limits.worlds = Some(positive(key, value)?),
            "depth" => self.limits.depth = Some(positive(key, value)?),
            "time" => {
                let time = humantime::parse_duration(value).map_err(|error| format!("time={value}: {error}"))?;
                if time == Duration::ZERO {
                    return Err("time=0 leaves no time".to_owned());
                }
                self.limits.time = Some(time);
            }
            "weights" => self.weights = Some(value.to_owned()),
            _ => return Err(format!("{key:?} is none of nodes, worlds, depth, time, weights")),
        }
        Ok(())
    }
}

fn positive<T: FromStr + PartialOrd + From<u8>>(key: &str, value: &str) -> Result<T, String> {
    match value.replace('_', "").parse::<T>() {
        Ok(number) if number >= T::from(1) => Ok(number),
        _ => Err(format!("{key}={value}: a whole number from 1 up is wanted")),
    }
}

/// How a seat chooses its moves.
#[derive(Clone)]
pub enum Mind<G: Game> {
    /// As a policy decides.
    Policy(Arc<dyn Policy<G>>),
    /// Uniformly over the legal moves: an opponent for any game.
    Random,
}

/// A policy with its budget, as the arena seats it.
#[derive(Clone)]
pub struct Player<G: Game> {
    /// As reports name it.
    pub label: String,
    /// How it chooses.
    pub mind: Mind<G>,
    /// What every decision may spend.
    pub limits: Limits,
}

impl<G: Game> Player<G> {
    /// Version of the policy; 0 for random moves.
    pub fn version(&self) -> u32 {
        match &self.mind {
            Mind::Policy(policy) => policy.about().version,
            Mind::Random => 0,
        }
    }

    /// Hash of the policy's weights; 0 for none.
    pub fn weights_hash(&self) -> u64 {
        match &self.mind {
            Mind::Policy(policy) => weights_hash(&policy.weights()),
            Mind::Random => 0,
        }
    }
}

/// What a decision may spend: the limits a seat names, else the limits given for all, both as far as the policy heeds them;
/// else the policy's own default without its clock, so that a run repeats.
pub fn limits_for<G: Game>(policy: &dyn Policy<G>, named: Limits, for_all: Limits) -> Limits {
    let about = policy.about();
    for limits in [named, for_all].map(|limits| about.heeds.of(limits)) {
        if limits.any() {
            return limits;
        }
    }
    let counted = Limits { time: None, ..about.default_limits };
    if counted.any() { counted } else { about.default_limits }
}

/// Limits as people read them: `worlds=100`, `nodes=150000 depth=3`, or `-` for none.
pub struct Shown<'a>(pub &'a Limits);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = self.0;
        let mut parts = Vec::new();
        parts.extend(limits.nodes.map(|nodes| format!("nodes={nodes}")));
        parts.extend(limits.worlds.map(|worlds| format!("worlds={worlds}")));
        parts.extend(limits.depth.map(|depth| format!("depth={depth}")));
        parts.extend(limits.time.map(|time| format!("time={}", humantime::format_duration(time))));
        out.write_str(if parts.is_empty() { "-" } else { "" })?;
        out.write_str(&parts.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_names_its_budget() {
        let spec: SeatSpec = "sedol:nodes=150_000:time=500ms".parse().expect("well formed");
        assert_eq!((spec.name.as_str(), spec.limits.nodes), ("sedol", Some(150_000)));
        assert_eq!(Shown(&spec.limits).to_string(), "nodes=150000 time=500ms");
        for bad in ["", ":nodes=1", "a:nodes", "a:nodes=0", "a:worlds=-1", "a:time=soon", "a:moves=3", "a:time=0s"] {
            assert!(bad.parse::<SeatSpec>().is_err(), "{bad}");
        }
    }
}
