//! The referee's whole table. Only the referee, rollouts and tests see one.

use super::card::{Card, Cards};
use super::check::{DiscardDraft, Draft, MeldDraft, SeatDraft, TurnDraft, checked_under};
use super::meld::Melds;
use super::moves::{Move, StopKind};
use super::phase::{Layoffs, Phase, Scene, TurnSoFar};
use super::rules::{HoolaLayoff, Rules};
use super::settlement::{End, Finish, Holding, Paid, settle};
use super::view::{Discard, View, exhausted};
use crate::bot::{Ask, Illegal, Outcome, Rng, Seat, Seats, Settlement};

/// The cards of a round and whose move it is; what a rollout copies. The history of discards is not part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    pub(super) rules: Rules,
    pub(super) hands: [Cards; 5],
    /// Cards taken under FREE and still in hand.
    pub(super) known: [Cards; 5],
    pub(super) registered: Seats,
    pub(super) melds: Melds,
    /// The deck; the top card is the one before `deck_len`.
    pub(super) deck: [Card; 52],
    pub(super) deck_len: u8,
    pub(super) starter: Seat,
    pub(super) turn_seat: Seat,
    pub(super) phase: Phase,
    /// The last discard and who threw it.
    pub(super) open: Card,
    pub(super) open_seat: Option<Seat>,
    pub(super) turn: TurnSoFar,
    pub(super) completed_turns: u16,
    pub(super) window: Window,
    pub(super) finish: Option<Finish>,
}

/// Answers of a thank-you window that have arrived. Which seats have answered is all that anybody may see of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    answered: Seats,
    claims: [Cards; 5],
}

impl Round {
    /// A round about to begin: the window of the opening card. `cards`: seven for each seat in turn, the opening card,
    /// then the deck from the top down.
    pub fn begin(rules: Rules, cards: &[Card; 52], starter: Seat) -> Self {
        let dealt = 7 * usize::from(rules.players);
        let mut hands = [Cards::NONE; 5];
        for (hand, seven) in hands.iter_mut().zip(cards[..dealt].chunks(7)) {
            *hand = seven.iter().copied().collect();
        }
        let mut deck = [Card::default(); 52];
        let below = &cards[dealt + 1..];
        deck.iter_mut().zip(below.iter().rev()).for_each(|(place, &card)| *place = card);
        Self {
            rules,
            hands,
            known: [Cards::NONE; 5],
            registered: Seats::default(),
            melds: Melds::default(),
            deck,
            deck_len: below.len() as u8,
            starter,
            turn_seat: starter,
            phase: Phase::Window,
            open: cards[dealt],
            open_seat: None,
            turn: TurnSoFar::default(),
            completed_turns: 0,
            window: Window::default(),
            finish: None,
        }
    }

    /// Seats in the order of their right to the open card: from the seat after the discarder, or from the starter.
    pub fn priority(&self) -> impl Iterator<Item = Seat> + use<> {
        let players = self.rules.players;
        let (first, count) = match self.open_seat {
            Some(discarder) => ((discarder.0 + 1) % players, players - 1),
            None => (self.starter.0, players),
        };
        (0..count).map(move |step| Seat((first + step) % players))
    }

    /// The seat whose turn begins when nobody claims.
    pub fn next_seat(&self) -> Seat {
        self.open_seat.map_or(self.starter, |discarder| Seat((discarder.0 + 1) % self.rules.players))
    }

    /// What decides which moves of `seat` are legal.
    pub fn scene(&self, seat: Seat) -> Scene<'_> {
        Scene {
            rules: &self.rules,
            phase: self.phase,
            hand: self.hands[seat.index()],
            registered: self.registered.contains(seat),
            melds: &self.melds,
            open: self.open,
            taken: if self.phase == Phase::Action { self.turn.taken_card } else { None },
        }
    }

    /// The end, once it has come.
    pub const fn finish(&self) -> Option<Finish> {
        self.finish
    }

    /// Hands by seat.
    pub fn hands(&self) -> &[Cards] {
        &self.hands[..usize::from(self.rules.players)]
    }

    /// The table.
    pub const fn melds(&self) -> &Melds {
        &self.melds
    }

    /// Cards in the deck.
    pub const fn deck_remaining(&self) -> u8 {
        self.deck_len
    }

    /// The seats that have registered.
    pub const fn registered(&self) -> Seats {
        self.registered
    }

    /// What is asked now.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Turns that ended with a discard.
    pub const fn completed_turns(&self) -> u16 {
        self.completed_turns
    }

    /// What the end pays; nothing before it.
    pub fn paid(&self) -> Option<Paid> {
        let finish = self.finish?;
        let mut holdings = [Holding::default(); 5];
        for (i, holding) in holdings.iter_mut().enumerate() {
            let hand = self.hands[i];
            *holding = Holding {
                sum: hand.sum(self.rules.seven()),
                registered: self.registered.contains(Seat(i as u8)),
                sevens: hand.sevens(),
            };
        }
        Some(settle(&self.rules, &holdings[..usize::from(self.rules.players)], finish, self.starter))
    }

    /// Plays a legal move of the seat whose turn it is, or carries out a claim. [`Move::Pass`] means here that the
    /// window closes without a claim.
    pub fn play(&mut self, seat: Seat, mv: Move) {
        match mv {
            Move::Stop(kind) => self.stop(seat, kind),
            Move::Draw => self.draw(seat),
            Move::Take(own) if own.is_empty() => self.take_freely(seat),
            Move::Take(own) | Move::Claim(own) => self.claim(seat, own),
            Move::Register(cards) => self.register(seat, cards),
            Move::LayOff { meld, cards } => self.lay_off(seat, usize::from(meld), cards),
            Move::Discard(card) => self.discard(seat, card),
            Move::Pass => self.start_turn(),
        }
    }

    /// The turn of the next seat begins, or the round is exhausted.
    pub fn start_turn(&mut self) {
        self.turn_seat = self.next_seat();
        self.phase = Phase::TurnStart;
        self.window = Window::default();
        if exhausted(&self.rules, usize::from(self.deck_len), usize::from(self.completed_turns)) {
            self.end(End::Exhausted, None);
        }
    }

    fn end(&mut self, end: End, actor: Option<Seat>) {
        self.finish = Some(Finish { end, actor, feeder: actor.and(self.turn.taken_from) });
    }

    fn begin_action(&mut self, seat: Seat, taken: Option<Card>, from: Option<Seat>) {
        self.turn_seat = seat;
        self.phase = Phase::Action;
        self.window = Window::default();
        self.turn = TurnSoFar {
            registered_at_start: self.registered.contains(seat),
            taken_card: taken,
            taken_from: from,
            layoffs: Layoffs::None,
        };
    }

    fn stop(&mut self, seat: Seat, kind: StopKind) {
        self.turn = TurnSoFar::default();
        let end = match kind {
            StopKind::Chongtong => End::Chongtong,
            StopKind::Low => End::Low,
            StopKind::High => End::High,
            StopKind::Normal => {
                let seven = self.rules.seven();
                let own = self.hands[seat.index()].sum(seven);
                let beaten = |(i, hand): (usize, &Cards)| i != seat.index() && hand.sum(seven) <= own;
                if self.hands().iter().enumerate().any(beaten) { End::StopFail } else { End::StopOk }
            }
        };
        self.end(end, Some(seat));
    }

    fn draw(&mut self, seat: Seat) {
        self.begin_action(seat, None, None);
        self.deck_len -= 1;
        let card = self.deck[usize::from(self.deck_len)];
        self.hands[seat.index()] = self.hands[seat.index()].with(card);
    }

    fn take_freely(&mut self, seat: Seat) {
        self.begin_action(seat, Some(self.open), self.open_seat);
        self.hands[seat.index()] = self.hands[seat.index()].with(self.open);
        self.known[seat.index()] = self.known[seat.index()].with(self.open);
    }

    fn claim(&mut self, seat: Seat, own: Cards) {
        self.begin_action(seat, Some(self.open), self.open_seat);
        self.shed(seat, own);
        self.melds.register(seat.0, own.with(self.open), self.rules.run_wrap);
        self.registered = self.registered.with(seat);
        self.end_if_out(seat);
    }

    fn register(&mut self, seat: Seat, cards: Cards) {
        self.shed(seat, cards);
        self.melds.register(seat.0, cards, self.rules.run_wrap);
        self.registered = self.registered.with(seat);
        self.end_if_out(seat);
    }

    fn lay_off(&mut self, seat: Seat, meld: usize, cards: Cards) {
        self.shed(seat, cards);
        self.turn.layoffs = self.turn.layoffs.max(layoff_on(self.melds.list()[meld].owner, seat));
        self.melds.lay_off(meld, cards, self.rules.run_wrap);
        self.end_if_out(seat);
    }

    fn discard(&mut self, seat: Seat, card: Card) {
        self.shed(seat, Cards::of(card));
        self.open = card;
        self.open_seat = Some(seat);
        self.completed_turns += 1;
        self.end_if_out(seat);
        if self.finish.is_none() {
            self.phase = Phase::Window;
            self.window = Window::default();
        }
    }

    fn shed(&mut self, seat: Seat, cards: Cards) {
        self.hands[seat.index()] = self.hands[seat.index()] - cards;
        self.known[seat.index()] = self.known[seat.index()] - cards;
    }

    fn end_if_out(&mut self, seat: Seat) {
        if self.hands[seat.index()].is_empty() {
            self.end(out(&self.rules, &self.turn, self.turn.layoffs), Some(seat));
        }
    }

    /// Takes a window answer; true when it closes the window: as soon as a claim stands for which every seat of higher
    /// priority has passed, or when all have passed.
    fn answer(&mut self, seat: Seat, own: Cards) -> bool {
        self.window.answered = self.window.answered.with(seat);
        self.window.claims[seat.index()] = own;
        for seat in self.priority() {
            let claim = self.window.claims[seat.index()];
            if !self.window.answered.contains(seat) {
                return false;
            }
            if !claim.is_empty() {
                self.claim(seat, claim);
                return true;
            }
        }
        self.start_turn();
        true
    }
}

/// The kind of lay-off that laying on a meld of `owner` is.
pub fn layoff_on(owner: u8, seat: Seat) -> Layoffs {
    if owner == seat.0 { Layoffs::Own } else { Layoffs::Others }
}

/// How a turn ends that empties the hand after these lay-offs: a hoola, or merely out.
pub fn out(rules: &Rules, turn: &TurnSoFar, layoffs: Layoffs) -> End {
    let kept = match rules.hoola_layoff {
        HoolaLayoff::Any => true,
        HoolaLayoff::Own => layoffs <= Layoffs::Own,
        HoolaLayoff::None => layoffs == Layoffs::None,
    };
    if !turn.registered_at_start && kept { End::Hoola } else { End::Out }
}

/// A whole table: the round and the history of its discards.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    round: Round,
    discards: Vec<Discard>,
}

impl State {
    /// A deal, with the window of the opening card about to open; see [`Round::begin`].
    pub fn begin(rules: Rules, cards: &[Card; 52], starter: Seat) -> Self {
        let round = Round::begin(rules, cards, starter);
        Self { discards: vec![Discard { card: round.open, seat: None, taken_by: None }], round }
    }

    /// Deal `seed`: it fixes the deck and the starter.
    pub fn deal(rules: Rules, seed: u64) -> Self {
        let rng = Rng::new(seed);
        let mut cards = deck();
        rng.split("hoola.deck").shuffle(&mut cards);
        let starter = rng.split("hoola.starter").below(u64::from(rules.players));
        Self::begin(rules, &cards, Seat(starter as u8))
    }

    /// The round without its history.
    pub const fn round(&self) -> &Round {
        &self.round
    }

    /// Who is to answer, or what the end paid.
    pub fn ask(&self) -> Ask {
        if let Some(paid) = self.round.paid() {
            let payments = paid.payments[..usize::from(self.round.rules.players)].to_vec();
            return Ask::Over(Outcome::Known(Settlement { payments, winners: paid.winners }));
        }
        match self.round.phase {
            Phase::TurnStart | Phase::Action => Ask::One(self.round.turn_seat),
            Phase::Window => {
                let open = self.round.priority().filter(|&seat| !self.round.window.answered.contains(seat));
                Ask::Window(open.fold(Seats::default(), Seats::with))
            }
        }
    }

    /// Applies answers of seats that are asked. In a window some may be missing: the others are kept until the window
    /// can be closed; answers to a window that an earlier one has closed are dropped, so their order is irrelevant.
    ///
    /// # Errors
    /// The first answer that is not legal; then nothing has changed.
    pub fn resolve(&mut self, answers: &[(Seat, Move)]) -> Result<(), Illegal> {
        self.check(answers)?;
        let window = self.round.phase == Phase::Window;
        for &(seat, mv) in answers {
            let done = match mv {
                Move::Claim(own) if window => self.answer(seat, own),
                Move::Pass if window => self.answer(seat, Cards::NONE),
                _ => {
                    self.play(seat, mv);
                    true
                }
            };
            if done {
                break;
            }
        }
        Ok(())
    }

    fn check(&self, answers: &[(Seat, Move)]) -> Result<(), Illegal> {
        let ask = self.ask();
        let illegal = |seat: Seat, reason: &str| Err(Illegal { seat, reason: reason.to_owned() });
        let mut answered = Seats::default();
        for (seat, mv) in answers {
            let asked = match &ask {
                Ask::One(one) => one == seat,
                Ask::Window(seats) => seats.contains(*seat),
                Ask::Over(_) => return illegal(*seat, "the round is over"),
            };
            if !asked || answered.contains(*seat) {
                return illegal(*seat, "not asked");
            }
            answered = answered.with(*seat);
            if !self.round.scene(*seat).is_legal(mv) {
                return illegal(*seat, &format!("{mv} is not legal here"));
            }
        }
        Ok(())
    }

    fn answer(&mut self, seat: Seat, own: Cards) -> bool {
        let closed = self.round.answer(seat, own);
        if closed && self.round.turn.taken_card.is_some() && self.round.phase == Phase::Action {
            self.mark_taken();
        }
        closed
    }

    fn play(&mut self, seat: Seat, mv: Move) {
        self.round.play(seat, mv);
        match mv {
            Move::Take(_) => self.mark_taken(),
            Move::Discard(card) => self.discards.push(Discard { card, seat: Some(seat), taken_by: None }),
            _ => {}
        }
    }

    fn mark_taken(&mut self) {
        if let Some(last) = self.discards.last_mut() {
            last.taken_by = Some(self.round.turn_seat);
        }
    }

    /// What `seat` may see, through the same checks as a view from the wire.
    pub fn view(&self, seat: Seat) -> View {
        checked_under(self.round.rules, &self.draft(seat)).expect("a table shows sound views; this is a bug of the referee")
    }

    /// What `seat` may see, unchecked.
    pub fn draft(&self, seat: Seat) -> Draft {
        let round = &self.round;
        let ids = |cards: Cards| cards.iter().map(|card| u32::from(card.id())).collect::<Vec<_>>();
        let number = |seat: Seat| u32::from(seat.0);
        let acting = round.phase == Phase::Action;
        Draft {
            rules: super::check::RulesDraft::default(),
            seat: number(seat),
            starter: number(round.starter),
            turn_seat: number(round.turn_seat),
            phase: Some(round.phase),
            hand: ids(round.hands[seat.index()]),
            seats: (0..round.rules.players)
                .map(|i| SeatDraft {
                    hand_count: round.hands[usize::from(i)].len(),
                    registered: round.registered.contains(Seat(i)),
                    known: ids(round.known[usize::from(i)]),
                })
                .collect(),
            melds: (0..)
                .zip(round.melds.list())
                .map(|(id, meld)| MeldDraft {
                    id,
                    owner: u32::from(meld.owner),
                    kind: Some(meld.kind),
                    cards: ids(meld.cards),
                })
                .collect(),
            discards: self
                .discards
                .iter()
                .map(|discard| DiscardDraft {
                    card: u32::from(discard.card.id()),
                    seat: discard.seat.map(number),
                    taken_by: discard.taken_by.map(number),
                })
                .collect(),
            deck_remaining: u32::from(round.deck_len),
            turn: acting.then(|| TurnDraft {
                registered_at_start: round.turn.registered_at_start,
                taken_card: round.turn.taken_card.map(|card| u32::from(card.id())),
                taken_from: round.turn.taken_from.map(number),
                layoffs: Some(round.turn.layoffs),
            }),
            ..Draft::default()
        }
    }

    /// Another table that looks the same from `seat`: what it cannot place is dealt anew. Answers of other seats to an
    /// open window are forgotten, as they named cards that these seats may no longer hold.
    pub fn twin(&self, seat: Seat, rng: &mut Rng) -> Self {
        let mut twin = self.clone();
        let round = &mut twin.round;
        let fixed = |i: usize| if i == seat.index() { round.hands[i] } else { round.known[i] };
        let kept: [Cards; 5] = std::array::from_fn(fixed);
        let deck: Cards = round.deck[..usize::from(round.deck_len)].iter().copied().collect();
        let hidden = (0..5).fold(deck, |all, i| all | (round.hands[i] - kept[i]));
        let mut cards: Vec<Card> = hidden.iter().collect();
        rng.shuffle(&mut cards);
        let mut next = cards.into_iter();
        for (hand, kept) in round.hands.iter_mut().zip(kept) {
            let missing = (hand.len() - kept.len()) as usize;
            *hand = next.by_ref().take(missing).fold(kept, Cards::with);
        }
        round.deck.iter_mut().zip(next).for_each(|(place, card)| *place = card);
        let own = round.window.claims[seat.index()];
        let answered = round.window.answered.contains(seat);
        round.window = Window::default();
        if answered {
            round.window.answered = Seats::default().with(seat);
            round.window.claims[seat.index()] = own;
        }
        twin
    }
}

/// The cards by id.
pub fn deck() -> [Card; 52] {
    let mut cards = [Card::default(); 52];
    cards.iter_mut().zip(Cards::ALL.iter()).for_each(|(place, card)| *place = card);
    cards
}

