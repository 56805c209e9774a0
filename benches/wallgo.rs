//! Wall Go: rules, terms and search. Every measured answer is checked once before it is timed.

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use understudy::bot::{Budget, Limits, Policy, Rng, Stopwatch, Turn, Violations, decide};
use understudy::games::wallgo::Wallgo;
use understudy::games::wallgo::board::{Board, Cells};
use understudy::games::wallgo::policies::easy::Easy;
use understudy::games::wallgo::policies::searching::Searching;
use understudy::games::wallgo::rules::{Position, Rules, UNLIMITED};
use understudy::games::wallgo::view::{Claim, ClaimedMasks, ClaimedPlayer, Phase, View};

fn cells(text: &str) -> Cells {
    let cell = |name: &str| {
        let digit = |at: usize| u64::from(name.as_bytes()[at] - b'0');
        1u64 << (7 * digit(0) + digit(1))
    };
    text.split_whitespace().map(cell).fold(0, |a, b| a | b)
}

fn position(a: &str, b: &str, east: &str, south: &str, to_move: u8) -> Position {
    let mut board = Board::EMPTY;
    board.pieces = [cells(a), cells(b)];
    board.east &= !cells(east);
    board.south &= !cells(south);
    Position { board, to_move, walls_left: [UNLIMITED; 2], passes: 0 }
}

/// `start-0`, `middle-4` and `last-0` of the counted trees.
fn positions() -> [(&'static str, Position); 3] {
    [
        ("start", position("11 34 35 55", "02 15 51 64", "", "", 1)),
        (
            "middle",
            position(
                "11 16 44 51",
                "04 33 36 60",
                "01 20 21 23 31 33 35 43 45 50 64",
                "01 04 05 06 13 34 35 36 50 52 53",
                1,
            ),
        ),
        (
            "late",
            position(
                "16 26 31 42",
                "03 21 62 66",
                "02 04 13 15 20 21 25 30 33 34 42 44 53 61 62 65",
                "01 02 05 06 11 12 13 14 15 16 21 23 24 26 32 33 35 36 40 41 42 43 46 50 52 56",
                0,
            ),
        ),
    ]
}

fn view(position: &Position) -> View {
    let claim = Claim {
        phase: Some(Phase::Play),
        to_move: u32::from(position.to_move),
        players: vec![ClaimedPlayer::default(); 2],
        compact: Some(ClaimedMasks {
            pieces: position.board.pieces.to_vec(),
            east: position.board.east_walls(),
            south: position.board.south_walls(),
        }),
        ..Claim::default()
    };
    let mut problems = Violations::default();
    View::check(&claim, &mut problems, &mut Vec::new()).expect("a view that checks")
}

fn table(policy: &dyn Policy<Wallgo>, view: &View, budget: &Budget) -> understudy::bot::Evaluated<Wallgo> {
    policy.evaluate(view, &mut Turn { budget, rng: &mut Rng::new(1) })
}

fn rules(c: &mut Criterion) {
    let rules = Rules::default();
    let [(_, start), ..] = positions();
    assert_eq!(start.perft(&rules, 2), 16_984);
    c.bench_function("wallgo/perft2_opening", |b| b.iter(|| black_box(&start).perft(&rules, 2)));
}

fn tables(c: &mut Criterion) {
    for (name, position) in positions() {
        let view = view(&position);
        let easy = Easy::default();
        assert_eq!(
            table(&easy, &view, &Budget::unlimited()).rows().len(),
            position.candidates(&Rules::default()).len()
        );
        c.bench_function(&format!("wallgo/easy_{name}"), |b| b.iter(|| table(&easy, &view, &Budget::unlimited())));
        let expert = Searching::expert();
        c.bench_function(&format!("wallgo/depth0_{name}"), |b| b.iter(|| table(&expert, &view, &Budget::spent())));
    }
}

/// Nodes a second of one decision, printed once for each policy and position, then timed.
fn search(c: &mut Criterion) {
    let policies = [("expert", Searching::expert()), ("plain", Searching::plain()), ("normal", Searching::normal())];
    for (name, position) in positions() {
        let view = view(&position);
        for (who, policy) in &policies {
            let limits = Limits::nodes(1_000_000);
            let first = table(policy, &view, &Budget::new(limits));
            let watch = Stopwatch::start();
            let again = table(policy, &view, &Budget::new(limits));
            let time = watch.elapsed();
            assert_eq!(first, again, "a node budget repeats exactly");
            println!(
                "{who} {name}: {} nodes in {time:?}, {:.1} M/s, depth {}, {}",
                again.work.nodes,
                again.work.nodes as f64 / time.as_secs_f64() / 1e6,
                again.work.depth,
                decide(&again).mv().key(),
            );
        }
        let expert = &policies[0].1;
        let mut group = c.benchmark_group("wallgo");
        group.sample_size(10);
        group.bench_function(format!("expert_{name}_200k"), |b| {
            b.iter(|| table(expert, &view, &Budget::new(Limits::nodes(200_000))))
        });
        group.finish();
    }
}

criterion_group!(benches, rules, tables, search);
criterion_main!(benches);
