//! Cards and sets of cards.
//!
//! Card id 0..=51 = `suit*13 + (rank-1)`: one suit is one lane of 13 bits, so a neighbour on the ring of ranks is a
//! rotation of the lane, and one rank is the same bit in four lanes.

use std::cmp::Ordering;
use std::ops::{BitAnd, BitOr, Not, Sub};

/// One card, 0..=51. Suits clubs, diamonds, hearts, spades; rank 1 is the ace, 13 the king. Ids carry no strength.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Card(u8);

impl Card {
    /// The card with this id; `None` above 51.
    pub const fn new(id: u32) -> Option<Self> {
        if id < 52 { Some(Self(id as u8)) } else { None }
    }

    /// 0..=51.
    pub const fn id(self) -> u8 {
        self.0
    }

    /// 1 = ace .. 13 = king.
    pub const fn rank(self) -> u8 {
        self.0 % 13 + 1
    }

    /// 0..=3: clubs, diamonds, hearts, spades.
    pub const fn suit(self) -> u8 {
        self.0 / 13
    }

    /// Whether it is one of the four 7s.
    pub const fn is_seven(self) -> bool {
        self.rank() == 7
    }

    /// Rank and suit for people: `7s`, `Th`, `Ac`.
    pub fn name(self) -> String {
        let rank = b"A23456789TJQK"[usize::from(self.rank()) - 1];
        let suit = b"cdhs"[usize::from(self.suit())];
        [char::from(rank), char::from(suit)].iter().collect()
    }
}

/// A set of cards: bit `id` is the card's.
///
/// Its order is that of the ascending lists of ids: `[0,1,2] < [0,1,2,3] < [0,2]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cards(u64);

/// Bit 0 of every lane: the aces.
const ACES: u64 = 1 | 1 << 13 | 1 << 26 | 1 << 39;

impl Cards {
    /// No card.
    pub const NONE: Self = Self(0);
    /// The whole deck.
    pub const ALL: Self = Self((1 << 52) - 1);
    /// The four 7s.
    pub const SEVENS: Self = Self::rank(7);

    /// The four cards of a rank, 1..=13.
    pub const fn rank(rank: u8) -> Self {
        Self(ACES << (rank - 1))
    }

    /// One card.
    pub const fn of(card: Card) -> Self {
        Self(1 << card.0)
    }

    /// The set with these bits; the twelve bits beyond the deck are dropped.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Bit `id` is the card's.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// How many.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `card` is one of them.
    pub const fn has(self, card: Card) -> bool {
        self.0 >> card.0 & 1 == 1
    }

    /// Whether all of `other` are among them.
    pub const fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether some of `other` are among them.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is exactly one.
    pub const fn is_single(self) -> bool {
        self.0 != 0 && self.0 & (self.0 - 1) == 0
    }

    /// With `card`.
    #[must_use]
    pub const fn with(self, card: Card) -> Self {
        Self(self.0 | 1 << card.0)
    }

    /// Without `card`.
    #[must_use]
    pub const fn without(self, card: Card) -> Self {
        Self(self.0 & !(1 << card.0))
    }

    /// The card of lowest id.
    pub const fn first(self) -> Option<Card> {
        if self.0 == 0 { None } else { Some(Card(self.0.trailing_zeros() as u8)) }
    }

    /// Every card moved to the next rank of its suit, the king to the ace.
    #[must_use]
    pub const fn up(self) -> Self {
        Self((self.0 & !(ACES << 12)) << 1 | (self.0 >> 12 & ACES))
    }

    /// Every card moved to the rank below, the ace to the king.
    #[must_use]
    pub const fn down(self) -> Self {
        Self((self.0 & !ACES) >> 1 | (self.0 & ACES) << 12)
    }

    /// All cards of every rank that is held at least twice.
    #[must_use]
    pub const fn paired_ranks(self) -> Self {
        let [a, b, c, d] = self.lanes();
        Self::of_ranks(a & b | c & d | (a | b) & (c | d))
    }

    /// All cards of every rank that is held at least three times.
    #[must_use]
    pub const fn tripled_ranks(self) -> Self {
        let [a, b, c, d] = self.lanes();
        Self::of_ranks(a & b & (c | d) | c & d & (a | b))
    }

    /// The four suits, bit 0 the ace.
    pub const fn lanes(self) -> [u64; 4] {
        const LANE: u64 = (1 << 13) - 1;
        [self.0 & LANE, self.0 >> 13 & LANE, self.0 >> 26 & LANE, self.0 >> 39 & LANE]
    }

    const fn of_ranks(ranks: u64) -> Self {
        Self(ranks | ranks << 13 | ranks << 26 | ranks << 39)
    }

    /// Sum of the values: ace 1 .. king 13, a 7 counts `seven`. An ace is 1 wherever it stands in a run.
    pub const fn sum(self, seven: u32) -> u32 {
        // Four binary digits of the printed value, each counted over the whole set at once.
        const DIGITS: [u64; 4] = {
            let mut digits = [0; 4];
            let mut rank = 1;
            while rank <= 13 {
                let mut digit = 0;
                while digit < 4 {
                    if rank >> digit & 1 == 1 {
                        digits[digit] |= ACES << (rank - 1);
                    }
                    digit += 1;
                }
                rank += 1;
            }
            digits
        };
        let printed = (self.0 & DIGITS[0]).count_ones()
            + 2 * (self.0 & DIGITS[1]).count_ones()
            + 4 * (self.0 & DIGITS[2]).count_ones()
            + 8 * (self.0 & DIGITS[3]).count_ones();
        if seven == 7 { printed } else { printed + (seven - 7) * self.sevens() }
    }

    /// How many 7s.
    pub const fn sevens(self) -> u32 {
        (self.0 & Self::SEVENS.0).count_ones()
    }

    /// The cards, ascending.
    pub fn iter(self) -> impl Iterator<Item = Card> + Clone {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let id = (bits != 0).then(|| bits.trailing_zeros() as u8)?;
            bits &= bits - 1;
            Some(Card(id))
        })
    }
}

impl FromIterator<Card> for Cards {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        cards.into_iter().fold(Self::NONE, Self::with)
    }
}

impl BitOr for Cards {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Cards {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Sub for Cards {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl Not for Cards {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0 & Self::ALL.0)
    }
}

impl Ord for Cards {
    fn cmp(&self, other: &Self) -> Ordering {
        let differ = self.0 ^ other.0;
        if differ == 0 {
            return Ordering::Equal;
        }
        // The lists agree below the lowest card that only one of them holds. There, the holder names the smaller id,
        // unless the other list has ended: then it is a prefix, and prefixes come first.
        let lowest = differ & differ.wrapping_neg();
        let above = !(lowest | (lowest - 1));
        if self.0 & lowest != 0 {
            if other.0 & above == 0 { Ordering::Greater } else { Ordering::Less }
        } else if self.0 & above == 0 {
            Ordering::Less
        } else {
            Ordering::Greater
        }
    }
}

impl PartialOrd for Cards {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sets_order_like_their_lists(a in 0u64..1 << 12, b in 0u64..1 << 12) {
            let (a, b) = (Cards::from_bits(a), Cards::from_bits(b));
            let lists = (a.iter().collect::<Vec<_>>(), b.iter().collect::<Vec<_>>());
            prop_assert_eq!(a.cmp(&b), lists.0.cmp(&lists.1));
        }

        #[test]
        fn sums_agree_with_counting_by_hand(bits in 0u64..1 << 52) {
            let cards = Cards::from_bits(bits);
            for seven in [7, 14] {
                let by_hand: u32 = cards.iter().map(|c| if c.is_seven() { seven } else { u32::from(c.rank()) }).sum();
                prop_assert_eq!(cards.sum(seven), by_hand);
            }
        }

        #[test]
        fn ranks_held_twice_and_thrice(bits in 0u64..1 << 52) {
            let cards = Cards::from_bits(bits);
            for rank in 1..=13 {
                let held = (cards & Cards::rank(rank)).len();
                prop_assert_eq!(cards.paired_ranks().covers(Cards::rank(rank)), held >= 2);
                prop_assert_eq!(cards.tripled_ranks().covers(Cards::rank(rank)), held >= 3);
            }
        }

        #[test]
        fn up_and_down_undo_each_other(bits in 0u64..1 << 52) {
            let cards = Cards::from_bits(bits);
            prop_assert_eq!(cards.up().down(), cards);
            let expected: Cards = cards.iter()
                .map(|c| Card(c.suit() * 13 + c.rank() % 13)).collect();
            prop_assert_eq!(cards.up(), expected);
        }
    }
}
