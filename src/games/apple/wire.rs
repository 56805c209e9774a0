//! Messages to values and back: the only file of the game that names protobuf types.

use super::board::Board;
use super::moves::Move;
use super::rects::{self, Rectangle};
use super::rules::{Count, Ruleset, SumCheck};
use super::view::{self, Claim, View};
use super::Apple;
use crate::bot::{Checked, Reject, Violations, Wire};
use crate::pb;
use crate::pb::apple as wire;

/// The ruleset a message means; `None` with at least one violation.
fn read_ruleset(message: Option<&wire::Ruleset>, wrong: &mut Violations) -> Option<Ruleset> {
    let before = wrong.len();
    let name = message.map_or("", |ruleset| ruleset.name.as_str());
    let named = Ruleset::named(name);
    if name.is_empty() {
        wrong.add("ruleset.name", "", "missing");
    } else if named.is_none() {
        wrong.add("ruleset.name", "", format!("unknown ruleset {:?}", name.chars().take(64).collect::<String>()));
    }
    let mut ruleset = named.unwrap_or_default();
    let message = message.cloned().unwrap_or_default();
    match wire::Count::try_from(message.count) {
        Ok(wire::Count::Unspecified) => {}
        Ok(wire::Count::Apples) => ruleset.count = Count::Apples,
        Ok(wire::Count::Area) => ruleset.count = Count::Area,
        Err(_) => wrong.add("ruleset.count", "", format!("unknown value {}", message.count)),
    }
    match wire::SumCheck::try_from(message.sum_check) {
        Ok(wire::SumCheck::Unspecified) => {}
        Ok(wire::SumCheck::Warn) => ruleset.sum_check = SumCheck::Warn,
        Ok(wire::SumCheck::Require) => ruleset.sum_check = SumCheck::Require,
        Err(_) => wrong.add("ruleset.sum_check", "", format!("unknown value {}", message.sum_check)),
    }
    (wrong.len() == before).then_some(ruleset)
}

/// The board of a message, or every reason against it, under the field path `prefix` (`boards[3]`).
///
/// # Errors
/// Every violation.
pub fn read_board(prefix: &str, message: &wire::Board, sum_check: SumCheck) -> Result<Board, Reject> {
    let mut wrong = Violations::under(prefix);
    let claim = Claim { rows: message.rows, columns: message.columns, cells: &message.cells };
    let board = view::check_board(claim, Some(sum_check), &mut wrong);
    wrong.finish()?;
    board.ok_or_else(|| Reject::Invalid(Vec::new()))
}

/// The message of a board.
pub fn write_board(board: &Board) -> wire::Board {
    wire::Board {
        rows: board.rows() as u32,
        columns: board.columns() as u32,
        cells: board.cells().iter().map(|&digit| u32::from(digit)).collect(),
    }
}

/// The message of a rectangle.
pub fn write_rectangle(rectangle: Rectangle) -> wire::Rectangle {
    wire::Rectangle {
        row_min: rectangle.row_min.into(),
        col_min: rectangle.col_min.into(),
        row_max: rectangle.row_max.into(),
        col_max: rectangle.col_max.into(),
    }
}

impl Wire for Apple {
    fn opens(view: &pb::View) -> bool {
        matches!(view.game, Some(pb::view::Game::Apple(_)))
    }

    fn read(view: pb::View) -> Result<Checked<Self>, Reject> {
        let mut wrong = Violations::under("view.apple");
        let message = match view.game {
            Some(pb::view::Game::Apple(message)) => message,
            _ => wire::View::default(),
        };
        let ruleset = read_ruleset(message.ruleset.as_ref(), &mut wrong);
        let claim = Claim { rows: message.rows, columns: message.columns, cells: &message.cells };
        let board = view::check_board(claim, ruleset.map(|ruleset| ruleset.sum_check), &mut wrong);
        wrong.finish()?;
        let view = ruleset.zip(board).and_then(|(ruleset, board)| View::new(ruleset, board));
        let view = view.ok_or_else(|| Reject::Invalid(Vec::new()))?.scored(message.score);
        let board = view.board();
        if !rects::any(board) {
            let text = format!("no move is left; {} apples stay on the board", board.apples());
            return Err(Reject::NothingToDecide(text));
        }
        Ok(Checked {
            view_hash: board.hash(),
            ruleset: view.ruleset().to_string(),
            warnings: view::warnings("view.apple", board, view.score()),
            view,
        })
    }

    fn write_view(view: &View) -> pb::View {
        let board = write_board(view.board());
        let ruleset = view.ruleset();
        let count = match ruleset.count {
            Count::Apples => wire::Count::Apples,
            Count::Area => wire::Count::Area,
        };
        let sum_check = match ruleset.sum_check {
            SumCheck::Warn => wire::SumCheck::Warn,
            SumCheck::Require => wire::SumCheck::Require,
        };
        let message = wire::View {
            ruleset: Some(wire::Ruleset {
                name: ruleset.name.to_owned(),
                count: count.into(),
                sum_check: sum_check.into(),
            }),
            rows: board.rows,
            columns: board.columns,
            cells: board.cells,
            score: view.score(),
        };
        pb::View { game: Some(pb::view::Game::Apple(message)) }
    }

    /// A move carries what it clears when its turn comes, so that later moves of a plan are told rightly. One that was
    /// only named is read off the view.
    fn write_move(view: &View, mv: &Move) -> pb::Move {
        let mv = if mv.apples > 0 { *mv } else { rects::read_off(view.board(), mv.rectangle) };
        let message = wire::Move {
            rectangle: Some(write_rectangle(mv.rectangle)),
            apples: mv.apples.into(),
            largest: mv.largest.into(),
            area: mv.rectangle.area(),
            cells: mv.cells.iter().map(|cell| cell as u32).collect(),
        };
        pb::Move { game: Some(pb::r#move::Game::Apple(message)) }
    }
}
