//! Scripted rounds, played step by step by the referee.

use crate::data::{cards, file, int, ints, list, mv, rules, seat, text, view};
use crate::settlement::end;
use serde_json::Value;
use understudy::bot::{Ask, Budget, Game, Policy, Referee, Rng, Seat, Seats, Turn};
use understudy::games::hoola::Hoola;
use understudy::games::hoola::card::Card;
use understudy::games::hoola::moves::Move;
use understudy::games::hoola::phase::Phase;
use understudy::games::hoola::policies::easy::Easy;
use understudy::games::hoola::rollout;
use understudy::games::hoola::rules::Rules;
use understudy::games::hoola::settlement::End;
use understudy::games::hoola::state::State;

fn state(case: &Value) -> State {
    let ids = ints(&case["cards"]);
    let deck: Vec<Card> = ids.iter().map(|&id| Card::new(id as u32).expect("a card")).collect();
    let deck: [Card; 52] = deck.try_into().expect("52 cards");
    State::begin(rules(&case["ruleset"]), &deck, Seat(int(&case["starter"]) as u8))
}

fn phase(state: &State) -> &'static str {
    match (state.ask(), state.round().phase()) {
        (Ask::Over(_), _) => "END",
        (_, Phase::TurnStart) => "TURN_START",
        (_, Phase::Action) => "ACTION",
        (_, Phase::Window) => "WINDOW",
    }
}

fn may_answer(state: &State) -> Vec<i64> {
    match state.ask() {
        Ask::One(seat) => vec![i64::from(seat.0)],
        Ask::Window(seats) => {
            state.round().priority().filter(|&seat| seats.contains(seat)).map(|seat| i64::from(seat.0)).collect()
        }
        Ask::Over(_) => Vec::new(),
    }
}

fn check_end(state: &State, result: &Value) {
    let finish = state.round().finish().expect("the round is over");
    assert_eq!(finish.end, end(text(&result["end"])));
    assert_eq!(finish.actor, seat(&result["actor"]));
    let paid = state.round().paid().expect("paid");
    let players = state.round().hands().len();
    assert_eq!(paid.payments[..players], ints(&result["payments"]));
    let winners = ints(&result["winners"]).into_iter().fold(Seats::default(), |set, w| set.with(Seat(w as u8)));
    assert_eq!(paid.winners, winners);
    assert_eq!(i64::from(paid.next_starter.0), int(&result["next_starter"]));
}

#[test]
fn every_scripted_round_goes_as_written() {
    for case in list(&file("rounds"), "rounds") {
        let mut state = state(case);
        for step in list(case, "steps") {
            let answer = (Seat(int(&step[0]) as u8), mv(text(&step[1])));
            state.resolve(&[answer]).unwrap_or_else(|illegal| panic!("{illegal}: {step} in {}", case["label"]));
            assert_eq!(phase(&state), text(&step[2]), "{step} in {}", case["label"]);
            assert_eq!(may_answer(&state), ints(&step[3]), "{step} in {}", case["label"]);
        }
        check_end(&state, &case["result"]);
        let last = &case["final"];
        for (hand, expected) in state.round().hands().iter().zip(list(last, "hands")) {
            assert_eq!(*hand, cards(expected), "{}", case["label"]);
        }
        assert_eq!(i64::from(state.round().deck_remaining()), int(&last["deck_remaining"]));
        let melds = list(last, "melds");
        assert_eq!(state.round().melds().list().len(), melds.len());
        for (meld, expected) in state.round().melds().list().iter().zip(melds) {
            assert_eq!(meld.cards, cards(&expected["cards"]), "{}", case["label"]);
            assert_eq!(i64::from(meld.owner), int(&expected["owner"]));
            assert_eq!(format!("{:?}", meld.kind).to_uppercase(), text(&expected["kind"]));
        }
    }
}

fn mistake(id: &str) -> Value {
    let file = file("mistakes");
    list(&file, "cases").iter().find(|case| case["id"] == id).expect("a case").clone()
}

#[test]
fn a_claim_goes_to_the_nearest_seat_whatever_the_order_of_answers() {
    let case = mistake("claim-priority");
    let mut before = state(&case);
    let passes: Vec<_> = (0..5).map(|seat| (Seat(seat), Move::Pass)).collect();
    before.resolve(&passes).expect("all pass");
    for (seat, key) in [(2, "draw"), (2, "disc:34")] {
        before.resolve(&[(Seat(seat), mv(key))]).expect("legal");
    }
    let answer = |seat: i64| (Seat(seat as u8), mv(text(&case["answers"][seat.to_string()])));
    for run in list(&case, "runs") {
        let arrival: Vec<_> = ints(&run["arrival"]).into_iter().map(answer).collect();
        let mut one_by_one = before.clone();
        let mut needed = 0;
        while phase(&one_by_one) == "WINDOW" {
            one_by_one.resolve(&arrival[needed..=needed]).expect("legal");
            needed += 1;
        }
        assert_eq!(needed as i64, int(&run["answers_needed"]), "{run}");
        assert_eq!(may_answer(&one_by_one), [int(&run["claimer"])]);
        let mut at_once = before.clone();
        at_once.resolve(&arrival).expect("legal");
        assert_eq!(at_once, one_by_one);
    }
}

#[test]
fn free_trading_ends_after_a_hundred_turns() {
    let case = mistake("free-trading-ends");
    let mut state = state(&case);
    let mut turns = 0;
    loop {
        let answers: Vec<(Seat, Move)> = match state.ask() {
            Ask::Over(_) => break,
            Ask::Window(seats) => seats.iter().map(|seat| (seat, Move::Pass)).collect(),
            Ask::One(seat) => {
                let view = state.view(seat);
                let legal = Hoola::legal(&view);
                let discard = legal.iter().find(|mv| matches!(mv, Move::Discard(_)));
                turns += i64::from(discard.is_some());
                vec![(seat, *discard.unwrap_or(&mv("take")))]
            }
        };
        state.resolve(&answers).expect("legal");
    }
    assert_eq!(turns, int(&case["turns"]));
    assert_eq!(i64::from(state.round().deck_remaining()), int(&case["deck_remaining"]));
    check_end(&state, &case["result"]);
}

#[test]
fn a_hoola_needs_the_shorter_run() {
    let case = mistake("greedy-run");
    assert_eq!(text(&case["reachable"]), "HOOLA");
    assert!(Hoola::legal(&view(&case["view"])).contains(&mv("reg:28,29,30")));
}

/// One round through the referee with a policy in every seat, every view checked on the way.
fn play(seed: u64, rules: &Rules, mut choose: impl FnMut(&State, Seat) -> Move) -> State {
    let mut state = Hoola::deal(rules, rules.players, seed);
    loop {
        let seats = match Hoola::ask(&state) {
            Ask::Over(_) => return state,
            Ask::One(seat) => Seats::default().with(seat),
            Ask::Window(seats) => seats,
        };
        let answers: Vec<_> = seats.iter().map(|seat| (seat, choose(&state, seat))).collect();
        Hoola::resolve(&mut state, &answers).expect("legal");
        conserved(&state);
    }
}

/// 52 cards, each in one place; melds valid; unregistered seats with 7 cards at turn start.
fn conserved(state: &State) {
    let round = state.round();
    let view_of = match state.ask() {
        Ask::One(seat) => Some(seat),
        Ask::Window(seats) => seats.iter().next(),
        Ask::Over(_) => None,
    };
    let held: u32 = round.hands().iter().map(|hand| hand.len()).sum();
    let all = round.hands().iter().fold(round.melds().cards(), |all, &hand| all | hand);
    assert_eq!(held + round.melds().cards().len(), all.len(), "no card in two places");
    if let Some(seat) = view_of {
        let view = state.view(seat);
        assert_eq!(view.unseen().len() + view.seen().len(), 52);
    }
    if round.phase() == Phase::TurnStart {
        for (i, hand) in round.hands().iter().enumerate() {
            assert!(round.registered().contains(Seat(i as u8)) || hand.len() == 7);
        }
    }
}

#[test]
fn easy_rounds_conserve_cards_and_points() {
    let budget = Budget::unlimited();
    for players in 2..=5 {
        for seed in 0..150 {
            let rules = Rules { players, ..Rules::default() };
            let state = play(seed, &rules, |state, seat| {
                let mut turn = Turn { budget: &budget, rng: &mut Rng::new(0) };
                Easy.shortcut(&state.view(seat), &mut turn).expect("easy has a shortcut")
            });
            assert_eq!(state.round().paid().expect("over").payments.iter().sum::<i64>(), 0);
        }
    }
}

#[test]
fn random_rounds_under_every_switch_conserve_cards_and_points() {
    let sets = [
        "",
        "discard_draw=FREE",
        "discard_draw=THANKYOU_ONLY",
        "run_wrap=ACE_LOW",
        "run_wrap=ACE_HIGH_OR_LOW",
        "hoola_layoff=OWN",
        "hoola_layoff=NONE dokbak_scope=ANY_WIN",
        "seven_hand_value=14 tie_split=NEXT_STARTER",
        "stop_limit=40 low_limit=0 payer_inherits_baks=false",
        "chongtong_unregistered_only=true dokbak_scope=OFF",
    ];
    for (set, players) in sets.into_iter().zip((2..=5).cycle()) {
        let rules = Rules { players, ..Rules::parse(&format!("hoola.standard.v1 {set}")).expect("a ruleset") };
        for seed in 0..60 {
            let mut rng = Rng::new(seed).split("moves");
            let state = play(seed, &rules, |state, seat| {
                let legal = state.round().scene(seat).legal();
                // Melds and claims rather than discards, or rounds of random moves see little of the table.
                let eager =
                    legal.iter().find(|mv| matches!(mv, Move::Claim(_) | Move::Register(_) | Move::LayOff { .. }));
                let any = legal[rng.below(legal.len() as u64) as usize];
                *eager.filter(|_| rng.below(2) == 0).unwrap_or(&any)
            });
            assert_eq!(state.round().paid().expect("over").payments.iter().sum::<i64>(), 0);
        }
    }
}

#[test]
fn a_rollout_is_the_same_round_as_with_views() {
    let budget = Budget::unlimited();
    for seed in 0..200 {
        let rules = Rules { players: 2 + (seed % 4) as u8, ..Rules::default() };
        let with_views = play(seed, &rules, |state, seat| {
            let mut turn = Turn { budget: &budget, rng: &mut Rng::new(0) };
            Easy.shortcut(&state.view(seat), &mut turn).expect("easy has a shortcut")
        });
        let mut round = *Hoola::deal(&rules, rules.players, seed).round();
        let paid = rollout::paid(&mut round);
        assert_eq!(round.finish(), with_views.round().finish());
        assert_eq!(Some(paid), with_views.round().paid());
        assert_eq!(round.hands(), with_views.round().hands());
    }
}

/// What section 6 of the rules' reference measured for `easy` among itself, by number of players: completed turns,
/// then shares of OUT, HOOLA, STOP_OK, STOP_FAIL, EXHAUSTED and of hoolas fed by a discard; its sample; the spread of
/// the turns.
const MEASURED: [(u8, f64, [f64; 6], f64, f64); 4] = [
    (2, 9.73, [0.321, 0.0069, 0.611, 0.061, 0.0, 0.0019], 53_000.0, 4.6),
    (3, 9.29, [0.378, 0.0184, 0.481, 0.123, 0.0, 0.0095], 54_000.0, 4.0),
    (4, 9.04, [0.443, 0.0450, 0.342, 0.170, 0.0002, 0.0281], 110_000.0, 3.6),
    (5, 8.83, [0.513, 0.0918, 0.225, 0.165, 0.0048, 0.0649], 54_000.0, 3.3),
];

#[test]
fn five_thousand_easy_rounds_end_as_often_in_each_way_as_measured() {
    const ROUNDS: u64 = 5_000;
    for (players, turns, shares, sample, spread) in MEASURED {
        let rules = Rules { players, ..Rules::default() };
        let mut counts = [0.0; 6];
        let mut played = 0.0;
        for seed in 0..ROUNDS {
            let mut round = *Hoola::deal(&rules, players, seed).round();
            let paid = rollout::paid(&mut round);
            assert_eq!(paid.payments.iter().sum::<i64>(), 0);
            let held: u32 = round.hands().iter().map(|hand| hand.len()).sum();
            let laid = round.melds().cards();
            assert_eq!(held + laid.len(), round.hands().iter().fold(laid, |all, &hand| all | hand).len());
            let finish = round.finish().expect("over");
            let ends = [End::Out, End::Hoola, End::StopOk, End::StopFail, End::Exhausted];
            if let Some(place) = ends.iter().position(|&end| end == finish.end) {
                counts[place] += 1.0;
            }
            counts[5] += f64::from(u8::from(finish.end == End::Hoola && finish.feeder.is_some()));
            played += f64::from(round.completed_turns());
        }
        let rounds = ROUNDS as f64;
        let both = 1.0 / sample + 1.0 / rounds;
        let off = (played / rounds - turns).abs();
        assert!(off <= 3.0 * spread * both.sqrt() + 0.01, "{players} players: {} turns", played / rounds);
        for (place, (count, share)) in counts.iter().zip(shares).enumerate() {
            let off = (count / rounds - share).abs();
            // The table is rounded to a tenth of a percent; where it says 0, a few rounds in a thousand are allowed.
            let allowed = 3.0 * (share.max(0.0002) * (1.0 - share) * both).sqrt() + 0.0005;
            assert!(off <= allowed, "{players} players, share {place}: {} for {share}", count / rounds);
        }
    }
}
