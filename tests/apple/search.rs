//! `hard` and `expert`: lines that replay, budgets, proofs, and what each term decides.

use understudy::bot::{
    Bound, Budget, Completion, Evaluated, Game, Limits, Policy, Rng, Standing, Turn, Weights, decide,
};
use understudy::games::apple::bound::upper_bound;
use understudy::games::apple::greedy::greedy;
use understudy::games::apple::policies::{Expert, Hard};
use understudy::games::apple::terms::{AppleTerm, search_weights};
use understudy::games::apple::{Apple, Board, Count, Distribution, Rectangle};

use crate::cases::{apples_in, board, list, number, obvious_legal, replay};
use crate::policies::{table, view_of};

fn searchers() -> [(&'static str, Box<dyn Policy<Apple>>); 2] {
    [("hard", Box::new(Hard::default())), ("expert", Box::new(Expert::default()))]
}

fn think(policy: &dyn Policy<Apple>, board: Board, limits: Limits) -> Evaluated<Apple> {
    table(policy, &view_of(board, Count::Apples), 7, limits)
}

fn names(line: &[understudy::games::apple::Move]) -> Vec<Rectangle> {
    line.iter().map(|mv| mv.rectangle).collect()
}

/// Every row's line starts with its move, replays to the end of the game or is the move alone, and its score is the row's
/// payoff and `finish`.
fn check_rows(board: &Board, table: &Evaluated<Apple>) {
    let legal: Vec<Rectangle> = Apple::legal(&view_of(*board, Count::Apples)).iter().map(|mv| mv.rectangle).collect();
    assert_eq!(names(&table.rows().iter().map(|row| *row.mv()).collect::<Vec<_>>()), legal);
    for row in table.rows() {
        let line = row.get_line();
        assert_eq!(line[0], *row.mv());
        let score = replay(board, &names(line));
        assert_eq!(row.get_payoff().expect("a payoff").mean, f64::from(score));
        assert_eq!(row.terms().finish.get(), f64::from(score) / board.cells().len() as f64);
        assert_eq!(row.get_bound(), Bound::Exact);
        let mut left = *board;
        for mv in line {
            let cells = apples_in(&left, mv.rectangle);
            assert_eq!(
                mv.cells.iter().collect::<Vec<_>>(),
                cells,
                "a plan's move clears what is there when its turn comes"
            );
            assert_eq!(usize::from(mv.apples), cells.len());
            cells.into_iter().for_each(|cell| left.clear(cell));
        }
        let over = !understudy::games::apple::rects::any(&left);
        assert!(line.len() == 1 || over, "a line runs until no move is left");
        assert!(score <= upper_bound(&board.counts()));
    }
    let plan = decide(table).get_payoff().expect("a payoff").mean;
    assert_eq!(table.get_fact("plan_score"), Some(plan));
}

#[test]
fn rows_tell_lines_that_replay() {
    for (name, policy) in searchers() {
        for (board, nodes) in [
            (Distribution::Uniform.board(1), 9_000),
            (Distribution::Sum10.board(2), 40_000),
            (Distribution::Uniform.next(&mut Rng::new(3), 20, 20).expect("a board"), 20_000),
            (Distribution::Uniform.next(&mut Rng::new(3), 1, 40).expect("a board"), 20_000),
            (Distribution::Uniform.next(&mut Rng::new(3), 6, 64).expect("a board"), 20_000),
        ] {
            let evaluated = think(&*policy, board, Limits::nodes(nodes));
            check_rows(&board, &evaluated);
            assert!(evaluated.work.nodes <= nodes, "{name}");
            // A single row of forty is small enough to be exhausted.
            let settled = board.rows() == 1 && name == "expert";
            assert_eq!(evaluated.completion, if settled { Completion::Full } else { Completion::Nodes }, "{name}");
            let again = think(&*policy, board, Limits::nodes(nodes));
            assert_eq!(evaluated, again, "{name}: the same request gives the same table");
            let single = f64::from(greedy(&board, Count::Apples).score);
            assert!(evaluated.get_fact("plan_score").expect("a plan") >= single, "the greedy game is always there");
        }
    }
}

#[test]
fn depth_zero_is_one_greedy_game_and_each_move_alone() {
    let board = Distribution::Uniform.board(5);
    let game = greedy(&board, Count::Apples);
    for (name, policy) in searchers() {
        let view = view_of(board, Count::Apples);
        let spent = Budget::spent();
        let evaluated = policy.evaluate(&view, &mut Turn { budget: &spent, rng: &mut Rng::new(1) });
        assert_eq!(evaluated.completion, Completion::Time, "{name}");
        for row in evaluated.rows() {
            if row.mv().rectangle == game.moves[0] {
                assert_eq!(names(row.get_line()), game.moves);
            } else {
                assert_eq!((row.get_line().len(), row.get_payoff().expect("apples").mean), (1, row.mv().apples.into()));
            }
        }
        assert_eq!(decide(&evaluated).mv().rectangle, game.moves[0]);
    }
    // The floor follows the reading of "fewer cells", and counts its positions: the root and the game.
    let area = view_of(board, Count::Area);
    let evaluated = table(&Hard::default(), &area, 1, Limits::nodes(1));
    assert_eq!(names(decide(&evaluated).get_line()), greedy(&board, Count::Area).moves);
    let plenty = table(&Expert::default(), &area, 1, Limits { depth: Some(0), ..Limits::nodes(100_000) });
    assert_eq!(plenty.work.nodes, 1 + greedy(&board, Count::Area).moves.len() as u64);
    assert_eq!(plenty.completion, Completion::Depth);
}

#[test]
fn the_first_round_of_expert_is_a_greedy_game_for_each_move() {
    let board = Distribution::Uniform.board(6);
    let evaluated = think(&Expert::default(), board, Limits { depth: Some(1), ..Limits::NONE });
    assert_eq!((evaluated.work.depth, evaluated.completion), (1, Completion::Depth));
    for row in evaluated.rows() {
        let mut left = board;
        apples_in(&left, row.mv().rectangle).into_iter().for_each(|cell| left.clear(cell));
        let rest = greedy(&left, Count::Apples);
        let whole = f64::from(rest.score + u32::from(row.mv().apples));
        assert_eq!(row.get_payoff().expect("apples").mean, whole);
        assert_eq!(names(&row.get_line()[1..]), rest.moves);
    }
}

#[test]
fn a_seed_changes_hard_and_only_hard() {
    let view = view_of(Distribution::Uniform.board(8), Count::Apples);
    let limits = Limits::nodes(3_000);
    assert_ne!(table(&Hard::default(), &view, 1, limits), table(&Hard::default(), &view, 2, limits));
    assert_eq!(table(&Expert::default(), &view, 1, limits), table(&Expert::default(), &view, 2, limits));
}

#[test]
fn more_nodes_never_lose_what_was_found() {
    for seed in 1..=3 {
        let board = Distribution::Uniform.board(seed);
        let scores: Vec<f64> = [100, 1_500, 5_400]
            .map(|nodes| think(&Hard::default(), board, Limits::nodes(nodes)).get_fact("plan_score").expect("a plan"))
            .to_vec();
        assert!(scores.is_sorted(), "{scores:?}");
    }
}

/// The exact optimum of 340 small boards, found and proven within the default budget.
#[test]
fn expert_is_optimal_and_proves_it_on_small_boards() {
    let expert = Expert::default();
    let limits = expert.about().default_limits;
    for file in ["tiny_4x5.json", "small_5x6.json"] {
        let mut played = 0;
        for case in list(file, "boards") {
            let board = board(&case);
            if number(&case["optimum"]) == 0 {
                assert!(obvious_legal(&board).is_empty());
                continue;
            }
            played += 1;
            let evaluated = think(&expert, board, limits);
            let optimum = f64::from(number(&case["optimum"]));
            assert_eq!(evaluated.get_fact("plan_score"), Some(optimum), "{board}");
            let chosen = decide(&evaluated);
            let Standing::Won(proof) = chosen.get_standing() else { panic!("not proven: {board}") };
            assert_eq!(proof.in_plies, Some(chosen.get_line().len() as u16));
            assert_eq!(proof.margin, 0);
            let reaches_bound = optimum == f64::from(number(&case["upper_bound"]));
            assert_eq!(proof.how, if reaches_bound { "bound" } else { "exhausted" });
            for row in evaluated.rows() {
                let best = row.get_payoff().expect("apples").mean == optimum;
                assert_eq!(matches!(row.get_standing(), Standing::Won(_)), best, "only optimal lines are won");
            }
        }
        assert!(played >= 39, "{file}");
    }
    for case in list("vectors.json", "vectors").iter().filter(|case| case["optimum"].as_u64().is_some_and(|o| o > 0)) {
        let evaluated = think(&expert, board(case), limits);
        assert_eq!(evaluated.get_fact("plan_score"), Some(f64::from(number(&case["optimum"]))), "{}", case["board"]);
    }
}

/// Every row of an exhausted search is exact, not only the best: held against a search over all games.
#[test]
fn exhausted_rows_are_exact() {
    fn best(board: &Board) -> u32 {
        let after = |r: &Rectangle| {
            let mut left = *board;
            let cells = apples_in(board, *r);
            cells.iter().for_each(|&cell| left.clear(cell));
            cells.len() as u32 + best(&left)
        };
        obvious_legal(board).iter().map(after).max().unwrap_or(0)
    }
    let mut exhausted = 0;
    for seed in 1..=60 {
        let board = Distribution::Uniform.next(&mut Rng::new(seed), 3, 5).expect("a board");
        if obvious_legal(&board).is_empty() {
            continue;
        }
        let evaluated = think(&Expert::default(), board, Limits::nodes(50_000));
        check_rows(&board, &evaluated);
        if !evaluated.rows().iter().any(|row| matches!(row.get_standing(), Standing::Won(p) if p.how == "exhausted")) {
            continue;
        }
        exhausted += 1;
        for row in evaluated.rows() {
            let mut left = board;
            let cells = apples_in(&board, row.mv().rectangle);
            cells.iter().for_each(|&cell| left.clear(cell));
            let exact = cells.len() as u32 + best(&left);
            assert_eq!(row.get_payoff().expect("apples").mean, f64::from(exact), "{board} {}", Apple::key(row.mv()));
        }
    }
    assert!(exhausted >= 20, "{exhausted} boards were exhausted");
}

#[test]
fn a_line_that_meets_the_bound_is_won_and_ends_the_search() {
    let fives = Board::new(10, 17, &[5; 170]).expect("a board");
    for (name, policy) in searchers() {
        let evaluated = think(&*policy, fives, policy.about().default_limits);
        let Standing::Won(proof) = decide(&evaluated).get_standing() else {
            panic!("{name}: all fives can be cleared")
        };
        assert_eq!((proof.how, proof.in_plies), ("bound", Some(85)));
        assert_eq!(evaluated.completion, Completion::Full);
        assert!(evaluated.work.nodes < 5_000, "{name}");
    }
    // The greedy policies prove nothing.
    let view = view_of(fives, Count::Apples);
    let normal = understudy::games::apple::policies::Normal::default();
    assert!(table(&normal, &view, 1, Limits::NONE).rows().iter().all(|row| row.get_standing() == Standing::Open));
}

/// Each term of the searching policies, switched off, changes a choice that it alone decides.
#[test]
fn searchers_need_all_three_of_their_terms() {
    let choose = |weights: Weights<_>, text: &str| {
        let board = Board::parse(text).expect("a board");
        let limits = Limits::nodes(2_000);
        let keys = [think(&Hard::weighing(weights), board, limits), think(&Expert::weighing(weights), board, limits)]
            .map(|evaluated| Apple::key(best_by_total(&evaluated).mv()));
        assert_eq!(keys[0], keys[1]);
        keys[0].clone()
    };
    let all = search_weights();
    let without = |term: AppleTerm| all.set(term as usize, 0.0);
    // The row pair leads to a full clear over gaps.
    assert_eq!(choose(all, "7522/5531"), "1,0,1,1");
    assert_eq!(choose(without(AppleTerm::Finish), "7522/5531"), "0,1,1,1");
    // All lines clear four apples (3, 9 and 7 stay, though the bound packs 3+7); the nine goes first.
    assert_eq!(choose(all, "5591397"), "0,2,0,3");
    assert_eq!(choose(without(AppleTerm::Largest), "5591397"), "0,0,0,1");
    // All lines clear five; the pair goes before the triple.
    assert_eq!(choose(all, "8110082397"), "0,5,0,6");
    assert_eq!(choose(without(AppleTerm::Kept), "8110082397"), "0,0,0,2");
}

/// The row that the terms alone would choose: standings set aside.
fn best_by_total(evaluated: &Evaluated<Apple>) -> &understudy::bot::Evaluation<Apple> {
    let better = |a: &&understudy::bot::Evaluation<Apple>, b: &&understudy::bot::Evaluation<Apple>| {
        a.total().total_cmp(&b.total()).then(b.mv().cmp(a.mv()))
    };
    evaluated.rows().iter().max_by(better).expect("a row")
}

/// Small samples of the gates; the tables are in docs/STRENGTH.md.
#[test]
fn hard_beats_normal_and_expert_beats_hard() {
    let boards: Vec<Board> = (1..=40).map(|seed| Distribution::Uniform.board(seed)).collect();
    let (mut normal, mut hard, mut expert) = (0, 0.0, 0.0);
    for board in &boards {
        let single = greedy(board, Count::Apples).score;
        let plan = |policy: &dyn Policy<Apple>, nodes| {
            think(policy, *board, Limits::nodes(nodes)).get_fact("plan_score").expect("a plan")
        };
        let by_expert = plan(&Expert::default(), 25_000);
        assert!(by_expert >= f64::from(single));
        normal += single;
        hard += plan(&Hard::default(), 5_400);
        expert += by_expert;
    }
    let n = boards.len() as f64;
    assert!(hard / n - f64::from(normal) / n >= 12.0, "{hard} {normal}");
    assert!(expert / n - hard / n >= 1.0, "{expert} {hard}");
}

/// A deadline leaves what was finished by then, and says so.
#[test]
fn a_deadline_that_cuts_expert_says_so() {
    let board = Distribution::Uniform.board(2);
    let limits = Limits::NONE.with_time(std::time::Duration::from_millis(60));
    let evaluated = think(&Expert::default(), board, limits);
    assert_eq!(evaluated.completion, Completion::Time);
    check_rows(&board, &evaluated);
    let single = f64::from(greedy(&board, Count::Apples).score);
    assert!(evaluated.get_fact("plan_score").expect("a plan") >= single);
}
