//! Placing stones.

use understudy::bot::Policy;
use understudy::bot::{Limits, Referee, Seat, decide};
use understudy::games::wallgo::Wallgo;
use understudy::games::wallgo::action::Move;
use understudy::games::wallgo::policies::searching::Searching;
use understudy::games::wallgo::rules::placements;
use understudy::games::wallgo::survey::Survey;
use understudy::games::wallgo::terms::WallgoTerms;

use crate::cases::table;

/// A setup under way: so many stones of seed's deal already stand.
fn view(rules: &str, stones: &[u8]) -> understudy::games::wallgo::view::View {
    let mut state = Wallgo::deal(&Wallgo::rules(rules).unwrap(), 2, 1);
    for cell in stones {
        let understudy::bot::Ask::One(seat) = Wallgo::ask(&state) else { panic!() };
        let mv = Move::Place(understudy::games::wallgo::board::Cell(*cell));
        Wallgo::resolve(&mut state, &[(seat, mv)]).unwrap();
    }
    Wallgo::view(&state, Seat(0))
}

const PLACED: &str = "wallgo.v1 opening=placed";

#[test]
fn the_last_two_placements_are_searched_to_their_end() {
    let view = view(PLACED, &[24, 10]);
    let expert = Searching::expert();
    let found = table(&expert, &view, Limits::NONE);
    let weights = expert.weights()[0];
    assert_eq!(found.rows().len(), 43);
    assert_eq!(found.work.depth, 2);
    for row in found.rows() {
        let mut board = view.position().board;
        let Move::Place(mine) = row.mv() else { panic!() };
        board.pieces[0] |= mine.bit();
        // B answers with what is worst for A, and then moves first.
        let worst = placements(&board).map(|cell| {
            let mut last = board;
            last.pieces[1] |= cell.bit();
            weights.total(&WallgoTerms::fast(&Survey::of(&last).counts(&last, 0, false)))
        });
        let worst = worst.fold(f64::INFINITY, f64::min);
        assert_eq!(row.total(), worst, "{:?}", row.mv());
        assert_eq!(row.get_line().len(), 2);
        assert_eq!(row.weights(), &weights);
    }
}

#[test]
fn every_setup_is_answered_within_its_reach() {
    for (rules, stones, rows, deepest) in [
        (PLACED, &[][..], 45, 4),
        ("wallgo.v1 setup=FIXED2_ABBA opening=placed", &[24][..], 44, 3),
        ("wallgo.v1 setup=FREE_ABBAABBA opening=placed", &[][..], 49, 3),
        ("wallgo.v1 setup=FREE_ABBAABBA opening=placed", &[0, 24, 12, 30, 40, 6, 48][..], 42, 1),
    ] {
        let view = view(rules, stones);
        for (policy, depth) in [(Searching::normal(), deepest.min(2)), (Searching::expert(), deepest)] {
            let found = table(&policy, &view, Limits::nodes(400_000));
            assert_eq!(found.rows().len(), rows, "{rules}");
            assert!(found.work.depth <= depth, "{rules}");
            assert!(found.work.depth >= depth.min(2), "{rules}: {}", found.work.depth);
            let first = found.rows()[0].weights();
            assert!(found.rows().iter().all(|row| row.weights() == first));
            assert_eq!(first.shown(), policy.about().terms);
            assert!(matches!(decide(&found).mv(), Move::Place(_)));
        }
    }
}
