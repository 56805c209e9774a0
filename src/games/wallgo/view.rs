//! What a player sees, which is everything; and the checks that make it true.

use std::fmt::Arguments;

use super::board::{Board, Cell, Cells, EAST_EDGES, SOUTH_EDGES};
use super::rules::{FirstMover, Position, Rules, Setup, Stay, UNLIMITED};
use crate::bot::{Violations, Warning};

/// The part of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Stones are being placed.
    Setup,
    /// Pieces move and build.
    Play,
}

/// A position that has passed every check and has at least one move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    rules: Rules,
    phase: Phase,
    position: Position,
}

/// A view as somebody claims it, in the shape of the message.
#[derive(Clone, Debug, Default)]
pub struct Claim {
    /// The switches.
    pub rules: Rules,
    /// The phase; `None` when the message named none that exists (already reported).
    pub phase: Option<Phase>,
    /// The player to decide for.
    pub to_move: u32,
    /// One entry a player.
    pub players: Vec<ClaimedPlayer>,
    /// Cells (row, column) with a wall on their east side.
    pub east_walls: Vec<(u32, u32)>,
    /// Cells with a wall on their south side.
    pub south_walls: Vec<(u32, u32)>,
    /// The board as masks instead.
    pub compact: Option<ClaimedMasks>,
    /// Passes or skips directly before.
    pub consecutive_passes: u32,
    /// Whether owners of walls were given.
    pub wall_owners: bool,
}

/// One player's stones as claimed.
#[derive(Clone, Debug, Default)]
pub struct ClaimedPlayer {
    /// Row and column of each piece.
    pub pieces: Vec<(u32, u32)>,
    /// Walls left to build.
    pub walls_left: Option<u32>,
}

/// The board as masks, as claimed.
#[derive(Clone, Debug, Default)]
pub struct ClaimedMasks {
    /// One mask a player.
    pub pieces: Vec<u64>,
    /// East walls.
    pub east: u64,
    /// South walls.
    pub south: u64,
}

impl View {
    /// The switches.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Setup or play.
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The board, whose turn it is, walls left, passes before it.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Stones placed beyond the fixed ones; the next stone has this place in [`Setup::order`].
    pub const fn placed(&self) -> usize {
        let fixed = self.rules.setup.fixed();
        let all = self.position.board.pieces[0].count_ones() + self.position.board.pieces[1].count_ones();
        (all - fixed[0].count_ones() - fixed[1].count_ones()) as usize
    }

    /// The view that a claim describes.
    ///
    /// Adds every violation found, with paths relative to the view, and every warning. `None` exactly when `problems`
    /// is not empty.
    pub fn check(claim: &Claim, problems: &mut Violations, warnings: &mut Vec<Warning>) -> Option<Self> {
        let rules = claim.rules;
        if claim.players.len() != 2 {
            let more = if matches!(claim.players.len(), 3 | 4) { ": not supported yet" } else { "" };
            problems.add("players", "player_count", format!("{} players{more}; 2 play", claim.players.len()));
        }
        if claim.to_move > 1 {
            problems.add("to_move", "no_such_player", format!("{}: 0 and 1 play", claim.to_move));
        }
        if claim.phase == Some(Phase::Setup) && rules.setup == Setup::Given {
            problems.add("phase", "no_setup", "with setup=GIVEN the game starts in PLAY");
        }
        let mut board = Board::EMPTY;
        let whole = match &claim.compact {
            Some(masks) => read_masks(claim, masks, &mut board, problems),
            None => read_lists(claim, &mut board, problems),
        };
        let walls_left = read_walls_left(claim, problems);
        if let (Some(phase), true) = (claim.phase, whole && claim.players.len() == 2) {
            check_counts(claim, phase, &board, problems);
        }
        if claim.phase == Some(Phase::Setup) && claim.consecutive_passes > 0 {
            problems.add("consecutive_passes", "pass_in_setup", "nobody passes while stones are placed");
        }
        // What follows looks at the position as a whole, which only exists when its parts are sound.
        let phase = claim.phase.filter(|_| problems.is_empty())?;
        let position = Position {
            board,
            to_move: claim.to_move as u8,
            walls_left,
            passes: u8::try_from(claim.consecutive_passes).unwrap_or(u8::MAX),
        };
        if phase == Phase::Play {
            check_passes(&rules, &position, problems);
            if position.end(&rules).is_some() {
                let why = if board.territory().mixed == 0 { "no region holds both players" } else { "nobody can build" };
                problems.add("", "game_over", format!("the game is over: {why}"));
            }
        }
        if !problems.is_empty() {
            return None;
        }
        warn(claim, phase, &position, warnings);
        Some(Self { rules, phase, position })
    }
}

/// Reads the readable form. True when both players' pieces are sound cells.
fn read_lists(claim: &Claim, board: &mut Board, problems: &mut Violations) -> bool {
    let before = problems.len();
    let mut taken = [0; 2];
    for (i, player) in claim.players.iter().enumerate() {
        for (j, &(row, col)) in player.pieces.iter().enumerate() {
            let mut bad = |code, text: Arguments<'_>| {
                problems.add(format_args!("players[{i}].pieces[{j}]"), code, text);
            };
            let Some(cell) = Cell::at(row, col) else {
                bad("off_board", format_args!("({row}, {col}): rows and columns are 0 to 6"));
                continue;
            };
            if i >= 2 {
                continue;
            }
            if taken[i] & cell.bit() != 0 {
                bad("cell_twice", format_args!("({row}, {col}) is listed already"));
            } else if taken[1 - i] & cell.bit() != 0 {
                bad("cell_taken", format_args!("the other player stands on ({row}, {col})"));
            }
            taken[i] |= cell.bit();
        }
    }
    let sound = problems.len() == before;
    board.pieces = taken;
    let mut read = |name: &str, list: &[(u32, u32)], edges: Cells, border: &str| {
        let mut walls = 0;
        for (k, &(row, col)) in list.iter().enumerate() {
            let mut bad = |code, text: Arguments<'_>| problems.add(format_args!("{name}[{k}]"), code, text);
            match Cell::at(row, col) {
                None => bad("off_board", format_args!("({row}, {col}): rows and columns are 0 to 6")),
                Some(cell) if edges & cell.bit() == 0 => {
                    bad("border", format_args!("({row}, {col}) has the border on its {border} side"));
                }
                Some(cell) if walls & cell.bit() != 0 => {
                    bad("wall_twice", format_args!("the {border} wall of ({row}, {col}) is listed already"));
                }
                Some(cell) => walls |= cell.bit(),
            }
            if claim.phase == Some(Phase::Setup) {
                bad("wall_in_setup", format_args!("no wall can stand while stones are placed"));
            }
        }
        walls
    };
    board.east &= !read("east_walls", &claim.east_walls, EAST_EDGES, "east");
    board.south &= !read("south_walls", &claim.south_walls, SOUTH_EDGES, "south");
    sound
}

/// Reads the masks. True when both players' pieces are sound cells.
fn read_masks(claim: &Claim, masks: &ClaimedMasks, board: &mut Board, problems: &mut Violations) -> bool {
    let listed = claim.players.iter().any(|player| !player.pieces.is_empty());
    if listed || !claim.east_walls.is_empty() || !claim.south_walls.is_empty() {
        problems.add("compact", "both_forms", "the board is given as masks or as lists, not both");
        return false;
    }
    let before = problems.len();
    for (i, &mask) in masks.pieces.iter().enumerate() {
        if mask & !super::board::ALL != 0 {
            problems.add(format_args!("compact.pieces[{i}]"), "off_board", "only bits 0 to 48 are cells");
        }
    }
    if let &[a, b] = masks.pieces.as_slice() {
        if a & b != 0 {
            problems.add("compact.pieces[1]", "cell_taken", "both players stand on one cell");
        }
        board.pieces = [a, b];
    } else {
        problems.add("compact.pieces", "player_count", format!("{} masks; 2 play", masks.pieces.len()));
    }
    let sound = problems.len() == before;
    for (name, mask, edges) in [("east", masks.east, EAST_EDGES), ("south", masks.south, SOUTH_EDGES)] {
        let path = format!("compact.{name}");
        if mask & !super::board::ALL != 0 {
            problems.add(&path, "off_board", "only bits 0 to 48 are cells");
        }
        if mask & super::board::ALL & !edges != 0 {
            problems.add(&path, "border", format!("a cell with the border on its {name} side"));
        }
        if mask != 0 && claim.phase == Some(Phase::Setup) {
            problems.add(&path, "wall_in_setup", "no wall can stand while stones are placed");
        }
    }
    board.east &= !masks.east;
    board.south &= !masks.south;
    sound
}

fn read_walls_left(claim: &Claim, problems: &mut Violations) -> [u8; 2] {
    let limit = claim.rules.wall_limit;
    let mut left = [UNLIMITED; 2];
    if limit == 0 {
        return left;
    }
    for (i, player) in claim.players.iter().enumerate().take(2) {
        let path = || format!("players[{i}].walls_left");
        match player.walls_left {
            None => problems.add(path(), "walls_left_missing", format!("wall_limit={limit} needs it")),
            Some(walls) if walls > u32::from(limit) => {
                problems.add(path(), "walls_left_high", format!("{walls}, but the limit is {limit}"));
            }
            Some(walls) => left[i] = walls as u8,
        }
    }
    left
}

/// Piece counts: four each in play, a prefix of the order of placements in the setup.
fn check_counts(claim: &Claim, phase: Phase, board: &Board, problems: &mut Violations) {
    let path = |player: usize| match claim.compact {
        Some(_) => format!("compact.pieces[{player}]"),
        None => format!("players[{player}].pieces"),
    };
    let counts = board.pieces.map(Cells::count_ones);
    for (player, &count) in counts.iter().enumerate().take(claim.players.len()) {
        if count > 4 {
            problems.add(path(player), "too_many_pieces", format!("{count} pieces; a player has four"));
        } else if phase == Phase::Play && count < 4 {
            problems.add(path(player), "too_few_pieces", format!("{count} pieces; in PLAY a player has four"));
        }
    }
    if phase == Phase::Play || claim.rules.setup == Setup::Given {
        return;
    }
    if counts == [4, 4] {
        problems.add("phase", "setup_done", "all eight pieces stand: the phase is PLAY");
        return;
    }
    let setup = claim.rules.setup;
    let fixed = setup.fixed();
    let mut missing = false;
    for (player, &stones) in fixed.iter().enumerate() {
        if board.pieces[player] & stones != stones {
            missing = true;
            let text = if player == 0 { "A starts on (1,1) and (5,5)" } else { "B starts on (1,5) and (5,1)" };
            problems.add(path(player), "fixed_stone_missing", text);
        }
    }
    if missing || counts.iter().any(|count| *count > 4) {
        return;
    }
    let order = setup.order();
    let fixed_counts = fixed.map(Cells::count_ones);
    let placed = (counts[0] + counts[1] - fixed_counts[0] - fixed_counts[1]) as usize;
    let by_b = order.iter().take(placed).filter(|player| **player == 1).count() as u32;
    if counts[1] - fixed_counts[1] != by_b {
        problems.add("players", "setup_order", format!("{} and {} pieces: not in this order", counts[0], counts[1]));
    } else if order.get(placed).is_some_and(|next| u32::from(*next) != claim.to_move) && claim.to_move <= 1 {
        problems.add("to_move", "setup_order", format!("player {} places next", order[placed]));
    }
}

/// Whether the passes before the position can have happened. Under `ROUND_TRIP_ONLY` a side may have skipped because
/// it was hemmed in, and the board does not tell.
fn check_passes(rules: &Rules, position: &Position, problems: &mut Violations) {
    if rules.stay != Stay::Always || position.passes == 0 {
        return;
    }
    let can_have = |player: usize| {
        let boxed = position.board.boxed(position.board.pieces[player]) != 0;
        boxed && rules.passes() || position.walls_left[player] == 0
    };
    let (mover, other) = (position.mover(), 1 - position.mover());
    if !can_have(other) || position.passes >= 2 && !can_have(mover) {
        let who = if can_have(other) { mover } else { other };
        let text = format!("player {who} cannot have passed: no boxed piece");
        problems.add("consecutive_passes", "nobody_passed", text);
    }
}

fn warn(claim: &Claim, phase: Phase, position: &Position, warnings: &mut Vec<Warning>) {
    let rules = &claim.rules;
    let mut warn = |field: &str, code, text: String| warnings.push(Warning { field: field.to_owned(), code, text });
    if claim.wall_owners {
        warn("wall_owners", "WALL_OWNERS_IGNORED", "wall owners have no meaning in wallgo.v1".to_owned());
    }
    if rules.wall_limit == 0 {
        for (i, _) in claim.players.iter().enumerate().filter(|(_, player)| player.walls_left.is_some()) {
            let field = format!("players[{i}].walls_left");
            warn(&field, "WALLS_LEFT_IGNORED", "without a wall_limit nobody counts walls".to_owned());
        }
    } else {
        let limit = u32::from(rules.wall_limit);
        let spent: u32 = position.walls_left.iter().map(|left| limit - u32::from(*left)).sum();
        let standing = position.board.walls();
        if spent > standing {
            warn("players", "WALLS_LEFT_SUM", format!("{spent} walls spent, {standing} on the board"));
        }
    }
    if phase == Phase::Setup {
        if rules.first_mover == FirstMover::Explicit {
            let text = "who moves first is not known yet: the last placer is assumed".to_owned();
            warn("switches.first_mover", "FIRST_MOVER_ASSUMED", text);
        }
        return;
    }
    let all = position.board.pieces[0] | position.board.pieces[1];
    let telling = rules.stay == Stay::Always
        && rules.setup != Setup::Given
        && rules.first_mover != FirstMover::Explicit
        && position.board.boxed(all) == 0
        && position.walls_left.iter().all(|left| *left > 0);
    let expected = (position.board.walls() as u8 & 1) ^ rules.first_player();
    if telling && expected != position.to_move {
        let text = format!("{} walls stand: player {expected} should be to move", position.board.walls());
        warn("to_move", "TO_MOVE_PARITY", text);
    }
}
