//! Wall Go (벽바둑): two players, four pieces each, 7x7 cells. A turn moves one own piece up to two steps and then builds
//! a wall beside it. When no connected region holds pieces of both players the game is over; the cells of regions with
//! pieces of one player only are his, and more cells win.
//!
//! The game was shown in *The Devil's Plan*, season 2 (2025). No official rule book is known; the default follows the
//! Korean development diary "벽바둑 봇 개발기", other readings are switches ([`rules::Rules`]).
//!
//! Words: a region is pure (순수) with pieces of exactly one player, mixed (혼합) with both, neutral (중립) with none.
//! A piece is boxed when its cell has no open side.

pub mod action;
pub mod board;
pub mod ending;
pub mod family;
pub mod leaf;
pub mod placing;
pub mod policies;
pub mod proof;
pub mod reserve;
pub mod rules;
pub mod search;
pub mod state;
pub mod survey;
pub mod table;
pub mod terms;
pub mod view;
mod wire;

use action::{Move, Turn};
use board::{Board, Cell, SIDE, each};
use policies::searching::Searching;
use rules::{Pass, Stay};
use view::{Phase, View};

use crate::bot::{Game, Roster};

/// The marker type of this game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wallgo;

impl Game for Wallgo {
    const KEY: &'static str = "wallgo";
    const KINDS: &'static [&'static str] = &["place", "build", "pass", "skip"];
    const RULESETS: &'static [&'static str] = &[wire::RULESET];
    const UNIT: &'static str = "cells";
    type View = View;
    type Move = Move;
    type Terms = terms::WallgoTerms;

    fn legal(view: &View) -> Vec<Move> {
        state::legal(view)
    }

    fn refused(view: &View) -> Vec<(Move, &'static str)> {
        refused(view)
    }

    fn kind(mv: &Move) -> &'static str {
        match mv {
            Move::Place(_) => "place",
            Move::Turn(turn) if turn.wall().is_some() => "build",
            Move::Turn(_) => "pass",
            Move::Skip => "skip",
        }
    }

    fn key(mv: &Move) -> String {
        mv.key()
    }

    fn parse_key(key: &str) -> Option<Move> {
        Move::parse(key)
    }

    fn picture(view: &View) -> String {
        let position = view.position();
        let name = ["A", "B"][position.mover()];
        let what = match view.phase() {
            Phase::Setup => "places a stone",
            Phase::Play => "moves",
        };
        format!("{}{name} {what}\n", picture(&position.board))
    }

    fn roster() -> Roster<Self> {
        Roster::default()
            .bot("easy", policies::easy::Easy::default())
            .bot("normal", Searching::normal())
            .bot("expert", Searching::expert())
            .bot("sedol", Searching::sedol())
            .sparring("plain", Searching::plain())
            .sparring("expert-fast", Searching::expert_fast())
            .sparring("expert-scattered", policies::scattering::Scattering::default())
    }
}

/// The board as text: pieces A and B, walls as bars and dashes, the border all around.
pub fn picture(board: &Board) -> String {
    let mut text = String::from("    0   1   2   3   4   5   6\n");
    let border = format!("  +{}\n", "---+".repeat(usize::from(SIDE)));
    text.push_str(&border);
    for row in 0..SIDE {
        let mut cells = format!("{row} |");
        let mut below = String::from("  +");
        for col in 0..SIDE {
            let cell = Cell(row * SIDE + col).bit();
            let piece = match (board.pieces[0] & cell != 0, board.pieces[1] & cell != 0) {
                (true, _) => 'A',
                (_, true) => 'B',
                _ => ' ',
            };
            let east = if col == 6 || board.east & cell == 0 { '|' } else { ' ' };
            cells.push_str(&format!(" {piece} {east}"));
            below.push_str(if row == 6 || board.south & cell == 0 { "---+" } else { "   +" });
        }
        text.push_str(&cells);
        text.push('\n');
        text.push_str(&below);
        text.push('\n');
    }
    text
}

/// What a player would ask about: standing still without a wall, and actions that a switch forbids.
fn refused(view: &View) -> Vec<(Move, &'static str)> {
    let (rules, position) = (view.rules(), view.position());
    let board = &position.board;
    if view.phase() == Phase::Setup {
        let taken = board.pieces[0] | board.pieces[1];
        return each(taken).map(|cell| (Move::Place(cell), "cell_taken")).collect();
    }
    let mine = board.pieces[position.mover()];
    let mixed = board.territory().mixed;
    let mut list = Vec::new();
    for cell in each(mine) {
        let pass = Move::Turn(Turn::pass(cell));
        if board.boxed(cell.bit()) == 0 {
            list.push((pass, "pass_needs_boxed_piece"));
        } else if rules.pass == Pass::None {
            list.push((pass, "pass_none"));
        } else if !rules.sealed_may_act {
            list.push((pass, "sealed_piece"));
        }
        let why = if !rules.sealed_may_act && cell.bit() & mixed == 0 {
            "sealed_piece"
        } else if position.walls_left[position.mover()] == 0 {
            "no_walls_left"
        } else if rules.stay == Stay::RoundTripOnly && board.step(cell.bit()) & board.empty() == 0 {
            "stay_needs_round_trip"
        } else {
            continue;
        };
        let stays = board::Side::ALL.into_iter().filter(|side| board.open(cell.bit(), *side) != 0);
        list.extend(stays.map(|side| (Move::Turn(Turn::build(cell, cell, side)), why)));
    }
    list
}
