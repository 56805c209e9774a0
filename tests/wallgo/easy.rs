//! The thirteen terms and the policy that weighs them.

use serde_json::Value;
use understudy::bot::{Limits, Policy, Standing, Terms, decide};
use understudy::games::wallgo::policies::easy::Easy;
use understudy::games::wallgo::rules::Rules;
use understudy::games::wallgo::terms::{ALL_THIRTEEN, Term, WallgoTerms};

use crate::cases::{list, load, position, table, text, view_of};

#[test]
fn terms_have_their_golden_values() {
    let data = load("terms");
    for (place, weight) in ALL_THIRTEEN {
        assert_eq!(data["weights"][WallgoTerms::SPECS[place].id].as_f64(), Some(weight));
    }
    for case in list(&data["positions"]) {
        let position = position(case);
        let me = position.mover();
        let terms = WallgoTerms::full(&Rules::default(), &position, me);
        let other = WallgoTerms::full(&Rules::default(), &position, 1 - me);
        for (place, spec) in WallgoTerms::SPECS.iter().enumerate() {
            assert!((terms.values()[place] + other.values()[place] - 1.0).abs() < 1e-12, "{} {}", case["id"], spec.id);
            if place == Term::Active as usize {
                continue;
            }
            let expected = case["terms"][spec.id].as_f64().unwrap();
            assert!((terms.values()[place] - expected).abs() < 1e-9, "{} {}: {expected}", case["id"], spec.id);
        }
    }
}

#[test]
fn the_three_best_are_the_golden_ones() {
    for case in list(&load("easy")["positions"]) {
        let view = view_of(Rules::default(), &position(case));
        let table = table(&Easy::default(), &view, Limits::NONE);
        let open: Vec<_> = table.ranked().into_iter().filter(|row| row.get_barred().is_none()).collect();
        assert_eq!(open.len() as u64, case["candidates"].as_u64().unwrap(), "{}", case["id"]);
        for (row, expected) in open.iter().zip(list(&case["best"])) {
            assert_eq!(row.mv().key(), text(&expected["action"]), "{}", case["id"]);
            match (row.get_standing(), &expected["standing"]) {
                (Standing::Open, Value::Null) => {
                    assert!((row.total() - expected["total"].as_f64().unwrap()).abs() < 1e-9, "{}", case["id"]);
                }
                (Standing::Won(proof), Value::String(won)) if won == "WIN" => {
                    assert_eq!(Some(i64::from(proof.margin)), expected["margin"].as_i64());
                    assert_eq!((proof.in_plies, proof.how), (Some(1), "end"));
                }
                (standing, expected) => panic!("{}: {standing:?}, expected {expected}", case["id"]),
            }
        }
        if let Some(last) = case["last"].as_str() {
            assert_eq!(open.last().unwrap().mv().key(), last, "{}", case["id"]);
        }
        assert_eq!(decide(&table).mv().key(), text(&case["best"][0]["action"]));
    }
}

#[test]
fn each_term_switched_off_changes_the_golden_totals() {
    let data = load("terms");
    let differs = |policy: &dyn Policy<understudy::games::wallgo::Wallgo>| {
        list(&data["positions"]).iter().any(|case| {
            let position = position(case);
            let terms = WallgoTerms::full(&Rules::default(), &position, position.mover());
            (policy.weights()[0].total(&terms) - case["total"].as_f64().unwrap()).abs() > 1e-6
        })
    };
    assert!(!differs(&Easy::default()));
    for (place, _) in ALL_THIRTEEN {
        let mut without = Easy::default().table(None).unwrap();
        let column = without.terms.iter().position(|id| id == WallgoTerms::SPECS[place].id).unwrap();
        without.rows[0][column] = 0.0;
        let policy = Easy::default().with_weights(&without, None).unwrap();
        assert!(differs(&*policy), "{} is not tested", WallgoTerms::SPECS[place].id);
    }
}

#[test]
fn tables_of_all_sixteen_images_map_onto_each_other() {
    let data = load("symmetry");
    /// The totals of a table, sorted; its number of rows and the total of the named action.
    type Seen = (Vec<f64>, Option<(usize, f64)>);
    let mut first: std::collections::HashMap<&str, Seen> = Default::default();
    for case in list(&data["images"]) {
        let table = table(&Easy::default(), &view_of(Rules::default(), &position(case)), Limits::NONE);
        let mut totals: Vec<f64> = table.rows().iter().map(understudy::bot::Evaluation::total).collect();
        totals.sort_unstable_by(f64::total_cmp);
        let image = table.rows().iter().find(|row| row.mv().key() == text(&case["action"])).unwrap();
        let entry = first
            .entry(text(&case["of"]))
            .or_insert_with(|| (totals.clone(), Some((table.rows().len(), image.total()))));
        assert!(entry.0.iter().zip(&totals).all(|(a, b)| (a - b).abs() < 1e-12), "{}", case["id"]);
        let (rows, total) = entry.1.unwrap();
        assert_eq!(table.rows().len(), rows);
        assert!((image.total() - total).abs() < 1e-12, "{}: the image of the action has its total", case["id"]);
    }
}
