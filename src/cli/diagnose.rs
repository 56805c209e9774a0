//! `understudy diagnose`: a table, and what may be wrong with the evaluation behind it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::findings::{Finding, find, total};
use super::local::Local;
use super::request::{Overrides, Shown, read};
use super::weights::Replacement;
use super::{Failure, explain, input, json, progress};
use crate::bot::{Referee, Wire};
use crate::games::{self, Visitor};
use crate::pb;

/// Decides views with the whole table and names what may be wrong with the evaluation: pass that ranks too high
/// (baseline), one term that drowns the others (scale), two terms that measure the same (double counting), a term that
/// is equal in all rows (constant). Findings are hints; the exit code is 0.
#[derive(Args, Debug)]
pub struct DiagnoseArgs {
    /// A DecideRequest, or JSONL of many, or of recorded calls {request, reply}; - or nothing for standard input
    #[arg(conflicts_with = "table")]
    file: Option<PathBuf>,
    /// Take recorded rows (a DecideResponse) instead of a view; their sums are recomputed and values may be any number
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "seed", "max_nodes", "max_worlds", "max_depth",
          "max_time", "weights"])]
    table: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    /// Tuned weights to decide with (repeatable)
    #[arg(long, value_name = "GAME/POLICY=FILE")]
    weights: Vec<Replacement>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Diagnoses.
///
/// # Errors
/// For input that is no request or no table.
pub fn run(arguments: &DiagnoseArgs) -> Result<(), Failure> {
    let responses = match &arguments.table {
        Some(file) => vec![(None, recorded(file)?)],
        None => decided(arguments)?,
    };
    let mut shares: BTreeMap<Finding, usize> = BTreeMap::new();
    for (_, response) in &responses {
        for finding in find(&response.candidates, |row| is_pass(row, response)) {
            *shares.entry(finding).or_default() += 1;
        }
    }
    let views = responses.len();
    if arguments.json {
        return print_json(&responses, &shares);
    }
    let mut text = String::new();
    if let [(view, response)] = responses.as_slice() {
        text = explain::text(view.as_ref(), response);
        text.push('\n');
    } else {
        let _ = writeln!(text, "{views} views");
    }
    if shares.is_empty() {
        text.push_str("nothing found\n");
    }
    for (finding, count) in &shares {
        let share = *count as f64 * 100.0 / views as f64;
        let share = if views == 1 { String::new() } else { format!("{share:5.1} %  ") };
        let _ = writeln!(text, "{share}{}", finding.text());
    }
    input::print(&text)
}

type Response = (Option<pb::View>, pb::DecideResponse);

fn print_json(responses: &[Response], shares: &BTreeMap<Finding, usize>) -> Result<(), Failure> {
    let views = responses.len();
    let findings: Vec<_> = shares
        .iter()
        .map(|(finding, count)| {
            json!({
                "finding": finding.kind,
                "terms": finding.terms,
                "views": count,
                "share": *count as f64 / views as f64,
                "text": finding.text(),
            })
        })
        .collect();
    let mut document = json!({ "views": views, "findings": findings });
    if let [(_, response)] = responses {
        document["table"] = json::write(response)?;
    }
    input::print_json(&document)
}

fn decided(arguments: &DiagnoseArgs) -> Result<Vec<Response>, Failure> {
    let requests = read(arguments.file.as_deref())?;
    let overrides = Overrides { detail: Some(Shown::All), ..arguments.overrides.clone() };
    let mut registry = games::registry();
    super::weights::apply(&mut registry, &arguments.weights)?;
    let local = Local::new(registry);
    let bar = progress::bar(requests.len() as u64, "views");
    let many = requests.len() > 1;
    let mut responses = Vec::new();
    for (number, request) in requests.into_iter().enumerate() {
        let request = overrides.apply(request);
        let view = request.view.clone();
        let response = local.decide(request).map_err(|failure| match failure {
            Failure::Input(problems) if many => {
                Failure::Input(problems.iter().map(|problem| format!("request {}: {problem}", number + 1)).collect())
            }
            failure => failure,
        })?;
        // Of many tables only the rows are of use.
        let response = if many { slim(response) } else { response };
        responses.push((view.filter(|_| !many), response));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(responses)
}

fn slim(mut response: pb::DecideResponse) -> pb::DecideResponse {
    response.plan.clear();
    response.refused.clear();
    for row in &mut response.candidates {
        row.facts.clear();
        row.line.clear();
    }
    response
}

/// Recorded rows, their contributions and totals recomputed and ranked as they stand.
fn recorded(file: &Path) -> Result<pb::DecideResponse, Failure> {
    let text = input::read(Some(file))?;
    let mut response: pb::DecideResponse =
        json::read(&text).map_err(|error| Failure::input(format!("{}: {error}", file.display())))?;
    if response.candidates.is_empty() {
        return Err(Failure::input(format!("{}: no candidates in it", file.display())));
    }
    for (place, row) in response.candidates.iter_mut().enumerate() {
        for term in &mut row.terms {
            if !(term.value.is_finite() && term.weight.is_finite()) {
                let what = format!("candidates[{place}]: {} is not a finite number", term.id);
                return Err(Failure::input(format!("{}: {what}", file.display())));
            }
            term.contribution = term.value * term.weight;
        }
        row.total = total(row);
    }
    response
        .candidates
        .sort_by(|a, b| (a.barred.is_empty().cmp(&b.barred.is_empty()).reverse()).then(b.total.total_cmp(&a.total)));
    for (place, row) in response.candidates.iter_mut().enumerate() {
        row.rank = place as u32 + 1;
    }
    response.candidates_total = response.candidates_total.max(response.candidates.len() as u32);
    Ok(response)
}

/// Whether a row passes: by the kind of its move where the game is known, else by its key.
fn is_pass(row: &pb::Candidate, response: &pb::DecideResponse) -> bool {
    struct IsPass<'a>(&'a str);

    impl Visitor for IsPass<'_> {
        type Output = bool;

        fn visit<G: Referee + Wire>(self) -> bool {
            G::parse_key(self.0).is_some_and(|mv| G::kind(&mv) == "pass")
        }
    }

    if row.key.eq_ignore_ascii_case("pass") {
        return true;
    }
    let ruleset = response.effective.as_ref().map_or("", |effective| effective.ruleset.as_str());
    let key = games::KEYS.iter().find(|key| ruleset.starts_with(**key));
    key.and_then(|key| games::visit(key, IsPass(&row.key))).unwrap_or(false)
}
