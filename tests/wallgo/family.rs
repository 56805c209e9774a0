//! Successors judged together against each judged alone.

use understudy::bot::Policy;
use understudy::games::wallgo::action::Move;
use understudy::games::wallgo::family::Family;
use understudy::games::wallgo::leaf::{FastWeights, Judge};
use understudy::games::wallgo::policies::searching::Searching;

use crate::cases::{random_game, rules};

#[test]
fn together_and_alone_give_the_same_bits() {
    // By hand: WALLGO_FAMILIES=20000 cargo test --release --test wallgo together_and_alone
    let games = std::env::var("WALLGO_FAMILIES").ok().and_then(|games| games.parse().ok()).unwrap_or(240);
    let policy = Searching::expert();
    let variants = ["", "", "", "stay=round_trip_only", "sealed_may_act=false", "wall_limit=20"];
    let mut judged = 0;
    for seed in 0..games {
        let rules = rules(variants[seed as usize % variants.len()]);
        for position in random_game(&rules, 7_000 + seed) {
            let stage = (position.board.walls() as usize / 7).min(7);
            let weights = FastWeights::of(&policy.weights()[stage]);
            for (me, counting) in [(0, true), (1, false)] {
                let judge = Judge { rules: &rules, me, counting };
                let family = Family::of(judge, weights, &position);
                for mv in position.actions(&rules) {
                    let Move::Turn(turn) = mv else { continue };
                    let alone = judge.judged(&weights, &position.after(mv), 3);
                    let together = family.judged(turn, 3);
                    assert_eq!(together.1, alone.1, "seed {seed} {mv:?} {position:?}");
                    assert_eq!(together.0.to_bits(), alone.0.to_bits(), "seed {seed} {mv:?}");
                    judged += 1;
                }
            }
        }
    }
    assert!(judged > 500_000, "{judged}");
}
