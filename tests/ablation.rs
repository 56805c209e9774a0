//! Is each test useful? Every term of Lexio's `hard` has witnesses: rows whose value for it is known by hand. Switched off (0 in
//! every row, the weights untouched), a term must break its own witnesses, and no other's.

#[allow(dead_code)]
#[path = "lexio/load.rs"]
mod load;

use load::{cases, key, scene, table, tiles, view};
use understudy::bot::{Evaluated, Evaluation, Policy, Terms, Unit};
use understudy::games::lexio::Lexio;
use understudy::games::lexio::policies::Hard;
use understudy::games::lexio::terms::LexioTerms;
use understudy::games::lexio::tile::Deck;

/// Term, row, value. The scenes: 0 the golden follow, 1 the golden lead, 2 the broken flush, 3 an endgame lead.
const WITNESSES: [(&str, usize, &str, f64); 22] = [
    ("progress", 0, "M1", 1.0 / 12.0),
    ("progress", 1, "T9-M10-S11-C12-T13", 5.0 / 12.0),
    ("plan_gain", 0, "M1", 1.0),
    ("plan_gain", 2, "M7-S7", 4.0 / 7.0),
    ("lead", 0, "S2", 1.0),
    ("lead", 3, "M2-S2", 1.0),
    ("strong_tile_cost", 0, "S2", 1.0),
    ("strong_tile_cost", 1, "C3-T4-M5-S6-S2", 0.2),
    ("tempo_risk", 0, "T9", 0.5),
    ("tempo_risk", 0, "pass", 12.0 / 23.0),
    ("tempo_risk", 1, "C3-T4-M5-S6-C7", 7.0 / 19.0),
    ("twos_shed", 3, "M2", 0.5),
    ("twos_shed", 1, "C3-T4-M5-S6-S2", 1.0),
    ("deny", 3, "C9-T9", 1.0),
    ("deny", 3, "S2", 1.0),
    ("control_gain", 0, "M1", 0.912_14),
    ("control_gain", 2, "C13-T13", 0.993_5),
    ("tile_cost", 0, "M1", 43.0 / 47.0),
    ("tile_cost", 0, "T9", 19.0 / 47.0),
    ("single_strength", 0, "M1", 0.263_6),
    ("single_strength", 3, "S2", 1.0),
    ("pass_baseline", 0, "pass", 1.0),
];

fn tables() -> [Evaluated<Lexio>; 4] {
    let golden = cases("golden");
    let flush = scene("S4 S7 S9 S11 S14 M7 C13 T13 C3 T5 M10 T1", Some((4, "T6 M6")), &[12, 12, 12, 12, 10], "T6 M6");
    let hand = "C9 T9 M2 S2";
    let rest = Deck::of(5).unwrap().tiles.minus(tiles(hand));
    let played: Vec<String> = rest.into_iter().take(32).map(|tile| tile.to_string()).collect();
    let end = scene(hand, None, &[4, 1, 8, 8, 7], &played.join(" "));
    [view(&golden[0]["view"]), view(&golden[1]["view"]), flush, end].map(|view| table(&Hard::default(), &view))
}

/// The same table with a term 0 in every row.
fn without(table: &Evaluated<Lexio>, place: usize) -> Evaluated<Lexio> {
    let row = |row: &Evaluation<Lexio>| {
        Evaluation::weigh(*row.mv(), row.terms().with(place, Unit::ZERO), row.weights()).standing(row.get_standing())
    };
    Evaluated::new(table.rows().iter().map(row).collect())
}

/// The terms whose witnesses do not all hold.
fn broken(tables: &[Evaluated<Lexio>]) -> Vec<&'static str> {
    let fails = |&(id, scene, mv, value): &(&'static str, usize, &str, f64)| {
        let row = tables[scene].row(&key(mv)).unwrap();
        let found = row.terms().values()[LexioTerms::index(id).unwrap()];
        ((found - value).abs() > 1e-4).then_some(id)
    };
    let mut broken: Vec<&str> = WITNESSES.iter().filter_map(fails).collect();
    broken.dedup();
    broken
}

#[test]
fn every_term_switched_off_breaks_its_own_witnesses() {
    let tables = tables();
    assert_eq!(broken(&tables), Vec::<&str>::new());
    for place in Hard::default().about().terms.iter() {
        let id = LexioTerms::SPECS[place].id;
        let ablated: Vec<_> = tables.iter().map(|table| without(table, place)).collect();
        assert_eq!(broken(&ablated), [id]);
        // Each of its witnesses breaks, not one of them.
        let own = WITNESSES.iter().filter(|(term, ..)| *term == id);
        for &(_, scene, mv, _) in own {
            assert_eq!(ablated[scene].row(&key(mv)).unwrap().terms().values()[place], 0.0);
        }
    }
}

/// A term that weighs something in a stage moves totals there: switching it off changes the table of its scene.
#[test]
fn weighty_terms_move_totals() {
    let tables = tables();
    for &(id, scene, mv, value) in &WITNESSES {
        let place = LexioTerms::index(id).unwrap();
        let row = tables[scene].row(&key(mv)).unwrap();
        let weight = row.weights().in_force(place);
        let off = without(&tables[scene], place);
        let change = row.total() - off.row(&key(mv)).unwrap().total();
        assert!((change - weight * value).abs() < 1e-3 * (1.0 + weight.abs()), "{id} {mv}: {change}");
    }
}
