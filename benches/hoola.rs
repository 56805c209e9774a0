//! Hoola: rounds and decisions per second, every answer checked; and two runs by hand.
//!
//! `cargo bench --bench hoola` measures. `cargo bench --bench hoola -- counts` classifies every 7-card and every 8-card
//! hand and compares with the exact counts. `cargo bench --bench hoola -- rounds` plays 200,000 rounds of `easy` at each
//! number of players and checks every one of them. `cargo bench --bench hoola -- quantiles` prints mean and p99 of one
//! decision. `cargo bench --bench hoola -- stops` compares what `hard` expects of NORMAL stops with what they pay.

use std::hint::black_box;

use criterion::Criterion;
use serde_json::Value;
use understudy::bot::{Ask, Budget, Limits, Policy, Referee, Rng, Seat, Seats, Stopwatch, Turn, decide};
use understudy::games::hoola::Hoola;
use understudy::games::hoola::card::Cards;
use understudy::games::hoola::cover::left_over;
use understudy::games::hoola::meld::{RunWrap, completions, grouped, holds_group};
use understudy::games::hoola::moves::{Move, StopKind};
use understudy::games::hoola::policies::easy::Easy;
use understudy::games::hoola::policies::expert::Expert;
use understudy::games::hoola::policies::hard::Hard;
use understudy::games::hoola::rollout;
use understudy::games::hoola::rules::Rules;
use understudy::games::hoola::settlement::End;
use understudy::games::hoola::view::View;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("counts") => counts(),
        Some("rounds") => rounds(),
        Some("quantiles") => quantiles(),
        Some("stops") => stops(),
        _ => speed(),
    }
}

fn easy_round(rules: &Rules, seed: u64) -> End {
    let mut round = *Hoola::deal(rules, rules.players, seed).round();
    let paid = rollout::paid(&mut round);
    assert_eq!(paid.payments.iter().sum::<i64>(), 0);
    round.finish().expect("over").end
}

/// Views that a policy is asked for in rounds of its own.
fn asked(policy: &dyn Policy<Hoola>, players: u8, count: usize) -> Vec<View> {
    let mut views = Vec::new();
    for seed in 0.. {
        let mut state = Hoola::deal(&Rules::default(), players, seed);
        loop {
            let seats = match Hoola::ask(&state) {
                Ask::Over(_) => break,
                Ask::One(seat) => Seats::default().with(seat),
                Ask::Window(seats) => seats,
            };
            let mut answer = |seat: Seat| {
                let view = state.view(seat);
                let mut turn = Turn { budget: &Budget::new(Limits::worlds(10)), rng: &mut Rng::new(seed) };
                let mv = *decide(&policy.evaluate(&view, &mut turn)).mv();
                views.push(view);
                (seat, mv)
            };
            let answers: Vec<_> = seats.iter().map(&mut answer).collect();
            Hoola::resolve(&mut state, &answers).expect("legal");
        }
        if views.len() >= count {
            return views;
        }
    }
    views
}

fn think(policy: &dyn Policy<Hoola>, view: &View) -> usize {
    let budget = Budget::new(policy.about().default_limits);
    let table = policy.evaluate(view, &mut Turn { budget: &budget, rng: &mut Rng::new(1) });
    let mv = decide(&table).mv();
    assert!(view.scene().is_legal(mv));
    table.rows().len()
}

fn speed() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(20);
    for players in 2..=5 {
        let rules = Rules { players, ..Rules::default() };
        let mut seed = 0;
        criterion.bench_function(&format!("easy round, {players} players"), |bench| {
            bench.iter(|| {
                seed += 1;
                easy_round(&rules, black_box(seed))
            });
        });
    }
    let easy = asked(&Easy, 4, 4_000);
    let mut at = 0;
    criterion.bench_function("easy decision (shortcut)", |bench| {
        bench.iter(|| {
            at = (at + 1) % easy.len();
            let mut turn = Turn { budget: &Budget::unlimited(), rng: &mut Rng::new(1) };
            let mv = Easy.shortcut(&easy[at], &mut turn).expect("easy has a shortcut");
            assert!(easy[at].scene().is_legal(&mv));
            mv
        });
    });
    let hard = asked(&Hard::default(), 4, 4_000);
    let expert = Expert::default();
    let policies: [(&str, &dyn Policy<Hoola>); 3] = [("easy", &Easy), ("hard", &Hard::default()), ("expert", &expert)];
    for (name, policy) in policies {
        let mut at = 0;
        criterion.bench_function(&format!("{name} table"), |bench| {
            bench.iter(|| {
                at = (at + 1) % hard.len();
                think(policy, &hard[at])
            });
        });
    }
    criterion.final_summary();
}

/// Mean and quantiles of one decision, over the views a policy meets, and over those with more than one legal move.
fn quantiles() {
    let views = asked(&Hard::default(), 4, 6_000);
    let expert = Expert::default();
    let policies: [(&str, &dyn Policy<Hoola>); 3] = [("easy", &Easy), ("hard", &Hard::default()), ("expert", &expert)];
    for (name, policy) in policies {
        for (which, least) in [("all views", 1), ("views with a choice", 2)] {
            let mut times: Vec<f64> = Vec::new();
            for view in views.iter().filter(|view| view.scene().legal().len() >= least) {
                let watch = Stopwatch::start();
                black_box(think(policy, view));
                times.push(watch.elapsed().as_secs_f64() * 1e6);
            }
            times.sort_by(f64::total_cmp);
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            println!(
                "{name}, {which}: {} decisions, mean {mean:.1} us, p50 {:.1}, p99 {:.1}, max {:.1}",
                times.len(),
                at(0.5),
                at(0.99),
                at(1.0)
            );
        }
    }
}

/// What was expected of NORMAL stops, and what they paid.
#[derive(Clone, Copy, Default)]
struct Stops {
    count: f64,
    held: f64,
    p_win: f64,
    expected: f64,
    paid: f64,
    win_pay: f64,
    won: f64,
    fail_pay: f64,
    lost: f64,
}

impl Stops {
    fn add(&mut self, p_win: f64, win_pay: f64, fail_pay: f64, paid: f64) {
        let held = paid > 0.0;
        self.count += 1.0;
        self.held += f64::from(u8::from(held));
        self.p_win += p_win;
        self.expected += p_win * win_pay - (1.0 - p_win) * fail_pay;
        self.paid += paid;
        if held {
            self.win_pay += win_pay;
            self.won += paid;
        } else {
            self.fail_pay += fail_pay;
            self.lost -= paid;
        }
    }

    fn print(&self, what: &str) {
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let failed = self.count - self.held;
        println!(
            "{what}: {} stops, held {:.3} for {:.3}; points {:+.2} for {:+.2}; won {:.2} for {:.2}, lost {:.2} for {:.2}",
            self.count,
            share(self.held, self.count),
            share(self.p_win, self.count),
            share(self.paid, self.count),
            share(self.expected, self.count),
            share(self.won, self.held),
            share(self.win_pay, self.held),
            share(self.lost, failed),
            share(self.fail_pay, failed),
        );
    }
}

/// Four players, `hard` in the seat named by the seed, `easy` in the others. Every NORMAL stop that `hard` may call is
/// tried on the real cards; those it does call are counted apart.
fn stops() {
    let hard = Hard::default();
    let (mut legal, mut called) = ([Stops::default(); 16], Stops::default());
    let mut rounds = 0;
    for seed in 0..20_000 {
        let hero = Seat((seed % 4) as u8);
        let mut state = Hoola::deal(&Rules::default(), 4, seed);
        rounds += 1;
        loop {
            let seats = match Hoola::ask(&state) {
                Ask::Over(_) => break,
                Ask::One(seat) => Seats::default().with(seat),
                Ask::Window(seats) => seats,
            };
            let mut answer = |seat: Seat| {
                let view = state.view(seat);
                let mut turn = Turn { budget: &Budget::unlimited(), rng: &mut Rng::new(0) };
                if seat != hero {
                    return (seat, Easy.shortcut(&view, &mut turn).expect("easy has a shortcut"));
                }
                let table = hard.evaluate(&view, &mut turn);
                let stop = Move::Stop(StopKind::Normal);
                let mv = *decide(&table).mv();
                if let Some(row) = table.row(&stop) {
                    let fact = |id| row.get_fact(id).expect("facts of a stop row");
                    let mut ended = *state.round();
                    ended.play(seat, stop);
                    let paid = ended.paid().expect("a stop ends the round").payments[seat.index()] as f64;
                    let sum = view.scene().sum().min(15) as usize;
                    legal[sum].add(fact("p_win"), fact("win_pay"), fact("fail_pay"), paid);
                    if mv == stop {
                        called.add(fact("p_win"), fact("win_pay"), fact("fail_pay"), paid);
                    }
                }
                (seat, mv)
            };
            let answers: Vec<_> = seats.iter().map(&mut answer).collect();
            Hoola::resolve(&mut state, &answers).expect("legal");
        }
    }
    println!("{rounds} rounds");
    legal.iter().enumerate().for_each(|(sum, stops)| stops.print(&format!("legal at {sum}")));
    called.print("called");
}

const ROUNDS: u64 = 200_000;

fn rounds() {
    for players in 2..=5 {
        let rules = Rules { players, ..Rules::default() };
        let mut ends = std::collections::BTreeMap::new();
        for seed in 0..ROUNDS {
            let mut round = *Hoola::deal(&rules, players, seed).round();
            // Step by step, so that what must hold at every turn start can be asked.
            let paid = loop {
                if let Some(paid) = round.paid() {
                    break paid;
                }
                conserved(&round);
                rollout::step(&mut round);
            };
            assert_eq!(paid.payments.iter().sum::<i64>(), 0);
            *ends.entry(round.finish().expect("over").end.name()).or_insert(0u64) += 1;
        }
        println!("{players} players, {ROUNDS} rounds: {ends:?}");
    }
}

fn conserved(round: &understudy::games::hoola::state::Round) {
    use understudy::games::hoola::phase::Phase;
    let laid = round.melds().cards();
    let held = round.hands().iter().fold(laid, |all, &hand| all | hand);
    let count: u32 = round.hands().iter().map(|hand| hand.len()).sum();
    assert_eq!(held.len(), laid.len() + count, "a card in two places");
    if round.phase() == Phase::TurnStart {
        let sound = |(i, hand): (usize, &Cards)| round.registered().contains(Seat(i as u8)) || hand.len() == 7;
        assert!(round.hands().iter().enumerate().all(sound), "an unregistered seat without seven cards");
    }
}

const WRAPS: [(&str, RunWrap); 3] =
    [("RING", RunWrap::Ring), ("ACE_HIGH_OR_LOW", RunWrap::AceHighOrLow), ("ACE_LOW", RunWrap::AceLow)];

/// Exact counts under the three wrap conventions.
#[derive(Default)]
struct Counts {
    hands: u64,
    sevens: [u64; 5],
    set: u64,
    registrable: u64,
    sums: Vec<u64>,
    group: [u64; 3],
    run: [u64; 3],
    both: [u64; 3],
    placed: [u64; 3],
    hoola: [u64; 3],
    claims: [u64; 3],
}

/// Every hand of this size.
fn enumerate(size: u32) -> Counts {
    let mut counts = Counts { sums: vec![0; 128], ..Counts::default() };
    let mut bits: u64 = (1 << size) - 1;
    while bits < 1 << 52 {
        let hand = Cards::from_bits(bits);
        classify(&mut counts, hand);
        // The next larger number with as many ones.
        let low = bits & bits.wrapping_neg();
        let up = bits + low;
        bits = up | ((bits ^ up) >> (low.trailing_zeros() + 2));
    }
    counts
}

fn classify(counts: &mut Counts, hand: Cards) {
    let set = hand.meets(hand.tripled_ranks());
    let sevens = hand & Cards::SEVENS;
    counts.hands += 1;
    counts.sevens[sevens.len() as usize] += 1;
    counts.set += u64::from(set);
    counts.sums[hand.sum(7) as usize] += 1;
    for (place, (_, wrap)) in WRAPS.into_iter().enumerate() {
        let group = holds_group(hand, wrap);
        let run = group && (!set || begins_run(hand, wrap));
        counts.group[place] += u64::from(group);
        counts.run[place] += u64::from(run);
        counts.both[place] += u64::from(set && run);
        counts.claims[place] += u64::from(completions(hand, wrap).len());
        counts.registrable += u64::from(place == 0 && (group || !sevens.is_empty()));
        let layable = grouped(hand, wrap) | sevens | (hand & (sevens.up() | sevens.down()));
        if (hand - layable).len() <= 1 {
            let left = left_over(hand, Cards::NONE, false, wrap);
            counts.placed[place] += u64::from(left == 0);
            counts.hoola[place] += u64::from(left <= 1);
        }
    }
}

fn begins_run(hand: Cards, wrap: RunWrap) -> bool {
    !(hand & hand.down() & hand.down().down() & wrap.starts()).is_empty()
}

fn counts() {
    let path = format!("{}/tests/cases/hoola/counts.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the case file")).expect("JSON");
    let number = |value: &Value| value.as_u64().expect("a number");
    let same = |what: &str, found: u64, exact: &Value| {
        println!("{what}: {found}");
        assert_eq!(found, number(exact), "{what}");
    };
    for (size, digit) in [(7, "7"), (8, "8")] {
        let counts = enumerate(size);
        same("hands", counts.hands, &file[format!("hands{digit}")]);
        for (sevens, exact) in counts.sevens.iter().zip(file[format!("sevens{digit}")].as_array().expect("a list")) {
            same("hands by 7s", *sevens, exact);
        }
        same("with a set", counts.set, &file[format!("set{digit}")]);
        same("registrable", counts.registrable, &file[format!("registrable{digit}_ring")]);
        same("set and ring run", counts.both[0], &file[format!("set_and_run{digit}_ring")]);
        for (place, (key, _)) in WRAPS.into_iter().enumerate() {
            same(key, counts.group[place], &file[format!("set_or_run{digit}")][key]);
            same(key, counts.run[place], &file[format!("run{digit}")][key]);
            same(key, counts.placed[place], &file[format!("all_placeable{digit}")][key]);
            if size == 8 {
                same(key, counts.hoola[place], &file["hoola_from_own_cards8"][key]);
            } else {
                same(key, counts.claims[place], &file["claim_pairs"][key]);
            }
        }
        if size == 7 {
            let first = number(&file["sum7"]["first"]) as usize;
            for (i, exact) in file["sum7"]["count"].as_array().expect("a list").iter().enumerate() {
                assert_eq!(counts.sums[first + i], number(exact));
                assert_eq!(counts.sums[98 - first - i], number(exact));
            }
        }
    }
}
