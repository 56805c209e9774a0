//! The rules `wallgo.v1`: what may be done, what it leads to, when it is over and who has won.

use super::action::{Move, Turn};
use super::board::{ALL, Board, Cell, Cells, Side, Territory, each};

/// Order of the placements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Setup {
    /// Two fixed stones each, then A B A B.
    #[default]
    Fixed2Abab,
    /// Two fixed stones each, then A B B A.
    Fixed2Abba,
    /// All eight are placed: A B B A A B B A.
    FreeAbbaabba,
    /// The game starts with all stones on the board.
    Given,
}

impl Setup {
    /// The stones that stand before anybody places one.
    pub const fn fixed(self) -> [Cells; 2] {
        match self {
            Self::Fixed2Abab | Self::Fixed2Abba => [1 << 8 | 1 << 40, 1 << 12 | 1 << 36],
            Self::FreeAbbaabba | Self::Given => [0, 0],
        }
    }

    /// Who places, one entry a stone.
    pub const fn order(self) -> &'static [u8] {
        match self {
            Self::Fixed2Abab => &[0, 1, 0, 1],
            Self::Fixed2Abba => &[0, 1, 1, 0],
            Self::FreeAbbaabba => &[0, 1, 1, 0, 0, 1, 1, 0],
            Self::Given => &[],
        }
    }
}

/// Who makes the first turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FirstMover {
    /// Whoever placed the last stone.
    #[default]
    LastPlacer,
    /// Whoever placed the first.
    FirstPlacer,
    /// The view says so.
    Explicit,
}

/// Whether a piece may build where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stay {
    /// Always.
    #[default]
    Always,
    /// Only where it could step out and back.
    RoundTripOnly,
}

/// Whether a boxed piece may pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pass {
    /// It may. The name is historical.
    #[default]
    SealedOnly,
    /// Nobody passes.
    None,
}

/// What decides equal totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TieBreak {
    /// Nothing: a draw.
    #[default]
    Draw,
    /// The largest own region.
    LargestRegion,
    /// The own regions by falling size, a missing one losing.
    RegionLexicographic,
}

/// Every switch of the rules. The default is `wallgo.v1` as it is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// Order of the placements.
    pub setup: Setup,
    /// Who makes the first turn.
    pub first_mover: FirstMover,
    /// Whether a piece may build where it stands.
    pub stay: Stay,
    /// Whether a boxed piece may pass.
    pub pass: Pass,
    /// Whether a piece in a pure region may act at all.
    pub sealed_may_act: bool,
    /// What decides equal totals.
    pub tie_break: TieBreak,
    /// Walls per player; 0 is no limit.
    pub wall_limit: u8,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            setup: Setup::default(),
            first_mover: FirstMover::default(),
            stay: Stay::default(),
            pass: Pass::default(),
            sealed_may_act: true,
            tie_break: TieBreak::default(),
            wall_limit: 0,
        }
    }
}

impl Rules {
    /// The name and every switch: `wallgo.v1 setup=FIXED2_ABAB first_mover=LAST_PLACER ...`.
    pub fn resolved(&self) -> String {
        let setup = match self.setup {
            Setup::Fixed2Abab => "FIXED2_ABAB",
            Setup::Fixed2Abba => "FIXED2_ABBA",
            Setup::FreeAbbaabba => "FREE_ABBAABBA",
            Setup::Given => "GIVEN",
        };
        let first_mover = match self.first_mover {
            FirstMover::LastPlacer => "LAST_PLACER",
            FirstMover::FirstPlacer => "FIRST_PLACER",
            FirstMover::Explicit => "EXPLICIT",
        };
        let stay = match self.stay {
            Stay::Always => "ALWAYS",
            Stay::RoundTripOnly => "ROUND_TRIP_ONLY",
        };
        let pass = match self.pass {
            Pass::SealedOnly => "SEALED_ONLY",
            Pass::None => "NONE",
        };
        let tie_break = match self.tie_break {
            TieBreak::Draw => "DRAW",
            TieBreak::LargestRegion => "LARGEST_REGION",
            TieBreak::RegionLexicographic => "REGION_LEXICOGRAPHIC",
        };
        format!(
            "wallgo.v1 setup={setup} first_mover={first_mover} stay={stay} pass={pass} sealed_may_act={} \
             tie_break={tie_break} wall_limit={}",
            self.sealed_may_act, self.wall_limit
        )
    }

    /// Sets one switch by its name and value, as [`Self::resolved`] spells them; capitals do not matter.
    pub fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match (name, value.to_ascii_uppercase().as_str()) {
            ("setup", "FIXED2_ABAB") => self.setup = Setup::Fixed2Abab,
            ("setup", "FIXED2_ABBA") => self.setup = Setup::Fixed2Abba,
            ("setup", "FREE_ABBAABBA") => self.setup = Setup::FreeAbbaabba,
            ("setup", "GIVEN") => self.setup = Setup::Given,
            ("first_mover", "LAST_PLACER") => self.first_mover = FirstMover::LastPlacer,
            ("first_mover", "FIRST_PLACER") => self.first_mover = FirstMover::FirstPlacer,
            ("first_mover", "EXPLICIT") => self.first_mover = FirstMover::Explicit,
            ("stay", "ALWAYS") => self.stay = Stay::Always,
            ("stay", "ROUND_TRIP_ONLY") => self.stay = Stay::RoundTripOnly,
            ("pass", "SEALED_ONLY") => self.pass = Pass::SealedOnly,
            ("pass", "NONE") => self.pass = Pass::None,
            ("sealed_may_act", "TRUE") => self.sealed_may_act = true,
            ("sealed_may_act", "FALSE") => self.sealed_may_act = false,
            ("tie_break", "DRAW") => self.tie_break = TieBreak::Draw,
            ("tie_break", "LARGEST_REGION") => self.tie_break = TieBreak::LargestRegion,
            ("tie_break", "REGION_LEXICOGRAPHIC") => self.tie_break = TieBreak::RegionLexicographic,
            ("wall_limit", "0") => self.wall_limit = 0,
            ("wall_limit", "20") => self.wall_limit = 20,
            ("wall_limit", "25") => self.wall_limit = 25,
            _ => return None,
        }
        Some(())
    }

    /// The player who makes the first turn, where the setup tells. `EXPLICIT` and `GIVEN` count as the last placer,
    /// and of no stones B is the last.
    pub fn first_player(&self) -> u8 {
        let order = self.setup.order();
        match self.first_mover {
            FirstMover::FirstPlacer => order.first().copied().unwrap_or(1),
            FirstMover::LastPlacer | FirstMover::Explicit => order.last().copied().unwrap_or(1),
        }
    }

    /// Whether boxed pieces pass.
    pub const fn passes(&self) -> bool {
        matches!(self.pass, Pass::SealedOnly) && self.sealed_may_act
    }
}

/// A game under way: all stones stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Pieces and walls.
    pub board: Board,
    /// The player to move, 0 (A) or 1 (B).
    pub to_move: u8,
    /// Walls each player may still build; [`UNLIMITED`] without a limit.
    pub walls_left: [u8; 2],
    /// Passes and skips directly before this position.
    pub passes: u8,
}

/// Walls left where nobody counts them.
pub const UNLIMITED: u8 = u8::MAX;

/// How a game ended by its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// No region holds pieces of both.
    Separated,
    /// Neither side could build.
    Blocked,
}

impl Position {
    /// The player to move, as an index.
    #[inline]
    pub const fn mover(&self) -> usize {
        self.to_move as usize
    }

    /// The pieces of `player` that may act.
    #[inline]
    fn actors(&self, rules: &Rules, player: usize) -> Cells {
        let mine = self.board.pieces[player];
        if rules.sealed_may_act { mine } else { mine & self.board.territory().mixed }
    }

    /// Calls `visit` with every turn of `player`, as if it were to move: ascending slots, equal successors not merged.
    pub fn each_turn(&self, rules: &Rules, player: usize, mut visit: impl FnMut(Turn)) {
        let board = &self.board;
        let empty = board.empty();
        for from in each(self.actors(rules, player)) {
            let piece = from.bit();
            if board.boxed(piece) != 0 {
                if rules.passes() {
                    visit(Turn::pass(from));
                }
                continue;
            }
            if self.walls_left[player] == 0 {
                continue;
            }
            let stays = match rules.stay {
                Stay::Always => piece,
                Stay::RoundTripOnly if board.step(piece) & empty != 0 => piece,
                Stay::RoundTripOnly => 0,
            };
            for to in each(board.destinations(piece, empty) | stays) {
                for side in Side::ALL {
                    if board.open(to.bit(), side) != 0 {
                        visit(Turn::build(from, to, side));
                    }
                }
            }
        }
    }

    /// Whether the side to move may build like this. Cheaper than listing all turns.
    #[inline]
    pub fn may_build(&self, rules: &Rules, turn: Turn) -> bool {
        let (board, from, to) = (&self.board, turn.from().bit(), turn.to().bit());
        let Some(side) = turn.wall() else { return false };
        let empty = board.empty();
        if self.actors(rules, self.mover()) & from == 0 || board.open(to, side) == 0 || self.walls_left[self.mover()] == 0
        {
            return false;
        }
        if from == to {
            return rules.stay == Stay::Always || board.step(from) & empty != 0;
        }
        board.destinations(from, empty) & to != 0
    }

    /// Whether `player` could build if it were to move.
    #[inline]
    pub fn can_build(&self, rules: &Rules, player: usize) -> bool {
        if self.walls_left[player] == 0 {
            return false;
        }
        let actors = self.actors(rules, player);
        match rules.stay {
            Stay::Always => actors & !self.board.boxed(actors) != 0,
            Stay::RoundTripOnly => self.board.step(actors) & self.board.empty() != 0,
        }
    }

    /// How many turns [`Self::each_turn`] would visit, and how many of them are passes.
    #[inline]
    pub fn count_turns(&self, rules: &Rules, player: usize) -> (u32, u32) {
        let board = &self.board;
        let empty = board.empty();
        let actors = self.actors(rules, player);
        let boxed = board.boxed(actors);
        let passes = if rules.passes() { boxed.count_ones() } else { 0 };
        let mut builds = 0;
        if self.walls_left[player] > 0 {
            let mut movers = actors & !boxed;
            while movers != 0 {
                let piece = movers & movers.wrapping_neg();
                movers ^= piece;
                let moves = board.destinations(piece, empty);
                let stays = if rules.stay == Stay::Always || moves != 0 { piece } else { 0 };
                builds += sides(board, moves | stays);
            }
        }
        (builds + passes, passes)
    }

    /// Action sequences of length `depth` from here; a finished game has none. Equal successors are not merged.
    pub fn perft(&self, rules: &Rules, depth: u32) -> u64 {
        if self.end(rules).is_some() {
            return 0;
        }
        let (turns, _) = self.count_turns(rules, self.mover());
        match (depth, turns) {
            (0, _) => 1,
            (1, _) => u64::from(turns.max(1)),
            (_, 0) => self.after(Move::Skip).perft(rules, depth - 1),
            _ => {
                let mut total = 0;
                self.each_turn(rules, self.mover(), |turn| {
                    total += self.after(Move::Turn(turn)).perft(rules, depth - 1);
                });
                total
            }
        }
    }

    /// Every legal action, ascending, equal successors not merged. Exactly [`Move::Skip`] when nothing else exists.
    pub fn actions(&self, rules: &Rules) -> Vec<Move> {
        let mut all = Vec::with_capacity(128);
        self.each_turn(rules, self.mover(), |turn| all.push(Move::Turn(turn)));
        if all.is_empty() {
            all.push(Move::Skip);
        }
        all
    }

    /// Whether a lower turn of the same player leads to the same position: two passes, or the wall between two
    /// adjacent own pieces, built by either without moving. Nothing else merges.
    #[inline]
    pub fn repeats_a_lower(&self, rules: &Rules, turn: Turn) -> bool {
        if turn.from() != turn.to() {
            return false;
        }
        let (mine, piece) = (self.board.pieces[self.mover()], turn.from().bit());
        let twin = match turn.wall() {
            None => return self.board.boxed(mine) & (piece - 1) != 0,
            Some(Side::North) => piece >> 7,
            Some(Side::West) => piece >> 1,
            Some(Side::East | Side::South) => return false,
        };
        let stays = rules.stay == Stay::Always || self.board.step(twin) & self.board.empty() != 0;
        mine & twin != 0 && stays
    }

    /// The candidates: the lowest action of each successor.
    pub fn candidates(&self, rules: &Rules) -> Vec<Move> {
        let mut all = self.actions(rules);
        all.retain(|mv| !matches!(mv, Move::Turn(turn) if self.repeats_a_lower(rules, *turn)));
        all
    }

    /// The slots of the other actions that lead where `turn` leads.
    pub fn same_slots(&self, rules: &Rules, turn: Turn) -> Vec<u32> {
        let target = self.after(Move::Turn(turn));
        let mut slots = Vec::new();
        self.each_turn(rules, self.mover(), |other| {
            if other != turn && other.wall().is_some() == turn.wall().is_some() && self.after(Move::Turn(other)) == target
            {
                slots.extend(other.slot());
            }
        });
        slots
    }

    /// Whether the action is legal; merged ones included.
    pub fn allows(&self, rules: &Rules, mv: Move) -> bool {
        self.actions(rules).contains(&mv)
    }

    /// The position after an action. Placements change nothing here.
    #[inline(always)]
    #[must_use]
    pub const fn after(&self, mv: Move) -> Self {
        let mut next = *self;
        next.to_move = 1 - self.to_move;
        if let Move::Turn(turn) = mv {
            next.board = turn.apply(&self.board, self.mover());
            if turn.wall().is_some() {
                next.passes = 0;
                if next.walls_left[self.mover()] != UNLIMITED {
                    next.walls_left[self.mover()] -= 1;
                }
                return next;
            }
        }
        next.passes = self.passes.saturating_add(1);
        next
    }

    /// How the game has ended, if it has.
    pub fn end(&self, rules: &Rules) -> Option<End> {
        if self.board.territory().mixed == 0 {
            Some(End::Separated)
        } else {
            self.blocked(rules).then_some(End::Blocked)
        }
    }

    /// Whether nothing can change any more although a mixed region is left. Never under the default rules.
    #[inline]
    pub fn blocked(&self, rules: &Rules) -> bool {
        let never = matches!(rules.stay, Stay::Always) && rules.wall_limit == 0;
        !never && !self.can_build(rules, 0) && !self.can_build(rules, 1)
    }
}

/// Open sides of all of `cells`, each cell counted on its own.
#[inline]
const fn sides(board: &Board, cells: Cells) -> u32 {
    (cells & board.east).count_ones()
        + (cells & (board.east << 1)).count_ones()
        + (cells & board.south).count_ones()
        + (cells & (board.south << 7)).count_ones()
}

/// What a finished board is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// Cells of A and of B.
    pub cells: [u32; 2],
    /// 0 or 1; `None` is a draw.
    pub winner: Option<u8>,
}

/// The score of a board: cells in own pure regions.
pub fn score(rules: &Rules, board: &Board, territory: &Territory) -> Score {
    let cells = [territory.pure[0].count_ones(), territory.pure[1].count_ones()];
    let order = cells[0].cmp(&cells[1]).then_with(|| match rules.tie_break {
        TieBreak::Draw => std::cmp::Ordering::Equal,
        TieBreak::LargestRegion => {
            let largest = |player: usize| falling_sizes(board, territory.pure[player])[0];
            largest(0).cmp(&largest(1))
        }
        TieBreak::RegionLexicographic => {
            falling_sizes(board, territory.pure[0]).cmp(&falling_sizes(board, territory.pure[1]))
        }
    });
    let winner = match order {
        std::cmp::Ordering::Less => Some(1),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(0),
    };
    Score { cells, winner }
}

/// Region sizes in falling order; at most four, as each holds a piece. Missing ones are 0.
fn falling_sizes(board: &Board, pure: Cells) -> [u32; 4] {
    let mut sizes = [0; 4];
    for (place, region) in sizes.iter_mut().zip(board.regions(pure)) {
        *place = region.count_ones();
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

/// The cells a stone may be placed on.
pub fn placements(board: &Board) -> impl Iterator<Item = Cell> {
    each(board.empty() & ALL)
}
