//! Every term of `hard` by its value: golden tables, isolation, hand-made scenes.

use crate::load::{cases, key, mv, scene, table, tiles, view};
use proptest::prelude::*;
use understudy::bot::weights_file::WeightsFile;
use understudy::bot::{Evaluated, Evaluation, Game, Standing, Terms, Unit, decide};
use understudy::games::lexio::chances::Chances;
use understudy::games::lexio::meld::{Meld, MeldKind};
use understudy::games::lexio::policies::{First, Hard};
use understudy::games::lexio::terms::{self, LexioTerms};
use understudy::games::lexio::tile::{Deck, Tile, TileSet};
use understudy::games::lexio::unseen::Unseen;
use understudy::games::lexio::{Lexio, Move, melds};

/// `hard` with the prototype's weights, to which the golden totals belong.
pub fn prototype() -> Hard {
    let file = WeightsFile::parse(include_str!("../cases/lexio/prototype.weights.json")).unwrap();
    Hard::with(&file.table).unwrap()
}

fn row<'a>(table: &'a Evaluated<Lexio>, name: &str) -> &'a Evaluation<Lexio> {
    table.row(&key(name)).unwrap_or_else(|| panic!("no row {name}"))
}

fn term(table: &Evaluated<Lexio>, name: &str, id: &str) -> f64 {
    row(table, name).terms().values()[LexioTerms::index(id).unwrap()]
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance
}

fn golden(i: usize) -> understudy::games::lexio::view::View {
    view(&cases("golden")[i]["view"])
}

/// Every determined term of every candidate, in 24 positions.
#[test]
fn determined_terms_are_golden() {
    let names = [
        ("Progress", "progress"),
        ("PlanGain", "plan_gain"),
        ("StrongTileCost", "strong_tile_cost"),
        ("TempoRisk", "tempo_risk"),
        ("TwosShed", "twos_shed"),
        ("Deny", "deny"),
    ];
    for case in cases("golden").iter().chain(&cases("positions")) {
        let view = view(&case["view"]);
        for table in [table(&First, &view), table(&Hard::default(), &view)] {
            let rows = case["table"].as_array().unwrap();
            assert_eq!(rows.len(), table.rows().len());
            for golden in rows {
                let mv = mv(&golden["tiles"], view.deck());
                let row = table.row(&mv).unwrap();
                let value = |id: &str| row.terms().values()[LexioTerms::index(id).unwrap()];
                for (theirs, ours) in names {
                    let golden_value = golden[theirs].as_f64().unwrap();
                    assert!(near(value(ours), golden_value, 1e-6), "{ours} {} {golden}", value(ours));
                }
                // The golden Lead is the proven part: 1, or anything below.
                let lead = golden["Lead"].as_f64().unwrap();
                assert!(if lead == 1.0 { value("lead") == 1.0 } else { value("lead") < 1.0 }, "{golden}");
                assert_eq!(row.get_fact("remaining"), golden["Remaining"].as_f64(), "{golden}");
                assert_eq!(value("pass_baseline"), f64::from(u8::from(mv == Move::Pass)));
                let goes_out = mv.meld().is_some_and(|meld| meld.count() == view.hand().len());
                assert_eq!(matches!(row.get_standing(), Standing::Won(_)), goes_out);
            }
            for fact in ["turns", "unseen", "urgency"] {
                assert_eq!(table.get_fact(fact), case[fact].as_f64(), "{fact} {case}");
            }
        }
    }
}

/// Spec 6.2: the position the series got wrong. M1, not S2 and not a pass; on lead a five without the S2.
#[test]
fn the_golden_scene_is_decided_by_both() {
    for policy in [&First as &dyn understudy::bot::Policy<Lexio>, &Hard::default(), &prototype()] {
        assert_eq!(decide(&table(policy, &golden(0))).mv(), &key("M1"));
        assert_eq!(decide(&table(policy, &golden(1))).mv(), &key("C3-T4-M5-S6-C7"));
    }
    // The stated inequalities, on the weights of the baseline written positive.
    let weights = table(&First, &golden(0)).rows()[0].weights().to_owned();
    let weight = |id: &str| weights.base(LexioTerms::index(id).unwrap());
    assert!(-weight("strong_tile_cost") > weight("lead"));
    let earned = weight("plan_gain") + weight("progress") / 12.0 - weight("tempo_risk") * (12.0 / 23.0 - 11.0 / 22.0);
    assert!(earned > weight("pass_baseline"));
}

/// The terms and totals of the strength notes, section 5.
#[test]
fn the_golden_scene_has_the_published_values() {
    let follow = table(&prototype(), &golden(0));
    for (name, id, value) in [
        ("M1", "control_gain", 0.9121),
        ("S2", "control_gain", 0.6667),
        ("T9", "control_gain", 0.0),
        ("pass", "control_gain", 0.0),
        ("M1", "tile_cost", 43.0 / 47.0),
        ("T9", "tile_cost", 19.0 / 47.0),
        ("M1", "single_strength", 0.2636),
        ("S2", "single_strength", 1.0),
        ("M1", "lead", 0.0),
        ("S2", "lead", 1.0),
        ("pass", "tempo_risk", 12.0 / 23.0),
    ] {
        assert!(near(term(&follow, name, id), value, 1e-4), "{name} {id} {}", term(&follow, name, id));
    }
    for (name, total) in [("M1", 0.904), ("S2", 0.433), ("pass", -0.2), ("T9", -1.253)] {
        assert!(near(row(&follow, name).total(), total, 1e-3), "{name} {}", row(&follow, name).total());
    }
    let lead = table(&prototype(), &golden(1));
    for (name, value) in [("C3-T4-M5-S6-C7", 0.9997), ("T9-M10-S11-C12-T13", 0.9980), ("C3-T4-M5-S6-S2", 0.6663)] {
        assert!(near(term(&lead, name, "control_gain"), value, 1e-3), "{name} {}", term(&lead, name, "control_gain"));
    }
    for (name, total) in [("C3-T4-M5-S6-C7", 8.478), ("T9-M10-S11-C12-T13", 6.992)] {
        assert!(near(row(&lead, name).total(), total, 1e-3), "{name} {}", row(&lead, name).total());
    }
}

/// Spec 6.3, part 1's worst weakness of `easy`: a pair that breaks a flush.
fn broken_flush() -> understudy::games::lexio::view::View {
    let hand = "S4 S7 S9 S11 S14 M7 C13 T13 C3 T5 M10 T1";
    scene(hand, Some((4, "T6 M6")), &[12, 12, 12, 12, 10], "T6 M6")
}

#[test]
fn the_flush_is_not_broken() {
    let scene = broken_flush();
    for policy in [&First as &dyn understudy::bot::Policy<Lexio>, &Hard::default(), &prototype()] {
        let table = table(policy, &scene);
        assert_eq!(table.rows().len(), 3);
        assert_eq!(table.get_fact("turns"), Some(7.0));
        assert_eq!(decide(&table).mv(), &key("C13-T13"));
        for (name, remaining, gain, progress) in
            [("M7-S7", 9.0, 4.0 / 7.0, 1.0 / 6.0), ("C13-T13", 6.0, 1.0, 1.0 / 6.0)]
        {
            assert_eq!(row(&table, name).get_fact("remaining"), Some(remaining));
            assert!(near(term(&table, name, "plan_gain"), gain, 1e-9));
            assert!(near(term(&table, name, "progress"), progress, 1e-9));
        }
        assert_eq!(term(&table, "pass", "plan_gain"), 0.0);
        assert_eq!(term(&table, "pass", "progress"), 0.0);
    }
    let table = table(&prototype(), &scene);
    assert!(near(term(&table, "C13-T13", "control_gain"), 0.9935, 1e-3));
    assert_eq!(term(&table, "M7-S7", "control_gain"), 0.0);
    for (name, total) in [("C13-T13", 2.067), ("pass", -0.2), ("M7-S7", -0.876)] {
        assert!(near(row(&table, name).total(), total, 1e-3), "{name} {}", row(&table, name).total());
    }
}

/// Spec 6.3: the kicker takes the orphan, among equal plans the lowest.
#[test]
fn the_kicker_takes_the_orphan() {
    let hand = "C7 T7 M7 S7 C4 T4 C12";
    let rest = Deck::of(5).unwrap().tiles.minus(tiles(hand));
    let played: Vec<String> = rest.into_iter().skip(24).map(|tile| tile.to_string()).collect();
    let view = scene(hand, None, &[7, 6, 6, 6, 6], &played.join(" "));
    let table = table(&First, &view);
    assert_eq!(table.get_fact("turns"), Some(2.0));
    assert_eq!(term(&table, "C7-T7-M7-S7-C12", "plan_gain"), 1.0);
    assert_eq!(term(&table, "C4-C7-T7-M7-S7", "plan_gain"), 0.5);
    assert_eq!(term(&table, "T4-C7-T7-M7-S7", "plan_gain"), 0.5);
    // Two kickers with one plan: C4 before T4 by the table order.
    assert!(key("C4-C7-T7-M7-S7") < key("T4-C7-T7-M7-S7"));
}

#[test]
fn pure_terms_have_their_tables() {
    let unit = |unit: Unit| unit.get();
    for (turns, remaining, value) in
        [(4, 3, 1.0), (4, 2, 1.0), (4, 4, 0.75), (4, 7, 0.0), (4, 9, 0.0), (1, 0, 1.0), (7, 9, 4.0 / 7.0)]
    {
        assert!(near(unit(terms::plan_gain(turns, remaining)), value, 1e-12), "{turns} {remaining}");
    }
    assert_eq!(unit(terms::progress(5, 12)), 5.0 / 12.0);
    assert_eq!(unit(terms::tempo_risk(11, 11)), 0.5);
    assert_eq!(unit(terms::tempo_risk(0, 3)), 0.0);
    for (before, after, value) in [(1.0, 0.0, 1.0), (1.0, 1.0, 2.0 / 3.0), (0.5, 1.5, 1.0 / 3.0), (0.0, 2.5, 0.0)] {
        assert!(near(unit(terms::control_gain(before, after)), value, 1e-12));
    }
    assert_eq!(unit(terms::lead(true, MeldKind::Single, 0.2)), 1.0);
    assert_eq!(unit(terms::lead(false, MeldKind::Single, 0.9)), 0.0);
    assert_eq!(unit(terms::lead(false, MeldKind::Pair, 0.5)), 0.495);
    assert_eq!(unit(terms::lead(false, MeldKind::Triple, 1.0)), 0.99);
    assert_eq!(unit(terms::lead(false, MeldKind::Flush, 0.5)), 0.5);
    assert_eq!(unit(terms::single_strength(MeldKind::Single, 0.3)), 0.3);
    assert_eq!(unit(terms::single_strength(MeldKind::Pair, 0.3)), 0.0);
    let hand = tiles("C3 C2 T2 S2");
    assert_eq!(unit(terms::twos_shed(tiles("C2 T2"), hand)), 2.0 / 3.0);
    assert_eq!(unit(terms::twos_shed(tiles("C3"), tiles("C3 C4"))), 0.0);
    let unseen = tiles("C4 C5 S1 T2");
    assert_eq!(unit(terms::strong_tile_cost(tiles("C3 M2"), unseen)), 0.5);
    assert_eq!(unit(terms::strong_tile_cost(tiles("M2 S2"), unseen)), 1.0);
    assert_eq!(unit(terms::strong_tile_cost(tiles("C3 C2"), unseen)), 0.0);
    // Below C3 nothing, below T5 two, below M1 two of four: mean 1/3.
    assert!(near(unit(terms::tile_cost(tiles("C3 T5 M1"), unseen)), (0.0 + 0.5 + 0.5) / 3.0, 1e-12));
}

/// A scene with 2s and short hands: the endgame terms, their urgency, and `deny`.
#[test]
fn endgame_terms_wake_up_near_the_end() {
    let hand = "C9 T9 M2 S2";
    let rest = Deck::of(5).unwrap().tiles.minus(tiles(hand));
    let played: Vec<String> = rest.into_iter().skip(24).map(|tile| tile.to_string()).collect();
    for (others, urgency, stage) in [
        ([1, 8, 8, 7], 1.0, 0.0),
        ([8, 2, 7, 7], 0.75, 0.0),
        ([7, 7, 3, 7], 0.5, 1.0),
        ([7, 7, 6, 4], 0.25, 1.0),
        ([7, 6, 6, 5], 0.0, 2.0),
    ] {
        let theirs = *others.iter().min().unwrap();
        let counts = [4, others[0], others[1], others[2], others[3]];
        let table = table(&Hard::default(), &scene(hand, None, &counts, &played.join(" ")));
        assert_eq!(table.get_fact("urgency"), Some(urgency));
        assert_eq!(table.get_fact("stage"), Some(stage));
        assert_eq!(term(&table, "M2-S2", "twos_shed"), 1.0);
        assert_eq!(term(&table, "M2", "twos_shed"), 0.5);
        assert_eq!(term(&table, "C9", "twos_shed"), 0.0);
        // Unseen are the ranks 3 to 8: nothing beats a nine, so that only here all plays deny.
        assert_eq!(term(&table, "C9", "deny"), 1.0);
        let weights = row(&table, "C9").weights();
        for (id, by) in [("deny", urgency), ("twos_shed", urgency), ("progress", 1.0), ("lead", 1.0)] {
            let place = LexioTerms::index(id).unwrap();
            assert_eq!(weights.in_force(place), weights.base(place) * by, "{id} at {theirs}");
        }
    }
    // With strong tiles unseen: the pair denies whoever holds one tile, the single nine denies nobody, the S2 all.
    let played: Vec<String> = rest.into_iter().take(32).map(|tile| tile.to_string()).collect();
    for (others, pair) in [([1, 8, 8, 7], 1.0), ([2, 8, 7, 7], 0.0)] {
        let counts = [4, others[0], others[1], others[2], others[3]];
        let table = table(&Hard::default(), &scene(hand, None, &counts, &played.join(" ")));
        assert_eq!(["C9-T9", "C9", "S2"].map(|name| term(&table, name, "deny")), [pair, 0.0, 1.0]);
    }
}

/// One source each: changing it moves the terms that read it and no other.
#[test]
fn terms_read_only_what_they_may() {
    let hand = "C3 T4 M5 S6 C7 C9 T9 M1 S2";
    let rest = Deck::of(5).unwrap().tiles.minus(tiles(hand));
    let spread = |skip: usize| {
        let played: Vec<String> = rest.into_iter().skip(skip).map(|tile| tile.to_string()).collect();
        played.join(" ")
    };
    let shape = |counts: &[u32]| table(&Hard::default(), &scene(hand, None, counts, &spread(32)));
    // Counts only: the same unseen tiles, spread unevenly.
    let (even, odd) = (shape(&[9, 8, 8, 8, 8]), shape(&[9, 12, 8, 6, 6]));
    let pair = "C9-T9";
    for id in ["progress", "plan_gain", "strong_tile_cost", "tile_cost", "single_strength", "twos_shed"] {
        assert_eq!(term(&even, pair, id), term(&odd, pair, id), "{id}");
    }
    for id in ["tempo_risk", "lead", "control_gain"] {
        assert_ne!(term(&even, pair, id), term(&odd, pair, id), "{id}");
    }
    // The plan only: two singles of one hand, one of which breaks the straight.
    assert_eq!(term(&even, "M5", "tempo_risk"), term(&even, "M1", "tempo_risk"));
    assert_ne!(term(&even, "M5", "plan_gain"), term(&even, "M1", "plan_gain"));
    // Unseen tiles only: low ones replaced by high ones.
    let lower = table(&Hard::default(), &scene(hand, None, &[9, 8, 8, 8, 8], &spread(32)));
    let high: Vec<String> = rest.into_iter().take(rest.len() as usize - 32).map(|tile| tile.to_string()).collect();
    let higher = table(&Hard::default(), &scene(hand, None, &[9, 8, 8, 8, 8], &high.join(" ")));
    for id in ["tile_cost", "single_strength"] {
        assert!(term(&higher, "C9", id) < term(&lower, "C9", id), "{id}");
    }
    for id in ["progress", "plan_gain", "tempo_risk"] {
        assert_eq!(term(&higher, "C9", id), term(&lower, "C9", id), "{id}");
    }
}

/// A free loser scores 1, a certain winner 2/3.
#[test]
fn a_free_loser_scores_one_and_a_winner_two_thirds() {
    let rest = Deck::of(5).unwrap().tiles.minus(tiles("C3 S2"));
    let played: Vec<String> = rest.into_iter().take(10).map(|tile| tile.to_string()).collect();
    let view = scene("C3 S2", None, &[2, 12, 12, 12, 12], &played.join(" "));
    let table = table(&Hard::default(), &view);
    assert!(near(term(&table, "C3", "control_gain"), 1.0, 1e-3));
    assert!(near(term(&table, "S2", "control_gain"), 2.0 / 3.0, 1e-9));
}

fn random_sets(seats: usize, seed: u64, mine: usize, theirs: usize) -> (TileSet, TileSet) {
    let mut rng = understudy::bot::Rng::new(seed);
    let mut from: Vec<Tile> = Deck::of(seats).unwrap().tiles.into_iter().collect();
    rng.shuffle(&mut from);
    let theirs = theirs.min(from.len() - mine);
    (from[..mine].iter().copied().collect(), from[mine..mine + theirs].iter().copied().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// The estimate of `lead` never falls when the Key rises at equal count, and stays below 1 unless certain.
    #[test]
    fn lead_never_falls_with_the_key(seats in 3usize..=5, seed in any::<u64>(), n in 8usize..=40) {
        let deck = Deck::of(seats).unwrap();
        let (hand, theirs) = random_sets(seats, seed, 12, n);
        let each = theirs.len() as u8 / (seats as u8 - 1);
        let mut counts = [0; 4];
        counts[..seats - 1].fill(each);
        counts[0] += (theirs.len() as u8) - each * (seats as u8 - 1);
        let unseen = Unseen::new(theirs, deck, counts);
        let chances = Chances::of(&unseen, true);
        let mut found: Vec<Meld> = Vec::new();
        melds::all(hand, deck, |meld| found.push(meld));
        found.sort_by_key(|meld| (meld.count(), meld.key()));
        for pair in found.windows(2).filter(|pair| pair[0].count() == pair[1].count()) {
            let lead = |meld: &Meld| terms::lead(unseen.certain(meld), meld.kind(), chances.win(meld)).get();
            prop_assert!(lead(&pair[0]) <= lead(&pair[1]) + 1e-12, "{:?}", pair);
        }
        for meld in &found {
            let lead = terms::lead(unseen.certain(meld), meld.kind(), chances.win(meld)).get();
            prop_assert_eq!(lead == 1.0, unseen.certain(meld));
        }
    }

    /// `certain` by the definition: no set of unseen tiles is a stronger meld of that size, or no hand is long enough.
    #[test]
    fn certain_is_what_the_definition_says(seed in any::<u64>(), n in 4usize..=11) {
        let deck = Deck::of(5).unwrap();
        let (hand, theirs) = random_sets(5, seed, 9, n);
        let mut counts = [1; 4];
        counts[0] = theirs.len() as u8 - 3;
        let unseen = Unseen::new(theirs, deck, counts);
        let mut stronger: Vec<Meld> = Vec::new();
        melds::all(theirs, deck, |meld| stronger.push(meld));
        melds::all(hand, deck, |meld| {
            let beaten = stronger.iter().any(|other| other.answers(&meld));
            let too_short = counts.iter().all(|&count| u32::from(count) < meld.count());
            assert_eq!(unseen.certain(&meld), !beaten || too_short);
            assert_eq!(unseen.beats(&meld), beaten);
        });
    }
}

/// The weights that ship fit the policy and keep to the terms' directions.
#[test]
fn shipped_weights_are_in_order() {
    let file = WeightsFile::parse(include_str!("../../src/games/lexio/weights/hard.json")).unwrap();
    file.table.check_signs::<LexioTerms>().unwrap();
    assert_eq!((file.game.as_str(), file.policy.as_str()), (Lexio::KEY, "hard"));
    let table = understudy::bot::Policy::table(&Hard::default(), None).unwrap();
    assert_eq!(
        table.rows,
        Hard::with(&file.table).map(|hard| understudy::bot::Policy::table(&hard, None).unwrap().rows).unwrap()
    );
    assert!(!file.provenance.is_empty());
}
