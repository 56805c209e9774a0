//! The terms of Lexio: what a row of the table is weighed by, one pure function each. The signature says what a term
//! may read; no two terms read the same source, but for the overlaps named here:
//!
//! `progress` and `tempo_risk` both move with the number of tiles played. For singles `lead` and `strong_tile_cost` are
//! equal whenever the unseen tiles decide. `plan_gain` and `control_gain` both read the plan: the fit leaves the former
//! nothing beside the latter.

use super::meld::{Meld, MeldKind};
use super::tile::TileSet;
use super::unseen::Unseen;
use crate::bot::Unit;

crate::terms! {
    /// The terms of all Lexio policies; each policy shows those it names.
    pub LexioTerms, LexioTerm {
        Preference preference: Good, "1 - i/n for the i-th of n moves in the order of preference, from 0.";
        Progress progress: Good, "Share of the hand that this move sheds.";
        PlanGain plan_gain: Good, "How well the move keeps to the fewest melds that use up the hand; 1 when it does.";
        Lead lead: Good, "1 when nobody can answer for certain, else the estimated chance of that.";
        StrongTileCost strong_tile_cost: Cost, "Share of the tiles played that are above every unseen tile.";
        TempoRisk tempo_risk: Cost, "My tiles after the move against those of the shortest other hand: mine/(mine+theirs).";
        TwosShed twos_shed: Good, "Share of my 2s that the move sheds; weighs more as somebody nears the end.";
        Deny deny: Good, "1 when the shortest other hand cannot answer; weighs more as somebody nears the end.";
        ControlGain control_gain: Good, "How few losing melds the move leaves in the plan: a loser played 1, a winner 2/3.";
        TileCost tile_cost: Cost, "Mean share of unseen tiles that the tiles played would beat.";
        SingleStrength single_strength: Good, "Estimated chance that a single wins its trick; 0 for larger melds.";
        PassBaseline pass_baseline: Free, "1 for the pass alone: what a play must be worth to be made.";
        Settlement settlement: Good, "Mean net chips over sampled worlds, as a share: 0.5 + chips/2048.";
        Offset offset: Free, "1 in every row: moves the zero of `settlement`, so that totals read in chips.";
    }
}

/// Share of the hand that a play of `shed` tiles sheds. Part 5, section 3.
pub fn progress(shed: u32, held: u32) -> Unit {
    Unit::ratio(shed, held)
}

/// Reads the plan and nothing else: `turns` for the hand, `remaining` for what the play leaves. Part 5, section 4.
pub fn plan_gain(turns: u8, remaining: u8) -> Unit {
    let extra = (u32::from(remaining) + 1).saturating_sub(u32::from(turns));
    Unit::ratio(u32::from(turns).saturating_sub(extra), u32::from(turns))
}

/// 1 for a play that is `certain` to win its trick; else `chance` of it, cut below 1; for singles only the proof counts.
pub fn lead(certain: bool, kind: MeldKind, chance: f64) -> Unit {
    match kind {
        _ if certain => Unit::ONE,
        MeldKind::Single => Unit::ZERO,
        MeldKind::Pair | MeldKind::Triple => Unit::clamp(0.99 * chance),
        _ => Unit::clamp(chance),
    }
}

/// Reads the tiles, not the counts: what is above every unseen tile leads tricks and ends rounds. Part 5, section 5.
pub fn strong_tile_cost(meld: TileSet, unseen: TileSet) -> Unit {
    let strong = unseen.highest().map_or(meld, |highest| meld.above(highest));
    Unit::ratio(strong.len(), meld.len())
}

/// Reads counts, not the plan: `mine` tiles left after the move, `theirs` in the shortest other hand. Part 5, section 6.
pub fn tempo_risk(mine: u32, theirs: u8) -> Unit {
    Unit::ratio(mine, mine + u32::from(theirs))
}

/// Share of the 2s in `hand` that `meld` sheds; 0 when there is none.
pub fn twos_shed(meld: TileSet, hand: TileSet) -> Unit {
    Unit::ratio(meld.rank(14).len(), hand.rank(14).len())
}

/// Whether the shortest other hand, of `theirs` tiles, cannot answer: too few tiles, or nothing stronger unseen.
pub fn deny(meld: &Meld, unseen: &Unseen, theirs: u8) -> Unit {
    Unit::flag(meld.count() > u32::from(theirs) || !unseen.beats(meld))
}

/// Expected losers of the plan `before` and `after` the play: each loser a play creates costs a third.
pub fn control_gain(before: f64, after: f64) -> Unit {
    Unit::clamp((2.0 + before - after) / 3.0)
}

/// Mean over the tiles played of the share of unseen tiles below them.
pub fn tile_cost(meld: TileSet, unseen: TileSet) -> Unit {
    let below: u32 = meld.into_iter().map(|tile| unseen.below(tile).len()).sum();
    Unit::ratio(below, meld.len() * unseen.len())
}

/// The chance of a single to win its trick.
pub fn single_strength(kind: MeldKind, chance: f64) -> Unit {
    if kind == MeldKind::Single { Unit::clamp(chance) } else { Unit::ZERO }
}
