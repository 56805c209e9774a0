//! Apple game (사과게임, *sagwa-geim*; Fruit Box): drag a rectangle round apples that total exactly ten, they vanish and
//! give one point each. Cleared cells stay empty: no gravity, no refill. One seat, nothing hidden, no luck after the
//! deal.
//!
//! Sources: the original "Fruit Box" by Game Saien (ゲーム菜園); the greedy rule is that of the AppleGame+ article on a
//! greedy solver for measuring a board's difficulty. Beside deciding moves the game tells how hard a board is
//! ([`assess`]).

/// Calls a function that is generic over the words of a cell set and the way rectangles are found, as the board needs.
macro_rules! sized {
    ($board:expr, $function:ident($($argument:expr),* $(,)?)) => {
        if $crate::games::apple::lanes::Lanes::fits($board) {
            $function::<3, $crate::games::apple::lanes::Lanes>($($argument),*)
        } else {
            $function::<{ $crate::games::apple::cells::WIDE }, $crate::games::apple::scan::Scan>($($argument),*)
        }
    };
}

pub mod assess;
mod beam;
pub mod board;
pub mod boards;
pub mod bound;
mod bytes;
pub mod cells;
pub mod features;
pub mod greedy;
pub mod lanes;
mod lines;
pub mod moves;
pub mod policies;
pub mod rects;
pub mod reference;
mod restarts;
pub mod rules;
pub mod scan;
pub mod state;
pub mod terms;
pub mod view;
pub mod wire;

pub use board::Board;
pub use boards::Distribution;
pub use moves::Move;
pub use rects::Rectangle;
pub use rules::{Count, Ruleset, SumCheck};
pub use view::View;

use crate::bot::{Game, Roster};

/// The game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Apple;

impl Game for Apple {
    const KEY: &'static str = "apple";
    const KINDS: &'static [&'static str] = &["pair", "group"];
    const RULESETS: &'static [&'static str] = Ruleset::NAMES;
    const UNIT: &'static str = "apples";
    type View = View;
    type Move = Move;
    type Terms = terms::AppleTerms;

    fn legal(view: &View) -> Vec<Move> {
        rects::legal(view.board())
    }

    /// Two apples, or more.
    fn kind(mv: &Move) -> &'static str {
        if mv.apples == 2 { "pair" } else { "group" }
    }

    fn key(mv: &Move) -> String {
        let Rectangle { row_min, col_min, row_max, col_max } = mv.rectangle;
        format!("{row_min},{col_min},{row_max},{col_max}")
    }

    fn parse_key(key: &str) -> Option<Move> {
        let mut limits = [0u8; 4];
        let mut parts = key.split(',');
        for limit in &mut limits {
            *limit = parts.next()?.parse().ok().filter(|&at| usize::from(at) < board::MAX_SIDE)?;
        }
        let [row_min, col_min, row_max, col_max] = limits;
        let ordered = row_min <= row_max && col_min <= col_max && parts.next().is_none();
        ordered.then(|| Move::named(Rectangle::new(row_min, col_min, row_max, col_max)))
    }

    /// The digits, row by row; a dot where the apple is gone.
    fn picture(view: &View) -> String {
        view.board().to_string().replace('0', ".").replace('/', "\n")
    }

    fn roster() -> Roster<Self> {
        Roster::default()
            .bot("easy", policies::Easy)
            .bot("normal", policies::Normal::default())
            .bot("hard", policies::Hard::default())
            .bot("expert", policies::Expert::default())
    }
}
