//! Games played out to the end: the greedy rule, and the same with random ties.

use super::board::Board;
use super::moves::Move;
use super::rects::{Ground, Play, Rectangle, Spot};
use super::rules::Count;
use crate::bot::Rng;

/// A game that has been played to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Apples cleared.
    pub score: u32,
    /// The rectangles, in order.
    pub moves: Vec<Rectangle>,
}

impl Line {
    /// Takes in one more move.
    pub fn push<const N: usize>(&mut self, spot: &Spot<N>) {
        self.score += u32::from(spot.apples);
        self.moves.push(spot.rectangle);
    }
}

/// What "fewer cells" counts.
#[inline]
pub fn cells(apples: u8, rectangle: Rectangle, count: Count) -> u32 {
    match count {
        Count::Apples => u32::from(apples),
        Count::Area => rectangle.area(),
    }
}

/// The greedy rule as one number to minimise: largest apple first, then fewest cells.
#[inline]
fn greed<const N: usize>(spot: &Spot<N>, count: Count) -> u32 {
    u32::from(9 - spot.largest) << 16 | cells(spot.apples, spot.rectangle, count)
}

/// The move of the greedy rule with tie v1: minimise `(-largest, cells, row_min, col_min, row_max, col_max)`.
#[inline]
pub fn greediest<const N: usize>(spots: &[Spot<N>], count: Count) -> Option<&Spot<N>> {
    spots.iter().min_by_key(|spot| u64::from(greed(spot, count)) << 32 | u64::from(spot.rectangle.place()))
}

/// The move of the greedy rule on a board, if any is left.
pub fn greedy_move(board: &Board, count: Count) -> Option<Move> {
    fn run<const N: usize, G: Ground<N>>(board: &Board, count: Count) -> Option<Move> {
        greediest(Play::<N, G>::new(board).spots(), count).map(Move::from)
    }
    sized!(board, run(board, count))
}

/// Plays the greedy rule to the end and hands over every move. The list in `play` loses its order.
pub fn finish_greedily<const N: usize, G: Ground<N>>(play: &mut Play<N, G>, count: Count, mut each: impl FnMut(&Spot<N>)) {
    while let Some(&spot) = greediest(play.spots(), count) {
        each(&spot);
        play.advance_unordered(&spot);
    }
}

/// One of the moves with the smallest key, drawn evenly in row-major order; a single one costs no draw.
#[inline]
pub fn draw<'a, const N: usize>(
    spots: &'a [Spot<N>],
    rng: &mut Rng,
    key: impl Fn(&Spot<N>) -> u32,
) -> Option<&'a Spot<N>> {
    let mut least = u32::MAX;
    let mut ties = 0u64;
    for spot in spots {
        let key = key(spot);
        if key < least {
            (least, ties) = (key, 1);
        } else if key == least {
            ties += 1;
        }
    }
    let drawn = if ties > 1 { rng.below(ties) } else { 0 };
    spots.iter().filter(|spot| key(spot) == least).nth(drawn as usize)
}

/// Plays the greedy rule with random ties to the end; apples cleared.
pub fn finish_with_random_ties<const N: usize, G: Ground<N>>(play: &mut Play<N, G>, count: Count, rng: &mut Rng) -> u32 {
    let mut score = 0;
    while let Some(&spot) = draw(play.spots(), rng, |spot| greed(spot, count)) {
        score += u32::from(spot.apples);
        play.advance(&spot);
    }
    score
}

/// The greedy game of a board.
pub fn greedy(board: &Board, count: Count) -> Line {
    fn run<const N: usize, G: Ground<N>>(board: &Board, count: Count) -> Line {
        let mut line = Line::default();
        finish_greedily(&mut Play::<N, G>::new(board), count, |spot| line.push(spot));
        line
    }
    sized!(board, run(board, count))
}

/// The stream of run `k` of greedy16.v1. It does not depend on the board: same board, same answer.
pub const fn run_seed(k: u32) -> u64 {
    0x4150_504C_4500_0000 + k as u64
}

/// Scores of the greedy games with random ties that greedy16.v1 numbers `runs.start..runs.end`.
pub fn random_tie_scores(board: &Board, count: Count, runs: std::ops::Range<u32>) -> Vec<u32> {
    fn run<const N: usize, G: Ground<N>>(board: &Board, count: Count, runs: std::ops::Range<u32>) -> Vec<u32> {
        let start = Play::<N, G>::new(board);
        let mut play = start.clone();
        runs.map(|k| {
            play.copy(&start);
            finish_with_random_ties(&mut play, count, &mut Rng::new(run_seed(k)))
        })
        .collect()
    }
    sized!(board, run(board, count, runs))
}
