//! What a game is: its vocabulary ([`Game`]) and, for those who deal the cards, its [`Referee`].

use std::fmt::Debug;
use std::ops::RangeInclusive;

use super::rng::Rng;
use super::roster::Roster;
use super::terms::Terms;

/// A game as policies see it. The marker type lives in the game's `mod.rs`.
pub trait Game: Copy + Debug + Default + Send + Sync + 'static {
    /// Registry key, metric label and the field name in `understudy.v1.View`: `lexio`.
    const KEY: &'static str;
    /// Every name that [`Game::kind`] may return; a closed list, as it labels metrics.
    const KINDS: &'static [&'static str];
    /// Names of the rulesets it knows, the default first.
    const RULESETS: &'static [&'static str];
    /// Unit of payoffs and settlements: `chips`, `points`, `apples`.
    const UNIT: &'static str;
    /// What one seat knows. Built by a checked constructor, so it is true.
    type View: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// A move. Pass is a variant, never an `Option`. `Ord` is the game's own order and breaks ties for good.
    type Move: Clone + Debug + Ord + Send + Sync + 'static;
    /// Every term that any policy of the game uses; a policy shows those it names.
    type Terms: Terms;

    /// Every legal move, each once. Never empty for a view that was accepted.
    fn legal(view: &Self::View) -> Vec<Self::Move>;

    /// Moves a player might expect although a rule forbids them here, with the rule's id. Shown, never candidates.
    fn refused(_view: &Self::View) -> Vec<(Self::Move, &'static str)> {
        Vec::new()
    }

    /// What sort of move this is, from [`Self::KINDS`].
    fn kind(mv: &Self::Move) -> &'static str;

    /// Canonical text of a move: stable across versions, in logs, replays and replies.
    fn key(mv: &Self::Move) -> String;

    /// The move that a key names, if the text is a key at all. Legality is not checked.
    fn parse_key(key: &str) -> Option<Self::Move>;

    /// The position in a few lines of text, for people.
    fn picture(view: &Self::View) -> String;

    /// The policies, easiest first.
    fn roster() -> Roster<Self>;
}

/// A seat at the table, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat(pub u8);

impl Seat {
    /// As an index into a list with one entry a seat.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seats(pub u8);

impl Seats {
    /// The same with `seat` in it.
    #[must_use]
    pub const fn with(self, seat: Seat) -> Self {
        Self(self.0 | 1 << seat.0)
    }

    /// Whether `seat` is in it.
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 >> seat.0 & 1 == 1
    }

    /// How many seats.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it holds none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The seats, ascending.
    pub fn iter(self) -> impl Iterator<Item = Seat> {
        (0..8).map(Seat).filter(move |seat| self.contains(*seat))
    }
}

/// Whom the referee asks next.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// One seat is to act.
    One(Seat),
    /// Each of these seats answers, in any order.
    Window(Seats),
    /// The game has ended.
    Over(Outcome),
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// By its rules.
    Known(Settlement),
    /// Stopped by a limit: the result is unknown, never a draw.
    Unknown {
        /// Plies played until then.
        after_plies: u32,
    },
}

/// What each seat got, in [`Game::UNIT`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// One entry a seat. Sums to 0 in games where seats pay each other; in two-sided games the margin, once with each sign.
    pub payments: Vec<i64>,
    /// Who won; all seats after a draw.
    pub winners: Seats,
}

/// A move the referee does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seat {}: {reason}", seat.0)]
pub struct Illegal {
    /// Who made it.
    pub seat: Seat,
    /// The rule it breaks, in words.
    pub reason: String,
}

/// How matches of a game are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchStyle {
    /// Several seats, payments per round.
    Table,
    /// Two sides: wins, draws and losses beside the margin.
    TwoSided,
    /// One seat: every policy plays each deal alone, pairs are compared.
    Solo,
}

/// What the arena needs of a game; the service does not.
pub trait Referee: Game {
    /// The whole table, hidden parts included.
    type State: Clone + Send + Sync;
    /// House variants, named and versioned.
    type Rules: Clone + Debug + Default + Send + Sync;
    /// How matches are compared.
    const STYLE: MatchStyle;
    /// Seats a match may have.
    const SEATS: RangeInclusive<u8>;

    /// The rules that a name stands for, as `--rules` gives it: one of [`Game::RULESETS`], perhaps with ` switch=value`
    /// pairs behind it.
    fn rules(name: &str) -> Option<Self::Rules>;

    /// A fresh game; a pure function of its arguments. Deal `seed` is the same on every machine and in every release.
    fn deal(rules: &Self::Rules, seats: u8, seed: u64) -> Self::State;

    /// Who is to act, or how it ended.
    fn ask(state: &Self::State) -> Ask;

    /// What `seat` may see, made by the same checked rules as a view from the wire.
    fn view(state: &Self::State, seat: Seat) -> Self::View;

    /// Applies the answers of all seats asked.
    ///
    /// # Errors
    /// The first answer that is not legal; the state is then unchanged.
    fn resolve(state: &mut Self::State, answers: &[(Seat, Self::Move)]) -> Result<(), Illegal>;

    /// Another table that looks the same from `seat`: hidden cards dealt anew. In a game without hidden parts, a clone.
    fn twin(state: &Self::State, seat: Seat, rng: &mut Rng) -> Self::State;
}
