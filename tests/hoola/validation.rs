//! Edits to sound views, and every reason of the first failing stage.

use crate::data::{file, list, message, text};
use serde_json::Value;
use understudy::bot::{Reject, Wire};
use understudy::games::hoola::Hoola;

/// Sets the value at a dotted path, creating what is missing.
fn edit(view: &mut Value, path: &str, value: &Value) {
    let mut place = view;
    for step in path.split('.') {
        place = match step.parse::<usize>() {
            Ok(i) => &mut place[i],
            Err(_) => &mut place[step],
        };
    }
    *place = value.clone();
}

fn reasons(view: &Value) -> Vec<(String, String)> {
    match Hoola::read(message(view)) {
        Ok(_) => Vec::new(),
        Err(Reject::Invalid(found)) => {
            let strip = |field: &str| field.strip_prefix("view.hoola.").unwrap_or(field).to_owned();
            let mut list: Vec<_> = found.kept().iter().map(|v| (strip(&v.field), v.code.to_owned())).collect();
            list.sort();
            list
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn every_edit_is_answered_with_exactly_these_reasons() {
    let file = file("validation");
    for case in list(&file, "cases") {
        let mut view = file["bases"][text(&case["base"])].clone();
        for change in list(case, "edit") {
            edit(&mut view, text(&change[0]), &change[1]);
        }
        let mut expected: Vec<_> =
            list(case, "errors").iter().map(|error| (text(&error[0]).to_owned(), text(&error[1]).to_owned())).collect();
        expected.sort();
        assert_eq!(reasons(&view), expected, "{case}");
    }
}

/// Reasons that the data file has no case for.
#[test]
fn further_reasons() {
    let file = file("validation");
    /// A name, what is changed in a good view, and what is wrong then.
    type Case<'a> = (&'a str, &'a [(&'a str, Value)], &'a [(&'a str, &'a str)]);
    let cases: &[Case<'_>] = &[
        (
            "ACTION",
            &[("turn.registered_at_start", true.into()), ("seat", 1.into()), ("turn_seat", 1.into())],
            &[("turn.registered_at_start", "PHASE_MISMATCH")],
        ),
        ("WINDOW", &[("turn_seat", 0.into())], &[("turn_seat", "PHASE_MISMATCH")]),
        ("WINDOW", &[("phase", "ACTION".into())], &[("turn", "PHASE_MISMATCH"), ("turn_seat", "PHASE_MISMATCH")]),
        ("ACTION", &[("phase", "TURN_START".into())], &[("turn", "PHASE_MISMATCH")]),
        (
            "ACTION",
            &[("seats.0.hand_count", 8.into())],
            &[("hand", "HAND_COUNT_MISMATCH"), ("seats[0].hand_count", "OUT_OF_RANGE")],
        ),
        ("ACTION", &[("seats.3.hand_count", 0.into())], &[("seats[3].hand_count", "OUT_OF_RANGE")]),
        ("ACTION", &[("seats.3.hand_count", 7.into())], &[("seats[3].hand_count", "OUT_OF_RANGE")]),
        ("ACTION", &[("seats.3.hand_count", 5.into())], &[("deck_remaining", "CARD_COUNT")]),
        ("FREE", &[("seats.1.known_cards.0", 1.into())], &[("seats[1].known_cards[0]", "DUPLICATE_CARD")]),
        ("ACTION", &[("discards.5.taken_by", 1.into())], &[("turn.taken_card", "PHASE_MISMATCH")]),
        (
            "ACTION",
            &[("ruleset.stop_limit", 41.into()), ("ruleset.mult_high", 9.into())],
            &[("ruleset.mult_high", "OUT_OF_RANGE"), ("ruleset.stop_limit", "OUT_OF_RANGE")],
        ),
    ];
    for (base, edits, expected) in cases {
        let mut view = file["bases"][*base].clone();
        for (path, value) in *edits {
            edit(&mut view, path, value);
        }
        let mut expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        expected.sort();
        assert_eq!(reasons(&view), expected, "{base} {edits:?}");
    }
}

#[test]
fn scores_draw_warnings_only() {
    let file = file("validation");
    let codes = |edits: &[(&str, Value)]| {
        let mut view = file["bases"]["ACTION"].clone();
        edits.iter().for_each(|(path, value)| edit(&mut view, path, value));
        let checked = Hoola::read(message(&view)).unwrap_or_else(|reject| panic!("{reject:?}"));
        checked.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(&[]), Vec::<&str>::new());
    assert_eq!(codes(&[("scores.0", 5.into())]), ["SCORES_NOT_ZERO_SUM"]);
    assert_eq!(codes(&[("rounds_total", Value::Null)]), ["SCORES_WITHOUT_ROUNDS"]);
}
