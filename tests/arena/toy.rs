//! A small game with hidden cards and windows, to test the arena without a real one: everyone plays a card in turn, the
//! highest takes the stake from each of the others; then those who lost may raise the stake of the next trick.

use std::ops::RangeInclusive;
use std::sync::Arc;

use understudy::bot::policy::Heeds;
use understudy::bot::{
    About, Ask, Evaluated, Evaluation, Game, Illegal, Limits, MatchStyle, Outcome, Policy, PolicyKind, Referee, Rng,
    Roster, Seat, Seats, Settlement, TermSet, Turn, Unit, WeightTable, Weights, WeightsError,
};

const CARDS: u8 = 40;
const HAND: usize = 5;

#[derive(Clone, Copy, Debug, Default)]
pub struct Toy;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Move {
    Play(u8),
    Pass,
    Raise,
}

#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub hand: Vec<u8>,
    pub table: Vec<u8>,
    pub stake: i64,
    pub window: bool,
}

#[derive(Clone, Debug)]
pub struct State {
    hands: Vec<Vec<u8>>,
    table: Vec<(Seat, u8)>,
    leader: u8,
    stake: i64,
    window: bool,
    scores: Vec<i64>,
}

understudy::terms! {
    /// The toy's terms.
    pub ToyTerms, ToyTerm {
        Beats beats: Good, "1 when the card beats the table.";
        Card card: Cost, "The card's place among all cards.";
        Raised raised: Free, "1 for a raise.";
        Noise noise: Free, "A seeded number.";
    }
}

impl Game for Toy {
    const KEY: &'static str = "toy";
    const KINDS: &'static [&'static str] = &["play", "pass", "raise"];
    const RULESETS: &'static [&'static str] = &["toy.v1"];
    const UNIT: &'static str = "chips";
    type View = View;
    type Move = Move;
    type Terms = ToyTerms;

    fn legal(view: &View) -> Vec<Move> {
        if view.window { vec![Move::Pass, Move::Raise] } else { view.hand.iter().copied().map(Move::Play).collect() }
    }

    fn kind(mv: &Move) -> &'static str {
        match mv {
            Move::Play(_) => "play",
            Move::Pass => "pass",
            Move::Raise => "raise",
        }
    }

    fn key(mv: &Move) -> String {
        match mv {
            Move::Play(card) => card.to_string(),
            Move::Pass => "pass".to_owned(),
            Move::Raise => "raise".to_owned(),
        }
    }

    fn parse_key(key: &str) -> Option<Move> {
        match key {
            "pass" => Some(Move::Pass),
            "raise" => Some(Move::Raise),
            card => card.parse().ok().map(Move::Play),
        }
    }

    fn picture(view: &View) -> String {
        format!("{view:?}")
    }

    fn roster() -> Roster<Self> {
        Roster::default()
            .bot("low", Low)
            .bot("greedy", Greedy::default())
            .sparring("noisy", Greedy { noise: 3.0, ..Greedy::default() })
            .sparring("cheat", Cheat)
            .sparring("mute", Mute)
    }
}

impl Referee for Toy {
    type State = State;
    type Rules = ();
    const STYLE: MatchStyle = MatchStyle::Table;
    const SEATS: RangeInclusive<u8> = 2..=4;

    fn rules(name: &str) -> Option<()> {
        (name == "toy.v1").then_some(())
    }

    fn deal(_rules: &(), seats: u8, seed: u64) -> State {
        let mut deck: Vec<u8> = (0..CARDS).collect();
        Rng::new(seed).split("deal").shuffle(&mut deck);
        let hands = (0..usize::from(seats)).map(|seat| sorted(&deck[seat * HAND..(seat + 1) * HAND])).collect();
        let scores = vec![0; usize::from(seats)];
        State { hands, table: Vec::new(), leader: 0, stake: 1, window: false, scores }
    }

    fn ask(state: &State) -> Ask {
        let seats = state.hands.len();
        if state.window {
            let losers = (0..seats as u8).filter(|seat| *seat != state.leader);
            return Ask::Window(losers.fold(Seats::default(), |all, seat| all.with(Seat(seat))));
        }
        if state.hands.iter().all(Vec::is_empty) {
            let best = state.scores.iter().max().copied();
            let winners = (0..seats).filter(|seat| Some(state.scores[*seat]) == best);
            let winners = winners.fold(Seats::default(), |all, seat| all.with(Seat(seat as u8)));
            return Ask::Over(Outcome::Known(Settlement { payments: state.scores.clone(), winners }));
        }
        Ask::One(Seat((state.leader + state.table.len() as u8) % seats as u8))
    }

    fn view(state: &State, seat: Seat) -> View {
        View {
            hand: state.hands[seat.index()].clone(),
            table: state.table.iter().map(|(_, card)| *card).collect(),
            stake: state.stake,
            window: state.window,
        }
    }

    fn resolve(state: &mut State, answers: &[(Seat, Move)]) -> Result<(), Illegal> {
        for (seat, mv) in answers {
            if !Self::legal(&Self::view(state, *seat)).contains(mv) {
                return Err(Illegal { seat: *seat, reason: "not in hand".to_owned() });
            }
        }
        if state.window {
            state.stake += answers.iter().filter(|(_, mv)| *mv == Move::Raise).count() as i64;
            state.window = false;
            return Ok(());
        }
        for (seat, mv) in answers {
            if let Move::Play(card) = mv {
                state.hands[seat.index()].retain(|held| held != card);
                state.table.push((*seat, *card));
            }
        }
        if state.table.len() == state.hands.len() {
            let (winner, _) = *state.table.iter().max_by_key(|(_, card)| *card).expect("a full table");
            for (seat, score) in state.scores.iter_mut().enumerate() {
                let others = state.hands.len() as i64 - 1;
                *score += if seat == winner.index() { state.stake * others } else { -state.stake };
            }
            state.table.clear();
            state.leader = winner.0;
            state.stake = 1;
            state.window = !state.hands[0].is_empty();
        }
        Ok(())
    }

    fn twin(state: &State, seat: Seat, rng: &mut Rng) -> State {
        let mut twin = state.clone();
        let known = |card: &u8| state.hands[seat.index()].contains(card);
        let mut unseen: Vec<u8> = (0..CARDS).filter(|card| !known(card)).collect();
        unseen.retain(|card| state.table.iter().all(|(_, played)| played != card));
        rng.shuffle(&mut unseen);
        for (other, hand) in twin.hands.iter_mut().enumerate().filter(|(other, _)| *other != seat.index()) {
            let _ = other;
            let count = hand.len();
            *hand = sorted(&unseen.split_off(unseen.len() - count));
        }
        twin
    }
}

fn sorted(cards: &[u8]) -> Vec<u8> {
    let mut cards = cards.to_vec();
    cards.sort_unstable();
    cards
}

const SHOWN: TermSet =
    TermSet::of(&[ToyTerm::Beats as usize, ToyTerm::Card as usize, ToyTerm::Raised as usize, ToyTerm::Noise as usize]);

fn about(summary: &'static str, stages: &'static [&'static str]) -> About {
    About {
        version: 1,
        summary,
        kind: PolicyKind::Terms,
        anytime: false,
        uses_seed: false,
        default_limits: Limits::NONE,
        heeds: Heeds::default(),
        terms: SHOWN,
        aliases: &[],
        stages,
    }
}

/// Plays its lowest card and never raises.
pub struct Low;

impl Policy<Toy> for Low {
    fn about(&self) -> About {
        about("Lowest card, no raise.", &[])
    }

    fn evaluate(&self, view: &View, _turn: &mut Turn<'_>) -> Evaluated<Toy> {
        let weights = Weights::zero(SHOWN);
        let rows = Toy::legal(view).into_iter().map(|mv| Evaluation::weigh(mv, ToyTerms::default(), &weights));
        Evaluated::new(rows.collect())
    }

    fn shortcut(&self, view: &View, _turn: &mut Turn<'_>) -> Option<Move> {
        Toy::legal(view).into_iter().min()
    }

    fn weights(&self) -> Vec<Weights<ToyTerms>> {
        vec![Weights::zero(SHOWN)]
    }
}

/// Weighs beating the table against the price of the card.
#[derive(Clone, Debug)]
pub struct Greedy {
    pub table: WeightTable,
    pub noise: f64,
}

const STAGES: &[&str] = &["lead", "follow", "window"];
const TUNABLE: TermSet = TermSet::of(&[ToyTerm::Beats as usize, ToyTerm::Card as usize, ToyTerm::Raised as usize]);

impl Default for Greedy {
    fn default() -> Self {
        let row = vec![2.0, -1.0, 0.5];
        Self { table: WeightTable::new::<ToyTerms>(STAGES, TUNABLE, &[row.clone(), row.clone(), row]), noise: 0.0 }
    }
}

impl Policy<Toy> for Greedy {
    fn about(&self) -> About {
        about("Beats the table cheaply.", STAGES)
    }

    fn evaluate(&self, view: &View, turn: &mut Turn<'_>) -> Evaluated<Toy> {
        let stage = if view.window { 2 } else { usize::from(!view.table.is_empty()) };
        let weights = self.weights()[stage];
        let highest = view.table.iter().max();
        let rows = Toy::legal(view).into_iter().map(|mv| {
            let terms = match &mv {
                Move::Play(card) => ToyTerms {
                    beats: Unit::flag(highest.is_none_or(|highest| card > highest)),
                    card: Unit::ratio(u32::from(*card), u32::from(CARDS)),
                    ..ToyTerms::default()
                },
                Move::Pass => ToyTerms::default(),
                Move::Raise => ToyTerms { raised: Unit::ONE, ..ToyTerms::default() },
            };
            let noise = Unit::clamp(turn.rng.unit());
            Evaluation::weigh(mv, ToyTerms { noise, ..terms }, &weights)
        });
        Evaluated::new(rows.collect())
    }

    fn weights(&self) -> Vec<Weights<ToyTerms>> {
        let tuned = self.table.resolve::<ToyTerms>(STAGES, TUNABLE).expect("checked when it was taken");
        tuned.into_iter().map(|weights| weights.set(ToyTerm::Noise as usize, self.noise)).collect()
    }

    fn tunable(&self) -> TermSet {
        TUNABLE
    }

    fn with_weights(&self, table: &WeightTable, _players: Option<u8>) -> Result<Arc<dyn Policy<Toy>>, WeightsError> {
        table.resolve::<ToyTerms>(STAGES, TUNABLE)?;
        Ok(Arc::new(Self { table: table.clone(), noise: self.noise }))
    }
}

/// Plays a card it does not hold, now and then.
pub struct Cheat;

impl Policy<Toy> for Cheat {
    fn about(&self) -> About {
        about("Cheats.", &[])
    }

    fn evaluate(&self, view: &View, turn: &mut Turn<'_>) -> Evaluated<Toy> {
        Low.evaluate(view, turn)
    }

    fn shortcut(&self, view: &View, turn: &mut Turn<'_>) -> Option<Move> {
        if view.hand.len() == 2 && !view.window { Some(Move::Play(99)) } else { Low.shortcut(view, turn) }
    }

    fn weights(&self) -> Vec<Weights<ToyTerms>> {
        Vec::new()
    }
}

/// Never answers.
pub struct Mute;

impl Policy<Toy> for Mute {
    fn about(&self) -> About {
        about("Says nothing.", &[])
    }

    fn evaluate(&self, _view: &View, _turn: &mut Turn<'_>) -> Evaluated<Toy> {
        panic!("nothing to say")
    }

    fn weights(&self) -> Vec<Weights<ToyTerms>> {
        Vec::new()
    }
}
