//! `hard`: terms, plans, stops, and what must hold in every table.

use crate::data::{file, list, mv, text, view, views};
use crate::play::{budget, rounds, table};
use proptest::prelude::*;
use understudy::bot::{Evaluated, Game, Policy, Referee, Rng, Seat, Standing, Terms, Turn, Unit, decide};
use understudy::games::hoola::Hoola;
use understudy::games::hoola::appraise::State;
use understudy::games::hoola::card::{Card, Cards};
use understudy::games::hoola::chances::{Rivals, subset_sums};
use understudy::games::hoola::meld::RunWrap;
use understudy::games::hoola::moves::Move;
use understudy::games::hoola::phase::Phase;
use understudy::games::hoola::policies::expert::Expert;
use understudy::games::hoola::policies::habits::{Habit, Habitual};
use understudy::games::hoola::policies::hard::{Hard, STAGES};
use understudy::games::hoola::terms::{HoolaTerm, HoolaTerms};

fn cards(names: &str) -> Cards {
    let deck: Vec<Card> = Cards::ALL.iter().collect();
    let find = |name: &str| *deck.iter().find(|card| card.name() == name).unwrap_or_else(|| panic!("no card {name}"));
    names.split_whitespace().map(find).collect()
}

const PLAIN: State = State { hand: Cards::NONE, fits: Cards::NONE, registered: false, wait: false, draw: false };

/// The terms of a hand left, everything else unseen.
fn terms(hand: &str) -> HoolaTerms {
    of(&State { hand: cards(hand), ..PLAIN })
}

fn of(state: &State) -> HoolaTerms {
    state.terms(!state.hand, 7, RunWrap::Ring)
}

/// Every term with another value in `b`.
fn changed(a: &HoolaTerms, b: &HoolaTerms) -> Vec<&'static str> {
    let pairs = a.values().into_iter().zip(b.values());
    pairs.zip(HoolaTerms::SPECS).filter(|((a, b), _)| a != b).map(|(_, spec)| spec.id).collect()
}

#[test]
fn cards_is_the_size_of_the_hand() {
    assert_eq!(terms("2c 5d 9h").cards, Unit::ratio(3, 7));
    assert_eq!(terms("2c 5d Kh").cards, terms("2c 5d 9h").cards, "not its value");
}

#[test]
fn sum_is_the_value_of_the_hand() {
    assert_eq!(terms("Ac 5d Kh").sum, Unit::ratio(19, 100));
    assert_eq!(terms("9c Td").sum, Unit::ratio(19, 100), "not its size");
}

#[test]
fn low_is_the_part_of_the_sum_that_decides_stops() {
    assert_eq!(terms("Ac 5d").low, Unit::ratio(6, 15));
    assert_eq!((terms("Ac Kd 9h").low, terms("2c 5d 8h").low), (Unit::ONE, Unit::ONE), "nothing above 15");
}

#[test]
fn sevens_counts_sevens() {
    assert_eq!(terms("7c 7d 9h").sevens, Unit::HALF);
    assert_eq!(terms("8c 6d 9h").sevens, Unit::ZERO);
}

#[test]
fn reach_is_the_distance_to_laying_everything() {
    // Two melds and a free card; a pair short of a meld; two lone cards.
    let reach = |hand: &str| (terms(hand).reach0.get(), terms(hand).reach1.get());
    assert_eq!(reach("3c 4c 5c 9d 9h 9s Kd"), (1.0, 0.0));
    assert_eq!(reach("3c 4c 5c 9d 9h Kd"), (0.0, 1.0));
    assert_eq!(reach("3c 4c 5c 9d Jh Kd"), (0.0, 0.0));
    // The same pair with no card left that would complete it.
    let state = State { hand: cards("3c 4c 5c 9d 9h Kd"), ..PLAIN };
    let seen = cards("9c 9s");
    assert_eq!(state.terms(!state.hand - seen, 7, RunWrap::Ring).reach1, Unit::ZERO);
    // Value moves nothing.
    assert_eq!(reach("2c 3c 4c 8d 8h 8s Qd"), (1.0, 0.0));
}

#[test]
fn outs_counts_the_cards_that_complete_two_of_the_hand() {
    assert_eq!(terms("3c 4c Kd").outs, Unit::ratio(2, 32));
    assert_eq!(terms("3c 5c Kd").outs, Unit::ratio(1, 32));
    assert_eq!(terms("Kc Kd 2c").outs, Unit::ratio(3, 32), "two kings, and the ace between K and 2 on the ring");
    let state = State { hand: cards("Kc Kd 2h"), ..PLAIN };
    let unseen = !state.hand - cards("Kh");
    assert_eq!(state.terms(unseen, 7, RunWrap::Ring).outs, Unit::ratio(1, 32), "dead cards do not count");
    assert_eq!(terms("3c 4c Qd").outs, terms("3c 4c Kd").outs, "not the third card");
}

#[test]
fn wait_is_a_flag_and_changes_nothing_else() {
    let state = State { hand: cards("3c 4c 5c 9d"), ..PLAIN };
    assert_eq!(changed(&of(&state), &of(&State { wait: true, ..state })), ["wait"]);
    assert_eq!(changed(&of(&state), &of(&State { draw: true, ..state })), [""; 0]);
}

#[test]
fn left_counts_what_cannot_be_laid() {
    assert_eq!(terms("3c 4c 5c 9d Jh").left, Unit::ratio(2, 7));
    assert_eq!(terms("7c 6c 9d Jh").left, Unit::ratio(2, 7), "the 6 goes on the 7");
    // What fits the table counts once the seat is registered.
    let state = State { hand: cards("9d Jh"), fits: cards("9d"), ..PLAIN };
    assert_eq!(of(&state).left, Unit::ratio(2, 7));
    assert_eq!(of(&State { registered: true, ..state }).left, Unit::ratio(1, 7));
    assert_eq!(terms("3d 4d 5d Kh Jh").left, Unit::ratio(2, 7), "not the value");
}

#[test]
fn blocked_is_when_nothing_can_be_laid() {
    assert_eq!(terms("2c 5d 9h Kd").blocked, Unit::ONE);
    assert_eq!(terms("2c 5d 7h Kd").blocked, Unit::ZERO);
    assert_eq!(terms("9h").blocked, Unit::ONE, "whatever the size");
}

#[test]
fn base_is_one() {
    assert_eq!((terms("2c").base, terms("7c 8c 9c").base), (Unit::ONE, Unit::ONE));
}

/// Decisions over the cases of the tree.
fn decisions(policy: &Hard, views: &[understudy::games::hoola::view::View]) -> Vec<Move> {
    views.iter().map(|view| *decide(&table(policy, view)).mv()).collect()
}

#[test]
fn each_term_switched_off_changes_a_decision_of_the_cases() {
    let views = case_views();
    let whole = decisions(&Hard::default(), &views);
    for place in Hard::default().about().terms.iter() {
        let id = HoolaTerms::SPECS[place].id;
        let without = decisions(&Hard::default().without(id).expect("a term"), &views);
        assert!(whole != without, "{id} decides nothing");
    }
}

/// The views of the case files and those of rounds of `hard`.
fn case_views() -> Vec<understudy::games::hoola::view::View> {
    let cases: Vec<_> = list(&file("hard"), "cases").iter().map(|case| view(&case["view"])).collect();
    [views(), cases].concat()
}

#[test]
fn every_case_is_decided_as_recorded() {
    for case in list(&file("hard"), "cases") {
        let table = table(&Hard::default(), &view(&case["view"]));
        assert_eq!(*decide(&table).mv(), mv(text(&case["move"])), "{}", case["id"]);
    }
}

#[test]
fn it_holds_back_while_a_hoola_is_near_and_registers_when_it_is_not() {
    let file = file("hard");
    let case = |id: &str| {
        let case = list(&file, "cases").iter().find(|case| case["id"] == id).expect("a case");
        view(&case["view"])
    };
    let (near, far) = (case("hoola near"), case("hoola far"));
    for view in [&near, &far] {
        assert!(Hoola::legal(view).iter().any(|mv| matches!(mv, Move::Register(_))));
    }
    let hold = table(&Hard::default(), &near);
    assert!(matches!(decide(&hold).mv(), Move::Discard(_)));
    let reach = decide(&hold).terms().reach0.get() + decide(&hold).terms().reach1.get();
    assert_eq!(reach, 1.0, "what it holds back for");
    let blind = Hard::default().without("reach0").and_then(|hard| hard.without("reach1")).expect("terms");
    assert!(matches!(decide(&table(&blind, &near)).mv(), Move::Register(_)), "reach decides");
    let lay = table(&Hard::default(), &far);
    assert!(matches!(decide(&lay).mv(), Move::Register(_)));
    let stay = lay.rows().iter().filter(|row| matches!(row.mv(), Move::Discard(_)));
    assert!(stay.into_iter().all(|row| row.terms().reach0 == Unit::ZERO && row.terms().reach1 == Unit::ZERO));
}

/// Every table of every kind of view: rows are the legal moves, sums add up, lines are playable to their ends.
#[test]
fn tables_are_whole_and_lines_can_be_played() {
    let mut lines = 0;
    rounds(60, &mut |state, seat| {
        let view = state.view(seat);
        let table = table(&Hard::default(), &view);
        let moves: Vec<Move> = table.rows().iter().map(|row| *row.mv()).collect();
        assert_eq!(moves, Hoola::legal(&view));
        for row in table.rows() {
            let sum: f64 = row
                .weights()
                .shown()
                .iter()
                .map(|place| row.terms().values()[place] * row.weights().in_force(place))
                .sum();
            assert!((sum - row.total()).abs() <= 1e-9 && row.total().is_finite());
            assert_eq!(row.get_payoff().expect("points").mean, row.total());
            if view.phase() != Phase::Action {
                continue;
            }
            lines += 1;
            let mut after = state.clone();
            for &mv in row.get_line() {
                Hoola::resolve(&mut after, &[(seat, mv)]).unwrap_or_else(|illegal| panic!("{illegal} in {row:?}"));
            }
            assert!(after.round().finish().is_some() || after.round().phase() == Phase::Window, "a whole turn");
            let won = matches!(row.get_standing(), Standing::Won(_));
            assert_eq!(won, after.round().finish().is_some(), "an empty hand is a proven win, and nothing else is");
        }
    });
    assert!(lines > 5_000, "{lines} lines");
}

/// The whole of a table's worth: proven wins by margin, else the total.
fn worth(table: &Evaluated<Hoola>) -> f64 {
    match decide(table).get_standing() {
        Standing::Won(proof) => 1e6 * f64::from(proof.margin),
        _ => decide(table).total(),
    }
}

#[test]
fn planning_again_never_finds_less_than_what_was_left_of_the_plan() {
    let mut turns = 0;
    let mut seed = 0;
    while turns < 10_000 {
        rounds_from(seed, 40, &mut |state, seat| {
            let first = state.view(seat);
            if first.phase() != Phase::Action {
                return;
            }
            turns += 1;
            let mut after = state.clone();
            let mut best = f64::NEG_INFINITY;
            loop {
                let table = table(&Hard::default(), &after.view(seat));
                assert_eq!(table.get_fact("plans_cut"), Some(0.0));
                let now = worth(&table);
                assert!(now >= best - 1e-9, "{now} after {best}");
                best = now;
                Hoola::resolve(&mut after, &[(seat, *decide(&table).mv())]).expect("legal");
                if after.round().finish().is_some() || after.round().phase() != Phase::Action {
                    break;
                }
            }
        });
        seed += 40;
    }
}

use crate::play::rounds_from;

#[test]
fn a_turn_of_eight_that_goes_out_is_found() {
    let file = file("mistakes");
    let case = list(&file, "cases").iter().find(|case| case["id"] == "greedy-run").expect("a case");
    let table = table(&Hard::default(), &view(&case["view"]));
    let best = decide(&table);
    let Standing::Won(proof) = best.get_standing() else { panic!("a hoola is there: {best:?}") };
    assert_eq!((proof.in_plies, proof.margin, proof.how), (Some(1), 4, "goes_out"));
    let keeps: Vec<String> = table
        .rows()
        .iter()
        .filter(|row| matches!(row.get_standing(), Standing::Won(_)))
        .map(|row| Hoola::key(row.mv()))
        .collect();
    assert_eq!(keeps, ["reg:5,18,31", "reg:28,29,30", "reg:32"], "and every first move on the way to it");
    assert_eq!(best.terms().win, Unit::ONE);
    assert!((best.total() - 4.0 * table.get_fact("pot").expect("pot")).abs() < 1e-9);
}

#[test]
fn certain_stops_are_always_played_and_normal_ones_are_priced() {
    let (mut certain, mut priced) = (0, 0);
    for case in list(&file("stops"), "cases") {
        let table = table(&Hard::default(), &view(&case["view"]));
        let stops = table.rows().iter().filter(|row| matches!(row.mv(), Move::Stop(_)));
        for row in stops {
            let fact = |id| row.get_fact(id).expect("facts of a stop row");
            let (p, win, fail) = (fact("p_win"), fact("win_pay"), fact("fail_pay"));
            assert!((row.total() - (p * win - (1.0 - p) * fail)).abs() < 1e-9, "{row:?}");
            match row.get_standing() {
                Standing::Won(proof) => {
                    certain += 1;
                    assert_eq!((proof.how, p), ("certain_stop", 1.0));
                    assert!(matches!(decide(&table).mv(), Move::Stop(_)), "{case}");
                }
                _ => priced += 1,
            }
        }
    }
    assert!(certain > 5 && priced > 3, "{certain} certain, {priced} priced");
}

#[test]
fn a_lone_low_card_stops_and_fifteen_does_not() {
    // Three unregistered rivals with seven cards each are hardly ever below 1, and below 15 hardly ever either; with
    // three rivals of one card each, 12 is far too much.
    let base = |hand: serde_json::Value, rival_cards: u32, deck: u32| {
        serde_json::json!({"ruleset": {"players": 3}, "seat": 0, "starter": 0, "turn_seat": 0, "phase": "TURN_START",
            "hand": hand,
            "seats": [{"hand_count": 1, "registered": true, "known_cards": []},
                      {"hand_count": rival_cards, "registered": true, "known_cards": []},
                      {"hand_count": 7, "registered": false, "known_cards": []}],
            "melds": [{"id": 0, "owner": 0, "kind": "RUN", "cards": [27, 28, 29, 30, 31, 32]},
                      {"id": 1, "owner": 1, "kind": "RUN", "cards": (46 - (7 - rival_cards)..46).collect::<Vec<_>>()}],
            "discards": [{"card": 51, "seat": -1, "taken_by": -1}, {"card": 50, "seat": 0, "taken_by": -1},
                         {"card": 49, "seat": 1, "taken_by": -1}, {"card": 48, "seat": 2, "taken_by": -1}],
            "deck_remaining": deck, "turn": null})
    };
    let stop = |hand: serde_json::Value, rival_cards| {
        let view = view(&base(hand, rival_cards, 27));
        let table = table(&Hard::default(), &view);
        let row = table.row(&mv("stop:NORMAL")).expect("within the limit");
        (row.get_fact("p_win").expect("p"), *decide(&table).mv())
    };
    let (sure, played) = stop(serde_json::json!([0]), 3);
    assert!(sure > 0.95, "{sure}");
    assert_eq!(played, mv("stop:NORMAL"));
    let (poor, played) = stop(serde_json::json!([11]), 1);
    assert!(poor < 0.3, "{poor}");
    assert_eq!(played, Move::Draw);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn subset_sums_agree_with_listing(bits in 0u64..1 << 52, mask in any::<u64>(), mask2 in any::<u64>()) {
        let cards: Cards = Cards::from_bits(bits & mask & mask2).iter().take(12).collect();
        for seven in [7, 14] {
            let counts = subset_sums(cards, seven);
            let list: Vec<Card> = cards.iter().collect();
            let mut listed = vec![vec![0.0; counts[0].len()]; 8];
            for part in 0u32..1 << list.len() {
                let held = list.iter().enumerate().filter(|&(i, _)| part >> i & 1 == 1);
                let held: Cards = held.map(|(_, &card)| card).collect();
                if held.len() <= 7 {
                    listed[held.len() as usize][held.sum(seven) as usize] += 1.0;
                }
            }
            for (counted, listed) in counts.iter().zip(&listed) {
                prop_assert_eq!(&counted[..], &listed[..]);
            }
        }
    }
}

#[test]
fn the_pot_is_the_sum_of_expected_dues() {
    let cases = file("stops");
    let case = list(&cases, "cases").iter().find(|case| case["id"] == "four sevens").expect("a case");
    let view = view(&case["view"]);
    // Three unregistered rivals without a 7 left for them: last place 4 pays 4, doubled, three times.
    assert_eq!(Rivals::new(&view, view.unseen()).pot(), 24.0);
}

#[test]
fn twins_get_the_same_table_at_every_decision_point() {
    let (mut points, mut differ) = ([0; 3], 0);
    let mut rng = Rng::new(9);
    rounds(12, &mut |state, seat| {
        let view = state.view(seat);
        points[match view.phase() {
            Phase::TurnStart => 0,
            Phase::Action => 1,
            Phase::Window => 2,
        }] += 1;
        let twin = Hoola::twin(state, seat, &mut rng);
        assert_eq!(Hoola::view(&twin, seat), view);
        differ += u32::from(twin.round().hands() != state.round().hands());
        let think = |view| {
            let mut rng = Rng::new(3);
            let budget = understudy::bot::Budget::new(understudy::bot::Limits::worlds(5));
            Expert::default().evaluate(view, &mut Turn { budget: &budget, rng: &mut rng })
        };
        assert_eq!(think(&Hoola::view(&twin, seat)), think(&view));
        assert_eq!(table(&Hard::default(), &Hoola::view(&twin, seat)), table(&Hard::default(), &view));
    });
    assert!(points.iter().all(|&count| count > 50) && differ > 500, "{points:?}, {differ} differ");
}

/// What each arena-only variant does by rule, in every position where the rule has a say.
#[test]
fn habits_hold_unless_a_win_is_at_hand() {
    let habits = [
        Habit::Registers,
        Habit::StopsLikeEasy,
        Habit::StopsAlways,
        Habit::ClaimsAlways,
        Habit::NeverClaims,
        Habit::LaysOff,
    ];
    let mut spoke = [0; 6];
    rounds(25, &mut |state, seat| {
        let view = state.view(seat);
        let legal = Hoola::legal(&view);
        let any = |wanted: fn(&Move) -> bool| legal.iter().any(wanted);
        for (habit, spoke) in habits.into_iter().zip(&mut spoke) {
            let table = table(&Habitual::new(habit), &view);
            let best = decide(&table);
            if matches!(best.get_standing(), Standing::Won(_)) {
                continue;
            }
            let mv = best.mv();
            let stop = crate::data::mv("stop:NORMAL");
            let kept = match habit {
                Habit::Registers if !view.registered() && any(|mv| matches!(mv, Move::Register(_))) => {
                    matches!(mv, Move::Register(_))
                }
                Habit::StopsAlways if legal.contains(&stop) => *mv == stop,
                Habit::StopsLikeEasy if legal.contains(&stop) => (*mv == stop) == (view.scene().sum() <= 5),
                Habit::ClaimsAlways if any(|mv| matches!(mv, Move::Claim(_))) => matches!(mv, Move::Claim(_)),
                Habit::NeverClaims if any(|mv| matches!(mv, Move::Claim(_) | Move::Take(_))) => {
                    !matches!(mv, Move::Claim(_) | Move::Take(_))
                }
                Habit::LaysOff if any(|mv| matches!(mv, Move::LayOff { .. })) => matches!(mv, Move::LayOff { .. }),
                _ => continue,
            };
            *spoke += 1;
            assert!(kept, "{habit:?} plays {mv} in\n{}", view.picture());
        }
    });
    assert!(spoke.iter().all(|&count| count > 3), "{spoke:?}");
}

#[test]
fn weights_are_replaced_by_number_of_players() {
    let hard = Hard::default();
    let mut table = hard.table(None).expect("tunable");
    assert_eq!(table.stages, STAGES);
    table.rows.iter_mut().for_each(|row| row[0] = 9.0);
    let three = hard.reweighed(&table, Some(3)).expect("it fits");
    let base = |hard: &Hard, players| hard.rows(players)[0].base(HoolaTerm::Base as usize);
    assert_eq!(base(&three, 3), 9.0);
    assert_eq!(base(&three, 4), base(&hard, 4));
    assert_eq!(base(&hard.reweighed(&table, None).expect("it fits"), 4), 9.0);
    let four = understudy::bot::WeightTable {
        stages: table.stages[4..8].to_vec(),
        rows: table.rows[4..8].to_vec(),
        ..table.clone()
    };
    assert_eq!(base(&hard.reweighed(&four, Some(3)).expect("it fits"), 3), 9.0);
    assert!(hard.reweighed(&four, Some(4)).is_err() && hard.reweighed(&four, None).is_err());
    // Columns in another order mean the same.
    let mut turned = table.clone();
    turned.terms.reverse();
    turned.rows.iter_mut().for_each(|row| row.reverse());
    let again = hard.reweighed(&turned, Some(3)).expect("it fits");
    assert_eq!(again.weights(), three.weights());
    let _ = (budget(), Seat(0));
}
