//! More than this cannot be cleared: the digits packed into tens, places forgotten.
//!
//! Of the apples on the board, how many fit into disjoint groups of digits that sum to ten? There are 41 kinds of group.
//! The exact integer maximum is found in two steps. The linear relaxation gives a first bound and a price for each digit
//! (what one more apple of it would be worth). Then, from the relaxation downwards, for each number of apples left over:
//! a set of leftovers is worth trying only if its prices fit into what is missing to the relaxation, and for what is
//! packed one question remains: does it split into tens without rest?

use std::collections::BTreeSet;

/// How many apples show each digit 1..=9.
type Counts = [u16; 9];

/// Kinds of group: multisets of digits 1..=9 that sum to ten.
const KINDS: usize = 41;

/// The kinds, as counts of digits.
static GROUPS: [[u8; 9]; KINDS] = {
    let mut groups = [[0; 9]; KINDS];
    let mut kind = 0;
    // The partitions of ten in falling order, each made from the one before; ten itself is no group.
    let mut parts = [0usize; 10];
    parts[0] = 10;
    let mut length = 1;
    while kind < KINDS {
        // The last part above 1 shrinks by one; it and the ones behind it are dealt anew.
        let mut rest = 0;
        while parts[length - 1] == 1 {
            rest += 1;
            length -= 1;
        }
        parts[length - 1] -= 1;
        let largest = parts[length - 1];
        rest += 1;
        while rest > 0 {
            parts[length] = if rest < largest { rest } else { largest };
            rest -= parts[length];
            length += 1;
        }
        let mut i = 0;
        while i < length {
            groups[kind][parts[i] - 1] += 1;
            i += 1;
        }
        kind += 1;
    }
    groups
};

/// The most apples that any play can clear on a board with these counts of digits 1..=9.
pub fn upper_bound(counts: &[u32; 9]) -> u32 {
    let counts: Counts = counts.map(|count| count as u16);
    let apples: u32 = counts.iter().map(|&count| u32::from(count)).sum();
    let sum: u32 = (1..).zip(&counts).map(|(digit, &count)| digit * u32::from(count)).sum();
    let (relaxed, prices) = relaxation(&counts);
    let mut search = Packing { counts, left: counts, costs: Costs::new(prices), hopeless: BTreeSet::new() };
    // Rounding errors of nine additions are far below this; prices are fractions with small denominators.
    const SLACK: f64 = 1e-6;
    for packed in (0..=((relaxed + SLACK) as u32).min(apples)).rev() {
        if search.leaves(9, apples - packed, relaxed - f64::from(packed) + SLACK, sum) {
            return packed;
        }
    }
    0
}

/// What keeps a packing below the relaxation: apples left over at their price, and groups whose apples are worth more
/// than the group brings.
struct Costs {
    /// Of an apple left over, by digit.
    over: [f64; 9],
    /// Of an apple in a group that is no pair, at least.
    grouped: [f64; 9],
    /// Of an apple that is not in a pair, at least: the less of the two.
    unpaired: [f64; 9],
}

impl Costs {
    fn new(over: [f64; 9]) -> Self {
        let mut grouped = [f64::INFINITY; 9];
        for group in &GROUPS {
            let size: f64 = group.iter().map(|&count| f64::from(count)).sum();
            if size > 2.0 {
                let worth: f64 = group.iter().zip(&over).map(|(&count, price)| f64::from(count) * price).sum();
                let share = ((worth - size) / size).max(0.0);
                for (cost, _) in grouped.iter_mut().zip(group).filter(|(_, count)| **count > 0) {
                    *cost = cost.min(share);
                }
            }
        }
        let mut unpaired = over;
        for (cost, grouped) in unpaired.iter_mut().zip(&grouped) {
            *cost = cost.min(*grouped);
        }
        Self { over, grouped, unpaired }
    }
}

/// The search for a set of leftovers.
struct Packing {
    counts: Counts,
    /// Counts of what is packed, as decided so far.
    left: Counts,
    costs: Costs,
    /// Rests that are known not to split into tens.
    hopeless: BTreeSet<Counts>,
}

impl Packing {
    /// Whether `over` apples of digits up to `digit` can be left over, with `slack` to spare after the leftovers decided
    /// so far, so that the rest, whose sum is then `sum`, splits into tens.
    fn leaves(&mut self, digit: usize, over: u32, slack: f64, sum: u32) -> bool {
        if self.unpaired_cost(digit) > slack {
            return false;
        }
        if over == 0 {
            return sum.is_multiple_of(10) && self.splits();
        }
        if digit == 0 {
            return false;
        }
        let place = digit - 1;
        let most = u32::from(self.counts[place]).min(over);
        let below: u32 = self.counts[..place].iter().map(|&count| u32::from(count)).sum();
        let least = over.saturating_sub(below);
        for here in (least..=most).rev() {
            let cost = f64::from(here) * self.costs.over[place];
            if cost > slack {
                continue;
            }
            self.left[place] -= here as u16;
            let found = self.leaves(place, over - here, slack - cost, sum - here * digit as u32);
            self.left[place] += here as u16;
            if found {
                return true;
            }
        }
        false
    }

    /// What the apples that find no partner cost at least, when digits above `decided` are decided. Of a couple, pairs
    /// take as many as both have; what is left of the larger side goes into other groups or, if it is not decided yet,
    /// may be left over.
    fn unpaired_cost(&self, decided: usize) -> f64 {
        let mut cost = 0.0;
        for small in 0..4 {
            let big = 8 - small;
            if big < decided {
                break;
            }
            let (few, many) = (f64::from(self.left[small]), f64::from(self.left[big]));
            let spare = if small < decided { self.costs.unpaired[small] } else { self.costs.grouped[small] };
            if few > many {
                cost += (few - many) * spare;
            } else if many > few {
                cost += (many - few) * self.costs.grouped[big];
            }
        }
        cost
    }
}

impl Packing {
    /// Whether what is packed splits into groups of ten without rest.
    ///
    /// A digit and its complement in two different groups may always swap into a pair of their own: the rest of both
    /// groups sums to ten as well. So as many pairs as possible are taken out first, and of each complementary couple
    /// only one digit remains.
    fn splits(&mut self) -> bool {
        let mut rest = self.left;
        for small in 0..4 {
            let pairs = rest[small].min(rest[8 - small]);
            rest[small] -= pairs;
            rest[8 - small] -= pairs;
        }
        rest[4] %= 2;
        self.splits_rest(&mut rest)
    }

    fn splits_rest(&mut self, rest: &mut Counts) -> bool {
        let Some(largest) = rest.iter().rposition(|&count| count > 0) else {
            return true;
        };
        if !self.has_worth(rest) || self.hopeless.contains(rest) {
            return false;
        }
        rest[largest] -= 1;
        let found = self.completes(rest, 10 - (largest + 1), largest);
        rest[largest] += 1;
        if !found {
            self.hopeless.insert(*rest);
        }
        found
    }

    /// Whether the group that lacks `missing` can be completed with digits of places up to `place`, and the rest then
    /// splits.
    fn completes(&mut self, rest: &mut Counts, missing: usize, place: usize) -> bool {
        if missing == 0 {
            return self.splits_rest(rest);
        }
        for next in (0..=place.min(missing - 1)).rev() {
            if rest[next] > 0 {
                rest[next] -= 1;
                let found = self.completes(rest, missing - (next + 1), next);
                rest[next] += 1;
                if found {
                    return true;
                }
            }
        }
        false
    }

    /// In the prices every group is worth at least its size, so apples that split into groups are worth at least their
    /// number.
    fn has_worth(&self, rest: &Counts) -> bool {
        let over: f64 = rest.iter().zip(&self.costs.over).map(|(&count, price)| f64::from(count) * (price - 1.0)).sum();
        over > -1e-6
    }
}

/// Columns of the tableau: kinds of group, a slack for each digit, the right side.
const COLUMNS: usize = KINDS + 9 + 1;

/// The linear relaxation by the simplex method: its value, and the price of each digit (the dual solution).
fn relaxation(counts: &Counts) -> (f64, [f64; 9]) {
    const TINY: f64 = 1e-9;
    let mut rows = [[0.0f64; COLUMNS]; 9];
    let mut gain = [0.0f64; COLUMNS];
    for (digit, row) in rows.iter_mut().enumerate() {
        for (cell, group) in row.iter_mut().zip(&GROUPS) {
            *cell = f64::from(group[digit]);
        }
        row[KINDS + digit] = 1.0;
        row[COLUMNS - 1] = f64::from(counts[digit]);
    }
    for (cell, group) in gain.iter_mut().zip(&GROUPS) {
        *cell = group.iter().map(|&count| f64::from(count)).sum();
    }
    for step in 0.. {
        // The steepest column first; after that, the first one that gains, which cannot go round in circles.
        let gains = gain[..COLUMNS - 1].iter().enumerate().filter(|(_, gain)| **gain > TINY);
        let entering = if step < 64 {
            gains.fold(None, |best: Option<(usize, f64)>, (i, &g)| if best.is_some_and(|b| b.1 >= g) { best } else { Some((i, g)) })
        } else {
            gains.map(|(i, &g)| (i, g)).next()
        };
        let Some((column, _)) = entering else { break };
        let ratio = |row: &[f64; COLUMNS]| row[COLUMNS - 1] / row[column];
        let tight = (0..9).filter(|&i| rows[i][column] > TINY).min_by(|&a, &b| ratio(&rows[a]).total_cmp(&ratio(&rows[b])));
        let Some(tight) = tight else { break };
        let pivot = rows[tight][column];
        rows[tight].iter_mut().for_each(|cell| *cell /= pivot);
        let pivot_row = rows[tight];
        let reduce = |row: &mut [f64; COLUMNS]| {
            let factor = row[column];
            if factor != 0.0 {
                row.iter_mut().zip(&pivot_row).for_each(|(cell, pivot)| *cell -= factor * pivot);
            }
        };
        for (i, row) in rows.iter_mut().enumerate() {
            if i != tight {
                reduce(row);
            }
        }
        reduce(&mut gain);
    }
    let mut prices = [0.0; 9];
    for (price, gain) in prices.iter_mut().zip(&gain[KINDS..COLUMNS - 1]) {
        *price = (-gain).max(0.0);
    }
    (-gain[COLUMNS - 1], prices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_41_kinds_of_group() {
        let kinds: BTreeSet<[u8; 9]> = GROUPS.iter().copied().collect();
        assert_eq!(kinds.len(), KINDS);
        for group in &GROUPS {
            let sum: usize = group.iter().enumerate().map(|(i, &count)| (i + 1) * usize::from(count)).sum();
            assert_eq!(sum, 10);
        }
    }
}
