//! `expert`: worlds, and the sums of its rows.

use crate::play::{rounds, table};
use understudy::bot::{Budget, Completion, Evaluated, Limits, Policy, Rng, Terms, Turn, decide};
use understudy::games::hoola::Hoola;
use understudy::games::hoola::card::Cards;
use understudy::games::hoola::moves::Move;
use understudy::games::hoola::phase::Phase;
use understudy::games::hoola::policies::expert::Expert;
use understudy::games::hoola::policies::hard::Hard;
use understudy::games::hoola::terms::HoolaTerms;
use understudy::games::hoola::view::View;
use understudy::games::hoola::worlds::{deal, open_cards, play_out};

fn think(view: &View, worlds: u32, seed: u64) -> Evaluated<Hoola> {
    let budget = Budget::new(Limits::worlds(worlds));
    Expert::default().evaluate(view, &mut Turn { budget: &budget, rng: &mut Rng::new(seed) })
}

#[test]
fn a_row_is_its_rollouts_and_its_prior() {
    let mut sampled = 0;
    rounds(12, &mut |state, seat| {
        let view = state.view(seat);
        let (deep, flat) = (think(&view, 7, 1), table(&Hard::default(), &view));
        if deep.work.worlds == 0 {
            assert_eq!(decide(&deep).mv(), decide(&flat).mv(), "where nothing is sampled it is hard");
            return;
        }
        assert_eq!((deep.work.worlds, deep.completion), (7, Completion::Worlds));
        let unbarred = deep.rows().iter().filter(|row| row.get_barred().is_none()).count();
        assert!(unbarred <= 10 && (view.phase() != Phase::Action || unbarred <= 8));
        // The same worlds, played by hand.
        let (open, unseen) = (open_cards(&view), view.unseen());
        let stream = Rng::new(1).split("hoola.worlds");
        for row in deep.rows() {
            let Some(payoff) = row.get_payoff().filter(|payoff| payoff.samples > 0) else {
                assert_eq!(row.get_barred(), Some("not_searched"));
                continue;
            };
            sampled += 1;
            let payments: Vec<f64> = (0..7)
                .map(|world| deal(&open, &view, unseen, &mut stream.fork(world)))
                .map(|world| play_out(&world, seat, row.get_line()).payments[seat.index()] as f64)
                .collect();
            let mean = payments.iter().sum::<f64>() / 7.0;
            assert!((payoff.mean - mean).abs() < 1e-9);
            let clipped: f64 = payments.iter().map(|points| points.clamp(-64.0, 64.0)).sum();
            let value: f64 = HoolaTerms::SPECS
                .iter()
                .enumerate()
                .filter(|(_, spec)| spec.id != "rollouts" && spec.id != "offset")
                .map(|(place, _)| row.terms().values()[place] * row.weights().base(place))
                .sum();
            assert!((row.total() - (clipped + 100.0 * value) / 107.0).abs() < 1e-9, "{row:?}");
        }
    });
    assert!(sampled > 300, "{sampled} rows");
}

#[test]
fn a_spent_budget_leaves_the_table_of_hard() {
    rounds(4, &mut |state, seat| {
        let view = state.view(seat);
        let budget = Budget::spent();
        let all = Expert::default().evaluate(&view, &mut Turn { budget: &budget, rng: &mut Rng::new(1) });
        assert_eq!(decide(&all).mv(), decide(&table(&Hard::default(), &view)).mv());
    });
}

#[test]
fn every_world_is_a_whole_deck_and_hides_only_what_is_hidden() {
    rounds(40, &mut |state, seat| {
        let view = state.view(seat);
        let world = deal(&open_cards(&view), &view, view.unseen(), &mut Rng::new(4));
        let real = state.round();
        assert_eq!(world.hands()[seat.index()], real.hands()[seat.index()]);
        let sizes =
            |round: &understudy::games::hoola::state::Round| round.hands().iter().map(|h| h.len()).collect::<Vec<_>>();
        assert_eq!(sizes(&world), sizes(real));
        assert_eq!(world.deck_remaining(), real.deck_remaining());
        let hidden = |round: &understudy::games::hoola::state::Round| {
            let others = round.hands().iter().enumerate().filter(|&(i, _)| i != seat.index());
            others.fold(Cards::NONE, |all, (_, &hand)| all | hand)
        };
        let known = view.seats().iter().fold(Cards::NONE, |all, seat| all | seat.known);
        assert!((view.unseen() | known).covers(hidden(&world)));
        assert!((view.unseen() | known).covers(hidden(real)));
    });
}

#[test]
fn one_turn_sees_the_same_worlds_from_step_to_step() {
    let mut steps = 0;
    rounds(30, &mut |state, seat| {
        let view = state.view(seat);
        let table = table(&Hard::default(), &view);
        let lays = matches!(decide(&table).mv(), Move::Register(_) | Move::LayOff { .. });
        if view.phase() != Phase::Action || !lays {
            return;
        }
        let mut after = state.clone();
        after.resolve(&[(seat, *decide(&table).mv())]).expect("legal");
        if after.round().finish().is_some() {
            return;
        }
        steps += 1;
        let later = after.view(seat);
        let deal = |view: &View| deal(&open_cards(view), view, view.unseen(), &mut Rng::new(8));
        let (now, then) = (deal(&view), deal(&later));
        let others = |round: &understudy::games::hoola::state::Round| {
            let hands = round.hands().iter().enumerate().filter(|&(i, _)| i != seat.index());
            hands.map(|(_, &hand)| hand).collect::<Vec<_>>()
        };
        assert_eq!(others(&now), others(&then));
    });
    assert!(steps > 20, "{steps}");
}
