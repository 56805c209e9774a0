//! Wall Go: rules, tables and search, every measured answer checked; and two studies by hand.
//!
//! `cargo bench --bench wallgo` measures and holds the bars of speed. `cargo bench --bench wallgo -- endings [NODES]` asks
//! how many endings of `expert`'s games against itself (NODES a move, default its own) `sedol` settles.
//! `cargo bench --bench wallgo -- deadlines [POSITIONS] [MS ...]` plays against the clock (default 1,000 positions at 5,
//! 20, 100 and 500 ms).

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use serde_json::Value;
use understudy::bot::{
    Ask, Budget, Completion, Evaluated, Limits, Policy, Referee, Rng, Standing, Stopwatch, Turn, decide,
};
use understudy::games::wallgo::Wallgo;
use understudy::games::wallgo::policies::easy::Easy;
use understudy::games::wallgo::policies::searching::Searching;
use understudy::games::wallgo::rules::{Position, Rules};
use understudy::games::wallgo::state::State;
use understudy::games::wallgo::view::View;
use understudy::service::config::Config;
use understudy::service::deadline::{Clock, now};

#[allow(dead_code)]
#[path = "../tests/wallgo/cases.rs"]
mod cases;

use cases::{list, load, position, rules, table, view_of};

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with('-')).peekable();
    match words.next_if(|word| ["endings", "deadlines"].contains(&word.as_str())).as_deref() {
        Some("endings") => endings(words.next().map(|nodes| nodes.parse().expect("a number of nodes"))),
        Some(_) => {
            let numbers: Vec<u64> = words.map(|word| word.parse().expect("a number")).collect();
            let (count, times) = numbers.split_first().map_or((1_000, &[][..]), |(count, times)| (*count, times));
            deadlines(count as usize, if times.is_empty() { &[5, 20, 100, 500] } else { times });
        }
        None => speed(),
    }
}

fn speed() {
    let mut c = Criterion::default().configure_from_args();
    counted(&mut c);
    tables(&mut c);
    search(&mut c);
    c.final_summary();
}

/// An opening, a middle game and one with few cells left, of the counted trees.
const PLACES: [&str; 3] = ["start-0", "middle-4", "last-0"];

fn places() -> Vec<(&'static str, Position)> {
    let data = load("perft");
    let find = |id: &str| list(&data["positions"]).iter().find(|case| case["id"] == id).map(position);
    PLACES.iter().map(|id| (*id, find(id).expect("a counted position"))).collect()
}

/// The best of several runs: on a shared machine the others tell of the neighbours.
fn best_of(runs: u32, mut run: impl FnMut()) -> Duration {
    let time = |_| {
        let watch = Stopwatch::start();
        run();
        watch.elapsed()
    };
    (0..runs).map(time).min().expect("at least one run")
}

/// Says how long something took, and holds it to its bar.
fn bar(what: &str, took: Duration, bar: Duration) {
    println!("{what}: {took:?} (bar {bar:?})");
    assert!(took <= bar, "{what} took {took:?}; the bar is {bar:?}");
}

/// Every counted tree of `perft.json`: the start, the rules and the counts by depth.
fn trees() -> Vec<(Position, Rules, Vec<u64>)> {
    let mut all = Vec::new();
    for case in list(&load("perft")["positions"]) {
        let start = position(case);
        let mut add = |start, rules, counts: &Value| {
            all.push((start, rules, list(counts).iter().filter_map(Value::as_u64).collect()));
        };
        add(start, Rules::default(), &case["perft"]);
        for (switches, counts) in case["switches"].as_object().expect("switches") {
            add(start, rules(switches), counts);
        }
        let limited = &case["wall_limit=20"];
        let left = |player: usize| limited["walls_left"][player].as_u64().expect("walls left") as u8;
        add(Position { walls_left: [left(0), left(1)], ..start }, rules("wall_limit=20"), &limited["perft"]);
    }
    all
}

fn counted(c: &mut Criterion) {
    let start = places()[0].1;
    let two = || assert_eq!(black_box(&start).perft(&Rules::default(), 2), 16_984);
    let trees = trees();
    let all = || {
        for (start, rules, counts) in &trees {
            for (depth, count) in (1..).zip(counts) {
                assert_eq!(start.perft(rules, depth), *count);
            }
        }
    };
    bar("depth-2 perft of an opening", best_of(20, two), Duration::from_millis(1));
    bar("all counted trees", best_of(5, all), Duration::from_millis(100));
    c.bench_function("wallgo/perft2_opening", |b| b.iter(two));
    c.bench_function("wallgo/perft_all", |b| b.iter(all));
}

fn tables(c: &mut Criterion) {
    let spent = |policy: &dyn Policy<Wallgo>, view: &View| {
        policy.evaluate(view, &mut Turn { budget: &Budget::spent(), rng: &mut Rng::new(1) })
    };
    for (name, position) in places() {
        let view = view_of(Rules::default(), &position);
        let rows = position.candidates(&Rules::default()).len();
        let policies: [(&str, &dyn Policy<Wallgo>, _); 3] = [
            ("easy", &Easy::default(), Duration::from_millis(2)),
            ("expert at depth 0", &Searching::expert(), Duration::from_micros(50)),
            ("normal at depth 0", &Searching::normal(), Duration::from_micros(50)),
        ];
        for (who, policy, limit) in policies {
            assert_eq!(spent(policy, &view).rows().len(), rows);
            let took = best_of(300, || drop(black_box(spent(policy, &view))));
            bar(&format!("{who}, {name}, {rows} rows"), took, limit);
            c.bench_function(&format!("wallgo/{who}/{name}"), |b| b.iter(|| spent(policy, &view)));
        }
    }
}

/// Nodes a second of one decision. The bar holds for the opening and the middle game: where the game is nearly over a
/// decision has too few nodes to tell.
fn search(c: &mut Criterion) {
    let limits = Limits::nodes(1_000_000);
    let policies = [
        ("expert", Searching::expert()),
        ("sedol", Searching::sedol()),
        ("plain", Searching::plain()),
        ("normal", Searching::normal()),
    ];
    for (name, position) in places() {
        let view = view_of(Rules::default(), &position);
        for (who, policy) in &policies {
            let first = table(policy, &view, limits);
            let took = best_of(5, || assert_eq!(first, table(policy, &view, limits), "a node budget repeats exactly"));
            let Evaluated { work, .. } = &first;
            let speed = work.nodes as f64 / took.as_secs_f64() / 1e6;
            let (nodes, depth, key) = (work.nodes, work.depth, decide(&first).mv().key());
            println!("{who}, {name}: {nodes} nodes in {took:?}, {speed:.1} M/s, depth {depth}, {key}");
            // The others count nodes that are no boards, as proofs, or end too soon to be timed.
            assert!(*who != "expert" || nodes < 500_000 || speed >= 10.0, "{name}: {speed:.1} M/s; the bar is 10");
        }
        let expert = &policies[0].1;
        let mut group = c.benchmark_group("wallgo");
        group.sample_size(10);
        group
            .bench_function(format!("expert_200k/{name}"), |b| b.iter(|| table(expert, &view, Limits::nodes(200_000))));
        group.finish();
    }
}

/// Calls `visit` with every position of a game of `expert` against itself from this deal.
fn self_play(seed: u64, limits: Limits, mut visit: impl FnMut(&View)) {
    let house = Wallgo::rules("wallgo.v1").expect("the default rules");
    let expert = Searching::expert();
    let mut state: State = Wallgo::deal(&house, 2, seed);
    while let Ask::One(seat) = Wallgo::ask(&state) {
        let view = Wallgo::view(&state, seat);
        visit(&view);
        let mv = *decide(&table(&expert, &view, limits)).mv();
        Wallgo::resolve(&mut state, &[(seat, mv)]).expect("a legal move");
    }
}

/// What a decision says of a whole position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Win,
    Loss,
    Draw,
    /// Both trees are finished and leave it open.
    Open,
    Unknown,
}

fn verdict(table: &Evaluated<Wallgo>) -> Verdict {
    let both = table.get_fact("floor").is_some() && table.get_fact("ceiling").is_some();
    match decide(table).get_standing() {
        Standing::Won(_) => Verdict::Win,
        Standing::Lost(_) => Verdict::Loss,
        Standing::Drawn(_) => Verdict::Draw,
        Standing::Open if both => Verdict::Open,
        Standing::Open => Verdict::Unknown,
    }
}

/// Mixed cells of the three classes, and the share of each that must be settled.
const CLASSES: [(std::ops::RangeInclusive<u32>, f64); 3] = [(5..=8, 0.95), (9..=12, 0.0), (13..=20, 0.0)];
/// Positions a class.
const ENDINGS: usize = 200;

fn endings(nodes: Option<u64>) {
    let counted = |policy: &Searching| Limits { time: None, ..policy.about().default_limits };
    let sedol = Searching::sedol();
    let limits = nodes.map_or(counted(&Searching::expert()), Limits::nodes);
    let mut found: [Vec<View>; 3] = Default::default();
    let mut seeds = 0;
    for seed in 1.. {
        if found.iter().all(|class| class.len() == ENDINGS) {
            break;
        }
        seeds = seed;
        let mut seen = [false; 3];
        self_play(seed, limits, |view| {
            let territory = view.position().board.territory();
            let (mixed, lead) = (territory.mixed.count_ones(), territory.lead(0).unsigned_abs());
            let Some(class) = CLASSES.iter().position(|(cells, _)| cells.contains(&mixed)) else { return };
            if lead <= mixed && !std::mem::replace(&mut seen[class], true) && found[class].len() < ENDINGS {
                found[class].push(view.clone());
            }
        });
    }
    println!("games of expert against itself, {} nodes a move, seeds 1 to {seeds}", limits.nodes.unwrap_or(0));
    println!("mixed cells | settled | win | loss | draw | open | not | mean nodes | mean time");
    for (views, (cells, wanted)) in found.iter().zip(CLASSES) {
        let mut counts = [0; 5];
        let mut nodes = 0;
        let watch = Stopwatch::start();
        for view in views {
            let table = table(&sedol, view, counted(&sedol));
            counts[verdict(&table) as usize] += 1;
            nodes += table.work.nodes;
        }
        let mean = |sum: f64| sum / views.len() as f64;
        let share = mean((views.len() - counts[4]) as f64);
        let [win, loss, draw, open, unknown] = counts;
        println!(
            "{} to {} | {:.1} % | {win} | {loss} | {draw} | {open} | {unknown} | {:.0} | {:.0} ms",
            cells.start(),
            cells.end(),
            100.0 * share,
            mean(nodes as f64),
            mean(watch.elapsed().as_secs_f64() * 1e3),
        );
        assert!(share >= wanted, "{:.1} % are settled; the bar is {:.0} %", 100.0 * share, 100.0 * wanted);
    }
}

fn deadlines(count: usize, times: &[u64]) {
    let mut views = Vec::new();
    for seed in 1.. {
        self_play(seed, Limits::nodes(2_000), |view| views.push(view.clone()));
        if views.len() >= count {
            break;
        }
    }
    views.truncate(count);
    let sedol = Searching::sedol();
    // The table's memory is taken on first use; that is no decision's fault.
    table(&sedol, &views[0], Limits::nodes(5_000_000));
    println!(
        "deadline | positions | stopped by the clock | before it | latest | overshoot p50 | p99 | largest | completed"
    );
    for &time in times {
        let deadline = Duration::from_millis(time);
        let (mut over, mut late, mut latest, mut stopped, mut checked) = (Vec::new(), 0, Duration::ZERO, 0, 0);
        for (number, view) in views.iter().enumerate() {
            let clock = Clock::new(now(), Some(deadline), &Config::default());
            let end = clock.think_end(Duration::MAX, Duration::ZERO);
            let budget = Budget::until(Limits::NONE, Some(end), None);
            let found = sedol.evaluate(view, &mut Turn { budget: &budget, rng: &mut Rng::new(1) });
            let (done, took) = (now(), clock.elapsed());
            late += usize::from(took > deadline);
            latest = latest.max(took.saturating_sub(deadline));
            if found.completion == Completion::Time {
                stopped += 1;
                over.push(done.saturating_duration_since(end));
            }
            // What was answered is what the last completed iteration says: the same depth without a clock.
            if number % 20 == 0 {
                let whole = Limits { depth: Some(found.work.depth), ..Limits::NONE };
                let again = table(&sedol, view, whole);
                assert_eq!(found.rows(), again.rows(), "position {number} at {time} ms");
                checked += 1;
            }
        }
        over.sort_unstable();
        let place =
            |share: f64| over.get((share * over.len() as f64) as usize).or(over.last()).copied().unwrap_or_default();
        let before = 1.0 - late as f64 / views.len() as f64;
        println!(
            "{time} ms | {} | {stopped} | {:.1} % | {latest:?} | {:?} | {:?} | {:?} | {checked} of {checked}",
            views.len(),
            100.0 * before,
            place(0.5),
            place(0.99),
            place(1.0),
        );
        assert!(before >= 0.99, "{:.1} % are answered before {time} ms", 100.0 * before);
        assert!(latest <= Duration::from_millis(15), "{latest:?} past {time} ms");
        assert!(place(0.99) <= Duration::from_millis(1), "p99 overshoot {:?} at {time} ms", place(0.99));
    }
}
