//! What a request means and how its answer is written: one code path for `Decide`, `BatchDecide` and the command line,
//! so that their replies are byte-equal.

use std::sync::Arc;
use std::time::Duration;

use crate::bot::registry::hex;
use crate::bot::{Bot, Completion, Limits, Prepared, Reply, Rows, Thought, Violations, Warning};
use crate::pb;

/// Longest request id.
const REQUEST_ID: usize = 64;

/// A request whose envelope passed every check; the view is still to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// As sent; empty when none was.
    pub request_id: String,
    /// `hard`, `hard@3` or an alias.
    pub policy: String,
    /// As sent; absent means derived from the view.
    pub seed: Option<u64>,
    /// The limits it names; `Limits::NONE` when it names none.
    pub named: Limits,
    /// How much of the table to show.
    pub rows: Rows,
    /// Absent: what the method says.
    pub priority: Option<pb::Priority>,
    /// The static table will do where a search cannot start.
    pub fallback: bool,
}

/// Checks everything around the view. `rows_cap` is the most rows of a reply, `max_think` the longest time to ask for.
///
/// # Errors
/// Every violation, with paths relative to the request.
pub fn check(request: &pb::DecideRequest, rows_cap: usize, max_think: Duration) -> Result<Asked, Violations> {
    let mut wrong = Violations::under("");
    let id = &request.request_id;
    if id.len() > REQUEST_ID || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
        wrong.add("request_id", "", "at most 64 visible ASCII characters");
    }
    if request.view.as_ref().is_none_or(|view| view.game.is_none()) {
        wrong.add("view", "", "required: the view of one game");
    }
    if request.policy.is_empty() {
        wrong.add("policy", "", "required: \"hard\" or \"hard@3\"");
    }
    let rows = match pb::Detail::try_from(request.detail) {
        Ok(pb::Detail::None) => Rows::None,
        Ok(pb::Detail::Unspecified | pb::Detail::Top) => Rows::Top,
        Ok(pb::Detail::All) => Rows::All(rows_cap),
        Err(_) => {
            wrong.add("detail", "", format!("{} is no detail", request.detail));
            Rows::None
        }
    };
    let priority = match pb::Priority::try_from(request.priority) {
        Ok(pb::Priority::Unspecified) => None,
        Ok(named) => Some(named),
        Err(_) => {
            wrong.add("priority", "", format!("{} is no priority", request.priority));
            None
        }
    };
    let named = check_budget(request.budget.as_ref(), max_think, &mut wrong);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(Asked {
        request_id: id.clone(),
        policy: request.policy.clone(),
        seed: request.seed,
        named,
        rows,
        priority,
        fallback: request.fallback,
    })
}

fn check_budget(budget: Option<&pb::Budget>, max_think: Duration, wrong: &mut Violations) -> Limits {
    let Some(budget) = budget else { return Limits::NONE };
    let fields = [
        ("budget.max_time_us", budget.max_time_us),
        ("budget.max_nodes", budget.max_nodes),
        ("budget.max_worlds", budget.max_worlds),
        ("budget.max_depth", budget.max_depth),
    ];
    for (field, value) in fields {
        if value == Some(0) {
            wrong.add(field, "", "0 is no budget; leave the field out for no limit");
        }
    }
    let time = budget.max_time_us.map(|us| Duration::from_micros(u64::from(us)));
    if time.is_some_and(|time| time > max_think) {
        wrong.add("budget.max_time_us", "", format!("above the longest think time of {} us", max_think.as_micros()));
    }
    Limits { time, nodes: budget.max_nodes.map(u64::from), worlds: budget.max_worlds, depth: budget.max_depth }
}

/// A decision that is ready to run: the view is checked, budget and seed are settled.
pub struct Ready {
    /// What applies: the named limits that the policy heeds, or else its default.
    pub limits: Limits,
    /// The seed to think with.
    pub seed: u64,
    /// How much of the table to show.
    pub rows: Rows,
    /// The rest of the work.
    pub thought: Thought,
    /// What the answer says beside the decision.
    pub frame: Frame,
}

/// The parts of an answer that do not depend on the decision.
#[derive(Clone, Debug)]
pub struct Frame {
    request_id: String,
    effective: pb::Effective,
    view_hash: String,
    warnings: Vec<Warning>,
}

/// Puts a checked envelope and a checked view together. `request_id` is the one to echo.
pub fn ready(asked: &Asked, request_id: String, bot: &Arc<dyn Bot>, prepared: Prepared) -> Ready {
    let about = bot.about();
    let Prepared { view_hash, ruleset, mut warnings, thought } = prepared;
    let named = asked.named;
    let heeded = about.heeds.of(named);
    // A limit that means nothing to the policy bounds nothing: alone it must not take the default away.
    let limits = if heeded.any() { heeded } else { about.default_limits };
    let ignored = [
        ("budget.max_time_us", named.time != heeded.time),
        ("budget.max_nodes", named.nodes != heeded.nodes),
        ("budget.max_worlds", named.worlds != heeded.worlds),
        ("budget.max_depth", named.depth != heeded.depth),
    ];
    for (field, ignored) in ignored {
        if ignored {
            let text = format!("{} takes no notice of this limit", bot.name());
            warnings.push(Warning { field: field.to_owned(), code: "BUDGET_IGNORED", text });
        }
    }
    let seed = asked.seed.unwrap_or(view_hash);
    let effective = pb::Effective {
        policy: format!("{}@{}", bot.name(), about.version),
        weights_hash: hex(bot.weights_hash()),
        seed,
        ruleset,
        deterministic: true,
        budget: Some(write_limits(&limits)),
    };
    let frame = Frame { request_id, effective, view_hash: format!("{view_hash:016x}"), warnings };
    Ready { limits, seed, rows: asked.rows, thought, frame }
}

/// Limits as a message; a limit too large for its field reads as the largest that fits.
pub fn write_limits(limits: &Limits) -> pb::Budget {
    pb::Budget {
        max_time_us: limits.time.map(|time| u32::try_from(time.as_micros()).unwrap_or(u32::MAX)),
        max_nodes: limits.nodes.map(|nodes| u32::try_from(nodes).unwrap_or(u32::MAX)),
        max_worlds: limits.worlds,
        max_depth: limits.depth,
    }
}

impl Frame {
    /// The answer. `fell_back`: the static table was given because the search could not start in time.
    pub fn respond(self, reply: Reply, fell_back: bool, timing: pb::Timing) -> pb::DecideResponse {
        let completion = match reply.completion {
            _ if fell_back => pb::Completion::Fallback,
            Completion::Full => pb::Completion::Full,
            Completion::Nodes => pb::Completion::Nodes,
            Completion::Worlds => pb::Completion::Worlds,
            Completion::Depth => pb::Completion::Depth,
            Completion::Time => pb::Completion::Time,
        };
        let mut effective = self.effective;
        effective.deterministic = !matches!(completion, pb::Completion::Time | pb::Completion::Fallback);
        let mut warnings = self.warnings;
        if reply.all_barred {
            let text = "every row is barred; the best of them is played".to_owned();
            warnings.push(Warning { field: String::new(), code: "ALL_BARRED", text });
        }
        let warnings = warnings.into_iter().map(|warning| pb::Warning {
            field: warning.field,
            code: warning.code.to_owned(),
            text: warning.text,
        });
        pb::DecideResponse {
            request_id: self.request_id,
            r#move: Some(reply.mv),
            move_key: reply.key,
            candidates: reply.candidates,
            truncated: reply.truncated,
            candidates_total: reply.total as u32,
            completion: completion as i32,
            effective: Some(effective),
            work: Some(pb::Work {
                nodes: reply.work.nodes,
                worlds: reply.work.worlds,
                depth: reply.work.depth,
                effective_worlds: reply.work.effective_worlds,
            }),
            timing: Some(timing),
            view_hash: self.view_hash,
            warnings: warnings.collect(),
            plan: reply.plan,
            facts: reply.facts,
            refused: reply.refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn violations(request: &pb::DecideRequest) -> Vec<String> {
        let wrong = check(request, 2048, Duration::from_secs(10)).expect_err("nothing found");
        wrong.into_iter().map(|violation| violation.field).collect()
    }

    #[test]
    fn every_fault_of_the_envelope_is_named() {
        let request = pb::DecideRequest {
            request_id: "a b".to_owned(),
            budget: Some(pb::Budget { max_time_us: Some(10_000_001), max_nodes: Some(0), ..Default::default() }),
            detail: 9,
            priority: -1,
            ..Default::default()
        };
        let fields = ["request_id", "view", "policy", "detail", "priority", "budget.max_nodes", "budget.max_time_us"];
        assert_eq!(violations(&request), fields);
    }
}
