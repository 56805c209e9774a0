//! Hoola (훌라): a rummy with 52 cards for 2 to 5 players, seven cards each.
//!
//! A turn is: draw one, lay melds and add to melds on the table, discard one. Anybody may break in on a discard. The
//! losers pay the winner by place on a ladder 1, 2, 4, 8, times penalties, so the aim is expected points.
//!
//! Words: register 등록 = lay a new meld; lay-off 붙이기 = add to a meld on the table; thank-you 땡큐 = claim a discard
//! out of turn; stop 스톱 = end the round (chongtong 총통, low 로우, high 하이, normal 일반); starter 선; hoola 훌라 =
//! empty the hand in one turn that began unregistered; bak 박 = penalty; stop-bak 스톱박 = the failed stopper pays for
//! all; dokbak 독박 = one seat pays for all.
//!
//! Rules: the series "훌라 CPU 플레이어 만들기" where it speaks; Pagat (John McLeod, "Hoola"); the help page of Board
//! Game Arena. There is no official rule book: what they leave open is a switch of [`rules::Rules`] or a named choice.

pub mod appraise;
pub mod card;
pub mod chances;
pub mod check;
pub mod cover;
pub mod meld;
pub mod moves;
pub mod phase;
pub mod policies;
pub mod rollout;
pub mod rules;
pub mod settlement;
pub mod state;
pub mod terms;
pub mod turn;
pub mod view;
pub mod wire;
pub mod worlds;

use std::ops::RangeInclusive;

use crate::bot::{Ask, Game, Illegal, MatchStyle, Referee, Rng, Roster, Seat};
use moves::Move;
use policies::easy::Easy;
use policies::expert::Expert;
use policies::habits::{Habit, Habitual};
use policies::hard::Hard;
use rules::{Rules, STANDARD};
use state::State;
use terms::HoolaTerms;
use view::View;

/// The game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hoola;

impl Game for Hoola {
    const KEY: &'static str = "hoola";
    const KINDS: &'static [&'static str] =
        &["stop", "take", "register", "lay_off", "claim", "draw", "pass", "discard"];
    const RULESETS: &'static [&'static str] = &[STANDARD];
    const UNIT: &'static str = "points";
    type View = View;
    type Move = Move;
    type Terms = HoolaTerms;

    fn legal(view: &View) -> Vec<Move> {
        view.scene().legal()
    }

    fn refused(view: &View) -> Vec<(Move, &'static str)> {
        view.scene().refused()
    }

    fn kind(mv: &Move) -> &'static str {
        mv.kind()
    }

    fn key(mv: &Move) -> String {
        mv.to_string()
    }

    fn parse_key(key: &str) -> Option<Move> {
        Move::parse(key)
    }

    fn picture(view: &View) -> String {
        view.picture()
    }

    fn roster() -> Roster<Self> {
        Roster::default()
            .bot("easy", Easy)
            .bot("hard", Hard::default())
            .bot("expert", Expert::default())
            .sparring("hard-registers", Habitual::new(Habit::Registers))
            .sparring("hard-stops-like-easy", Habitual::new(Habit::StopsLikeEasy))
            .sparring("hard-stops-always", Habitual::new(Habit::StopsAlways))
            .sparring("hard-claims-always", Habitual::new(Habit::ClaimsAlways))
            .sparring("hard-never-claims", Habitual::new(Habit::NeverClaims))
            .sparring("hard-lays-off", Habitual::new(Habit::LaysOff))
    }
}

impl Referee for Hoola {
    type State = State;
    type Rules = Rules;
    const STYLE: MatchStyle = MatchStyle::Table;
    const SEATS: RangeInclusive<u8> = 2..=5;

    fn rules(name: &str) -> Option<Rules> {
        Rules::parse(name)
    }

    fn deal(rules: &Rules, seats: u8, seed: u64) -> State {
        State::deal(Rules { players: seats, ..*rules }, seed)
    }

    fn ask(state: &State) -> Ask {
        state.ask()
    }

    fn view(state: &State, seat: Seat) -> View {
        state.view(seat)
    }

    fn resolve(state: &mut State, answers: &[(Seat, Move)]) -> Result<(), Illegal> {
        state.resolve(answers)
    }

    fn twin(state: &State, seat: Seat, rng: &mut Rng) -> State {
        state.twin(seat, rng)
    }
}
