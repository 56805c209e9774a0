//! Reading the data files, and the slow ways to answers that the program finds fast.

use std::path::Path;

use serde_json::Value;
use understudy::games::apple::{Board, Rectangle};

/// The list called `key` in a file of cases.
pub fn list(file: &str, key: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/apple").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let whole: Value = serde_json::from_str(&text).expect("the file is JSON");
    whole[key].as_array().unwrap_or_else(|| panic!("{file} has a list {key}")).clone()
}

pub fn board(case: &Value) -> Board {
    let text = case["board"].as_str().expect("a board");
    Board::parse(text).expect("a board of digits")
}

pub fn number(value: &Value) -> u32 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number")) as u32
}

pub fn numbers(value: &Value) -> Vec<u32> {
    value.as_array().unwrap_or_else(|| panic!("{value} is a list")).iter().map(number).collect()
}

pub fn rectangle(value: &Value) -> Rectangle {
    let limits = numbers(value);
    Rectangle::new(limits[0] as u8, limits[1] as u8, limits[2] as u8, limits[3] as u8)
}

pub fn rectangles(value: &Value) -> Vec<Rectangle> {
    value.as_array().expect("a list").iter().map(rectangle).collect()
}

/// The apples inside, as cells.
pub fn apples_in(board: &Board, r: Rectangle) -> Vec<usize> {
    let mut cells = Vec::new();
    for row in r.row_min..=r.row_max {
        for column in r.col_min..=r.col_max {
            if board.at(row.into(), column.into()) != 0 {
                cells.push(usize::from(row) * board.columns() + usize::from(column));
            }
        }
    }
    cells
}

fn sum_in(board: &Board, r: Rectangle) -> u32 {
    apples_in(board, r).iter().map(|&cell| u32::from(board.cells()[cell])).sum()
}

/// Whether a rectangle sums to ten and touches an apple with each side.
pub fn is_legal(board: &Board, r: Rectangle) -> bool {
    let sides = [
        Rectangle { row_max: r.row_min, ..r },
        Rectangle { row_min: r.row_max, ..r },
        Rectangle { col_max: r.col_min, ..r },
        Rectangle { col_min: r.col_max, ..r },
    ];
    sum_in(board, r) == 10 && sides.iter().all(|side| sum_in(board, *side) > 0)
}

/// Every canonical legal rectangle, by looking at every rectangle and every cell in it.
pub fn obvious_legal(board: &Board) -> Vec<Rectangle> {
    let (rows, columns) = (board.rows() as u8, board.columns() as u8);
    let mut found = Vec::new();
    for row_min in 0..rows {
        for col_min in 0..columns {
            for row_max in row_min..rows {
                for col_max in col_min..columns {
                    let r = Rectangle::new(row_min, col_min, row_max, col_max);
                    if is_legal(board, r) {
                        found.push(r);
                    }
                    if sum_in(board, r) > 10 {
                        break;
                    }
                }
            }
        }
    }
    found
}

/// Plays a list of rectangles, each of which must be canonical and legal when its turn comes; apples cleared.
pub fn replay(board: &Board, moves: &[Rectangle]) -> u32 {
    let mut board = *board;
    let mut score = 0;
    for (i, &r) in moves.iter().enumerate() {
        assert!(is_legal(&board, r), "move {i}, {r:?}, is not legal on {board}");
        for cell in apples_in(&board, r) {
            board.clear(cell);
            score += 1;
        }
    }
    score
}
