//! One request all the way: bytes, message, checks, decision, reply; with what must hold at every step.

use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use understudy::bot::registry::Bots;
use understudy::bot::{Bot, Budget, Limits, Registry, Reject, Rng, Turn};
use understudy::pb;
use understudy::service::envelope;

/// How a request ended, as the code that a client would get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// 0: a move.
    Decided,
    /// 3: the request or its view breaks a rule.
    Refused,
    /// 5: no such policy.
    Unknown,
    /// 9: a valid view, no candidate.
    Nothing,
}

/// The games as the server has them.
pub struct Kitchen {
    registry: Registry,
    bots: Bots,
}

impl Default for Kitchen {
    fn default() -> Self {
        let registry = understudy::games::registry();
        Self { bots: Bots::of(&registry), registry }
    }
}

impl Kitchen {
    /// Every public policy.
    pub fn bots(&self) -> &[Arc<dyn Bot>] {
        self.bots.all()
    }

    /// Raw bytes as `Decide` would take them.
    pub fn bytes(&self, data: &[u8]) -> Verdict {
        match pb::DecideRequest::decode(data) {
            Ok(request) => self.decide(request),
            Err(_) => Verdict::Refused,
        }
    }

    /// A message as `Decide` would take it.
    pub fn decide(&self, request: pb::DecideRequest) -> Verdict {
        let found = request.view.as_ref().and_then(|view| self.registry.game_of(view));
        let bot = found.and_then(|game| self.bots.find(game.key(), &request.policy).ok());
        decide(bot, request)
    }
}

fn decide(bot: Option<&Arc<dyn Bot>>, request: pb::DecideRequest) -> Verdict {
    let asked = match envelope::check(&request, 2048, Duration::from_secs(10)) {
        Ok(asked) => asked,
        Err(violations) => {
            assert!(!violations.is_empty(), "refused without a reason");
            return Verdict::Refused;
        }
    };
    let Some(bot) = bot else { return Verdict::Unknown };
    let prepared = match bot.prepare(request.view.unwrap_or_default()) {
        Ok(prepared) => prepared,
        Err(Reject::Invalid(violations)) => {
            assert!(!violations.is_empty(), "refused without a reason");
            return Verdict::Refused;
        }
        Err(Reject::NothingToDecide(_)) => return Verdict::Nothing,
    };
    let ready = envelope::ready(&asked, "fuzz".to_owned(), bot, prepared);
    // Small fixed limits: a fuzzer wants many decisions, not deep ones.
    let limits = Limits {
        time: None,
        nodes: Some(ready.limits.nodes.unwrap_or(300).min(300)),
        worlds: Some(ready.limits.worlds.unwrap_or(2).min(2)),
        depth: Some(ready.limits.depth.unwrap_or(2).min(2)),
    };
    let budget = Budget::new(limits);
    let mut rng = Rng::new(ready.seed);
    let reply = (ready.thought)(&mut Turn { budget: &budget, rng: &mut rng }, ready.rows);
    let response = ready.frame.respond(reply, false, pb::Timing::default());
    check_reply(&response);
    Verdict::Decided
}

/// What every reply promises, whatever the view.
fn check_reply(response: &pb::DecideResponse) {
    assert!(response.r#move.is_some(), "a reply without a move");
    assert!(response.candidates_total >= 1, "an empty table");
    if let Some(first) = response.candidates.first() {
        assert_eq!(first.key, response.move_key, "rank 1 is not the decision");
    }
    for row in &response.candidates {
        let sum: f64 = row.terms.iter().map(|term| term.contribution).sum();
        assert!(row.total.is_finite() && (sum - row.total).abs() <= 1e-9, "{}: {sum} is not {}", row.key, row.total);
        assert!(row.terms.iter().all(|term| (0.0..=1.0).contains(&term.value)), "{}: a term out of range", row.key);
        assert!(row.facts.iter().all(|fact| fact.value.is_finite()), "{}: a fact that is no number", row.key);
    }
    assert!(!response.encode_to_vec().is_empty());
}
