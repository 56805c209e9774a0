//! Beam search.

use super::hard::TERMS;
use crate::bot::policy::Heeds;
use crate::bot::{About, Budget, Completion, Evaluated, Limits, Policy, PolicyKind, Stopped, Turn, Weights};
use crate::games::apple::beam::{self, Plan, Round, Task, Taste};
use crate::games::apple::greedy::{Line, finish_greedily};
use crate::games::apple::lines::Lines;
use crate::games::apple::rects::{Ground, Play};
use crate::games::apple::terms::{self, AppleTerms};
use crate::games::apple::{Apple, View};

/// Follows the most promising positions level by level, judged by what they leave on the board.
#[derive(Clone, Copy, Debug)]
pub struct Expert {
    weights: Weights<AppleTerms>,
}

impl Default for Expert {
    fn default() -> Self {
        Self { weights: terms::search_weights() }
    }
}

/// About a quarter of a second.
const NODES: u64 = 300_000;
/// States a level of the first round of the beam: the one that tells how long the game is.
const NARROW: usize = 8;
/// Beams that share a node limit after that. Each stirs the worth of positions in its own way; the best of some beams is
/// better than one beam as wide as all of them.
const BEAMS: u32 = 4;
/// Without a node limit each of this many rounds is as wide as the one before, and the next is twice as wide.
const WIDEN_AFTER: u32 = 2;
/// States a level at most: some 50 MB.
const WIDEST: usize = 8_192;

impl Expert {
    /// The same with other weights of its terms.
    pub const fn weighing(weights: Weights<AppleTerms>) -> Self {
        Self { weights }
    }
}

impl Policy<Apple> for Expert {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Beam search: many games side by side, kept by what they leave within reach; exact on small boards.",
            kind: PolicyKind::Search,
            anytime: true,
            uses_seed: false,
            default_limits: Limits::nodes(NODES),
            heeds: Heeds { time: true, nodes: true, depth: true, ..Heeds::default() },
            terms: TERMS,
            aliases: &[],
            stages: &[],
        }
    }

    fn evaluate(&self, view: &View, turn: &mut Turn<'_>) -> Evaluated<Apple> {
        let mut lines = Lines::floor(view, turn.budget);
        let rounds = think(&mut lines, view, turn.budget);
        let mut table = lines.table(view, &self.weights).spent(turn.budget);
        table.work.depth = rounds;
        // The rounds are planned to end just within a node limit, so the limit is what ended them.
        let limited = turn.budget.limits().nodes.is_some() && !lines.is_settled();
        if limited && table.completion == Completion::Full {
            table.completion = Completion::Nodes;
        }
        table
    }

    fn weights(&self) -> Vec<Weights<AppleTerms>> {
        vec![self.weights]
    }
}

/// Rounds until nothing is left to find or the budget ends; how many were finished. A round that the budget cuts leaves
/// no trace.
fn think(lines: &mut Lines, view: &View, budget: &Budget) -> u32 {
    let mut finished = 0;
    let mut profile = Vec::new();
    while !lines.is_settled() && budget.depth(finished + 1).is_ok() {
        let result = match finished {
            0 => greedy_games(lines, view, budget).map(|games| games.into_iter().for_each(|game| lines.offer(game))),
            beams => beam_round(lines, view, u64::from(beams - 1), plan(beams, &profile, budget), budget).map(|round| {
                lines.exhausted = !round.dropped;
                round.lines.into_iter().for_each(|line| lines.offer(line));
                if beams == 1 {
                    profile = round.states;
                }
            }),
        };
        if result.is_err() {
            break;
        }
        finished += 1;
        let last = match budget.limits().nodes {
            Some(_) => 2 + BEAMS,
            None => 2 + WIDEN_AFTER * (WIDEST / NARROW).ilog2(),
        };
        if finished == last {
            break;
        }
    }
    finished
}

/// Of beam number `beam` (1 is the narrow one): a node limit is shared out, without one beams grow.
fn plan<'a>(beam: u32, profile: &'a [u64], budget: &Budget) -> Plan<'a> {
    match budget.limits().nodes {
        _ if beam == 1 => Plan { width: NARROW, spend: None },
        None => Plan { width: NARROW << (beam - 1).div_ceil(WIDEN_AFTER), spend: None },
        Some(nodes) => {
            let used = budget.nodes();
            let share = nodes.saturating_sub(used) / u64::from(2 + BEAMS - beam);
            Plan { width: WIDEST, spend: Some((used + share, profile, NARROW)) }
        }
    }
}

/// Round 1: one greedy game for each candidate.
fn greedy_games(lines: &Lines, view: &View, budget: &Budget) -> Result<Vec<Line>, Stopped> {
    fn run<const N: usize, G: Ground<N>>(view: &View, budget: &Budget) -> Result<Vec<Line>, Stopped> {
        let start = Play::<N, G>::new(view.board());
        let mut play = start.clone();
        let game = |first| {
            let mut line = Line::default();
            let mut stopped = budget.tick();
            play.copy(&start);
            line.push(first);
            play.advance_unordered(first);
            finish_greedily(&mut play, view.ruleset().count, |spot| {
                line.push(spot);
                stopped = stopped.and_then(|()| budget.tick());
            });
            stopped.map(|()| line)
        };
        start.spots().iter().map(game).collect()
    }
    debug_assert!(!lines.moves.is_empty(), "a view without a move is not decided on");
    sized!(view.board(), run(view, budget))
}

fn beam_round(lines: &Lines, view: &View, stir: u64, plan: Plan<'_>, budget: &Budget) -> Result<Round, Stopped> {
    fn run<const N: usize, G: Ground<N>>(task: Task<'_>, plan: Plan<'_>, budget: &Budget) -> Result<Round, Stopped> {
        beam::round::<N, G>(task, plan, budget)
    }
    let firsts: Vec<u32> = lines.moves.iter().map(|mv| mv.rectangle.place()).collect();
    let known: Vec<u32> = (0..firsts.len()).map(|place| lines.score(place)).collect();
    let task = Task { board: view.board(), firsts: &firsts, known: &known, taste: Taste::new(view.board(), stir) };
    sized!(view.board(), run(task, plan, budget))
}
