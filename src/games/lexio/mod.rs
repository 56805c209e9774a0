//! Lexio (렉시오): a climbing game with sixty tiles for three to five players.
//!
//! Somebody leads one, two, three or five tiles; the others answer with as many and stronger, or pass. The first empty
//! hand ends the round, and every pair of players settles the difference of what they still hold, where each 2 in hand
//! doubles it. So the aim is chips per round.
//!
//! Rules: the publisher's (lexio.co.kr, 디다노니아); variants are the switches of [`rules::Ruleset`].
//! Words: cloud 구름, star 별, moon 달, sun 해; single 싱글, pair 페어, triple 트리플, straight 스트레이트,
//! flush 플러시, full house 풀하우스, four+1 포카드+1, straight flush 스트레이트 플러시; made hand 메이드 (any
//! five-tile meld), trick 트릭, pass 패스.

pub mod chances;
pub mod flow;
pub mod lines;
pub mod meld;
pub mod melds;
pub mod plan;
pub mod policies;
pub mod reading;
pub mod rollout;
pub mod rules;
pub mod state;
pub mod terms;
pub mod tile;
pub mod unseen;
pub mod view;
pub mod wire;
pub mod worlds;

use std::fmt::Write as _;

use crate::bot::{Game, Roster};
use meld::Meld;
use terms::LexioTerms;
use tile::{Deck, Tile, TileSet};
use view::View;

/// The game.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lexio;

/// A play or a pass. The order is that of the table: plays by Key, id sum and id list, the pass last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Move {
    /// These tiles.
    Play(Meld),
    /// Nothing; only a follower may.
    Pass,
}

impl Move {
    /// What is played, if anything.
    pub const fn meld(&self) -> Option<&Meld> {
        match self {
            Self::Play(meld) => Some(meld),
            Self::Pass => None,
        }
    }
}

/// Moves of a usual hand of twelve: few lists of moves grow beyond it.
const ROOM: usize = 64;

impl Game for Lexio {
    const KEY: &'static str = "lexio";
    const KINDS: &'static [&'static str] = &["pass", "single", "pair", "triple", "five"];
    const RULESETS: &'static [&'static str] = &["lexio.standard.v1"];
    const UNIT: &'static str = "chips";
    type View = View;
    type Move = Move;
    type Terms = LexioTerms;

    fn legal(view: &View) -> Vec<Move> {
        let mut moves = Vec::with_capacity(ROOM);
        match view.table() {
            None => melds::all(view.hand(), view.deck(), |meld| moves.push(Move::Play(meld))),
            Some((_, table)) => {
                melds::answers(view.hand(), view.deck(), table, |meld| moves.push(Move::Play(meld)));
                moves.push(Move::Pass);
            }
        }
        moves
    }

    fn kind(mv: &Move) -> &'static str {
        match mv.meld().map(Meld::count) {
            None => "pass",
            Some(1) => "single",
            Some(2) => "pair",
            Some(3) => "triple",
            Some(_) => "five",
        }
    }

    fn key(mv: &Move) -> String {
        match mv {
            Move::Pass => "pass".to_owned(),
            Move::Play(meld) => meld.tiles().joined('-'),
        }
    }

    fn parse_key(key: &str) -> Option<Move> {
        if key == "pass" {
            return Some(Move::Pass);
        }
        let tiles: Option<TileSet> = key.split('-').map(Tile::parse).collect();
        // Straights differ by deck; the tiles are the move, and the referee reads them under its own.
        let meld = [5, 4, 3].into_iter().filter_map(Deck::of).find_map(|deck| Meld::read(tiles?, deck))?;
        Some(Move::Play(meld)).filter(|mv| Self::key(mv) == key)
    }

    fn picture(view: &View) -> String {
        let mut text = String::new();
        let table = view.table().map_or_else(
            || "you lead".to_owned(),
            |(seat, meld)| format!("{} of seat {seat} ({:?})", meld.tiles(), meld.kind()),
        );
        let _ = writeln!(text, "round {}, seat {} of {}", view.round(), view.me(), view.seats());
        let _ = writeln!(text, "table   {table}");
        let _ = writeln!(text, "hand    {}", view.hand());
        for seat in view.rivals() {
            let _ = writeln!(text, "seat {seat}  {} tiles", view.counts()[usize::from(seat)]);
        }
        let _ = writeln!(text, "unseen  {}", view.unseen());
        text
    }

    fn roster() -> Roster<Self> {
        Roster::default()
            .bot("easy", policies::Easy)
            .sparring("first", policies::First)
            .bot("hard", policies::Hard::default())
            .bot("expert", policies::Expert::default())
    }
}
