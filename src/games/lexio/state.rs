//! The referee's whole table. Arena and tests only: no policy ever sees one.

use std::sync::Arc;

use super::flow::{Flow, SEATS};
use super::meld::Meld;
use super::rules::{FirstLead, ROUNDS, Ruleset};
use super::tile::{Deck, Tile, TileSet};
use super::view::{Action, View, full_hands};
use super::{Lexio, Move};
use crate::bot::{Ask, Illegal, MatchStyle, Outcome, Referee, Rng, Seat, Seats, Settlement};

/// A round seldom has more actions than this.
const ACTIONS: usize = 96;

/// One round, every hand included.
#[derive(Clone, Debug)]
pub struct State {
    rules: Ruleset,
    deck: &'static Deck,
    round: u8,
    hands: [TileSet; SEATS],
    flow: Flow,
    log: Arc<Vec<Action>>,
    money: [i64; SEATS],
}

impl State {
    /// Round 1 of a match: a pure function of its arguments.
    ///
    /// # Panics
    /// With other than 3 to 5 seats: whoever sets up a match asks [`Referee::SEATS`] first.
    pub fn deal(rules: Ruleset, seats: u8, seed: u64) -> Self {
        let deck = Deck::of(usize::from(seats)).expect("3 to 5 seats; a match with others is a bug of its caller");
        Self::of_hands(rules, deck, 1, deal_hands(deck, seed), None, [0; SEATS])
    }

    /// The next round of the match after a finished one; `None` while this one runs, and after the last.
    pub fn next_round(&self, seed: u64) -> Option<Self> {
        let winner = self.flow.winner()?;
        let mut money = self.money;
        for (total, net) in money.iter_mut().zip(self.nets()) {
            *total += i64::from(net);
        }
        let hands = deal_hands(self.deck, seed);
        let round = self.round + 1;
        (round <= ROUNDS).then(|| Self::of_hands(self.rules, self.deck, round, hands, Some(winner), money))
    }

    fn of_hands(
        rules: Ruleset,
        deck: &'static Deck,
        round: u8,
        hands: [TileSet; SEATS],
        winner: Option<u8>,
        money: [i64; SEATS],
    ) -> Self {
        let c3_holder = (0..deck.seats).find(|&seat| hands[usize::from(seat)].has(Tile::C3)).unwrap_or(0);
        let first = match rules.first_lead {
            FirstLead::C3Holder => c3_holder,
            FirstLead::PreviousWinner => winner.unwrap_or(c3_holder),
        };
        let flow = Flow::start(deck.seats, first, full_hands(deck));
        let log = Arc::new(Vec::with_capacity(ACTIONS));
        Self { rules, deck, round, hands, flow, log, money }
    }

    /// The hands, one a seat.
    pub fn hands(&self) -> &[TileSet] {
        &self.hands[..usize::from(self.deck.seats)]
    }

    /// The course of the round.
    pub const fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Every action so far.
    pub fn log(&self) -> &[Action] {
        &self.log
    }

    /// What each seat gets if the round ends now.
    pub fn nets(&self) -> Vec<i32> {
        let counts: Vec<i32> = self.hands().iter().map(|hand| self.rules.count(*hand)).collect();
        (0..counts.len()).map(|seat| self.rules.net(&counts, seat)).collect()
    }

    /// What `seat` may see.
    pub fn view(&self, seat: u8) -> View {
        View {
            rules: self.rules,
            deck: self.deck,
            me: seat,
            round: self.round,
            hand: self.hands[usize::from(seat)],
            played: self.flow.played,
            table: self.flow.table.map(|meld| (self.flow.owner, meld)),
            counts: self.flow.left,
            log: Arc::clone(&self.log),
            money: Some(self.money),
        }
    }

    fn admit(&self, seat: u8, mv: &Move) -> Result<Option<Meld>, &'static str> {
        if self.flow.winner().is_some() {
            return Err("after_round_end");
        }
        if seat != self.flow.to_act {
            return Err("out_of_turn");
        }
        let play = match mv {
            Move::Pass => None,
            Move::Play(meld) if !meld.tiles().within(self.hands[usize::from(seat)]) => return Err("not_in_hand"),
            // Read anew: a Key from elsewhere is not believed.
            Move::Play(meld) => Some(Meld::read(meld.tiles(), self.deck).ok_or("not_a_meld")?),
        };
        self.flow.refuse(play.as_ref()).map_or(Ok(play), |fault| Err(fault.code()))
    }

    fn apply(&mut self, play: Option<Meld>) {
        let seat = self.flow.to_act;
        if let Some(meld) = play {
            let hand = &mut self.hands[usize::from(seat)];
            *hand = hand.minus(meld.tiles());
        }
        let action = Action { seat, trick: self.flow.trick, play };
        // Nobody else holds the log when the policy has given its view back; a copied table shares it up to here.
        match Arc::get_mut(&mut self.log) {
            Some(log) => log.push(action),
            None => self.log = Arc::new(longer(&self.log, action)),
        }
        self.flow.apply(play);
    }

    /// The same table with the hands of the others dealt anew, as far as `seat` can tell.
    fn redeal(&self, seat: u8, rng: &mut Rng) -> Self {
        let view = self.view(seat);
        let mut twin = self.clone();
        let mut unseen: Vec<Tile> = view.unseen().into_iter().collect();
        rng.shuffle(&mut unseen);
        let fixed = view.hidden_c3_holder();
        if fixed.is_some() {
            unseen.retain(|tile| *tile != Tile::C3);
        }
        for rival in view.rivals() {
            let mut hand = if fixed == Some(rival) { TileSet::of(Tile::C3) } else { TileSet::EMPTY };
            while hand.len() < u32::from(view.counts()[usize::from(rival)]) {
                hand = hand.with(unseen.pop().expect("unseen is the union of the hands; this is a bug of State"));
            }
            twin.hands[usize::from(rival)] = hand;
        }
        twin
    }
}

/// A copy of the log with room for the rest of the round.
fn longer(log: &[Action], action: Action) -> Vec<Action> {
    let mut longer = Vec::with_capacity(ACTIONS.max(log.len() + 1));
    longer.extend_from_slice(log);
    longer.push(action);
    longer
}

fn deal_hands(deck: &Deck, seed: u64) -> [TileSet; SEATS] {
    let mut tiles: Vec<Tile> = deck.tiles.into_iter().collect();
    Rng::new(seed).split("lexio deal").shuffle(&mut tiles);
    let mut hands = [TileSet::EMPTY; SEATS];
    for (hand, dealt) in hands.iter_mut().zip(tiles.chunks(usize::from(deck.hand_size))) {
        *hand = dealt.iter().copied().collect();
    }
    hands
}

impl Referee for Lexio {
    type State = State;
    type Rules = Ruleset;
    const STYLE: MatchStyle = MatchStyle::Table;
    const SEATS: std::ops::RangeInclusive<u8> = 3..=5;

    fn rules(name: &str) -> Option<Ruleset> {
        Ruleset::parse(name)
    }

    fn deal(rules: &Ruleset, seats: u8, seed: u64) -> State {
        State::deal(*rules, seats, seed)
    }

    fn ask(state: &State) -> Ask {
        match state.flow.winner() {
            None => Ask::One(Seat(state.flow.to_act)),
            Some(winner) => {
                let payments = state.nets().into_iter().map(i64::from).collect();
                Ask::Over(Outcome::Known(Settlement { payments, winners: Seats::default().with(Seat(winner)) }))
            }
        }
    }

    fn view(state: &State, seat: Seat) -> View {
        state.view(seat.0)
    }

    fn resolve(state: &mut State, answers: &[(Seat, Move)]) -> Result<(), Illegal> {
        let illegal = |seat: Seat, reason: &str| Illegal { seat, reason: reason.to_owned() };
        let [(seat, mv)] = answers else {
            return Err(illegal(Seat(state.flow.to_act), "one answer is asked for"));
        };
        let play = state.admit(seat.0, mv).map_err(|reason| illegal(*seat, reason))?;
        state.apply(play);
        Ok(())
    }

    fn twin(state: &State, seat: Seat, rng: &mut Rng) -> State {
        state.redeal(seat.0, rng)
    }
}
