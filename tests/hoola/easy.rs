//! The five lines.

use crate::data::{file, list, mv, text, view};
use understudy::bot::{Budget, Game, Policy, Rng, Turn, decide};
use understudy::games::hoola::Hoola;
use understudy::games::hoola::policies::easy::Easy;

#[test]
fn every_state_is_decided_as_written() {
    let budget = Budget::unlimited();
    for case in list(&file("legal"), "cases") {
        let view = view(&case["view"]);
        let mut turn = Turn { budget: &budget, rng: &mut Rng::new(0) };
        let table = Easy.evaluate(&view, &mut turn);
        assert_eq!(*decide(&table).mv(), mv(text(&case["easy"])), "{case}");
        assert_eq!(Easy.shortcut(&view, &mut turn), Some(*decide(&table).mv()));
        assert_eq!(table.rows().len(), Hoola::legal(&view).len());
        // Rank 1 is also the first of its line's own order.
        let mut shares: Vec<f64> = table.rows().iter().map(|row| row.terms().preference.get()).collect();
        shares.sort_by(f64::total_cmp);
        assert_eq!(decide(&table).terms().preference.get(), 1.0);
        assert!(shares.windows(2).all(|pair| pair[0] < pair[1]), "places are distinct");
        let rule = table.get_fact("rule").expect("the line that fired");
        assert!((1.0..=5.0).contains(&rule));
    }
}
