//! What every policy of every game promises, checked over the registry: a new game is tested the moment it is enrolled.

#[path = "arena/toy.rs"]
mod toy;

use std::collections::BTreeSet;
use std::sync::Arc;

use understudy::arena::positions::{Position, Walk, walk};
use understudy::bot::{
    Bot, Budget, Checked, Entry, Evaluated, Game, Limits, Policy, Referee, Rng, Rows, Standing, Terms, Turn, Wire,
    decide,
};
use understudy::games::{self, Visitor};

/// Small budgets that repeat.
const LIMITS: Limits = Limits { time: None, nodes: Some(1200), worlds: Some(4), depth: Some(2) };
/// Positions of each game.
const POSITIONS: usize = 24;

fn positions<G: Referee>() -> Vec<Position<G>> {
    let settings = Walk { seats: None, seed: 77, wild: 0.3, choices: 1 };
    walk::<G>(&G::Rules::default(), &settings, POSITIONS)
}

fn evaluate<G: Game>(policy: &Arc<dyn Policy<G>>, view: &G::View, budget: &Budget, seed: u64) -> Evaluated<G> {
    policy.evaluate(view, &mut Turn { budget, rng: &mut Rng::new(seed) })
}

fn ensure(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// Every promise about one table.
fn check_table<G: Game>(policy: &Arc<dyn Policy<G>>, view: &G::View, table: &Evaluated<G>) -> Result<(), String> {
    let mut rows: Vec<G::Move> = table.rows().iter().map(|row| row.mv().clone()).collect();
    let mut legal = G::legal(view);
    rows.sort();
    legal.sort();
    ensure(rows == legal, || format!("rows {rows:?} are not the legal moves {legal:?}"))?;
    let about = policy.about();
    for row in table.rows() {
        let key = G::key(row.mv());
        let values = row.terms().values();
        let weights = row.weights();
        let shares = values.as_ref().iter().all(|value| (0.0..=1.0).contains(value));
        ensure(shares, || format!("{key}: a term outside 0..=1: {values:?}"))?;
        ensure(weights.shown() == about.terms, || format!("{key}: other terms than announced"))?;
        let sum: f64 = weights.shown().iter().map(|place| values.as_ref()[place] * weights.in_force(place)).sum();
        let adds_up = (sum - row.total()).abs() <= 1e-9 && row.total().is_finite();
        ensure(adds_up, || format!("{key}: the terms add up to {sum}, not {}", row.total()))?;
        let finite = row.get_facts().iter().all(|fact| fact.value.is_finite());
        ensure(finite, || format!("{key}: a fact that is no number"))?;
        let payoff = row.get_payoff().is_none_or(|payoff| payoff.mean.is_finite() && payoff.standard_error.is_finite());
        ensure(payoff, || format!("{key}: a payoff that is no number"))?;
        let line = row.get_line();
        ensure(line.is_empty() || line[0] == *row.mv(), || format!("{key}: its line starts with another move"))?;
        let proved = match row.get_standing() {
            Standing::Open => true,
            Standing::Won(proof) | Standing::Lost(proof) | Standing::Drawn(proof) => !proof.how.is_empty(),
        };
        ensure(proved, || format!("{key}: a standing without a proof"))?;
    }
    ensure(table.facts.iter().all(|fact| fact.value.is_finite()), || "a fact that is no number".to_owned())
}

/// Every promise of one policy at one position.
fn check_policy<G: Referee>(entry: &Entry<G>, position: &Position<G>) -> Result<(), String> {
    let (policy, view, seed) = (&entry.policy, &position.view, position.deal);
    let budget = Budget::new(LIMITS);
    let table = evaluate(policy, view, &budget, seed);
    check_table(policy, view, &table)?;
    let within = table.work.nodes <= 1200 && table.work.worlds <= 4 && budget.nodes() <= 1200;
    ensure(within, || format!("over budget: {:?}", table.work))?;

    let again = evaluate(policy, view, &Budget::new(LIMITS), seed);
    ensure(again == table, || "not the same table twice".to_owned())?;
    if !policy.about().uses_seed {
        let other = evaluate(policy, view, &Budget::new(LIMITS), seed ^ 0x5555);
        ensure(other == table, || "another seed changes the table, but it says that it uses none".to_owned())?;
    }

    check_table(policy, view, &evaluate(policy, view, &Budget::spent(), seed))
        .map_err(|what| format!("spent budget: {what}"))?;

    let budget = Budget::new(LIMITS);
    let mut rng = Rng::new(seed);
    if let Some(short) = policy.shortcut(view, &mut Turn { budget: &budget, rng: &mut rng }) {
        let full = decide(&table).mv();
        ensure(short == *full, || format!("the shortcut plays {short:?}, the table {full:?}"))?;
    }
    Ok(())
}

/// A policy with its own weights put back plays the same.
fn check_weights<G: Referee>(entry: &Entry<G>, position: &Position<G>) -> Result<(), String> {
    let policy = &entry.policy;
    let hash = understudy::bot::policy::weights_hash::<G::Terms>;
    let players = std::iter::once(None).chain(G::SEATS.map(Some));
    for players in players {
        let Some(table) = policy.table(players) else { continue };
        let back = policy.with_weights(&table, players).map_err(|error| format!("its own weights: {error}"))?;
        ensure(hash(&back.weights()) == hash(&policy.weights()), || format!("other weights for {players:?}"))?;
        let evaluate = |policy| evaluate(policy, &position.view, &Budget::new(LIMITS), position.deal);
        ensure(evaluate(&back) == evaluate(policy), || "its own weights change its table".to_owned())?;
    }
    Ok(())
}

/// Keys, kinds, refused moves and the wire.
fn check_words<G: Referee + Wire>(position: &Position<G>) -> Result<(), String> {
    let view = &position.view;
    let legal = G::legal(view);
    ensure(!legal.is_empty(), || "no legal move".to_owned())?;
    let mut keys = BTreeSet::new();
    for mv in &legal {
        let key = G::key(mv);
        ensure(G::parse_key(&key).as_ref() == Some(mv), || format!("{key} does not come back as {mv:?}"))?;
        ensure(G::KINDS.contains(&G::kind(mv)), || format!("{key}: kind {} is not listed", G::kind(mv)))?;
        ensure(keys.insert(key.clone()), || format!("{key} twice"))?;
    }
    for (mv, reason) in G::refused(view) {
        ensure(!legal.contains(&mv), || format!("{mv:?} is refused ({reason}), but legal"))?;
        ensure(!reason.is_empty(), || format!("{mv:?} is refused without a reason"))?;
        ensure(!keys.contains(&G::key(&mv)), || format!("refused {mv:?} has the key of a legal move"))?;
    }
    ensure(!G::picture(view).trim().is_empty(), || "no picture".to_owned())?;
    let message = G::write_view(view);
    ensure(G::opens(&message), || "it does not open its own view".to_owned())?;
    let read = |message| G::read(message).map_err(|reject| format!("its own view is refused: {reject:?}"));
    let Checked { view: back, view_hash, ruleset, .. } = read(message.clone())?;
    ensure(back == *view, || format!("the view comes back as {back:?}, not {view:?}"))?;
    ensure(!ruleset.is_empty(), || "no ruleset".to_owned())?;
    ensure(read(message)?.view_hash == view_hash, || "another hash the second time".to_owned())
}

/// The erased bot decides as the policy does.
fn check_bot<G: Referee + Wire>(bot: &dyn Bot, entry: &Entry<G>, position: &Position<G>) -> Result<(), String> {
    let prepared = bot.prepare(G::write_view(&position.view)).map_err(|reject| format!("refused: {reject:?}"))?;
    let budget = Budget::new(LIMITS);
    let mut rng = Rng::new(position.deal);
    let reply = (prepared.thought)(&mut Turn { budget: &budget, rng: &mut rng }, Rows::All(4096));
    let table = evaluate(&entry.policy, &position.view, &Budget::new(LIMITS), position.deal);
    let chosen = decide(&table);
    ensure(reply.key == G::key(chosen.mv()), || format!("{} instead of {}", reply.key, G::key(chosen.mv())))?;
    ensure(reply.candidates.len() == table.rows().len(), || "rows are missing".to_owned())?;
    ensure(reply.candidates[0].key == reply.key, || "rank 1 is not the move".to_owned())?;
    for (row, candidate) in table.ranked().iter().zip(&reply.candidates) {
        let sum: f64 = candidate.terms.iter().map(|term| term.contribution).sum();
        let same = candidate.total.to_bits() == row.total().to_bits() && (sum - candidate.total).abs() <= 1e-9;
        ensure(same, || format!("{}: {} is not {}", candidate.key, candidate.total, row.total()))?;
    }
    Ok(())
}

struct Conformance;

impl Visitor for Conformance {
    type Output = ();

    fn visit<G: Referee + Wire>(self) {
        let positions = positions::<G>();
        assert!(positions.len() >= POSITIONS / 2, "{}: only {} positions", G::KEY, positions.len());
        let registry = games::registry();
        let bots = registry.bots();
        for position in &positions {
            check_words(position).unwrap_or_else(|what| panic!("{}, deal {}: {what}", G::KEY, position.deal));
        }
        for entry in &G::roster().entries {
            let bot = bots.iter().find(|bot| bot.game() == G::KEY && bot.name() == entry.name);
            assert_eq!(bot.is_none(), entry.arena_only, "{}/{} is served or for the arena", G::KEY, entry.name);
            for position in &positions {
                let checked = check_policy(entry, position)
                    .and_then(|()| check_weights(entry, position))
                    .and_then(|()| bot.map_or(Ok(()), |bot| check_bot(bot.as_ref(), entry, position)));
                checked.unwrap_or_else(|what| panic!("{}/{}, deal {}: {what}", G::KEY, entry.name, position.deal));
            }
        }
    }
}

#[test]
fn every_policy_of_every_game_keeps_its_promises() {
    for key in games::KEYS {
        games::visit(key, Conformance).expect("a key of the list");
    }
}

#[test]
fn names_are_unique_and_sound() {
    let registry = games::registry();
    let word = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    for game in registry.games() {
        let mut names = BTreeSet::new();
        assert!(word(game.key()) && game.rulesets().iter().all(|name| !name.is_empty()));
        assert!(game.kinds().iter().all(|kind| word(kind)), "{:?}", game.kinds());
        for bot in game.bots() {
            let about = bot.about();
            assert!(word(bot.name()) && about.version > 0 && !about.summary.is_empty(), "{}", bot.name());
            assert!(names.insert(bot.name().to_owned()), "{} twice", bot.name());
            for alias in about.aliases {
                assert!(names.insert((*alias).to_owned()), "{alias} twice");
            }
            for term in bot.terms() {
                assert!(word(&term.id) && !term.summary.is_empty(), "{}", term.id);
                let stages = if about.stages.len() > 1 { about.stages.len() } else { 0 };
                assert_eq!(term.stage_weights.len(), stages, "{}/{}: {}", game.key(), bot.name(), term.id);
            }
        }
    }
}

/// The checks themselves find what they are there for.
#[test]
fn bad_policies_are_found_out() {
    let roster = toy::Toy::roster();
    let positions = positions::<toy::Toy>();
    let found = |name: &str| {
        let entry = roster.find(name).expect("enrolled");
        positions.iter().find_map(|position| check_policy(entry, position).err()).unwrap_or_default()
    };
    assert_eq!(found("low"), "");
    assert!(found("cheat").contains("the shortcut plays Play(99)"));
    assert!(found("noisy").contains("another seed changes the table"));
}
