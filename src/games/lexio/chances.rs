//! How likely a meld wins its trick, as far as counting tells: the unseen tiles dealt at random to the others.
//!
//! Estimates, not proofs. Pairs and triples multiply, rank by rank and rival by rival, the chance not to hold a
//! stronger one; fives take the expected number of stronger fives as the mean of a Poisson law.

use super::meld::{Key, Meld, MeldKind};
use super::tile::{Tile, TileSet};
use super::unseen::Unseen;

/// `exp(-n / 3)` for n stronger unseen tiles.
static SINGLE: [f64; 61] = single_chances();

const fn single_chances() -> [f64; 61] {
    // exp(-1/3)
    let step = 0.716_531_310_573_789_3;
    let mut chances = [1.0; 61];
    let mut n = 1;
    while n < 61 {
        chances[n] = chances[n - 1] * step;
        n += 1;
    }
    chances
}

/// Chance that a single wins with so many stronger tiles in the other hands: `exp(-stronger / 3)`.
pub(super) fn single_chance(stronger: u32) -> f64 {
    SINGLE[stronger.min(60) as usize]
}

/// Chances that particular tiles of the unseen ones are all in one rival's hand: `held[i]` for i tiles.
#[derive(Clone, Copy, Debug)]
struct Rival {
    count: u8,
    held: [f64; 5],
}

impl Rival {
    fn of(count: u8, unseen: u32) -> Self {
        let mut held = [1.0; 5];
        for i in 1..5 {
            let (left, of) = (f64::from(count) - i as f64 + 1.0, f64::from(unseen) - i as f64 + 1.0);
            held[i] = if left <= 0.0 { 0.0 } else { held[i - 1] * left / of };
        }
        Self { count, held }
    }

    /// Chance to hold at least two of `of` particular tiles of a rank.
    const fn pair(&self, of: usize) -> f64 {
        let [_, _, a2, a3, a4] = self.held;
        match of {
            2 => a2,
            3 => 3.0 * a2 - 2.0 * a3,
            4 => 6.0 * a2 - 8.0 * a3 + 3.0 * a4,
            _ => 0.0,
        }
    }

    /// Chance to hold at least three of them.
    const fn triple(&self, of: usize) -> f64 {
        let [_, _, _, a3, a4] = self.held;
        match of {
            3 => a3,
            4 => 4.0 * a3 - 3.0 * a4,
            _ => 0.0,
        }
    }
}

/// Expected numbers of stronger fives among the others, by category of the meld to beat.
#[derive(Clone, Copy, Debug, Default)]
struct Fives {
    /// Stronger straights, by the place of the straight to beat.
    straights: [f64; 12],
    flushes: f64,
    /// Full houses whose triple is above an order, by that order plus one.
    full_houses: [f64; 16],
    fours: f64,
}

/// Win chances against one set of unseen tiles.
#[derive(Clone, Debug)]
pub struct Chances {
    unseen: Unseen,
    rivals: [Rival; 4],
    /// Unseen tiles of each rank.
    ranks: [u8; 15],
    /// Chance that nobody holds a pair (triple) of any higher rank.
    no_pair_above: [f64; 15],
    no_triple_above: [f64; 15],
    fives: Option<Fives>,
}

impl Chances {
    /// Chances against these unseen tiles. `fives`: whether five-tile melds will be asked for.
    pub fn of(unseen: &Unseen, fives: bool) -> Self {
        let size = unseen.tiles().len();
        let mut rivals = [Rival { count: 0, held: [0.0; 5] }; 4];
        for (rival, &count) in rivals.iter_mut().zip(unseen.counts()) {
            *rival = Rival::of(count, size);
        }
        let mut chances = Self {
            unseen: *unseen,
            rivals,
            ranks: [0; 15],
            no_pair_above: [1.0; 15],
            no_triple_above: [1.0; 15],
            fives: None,
        };
        chances.fill_ranks();
        if fives {
            chances.fives = Some(chances.expect_fives());
        }
        chances
    }

    fn fill_ranks(&mut self) {
        let mut pass = [(1.0, 1.0); 5];
        for (of, pass) in pass.iter_mut().enumerate().skip(2) {
            for rival in &self.rivals {
                pass.0 *= 1.0 - rival.pair(of);
                pass.1 *= 1.0 - rival.triple(of);
            }
        }
        for order in 0..15 {
            self.ranks[order] = self.unseen.tiles().nibble(order as u8).count_ones() as u8;
        }
        for order in (0..14).rev() {
            let above = pass[usize::from(self.ranks[order + 1])];
            self.no_pair_above[order] = self.no_pair_above[order + 1] * above.0;
            self.no_triple_above[order] = self.no_triple_above[order + 1] * above.1;
        }
    }

    fn expect_fives(&self) -> Fives {
        let mut fives = Fives::default();
        let size = f64::from(self.unseen.tiles().len());
        for rival in self.rivals.iter().filter(|rival| rival.count >= 5) {
            let share = f64::from(rival.count) / size;
            self.add_straights(share, &mut fives);
            for suit in 0..4 {
                fives.flushes += at_least_five(self.unseen.tiles().suit(suit).len(), share);
            }
            self.add_full_houses(rival, &mut fives);
            let full = self.ranks.iter().filter(|&&held| held == 4).count();
            fives.fours += full as f64 * rival.held[4];
        }
        fives
    }

    fn add_straights(&self, share: f64, fives: &mut Fives) {
        let absent = 1.0 - share;
        // Chance to hold at least one of 0..=4 tiles of a rank.
        let some = [
            0.0,
            share,
            1.0 - absent * absent,
            1.0 - absent * absent * absent,
            1.0 - absent * absent * absent * absent,
        ];
        let mut stronger = 0.0;
        let straights = self.unseen.deck().straights;
        for (place, straight) in straights.iter().enumerate().rev() {
            fives.straights[place] += stronger;
            let orders = (0..5).map(|i| straight.orders >> (4 * i) & 15);
            stronger += orders.map(|order| some[usize::from(self.ranks[order as usize])]).product::<f64>();
        }
    }

    fn add_full_houses(&self, rival: &Rival, fives: &mut Fives) {
        let pairs: f64 = self.ranks.iter().map(|&held| rival.pair(usize::from(held))).sum();
        let with_pair = 1.0 - libm::exp(-0.8 * pairs);
        let mut triples = 0.0;
        for order in (0..16).rev() {
            fives.full_houses[order] += with_pair * triples;
            if order > 0 {
                triples += rival.triple(usize::from(self.ranks[order - 1]));
            }
        }
    }

    /// Chance that this single wins: `exp(-stronger unseen tiles / 3)`.
    pub fn single(&self, tile: Tile) -> f64 {
        single_chance(self.unseen.above(tile))
    }

    fn pair(&self, tiles: TileSet, order: u8) -> f64 {
        let same = self.unseen.tiles().rank(order);
        let mut chance = self.no_pair_above[usize::from(order)];
        if same.len() == 2 && same.highest() > tiles.highest() {
            for rival in &self.rivals {
                chance *= 1.0 - rival.held[2];
            }
        }
        chance
    }

    /// Chance that tiles of one rank, played as one meld, win.
    pub fn same_rank(&self, tiles: TileSet, order: u8) -> f64 {
        match tiles.len() {
            1 => tiles.lowest().map_or(1.0, |tile| self.single(tile)),
            2 => self.pair(tiles, order),
            _ => self.no_triple_above[usize::from(order)],
        }
    }

    /// Chance that a meld wins its trick. Fives only if they were announced.
    pub fn win(&self, meld: &Meld) -> f64 {
        if meld.count() < 5 {
            self.same_rank(meld.tiles(), meld.key().order())
        } else if !self.unseen.beats(meld) {
            1.0
        } else {
            self.five(meld.kind(), meld.key())
        }
    }

    /// Chance that no rival holds a pair, and that none holds a triple, of a rank above `order`.
    pub fn above(&self, order: u8) -> [f64; 2] {
        [self.no_pair_above[usize::from(order)], self.no_triple_above[usize::from(order)]]
    }

    /// Chance that a five of this kind and strength wins, without the proof that it does.
    pub fn five(&self, kind: MeldKind, key: Key) -> f64 {
        0.98 * libm::exp(-self.stronger_fives(kind, key))
    }

    /// Expected number of stronger fives in the others' hands.
    fn stronger_fives(&self, kind: MeldKind, key: Key) -> f64 {
        let fives = self.fives.as_ref().expect("fives were announced; this is a bug of whoever asks");
        match kind {
            MeldKind::Flush => {
                let share = (f64::from(key.order()) + 0.5) / 15.0;
                let stronger = 1.0 - share * share * share * share * share;
                fives.flushes * stronger + fives.full_houses[0] + fives.fours
            }
            MeldKind::FullHouse => fives.full_houses[usize::from(key.order()) + 1] + fives.fours,
            MeldKind::FourPlusOne => fives.fours / 2.0,
            MeldKind::StraightFlush => 0.0,
            _ => {
                let straights = self.unseen.deck().straights;
                let place = straights.iter().position(|straight| straight.orders == key.orders()).unwrap_or(0);
                fives.straights[place] + fives.flushes + fives.full_houses[0] + fives.fours
            }
        }
    }
}

/// Chance of at least five successes in `n` trials of chance `p`.
fn at_least_five(n: u32, p: f64) -> f64 {
    if n < 5 {
        return 0.0;
    }
    // 1 minus the chances of 0..=4, each from the one before it.
    let q = 1.0 - p;
    if q <= 0.0 {
        return 1.0;
    }
    let mut exactly = 1.0;
    for _ in 0..n {
        exactly *= q;
    }
    let mut fewer = 0.0;
    for k in 0..5 {
        fewer += exactly;
        exactly *= f64::from(n - k) / f64::from(k + 1) * p / q;
    }
    (1.0 - fewer).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_chances_are_the_exponential() {
        for (n, chance) in SINGLE.iter().enumerate() {
            assert!((chance - libm::exp(-(n as f64) / 3.0)).abs() < 1e-14);
        }
    }

    /// Against counting: deals of 4 particular tiles among 12 unseen ones to a hand of 5.
    #[test]
    fn pairs_and_triples_are_counted_right() {
        let rival = Rival::of(5, 12);
        for of in 2..=4u32 {
            let (mut hands, mut pairs, mut triples) = (0, 0, 0);
            for hand in (0u32..1 << 12).filter(|hand| hand.count_ones() == 5) {
                let held = (hand & ((1 << of) - 1)).count_ones();
                hands += 1;
                pairs += u32::from(held >= 2);
                triples += u32::from(held >= 3);
            }
            assert!((rival.pair(of as usize) - f64::from(pairs) / f64::from(hands)).abs() < 1e-12);
            assert!((rival.triple(of as usize) - f64::from(triples) / f64::from(hands)).abs() < 1e-12);
        }
        assert_eq!(Rival::of(1, 2).held, [1.0, 0.5, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn the_binomial_tail_is_exact() {
        assert_eq!(at_least_five(4, 0.9), 0.0);
        assert!((at_least_five(5, 0.5) - 1.0 / 32.0).abs() < 1e-15);
        assert!((at_least_five(6, 0.5) - 7.0 / 64.0).abs() < 1e-15);
        assert!((at_least_five(7, 1.0) - 1.0).abs() < 1e-15);
    }
}
