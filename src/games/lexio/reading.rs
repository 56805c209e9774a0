//! A view, read once for a decision: what is unseen, the plan, how urgent it is; and from these the terms of any move.

use super::Move;
use super::chances::Chances;
use super::meld::Meld;
use super::plan::Plan;
use super::terms::{self, LexioTerms};
use super::unseen::Unseen;
use super::view::View;
use crate::bot::{Evaluated, Proof, Standing, Unit};

/// Names of the stages of weights: leading or following, by the tiles of the shortest other hand (up to the number).
pub const STAGES: [&str; 8] =
    ["lead_2", "lead_4", "lead_7", "lead_8", "follow_2", "follow_4", "follow_7", "follow_8"];

/// What a term sum knows about a position.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    view: &'a View,
    unseen: Unseen,
    plan: Plan,
    theirs: u8,
}

impl<'a> Reading<'a> {
    /// Reads a view.
    pub fn of(view: &'a View) -> Self {
        let unseen = Unseen::of(view);
        Self { view, unseen, plan: Plan::of(view.hand(), &unseen), theirs: unseen.theirs() }
    }

    /// What is unseen.
    pub const fn unseen(&self) -> &Unseen {
        &self.unseen
    }

    /// The plan of the hand.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Chances against what is unseen, fives included even if I hold none.
    pub fn chances_with_fives(&self) -> Chances {
        Chances::of(&self.unseen, true)
    }

    /// How near the end the shortest other hand is: 0 from five tiles on, 1 at one.
    pub fn urgency(&self) -> f64 {
        ((5.0 - f64::from(self.theirs)) / 4.0).clamp(0.0, 1.0)
    }

    /// Row of the weight table.
    pub const fn stage(&self) -> u8 {
        let by_count = match self.theirs {
            0..=2 => 0,
            3..=4 => 1,
            5..=7 => 2,
            _ => 3,
        };
        if self.view.table().is_none() { by_count } else { by_count + 4 }
    }

    /// Every term of a move that is a matter of the view alone, and the fewest melds that use up what it leaves.
    pub fn terms(&mut self, mv: &Move) -> (LexioTerms, Option<u8>) {
        let hand = self.view.hand();
        let Move::Play(meld) = mv else {
            let terms = LexioTerms {
                tempo_risk: terms::tempo_risk(hand.len(), self.theirs),
                pass_baseline: Unit::ONE,
                ..LexioTerms::default()
            };
            return (terms, None);
        };
        let before = self.plan.whole();
        let after = self.plan.without(meld.tiles());
        let (tiles, unseen) = (meld.tiles(), self.unseen.tiles());
        let chance = self.plan.chances().win(meld);
        let terms = LexioTerms {
            progress: terms::progress(meld.count(), hand.len()),
            plan_gain: terms::plan_gain(before.turns, after.turns),
            lead: terms::lead(self.certain(meld), meld.kind(), chance),
            strong_tile_cost: terms::strong_tile_cost(tiles, unseen),
            tempo_risk: terms::tempo_risk(hand.len() - meld.count(), self.theirs),
            twos_shed: terms::twos_shed(tiles, hand),
            deny: terms::deny(meld, &self.unseen, self.theirs),
            control_gain: terms::control_gain(before.losers, after.losers),
            tile_cost: terms::tile_cost(tiles, unseen),
            single_strength: terms::single_strength(meld.kind(), chance),
            ..LexioTerms::default()
        };
        (terms, Some(after.turns))
    }

    /// Whether a play wins its trick for certain; going out does.
    pub fn certain(&self, meld: &Meld) -> bool {
        goes_out(self.view, meld) || self.unseen.certain(meld)
    }

    /// What is proven about a move by itself: it goes out.
    pub fn standing(&self, mv: &Move) -> Standing {
        match mv.meld() {
            Some(meld) if goes_out(self.view, meld) => {
                Standing::Won(Proof { in_plies: Some(1), margin: 0, how: "goes_out" })
            }
            _ => Standing::Open,
        }
    }

    /// The facts about the position.
    pub fn facts(&self, table: Evaluated<super::Lexio>) -> Evaluated<super::Lexio> {
        table
            .fact("turns", f64::from(self.plan.whole().turns), "melds")
            .fact("unseen", f64::from(self.unseen.tiles().len()), "tiles")
            .fact("urgency", self.urgency(), "")
    }
}

/// Whether the play empties the hand.
pub fn goes_out(view: &View, meld: &Meld) -> bool {
    meld.count() == view.hand().len()
}
