//! The terms: shares of one player, each measuring one fact about the board. The two players' shares of a term add up
//! to 1, so none measures a cost. Geometry uses walls only; pieces block only where said.

use super::board::{Board, Cells, each};
use super::rules::{Position, Rules};
use super::survey::{Counts, Survey, each_gate};
use crate::bot::{TermSet, Unit, Weights};

crate::terms! {
    /// Territory, access, mobility, waiting moves, chokepoints, the turn; and how many pieces still compete.
    pub WallgoTerms, Term {
        Territory territory: Good, "Half plus the lead in walled-in cells over 98.";
        Decided decided: Good, "Half plus the lead over twice the cells still contested: 1 when the lead can no longer be caught.";
        Fronts fronts: Good, "Mean over contested regions: 1, one half, 0 where I am nearer to more, as many, fewer of the cells.";
        Majority majority: Good, "Half plus half the difference of how far each side is on the way to a majority of the cells.";
        Distance distance: Good, "Mean over contested cells: 1, one half, 0 where my nearest piece is nearer, as near, farther in steps.";
        TurnDistance turn_distance: Good, "The same in turns of up to two steps.";
        Mobility mobility: Good, "Share of the cells that pieces in contested regions can move to.";
        Actions actions: Good, "Share of the building actions, each side counted as if it were to move.";
        Reserve reserve: Good, "Share of the walls that can be built at home without losing a cell.";
        CanPass can_pass: Good, "1 when only I have a boxed piece, 0 when only they have, else one half.";
        Gates gates: Good, "Share of the splitting walls that raise my lead against those that lower it.";
        Exits exits: Good, "Share of the open sides of pieces in contested regions.";
        Turn turn: Good, "1 when I move next.";
        Active active: Good, "Half plus an eighth of the difference of pieces in contested regions.";
    }
}

/// The thirteen terms of `easy`.
pub const ALL_THIRTEEN: [(usize, f64); 13] = [
    (Term::Territory as usize, 0.22),
    (Term::Decided as usize, 0.08),
    (Term::Fronts as usize, 0.04),
    (Term::Majority as usize, 0.06),
    (Term::Distance as usize, 0.16),
    (Term::TurnDistance as usize, 0.16),
    (Term::Mobility as usize, 0.06),
    (Term::Actions as usize, 0.04),
    (Term::Reserve as usize, 0.04),
    (Term::CanPass as usize, 0.01),
    (Term::Gates as usize, 0.04),
    (Term::Exits as usize, 0.06),
    (Term::Turn as usize, 0.03),
];

/// The terms cheap enough for a leaf of a search, as `normal` weighs them.
pub const FAST: [(usize, f64); 7] = [
    (Term::Territory as usize, 0.34),
    (Term::Decided as usize, 0.10),
    (Term::Majority as usize, 0.06),
    (Term::Distance as usize, 0.22),
    (Term::TurnDistance as usize, 0.22),
    (Term::Exits as usize, 0.03),
    (Term::Turn as usize, 0.03),
];

/// Names of the stages of [`STAGE_ROWS`].
pub const STAGES: [&str; 8] =
    ["walls0", "walls7", "walls14", "walls21", "walls28", "walls35", "walls42", "walls49"];

/// Terms of [`STAGE_ROWS`], in the order of its columns.
pub const STAGE_TERMS: [usize; 8] = [
    Term::Territory as usize,
    Term::Decided as usize,
    Term::Majority as usize,
    Term::Distance as usize,
    Term::TurnDistance as usize,
    Term::Exits as usize,
    Term::Active as usize,
    Term::Turn as usize,
];

/// Weights by stage, fitted to self-play: stage = min(7, walls on the board / 7).
pub const STAGE_ROWS: [[f64; 8]; 8] = [
    [0.002, 0.001, 0.002, 0.113, 0.203, 0.219, 0.438, 0.022],
    [0.061, 0.077, 0.058, 0.167, 0.200, 0.159, 0.253, 0.025],
    [0.113, 0.181, 0.108, 0.179, 0.177, 0.087, 0.136, 0.019],
    [0.132, 0.196, 0.102, 0.194, 0.194, 0.074, 0.091, 0.017],
    [0.105, 0.292, 0.055, 0.215, 0.190, 0.053, 0.074, 0.016],
    [0.063, 0.370, 0.028, 0.244, 0.177, 0.008, 0.096, 0.014],
    [0.040, 0.380, 0.034, 0.269, 0.129, 0.000, 0.133, 0.015],
    [0.061, 0.251, 0.144, 0.188, 0.119, 0.000, 0.232, 0.005],
];

/// The weights of one stage.
pub fn stage_weights(stage: usize) -> Weights<WallgoTerms> {
    let pairs: Vec<(usize, f64)> = STAGE_TERMS.iter().copied().zip(STAGE_ROWS[stage]).collect();
    Weights::of(&pairs).at_stage(stage as u8)
}

/// The terms that a set of weights shows.
pub fn shown(pairs: &[(usize, f64)]) -> TermSet {
    Weights::<WallgoTerms>::of(pairs).shown()
}

/// `a / (a + b)`; one half of nothing.
#[inline]
fn share(a: u32, b: u32) -> Unit {
    if a + b == 0 { Unit::HALF } else { Unit::clamp(f64::from(a) / f64::from(a + b)) }
}

/// 1 / n, and 0 for n = 0. A leaf of a search cannot afford to divide five times; 128 cover every count.
const RECIPROCALS: [f64; 128] = {
    let mut table = [0.0; 128];
    let mut n = 1;
    while n < 128 {
        table[n] = 1.0 / n as f64;
        n += 1;
    }
    table
};

/// 1 / n for n below 128; 0 for 0.
#[inline(always)]
fn reciprocal(n: u32) -> f64 {
    RECIPROCALS[(n & 127) as usize]
}

/// Mean over `whole` cells of 1, one half and 0, where `difference` of them more are 1 than 0; one half over nothing.
/// Never beyond 0..=1: n * (1 / n) does not round up past 1.
#[inline(always)]
fn mean(difference: i32, whole: u32) -> f64 {
    0.5 + 0.5 * f64::from(difference) * reciprocal(whole)
}

/// Values of the fast terms but [`AccessValues`].
pub(super) struct FastValues {
    pub territory: f64,
    pub decided: f64,
    pub majority: f64,
    pub turn: f64,
    pub active: f64,
}

/// Values of those that a turn changes although it parts no region.
pub(super) struct AccessValues {
    pub distance: f64,
    pub turn_distance: f64,
    pub exits: f64,
}

/// Access and exits.
#[inline(always)]
pub(super) fn access_values(counts: &Counts) -> AccessValues {
    let mixed = u32::from(counts.mixed);
    let (mine, yours) = (i32::from(counts.exits[0]), i32::from(counts.exits[1]));
    AccessValues {
        distance: mean(i32::from(counts.nearer), mixed),
        turn_distance: mean(i32::from(counts.sooner), mixed),
        exits: mean(mine - yours, (mine + yours) as u32),
    }
}

/// What counts tell: for the leaves of a search, so no division and no branch that guesses.
#[inline(always)]
pub(super) fn fast_values(counts: &Counts) -> FastValues {
    let (lead, mixed) = (counts.lead(), u32::from(counts.mixed));
    let (mine, yours) = (u32::from(counts.mine), u32::from(counts.yours));
    let need = (mine + yours + mixed) / 2 + 1;
    let progress = |cells: u32| f64::from(cells.min(need) as i32) * reciprocal(need);
    let decided = if mixed == 0 { 0.5 + 0.5 * f64::from(lead.signum()) } else { mean(lead, mixed).clamp(0.0, 1.0) };
    let (my_active, your_active) = (i32::from(counts.active[0]), i32::from(counts.active[1]));
    FastValues {
        territory: 0.5 + f64::from(lead) * (1.0 / 98.0),
        decided,
        majority: 0.5 + (progress(mine) - progress(yours)) * 0.5,
        turn: f64::from(i32::from(counts.next)),
        active: 0.5 + f64::from(my_active - your_active) * 0.125,
    }
}

impl WallgoTerms {
    /// The terms that counts tell; the others stay 0.
    pub fn fast(counts: &Counts) -> Self {
        let (values, access) = (fast_values(counts), access_values(counts));
        Self {
            territory: Unit::clamp(values.territory),
            decided: Unit::clamp(values.decided),
            majority: Unit::clamp(values.majority),
            distance: Unit::clamp(access.distance),
            turn_distance: Unit::clamp(access.turn_distance),
            exits: Unit::clamp(access.exits),
            turn: Unit::clamp(values.turn),
            active: Unit::clamp(values.active),
            ..Self::default()
        }
    }

    /// All terms of `me` on a position as it stands.
    pub fn full(rules: &Rules, position: &Position, me: usize) -> Self {
        let board = &position.board;
        let survey = Survey::of(board);
        let counts = survey.counts(board, me, position.mover() == me);
        let you = 1 - me;
        let boxed = |player: usize| board.boxed(board.pieces[player]) != 0;
        Self {
            fronts: fronts(board, &survey, me),
            mobility: share(mobility(board, &survey, me), mobility(board, &survey, you)),
            actions: share(builds(rules, position, me), builds(rules, position, you)),
            reserve: share(reserve(board, survey.territory.pure[me]), reserve(board, survey.territory.pure[you])),
            can_pass: match (boxed(me), boxed(you)) {
                (true, false) => Unit::ONE,
                (false, true) => Unit::ZERO,
                _ => Unit::HALF,
            },
            gates: gates(board, survey.territory.mixed, me),
            ..Self::fast(&counts)
        }
    }

    /// Every term at one value: a leaf whose value is set by rule.
    pub const fn level(value: Unit) -> Self {
        Self {
            territory: value,
            decided: value,
            fronts: value,
            majority: value,
            distance: value,
            turn_distance: value,
            mobility: value,
            actions: value,
            reserve: value,
            can_pass: value,
            gates: value,
            exits: value,
            turn: value,
            active: value,
        }
    }
}

fn fronts(board: &Board, survey: &Survey, me: usize) -> Unit {
    let (mut difference, mut regions) = (0, 0);
    for region in board.regions(survey.territory.mixed) {
        let near = |player: usize| (survey.nearer[player] & region).count_ones();
        difference += near(me).cmp(&near(1 - me)) as i32;
        regions += 1;
    }
    Unit::clamp(mean(difference, regions))
}

/// Distinct cells that the pieces of `player` in mixed regions can move to. Walls and pieces block; the own cell counts
/// when a round trip exists.
fn mobility(board: &Board, survey: &Survey, player: usize) -> u32 {
    let empty = board.empty();
    let mut reached: Cells = 0;
    for piece in each(board.pieces[player] & survey.territory.mixed) {
        let destinations = board.destinations(piece.bit(), empty);
        reached |= destinations;
        if destinations != 0 {
            reached |= piece.bit();
        }
    }
    reached.count_ones()
}

fn builds(rules: &Rules, position: &Position, player: usize) -> u32 {
    let mut builds = 0;
    position.each_turn(rules, player, |turn| builds += u32::from(turn.wall().is_some()));
    builds
}

/// Walls that fit into the pure regions `pure` before a cell is lost: open edges minus cells without a piece (L7).
fn reserve(board: &Board, pure: Cells) -> u32 {
    let pieces = (board.pieces[0] | board.pieces[1]) & pure;
    (board.edges_in(pure) + pieces.count_ones()).saturating_sub(pure.count_ones())
}

fn gates(board: &Board, mixed: Cells, me: usize) -> Unit {
    let sign = if me == 0 { 1 } else { -1 };
    let (mut raising, mut lowering) = (0, 0);
    each_gate(board, mixed, |change| match (change * sign).signum() {
        1 => raising += 1,
        -1 => lowering += 1,
        _ => {}
    });
    share(raising, lowering)
}
