//! What the arena costs beside the bare loop of referee and easiest policy: `cargo bench --bench arena`.
//!
//! Both play the same rounds by one thread at a time; the arena must reach 60 % of the bare loop's speed. What counts is
//! the CPU time of the process (Linux; elsewhere the wall clock), the two alternate, and the best of several runs is
//! taken, so that other load disturbs little and both alike.

use std::process::ExitCode;
use std::sync::Arc;

use understudy::arena::match_::Options;
use understudy::arena::run::Blind;
use understudy::arena::{Mind, Player, Schedule, Setup, Shard, run};
use understudy::bot::{Ask, Budget, Limits, MatchStyle, Outcome, Policy, Referee, Rng, Stopwatch, Turn, Wire, decide};
use understudy::games::{self, Visitor};

const RUNS: usize = 4;
const BAR: f64 = 0.6;

/// Seconds that the process has computed so far, in steps of 10 ms; elsewhere than on Linux, seconds passed.
fn cpu(since: &Stopwatch) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // Behind the state letter, which is no number: utime and stime are the 11th and 12th.
    match (fields.get(10), fields.get(11)) {
        (Some(user), Some(system)) => (user + system) / 100.0,
        _ => since.elapsed().as_secs_f64(),
    }
}

/// Plays one round without an arena; the sum of squared payments, to compare.
fn bare<G: Referee>(policy: &Arc<dyn Policy<G>>, rules: &G::Rules, seats: u8, seed: u64) -> i64 {
    let mut state = G::deal(rules, seats, seed);
    let mut rng = Rng::new(seed);
    let mut answers = Vec::new();
    loop {
        answers.clear();
        let asked = match G::ask(&state) {
            Ask::One(seat) => understudy::bot::Seats::default().with(seat),
            Ask::Window(seats) => seats,
            Ask::Over(Outcome::Known(settlement)) => return settlement.payments.iter().map(|paid| paid * paid).sum(),
            Ask::Over(Outcome::Unknown { .. }) => return 0,
        };
        for seat in asked.iter() {
            let view = G::view(&state, seat);
            let budget = Budget::unlimited();
            let mut turn = Turn { budget: &budget, rng: &mut rng };
            let mv = match policy.shortcut(&view, &mut turn) {
                Some(mv) => mv,
                None => decide(&policy.evaluate(&view, &mut turn)).mv().clone(),
            };
            answers.push((seat, mv));
        }
        G::resolve(&mut state, &answers).expect("the easiest policy plays by the rules");
    }
}

struct Speed;

impl Visitor for Speed {
    type Output = bool;

    fn visit<G: Referee + Wire>(self) -> bool {
        if G::STYLE != MatchStyle::Table {
            return true;
        }
        let roster = G::roster();
        let policy = &roster.entries[0].policy;
        let (rules, seats) = (G::Rules::default(), *G::SEATS.end());
        let player =
            Player { label: "easiest".to_owned(), mind: Mind::Policy(Arc::clone(policy)), limits: Limits::NONE };
        let setup = Setup {
            rules: rules.clone(),
            rules_name: G::RULESETS[0].to_owned(),
            players: vec![player],
            seats: vec![0; usize::from(seats)],
            rotate: true,
            options: Options { record: false, ..Options::default() },
        };
        let deals = 40_000;
        let since = Stopwatch::start();
        let schedule = Schedule { seed: 1, deals, shard: Shard::WHOLE, threads: 1, sprt: None };
        let (mut best_bare, mut best_arena) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..RUNS {
            let before = cpu(&since);
            let sum: i64 = (1..=deals).map(|seed| bare::<G>(policy, &rules, seats, seed)).sum();
            best_bare = best_bare.min(cpu(&since) - before);
            assert!(sum > 0, "nobody paid anything");
            let before = cpu(&since);
            let finished = run(&setup, &schedule, &mut Blind).expect("a sound run");
            best_arena = best_arena.min(cpu(&since) - before);
            let paid: i64 = finished.samples.iter().map(|sample| sample.sides[0].payment).sum();
            assert_eq!((finished.samples.len() as u64, paid), (deals, 0), "payments among seats add up to nothing");
        }
        let ratio = best_bare / best_arena;
        let rate = |seconds: f64| deals as f64 / seconds;
        println!(
            "{}, {seats} seats: bare loop {:.0} rounds/s, arena {:.0} rounds/s, {:.0} %",
            G::KEY,
            rate(best_bare),
            rate(best_arena),
            ratio * 100.0
        );
        ratio >= BAR
    }
}

fn main() -> ExitCode {
    let all = games::KEYS.iter().all(|key| games::visit(key, Speed).expect("a key of the list"));
    if all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
