//! Who sits where: a deal is replayed until every player has sat in every seat that makes a difference.

use crate::bot::MatchStyle;

/// The seatings of one deal. `seats[s]` is the player of seat s; each rotation moves everybody on by one. Rotations
/// that repeat an earlier one are left out, so five equal seats give one.
pub fn rotations(seats: &[usize], rotate: bool) -> Vec<Vec<usize>> {
    let n = seats.len();
    let turned = |by: usize| (0..n).map(|seat| seats[(seat + n - by) % n]).collect::<Vec<_>>();
    let period = (1..n).find(|&by| turned(by) == seats).unwrap_or(n);
    (0..if rotate { period } else { 1 }).map(turned).collect()
}

/// The seatings of one deal in any style: alone, every player plays the deal once.
pub fn seatings(style: MatchStyle, seats: &[usize], rotate: bool) -> Vec<Vec<usize>> {
    match style {
        MatchStyle::Solo => seats.iter().map(|&player| vec![player]).collect(),
        MatchStyle::Table | MatchStyle::TwoSided => rotations(seats, rotate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_player_sits_everywhere_once() {
        assert_eq!(rotations(&[0, 1, 1], true), [[0, 1, 1], [1, 0, 1], [1, 1, 0]]);
        assert_eq!(rotations(&[0, 1], true), [[0, 1], [1, 0]]);
        assert_eq!(rotations(&[0, 1, 0, 1], true), [[0, 1, 0, 1], [1, 0, 1, 0]]);
        assert_eq!(rotations(&[0, 0, 0], true), [[0, 0, 0]]);
        assert_eq!(rotations(&[0, 1, 1], false), [[0, 1, 1]]);
        assert_eq!(seatings(MatchStyle::Solo, &[0, 1], true), [[0], [1]]);
    }
}
