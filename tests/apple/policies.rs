//! What the policies see in a move, value by value, and what it comes to.

use understudy::bot::{Budget, Evaluated, Game, Limits, Policy, Referee, Rng, Seat, Terms, Turn, WeightTable, decide};
use understudy::games::apple::greedy::greedy;
use understudy::games::apple::policies::{Easy, Normal};
use understudy::games::apple::state::State;
use understudy::games::apple::{Apple, Board, Count, Distribution, Ruleset, View};

use crate::cases::{board, list, number, rectangle, rectangles};

pub fn view_of(board: Board, count: Count) -> View {
    View::new(Ruleset { count, ..Ruleset::default() }, board).expect("only strict rules refuse a board")
}

pub fn table(policy: &dyn Policy<Apple>, view: &View, seed: u64, limits: Limits) -> Evaluated<Apple> {
    let budget = Budget::new(limits);
    let mut rng = Rng::new(seed);
    policy.evaluate(view, &mut Turn { budget: &budget, rng: &mut rng })
}

fn plain(policy: &dyn Policy<Apple>, view: &View) -> Evaluated<Apple> {
    table(policy, view, 1, Limits::NONE)
}

/// A whole game, asking again for every move.
fn play(policy: &dyn Policy<Apple>, board: Board, count: Count) -> (u32, Vec<understudy::games::apple::Rectangle>) {
    let mut state = State::on(board, Ruleset { count, ..Ruleset::default() });
    let mut moves = Vec::new();
    while understudy::games::apple::rects::any(state.board()) {
        let view = Apple::view(&state, Seat(0));
        let evaluated = plain(policy, &view);
        let chosen = *decide(&evaluated).mv();
        let budget = Budget::new(Limits::NONE);
        let short = policy.shortcut(&view, &mut Turn { budget: &budget, rng: &mut Rng::new(1) });
        assert_eq!(short, Some(chosen), "the shortcut is the decision");
        moves.push(chosen.rectangle);
        Apple::resolve(&mut state, &[(Seat(0), chosen)]).expect("a legal decision");
    }
    (state.cleared(), moves)
}

#[test]
fn easy_counts_down_from_one() {
    let view = view_of(Board::parse("791/824/385").expect("a board"), Count::Apples);
    let table = plain(&Easy, &view);
    let early: Vec<f64> = table.rows().iter().map(|row| row.terms().early.get()).collect();
    assert_eq!(early, [1.0, 0.75, 0.5, 0.25]);
    assert_eq!(table.rows().iter().map(|row| row.total()).collect::<Vec<_>>(), early);
    assert_eq!(decide(&table).mv(), &Apple::legal(&view)[0]);
}

#[test]
fn normal_sees_the_largest_apple_and_what_is_kept() {
    let apples = plain(&Normal::default(), &view_of(Board::parse("491622").expect("a board"), Count::Apples));
    // 9+1 of six cells, and 6+2+2 of six cells.
    let values: Vec<(f64, f64)> =
        apples.rows().iter().map(|row| (row.terms().largest.get(), row.terms().kept.get())).collect();
    assert_eq!(values, [(1.0, 1.0 - 2.0 / 6.0), (6.0 / 9.0, 1.0 - 3.0 / 6.0)]);
    assert_eq!(apples.rows()[1].total(), 6.0 / 9.0 + 0.5 * 0.1);
    // After 9+1: 4..6 round a hole is two apples in four cells.
    let board = Board::parse("400622").expect("a board");
    for (count, kept) in [(Count::Apples, 1.0 - 2.0 / 6.0), (Count::Area, 1.0 - 4.0 / 6.0)] {
        let table = plain(&Normal::default(), &view_of(board, count));
        let round_the_hole = table.row(&Apple::parse_key("0,0,0,3").expect("a key")).expect("legal");
        assert_eq!(round_the_hole.terms().kept.get(), kept);
    }
}

#[test]
fn normal_plays_the_traces_of_the_greedy_rule() {
    for case in list("vectors.json", "vectors") {
        for (count, trace) in [(Count::Apples, "greedy_trace"), (Count::Area, "greedy_area_trace")] {
            let (_, moves) = play(&Normal::default(), board(&case), count);
            if !case[trace].is_null() {
                assert_eq!(moves, rectangles(&case[trace]));
            }
        }
        assert_eq!(play(&Easy, board(&case), Count::Apples).0, number(&case["first_found"]));
    }
    for case in list("public_boards.json", "boards") {
        let (score, moves) = play(&Normal::default(), board(&case), Count::Apples);
        assert_eq!((score, moves), (number(&case["greedy"]), rectangles(&case["greedy_trace"])));
        assert_eq!(play(&Normal::default(), board(&case), Count::Area).0, number(&case["greedy_area"]));
    }
    let playable = |case: &serde_json::Value| !case["greedy_next"].is_null();
    for case in list("positions.json", "positions").into_iter().filter(playable) {
        for (count, next) in [(Count::Apples, "greedy_next"), (Count::Area, "greedy_area_next")] {
            let evaluated = plain(&Normal::default(), &view_of(board(&case), count));
            assert_eq!(decide(&evaluated).mv().rectangle, rectangle(&case[next]));
        }
    }
}

/// Each term of `normal` switched off breaks a game that it alone decides.
#[test]
fn normal_needs_both_of_its_terms() {
    let without = |off: &str| {
        let normal = Normal::default();
        let mut weights = normal.table(None).expect("normal has weights");
        let column = weights.terms.iter().position(|id| id == off).expect("a term");
        weights.rows[0][column] = 0.0;
        normal.with_weights(&weights, None).expect("they fit")
    };
    let choice = |policy: &dyn Policy<Apple>, text: &str| {
        let view = view_of(Board::parse(text).expect("a board"), Count::Apples);
        Apple::key(decide(&plain(policy, &view)).mv())
    };
    // `largest` takes 8+1+1 before 5+5, although it costs an apple more.
    assert_eq!(choice(&Normal::default(), "5500811"), "0,4,0,6");
    assert_eq!(choice(&*without("largest"), "5500811"), "0,0,0,1");
    // `kept` takes 8+2 before 8+1+1.
    assert_eq!(choice(&Normal::default(), "8110082"), "0,5,0,6");
    assert_eq!(choice(&*without("kept"), "8110082"), "0,0,0,2");
    let odd = WeightTable { stages: vec!["all".into()], terms: vec!["early".into()], rows: vec![vec![1.0]] };
    assert!(Normal::default().with_weights(&odd, None).is_err(), "normal has no such term");
}

#[test]
fn terms_are_what_the_list_says() {
    let ids: Vec<&str> = understudy::games::apple::terms::AppleTerms::SPECS.iter().map(|spec| spec.id).collect();
    assert_eq!(ids, ["early", "finish", "largest", "kept"]);
}

/// Exact means over a thousand boards: one apple more or less on any board shows.
#[test]
fn easy_and_normal_come_to_their_exact_means() {
    let boards: Vec<Board> = (1..=1000).map(|seed| Distribution::Uniform.board(seed)).collect();
    let total: u32 = boards.iter().map(|board| greedy(board, Count::Apples).score).sum();
    assert_eq!(total, 113_235);
    let first_found = |board: &Board| {
        let mut state = State::on(*board, Ruleset::default());
        let budget = Budget::new(Limits::NONE);
        while understudy::games::apple::rects::any(state.board()) {
            let view = Apple::view(&state, Seat(0));
            let mv = Easy.shortcut(&view, &mut Turn { budget: &budget, rng: &mut Rng::new(1) }).expect("a move");
            Apple::resolve(&mut state, &[(Seat(0), mv)]).expect("legal");
        }
        state.cleared()
    };
    let total: u32 = boards.iter().map(first_found).sum();
    assert_eq!(total, 107_989);
}
