//! The arena on a toy game: the same numbers on any number of threads and from merged shards, records that replay, and
//! no forgiveness for illegal or missing moves.

#[path = "arena/toy.rs"]
mod toy;

use toy::Toy;
use understudy::arena::match_::Options;
use understudy::arena::merge::{ShardFile, merge};
use understudy::arena::player::limits_for;
use understudy::arena::record::{Ending, Record, replay};
use understudy::arena::run::Blind;
use understudy::arena::stats::{Sprt, Verdict};
use understudy::arena::tune::{Task, broken, stages};
use understudy::arena::{Broken, Finished, Header, Mind, Player, Report, Schedule, Setup, Shard, Watch, run};
use understudy::bot::{Game, Limits, Tuning, WeightTable};

fn player(name: &str) -> Player<Toy> {
    let mind = match name {
        "random" => Mind::Random,
        name => Mind::Policy(Toy::roster().find(name).expect("enrolled").policy.clone()),
    };
    Player { label: name.to_owned(), mind, limits: Limits::NONE }
}

/// The first names the hero, the second the field.
fn setup(players: &[&str], seats: &[usize]) -> Setup<Toy> {
    Setup {
        rules: (),
        rules_name: "toy.v1".to_owned(),
        players: players.iter().map(|name| player(name)).collect(),
        seats: seats.to_vec(),
        rotate: true,
        options: Options { kinds: true, ..Options::default() },
    }
}

fn schedule(deals: u64, threads: usize) -> Schedule {
    Schedule { seed: 1, deals, shard: Shard::WHOLE, threads, sprt: None }
}

fn finished(setup: &Setup<Toy>, schedule: &Schedule) -> (Header, Finished) {
    (setup.header(schedule), run(setup, schedule, &mut Blind).expect("a sound run"))
}

/// A report without its times.
fn numbers((header, finished): &(Header, Finished)) -> Report {
    Report::of(header, &finished.samples, &[], None)
}

#[test]
fn threads_and_repetitions_change_no_number() {
    let setup = setup(&["noisy", "low", "random"], &[0, 1, 2, 1]);
    let once = numbers(&finished(&setup, &schedule(101, 1)));
    for threads in [1, 2, 3] {
        assert_eq!(numbers(&finished(&setup, &schedule(101, threads))), once, "{threads} threads");
    }
    assert_eq!((once.deals, once.rounds), (101, 404));
    let sum: f64 = once.policies.iter().map(|policy| policy.mean * policy.rounds as f64).sum();
    assert!(sum.abs() < 1e-6, "payments among seats add up to {sum}");
}

#[test]
fn merged_shards_are_the_whole_run() {
    let setup = setup(&["greedy", "low"], &[0, 1, 1]);
    let whole = finished(&setup, &schedule(50, 2));
    let part = |index: u64| {
        let schedule = Schedule { shard: Shard { index, of: 4 }, ..schedule(50, 1) };
        let (header, finished) = finished(&setup, &schedule);
        let report = Report::of(&header, &finished.samples, &finished.think, None);
        let file =
            ShardFile { report, shard: schedule.shard, header, samples: finished.samples, think: finished.think };
        // As it travels: through JSON.
        let text = serde_json::to_string(&file).expect("plain data");
        serde_json::from_str::<ShardFile>(&text).expect("its own text")
    };
    let parts: Vec<ShardFile> = [2, 0, 3, 1].map(part).into();
    assert_eq!(parts.iter().map(|part| part.samples.len()).sum::<usize>(), 50);
    let merged = merge(parts.clone()).expect("all parts");
    assert_eq!(merged.1.samples, whole.1.samples);
    assert_eq!(numbers(&merged), numbers(&whole));

    let missing = merge(parts[1..].to_vec()).expect_err("one is missing");
    assert_eq!(missing, "shard 2/4 is missing");
    let twice = merge(vec![parts[0].clone(), parts[0].clone()]).expect_err("twice");
    assert_eq!(twice, "shard 2/4 is there twice");
    let mut other = parts[1].clone();
    other.header.seed = 2;
    assert!(merge(vec![parts[0].clone(), other]).expect_err("another run").contains("another run"));
}

#[test]
fn means_are_what_the_deals_add_up_to() {
    let setup = setup(&["greedy", "low"], &[0, 1, 1]);
    let (header, finished) = finished(&setup, &schedule(30, 1));
    let report = Report::of(&header, &finished.samples, &finished.think, None);
    let hero: i64 = finished.samples.iter().map(|sample| sample.sides[0].payment).sum();
    assert_eq!(report.policies[0].rounds, 90);
    assert!((report.policies[0].mean - hero as f64 / 90.0).abs() < 1e-12);
    assert!((report.policies[1].mean + hero as f64 / 180.0).abs() < 1e-12, "the field pays what the hero gets");
    let shares: f64 = report.policies.iter().map(|policy| policy.win_share * policy.rounds as f64).sum();
    assert!((shares - 90.0).abs() < 1e-9, "one win a round");
    let kinds = report.policies[1].kinds.as_ref().expect("counted");
    assert_eq!(kinds["raise"], 0);
    assert!(kinds["pass"] > 0 && kinds["play"] > 0);
    let again: Report =
        serde_json::from_str(&serde_json::to_string(&report).expect("plain data")).expect("its own text");
    assert_eq!(again, report);
}

#[test]
fn equal_seats_play_each_deal_once() {
    let (_, finished) = finished(&setup(&["low"], &[0, 0, 0]), &schedule(5, 1));
    assert!(finished.samples.iter().all(|sample| sample.rounds == 1 && sample.sides[0].payment == 0));
}

#[test]
fn an_illegal_or_missing_move_ends_the_run() {
    let broken = |name: &str| -> Broken {
        run(&setup(&["low", name], &[0, 1]), &schedule(10, 2), &mut Blind).expect_err("a bad policy")
    };
    let cheat = broken("cheat");
    assert_eq!((cheat.policy.as_str(), cheat.deal), ("cheat", 1));
    assert!(cheat.what.contains("99 is illegal"), "{cheat}");
    let mute = broken("mute");
    assert!(mute.what.contains("nothing to say"), "{mute}");
}

#[derive(Default)]
struct Keep(String);

impl Watch for Keep {
    fn deal(&mut self, records: &str) {
        self.0.push_str(records);
    }
}

fn records(threads: usize) -> String {
    let mut setup = setup(&["noisy", "random"], &[0, 1, 1]);
    setup.options.record = true;
    let mut keep = Keep::default();
    run(&setup, &schedule(20, threads), &mut keep).expect("a sound run");
    keep.0
}

#[test]
fn records_replay_and_lies_are_found() {
    let text = records(1);
    assert_eq!(text, records(2), "the same file on two threads");
    let games: Vec<Record> = text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert_eq!(games.len(), 60);
    for game in &games {
        assert_eq!(replay::<Toy>(game), Ok(()));
    }
    let game = &games[7];
    let lie = |change: fn(&mut Record)| {
        let mut game = game.clone();
        change(&mut game);
        replay::<Toy>(&game).expect_err("a lie")
    };
    assert!(lie(|game| game.steps[0][0].1 = "99".to_owned()).starts_with("step 0: seat 0"));
    assert!(lie(|game| game.steps[1][0].0 = 0).contains("step 1: seats [1] are asked"));
    assert!(lie(|game| game.steps.truncate(4)).contains("not over"));
    assert!(lie(|game| game.result = Ending::Truncated { after_plies: 3 }).contains("the result is"));
    assert!(lie(|game| game.deal += 1).starts_with("step"));
}

#[test]
fn a_sequential_test_stops_at_the_same_deal() {
    let setup = setup(&["greedy", "low"], &[0, 1, 1]);
    let test = Sprt { low: 0.0, high: 0.5 };
    let stopped = |threads| {
        let schedule = Schedule { sprt: Some(test), ..schedule(5000, threads) };
        let (header, finished) = finished(&setup, &schedule);
        Report::of(&header, &finished.samples, &[], Some(test))
    };
    let report = stopped(1);
    assert_eq!(report, stopped(3));
    assert_eq!(report.sprt.as_ref().map(|sprt| sprt.verdict), Some(Verdict::High));
    assert!(report.deals < 5000, "{} deals", report.deals);
}

#[test]
fn another_seed_deals_other_cards_and_paired_deals_are_shared() {
    let setup = setup(&["greedy", "low"], &[0, 1]);
    let from = |seed, deals| finished(&setup, &Schedule { seed, ..schedule(deals, 1) }).1.samples;
    let (first, second) = (from(1, 4), from(3, 2));
    let sides = |sample: &understudy::arena::Sample| sample.sides.clone();
    assert_eq!(sides(&first[2]), sides(&second[0]), "deal 2 of seed 1 is deal 0 of seed 3");
    assert_ne!(sides(&first[0]), sides(&first[1]));
}

fn task(threads: usize, seed: u64) -> Task<Toy> {
    let greedy = Toy::roster().find("greedy").expect("enrolled").policy.clone();
    // Everything upside down: dear cards are wasted where they beat nothing.
    let rows = vec![vec![-1.0, 1.0, -1.0]; 3];
    let start = WeightTable::new::<toy::ToyTerms>(&stages(greedy.as_ref()), greedy.tunable(), &rows);
    Task {
        rules: (),
        rules_name: "toy.v1".to_owned(),
        policy: greedy.with_weights(&start, None).expect("its own terms"),
        players: None,
        seats: 3,
        tuning: Tuning { generations: 2, decisions: 1500, worlds: 6, temperature: f64::INFINITY, ..Tuning::default() },
        seed,
        threads,
    }
}

#[test]
fn tuning_repeats_on_any_number_of_threads() {
    let learn = |threads, seed| task(threads, seed).learn(|_, _| ()).expect("it takes weights");
    let once = learn(1, 7);
    assert_eq!(once, learn(2, 7));
    assert_ne!(once, learn(2, 8));
    assert_eq!(once.len(), 2);
    assert!(once.iter().all(|generation| generation.decisions >= 1500 && generation.equations > 3000));
}

#[test]
fn broken_weights_know_directions_only() {
    let greedy = Toy::roster().find("greedy").expect("enrolled").policy.clone();
    let table = broken::<toy::ToyTerms>(&stages(greedy.as_ref()), greedy.tunable());
    assert_eq!(table.rows, vec![vec![1.0, -1.0, 1.0]; 3]);
}

#[test]
fn tuning_wins_over_bad_weights_and_keeps_signs() {
    let task = task(2, 7);
    let learned = task.learn(|_, _| ()).expect("it takes weights");
    let table = &learned[1].table;
    table.check_signs::<toy::ToyTerms>().expect("every sign as its direction");
    // The stages never meet each other's terms: no card is played in a window, nothing is raised outside one.
    assert_eq!((table.rows[2][0], table.rows[2][1]), (0.0, 0.0), "{table:?}");
    assert_eq!((table.rows[0][2], table.rows[1][2]), (0.0, 0.0), "{table:?}");
    assert!(table.rows[1][0] > 0.0 && table.rows[1][1] < 0.0, "beating is worth something, cards are dear: {table:?}");
    let tuned = task.policy.with_weights(table, None).expect("its own terms");
    let judged = task.judge(&tuned, &task.policy, 600).expect("a sound run");
    assert!(judged.won(), "{judged:?}");
    let same = task.judge(&task.policy, &task.policy, 100).expect("a sound run");
    assert!(!same.won() && same.direct.mean == 0.0 && same.gain.mean == 0.0, "{same:?}");
}

#[test]
fn a_limit_that_means_nothing_takes_no_default_away() {
    let policy = understudy::games::wallgo::policies::searching::Searching::expert();
    let (idle, nodes) = (Limits::worlds(5), Limits::nodes(1_000_000));
    assert_eq!(limits_for(&policy, idle, Limits::NONE), nodes);
    assert_eq!(limits_for(&policy, Limits::NONE, idle), nodes);
    assert_eq!(limits_for(&policy, idle, Limits::nodes(7)), Limits::nodes(7));
    assert_eq!(limits_for(&policy, Limits { nodes: Some(3), ..idle }, idle), Limits::nodes(3));
}
