//! The referee's table: deals an opening, checks every action, sees the end.

use super::Wallgo;
use super::action::Move;
use super::board::{Board, Cell, Cells, each};
use super::rules::{Position, Rules, Setup, UNLIMITED, placements, score};
use super::view::{Claim, ClaimedMasks, ClaimedPlayer, Phase, View};
use crate::bot::{Ask, Illegal, MatchStyle, Outcome, Referee, Rng, Seat, Seats, Settlement, Violations};

/// Passes or skips in a row after which the referee stops the game.
pub const STOP_AFTER_PASSES: u8 = 4;

/// How a match is set up: the switches, and who places the free stones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct House {
    /// The switches.
    pub rules: Rules,
    /// Whether the seats place their stones themselves. Else the deal's seed does.
    pub placed_by_seats: bool,
}

/// A match under way.
#[derive(Clone, Debug)]
pub struct State {
    rules: Rules,
    phase: Phase,
    position: Position,
    plies: u32,
}

impl State {
    /// A match that starts here.
    pub const fn new(rules: Rules, position: Position) -> Self {
        Self { rules, phase: Phase::Play, position, plies: 0 }
    }

    /// The position on the table.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    fn place(&mut self, player: usize, cell: Cell) {
        self.position.board.pieces[player] |= cell.bit();
    }

    /// Whose stone comes next; `None` when all stand.
    fn next_placer(&self) -> Option<u8> {
        let fixed = self.rules.setup.fixed().iter().map(|cells| cells.count_ones()).sum::<u32>();
        let stones = self.position.board.pieces.iter().map(|cells| cells.count_ones()).sum::<u32>();
        self.rules.setup.order().get((stones - fixed) as usize).copied()
    }

    /// Hands the turn to the next placer, or to the first mover once all stones stand.
    fn seat_next(&mut self) {
        match self.next_placer() {
            Some(player) => self.position.to_move = player,
            None => {
                self.phase = Phase::Play;
                self.position.to_move = self.rules.first_player();
            }
        }
    }
}

impl Referee for Wallgo {
    type State = State;
    type Rules = House;
    const STYLE: MatchStyle = MatchStyle::TwoSided;
    const SEATS: std::ops::RangeInclusive<u8> = 2..=2;

    /// `wallgo.v1`, then any ` switch=value` as the resolved ruleset spells it, and ` opening=placed` for matches in
    /// which the seats place their own stones (default ` opening=dealt`).
    fn rules(name: &str) -> Option<House> {
        let mut words = name.split_whitespace();
        if words.next() != Some(super::wire::RULESET) {
            return None;
        }
        let mut house = House::default();
        for word in words {
            match word.split_once('=')? {
                ("opening", "placed") => house.placed_by_seats = true,
                ("opening", "dealt") => house.placed_by_seats = false,
                (switch, value) => house.rules.set(switch, value)?,
            }
        }
        Some(house)
    }

    fn deal(house: &House, _seats: u8, seed: u64) -> State {
        let rules = house.rules;
        let mut board = Board::EMPTY;
        board.pieces = rules.setup.fixed();
        // GIVEN names no start; its matches begin like the default's.
        let given = rules.setup == Setup::Given;
        if given {
            board.pieces = Setup::Fixed2Abab.fixed();
        }
        let limit = if rules.wall_limit == 0 { UNLIMITED } else { rules.wall_limit };
        let position = Position { board, to_move: 0, walls_left: [limit; 2], passes: 0 };
        let mut state = State { rules, phase: Phase::Setup, position, plies: 0 };
        let mut rng = Rng::new(seed).split("wallgo opening");
        if given {
            for player in [0, 1, 0, 1] {
                let cell = pick(&state, &mut rng);
                state.place(player, cell);
            }
            state.phase = Phase::Play;
            state.position.to_move = rules.first_player();
            return state;
        }
        state.seat_next();
        while !house.placed_by_seats && state.phase == Phase::Setup {
            let cell = pick(&state, &mut rng);
            state.place(state.position.mover(), cell);
            state.seat_next();
        }
        state
    }

    fn ask(state: &State) -> Ask {
        if state.phase == Phase::Setup {
            return Ask::One(Seat(state.position.to_move));
        }
        if state.position.end(&state.rules).is_some() {
            return Ask::Over(Outcome::Known(settle(state)));
        }
        if state.position.passes >= STOP_AFTER_PASSES {
            return Ask::Over(Outcome::Unknown { after_plies: state.plies });
        }
        Ask::One(Seat(state.position.to_move))
    }

    fn view(state: &State, _seat: Seat) -> View {
        let (rules, board) = (state.rules, &state.position.board);
        let left = |player: usize| (rules.wall_limit > 0).then(|| u32::from(state.position.walls_left[player]));
        let claim = Claim {
            rules,
            phase: Some(state.phase),
            to_move: u32::from(state.position.to_move),
            players: (0..2).map(|player| ClaimedPlayer { pieces: Vec::new(), walls_left: left(player) }).collect(),
            compact: Some(ClaimedMasks {
                pieces: board.pieces.to_vec(),
                east: board.east_walls(),
                south: board.south_walls(),
            }),
            consecutive_passes: u32::from(state.position.passes),
            ..Claim::default()
        };
        let mut problems = Violations::default();
        let view = View::check(&claim, &mut problems, &mut Vec::new());
        view.unwrap_or_else(|| panic!("the referee asks about a position that is none: {:?}", problems.finish()))
    }

    fn resolve(state: &mut State, answers: &[(Seat, Move)]) -> Result<(), Illegal> {
        let seat = Seat(state.position.to_move);
        let illegal = |seat: Seat, reason: String| Err(Illegal { seat, reason });
        let &[(from, mv)] = answers else {
            return illegal(seat, format!("{} answers where one seat was asked", answers.len()));
        };
        if from != seat {
            return illegal(from, format!("seat {} is to act", seat.0));
        }
        match (state.phase, mv) {
            (Phase::Setup, Move::Place(cell)) if state.position.board.empty() & cell.bit() != 0 => {
                state.place(state.position.mover(), cell);
                state.seat_next();
            }
            (Phase::Play, Move::Turn(_) | Move::Skip) if state.position.allows(&state.rules, mv) => {
                state.position = state.position.after(mv);
                state.plies += 1;
            }
            _ => return illegal(seat, format!("{} is not legal here", mv.key())),
        }
        Ok(())
    }

    fn twin(state: &State, _seat: Seat, _rng: &mut Rng) -> State {
        state.clone()
    }
}

fn pick(state: &State, rng: &mut Rng) -> Cell {
    let free: Cells = state.position.board.empty();
    let nth = rng.below(u64::from(free.count_ones())) as usize;
    each(free).nth(nth).unwrap_or_else(|| unreachable!("below() stays below the count"))
}

/// The margin in cells, once with each sign; the tie-break decides about winning only.
fn settle(state: &State) -> Settlement {
    let board = &state.position.board;
    let score = score(&state.rules, board, &board.territory());
    let margin = i64::from(score.cells[0]) - i64::from(score.cells[1]);
    let winners = match score.winner {
        Some(player) => Seats::default().with(Seat(player)),
        None => Seats::default().with(Seat(0)).with(Seat(1)),
    };
    Settlement { payments: vec![margin, -margin], winners }
}

/// The legal moves of a view.
pub fn legal(view: &View) -> Vec<Move> {
    match view.phase() {
        Phase::Setup => placements(&view.position().board).map(Move::Place).collect(),
        Phase::Play => view.position().candidates(view.rules()),
    }
}
