//! Apple: rectangles, the greedy game, runs, the bound and the policies. Every bench checks the answer it times.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use understudy::bot::{Budget, Limits, Policy, Rng, Turn, decide};
use understudy::games::apple::assess::{Options, assess};
use understudy::games::apple::bound::upper_bound;
use understudy::games::apple::greedy::{greediest, greedy};
use understudy::games::apple::lanes::Lanes;
use understudy::games::apple::policies::{Easy, Expert, Hard, Normal};
use understudy::games::apple::rects::{Ground, Play};
use understudy::games::apple::{Apple, Board, Count, Distribution, Ruleset, View};

fn boards() -> Vec<Board> {
    (1..=400).map(|seed| Distribution::Uniform.board(seed)).collect()
}

/// Every position of the greedy games of seeds 1..=400: 20,940 of them with 584,640 legal moves.
fn positions(boards: &[Board]) -> Vec<Lanes> {
    let mut all = Vec::new();
    for board in boards {
        let mut play = Play::<3, Lanes>::new(board);
        loop {
            all.push(play.position().clone());
            let Some(&spot) = greediest(play.spots(), Count::Apples) else { break };
            play.advance_unordered(&spot);
        }
    }
    all
}

fn rules(c: &mut Criterion) {
    let boards = boards();
    let positions = positions(&boards);
    let mut group = c.benchmark_group("apple");
    group.sample_size(20);
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("legal moves, positions of greedy games", |b| {
        let mut places = Vec::with_capacity(512);
        b.iter(|| {
            let mut moves = 0;
            for position in &positions {
                position.places(&mut places);
                moves += black_box(&places).len();
            }
            assert_eq!((positions.len(), moves), (20_940, 584_640));
        });
    });
    group.throughput(Throughput::Elements(boards.len() as u64));
    group.bench_function("greedy, whole boards", |b| {
        b.iter(|| {
            let total: u32 = boards.iter().map(|board| greedy(board, Count::Apples).score).sum();
            assert_eq!(total, 45_725);
        });
    });
    group.bench_function("upper bound", |b| {
        b.iter(|| {
            let total: u32 = boards.iter().map(|board| upper_bound(&board.counts())).sum();
            assert!((134 * 400..=170 * 400).contains(&total));
        });
    });
    for runs in [0, 16] {
        let options = Options { runs, ..Options::default() };
        group.bench_function(format!("assessments with {runs} runs"), |b| {
            b.iter(|| {
                let total: u32 = boards.iter().map(|board| assess("board", *board, &options).greedy.score).sum();
                assert_eq!(total, 45_725);
            });
        });
    }
    group.finish();
}

fn policies(c: &mut Criterion) {
    let views: Vec<View> =
        boards().into_iter().take(8).filter_map(|board| View::new(Ruleset::default(), board)).collect();
    let policies: [(&str, Box<dyn Policy<Apple>>, f64); 4] = [
        ("easy", Box::new(Easy), 0.0),
        ("normal", Box::new(Normal::default()), 0.0),
        ("hard", Box::new(Hard::default()), 100.0),
        ("expert", Box::new(Expert::default()), 110.0),
    ];
    let mut group = c.benchmark_group("apple decide");
    group.sample_size(10);
    group.throughput(Throughput::Elements(views.len() as u64));
    for (name, policy, least) in policies {
        group.bench_function(name, |b| {
            b.iter(|| {
                for view in &views {
                    let limits: Limits = policy.about().default_limits;
                    let budget = Budget::new(limits);
                    let table = policy.evaluate(view, &mut Turn { budget: &budget, rng: &mut Rng::new(1) });
                    let plan = decide(&table).get_payoff().map_or(0.0, |payoff| payoff.mean);
                    assert!(plan >= least, "{name}: {plan}");
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, rules, policies);
criterion_main!(benches);
