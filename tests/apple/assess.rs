//! How hard a board is: features, runs, bound, rank; and boards of a wished difficulty.

use proptest::prelude::*;
use serde_json::Value;
use understudy::bot::{Budget, Limits, Reject, Rng};
use understudy::games::apple::assess::{Assessment, Assessor, Generator, Options, Searcher, Wish, assess};
use understudy::games::apple::bound::upper_bound;
use understudy::games::apple::features::features;
use understudy::games::apple::reference::{BOARDS, Histograms, Reference};
use understudy::games::apple::wire::{BadCall, read_assess, read_wish, write_assessment, write_board};
use understudy::games::apple::{Board, Count, Distribution, Ruleset};
use understudy::pb::apple as wire;

use crate::cases::{board, list, number, numbers, obvious_legal, replay};

fn options(runs: u32) -> Options {
    Options { runs, ..Options::default() }
}

fn check_features(board: &Board, expected: &Value) {
    let found = features(board);
    assert_eq!(found.sum, number(&expected["sum"]));
    assert_eq!(found.sum_of_squares, number(&expected["sum_of_squares"]));
    assert_eq!(found.apples, number(&expected["apples"]));
    assert_eq!(found.counts.to_vec(), numbers(&expected["counts"]));
    assert_eq!(found.legal_moves, number(&expected["legal_moves"]));
    assert_eq!(found.reachable_apples, number(&expected["reachable_apples"]));
    assert_eq!(found.adjacent_pairs, number(&expected["adjacent_pairs"]));
}

fn check_runs(assessment: &Assessment, case: &Value) {
    let runs = assessment.runs.as_ref().expect("16 runs");
    assert_eq!(runs.scores, numbers(&case["greedy16"]));
    assert_eq!(runs.mean, case["greedy16_mean"].as_f64().expect("a mean"));
    let sd = case["greedy16_sd"].as_f64().expect("a deviation");
    assert!((runs.sd.expect("16 runs have one") - sd).abs() < 1e-6);
}

#[test]
fn known_boards_have_these_features_runs_and_bounds() {
    for (file, key) in [("public_boards.json", "boards"), ("random_boards.json", "boards")] {
        for case in list(file, key) {
            let dealt = match case["board"].as_str() {
                Some(_) => board(&case),
                None => Distribution::named(case["distribution"].as_str().expect("a name"))
                    .expect("known")
                    .board(case["seed"].as_u64().expect("a seed")),
            };
            assert_eq!(upper_bound(&dealt.counts()), number(&case["upper_bound"]));
            if case["features"].is_null() {
                continue;
            }
            let assessment = assess("board", dealt, &Options::default());
            check_features(&dealt, &case["features"]);
            check_runs(&assessment, &case);
            assert_eq!(assessment.features, features(&dealt));
            assert_eq!(assessment.greedy.score, number(&case["greedy"]));
            assert_eq!(replay(&dealt, &assessment.greedy.moves), assessment.greedy.score);
            assert_eq!(assessment.upper_bound, Some(number(&case["upper_bound"])));
            let codes: Vec<&str> = assessment.warnings.iter().map(|warning| warning.code).collect();
            let expected: Vec<&str> = case["warnings"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|code| code.as_str().expect("a code"))
                .collect();
            assert_eq!(codes, expected);
            assert!(!assessment.partial);
        }
    }
}

#[test]
fn small_boards_have_these_bounds() {
    let files = [
        ("vectors.json", "vectors", "upper_bound"),
        ("positions.json", "positions", "upper_bound_rest"),
        ("tiny_4x5.json", "boards", "upper_bound"),
        ("small_5x6.json", "boards", "upper_bound"),
    ];
    for (file, key, field) in files {
        for case in list(file, key) {
            assert_eq!(upper_bound(&board(&case).counts()), number(&case[field]), "{file} {}", case["board"]);
        }
    }
}

/// The bound by trying every group for the largest digit left, or leaving it over.
fn obvious_bound(counts: &mut [u32; 9]) -> u32 {
    fn group(counts: &mut [u32; 9], missing: usize, largest: usize, size: u32) -> u32 {
        if missing == 0 {
            return size + obvious_bound(counts);
        }
        let mut best = 0;
        for digit in 1..=largest.min(missing) {
            if counts[digit - 1] > 0 {
                counts[digit - 1] -= 1;
                best = best.max(group(counts, missing - digit, digit, size + 1));
                counts[digit - 1] += 1;
            }
        }
        best
    }
    let Some(largest) = counts.iter().rposition(|&count| count > 0) else { return 0 };
    counts[largest] -= 1;
    let left_over = obvious_bound(counts);
    let grouped = group(counts, 10 - (largest + 1), largest + 1, 1);
    counts[largest] += 1;
    left_over.max(grouped)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn the_bound_is_what_trying_everything_finds(mut counts in prop::array::uniform9(0u32..=2)) {
        prop_assert_eq!(upper_bound(&counts), obvious_bound(&mut counts));
    }

    #[test]
    fn the_bound_never_moves_by_more_than_the_apples_added(counts in prop::array::uniform9(0u32..=44), digit in 0usize..9) {
        let mut more = counts;
        more[digit] += 1;
        let (without, with) = (upper_bound(&counts), upper_bound(&more));
        // One apple more lets at most one whole group come to be, and never hurts.
        prop_assert!(with >= without && with <= without + 10, "{} {}", without, with);
        prop_assert!(with <= more.iter().sum());
    }
}

#[test]
fn the_shipped_tables_are_the_known_ones() {
    let path = |name: &str| format!("{}/tests/cases/apple/reference_{name}.json", env!("CARGO_MANIFEST_DIR"));
    for (distribution, file) in [(Distribution::Uniform, "uniform_v1"), (Distribution::Sum10, "sum10_v1")] {
        let text = std::fs::read_to_string(path(file)).expect("the file is there");
        let known: Value = serde_json::from_str(&text).expect("JSON");
        let shipped = Histograms::shipped(distribution);
        let pairs = |value: &Value| -> Vec<(u32, u32)> {
            value.as_array().expect("a list").iter().map(numbers).map(|pair| (pair[0], pair[1])).collect()
        };
        assert_eq!(shipped.greedy, pairs(&known["greedy"]));
        assert_eq!(shipped.greedy16_sum, pairs(&known["greedy16_sum"]));
        assert_eq!((shipped.rules.as_str(), shipped.boards), (known["rules"].as_str().expect("rules"), BOARDS));
        assert_eq!(shipped.greedy.iter().map(|entry| entry.1).sum::<u32>(), BOARDS);
        assert_eq!(serde_json::from_str::<Histograms>(&shipped.to_json()).expect("it reads what it writes"), *shipped);
    }
}

/// Means and quantiles of the tables, as published beside them.
#[test]
fn the_tables_have_these_means_and_quantiles() {
    let cases = [(Distribution::Uniform, 113.218, 112.491), (Distribution::Sum10, 113.098, 112.309)];
    for (distribution, single, sixteen) in cases {
        let table = Histograms::shipped(distribution);
        let mean = |list: &[(u32, u32)], per: f64| {
            let total: f64 = list.iter().map(|&(value, boards)| f64::from(value) * f64::from(boards)).sum();
            total / f64::from(BOARDS) / per
        };
        assert!((mean(&table.greedy, 1.0) - single).abs() < 5e-4);
        assert!((mean(&table.greedy16_sum, 16.0) - sixteen).abs() < 5e-4);
        let reference = Reference::of(distribution);
        for (share, score) in [(5.0, 89), (25.0, 103), (50.0, 113), (75.0, 123), (95.0, 137)] {
            let (below, above) = (reference.percentile_of_greedy(score), reference.percentile_of_greedy(score + 1));
            assert!(below - 2.0 < share && share < above + 2.0, "{share}: {below} {above}");
        }
        assert_eq!(reference.percentile_of_greedy(0), 0.0);
        assert_eq!(reference.percentile_of_greedy(170), 100.0);
        assert_eq!(reference.percentile_of_sum(170 * 16), 100.0);
    }
}

#[test]
fn a_table_is_measured_from_seeds_alone() {
    let mut heard = Vec::new();
    let table = Histograms::measure(Distribution::Sum10, 40, |seed| heard.push(seed));
    assert_eq!(heard, (1..=40).collect::<Vec<_>>());
    let mut scores: Vec<u32> =
        (1..=40).map(|seed| assess("board", Distribution::Sum10.board(seed), &options(0)).greedy.score).collect();
    scores.sort_unstable();
    let listed: Vec<u32> =
        table.greedy.iter().flat_map(|&(score, boards)| std::iter::repeat_n(score, boards as usize)).collect();
    assert_eq!(listed, scores);
    // And these boards are among those of the shipped table.
    let shipped = Histograms::shipped(Distribution::Sum10);
    for (sum, boards) in table.greedy16_sum {
        assert!(shipped.greedy16_sum.iter().any(|&(other, all)| other == sum && all >= boards));
    }
}

#[test]
fn the_third_sum10_board_is_ranked_as_published() {
    let assessment = assess("board", Distribution::Sum10.board(3), &Options::default());
    assert_eq!(assessment.runs.expect("runs").mean, 113.5);
    assert_eq!(assessment.rank.percentile_of_mean, Some(52.5575));
    assert_eq!((assessment.greedy.score, assessment.rank.percentile_of_greedy), (116, Some(57.3875)));
    assert_eq!(assessment.rank.stars, Some(3));
    let first = assess("board", Distribution::Sum10.board(1), &Options::default());
    assert_eq!((first.rank.percentile_of_mean, first.rank.stars), (Some(96.6375), Some(1)));
}

#[test]
fn stars_are_fifths() {
    use understudy::games::apple::reference::stars;
    let fifths = [(100.0, 1), (80.0, 1), (79.99, 2), (60.0, 2), (40.0, 3), (20.0, 4), (19.99, 5), (0.0, 5)];
    for (percentile, expected) in fifths {
        assert_eq!(stars(percentile), expected);
    }
}

#[test]
fn without_a_table_there_is_no_percentile() {
    let area = Options { ruleset: Ruleset { count: Count::Area, ..Ruleset::default() }, ..Options::default() };
    let mut touched = Distribution::Sum10.board(1);
    touched.clear(0);
    let small = Distribution::Uniform.next(&mut Rng::new(1), 4, 5).expect("a board");
    let cases = [(Distribution::Sum10.board(1), area), (touched, Options::default()), (small, Options::default())];
    for (board, options) in cases {
        let assessment = assess("board", board, &options);
        let rank = &assessment.rank;
        assert_eq!((rank.percentile_of_mean, rank.percentile_of_greedy, rank.stars), (None, None, None));
        let last = assessment.warnings.last().expect("a warning");
        assert_eq!((last.field.as_str(), last.code), ("reference", "NO_REFERENCE"));
        assert!(assessment.runs.is_some() && assessment.upper_bound.is_some());
    }
    // Fifteen runs are not sixteen: no percentile of the mean, no stars; but that of the greedy game.
    let fifteen = assess("board", Distribution::Sum10.board(1), &options(15));
    assert_eq!((fifteen.rank.percentile_of_mean, fifteen.rank.stars), (None, None));
    assert!(fifteen.rank.percentile_of_greedy.is_some());
    assert_eq!(assess("board", Distribution::Sum10.board(1), &options(1)).runs.expect("one").sd, None);
}

#[test]
fn the_quick_pass_is_quick_and_says_nothing_it_did_not_compute() {
    let assessment = assess("board", Distribution::Sum10.board(3), &options(0));
    assert_eq!((&assessment.runs, assessment.upper_bound, &assessment.best), (&None, None, &None));
    assert_eq!(assessment.rank.percentile_of_greedy, Some(57.3875));
    assert_eq!((assessment.rank.percentile_of_mean, assessment.rank.stars), (None, None));
    assert!(!assessment.partial);
}

#[test]
fn stopping_anywhere_leaves_what_is_done_and_says_partial() {
    let options = Options { best: Some((Searcher::Hard, Some(600))), ..Options::default() };
    let dealt = Distribution::Sum10.board(3);
    let whole = assess("board", dealt, &options);
    for steps in 0..18 {
        let mut assessor = Assessor::start("board", dealt, &options);
        for _ in 0..steps {
            assert!(!assessor.is_done());
            assessor.step(&Budget::new(options.search_limits()));
        }
        let part = assessor.finish();
        assert!(part.partial, "after {steps} steps");
        assert_eq!(part.greedy, whole.greedy);
        assert_eq!(part.runs.is_some(), steps >= 16);
        assert_eq!(part.upper_bound.is_some(), steps >= 17);
        assert_eq!(part.best, None);
        assert_eq!(part.rank.stars.is_some(), steps >= 16);
    }
    // A search that a clock cuts is absent.
    let mut assessor = Assessor::start("board", dealt, &options);
    while !assessor.is_done() {
        assessor.step(&Budget::spent());
    }
    let cut = assessor.finish();
    assert_eq!((cut.best, cut.partial), (None, true));
    assert_eq!(cut.upper_bound, whole.upper_bound);
}

#[test]
fn the_best_line_is_seeded_by_the_board_and_never_below_greedy() {
    for searcher in [Searcher::Hard, Searcher::Expert] {
        let options = Options { runs: 0, best: Some((searcher, Some(9_000))), ..Options::default() };
        for seed in 1..=4 {
            let dealt = Distribution::Uniform.board(seed);
            let assessment = assess("board", dealt, &options);
            let best = assessment.best.clone().expect("a search");
            assert!(best.score >= assessment.greedy.score);
            assert_eq!(replay(&dealt, &best.plan), best.score);
            assert!(obvious_legal(&finished(&dealt, &best.plan)).is_empty(), "a plan runs until no move is left");
            assert!(best.nodes <= 9_000 && best.policy == searcher.full_name());
            assert_eq!(assess("board", dealt, &options), assessment, "same board, same answer");
        }
    }
    // Boards without a move: nothing can be cleared, and nothing is.
    for text in ["0000", "9999"] {
        let options = Options { best: Some((Searcher::Expert, None)), ..Options::default() };
        let assessment = assess("board", Board::parse(text).expect("a board"), &options);
        let best = assessment.best.expect("a search");
        assert_eq!((best.score, best.plan.len(), best.proven_optimal), (0, 0, true));
        assert_eq!((assessment.greedy.score, assessment.upper_bound), (0, Some(0)));
    }
}

fn finished(board: &Board, plan: &[understudy::games::apple::Rectangle]) -> Board {
    let mut left = *board;
    for &r in plan {
        crate::cases::apples_in(&left, r).into_iter().for_each(|cell| left.clear(cell));
    }
    left
}

fn wish(seed: u64, band: Option<(f64, f64)>) -> Wish {
    Wish {
        seed,
        distribution: Distribution::Sum10,
        rows: 10,
        columns: 17,
        band,
        max_tries: 500,
        options: Options::default(),
    }
}

#[test]
fn boards_are_found_by_band_as_published() {
    let found = Generator::new(wish(1, Some((95.0, 100.0)))).run().expect("in the band");
    assert_eq!((found.tries, found.assessment.rank.percentile_of_mean), (1, Some(96.6375)));
    let found = Generator::new(wish(1, Some((50.0, 50.5)))).run().expect("in the band");
    assert_eq!((found.tries, format!("{:016x}", found.board.hash()).as_str()), (51, "7033b0ed0d79af04"));
    let found = Generator::new(wish(1, Some((0.0, 1.0)))).run().expect("in the band");
    assert_eq!((found.tries, format!("{:016x}", found.board.hash()).as_str()), (112, "0e115df759386396"));
    let none = Generator::new(wish(1, Some((99.99, 100.0)))).run().expect_err("none in 500");
    assert_eq!(none.tries, 500);
    assert!(none.nearest.is_some_and(|nearest| nearest > 99.0 && nearest < 99.99), "{none:?}");
    // No band: the first candidate, of any size; and a single cell that can never sum to ten.
    let first = Wish { rows: 3, columns: 7, ..wish(9, None) };
    let found = Generator::new(first).run().expect("the first");
    assert_eq!((found.tries, found.board.rows(), found.board.columns()), (1, 3, 7));
    let never = Generator::new(Wish { rows: 1, columns: 1, ..wish(9, None) }).run().expect_err("never");
    assert_eq!((never.tries, never.nearest), (0, None));
}

fn assess_call(boards: Vec<wire::Board>) -> wire::AssessBoardsRequest {
    wire::AssessBoardsRequest { boards, ruleset: "fruitbox.v1".to_owned(), ..Default::default() }
}

fn wrong_fields(result: Result<impl Sized, BadCall>) -> Vec<String> {
    match result {
        Ok(_) => Vec::new(),
        Err(BadCall::Invalid(list)) => list.into_iter().map(|violation| violation.field).collect(),
        Err(BadCall::PolicyUnknown(text)) => vec![text],
    }
}

#[test]
fn a_bad_board_does_not_spoil_the_call() {
    let good = write_board(&Distribution::Sum10.board(1));
    let bad = wire::Board { rows: 1, columns: 2, cells: vec![3, 12] };
    let call = read_assess(&assess_call(vec![good.clone(), bad, good])).expect("a good call");
    assert_eq!(call.boards.len(), 3);
    assert_eq!(call.boards[0].as_ref().ok(), Some(&Distribution::Sum10.board(1)));
    let Err(Reject::Invalid(wrong)) = &call.boards[1] else { panic!("a bad board") };
    assert_eq!((wrong.kept()[0].field.as_str(), wrong.len()), ("boards[1].cells[1]", 1));
    assert_eq!((call.options.runs, call.options.reference.name(), call.trace), (16, "sum10.v1", false));
    assert_eq!(call.options.search_limits(), Limits::NONE);
}

#[test]
fn what_spoils_an_assessment_call_as_a_whole() {
    let good = || vec![write_board(&Distribution::Sum10.board(1))];
    let fields = |change: fn(&mut wire::AssessBoardsRequest)| {
        let mut call = assess_call(good());
        change(&mut call);
        wrong_fields(read_assess(&call))
    };
    assert_eq!(fields(|_| {}), Vec::<String>::new());
    assert_eq!(fields(|call| call.boards.clear()), ["boards"]);
    assert_eq!(fields(|call| call.boards = vec![wire::Board::default(); 1_025]), ["boards"]);
    assert_eq!(fields(|call| call.ruleset.clear()), ["ruleset"]);
    assert_eq!(fields(|call| call.ruleset = "fruitbox.v9".to_owned()), ["ruleset"]);
    assert_eq!(fields(|call| call.runs = Some(257)), ["runs"]);
    assert_eq!(fields(|call| call.reference = "nowhere.v1".to_owned()), ["reference"]);
    let best = |policy: &str, max_nodes| Some(wire::BestOptions { policy: policy.to_owned(), max_nodes });
    let mut call = assess_call(good());
    call.best = best("hard", Some(0));
    assert_eq!(wrong_fields(read_assess(&call)), ["best.max_nodes"]);
    for name in ["easy", "", "hard@99"] {
        call.best = best(name, None);
        assert!(matches!(read_assess(&call), Err(BadCall::PolicyUnknown(_))), "{name:?}");
    }
    call.best = best("hard@1", None);
    assert_eq!(read_assess(&call).expect("known").options.search_limits(), Limits::nodes(5_400));
}

#[test]
fn wishes_are_checked() {
    let band = |low, high| Some(wire::PercentileBand { low, high });
    let fields = |change: &dyn Fn(&mut wire::GenerateBoardRequest)| {
        let mut request = wire::GenerateBoardRequest::default();
        change(&mut request);
        wrong_fields(read_wish(&request, 7))
    };
    let plain = read_wish(&wire::GenerateBoardRequest::default(), 7).expect("all defaults");
    assert_eq!((plain.seed, plain.rows, plain.columns, plain.max_tries), (7, 10, 17, 500));
    assert_eq!((plain.distribution, plain.options.reference.name()), (Distribution::Sum10, "sum10.v1"));
    let uniform = wire::GenerateBoardRequest { distribution: "uniform.v1".to_owned(), ..Default::default() };
    assert_eq!(read_wish(&uniform, 7).expect("good").options.reference.name(), "uniform.v1");
    assert_eq!(fields(&|r| r.rows = 4), ["columns"]);
    assert_eq!(fields(&|r| r.columns = 4), ["rows"]);
    assert_eq!(fields(&|r| (r.rows, r.columns) = (65, 65)), ["rows", "columns"]);
    assert_eq!(fields(&|r| (r.rows, r.columns) = (40, 40)), ["rows"]);
    assert_eq!(fields(&|r| r.max_tries = Some(0)), ["max_tries"]);
    assert_eq!(fields(&|r| r.max_tries = Some(10_001)), ["max_tries"]);
    assert_eq!(fields(&|r| r.ruleset = "x".to_owned()), ["ruleset"]);
    assert_eq!(fields(&|r| r.distribution = "x".to_owned()), ["distribution"]);
    assert_eq!(fields(&|r| r.reference = "x".to_owned()), ["reference"]);
    for (low, high) in [(-1.0, 5.0), (5.0, 5.0), (6.0, 5.0), (0.0, 100.1), (f64::NAN, 5.0), (5.0, f64::NAN)] {
        assert_eq!(fields(&|r| r.band = band(low, high)), ["band"], "{low} {high}");
    }
    assert_eq!(fields(&|r| (r.band, r.ruleset) = (band(1.0, 2.0), "fruitbox-area.v1".to_owned())), ["band"]);
    assert_eq!(fields(&|r| (r.band, r.rows, r.columns) = (band(1.0, 2.0), 4, 5)), ["band"]);
    let strict = |r: &mut wire::GenerateBoardRequest| {
        (r.ruleset, r.distribution) = ("fruitbox-strict.v1".to_owned(), "uniform.v1".to_owned());
    };
    assert_eq!(fields(&strict), ["distribution"]);
}

#[test]
fn an_assessment_is_written_without_a_zero_for_what_is_absent() {
    let dealt = Distribution::Sum10.board(3);
    let quick = write_assessment(&assess("boards[0]", dealt, &options(0)), false);
    assert_eq!(quick.board_hash, format!("{:016x}", dealt.hash()));
    assert_eq!(quick.tie, "v1");
    assert_eq!((quick.greedy_runs, quick.upper_bound, quick.best), (None, None, None));
    let greedy = quick.greedy.expect("a game");
    assert_eq!((greedy.score, greedy.trace.len()), (116, 0));
    let rank = quick.rank.expect("a rank");
    assert_eq!((rank.percentile_of_mean, rank.percentile_of_greedy, rank.stars), (None, Some(57.3875), None));
    let whole = write_assessment(&assess("boards[0]", dealt, &Options::default()), true);
    let greedy = whole.greedy.expect("a game");
    assert_eq!(greedy.trace.len() as u32, greedy.moves);
    assert_eq!(whole.upper_bound.expect("a bound").kind, "MULTISET_EXACT");
    assert_eq!(whole.rank.expect("a rank").stars, Some(3));
    assert_eq!(whole.features.expect("features").counts.len(), 9);
    assert!(whole.ruleset.starts_with("fruitbox.v1 count=APPLES"));
}
