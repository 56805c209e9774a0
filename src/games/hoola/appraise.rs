//! One scale for all three decision points: the value of what a move leads to, in points.

use super::card::Cards;
use super::chances::Rivals;
use super::cover::{distance, left_over};
use super::meld::completions;
use super::moves::{Move, StopKind};
use super::phase::{Layoffs, Phase, TurnSoFar};
use super::rules::DiscardDraw;
use super::settlement::End;
use super::terms::HoolaTerms;
use super::turn::{Ending, Looked, Plan, PlanVisitor, each_plan};
use super::view::View;
use crate::bot::{Unit, Weights};

/// What a row leads to decides its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// An unregistered seat after its turn or a passed window.
    Unregistered = 0,
    /// A registered one.
    Registered = 1,
    /// An unregistered seat that is about to draw.
    DrawUnregistered = 2,
    /// A registered one.
    DrawRegistered = 3,
}

/// The weights of the four rows.
pub type Rows = [Weights<HoolaTerms>; 4];

/// The state a move leads to, as far as the value reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The hand left.
    pub hand: Cards,
    /// The cards of it that fit the table.
    pub fits: Cards,
    /// Whether the seat is registered.
    pub registered: bool,
    /// Whether it left the open discard alone.
    pub wait: bool,
    /// Whether it is about to draw.
    pub draw: bool,
}

impl State {
    /// Which weights hold.
    pub const fn row(&self) -> Row {
        match (self.draw, self.registered) {
            (false, false) => Row::Unregistered,
            (false, true) => Row::Registered,
            (true, false) => Row::DrawUnregistered,
            (true, true) => Row::DrawRegistered,
        }
    }

    /// The terms of the state; `unseen` are the cards that the seat cannot place.
    pub fn terms(&self, unseen: Cards, seven: u32, wrap: super::meld::RunWrap) -> HoolaTerms {
        let Self { hand, fits, registered, wait, .. } = *self;
        let (sum, count) = (hand.sum(seven), hand.len());
        let left = left_over(hand, fits, registered, wrap);
        let reach = distance(hand, fits, registered, unseen, wrap);
        HoolaTerms {
            base: Unit::ONE,
            cards: Unit::ratio(count, 7),
            sum: Unit::ratio(sum, 100),
            low: Unit::ratio(sum.min(15), 15),
            sevens: Unit::ratio(hand.sevens(), 4),
            reach0: Unit::flag(reach == 0),
            reach1: Unit::flag(reach == 1),
            outs: Unit::ratio((completions(hand, wrap) & unseen).len(), 32),
            wait: Unit::flag(wait),
            left: Unit::ratio(left, 7),
            blocked: Unit::flag(left == count),
            ..HoolaTerms::default()
        }
    }
}

/// What a candidate leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prospect {
    /// The round goes on from this state.
    Goes(State),
    /// The hand is empty this turn.
    Out(End),
    /// A stop that wins for certain.
    Certain(End),
    /// A NORMAL stop.
    Compared {
        /// Chance that it holds.
        holds: f64,
        /// What the others pay then.
        win: f64,
        /// What this seat pays if it does not.
        fail: f64,
    },
}

/// One way to go on after a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Continuation {
    /// What it leads to.
    pub prospect: Prospect,
    /// Its value in points; an empty hand is above every value.
    pub value: f64,
    /// The rest of the turn, where there is one. For a move of the turn itself the plan contains it.
    pub plan: Option<Plan>,
}

/// How many ways to go on are kept: `expert` plays the three best after a claim.
pub const KEPT: usize = 3;

/// A legal move and the best ways to go on after it, best first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The move.
    pub mv: Move,
    ways: [Option<Continuation>; KEPT],
}

impl Candidate {
    const fn new(mv: Move) -> Self {
        Self { mv, ways: [None; KEPT] }
    }

    const fn only(mv: Move, way: Continuation) -> Self {
        Self { mv, ways: [Some(way), None, None] }
    }

    /// The ways to go on, best first.
    pub fn ways(&self) -> impl Iterator<Item = &Continuation> {
        self.ways.iter().flatten()
    }

    /// The best of them.
    ///
    /// # Panics
    /// Never: every legal move begins some plan.
    pub fn best(&self) -> &Continuation {
        self.ways[0].as_ref().expect("every legal move begins a plan; this is a bug of the enumeration")
    }

    /// Keeps a way if it is among the best; of equal ones the first stays ahead, and one of each ending is enough.
    fn keep(&mut self, way: &Continuation) {
        let worst = &self.ways[KEPT - 1];
        if worst.as_ref().is_some_and(|worst| way.value <= worst.value) {
            return;
        }
        if self.ways().any(|kept| kept.prospect == way.prospect) {
            return;
        }
        let place = self.ways.iter().position(|kept| kept.as_ref().is_none_or(|kept| way.value > kept.value));
        if let Some(place) = place {
            self.ways[place..].rotate_right(1);
            self.ways[place] = Some(*way);
        }
    }

    /// The whole line of a way: this move, then the rest of the turn.
    pub fn line(&self, way: &Continuation, view: &View) -> Vec<Move> {
        let on_table = view.melds().list().len() as u8;
        let Some(plan) = &way.plan else { return vec![self.mv] };
        match self.mv {
            // The claimed meld lies on the table before the plan begins.
            Move::Claim(_) | Move::Take(_) => {
                let laid = u8::from(!matches!(self.mv, Move::Take(own) if own.is_empty()));
                [vec![self.mv], plan.line(None, on_table + laid)].concat()
            }
            mv => plan.line(Some(mv), on_table),
        }
    }
}

/// Every legal move, with what it leads to.
pub struct Appraisal {
    /// In canonical order.
    pub candidates: Vec<Candidate>,
    /// How many plans were looked at.
    pub looked: Looked,
    /// The cards that cannot be placed.
    pub unseen: Cards,
    /// What the others would pay if this seat won now with multiplier 1.
    pub pot: f64,
}

/// Above every value in points: an empty hand, the hoola before the plain out.
const OUT: f64 = 1e9;

/// The value of states, remembered: most plans of a turn lead to few states.
struct Valuer<'a> {
    view: &'a View,
    rows: &'a Rows,
    unseen: Cards,
    known: Vec<Option<(State, f64)>>,
}

/// Places of the memory; a power of two.
const PLACES: usize = 256;

impl<'a> Valuer<'a> {
    fn new(view: &'a View, rows: &'a Rows, unseen: Cards) -> Self {
        Self { view, rows, unseen, known: vec![None; PLACES] }
    }

    fn value(&mut self, state: State) -> f64 {
        let mark = state.hand.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ state.fits.bits().wrapping_mul(0xBF58_476D_1CE4_E5B9)
            ^ (state.row() as u64) << 63;
        let place = (mark >> 40) as usize % PLACES;
        if let Some((known, value)) = self.known[place]
            && known == state
        {
            return value;
        }
        let rules = self.view.rules();
        let terms = state.terms(self.unseen, rules.seven(), rules.run_wrap);
        let value = self.rows[state.row() as usize].total(&terms);
        self.known[place] = Some((state, value));
        value
    }

    fn of(&mut self, ending: &Ending) -> f64 {
        match *ending {
            Ending::Out(end) => OUT + end.multiplier(self.view.rules()) as f64,
            Ending::Left { hand, fits, registered } => {
                self.value(State { hand, fits, registered, wait: false, draw: false })
            }
        }
    }
}

fn prospect(ending: &Ending) -> Prospect {
    match *ending {
        Ending::Out(end) => Prospect::Out(end),
        Ending::Left { hand, fits, registered } => {
            Prospect::Goes(State { hand, fits, registered, wait: false, draw: false })
        }
    }
}

/// Gathers plans under the moves they can begin with.
struct ByMove<'a, 'b> {
    valuer: &'a mut Valuer<'b>,
    candidates: &'a mut [Candidate],
}

impl PlanVisitor for ByMove<'_, '_> {
    fn value(&mut self, ending: &Ending) -> f64 {
        self.valuer.of(ending)
    }

    fn plan(&mut self, plan: &Plan, ending: &Ending, value: f64, first: &[Move]) {
        let way = Continuation { prospect: prospect(ending), value, plan: Some(*plan) };
        for mv in first {
            if let Ok(place) = self.candidates.binary_search_by(|candidate| candidate.mv.cmp(mv)) {
                self.candidates[place].keep(&way);
            }
        }
    }
}

/// Gathers all plans under one move that came before them.
struct After<'a, 'b> {
    valuer: &'a mut Valuer<'b>,
    candidate: &'a mut Candidate,
}

impl PlanVisitor for After<'_, '_> {
    fn value(&mut self, ending: &Ending) -> f64 {
        self.valuer.of(ending)
    }

    fn plan(&mut self, plan: &Plan, ending: &Ending, value: f64, _first: &[Move]) {
        self.candidate.keep(&Continuation { prospect: prospect(ending), value, plan: Some(*plan) });
    }
}

/// Appraises every legal move of a view under these weights.
pub fn appraise(view: &View, rows: &Rows) -> Appraisal {
    let unseen = view.unseen();
    let rivals = Rivals::new(view, unseen);
    let pot = rivals.pot();
    let mut valuer = Valuer::new(view, rows, unseen);
    let mut candidates: Vec<Candidate> = view.scene().legal().into_iter().map(Candidate::new).collect();
    let mut looked = Looked::default();
    if view.phase() == Phase::Action {
        let turn = view.turn().unwrap_or_default();
        let mut by_move = ByMove { valuer: &mut valuer, candidates: &mut candidates };
        looked = each_plan(&view.scene(), &turn, view.seat(), &mut by_move);
        candidates.iter_mut().filter(|candidate| candidate.ways[0].is_none()).for_each(|c| alone(view, c, &mut valuer));
    } else {
        for candidate in &mut candidates {
            let more = off_turn(view, candidate, &rivals, &mut valuer);
            looked = Looked { plans: looked.plans + more.plans, cut: looked.cut || more.cut };
        }
    }
    Appraisal { candidates, looked, unseen, pot }
}

/// A move at turn start or in a window.
fn off_turn(view: &View, candidate: &mut Candidate, rivals: &Rivals<'_>, valuer: &mut Valuer<'_>) -> Looked {
    let hand = view.hand();
    let state = |wait, draw| State { hand, fits: hand & view.melds().fits(), registered: view.registered(), wait, draw };
    let mut goes = |state: State| Continuation { value: valuer.value(state), prospect: Prospect::Goes(state), plan: None };
    *candidate = match candidate.mv {
        Move::Draw => Candidate::only(Move::Draw, goes(state(false, true))),
        Move::Pass => Candidate::only(Move::Pass, goes(state(true, false))),
        Move::Stop(kind) => Candidate::only(candidate.mv, stop(view, kind, rivals)),
        Move::Take(own) | Move::Claim(own) => return after_taking(view, candidate, own, valuer),
        Move::Register(_) | Move::LayOff { .. } | Move::Discard(_) => *candidate,
    };
    Looked::default()
}

fn stop(view: &View, kind: StopKind, rivals: &Rivals<'_>) -> Continuation {
    let certain = |end: End| {
        let value = OUT + end.multiplier(view.rules()) as f64;
        Continuation { prospect: Prospect::Certain(end), value, plan: None }
    };
    match kind {
        StopKind::Chongtong => certain(End::Chongtong),
        StopKind::Low => certain(End::Low),
        StopKind::High => certain(End::High),
        StopKind::Normal => {
            let holds = rivals.stop_holds(view.scene().sum());
            let (win, fail) = (rivals.pot(), rivals.failure());
            let prospect = Prospect::Compared { holds, win, fail };
            Continuation { prospect, value: holds * win - (1.0 - holds) * fail, plan: None }
        }
    }
}

/// The best turns that can begin with taking the open discard, laid with these own cards (none: into the hand).
fn after_taking(view: &View, candidate: &mut Candidate, own: Cards, valuer: &mut Valuer<'_>) -> Looked {
    let open = view.last_discard();
    let wrap = view.rules().run_wrap;
    let mut melds = *view.melds();
    let freely = own.is_empty() && view.rules().discard_draw == DiscardDraw::Free;
    let hand = if freely { view.hand().with(open.card) } else { view.hand() - own };
    if !freely {
        melds.register(view.seat().0, own.with(open.card), wrap);
    }
    let turn = TurnSoFar {
        registered_at_start: view.registered(),
        taken_card: Some(open.card),
        taken_from: open.seat,
        layoffs: Layoffs::None,
    };
    if hand.is_empty() {
        let end = super::state::out(view.rules(), &turn, Layoffs::None);
        let value = OUT + end.multiplier(view.rules()) as f64;
        candidate.keep(&Continuation { prospect: Prospect::Out(end), value, plan: None });
        return Looked { plans: 1, cut: false };
    }
    let scene = super::phase::Scene {
        phase: Phase::Action,
        hand,
        registered: view.registered() || !freely,
        melds: &melds,
        taken: Some(open.card),
        ..view.scene()
    };
    each_plan(&scene, &turn, view.seat(), &mut After { valuer, candidate })
}

/// A meld or lay-off that no plan within the limit begins with: it is judged with the best discard after it.
fn alone(view: &View, candidate: &mut Candidate, valuer: &mut Valuer<'_>) {
    let mut melds = *view.melds();
    let cards = match candidate.mv {
        Move::Register(cards) => {
            melds.register(view.seat().0, cards, view.rules().run_wrap);
            cards
        }
        Move::LayOff { meld, cards } => {
            melds.lay_off(usize::from(meld), cards, view.rules().run_wrap);
            cards
        }
        _ => return,
    };
    let hand = view.hand() - cards;
    for card in hand.iter() {
        let hand = hand.without(card);
        let state = State { hand, fits: hand & melds.fits(), registered: true, wait: false, draw: false };
        candidate.keep(&Continuation { value: valuer.value(state), prospect: Prospect::Goes(state), plan: None });
    }
}
