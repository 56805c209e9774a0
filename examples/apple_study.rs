//! The numbers and figures of `docs/APPLE.md`: `cargo run --release --example apple_study [BOARDS [NODES]]`.
//!
//! Every number comes from seeds 1..=BOARDS of `uniform.v1`, so a second run gives the same figures.

use std::error::Error;
use std::ops::Range;

use plotters::prelude::*;
use understudy::bot::{Budget, Limits, Policy, Rng, Turn};
use understudy::games::apple::greedy::{Line, greedy, random_tie_scores};
use understudy::games::apple::policies::{Expert, Hard};
use understudy::games::apple::reference::{Reference, stars};
use understudy::games::apple::{Board, Count, Distribution, Move, Ruleset, View, features, rects};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What is measured on one board.
struct Measured {
    scores: [f64; 4],
    predictors: Vec<f64>,
    /// Stars of the board and of its mirror image, from one greedy game and from sixteen.
    single: [u8; 2],
    sixteen: [u8; 2],
}

const POLICIES: [&str; 4] = ["easy", "normal", "hard", "expert"];
const PREDICTORS: [&str; 11] = [
    "greedy, mean of 16",
    "greedy, single",
    "nearest-move greedy",
    "first found",
    "sum (negative)",
    "sum of squares (negative)",
    "legal moves",
    "reachable apples",
    "adjacent pairs",
    "small digits 1-3",
    "their scatter (negative)",
];

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let boards = arguments.next().transpose()?.unwrap_or(1000);
    let nodes = arguments.next().transpose()?.unwrap_or(60_000);
    let measured: Vec<Measured> = (1..=boards).map(|seed| measure(Distribution::Uniform.board(seed), nodes)).collect();
    std::fs::create_dir_all("docs/apple")?;
    println!("{boards} boards, expert at {nodes} nodes\n");
    distributions(&measured)?;
    correlations(&measured)?;
    mirroring(&measured)
}

fn measure(board: Board, nodes: u64) -> Measured {
    let scores = [
        finish(&board, |moves, _| moves.first().copied()),
        greedy(&board, Count::Apples).score.into(),
        plan_score(&Hard::default(), board, Hard::default().about().default_limits),
        plan_score(&Expert::default(), board, Limits::nodes(nodes)),
    ];
    let sixteen = |board: &Board| random_tie_scores(board, Count::Apples, 0..16).iter().sum::<u32>();
    let seen = features::features(&board);
    let small: Vec<(i32, i32)> = places(&board, 1..4);
    let predictors = vec![
        f64::from(sixteen(&board)) / 16.0,
        scores[1],
        finish(&board, nearest),
        scores[0],
        -f64::from(seen.sum),
        -f64::from(seen.sum_of_squares),
        seen.legal_moves.into(),
        seen.reachable_apples.into(),
        seen.adjacent_pairs.into(),
        small.len() as f64,
        -scatter(&small),
    ];
    let table = Reference::of(Distribution::Uniform);
    let both = [board, board.mirrored()];
    let single = both.map(|board| stars(table.percentile_of_greedy(greedy(&board, Count::Apples).score)));
    let sixteen = both.map(|board| stars(table.percentile_of_sum(sixteen(&board))));
    Measured { scores, predictors, single, sixteen }
}

fn plan_score(policy: &dyn Policy<understudy::games::apple::Apple>, board: Board, limits: Limits) -> f64 {
    let view = View::new(Ruleset::default(), board).expect("the default rules accept any board");
    let budget = Budget::new(limits);
    let table = policy.evaluate(&view, &mut Turn { budget: &budget, rng: &mut Rng::new(board.hash()) });
    table.get_fact("plan_score").expect("searching policies tell it")
}

/// Plays to the end; `choose` sees the legal moves and the move before.
fn finish(board: &Board, choose: impl Fn(&[Move], Option<Move>) -> Option<Move>) -> f64 {
    let mut left = *board;
    let mut line = Line::default();
    let mut last = None;
    while let Some(mv) = choose(&rects::legal(&left), last) {
        mv.cells.iter().for_each(|cell| left.clear(cell));
        line.score += u32::from(mv.apples);
        last = Some(mv);
    }
    line.score.into()
}

/// A player's eye goes on from where it is: the move whose middle is nearest to the last one's, then the greedy order.
/// The first move is the greedy one.
fn nearest(moves: &[Move], last: Option<Move>) -> Option<Move> {
    let middle = |mv: &Move| {
        let r = mv.rectangle;
        (i32::from(r.row_min) + i32::from(r.row_max), i32::from(r.col_min) + i32::from(r.col_max))
    };
    let distance = |mv: &Move| {
        last.map_or(0, |last| {
            let ((row, column), (from_row, from_column)) = (middle(mv), middle(&last));
            (row - from_row).pow(2) + (column - from_column).pow(2)
        })
    };
    moves.iter().min_by_key(|mv| (distance(mv), 9 - mv.largest, mv.apples, mv.rectangle)).copied()
}

fn places(board: &Board, digits: Range<u8>) -> Vec<(i32, i32)> {
    let columns = board.columns();
    let cells = board.cells().iter().enumerate().filter(|(_, digit)| digits.contains(digit));
    cells.map(|(cell, _)| ((cell / columns) as i32, (cell % columns) as i32)).collect()
}

/// Mean distance in steps from each place to its nearest neighbour.
fn scatter(places: &[(i32, i32)]) -> f64 {
    let steps = |a: &(i32, i32), b: &(i32, i32)| (a.0 - b.0).abs() + (a.1 - b.1).abs();
    let nearest = |a| places.iter().filter(|b| *b != a).map(|b| steps(a, b)).min().unwrap_or(0);
    places.iter().map(|a| f64::from(nearest(a))).sum::<f64>() / places.len().max(1) as f64
}

fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0)).sqrt())
}

/// Ranks with ties sharing their mean rank.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
    let equal = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
    values.iter().map(|&value| below(value) + (equal(value) + 1.0) / 2.0).collect()
}

fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let ((mean_a, sd_a), (mean_b, sd_b)) = (mean_and_sd(&a), mean_and_sd(&b));
    let products: f64 = a.iter().zip(&b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum();
    products / ((a.len() as f64 - 1.0) * sd_a * sd_b)
}

fn distributions(measured: &[Measured]) -> Outcome<()> {
    println!("| policy | mean | 95 % | sd | min | max |\n| --- | --- | --- | --- | --- | --- |");
    let columns: Vec<Vec<f64>> = (0..4).map(|i| measured.iter().map(|m| m.scores[i]).collect()).collect();
    for (name, scores) in POLICIES.iter().zip(&columns) {
        let (mean, sd) = mean_and_sd(scores);
        let half = 1.96 * sd / (scores.len() as f64).sqrt();
        let (min, max) = scores.iter().fold((f64::MAX, 0.0f64), |(a, b), &s| (a.min(s), b.max(s)));
        println!("| {name} | {mean:.2} | ± {half:.2} | {sd:.2} | {min} | {max} |");
    }
    println!("\n| pair | mean | 95 % | not below |\n| --- | --- | --- | --- |");
    for i in 1..4 {
        let gains: Vec<f64> = columns[i].iter().zip(&columns[i - 1]).map(|(a, b)| a - b).collect();
        let (mean, sd) = mean_and_sd(&gains);
        let not_below = gains.iter().filter(|gain| **gain >= 0.0).count() as f64 / gains.len() as f64;
        let half = 1.96 * sd / (gains.len() as f64).sqrt();
        println!(
            "| {} over {} | {mean:+.2} | ± {half:.2} | {:.1} % |",
            POLICIES[i],
            POLICIES[i - 1],
            100.0 * not_below
        );
    }
    let root = SVGBackend::new("docs/apple/distributions.svg", (800, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("Apples cleared, by policy (bins of 4)", ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(35)
        .y_label_area_size(45)
        .build_cartesian_2d(60.0..172.0, 0.0..0.16)?;
    chart.configure_mesh().x_desc("apples").y_desc("share of boards").draw()?;
    let colours = [&BLUE, &GREEN, &MAGENTA, &RED];
    for ((name, scores), colour) in POLICIES.iter().zip(&columns).zip(colours) {
        let share = |low: f64| scores.iter().filter(|s| (low..low + 4.0).contains(*s)).count() as f64;
        let bins = (15..43).map(|bin| f64::from(bin) * 4.0);
        let points: Vec<(f64, f64)> = bins.map(|low| (low + 2.0, share(low) / scores.len() as f64)).collect();
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    chart.configure_series_labels().border_style(BLACK).background_style(WHITE).draw()?;
    root.present()?;
    Ok(())
}

fn correlations(measured: &[Measured]) -> Outcome<()> {
    // The best found by any policy on the board.
    let best: Vec<f64> = measured.iter().map(|m| m.scores.iter().copied().fold(0.0, f64::max)).collect();
    let column = |i: usize| measured.iter().map(|m| m.predictors[i]).collect::<Vec<f64>>();
    let found: Vec<f64> = (0..PREDICTORS.len()).map(|i| rank_correlation(&column(i), &best)).collect();
    println!("\n| predictor | rank correlation with the best found |\n| --- | --- |");
    for (name, correlation) in PREDICTORS.iter().zip(&found) {
        println!("| {name} | {correlation:.3} |");
    }
    println!("\nmean of 16 above single: {:+.3}", found[0] - found[1]);
    bars("docs/apple/predictors.svg", "Rank correlation with the best score found", &PREDICTORS, &found, 1.0)
}

fn mirroring(measured: &[Measured]) -> Outcome<()> {
    let changed = |pairs: &dyn Fn(&Measured) -> [u8; 2]| {
        let changed = measured.iter().filter(|m| pairs(m)[0] != pairs(m)[1]).count();
        100.0 * changed as f64 / measured.len() as f64
    };
    let shares = [changed(&|m| m.single), changed(&|m| m.sixteen)];
    println!("\n| level from | boards whose level changes in the mirror |\n| --- | --- |");
    println!("| one greedy game | {:.1} % |\n| the mean of 16 | {:.1} % |", shares[0], shares[1]);
    let names = ["one greedy game", "mean of 16"];
    bars("docs/apple/mirroring.svg", "Boards whose stars change in the mirror, %", &names, &shares, 100.0)
}

/// Horizontal bars with their values.
fn bars(path: &str, title: &str, names: &[&str], values: &[f64], top: f64) -> Outcome<()> {
    let root = SVGBackend::new(path, (800, 90 + 30 * names.len() as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    let count = names.len() as i32;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(200)
        .build_cartesian_2d(0.0..top, (0..count).into_segmented())?;
    let name = |at: &SegmentValue<i32>| match at {
        SegmentValue::CenterOf(i) => {
            names.get((count - 1 - i) as usize).map_or(String::new(), |name| (*name).to_owned())
        }
        _ => String::new(),
    };
    chart.configure_mesh().disable_y_mesh().y_labels(names.len()).y_label_formatter(&name).draw()?;
    let drawn = values.iter().enumerate().map(|(i, &value)| {
        let row = count - 1 - i as i32;
        let mut bar = Rectangle::new(
            [(0.0, SegmentValue::Exact(row)), (value.max(0.0), SegmentValue::Exact(row + 1))],
            BLUE.mix(0.6).filled(),
        );
        bar.set_margin(4, 4, 0, 0);
        bar
    });
    chart.draw_series(drawn)?;
    let labels = values.iter().enumerate().map(|(i, &value)| {
        let at = (value.max(0.0) + top * 0.01, SegmentValue::CenterOf(count - 1 - i as i32));
        Text::new(format!("{value:.3}"), at, ("sans-serif", 13))
    });
    chart.draw_series(labels)?;
    root.present()?;
    Ok(())
}
