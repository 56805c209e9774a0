//! The thirteen terms and the policy that weighs them.

use serde_json::Value;
use understudy::bot::{Limits, Standing, Terms, decide};
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
