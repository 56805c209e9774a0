//! Where games become values: typed per game below this line, erased once above it.

use std::fmt::Write as _;
use std::sync::Arc;

use super::evaluation::{Bound, Completion, Evaluated, Evaluation, Fact, Standing, Work, decide};
use super::game::{Ask, Game, Referee};
use super::policy::{About, Policy, PolicyKind, Turn, weights_hash};
use super::reject::{Reject, Warning};
use super::rng::Rng;
use super::roster::Roster;
use super::terms::Terms;
use super::weights::{WeightTable, WeightsError};
use crate::pb;

/// A view that passed every check, with what the reply says about it.
pub struct Checked<G: Game> {
    /// The true view.
    pub view: G::View,
    /// FNV-1a over the view's canonical bytes.
    pub view_hash: u64,
    /// The resolved ruleset as one string: name with version, then every switch as `name=value`.
    pub ruleset: String,
    /// What was accepted with a frown.
    pub warnings: Vec<Warning>,
}

/// A game's own messages. Implemented in each game's `wire.rs`, the only file of a game that names protobuf types.
pub trait Wire: Game {
    /// Whether the message is this game's variant.
    fn opens(view: &pb::View) -> bool;

    /// A checked view from the message.
    ///
    /// # Errors
    /// Every violation, or that there is nothing to decide.
    fn read(view: pb::View) -> Result<Checked<Self>, Reject>;

    /// The message of a view: [`Self::read`] gives the same view back.
    fn write_view(view: &Self::View) -> pb::View;

    /// The message of a move. The view is there for what only it tells, and for nothing else.
    fn write_move(view: &Self::View, mv: &Self::Move) -> pb::Move;
}

/// How many rows of the table a reply carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Only the move and the numbers.
    None,
    /// The five best.
    Top,
    /// Every row, up to this many.
    All(usize),
}

/// Everything a reply says that the decision made: the service adds ids, budgets and times.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The move of the first row.
    pub mv: pb::Move,
    /// Its key.
    pub key: String,
    /// Its kind, from [`Game::KINDS`].
    pub kind: &'static str,
    /// Rows, best first.
    pub candidates: Vec<pb::Candidate>,
    /// All was asked for, and there are more.
    pub truncated: bool,
    /// Rows of the whole table.
    pub total: usize,
    /// Why thinking ended.
    pub completion: Completion,
    /// What it cost.
    pub work: Work,
    /// The first row's whole line.
    pub plan: Vec<pb::Move>,
    /// About the position.
    pub facts: Vec<pb::Fact>,
    /// Not legal, but asked for.
    pub refused: Vec<pb::Refused>,
    /// Every row was barred.
    pub all_barred: bool,
}

/// The decision, ready to be run on a worker.
pub type Thought = Box<dyn FnOnce(&mut Turn<'_>, Rows) -> Reply + Send>;

/// A request that passed every check.
pub struct Prepared {
    /// FNV-1a over the view's canonical bytes.
    pub view_hash: u64,
    /// The resolved ruleset.
    pub ruleset: String,
    /// What was accepted with a frown.
    pub warnings: Vec<Warning>,
    /// The rest of the work.
    pub thought: Thought,
}

/// A policy behind an object-safe edge.
pub trait Bot: Send + Sync {
    /// Its game's key.
    fn game(&self) -> &'static str;
    /// Its name.
    fn name(&self) -> &'static str;
    /// What to tell about it.
    fn about(&self) -> &About;
    /// FNV-1a over its weights; 0 for none.
    fn weights_hash(&self) -> u64;
    /// Its terms with their base weights by stage.
    fn terms(&self) -> Vec<pb::TermInfo>;
    /// Checks a view and captures the decision. Microseconds.
    ///
    /// # Errors
    /// Every violation, or that there is nothing to decide.
    fn prepare(&self, view: pb::View) -> Result<Prepared, Reject>;
}

/// A game behind an object-safe edge.
pub trait AnyGame: Send + Sync {
    /// Its key.
    fn key(&self) -> &'static str;
    /// Names of its rulesets.
    fn rulesets(&self) -> &'static [&'static str];
    /// Names of its kinds of move.
    fn kinds(&self) -> &'static [&'static str];
    /// Whether a message is its view.
    fn opens(&self, view: &pb::View) -> bool;
    /// Puts weights from a file behind a policy.
    ///
    /// # Errors
    /// What does not fit, or that there is no such policy.
    fn reweigh(&mut self, policy: &str, table: &WeightTable, players: Option<u8>) -> Result<(), ReweighError>;
    /// Its public policies.
    fn bots(&self) -> Vec<Arc<dyn Bot>>;
    /// Up to `count` valid views, always the same ones: what the self-test thinks about.
    fn samples(&self, count: usize) -> Vec<pb::View>;
}

/// Why weights were not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReweighError {
    /// No such game.
    #[error("no game {0:?}")]
    NoGame(String),
    /// No such policy.
    #[error("no policy {0:?}")]
    NoPolicy(String),
    /// The table does not fit.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

struct TypedGame<G: Game> {
    roster: Roster<G>,
    samples: fn(usize) -> Vec<pb::View>,
}

impl<G: Wire> AnyGame for TypedGame<G> {
    fn key(&self) -> &'static str {
        G::KEY
    }

    fn rulesets(&self) -> &'static [&'static str] {
        G::RULESETS
    }

    fn kinds(&self) -> &'static [&'static str] {
        G::KINDS
    }

    fn opens(&self, view: &pb::View) -> bool {
        G::opens(view)
    }

    fn reweigh(&mut self, policy: &str, table: &WeightTable, players: Option<u8>) -> Result<(), ReweighError> {
        let entry = self.roster.find(policy).ok_or_else(|| ReweighError::NoPolicy(policy.to_owned()))?.clone();
        self.roster.replace(entry.name, entry.policy.with_weights(table, players)?);
        Ok(())
    }

    fn bots(&self) -> Vec<Arc<dyn Bot>> {
        let public = self.roster.entries.iter().filter(|entry| !entry.arena_only);
        public
            .map(|entry| {
                let policy = Arc::clone(&entry.policy);
                let hash = weights_hash(&policy.weights());
                Arc::new(TypedBot { name: entry.name, about: policy.about(), hash, policy }) as Arc<dyn Bot>
            })
            .collect()
    }

    fn samples(&self, count: usize) -> Vec<pb::View> {
        (self.samples)(count)
    }
}

/// Views from seeded games of random moves, a different ply of a different deal each.
fn sample_views<G: Wire + Referee>(count: usize) -> Vec<pb::View> {
    let rules = G::Rules::default();
    (0..count as u64).filter_map(|seed| sample_view::<G>(&rules, seed)).collect()
}

fn sample_view<G: Wire + Referee>(rules: &G::Rules, seed: u64) -> Option<pb::View> {
    let mut rng = Rng::new(seed).split("sample");
    let mut state = G::deal(rules, *G::SEATS.start(), seed);
    let plies = seed % 8;
    for _ in 0..plies {
        let asked: Vec<_> = match G::ask(&state) {
            Ask::One(seat) => vec![seat],
            Ask::Window(seats) => seats.iter().collect(),
            Ask::Over(_) => return None,
        };
        let answer = |seat| {
            let moves = G::legal(&G::view(&state, seat));
            let place = rng.below(moves.len() as u64) as usize;
            (seat, moves[place].clone())
        };
        let answers: Vec<_> = asked.into_iter().map(answer).collect();
        G::resolve(&mut state, &answers).ok()?;
    }
    let seat = match G::ask(&state) {
        Ask::One(seat) => seat,
        Ask::Window(seats) => seats.iter().next()?,
        Ask::Over(_) => return None,
    };
    Some(G::write_view(&G::view(&state, seat)))
}

struct TypedBot<G: Game> {
    name: &'static str,
    about: About,
    hash: u64,
    policy: Arc<dyn Policy<G>>,
}

impl<G: Wire> Bot for TypedBot<G> {
    fn game(&self) -> &'static str {
        G::KEY
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &About {
        &self.about
    }

    fn weights_hash(&self) -> u64 {
        self.hash
    }

    fn terms(&self) -> Vec<pb::TermInfo> {
        let rows = self.policy.weights();
        let info = |place: usize| {
            let spec = &G::Terms::SPECS[place];
            let stage_weights: Vec<f64> = rows.iter().map(|row| row.base(place)).collect();
            pb::TermInfo {
                id: spec.id.to_owned(),
                summary: spec.summary.to_owned(),
                weight: stage_weights.first().copied().unwrap_or(0.0),
                stage_weights: if stage_weights.len() > 1 { stage_weights } else { Vec::new() },
            }
        };
        self.about.terms.iter().map(info).collect()
    }

    fn prepare(&self, view: pb::View) -> Result<Prepared, Reject> {
        let Checked { view, view_hash, ruleset, warnings } = G::read(view)?;
        let policy = Arc::clone(&self.policy);
        let thought = Box::new(move |turn: &mut Turn<'_>, rows: Rows| {
            let table = policy.evaluate(&view, turn);
            write_reply(&view, &table, rows)
        });
        Ok(Prepared { view_hash, ruleset, warnings, thought })
    }
}

/// At most this many keys in a row's line.
const LINE: usize = 16;
/// At most this many moves in the plan.
const PLAN: usize = 256;
/// At most this many refused moves.
const REFUSED: usize = 32;
/// Rows under [`Rows::Top`].
const TOP: usize = 5;

/// The message of a table. [`decide`] picks the move; the rows are cut after ranking, never before.
pub fn write_reply<G: Wire>(view: &G::View, table: &Evaluated<G>, rows: Rows) -> Reply {
    let chosen = decide(table);
    debug_assert!(G::legal(view).contains(chosen.mv()), "an illegal decision: this is a bug of the policy");
    let shown = match rows {
        Rows::None => 0,
        Rows::Top => TOP,
        Rows::All(cap) => cap,
    };
    let total = table.rows().len();
    let mut reply = Reply {
        mv: G::write_move(view, chosen.mv()),
        key: G::key(chosen.mv()),
        kind: G::kind(chosen.mv()),
        candidates: Vec::new(),
        truncated: matches!(rows, Rows::All(cap) if cap < total),
        total,
        completion: table.completion,
        work: table.work,
        plan: Vec::new(),
        facts: Vec::new(),
        refused: Vec::new(),
        all_barred: chosen.get_barred().is_some(),
    };
    if shown == 0 {
        return reply;
    }
    let ranked = table.ranked();
    debug_assert_eq!(ranked[0].mv(), chosen.mv(), "rank 1 is the decision");
    reply.candidates =
        ranked.iter().take(shown).enumerate().map(|(i, row)| write_row(view, i as u32 + 1, row)).collect();
    let line = if chosen.get_line().is_empty() { std::slice::from_ref(chosen.mv()) } else { chosen.get_line() };
    reply.plan = line.iter().take(PLAN).map(|mv| G::write_move(view, mv)).collect();
    reply.facts = table.facts.iter().map(write_fact).collect();
    reply.refused = G::refused(view)
        .into_iter()
        .take(REFUSED)
        .map(|(mv, reason)| pb::Refused {
            r#move: Some(G::write_move(view, &mv)),
            key: G::key(&mv),
            reason: reason.to_owned(),
        })
        .collect();
    reply
}

fn write_row<G: Wire>(view: &G::View, rank: u32, row: &Evaluation<G>) -> pb::Candidate {
    let values = row.terms().values();
    let weights = row.weights();
    let terms = weights.shown().iter().map(|place| {
        let (value, weight) = (values.as_ref()[place], weights.in_force(place));
        pb::Term { id: G::Terms::SPECS[place].id.to_owned(), value, weight, contribution: value * weight }
    });
    let key = G::key(row.mv());
    let line = if row.get_line().is_empty() {
        vec![key.clone()]
    } else {
        row.get_line().iter().take(LINE).map(G::key).collect()
    };
    pb::Candidate {
        rank,
        r#move: Some(G::write_move(view, row.mv())),
        key,
        standing: Some(write_standing(row.get_standing())),
        total: row.total(),
        terms: terms.collect(),
        bound: match row.get_bound() {
            Bound::Exact => pb::Bound::Exact,
            Bound::AtMost => pb::Bound::AtMost,
        } as i32,
        barred: row.get_barred().unwrap_or_default().to_owned(),
        line,
        payoff: row.get_payoff().map(|payoff| pb::Payoff {
            mean: payoff.mean,
            standard_error: payoff.standard_error,
            unit: G::UNIT.to_owned(),
            samples: payoff.samples,
        }),
        facts: row.get_facts().iter().map(write_fact).collect(),
    }
}

fn write_fact(fact: &Fact) -> pb::Fact {
    pb::Fact { id: fact.id.to_owned(), value: fact.value, unit: fact.unit.to_owned() }
}

fn write_standing(standing: Standing) -> pb::Standing {
    let (verdict, proof) = match standing {
        Standing::Open => (pb::Verdict::Open, None),
        Standing::Won(proof) => (pb::Verdict::Won, Some(proof)),
        Standing::Lost(proof) => (pb::Verdict::Lost, Some(proof)),
        Standing::Drawn(proof) => (pb::Verdict::Drawn, Some(proof)),
    };
    pb::Standing {
        verdict: verdict as i32,
        in_plies: proof.and_then(|p| p.in_plies).map_or(0, u32::from),
        margin: proof.map_or(0, |p| p.margin),
        proof: proof.map_or_else(String::new, |p| p.how.to_owned()),
    }
}

/// Games and their policies, as a value: tests enrol misbehaving policies beside the real ones.
#[derive(Default)]
pub struct Registry {
    games: Vec<Box<dyn AnyGame>>,
}

/// Why a policy was not found; `known` lists what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What was asked for, in words.
    pub text: String,
    /// The names that exist.
    pub known: String,
}

impl Registry {
    /// Adds a game with its policies.
    pub fn enrol<G: Wire + Referee>(&mut self, roster: Roster<G>) -> &mut Self {
        self.enrol_with(roster, sample_views::<G>)
    }

    /// Adds a game without a referee; `samples` gives the views for the self-test.
    pub fn enrol_with<G: Wire>(&mut self, roster: Roster<G>, samples: fn(usize) -> Vec<pb::View>) -> &mut Self {
        self.games.push(Box::new(TypedGame { roster, samples }));
        self
    }

    /// The games, in the order they were enrolled.
    pub fn games(&self) -> impl Iterator<Item = &dyn AnyGame> {
        self.games.iter().map(AsRef::as_ref)
    }

    /// The game a view belongs to.
    pub fn game_of(&self, view: &pb::View) -> Option<&dyn AnyGame> {
        self.games().find(|game| game.opens(view))
    }

    /// Puts weights from a file behind a policy.
    ///
    /// # Errors
    /// What does not fit.
    pub fn reweigh(
        &mut self,
        game: &str,
        policy: &str,
        table: &WeightTable,
        players: Option<u8>,
    ) -> Result<(), ReweighError> {
        let found = self.games.iter_mut().find(|entry| entry.key() == game);
        found.ok_or_else(|| ReweighError::NoGame(game.to_owned()))?.reweigh(policy, table, players)
    }

    /// Every public policy, by game, easiest first.
    pub fn bots(&self) -> Vec<Arc<dyn Bot>> {
        self.games().flat_map(AnyGame::bots).collect()
    }
}

/// The public policies, found by name without allocation. Made once, when the registry is complete.
pub struct Bots {
    bots: Vec<Arc<dyn Bot>>,
}

impl Bots {
    /// All public policies of a registry.
    pub fn of(registry: &Registry) -> Self {
        Self { bots: registry.bots() }
    }

    /// By game, easiest first.
    pub fn all(&self) -> &[Arc<dyn Bot>] {
        &self.bots
    }

    /// The policy that `name` (`hard`, `hard@3` or an alias) means in a game.
    ///
    /// # Errors
    /// What there is instead.
    pub fn find(&self, game: &str, name: &str) -> Result<&Arc<dyn Bot>, Unknown> {
        let (base, version) = name.split_once('@').map_or((name, None), |(base, version)| (base, Some(version)));
        let found = self
            .bots
            .iter()
            .find(|bot| bot.game() == game && (bot.name() == base || bot.about().aliases.contains(&base)));
        let fits = |bot: &Arc<dyn Bot>| version.is_none_or(|v| v == bot.about().version.to_string());
        match found {
            Some(bot) if fits(bot) => Ok(bot),
            Some(bot) => Err(self.unknown(
                game,
                format!(
                    "no version {:?} of {base:?}: this server holds {}@{}",
                    cut(version.unwrap_or("")),
                    base,
                    bot.about().version
                ),
            )),
            None => Err(self.unknown(game, format!("no policy {:?} for {game}", cut(name)))),
        }
    }

    fn unknown(&self, game: &str, text: String) -> Unknown {
        let mut known = String::new();
        for bot in self.bots.iter().filter(|bot| bot.game() == game) {
            let comma = if known.is_empty() { "" } else { ", " };
            let _ = write!(known, "{comma}{}@{}", bot.name(), bot.about().version);
        }
        Unknown { text, known }
    }
}

/// Names from a request are quoted, but not at any length.
fn cut(name: &str) -> &str {
    let end = name.char_indices().nth(64).map_or(name.len(), |(i, _)| i);
    &name[..end]
}

/// A policy as ListPolicies shows it, the self-test's figures left at 0.
pub fn describe(bot: &dyn Bot, rulesets: &[&str]) -> pb::Policy {
    let about = bot.about();
    let limits = about.default_limits;
    pb::Policy {
        game: bot.game().to_owned(),
        name: bot.name().to_owned(),
        version: about.version,
        summary: about.summary.to_owned(),
        kind: match about.kind {
            PolicyKind::Rules => pb::PolicyKind::Rules,
            PolicyKind::Terms => pb::PolicyKind::Terms,
            PolicyKind::Search => pb::PolicyKind::Search,
        } as i32,
        anytime: about.anytime,
        uses_seed: about.uses_seed,
        default_budget: Some(pb::Budget {
            max_time_us: limits.time.map(|time| time.as_micros() as u32),
            max_nodes: limits.nodes.map(|nodes| nodes as u32),
            max_worlds: limits.worlds,
            max_depth: limits.depth,
        }),
        terms: bot.terms(),
        rulesets: rulesets.iter().map(|name| (*name).to_owned()).collect(),
        weights_hash: hex(bot.weights_hash()),
        floor_us: 0,
        start_us: 0,
        runs_inline: false,
        aliases: about.aliases.iter().map(|name| (*name).to_owned()).collect(),
        stages: about.stages.iter().map(|name| (*name).to_owned()).collect(),
    }
}

/// A 64-bit hash as replies spell it: 16 hex digits; empty for 0, which means there is nothing to hash.
pub fn hex(hash: u64) -> String {
    if hash == 0 { String::new() } else { format!("{hash:016x}") }
}
