//! What a run found: per-deal samples, and the report made of them. Knows no game, so shards merge without one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::durations::{Durations, Quantiles};
use super::stats::{self, Interval, PairScore, Sprt, Verdict};

/// What a run is; equal in all shards of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The game's key.
    pub game: String,
    /// Unit of the payments.
    pub unit: String,
    /// `table`, `two_sided` or `solo`.
    pub style: Style,
    /// The rules, as `--rules` takes them.
    pub rules: String,
    /// Label of the player in each seat, before rotation.
    pub seats: Vec<String>,
    /// The players: distinct labels.
    pub players: Vec<PlayerHeader>,
    /// Seed of the first deal.
    pub seed: u64,
    /// Deals of the whole run.
    pub deals: u64,
    /// Seats were rotated.
    pub rotate: bool,
    /// Plans were followed.
    pub follow_plan: bool,
    /// No clock limited any decision.
    pub repeatable: bool,
    /// Names of the kinds of moves, when they were counted.
    pub kinds: Vec<String>,
}

/// One player of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayerHeader {
    /// Its label.
    pub label: String,
    /// Version of its policy.
    pub version: u32,
    /// Hash of its weights, 16 hex digits or empty.
    pub weights_hash: String,
    /// What a decision may spend.
    pub budget: String,
}

/// [`crate::bot::MatchStyle`] as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Payments among several seats.
    Table,
    /// Two sides.
    TwoSided,
    /// Everybody plays alone.
    Solo,
}

/// One deal in all its seatings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Which deal of the run, from 0.
    pub index: u64,
    /// Games played.
    pub rounds: u64,
    /// Decisions asked for.
    pub plies: u64,
    /// One entry a player.
    pub sides: Vec<Side>,
}

/// What one player did in one deal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Seats it held in games that ended by the rules.
    pub seats: u64,
    /// Sum of its payments in them.
    pub payment: i64,
    /// Games it won, shared wins in part.
    pub share: f64,
    /// Of two sides: games won, drawn and lost.
    pub results: [u64; 3],
    /// Seats it held in games that a limit stopped.
    pub truncated: u64,
    /// Decisions taken.
    pub decisions: u64,
    /// Nodes searched.
    pub nodes: u64,
    /// Worlds sampled.
    pub worlds: u64,
    /// Sum of the depths reached.
    pub depth: u64,
    /// Decisions with more than one legal move, when counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub choices: u64,
    /// What was chosen in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<u64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Side {
    /// Payment per seat and round; `None` when no game of the deal ended.
    fn mean(&self) -> Option<f64> {
        (self.seats > 0).then(|| self.payment as f64 / self.seats as f64)
    }
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The game's key.
    pub game: String,
    /// The rules.
    pub rules: String,
    /// The player in each seat, before rotation.
    pub seats: Vec<String>,
    /// Deals played.
    pub deals: u64,
    /// Games played.
    pub rounds: u64,
    /// Seed of the first deal.
    pub seed: u64,
    /// Unit of mean and margin.
    pub unit: String,
    /// No clock limited any decision: the same flags give the same numbers.
    pub repeatable: bool,
    /// Mean number of decisions in a game.
    pub plies_per_round: f64,
    /// One entry a player.
    pub policies: Vec<PolicyReport>,
    /// Paired differences in a one-seat game.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairReport>,
    /// The sequential test, when one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtReport>,
}

/// One player's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyReport {
    /// Its label.
    pub policy: String,
    /// Version of the policy.
    pub version: u32,
    /// Hash of its weights.
    pub weights_hash: String,
    /// What a decision might spend.
    pub budget: String,
    /// Seats held in games that ended by the rules.
    pub rounds: u64,
    /// Mean payment per seat and round.
    pub mean: f64,
    /// Its 95 % half width over deals; absent below two deals.
    pub half_width: Option<f64>,
    /// Standard deviation of a deal's mean.
    pub deviation: f64,
    /// Smallest mean of a deal.
    pub min: f64,
    /// Largest mean of a deal.
    pub max: f64,
    /// Share of rounds won.
    pub win_share: f64,
    /// Decisions taken.
    pub decisions: u64,
    /// Illegal or missing moves: always 0, as one would have ended the run.
    pub illegal: u64,
    /// Nodes searched.
    pub nodes: u64,
    /// Mean depth reached per decision.
    pub depth: f64,
    /// Think times; cheap policies are timed at every 64th decision.
    pub think_us: Quantiles,
    /// Of two sides.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<SidesReport>,
    /// Decisions with more than one legal move, by kind of the move chosen; with `--kinds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<BTreeMap<String, u64>>,
}

/// Wins and losses of one of two sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SidesReport {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// (wins + draws / 2) / decided games.
    pub score: f64,
    /// Its 95 % half width, by bootstrap over pairs.
    pub score_half_width: Option<f64>,
    /// Mean margin of decided games.
    pub margin: f64,
    /// Games that a limit stopped: neither won nor drawn nor lost.
    pub truncated: u64,
}

/// The paired difference between two players of a one-seat game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairReport {
    /// Who got more.
    pub better: String,
    /// Who got less.
    pub worse: String,
    /// By how much, per deal.
    pub mean: f64,
    /// 95 % half width.
    pub half_width: Option<f64>,
    /// Share of deals on which `better` got at least as much.
    pub not_worse: f64,
}

/// Where the sequential test ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SprtReport {
    /// The hypotheses.
    #[serde(flatten)]
    pub test: Sprt,
    /// Log likelihood ratio.
    pub ratio: f64,
    /// What it says.
    pub verdict: Verdict,
}

/// The samples that the sequential test looks at: the first player's mean of each deal, or its score where there are
/// two sides.
pub fn tested(style: Style, samples: &[Sample]) -> Vec<f64> {
    let value = |side: &Side| match style {
        Style::TwoSided => {
            let [wins, draws, losses] = side.results;
            let decided = wins + draws + losses;
            (decided > 0).then(|| (wins as f64 + draws as f64 / 2.0) / decided as f64)
        }
        Style::Table | Style::Solo => side.mean(),
    };
    samples.iter().filter_map(|sample| sample.sides.first().and_then(value)).collect()
}

impl Report {
    /// The report of these samples, in the order of their deals.
    pub fn of(header: &Header, samples: &[Sample], think: &[Durations], sprt: Option<Sprt>) -> Self {
        let rounds: u64 = samples.iter().map(|sample| sample.rounds).sum();
        let plies: u64 = samples.iter().map(|sample| sample.plies).sum();
        let policies = (0..header.players.len()).map(|player| policy(header, samples, think, player)).collect();
        Self {
            game: header.game.clone(),
            rules: header.rules.clone(),
            seats: header.seats.clone(),
            deals: samples.len() as u64,
            rounds,
            seed: header.seed,
            unit: header.unit.clone(),
            repeatable: header.repeatable,
            plies_per_round: plies as f64 / rounds.max(1) as f64,
            policies,
            pairs: if header.style == Style::Solo { pairs(header, samples) } else { Vec::new() },
            sprt: sprt.map(|test| {
                let values = tested(header.style, samples);
                SprtReport { test, ratio: test.ratio(&values), verdict: test.verdict(&values) }
            }),
        }
    }

    /// For people.
    pub fn table(&self) -> String {
        let alone = if self.pairs.is_empty() { "" } else { ", each alone" };
        let mut text = format!(
            "{}, {} seat{}{alone}: {}\n{} deals (seeds {}..{}), {} rounds of {:.1} decisions; {} per round, 95 % intervals\n",
            self.rules,
            self.seats.len(),
            if self.seats.len() == 1 { "" } else { "s" },
            self.seats.join(" "),
            grouped(self.deals),
            self.seed,
            self.seed.wrapping_add(self.deals.saturating_sub(1)),
            grouped(self.rounds),
            self.plies_per_round,
            self.unit
        );
        if !self.repeatable {
            text.push_str("a clock limited decisions: these numbers do not repeat\n");
        }
        let mut rows = vec![row_of(&[
            "policy",
            "budget",
            "mean",
            "±",
            "wins",
            "rounds",
            "decisions",
            "p50 us",
            "p99 us",
            "max us",
        ])];
        for policy in &self.policies {
            rows.push(vec![
                format!("{}@{}", policy.policy, policy.version),
                policy.budget.clone(),
                format!("{:+.3}", policy.mean),
                width(policy.half_width),
                format!("{:.1} %", policy.win_share * 100.0),
                grouped(policy.rounds),
                grouped(policy.decisions),
                format!("{:.1}", policy.think_us.p50),
                format!("{:.1}", policy.think_us.p99),
                format!("{:.1}", policy.think_us.max),
            ]);
        }
        text.push('\n');
        text.push_str(&aligned(&rows, 2));
        for policy in &self.policies {
            if let Some(sides) = &policy.sides {
                let _ = writeln!(
                    text,
                    "{}: {} won, {} drawn, {} lost, {} truncated; score {:.3} ± {}, margin {:+.2}",
                    policy.policy,
                    sides.wins,
                    sides.draws,
                    sides.losses,
                    sides.truncated,
                    sides.score,
                    width(sides.score_half_width),
                    sides.margin
                );
            }
            if let Some(kinds) = &policy.kinds {
                let total: u64 = kinds.values().sum();
                let shares = kinds
                    .iter()
                    .map(|(kind, count)| format!("{kind} {:.1} %", *count as f64 * 100.0 / total.max(1) as f64));
                let shares: Vec<_> = shares.collect();
                let _ = writeln!(text, "{}: of {} choices {}", policy.policy, grouped(total), shares.join(", "));
            }
        }
        for pair in &self.pairs {
            let _ = writeln!(
                text,
                "{} - {}: {:+.2} ± {} per deal, at least as good on {:.1} %",
                pair.better,
                pair.worse,
                pair.mean,
                width(pair.half_width),
                pair.not_worse * 100.0
            );
        }
        if let Some(sprt) = &self.sprt {
            let verdict = match sprt.verdict {
                Verdict::Open => "undecided".to_owned(),
                Verdict::Low => format!("at most {}", sprt.test.low),
                Verdict::High => format!("at least {}", sprt.test.high),
            };
            let _ = writeln!(
                text,
                "sequential test {}..{} on {}: {verdict} (log ratio {:+.2})",
                sprt.test.low, sprt.test.high, self.policies[0].policy, sprt.ratio
            );
        }
        text
    }
}

fn policy(header: &Header, samples: &[Sample], think: &[Durations], player: usize) -> PolicyReport {
    let sides: Vec<&Side> = samples.iter().filter_map(|sample| sample.sides.get(player)).collect();
    let means: Vec<f64> = sides.iter().filter_map(|side| side.mean()).collect();
    let Interval { mean, half_width } = stats::interval(&means);
    let sum = |field: fn(&Side) -> u64| sides.iter().map(|side| field(side)).sum::<u64>();
    let (rounds, decisions) = (sum(|side| side.seats), sum(|side| side.decisions));
    let share: f64 = sides.iter().map(|side| side.share).sum();
    let about = &header.players[player];
    let kinds = || {
        let count = |place: usize| sides.iter().map(|side| side.kinds.get(place).copied().unwrap_or(0)).sum();
        header.kinds.iter().enumerate().map(|(place, kind)| (kind.clone(), count(place))).collect()
    };
    PolicyReport {
        policy: about.label.clone(),
        version: about.version,
        weights_hash: about.weights_hash.clone(),
        budget: about.budget.clone(),
        rounds,
        mean,
        half_width,
        deviation: stats::deviation(&means),
        min: means.iter().copied().reduce(f64::min).unwrap_or(0.0),
        max: means.iter().copied().reduce(f64::max).unwrap_or(0.0),
        win_share: share / rounds.max(1) as f64,
        decisions,
        illegal: 0,
        nodes: sum(|side| side.nodes),
        depth: sum(|side| side.depth) as f64 / decisions.max(1) as f64,
        think_us: think.get(player).map(Durations::quantiles).unwrap_or_default(),
        sides: (header.style == Style::TwoSided).then(|| two_sides(&sides, mean)),
        kinds: (!header.kinds.is_empty()).then(kinds),
    }
}

fn two_sides(sides: &[&Side], margin: f64) -> SidesReport {
    let count = |place: usize| sides.iter().map(|side| side.results[place]).sum::<u64>();
    let pairs: Vec<PairScore> = sides
        .iter()
        .map(|side| {
            let [wins, draws, losses] = side.results;
            PairScore { points: wins as f64 + draws as f64 / 2.0, decided: (wins + draws + losses) as u32 }
        })
        .collect();
    let score = stats::score(&pairs);
    SidesReport {
        wins: count(0),
        draws: count(1),
        losses: count(2),
        score: score.mean,
        score_half_width: score.half_width,
        margin,
        truncated: sides.iter().map(|side| side.truncated).sum(),
    }
}

fn pairs(header: &Header, samples: &[Sample]) -> Vec<PairReport> {
    let mut found = Vec::new();
    for a in 0..header.players.len() {
        for b in a + 1..header.players.len() {
            let differences: Vec<f64> = samples
                .iter()
                .filter_map(|sample| Some(sample.sides.get(a)?.mean()? - sample.sides.get(b)?.mean()?))
                .collect();
            let Interval { mean, half_width } = stats::interval(&differences);
            let (better, worse, sign) = if mean >= 0.0 { (a, b, 1.0) } else { (b, a, -1.0) };
            let not_worse = differences.iter().filter(|difference| **difference * sign >= 0.0).count();
            found.push(PairReport {
                better: header.players[better].label.clone(),
                worse: header.players[worse].label.clone(),
                mean: mean * sign,
                half_width,
                not_worse: not_worse as f64 / differences.len().max(1) as f64,
            });
        }
    }
    found
}

fn width(half_width: Option<f64>) -> String {
    half_width.map_or_else(|| "?".to_owned(), |width| format!("{width:.3}"))
}

fn row_of(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// Thousands set apart by commas.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Rows as columns: the first `left` columns start at the left, the others end at the right.
pub fn aligned(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| shown_width(cell)).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[column] - shown_width(cell));
            let space = if column == 0 { "" } else { "  " };
            let _ = if column < left { write!(line, "{space}{cell}{gap}") } else { write!(line, "{space}{gap}{cell}") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Columns that a text takes on a terminal: Korean syllables and other wide letters take two.
fn shown_width(text: &str) -> usize {
    text.chars().map(|letter| if is_wide(letter) { 2 } else { 1 }).sum()
}

fn is_wide(letter: char) -> bool {
    matches!(u32::from(letter), 0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFF00..=0xFF60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_columns() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(100), "100");
        let rows = [row_of(&["a", "1"]), row_of(&["달", "10"])];
        assert_eq!(aligned(&rows, 1), "a    1\n달  10\n");
    }
}
