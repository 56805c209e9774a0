//! Legal rectangles, the greedy rule and boards by number.

use proptest::prelude::*;
use serde_json::Value;
use understudy::bot::{Ask, Outcome, Referee, Rng, Seat};
use understudy::games::apple::cells::WIDE;
use understudy::games::apple::greedy::{greedy, random_tie_scores};
use understudy::games::apple::lanes::Lanes;
use understudy::games::apple::rects::{self, Ground, Play};
use understudy::games::apple::scan::Scan;
use understudy::games::apple::{Apple, Board, Count, Distribution, Move, Rectangle};

use crate::cases::{apples_in, board, list, number, numbers, obvious_legal, rectangle, rectangles, replay};

fn names(moves: &[Move]) -> Vec<Rectangle> {
    moves.iter().map(|mv| mv.rectangle).collect()
}

/// `[row_min, col_min, row_max, col_max, largest, apples]`
fn check_moves(board: &Board, expected: &Value) {
    let moves = rects::legal(board);
    let found: Vec<Vec<u32>> = moves
        .iter()
        .map(|mv| {
            let r = mv.rectangle;
            let limits = [r.row_min, r.col_min, r.row_max, r.col_max, mv.largest, mv.apples];
            limits.map(u32::from).to_vec()
        })
        .collect();
    let expected: Vec<Vec<u32>> = expected.as_array().expect("moves").iter().map(numbers).collect();
    assert_eq!(found, expected, "{board}");
    for mv in moves {
        assert_eq!(mv.cells.iter().collect::<Vec<_>>(), apples_in(board, mv.rectangle));
    }
}

/// The game of `easy`: the first legal move, again and again.
fn first_found(board: &Board) -> u32 {
    let mut state = understudy::games::apple::state::State::on(*board, Default::default());
    while let Some(first) = rects::legal(state.board()).first() {
        Apple::resolve(&mut state, &[(Seat(0), *first)]).expect("legal");
    }
    state.cleared()
}

#[test]
fn small_boards_have_these_moves_and_games() {
    for case in list("vectors.json", "vectors") {
        let board = board(&case);
        if !case["moves"].is_null() {
            check_moves(&board, &case["moves"]);
        }
        assert_eq!(rects::legal(&board).len() as u32, number(&case["legal_moves"]));
        for (count, score, trace) in
            [(Count::Apples, "greedy", "greedy_trace"), (Count::Area, "greedy_area", "greedy_area_trace")]
        {
            let line = greedy(&board, count);
            assert_eq!(line.score, number(&case[score]), "{board}");
            if !case[trace].is_null() {
                assert_eq!(line.moves, rectangles(&case[trace]), "{board}");
            }
            assert_eq!(replay(&board, &line.moves), line.score);
        }
        assert_eq!(first_found(&board), number(&case["first_found"]), "{board}");
    }
}

#[test]
fn positions_in_mid_game_have_these_moves() {
    for case in list("positions.json", "positions") {
        let board = board(&case);
        assert_eq!(format!("{:016x}", board.hash()), case["hash"].as_str().expect("a hash"));
        check_moves(&board, &case["moves"]);
        let lines = [Count::Apples, Count::Area].map(|count| greedy(&board, count));
        for (line, next) in lines.iter().zip(["greedy_next", "greedy_area_next"]) {
            let expected = (!case[next].is_null()).then(|| rectangle(&case[next]));
            assert_eq!(line.moves.first(), expected.as_ref(), "{board}");
        }
        assert_eq!(lines[0].score, number(&case["greedy_rest"]));
    }
}

#[test]
fn public_boards_have_these_games() {
    for case in list("public_boards.json", "boards") {
        let board = board(&case);
        assert_eq!(format!("{:016x}", board.hash()), case["hash"].as_str().expect("a hash"));
        let line = greedy(&board, Count::Apples);
        assert_eq!(line.score, number(&case["greedy"]));
        assert_eq!(line.moves, rectangles(&case["greedy_trace"]));
        assert_eq!(greedy(&board, Count::Area).score, number(&case["greedy_area"]));
        assert_eq!(first_found(&board), number(&case["first_found"]));
        assert_eq!(random_tie_scores(&board, Count::Apples, 0..16), numbers(&case["greedy16"]));
        assert_eq!(replay(&board, &rectangles(&case["best_known_line"])), number(&case["best_known"]));
        let mirrored = board.mirrored();
        assert_eq!(greedy(&mirrored, Count::Apples).score, number(&case["mirrored_left_right"]["greedy"]));
        let total: u32 = random_tie_scores(&mirrored, Count::Apples, 0..16).iter().sum();
        assert_eq!(f64::from(total) / 16.0, case["mirrored_left_right"]["greedy16_mean"].as_f64().expect("a mean"));
    }
}

/// A policy of another program (fewest apples, over rectangles that need not be tight) comes to its published scores
/// under our rules: a cross-check of the rules between implementations.
#[test]
fn a_published_policy_comes_to_its_published_scores() {
    for case in list("public_boards.json", "boards") {
        let published = &case["published_fewest_apples"];
        if published.is_null() {
            continue;
        }
        let mut board = board(&case);
        let (mut score, mut moves) = (0, 0);
        while let Some(cells) = fewest_apples(&board) {
            score += cells.len() as u32;
            moves += 1;
            cells.into_iter().for_each(|cell| board.clear(cell));
        }
        assert_eq!((score, moves), (number(&published["score"]), number(&published["moves"])));
    }
}

fn fewest_apples(board: &Board) -> Option<Vec<usize>> {
    let (rows, columns) = (board.rows() as u8, board.columns() as u8);
    let mut best: Option<Vec<usize>> = None;
    for row_min in 0..rows {
        for row_max in row_min..rows {
            for col_min in 0..columns {
                for col_max in col_min..columns {
                    let cells = apples_in(board, Rectangle::new(row_min, col_min, row_max, col_max));
                    let sum: u32 = cells.iter().map(|&cell| u32::from(board.cells()[cell])).sum();
                    if sum == 10 && best.as_ref().is_none_or(|best| cells.len() < best.len()) {
                        best = Some(cells);
                    }
                    if sum > 10 {
                        break;
                    }
                }
            }
        }
    }
    best
}

#[test]
fn random_boards_have_these_scores() {
    for case in list("random_boards.json", "boards") {
        let seed = case["seed"].as_u64().expect("a seed");
        let distribution = Distribution::named(case["distribution"].as_str().expect("a name")).expect("known");
        let dealt = distribution.board(seed);
        if !case["board"].is_null() {
            assert_eq!(dealt, board(&case));
            assert_eq!(random_tie_scores(&dealt, Count::Apples, 0..16), numbers(&case["greedy16"]));
        }
        assert_eq!(format!("{:016x}", dealt.hash()), case["hash"].as_str().expect("a hash"));
        assert_eq!(dealt.sum(), number(&case["sum"]));
        assert_eq!(rects::legal(&dealt).len() as u32, number(&case["legal_moves"]));
        let line = greedy(&dealt, Count::Apples);
        assert_eq!((line.score, line.moves.len() as u32), (number(&case["greedy"]), number(&case["greedy_moves"])));
        assert_eq!(greedy(&dealt, Count::Area).score, number(&case["greedy_area"]));
        assert_eq!(first_found(&dealt), number(&case["first_found"]));
    }
}

#[test]
fn boards_by_number_are_the_same_everywhere() {
    for case in list("generator.json", "boards") {
        let seed: u64 = case["seed"].as_str().expect("a seed").parse().expect("a number");
        let distribution = Distribution::named(case["distribution"].as_str().expect("a name")).expect("known");
        let dealt = distribution.board(seed);
        assert_eq!(dealt, board(&case));
        assert_eq!(dealt.sum(), number(&case["sum"]));
        assert_eq!(format!("{:016x}", dealt.hash()), case["hash"].as_str().expect("a hash"));
    }
    let mut rng = Rng::new(1);
    for expected in list("generator.json", "splitmix64_seed_1") {
        assert_eq!(format!("{:016x}", rng.next_u64()), expected.as_str().expect("hex"));
    }
    let mut rng = Rng::new(7);
    for expected in list("generator.json", "below_9_seed_7") {
        assert_eq!(rng.below(9), expected.as_u64().expect("a number"));
    }
    let mut rng = Rng::new(5);
    for expected in list("generator.json", "three_boards_from_one_sum10_stream_4x5_seed_5") {
        let next = Distribution::Sum10.next(&mut rng, 4, 5).expect("a board");
        assert_eq!(next.to_string(), expected.as_str().expect("a board"));
    }
    assert!(Distribution::Sum10.next(&mut Rng::new(1), 1, 1).is_err(), "a single cell can never sum to ten");
}

/// Mistakes seen in public projects, each on the smallest board that shows it.
#[test]
fn known_mistakes_are_not_made() {
    let legal = |text: &str| names(&rects::legal(&Board::parse(text).expect("a board")));
    let score = |text: &str| greedy(&Board::parse(text).expect("a board"), Count::Apples).score;
    // Cleared cells are legal inside and worth nothing.
    assert_eq!(legal("5005"), [Rectangle::new(0, 0, 0, 3)]);
    assert_eq!(score("5005"), 2);
    // Sides must be touched, corners need not be.
    assert_eq!(legal("03/70"), [Rectangle::new(0, 0, 1, 1)]);
    assert_eq!(legal("30/07"), [Rectangle::new(0, 0, 1, 1)]);
    // A move list fixed at the start misses what clearing opens.
    assert_eq!(score("9551"), 4);
    // Nothing explodes on an empty board.
    assert_eq!(legal("0000/0000/0009"), []);
    assert_eq!(legal("4000/0000/0006"), [Rectangle::new(0, 0, 2, 3)]);
    // Stuck with apples left is a normal end.
    assert_eq!(score("6424"), 2);
    // Ten ones are one move.
    assert_eq!(rects::legal(&Board::parse("1111111111").expect("a board"))[0].apples, 10);
}

#[test]
fn the_referee_refuses_what_is_not_canonical() {
    let mut state =
        understudy::games::apple::state::State::on(Board::parse("0550").expect("a board"), Default::default());
    let wide = Move::named(Rectangle::new(0, 0, 0, 2));
    let why = Apple::resolve(&mut state, &[(Seat(0), wide)]).expect_err("its left side touches nothing");
    assert!(why.to_string().contains("canonical"), "{why}");
    assert_eq!(Apple::ask(&state), Ask::One(Seat(0)));
    Apple::resolve(&mut state, &[(Seat(0), Move::named(Rectangle::new(0, 1, 0, 2)))]).expect("legal");
    let Ask::Over(Outcome::Known(settlement)) = Apple::ask(&state) else { panic!("no move is left") };
    assert_eq!(settlement.payments, [2]);
}

#[test]
fn rules_by_name_say_ruleset_switches_and_distribution() {
    let table = Apple::rules("fruitbox-area.v1 sum10.v1").expect("known");
    assert_eq!((table.ruleset.count, table.distribution), (Count::Area, Distribution::Sum10));
    let table = Apple::rules("count=AREA").expect("known");
    assert_eq!((table.ruleset.count, table.distribution), (Count::Area, Distribution::Uniform));
    assert_eq!(Apple::rules("fruitbox-strict.v1").expect("known").distribution, Distribution::Sum10);
    assert!(Apple::rules("fruitbox-strict.v1 uniform.v1").is_none(), "uniform boards break the strict rules");
    assert!(Apple::rules("fruitbox.v9").is_none() && Apple::rules("fruitbox.v1 gaps=CLOSED").is_none());
    assert_eq!(Apple::deal(&Apple::rules("sum10.v1").expect("known"), 1, 1).board().sum() % 10, 0);
}

/// Boards of all shapes, from full to nearly empty, with small digits (many moves) or all.
fn any_board() -> impl Strategy<Value = Board> {
    let shapes = (1usize..=64, 1usize..=64, 1u8..=9, 0u64..=u64::MAX, 0u64..=95);
    shapes.prop_map(|(rows, wish, highest, seed, cleared)| {
        let columns = wish.min(400 / rows).max(1);
        shaped(rows, columns, highest, seed, cleared)
    })
}

fn shaped(rows: usize, columns: usize, highest: u8, seed: u64, cleared: u64) -> Board {
    let mut rng = Rng::new(seed);
    let mut digit = || if rng.below(100) < cleared { 0 } else { 1 + rng.below(highest.into()) as u8 };
    let digits: Vec<u8> = (0..rows * columns).map(|_| digit()).collect();
    Board::new(rows, columns, &digits).expect("within the limits")
}

/// The list kept move by move is the list found anew, and both ways of finding are one.
fn check_game<const N: usize, G: Ground<N>>(board: &Board, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut now = *board;
    let mut play = Play::<N, G>::new(board);
    let mut loose = play.clone();
    loop {
        let kept: Vec<Rectangle> = play.spots().iter().map(|spot| spot.rectangle).collect();
        assert_eq!(kept, names(&rects::legal(&now)), "{now} from {board}");
        let mut unordered: Vec<Rectangle> = loose.spots().iter().map(|spot| spot.rectangle).collect();
        unordered.sort_unstable();
        assert_eq!(unordered, kept);
        if kept.is_empty() {
            break;
        }
        let spot = play.spots()[rng.below(kept.len() as u64) as usize];
        // Clearing and restoring leaves no trace.
        let mut ground = play.position().clone();
        ground.clear(spot.rectangle);
        ground.restore(spot.rectangle);
        let (mut places, mut before) = (Vec::new(), Vec::new());
        ground.places(&mut places);
        play.position().places(&mut before);
        assert_eq!(places, before);
        spot.cells.iter().for_each(|cell| now.clear(cell));
        play.advance(&spot);
        loose.advance_unordered(&spot);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn the_sweep_finds_what_looking_everywhere_finds(board in any_board()) {
        let expected = obvious_legal(&board);
        prop_assert_eq!(names(&rects::legal(&board)), expected.clone());
        let mut places = Vec::new();
        Ground::<WIDE>::places(&<Scan as Ground<WIDE>>::new(&board), &mut places);
        prop_assert_eq!(places, expected.iter().map(|r| r.place()).collect::<Vec<_>>());
        prop_assert_eq!(rects::any(&board), !expected.is_empty());
    }

    #[test]
    fn lists_kept_move_by_move_are_right(board in any_board(), seed in any::<u64>()) {
        check_game::<WIDE, Scan>(&board, seed);
        if Lanes::fits(&board) {
            check_game::<3, Lanes>(&board, seed);
        }
    }

    #[test]
    fn lanes_are_right_on_boards_that_fit_them(
        rows in 1usize..=10, wish in 1usize..=64, highest in 1u8..=9, cleared in 0u64..=95, seed in any::<u64>(),
    ) {
        let board = shaped(rows, wish.min(192 / rows), highest, seed, cleared);
        prop_assert_eq!(names(&rects::legal(&board)), obvious_legal(&board));
        check_game::<3, Lanes>(&board, seed);
    }
}
