//! What an outcome would pay and how likely it is, from public counts and the cards that cannot be placed.

use super::card::Cards;
use super::rules::Rules;
use super::view::{SeatView, View};

/// A hand has at most seven cards where sums are compared.
const CARDS: usize = 7;
/// Seven cards are worth at most this, 7s counting 14.
const SUMS: usize = 4 * 14 + 3 * 13 + 1;

/// A registered seat has laid what it could: sums are less likely by this factor a point, in the exponent (choice).
const TILT: f64 = -0.03;

/// The other seats as far as public counts tell.
pub struct Rivals<'a> {
    view: &'a View,
    unseen: Cards,
}

impl<'a> Rivals<'a> {
    /// Those of a view whose unseen cards are given.
    pub const fn new(view: &'a View, unseen: Cards) -> Self {
        Self { view, unseen }
    }

    fn seats(&self) -> impl Iterator<Item = (usize, &SeatView)> {
        let me = self.view.seat().index();
        self.view.seats().iter().enumerate().filter(move |&(seat, _)| seat != me)
    }

    fn rules(&self) -> &Rules {
        self.view.rules()
    }

    /// Share of one unseen card in something that adds up over them all.
    fn mean(&self, total: u32) -> f64 {
        if self.unseen.is_empty() { 0.0 } else { f64::from(total) / f64::from(self.unseen.len()) }
    }

    /// Cards of a seat that nobody has seen.
    fn hidden(seat: &SeatView) -> u32 {
        u32::from(seat.hand_count).saturating_sub(seat.known.len())
    }

    fn expected_sum(&self, seat: &SeatView) -> f64 {
        let seven = self.rules().seven();
        f64::from(seat.known.sum(seven)) + f64::from(Self::hidden(seat)) * self.mean(self.unseen.sum(seven))
    }

    /// Penalty of a rival's expected hand: twice when unregistered, times 1 + its expected 7s.
    fn bak(&self, seat: &SeatView) -> f64 {
        let sevens = f64::from(seat.known.sevens()) + f64::from(Self::hidden(seat)) * self.mean(self.unseen.sevens());
        (1.0 + sevens) * if seat.registered { 1.0 } else { 2.0 }
    }

    /// What the rivals would pay if this seat won now with multiplier 1: places by the expected sums.
    pub fn pot(&self) -> f64 {
        self.dues(None, None)
    }

    /// What this seat would pay if its NORMAL stop failed now: every due, its own included. The winner is taken to be
    /// the rival with the lowest expected sum, registered ones first.
    pub fn failure(&self) -> f64 {
        let key = |seat: &SeatView| (!seat.registered, self.expected_sum(seat));
        let lowest = self.seats().min_by(|(_, a), (_, b)| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let hand = self.view.hand();
        let own = Loser {
            registered: self.view.registered(),
            sum: f64::from(hand.sum(self.rules().seven())),
            bak: f64::from((if self.view.registered() { 1u32 } else { 2 }) << hand.sevens()),
        };
        self.dues(lowest.map(|(seat, _)| seat), Some(own))
    }

    /// Sum of the dues of all rivals but `winner`, and of `also`.
    fn dues(&self, winner: Option<usize>, also: Option<Loser>) -> f64 {
        let mut losers = [None; 5];
        for (i, seat) in self.seats().filter(|&(i, _)| Some(i) != winner) {
            losers[i] = Some(Loser {
                registered: seat.registered,
                sum: self.expected_sum(seat),
                bak: self.bak(seat),
            });
        }
        losers[self.view.seat().index()] = also;
        let place = |me: usize, own: &Loser| {
            let level = losers.iter().enumerate().filter(|&(i, other)| {
                i != me && other.is_some_and(|other| other.registered && other.sum <= own.sum)
            });
            if own.registered { 2 + level.count() as u32 } else { u32::from(self.rules().players) }
        };
        let due = |(i, own): (usize, &Loser)| f64::from(1u32 << (place(i, own) - 2)) * own.bak;
        losers.iter().enumerate().filter_map(|(i, loser)| Some(due((i, loser.as_ref()?)))).sum()
    }

    /// Chance that every rival's hand is worth more than `own`: that a NORMAL stop holds.
    pub fn stop_holds(&self, own: u32) -> f64 {
        let counts = subset_sums(self.unseen, self.rules().seven());
        self.seats().map(|(_, seat)| 1.0 - self.at_most(seat, own, &counts)).product()
    }

    fn at_most(&self, seat: &SeatView, own: u32, counts: &SubsetSums) -> f64 {
        let Some(spare) = own.checked_sub(seat.known.sum(self.rules().seven())) else { return 0.0 };
        let hidden = (Self::hidden(seat) as usize).min(CARDS);
        let (mut below, mut all) = (0.0, 0.0);
        for (sum, &count) in counts[hidden].iter().enumerate() {
            let likely = if seat.registered { count * libm::exp(TILT * sum as f64) } else { count };
            all += likely;
            if sum <= spare as usize {
                below += likely;
            }
        }
        if all > 0.0 { below / all } else { 0.0 }
    }
}

#[derive(Clone, Copy)]
struct Loser {
    registered: bool,
    sum: f64,
    bak: f64,
}

/// `[k][s]`: how many sets of k cards are worth s.
pub type SubsetSums = [[f64; SUMS]; CARDS + 1];

/// Counts the subsets of up to seven of the cards by size and value. Exact: no count exceeds 2^27.
pub fn subset_sums(cards: Cards, seven: u32) -> SubsetSums {
    let mut counts = [[0.0; SUMS]; CARDS + 1];
    counts[0][0] = 1.0;
    for card in cards.iter() {
        let value = Cards::of(card).sum(seven) as usize;
        for size in (1..=CARDS).rev() {
            let (smaller, larger) = counts.split_at_mut(size);
            let (smaller, larger) = (&smaller[size - 1], &mut larger[0]);
            for (to, from) in larger[value..].iter_mut().zip(smaller.iter()) {
                *to += from;
            }
        }
    }
    counts
}
