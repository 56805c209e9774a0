//! What the searching policies share: the static table, rounds of deepening, and rows made from lines.

use std::sync::Arc;
use std::time::Duration;

use super::easy::{END, PASSES_WHILE_BUILDING, is_pass, position_facts};
use crate::bot::policy::Heeds;
use crate::bot::{
    self, About, Bound, Budget, Evaluated, Evaluation, Limits, Policy, PolicyKind, Proof, Round, Standing, Stopped, TermSet,
    WeightTable, Weights, WeightsError, deepen,
};
use crate::games::wallgo::Wallgo;
use crate::games::wallgo::action::{Move, Turn};
use crate::games::wallgo::board::Cell;
use crate::games::wallgo::ending::{self, Ending, Halt, Tree};
use crate::games::wallgo::family::Family;
use crate::games::wallgo::leaf::{FastWeights, Judge, Kind, Leaf, PROVED};
use crate::games::wallgo::placing::{Placed, Placing, with};
use crate::games::wallgo::proof;
use crate::games::wallgo::rules::{Position, Setup, Stay, placements};
use crate::games::wallgo::search::{INFINITE, Search, Settings, as_move};
use crate::games::wallgo::terms::{FAST, STAGES, Term, WallgoTerms, stage_weights};
use crate::games::wallgo::view::{Phase, View};

/// Proof id: a lead that can no longer be caught (L5).
pub const COUNT: &str = "count";
/// A turn outside the width of a narrow search.
pub const OUTSIDE_WIDTH: &str = "outside_width";
/// Nodes are cheap: about a thousand take 0.1 ms.
const POLL_EVERY: u64 = 1024;
/// Mixed cells up to which endings are solved.
const ENDING_MIXED: u32 = 16;
/// Nodes that the endings may always use in a round.
const LEAST_SHARE: u64 = 20_000;
/// No round goes deeper.
const DEEPEST: u32 = 40;

/// A policy that searches.
#[derive(Clone)]
pub struct Searching {
    about: About,
    settings: Settings,
    /// One row, or one a stage.
    weights: Vec<Weights<WallgoTerms>>,
    /// Candidates that are looked into; none: all.
    width: Option<usize>,
    /// Plies after which it is done.
    deepest: u32,
    /// Placements of the setup that are looked ahead.
    placements: u32,
    /// Whether wins against every reply are proved and small endings solved.
    proves: bool,
}

/// One candidate while it is searched.
pub(crate) struct Row {
    mv: Move,
    after: Position,
    leaf: Leaf,
    line: Vec<Turn>,
    exact: bool,
    barred: Option<&'static str>,
    depth: u32,
    nodes: u64,
    score: f64,
    settled: bool,
    /// What a win next, whatever they do, wins at least; its line may end with more.
    least: Option<i32>,
    /// Proved by an exact ending.
    proved: Option<Standing>,
    /// Exact margins when the deciding side, or the other, never passes.
    floor: Option<i32>,
    ceiling: Option<i32>,
}

impl Row {
    /// The game is over after it, counting decides it, or it is capped: nothing to search.
    fn settled(&self) -> bool {
        self.settled
    }
}

const HEEDS: Heeds = Heeds { time: true, nodes: true, worlds: false, depth: true };

fn limits(nodes: u64, milliseconds: u64) -> Limits {
    Limits::nodes(nodes).with_time(Duration::from_millis(milliseconds))
}

impl Searching {
    fn new(summary: &'static str, default_limits: Limits, settings: Settings, weights: Vec<Weights<WallgoTerms>>) -> Self {
        let stages: &[&str] = if weights.len() > 1 { &STAGES } else { &[] };
        let about = About {
            version: 1,
            summary,
            kind: PolicyKind::Search,
            anytime: true,
            uses_seed: false,
            default_limits,
            heeds: HEEDS,
            terms: weights[0].shown(),
            aliases: &[],
            stages,
        };
        Self { about, settings, weights, width: None, deepest: DEEPEST, placements: 4, proves: false }
    }

    /// `normal`: safe against the next action, then three plies over its best candidates.
    pub fn normal() -> Self {
        let settings = Settings { counting: true, widths: Some([12, 8]), ..Settings::PLAIN };
        let summary = "Avoids actions that lose to the next one, then looks three plies ahead among the likely ones.";
        let policy = Self::new(summary, limits(150_000, 20), settings, vec![Weights::of(&FAST)]);
        Self { width: Some(24), deepest: 3, placements: 2, ..policy }
    }

    /// `expert`: every action, as deep as the budget goes.
    pub fn expert() -> Self {
        let summary = "Searches every action as deep as the budget goes, deeper in narrow and dangerous places.";
        Self::new(summary, limits(1_000_000, 100), EXPERT, stages())
    }

    /// `expert` with the weights of `normal`: what the weights by stage are measured against.
    pub fn expert_fast() -> Self {
        let summary = "Expert with one set of weights for the whole game.";
        Self::new(summary, limits(1_000_000, 100), EXPERT, vec![Weights::of(&FAST)])
    }

    /// `sedol`: `expert` with preparing turns, proofs and exact endings.
    pub fn sedol() -> Self {
        let summary = "Expert that also proves wins against every reply and solves small endings exactly.";
        let settings = Settings { reduce: true, ..EXPERT };
        Self { proves: true, ..Self::new(summary, limits(5_000_000, 500), settings, stages()) }
    }

    /// Alpha-beta with the fast terms and nothing else: an opponent for the arena.
    pub fn plain() -> Self {
        let summary = "Alpha-beta with the fast terms and nothing else.";
        Self::new(summary, limits(5_000_000, 500), Settings::PLAIN, vec![Weights::of(&FAST)])
    }

    /// The same search with other settings: what tests and measurements compare.
    #[must_use]
    pub fn with_settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    fn weights_at(&self, position: &Position) -> Weights<WallgoTerms> {
        let stage = (position.board.walls() as usize / 7).min(7);
        self.weights[stage.min(self.weights.len() - 1)]
    }
}

/// What `expert` does beside alpha-beta.
pub const EXPERT: Settings = Settings {
    table: true,
    killers: true,
    stretches: 2,
    stretch_mixed: 8,
    bridge: 12,
    reduce: false,
    counting: true,
    widths: None,
};

fn stages() -> Vec<Weights<WallgoTerms>> {
    (0..STAGES.len()).map(stage_weights).collect()
}

impl Policy<Wallgo> for Searching {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn evaluate(&self, view: &View, turn: &mut bot::Turn<'_>) -> Evaluated<Wallgo> {
        match view.phase() {
            Phase::Setup => self.place(view, turn),
            Phase::Play => self.play(view, turn),
        }
    }

    fn weights(&self) -> Vec<Weights<WallgoTerms>> {
        self.weights.clone()
    }

    fn tunable(&self) -> TermSet {
        self.about.terms
    }

    fn with_weights(&self, table: &WeightTable, _players: Option<u8>) -> Result<Arc<dyn Policy<Wallgo>>, WeightsError> {
        let stages = if self.about.stages.is_empty() { &["all"][..] } else { self.about.stages };
        Ok(Arc::new(Self { weights: table.resolve(stages, self.about.terms)?, ..self.clone() }))
    }
}

impl Searching {
    fn play(&self, view: &View, turn: &mut bot::Turn<'_>) -> Evaluated<Wallgo> {
        let (rules, position) = (view.rules(), view.position());
        let weights = self.weights_at(position);
        let fast = FastWeights::of(&weights);
        turn.budget.poll_every(POLL_EVERY);
        let counting = self.settings.counting && rules.stay == Stay::Always;
        let judge = Judge { rules, me: position.mover(), counting };
        let mut rows = self.rows(view, &judge, &fast);
        let floor = publish(&rows, position, &weights);
        let nodes = turn.budget.limits().nodes;
        let mut search = Search::new(rules, position.mover(), fast, self.settings, turn.budget, nodes);
        let mixed = position.board.territory().mixed.count_ones();
        let mut endings = (self.proves && mixed <= ENDING_MIXED && ending::knows(rules)).then(|| {
            [Tree::Floor, Tree::Ceiling].map(|tree| Ending::new(rules, position.mover(), tree, turn.budget, 0))
        });
        deepen(floor, turn, |depth, _, turn| {
            if self.proves && depth == 2 {
                self.win_next(&judge, &mut rows, turn.budget)?;
            }
            if let Some(endings) = endings.as_mut().filter(|_| depth >= 2) {
                solve(endings, &mut rows, turn.budget)?;
            }
            let last = self.round(&mut search, &mut rows, depth, turn)?;
            let table = publish(&rows, position, &weights);
            Ok(if last { Round::Last(table) } else { Round::Deeper(table) })
        })
    }

    /// Every candidate, judged one ply away.
    fn rows(&self, view: &View, judge: &Judge<'_>, fast: &FastWeights) -> Vec<Row> {
        let (rules, position) = (view.rules(), view.position());
        let building = position.can_build(rules, position.mover());
        let family = Family::of(*judge, *fast, position);
        let row = |mv: Move| {
            let after = position.after(mv);
            let (mut score, mut leaf) = match mv {
                Move::Turn(turn) => family.judged(turn, 1),
                _ => judge.judged(fast, &after, 1),
            };
            // A pass that answers a pass brings the root's board back: no gain may be seen in that.
            if after.passes >= 2 && score > 0.5 && leaf.kind() == Kind::Open {
                leaf = leaf.of_kind(Kind::Half);
                score = fast.value(leaf);
            }
            let barred = (building && is_pass(mv)).then_some(PASSES_WHILE_BUILDING);
            let settled = leaf.kind() != Kind::Open;
            Row { mv, after, leaf, line: Vec::new(), exact: true, barred, depth: 0, nodes: 0, score, settled, least: None, proved: None, floor: None, ceiling: None }
        };
        position.candidates(rules).into_iter().map(row).collect()
    }

    /// One round of deepening. True when there is nothing left to find.
    fn round(
        &self,
        search: &mut Search<'_>,
        rows: &mut [Row],
        depth: u32,
        turn: &mut bot::Turn<'_>,
    ) -> Result<bool, Stopped> {
        search.age();
        let mut order: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].barred.is_none()).collect();
        // Stable: equal scores stay in the order of their slots.
        order.sort_by(|a, b| rows[*b].score.total_cmp(&rows[*a].score));
        if depth == 1 {
            for &at in &order {
                turn.budget.tick()?;
                rows[at].nodes = 1;
                rows[at].depth = 1;
            }
            return Ok(order.iter().any(|at| rows[*at].leaf.kind() == Kind::EndWon));
        }
        if let (Some(width), 3) = (self.width, depth) {
            let open: Vec<usize> = order.iter().copied().filter(|at| rows[*at].leaf.kind() == Kind::Open).collect();
            for &at in open.iter().skip(width) {
                rows[at].barred = Some(OUTSIDE_WIDTH);
            }
            order.retain(|at| rows[*at].barred.is_none());
        }
        let settled = order.iter().filter(|at| rows[**at].settled()).map(|at| rows[*at].score);
        let mut best = settled.fold(-INFINITE, f64::max);
        let mut searched = Vec::with_capacity(order.len());
        for &at in order.iter().filter(|at| !rows[**at].settled()) {
            let nodes = turn.budget.nodes();
            turn.budget.tick()?;
            let found = self.candidate(search, &rows[at], depth, best, searched.is_empty())?;
            best = best.max(found.score);
            searched.push((at, Found { nodes: turn.budget.nodes() - nodes, ..found }));
        }
        // The round is complete: publish it whole.
        for (at, found) in searched {
            let row = &mut rows[at];
            row.nodes = found.nodes;
            row.depth = depth;
            // An upper limit that is a win says nothing: it counts as 1, behind the win that set the limit.
            let nothing = !found.exact && matches!(found.leaf.kind(), Kind::EndWon | Kind::CountWon);
            row.leaf = if nothing { found.leaf.of_kind(Kind::One) } else { found.leaf };
            row.score = found.score;
            row.exact = found.exact;
            row.line = found.line;
        }
        Ok(depth >= self.deepest || done(rows, depth))
    }

    /// Looks for candidates after which every reply loses to the next action: first among the best, then, while less
    /// than a third of the budget is used, among the rest.
    fn win_next(&self, judge: &Judge<'_>, rows: &mut [Row], budget: &Budget) -> Result<(), Stopped> {
        let limits = budget.limits().nodes.or(self.about.default_limits.nodes);
        let mut share = limits.unwrap_or(u64::MAX) / 10 * 3;
        let mut order: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].barred.is_none()).collect();
        order.sort_by(|a, b| rows[*b].score.total_cmp(&rows[*a].score));
        order.retain(|at| matches!(rows[*at].leaf.kind(), Kind::Open | Kind::CountWon));
        for at in order {
            let row = &mut rows[at];
            match proof::won_next(judge, &row.after, budget, &mut share) {
                Ok(Some(won)) => {
                    row.leaf = won.leaf;
                    row.line = won.line;
                    row.least = Some(won.margin);
                    row.score = 11.0 - f64::from(won.leaf.plies()) * 0.01;
                    row.settled = true;
                }
                Ok(None) => {}
                Err(Halt::Share) => break,
                Err(Halt::Stopped(stopped)) => return Err(stopped),
            }
        }
        Ok(())
    }

    /// The table of a setup decision: every placement, looked ahead as far as the setup and the budget go.
    fn place(&self, view: &View, turn: &mut bot::Turn<'_>) -> Evaluated<Wallgo> {
        let (rules, position, placed) = (view.rules(), view.position(), view.placed());
        let me = position.mover();
        let left = (rules.setup.order().len() - placed) as u32;
        let reach = left.min(self.placements).min(if rules.setup == Setup::FreeAbbaabba { 3 } else { 4 });
        let active = (Term::Active as usize, 0.0);
        let shows_active = self.about.terms.contains(active.0);
        // Fitted weights are for boards with all eight stones; before that the fast column, with `active` at 0.
        let weights_at = |depth: u32| {
            let fast = Weights::of(&FAST);
            if depth == left || !shows_active {
                return self.weights[0];
            }
            fast.set(active.0, active.1)
        };
        let cells: Vec<Cell> = placements(&position.board).collect();
        let table = |depth: u32, found: &[(Placed, u64)]| {
            let weights = weights_at(depth.max(1));
            let rows = cells.iter().zip(found).map(|(cell, (placed, nodes))| {
                let line = std::iter::once(*cell).chain(placed.line().iter().copied()).map(Move::Place).collect();
                Evaluation::weigh(Move::Place(*cell), WallgoTerms::fast(&placed.counts), &weights)
                    .line(line)
                    .fact("depth", f64::from(depth), "plies")
                    .fact("nodes", *nodes as f64, "nodes")
            });
            position_facts(Evaluated::new(rows.collect()), position)
        };
        let fast_at = |depth: u32| FastWeights::of(&weights_at(depth));
        let still = Placing { rules, me, weights: fast_at(1), budget: turn.budget };
        let now = |cell: &Cell| (still.still(&with(&position.board, me, *cell), placed + 1), 0);
        let floor = table(0, &cells.iter().map(now).collect::<Vec<_>>());
        turn.budget.poll_every(POLL_EVERY);
        deepen(floor, turn, |depth, _, turn| {
            let search = Placing { rules, me, weights: fast_at(depth), budget: turn.budget };
            let mut found = Vec::with_capacity(cells.len());
            for cell in &cells {
                let nodes = turn.budget.nodes();
                turn.budget.tick()?;
                let board = with(&position.board, me, *cell);
                let value = search.value(&board, placed + 1, depth - 1, 0.0, 1.0)?;
                found.push((value, turn.budget.nodes() - nodes));
            }
            let table = table(depth, &found);
            Ok(if depth >= reach { Round::Last(table) } else { Round::Deeper(table) })
        })
    }

    fn candidate(
        &self,
        search: &mut Search<'_>,
        row: &Row,
        depth: u32,
        best: f64,
        first: bool,
    ) -> Result<Found, Stopped> {
        let (below, stretches) = ((depth - 1) as u8, self.settings.stretches);
        let narrow = !first && self.width.is_none();
        let mut found = (0.0, Leaf(0));
        if narrow {
            found = search.node(&row.after, below, -best.next_up(), -best, 1, stretches)?;
        }
        let exact = !narrow || -found.0 > best;
        if exact {
            found = search.node(&row.after, below, -INFINITE, if narrow { -best } else { INFINITE }, 1, stretches)?;
        }
        let mut line = search.line().to_vec();
        search.complete(&row.after, &mut line, found.1);
        Ok(Found { score: -found.0, leaf: found.1, line, exact, nodes: 0 })
    }
}

/// Solves the ending behind every candidate, as far as a share of nodes goes that grows with the work done.
fn solve(endings: &mut [Ending<'_>; 2], rows: &mut [Row], budget: &Budget) -> Result<(), Stopped> {
    let share = budget.nodes().max(LEAST_SHARE) / 2;
    endings.iter_mut().for_each(|ending| ending.grant(share));
    let [floors, ceilings] = endings;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| rows[*b].score.total_cmp(&rows[*a].score));
    for at in order {
        let row = &mut rows[at];
        let passed = row.barred.is_some();
        if row.leaf.plies() == 1 {
            (row.floor, row.ceiling) = (Some(row.leaf.margin()), Some(row.leaf.margin()));
            continue;
        }
        for (ending, known) in [(&mut *floors, &mut row.floor), (&mut *ceilings, &mut row.ceiling)] {
            if known.is_none() {
                match ending.margin(&row.after) {
                    Ok(margin) => *known = Some(margin),
                    Err(Halt::Share) => return Ok(()),
                    Err(Halt::Stopped(stopped)) => return Err(stopped),
                }
            }
        }
        let proof = |margin: i32| Proof { in_plies: None, margin, how: END };
        let (score, standing) = match (row.floor, row.ceiling) {
            // A pass belongs to the ceiling only: the floor is about never passing.
            (Some(floor), _) if floor > 0 && !passed => (8.0 + f64::from(floor) * 0.0001, Standing::Won(proof(floor))),
            (_, Some(ceiling)) if ceiling < 0 => (-8.0 + f64::from(ceiling) * 0.0001, Standing::Lost(proof(ceiling))),
            (Some(0), Some(0)) => (0.5, Standing::Drawn(proof(0))),
            _ => continue,
        };
        // What a shorter proof or counting says already stays.
        if row.settled {
            continue;
        }
        row.settled = true;
        row.exact = true;
        row.score = score;
        row.proved = Some(standing);
        if matches!(standing, Standing::Drawn(_)) {
            row.leaf = row.leaf.of_kind(Kind::Half);
            row.line.clear();
        } else if !matches!(row.leaf.kind(), Kind::Open) {
            row.leaf = row.leaf.of_kind(Kind::Open);
        }
    }
    Ok(())
}

struct Found {
    score: f64,
    leaf: Leaf,
    line: Vec<Turn>,
    exact: bool,
    nodes: u64,
}

/// Whether deeper rounds can change nothing that matters.
fn done(rows: &[Row], depth: u32) -> bool {
    let open = || rows.iter().filter(|row| row.barred.is_none());
    let best = open().max_by(|a, b| a.score.total_cmp(&b.score));
    let won = best.is_some_and(|row| match row.leaf.kind() {
        _ if matches!(row.proved, Some(Standing::Won(_))) => true,
        Kind::EndWon => row.leaf.plies() <= depth,
        // A few plies more may find a shorter way; then enough.
        Kind::CountWon => depth >= 4,
        _ => false,
    });
    won || open().all(|row| row.score < -PROVED) || open().count() == 1 && depth >= 3
}

/// The table of what the rows know.
fn publish(rows: &[Row], position: &Position, weights: &Weights<WallgoTerms>) -> Evaluated<Wallgo> {
    let made = rows.iter().map(|row| {
        let standing = row.proved.unwrap_or_else(|| standing(row));
        let mut made = Evaluation::weigh(row.mv, row.leaf.terms(), weights)
            .standing(standing)
            .bound(if row.exact { Bound::Exact } else { Bound::AtMost })
            .fact("depth", f64::from(row.depth), "plies")
            .fact("nodes", row.nodes as f64, "nodes");
        for (id, margin) in [("floor", row.floor), ("ceiling", row.ceiling)] {
            if let Some(margin) = margin.filter(|_| row.floor.is_some() && row.ceiling.is_some()) {
                made = made.fact(id, f64::from(margin), "cells");
            }
        }
        if !row.line.is_empty() {
            let line = std::iter::once(row.mv).chain(row.line.iter().map(|turn| as_move(*turn)));
            made = made.line(line.collect());
        }
        match row.barred {
            Some(why) => made.barred(why),
            None => made,
        }
    });
    let mut table = position_facts(Evaluated::new(made.collect()), position);
    // Of the position: the best building action's floor, the best action's ceiling.
    let all = rows.iter().all(|row| row.floor.is_some() && row.ceiling.is_some());
    let floors = rows.iter().filter(|row| row.barred.is_none()).filter_map(|row| row.floor);
    if let (true, Some(floor), Some(ceiling)) = (all, floors.max(), rows.iter().filter_map(|row| row.ceiling).max()) {
        table = table.fact("floor", f64::from(floor), "cells").fact("ceiling", f64::from(ceiling), "cells");
    }
    table
}

/// What a row proves. An upper limit proves losses only; a drawn end proves nothing unless it is the next board.
fn standing(row: &Row) -> Standing {
    let leaf = row.leaf;
    let margin = row.least.unwrap_or_else(|| leaf.margin());
    let end = Proof { in_plies: Some(leaf.plies() as u16), margin, how: END };
    let count = Proof { in_plies: None, margin: leaf.margin(), how: COUNT };
    match leaf.kind() {
        Kind::EndWon if row.exact => Standing::Won(end),
        Kind::CountWon if row.exact => Standing::Won(count),
        Kind::EndLost => Standing::Lost(end),
        Kind::CountLost => Standing::Lost(count),
        Kind::EndDrawn if row.exact && leaf.plies() == 1 => Standing::Drawn(end),
        _ => Standing::Open,
    }
}
