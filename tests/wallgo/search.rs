//! The searching policies: against plain minimax, against the board at the end of each line, and against the tactics.

use understudy::bot::{Bound, Budget, Completion, Evaluated, Evaluation, Limits, Policy, Standing, Terms, decide};
use understudy::games::wallgo::Wallgo;
use understudy::games::wallgo::action::Move;
use understudy::games::wallgo::policies::easy::PASSES_WHILE_BUILDING;
use understudy::games::wallgo::policies::searching::{EXPERT, OUTSIDE_WIDTH, Searching};
use understudy::games::wallgo::rules::{Position, Rules, score};
use understudy::games::wallgo::terms::WallgoTerms;

use crate::cases::{list, load, position, random_game, table, text, view_of};
use crate::rules::keys;

fn depth(depth: u32) -> Limits {
    Limits { depth: Some(depth), ..Limits::NONE }
}

fn policies() -> Vec<(&'static str, Searching)> {
    vec![("normal", Searching::normal()), ("expert", Searching::expert()), ("plain", Searching::plain())]
}

/// Minimax without any cut, straight from the rules and the terms; ends and passes as the policies treat them.
fn minimax(policy: &Searching, position: &Position, me: usize, depth: u32) -> f64 {
    let rules = Rules::default();
    let territory = position.board.territory();
    if position.end(&rules).is_some() {
        let margin = f64::from(territory.lead(me));
        return match score(&rules, &position.board, &territory).winner {
            Some(winner) if usize::from(winner) == me => 9.0 + f64::from(depth) * 0.01 + margin * 0.0001,
            Some(_) => -9.0 - f64::from(depth) * 0.01 + margin * 0.0001,
            None => 0.5,
        };
    }
    if depth == 0 || position.passes >= 2 {
        return policy.weights()[0].total(&WallgoTerms::full(&rules, position, me));
    }
    let own = position.mover() == me;
    let mut candidates = position.candidates(&rules);
    let mut unproved = f64::NEG_INFINITY;
    if own {
        let before = candidates.len();
        candidates.retain(|mv| position.after(*mv).passes == 0);
        unproved = if candidates.len() < before { 0.0 } else { unproved };
    }
    let values = candidates.iter().map(|mv| minimax(policy, &position.after(*mv), me, depth - 1));
    if own { values.fold(unproved, f64::max) } else { values.fold(f64::INFINITY, f64::min) }
}

/// What minimax gives, in the measure of a row: proofs beyond 1, else the total.
fn worth(row: &Evaluation<Wallgo>, depth: u32) -> f64 {
    match row.get_standing() {
        Standing::Won(proof) => {
            9.0 + f64::from(depth - u32::from(proof.in_plies.unwrap())) * 0.01 + f64::from(proof.margin) * 0.0001
        }
        Standing::Lost(proof) => {
            -9.0 - f64::from(depth - u32::from(proof.in_plies.unwrap())) * 0.01 + f64::from(proof.margin) * 0.0001
        }
        // No better than the win found before: no limit at all.
        _ if row.get_bound() == Bound::AtMost && row.total() > 0.999 => f64::INFINITY,
        _ => row.total(),
    }
}

#[test]
fn alpha_beta_is_minimax() {
    let rules = Rules::default();
    for seed in 0..12 {
        let game = random_game(&rules, 70 + seed);
        for back in [4, 9, 16] {
            let Some(start) = game.len().checked_sub(back).map(|at| game[at]) else { continue };
            let me = start.mover();
            let view = view_of(rules, &start);
            let plain = Searching::plain();
            let searched = Searching::plain().with_settings(|s| (s.table, s.killers) = (true, true));
            for plies in 2..=if back < 9 { 4 } else { 3 } {
                let first = table(&plain, &view, depth(plies));
                let second = table(&searched, &view, depth(plies));
                if first.work.depth < plies {
                    continue; // decided earlier
                }
                let mut best = f64::NEG_INFINITY;
                for row in first.rows().iter().filter(|row| row.get_barred().is_none()) {
                    let value = minimax(&plain, &start.after(*row.mv()), me, plies - 1);
                    best = best.max(value);
                    let told = worth(row, plies);
                    let fits = match row.get_bound() {
                        Bound::Exact => (told - value).abs() < 1e-9,
                        Bound::AtMost => told >= value - 1e-9,
                    };
                    assert!(
                        fits,
                        "seed {seed} back {back} plies {plies} {:?}: {told} {value} {:?} {:?} {start:?}",
                        row.mv(),
                        row.get_bound(),
                        row.get_line()
                    );
                }
                for found in [&first, &second] {
                    assert!((worth(decide(found), plies) - best).abs() < 1e-9, "seed {seed} back {back} plies {plies}");
                }
            }
        }
    }
}

/// Every row adds up to the terms of the board its line ends on; upper limits never stand above the best exact row.
fn check_rows(who: &str, start: &Position, table: &Evaluated<Wallgo>) -> (usize, usize) {
    let rules = Rules::default();
    let me = start.mover();
    let shown = table.rows()[0].weights().shown();
    let (mut ended, mut all) = (0, 0);
    let open = || table.rows().iter().filter(|row| row.get_barred().is_none() && row.get_standing() == Standing::Open);
    let won = table.rows().iter().any(|row| matches!(row.get_standing(), Standing::Won(_)));
    let exact = open().filter(|row| row.get_bound() == Bound::Exact).map(Evaluation::total).fold(0.0, f64::max);
    for row in table.rows() {
        assert_eq!(row.weights(), table.rows()[0].weights(), "{who}: every row has the same weights");
        assert_eq!(row.total(), row.weights().total(row.terms()));
        let values = row.terms().values();
        let level = shown.iter().all(|place| values[place] == values[shown.iter().next().unwrap()]);
        let line = if row.get_line().is_empty() { std::slice::from_ref(row.mv()) } else { row.get_line() };
        let mut last = *start;
        for mv in line {
            assert!(last.allows(&rules, *mv), "{who}: {:?} in the line {line:?}", mv);
            last = last.after(*mv);
        }
        all += 1;
        let expected = WallgoTerms::full(&rules, &last, me).values();
        let fits = level || shown.iter().all(|place| (expected[place] - values[place]).abs() < 1e-12);
        ended += usize::from(fits);
        if row.get_bound() == Bound::Exact {
            assert!(fits, "{who}: {line:?} does not end on the board of its terms");
        } else if row.get_standing() == Standing::Open && row.get_barred().is_none() {
            assert!(won || row.total() <= exact, "{who}: {:?}", row.mv());
        }
    }
    (ended, all)
}

#[test]
fn rows_carry_the_terms_of_the_leaf_of_their_line() {
    let rules = Rules::default();
    let (mut ended, mut all) = (0, 0);
    for seed in 0..6 {
        let game = random_game(&rules, 300 + seed);
        for start in game[..game.len() - 1].iter().step_by(6) {
            for (who, policy) in policies() {
                let table = table(&policy, &view_of(rules, start), Limits::nodes(20_000));
                let (fitting, rows) = check_rows(who, start, &table);
                ended += fitting;
                all += rows;
            }
        }
    }
    // A remembered position may have been forgotten again before the line was told.
    assert!(ended * 100 >= all * 95, "{ended} of {all} lines are told to their end");
}

#[test]
fn node_budgets_repeat_bit_for_bit() {
    let rules = Rules::default();
    let starts = [random_game(&rules, 1)[12], random_game(&rules, 2)[25], random_game(&rules, 3)[0]];
    for (who, policy) in policies().into_iter().chain([("sedol", Searching::sedol())]) {
        let first: Vec<_> =
            starts.iter().map(|start| table(&policy, &view_of(rules, start), Limits::nodes(30_000))).collect();
        // In another order, on another thread, after other decisions: the same position with more nodes among them, and
        // as a policy sees it that shares the thread's memory.
        let again: Vec<Evaluated<Wallgo>> = std::thread::scope(|scope| {
            let run = || {
                let decide = |start| {
                    let view = view_of(rules, start);
                    table(&Searching::sedol(), &view, Limits::nodes(40_000));
                    table(&policy, &view, Limits::nodes(90_000));
                    table(&policy, &view, Limits::nodes(30_000))
                };
                starts.iter().rev().map(decide).collect()
            };
            scope.spawn(run).join().unwrap()
        });
        for (first, again) in first.iter().zip(again.iter().rev()) {
            assert_eq!((first.rows(), first.work), (again.rows(), again.work), "{who}");
        }
        assert!(first.iter().all(|table| table.work.nodes <= 30_000));
    }
}

#[test]
fn a_spent_budget_still_answers() {
    let start = random_game(&Rules::default(), 4)[10];
    for (who, policy) in policies() {
        let view = view_of(Rules::default(), &start);
        let table = policy.evaluate(
            &view,
            &mut understudy::bot::Turn { budget: &Budget::spent(), rng: &mut understudy::bot::Rng::new(1) },
        );
        assert_eq!(table.rows().len(), start.candidates(&Rules::default()).len(), "{who}");
        assert_eq!(table.completion, Completion::Time);
        assert_eq!(table.work.nodes, 0);
        assert!(table.rows().iter().all(|row| row.get_fact("depth") == Some(0.0)));
    }
}

#[test]
fn tactics_are_seen() {
    for case in list(&load("tactics")["positions"]) {
        let id = text(&case["id"]);
        let start = position(case);
        let view = view_of(Rules::default(), &start);
        for (who, policy) in policies() {
            let table = table(&policy, &view, Limits { time: None, ..policy.about().default_limits });
            let won: Vec<String> = table
                .rows()
                .iter()
                .filter(|row| matches!(row.get_standing(), Standing::Won(proof) if proof.in_plies == Some(1)))
                .map(|row| row.mv().key())
                .collect();
            assert_eq!(crate::rules::sorted(won), keys(&case["wins_at_once"]), "{who} {id}");
            let chosen = decide(&table);
            let next = keys(&case["wins_next_whatever"]);
            if !keys(&case["wins_at_once"]).is_empty() {
                assert!(matches!(chosen.get_standing(), Standing::Won(_)), "{who} {id}");
                continue;
            }
            if who == "expert" && !next.is_empty() {
                let Standing::Won(proof) = chosen.get_standing() else { panic!("{who} {id}: {chosen:?}") };
                // Counting may settle a line before its end comes into sight.
                assert!(proof.in_plies != Some(3) || next.contains(&chosen.mv().key()), "{id}");
            }
            if who != "normal" {
                continue; // upper limits need not tell why a row is bad
            }
            // Lost at once, or to a reply that ends the game; by counting as well where a lead is too large.
            let rules = Rules::default();
            let loses = |position: &Position| {
                let territory = position.board.territory();
                position.end(&rules).is_some()
                    && score(&rules, &position.board, &territory).winner == Some(1 - start.to_move)
            };
            let mut found = 0;
            for row in table.rows() {
                let after = start.after(*row.mv());
                let replies = || after.actions(&rules).into_iter().map(|reply| after.after(reply));
                let lost = loses(&after) || after.end(&rules).is_none() && replies().any(|end| loses(&end));
                found += if lost { 1 + start.same_slots(&rules, turn_of(row.mv())).len() as u64 } else { 0 };
                let told = match row.get_standing() {
                    Standing::Lost(proof) => proof.how == "count" || proof.in_plies.is_some_and(|plies| plies <= 2),
                    _ => false,
                };
                let counted = matches!(row.get_standing(), Standing::Lost(proof) if proof.how == "count");
                assert!(told == lost || counted, "{id} {:?}", row.mv());
            }
            assert_eq!(Some(found), case["unsafe"].as_u64(), "{id}: unsafe actions");
        }
    }
}

fn turn_of(mv: &Move) -> understudy::games::wallgo::action::Turn {
    match mv {
        Move::Turn(turn) => *turn,
        other => panic!("{other:?} is no turn"),
    }
}

#[test]
fn known_mistakes_are_not_made() {
    let case = |a: &str, b: &str, e: &str, s: &str, to_move: &str| {
        position(&serde_json::json!({"a": a, "b": b, "e": e, "s": s, "to_move": to_move}))
    };
    // 17: decided by counting; whatever B does, A's lead still exceeds the mixed cells.
    let start = case(
        "24 25 43 56",
        "11 16 54 55",
        "11 12 13 15 21 22 23 24 31 32 33 41 43 44 53 54 55 62 63 65",
        "00 04 10 11 12 14 23 25 26 32 34 42 45 46",
        "B",
    );
    for (who, policy) in policies() {
        let table = table(&policy, &view_of(Rules::default(), &start), Limits::nodes(5_000));
        assert_eq!(table.get_fact("lead"), Some(-20.0));
        assert_eq!(table.get_fact("mixed"), Some(17.0));
        assert_eq!(table.get_fact("decided_by_count"), Some(1.0));
        assert_eq!(table.rows().len(), 31);
        let counted = table
            .rows()
            .iter()
            .filter(|row| matches!(row.get_standing(), Standing::Lost(proof) if proof.how == "count" && proof.in_plies.is_none()))
            .count();
        assert_eq!(counted, if who == "plain" { 0 } else { 31 }, "{who}");
    }
    // 5: one of 36 actions wins at once, by an L move.
    let start = case(
        "10 11 25 44",
        "22 34 51 63",
        "00 03 04 10 11 12 15 20 21 23 24 30 33 42 43 44 51 53 55 63",
        "00 02 11 12 13 22 23 24 25 26 33 34 35 41 44 46 50 54",
        "B",
    );
    for (_, policy) in policies() {
        let table = table(&policy, &view_of(Rules::default(), &start), Limits::nodes(5_000));
        assert_eq!(table.rows().len(), 36);
        assert_eq!(decide(&table).mv().key(), "51>40N");
    }
    // 3: border sides are not free: the boxed piece has the pass only.
    let start = case("00 33 22 55", "43 15 51 44", "00", "00", "A");
    let from_corner = |rules: Rules| {
        let all = start.actions(&rules);
        (all.iter().filter(|mv| mv.key().starts_with("00")).map(|mv| mv.key()).collect::<Vec<_>>(), all.len())
    };
    assert_eq!(from_corner(Rules::default()), (vec!["00>00-".to_owned()], 117));
    assert_eq!(from_corner(crate::cases::rules("pass=none")), (Vec::new(), 116));
    // 7: nothing left to do is a move of its own.
    let start = case("00 06 60 66", "01 33 34 43", "01 05 60 65", "00 01 06 50 56", "A");
    let hemmed = crate::cases::rules("stay=round_trip_only,pass=none");
    let view = view_of(hemmed, &start);
    for (_, policy) in policies() {
        let table = table(&policy, &view, Limits::nodes(2_000));
        assert_eq!(decide(&table).mv(), &Move::Skip);
        assert_eq!(table.rows().len(), 1);
    }
    assert_eq!(Position { to_move: 1, ..start }.actions(&hemmed).len(), 110);
}

#[test]
fn it_never_passes_while_it_can_build() {
    let rules = Rules::default();
    let mut passes = 0;
    for seed in 0..60 {
        for start in random_game(&rules, 500 + seed) {
            let boxed = start.board.boxed(start.board.pieces[start.mover()]) != 0;
            if start.end(&rules).is_some() || !boxed {
                continue;
            }
            for (who, policy) in policies() {
                let table = table(&policy, &view_of(rules, &start), Limits::nodes(1_500));
                for row in table.rows().iter().filter(|row| start.after(*row.mv()).passes > 0) {
                    assert_eq!(row.get_barred(), Some(PASSES_WHILE_BUILDING), "{who}");
                    passes += 1;
                }
                assert_eq!(start.after(*decide(&table).mv()).passes, 0, "{who}");
            }
        }
    }
    assert!(passes > 100);
}

#[test]
fn normal_looks_into_its_width_and_says_so() {
    let start = random_game(&Rules::default(), 9)[3];
    let limits = Limits { time: None, ..Searching::normal().about().default_limits };
    let table = table(&Searching::normal(), &view_of(Rules::default(), &start), limits);
    let outside = table.rows().iter().filter(|row| row.get_barred() == Some(OUTSIDE_WIDTH)).count();
    let open = table.rows().iter().filter(|row| row.get_barred().is_none() && row.get_standing() == Standing::Open);
    assert_eq!((table.work.depth, table.completion), (3, Completion::Full), "{:?}", table.work);
    assert_eq!(open.count(), 24);
    assert!(outside > 20);
    assert!(table.work.nodes < 150_000, "{}", table.work.nodes);
}

#[test]
fn experts_best_total_is_the_same_in_all_images() {
    let full_width = Searching::expert().with_settings(|settings| {
        assert_eq!(*settings, EXPERT);
        (settings.table, settings.bridge) = (false, 0);
    });
    let mut totals: std::collections::HashMap<String, Vec<f64>> = Default::default();
    for case in list(&load("symmetry")["images"]) {
        let start = position(case);
        let table = table(&full_width, &view_of(Rules::default(), &start), depth(3));
        totals.entry(text(&case["of"]).to_owned()).or_default().push(decide(&table).total());
    }
    assert_eq!(totals.len(), 3);
    for (id, totals) in totals {
        assert_eq!(totals.len(), 16);
        assert!(totals.iter().all(|total| (total - totals[0]).abs() < 1e-12), "{id}: {totals:?}");
    }
}

#[test]
fn each_term_of_the_search_switched_off_changes_a_table() {
    let expert = Searching::expert();
    let games = [random_game(&Rules::default(), 21), random_game(&Rules::default(), 22)];
    let starts: Vec<&Position> = games.iter().flat_map(|game| game[..game.len() - 1].iter().step_by(5)).collect();
    let totals = |policy: &dyn Policy<Wallgo>| -> Vec<f64> {
        let tables = starts.iter().map(|start| table(policy, &view_of(Rules::default(), start), depth(2)));
        tables.flat_map(|table| table.rows().iter().map(Evaluation::total).collect::<Vec<_>>()).collect()
    };
    let whole = totals(&expert);
    let terms = expert.about().terms;
    assert_eq!(terms.iter().count(), 8);
    for place in terms.iter() {
        let id = WallgoTerms::SPECS[place].id;
        let mut without = expert.table(None).unwrap();
        let column = without.terms.iter().position(|term| *term == id).unwrap();
        without.rows.iter_mut().for_each(|row| row[column] = 0.0);
        let policy = expert.with_weights(&without, None).unwrap();
        assert_ne!(totals(&*policy), whole, "{id} is not tested");
    }
}

#[test]
fn active_is_half_plus_an_eighth_of_the_difference_of_competing_pieces() {
    for (a, b, east, south, expected) in [
        // All compete; one of A's is boxed; so are two of A's and one of B's.
        ("11 33 22 55", "43 15 51 44", "", "", 0.5),
        ("00 33 22 55", "43 15 51 44", "00", "00", 0.5 - 1.0 / 8.0),
        ("00 33 22 60", "43 15 06 44", "00 05 60", "00 06 50", 0.5 - 1.0 / 8.0),
        // A boxed piece of B alone.
        ("11 33 22 55", "43 15 06 44", "05", "06", 0.5 + 1.0 / 8.0),
    ] {
        let start = position(&serde_json::json!({"a": a, "b": b, "e": east, "s": south, "to_move": "A"}));
        let value = |me| WallgoTerms::full(&Rules::default(), &start, me).active.get();
        assert_eq!((value(0), value(1)), (expected, 1.0 - expected), "{a} against {b}");
    }
}
