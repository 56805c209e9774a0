//! A reply as people read it: the position, then the table, best first.

use std::fmt::Write as _;

use crate::arena::report::aligned;
use crate::bot::registry::AnyGame;
use crate::bot::{Referee, Wire};
use crate::games::{self, Visitor};
use crate::pb;

/// The whole reply. Each term shows what it contributes and, in brackets, its value; terms that are off in every row
/// are left out.
pub fn text(view: Option<&pb::View>, response: &pb::DecideResponse) -> String {
    let mut text = view.and_then(picture).unwrap_or_default();
    let effective = response.effective.clone().unwrap_or_default();
    if !effective.policy.is_empty() {
        let _ = writeln!(text, "{} plays {}  ({})", effective.policy, response.move_key, effective.ruleset);
        let work = response.work.unwrap_or_default();
        let _ = writeln!(
            text,
            "{}, seed {}, {} nodes, {} worlds, depth {}; view {}{}",
            completion(response.completion),
            effective.seed,
            work.nodes,
            work.worlds,
            work.depth,
            response.view_hash,
            if effective.weights_hash.is_empty() {
                String::new()
            } else {
                format!(", weights {}", effective.weights_hash)
            }
        );
    }
    for warning in &response.warnings {
        let _ = writeln!(text, "warning {} {}: {}", warning.code, warning.field, warning.text);
    }
    for fact in &response.facts {
        let _ = writeln!(text, "{} = {}", fact.id, amount(fact));
    }
    text.push('\n');
    text.push_str(&table(&response.candidates));
    if response.truncated || response.candidates.len() < response.candidates_total as usize {
        let _ = writeln!(text, "{} of {} rows", response.candidates.len(), response.candidates_total);
    }
    for refused in &response.refused {
        let _ = writeln!(text, "not legal: {} ({})", refused.key, refused.reason);
    }
    text
}

fn completion(number: i32) -> &'static str {
    match pb::Completion::try_from(number) {
        Ok(pb::Completion::Full) => "thought to the end",
        Ok(pb::Completion::Nodes) => "stopped by the node limit",
        Ok(pb::Completion::Worlds) => "stopped by the world limit",
        Ok(pb::Completion::Depth) => "stopped by the depth limit",
        Ok(pb::Completion::Time) => "stopped by the clock",
        Ok(pb::Completion::Fallback) => "no time to search",
        _ => "completion not given",
    }
}

fn amount(fact: &pb::Fact) -> String {
    let space = if fact.unit.is_empty() { "" } else { " " };
    format!("{}{space}{}", short(fact.value), fact.unit)
}

/// Whole numbers without a point, others with three digits behind it.
fn short(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 { format!("{value}") } else { format!("{value:.3}") }
}

/// The rows as columns.
pub fn table(rows: &[pb::Candidate]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let shown: Vec<usize> = (0..first.terms.len())
        .filter(|&place| rows.iter().any(|row| row.terms.get(place).is_some_and(|term| term.contribution != 0.0)))
        .collect();
    let payoffs = rows.iter().any(|row| row.payoff.is_some());
    let mut head = vec!["#".to_owned(), "move".to_owned(), "total".to_owned()];
    if payoffs {
        head.push(rows.iter().find_map(|row| row.payoff.as_ref()).map_or_else(String::new, |p| p.unit.clone()));
    }
    head.extend(shown.iter().map(|&place| first.terms[place].id.clone()));
    head.push(String::new());
    let mut lines = vec![head];
    for row in rows {
        let bound = if row.bound == pb::Bound::AtMost as i32 { "<=" } else { "" };
        let mut line = vec![row.rank.to_string(), row.key.clone(), format!("{bound}{:.3}", row.total)];
        if payoffs {
            line.push(row.payoff.as_ref().map_or_else(String::new, payoff));
        }
        line.extend(shown.iter().map(|&place| row.terms.get(place).map_or_else(String::new, term)));
        line.push(remarks(row));
        lines.push(line);
    }
    // The remarks are text and start at the left; the columns before them are numbers.
    let last = lines[0].len() - 1;
    let numbers: Vec<Vec<String>> = lines.iter().map(|line| line[..last].to_vec()).collect();
    let left = aligned(&numbers, 2);
    let width = left.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (line, cells) in left.lines().zip(&lines) {
        let gap = if cells[last].is_empty() { 0 } else { width - line.chars().count() + 2 };
        let _ = writeln!(text, "{line}{}{}", " ".repeat(gap), cells[last]);
    }
    text
}

fn payoff(payoff: &pb::Payoff) -> String {
    if payoff.samples == 0 {
        return format!("{:+.2}", payoff.mean);
    }
    format!("{:+.2}±{:.2}", payoff.mean, payoff.standard_error)
}

fn term(term: &pb::Term) -> String {
    if term.weight == 0.0 { "-".to_owned() } else { format!("{:+.3} ({})", term.contribution, short(term.value)) }
}

fn remarks(row: &pb::Candidate) -> String {
    let mut parts = Vec::new();
    if let Some(standing) = row.standing.as_ref() {
        let verdict = match pb::Verdict::try_from(standing.verdict) {
            Ok(pb::Verdict::Won) => "won",
            Ok(pb::Verdict::Lost) => "lost",
            Ok(pb::Verdict::Drawn) => "drawn",
            _ => "",
        };
        if !verdict.is_empty() {
            let plies = if standing.in_plies == 0 { String::new() } else { format!(" in {}", standing.in_plies) };
            parts.push(format!("{verdict}{plies} by {}, margin {}", standing.proof, standing.margin));
        }
    }
    if !row.barred.is_empty() {
        parts.push(format!("barred: {}", row.barred));
    }
    if row.line.len() > 1 {
        parts.push(format!("then {}", row.line[1..].join(" ")));
    }
    parts.extend(row.facts.iter().map(|fact| format!("{}={}", fact.id, amount(fact))));
    parts.join("; ")
}

/// The position in a few lines, by the game that the view belongs to.
fn picture(view: &pb::View) -> Option<String> {
    struct Picture(pb::View);

    impl Visitor for Picture {
        type Output = Option<String>;

        fn visit<G: Referee + Wire>(self) -> Self::Output {
            let checked = G::read(self.0).ok()?;
            Some(format!("{}\n", G::picture(&checked.view).trim_end()))
        }
    }

    let registry = games::registry();
    let key = registry.game_of(view).map(AnyGame::key)?;
    games::visit(key, Picture(view.clone()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_that_are_off_everywhere_are_left_out() {
        let term =
            |id: &str, value, weight| pb::Term { id: id.to_owned(), value, weight, contribution: value * weight };
        let row = |rank, key: &str, a, b| pb::Candidate {
            rank,
            key: key.to_owned(),
            total: a * 2.0 - b,
            terms: vec![term("gain", a, 2.0), term("cost", b, -1.0), term("off", 0.7, 0.0)],
            ..Default::default()
        };
        let text = table(&[row(1, "달1", 1.0, 0.25), row(2, "pass", 0.0, 0.0)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["#", "move", "total", "gain", "cost"]);
        assert_eq!(lines[1], "1  달1   1.750  +2.000 (1)  -0.250 (0.250)");
        assert_eq!(lines[2], "2  pass  0.000  +0.000 (0)      -0.000 (0)");
    }
}
