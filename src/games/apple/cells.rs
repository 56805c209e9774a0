//! A set of cells as bits, wide enough for the board at hand.

/// A set of row-major cell indices below `64 * N`. Searches run with 3 words on boards of up to 192 cells (10 x 17 has
/// 170) and with 7 on larger ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cells<const N: usize>(pub [u64; N]);

/// Words of a set that holds the cells of any board.
pub const WIDE: usize = super::board::MAX_CELLS.div_ceil(64);

impl<const N: usize> Default for Cells<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Cells<N> {
    /// Adds a run of cells: bit i of `bits` stands for cell `start + i`.
    #[inline]
    pub fn insert_run(&mut self, start: usize, bits: u64) {
        let (word, shift) = (start >> 6, start & 63);
        self.0[word] |= bits << shift;
        if shift != 0 {
            let high = bits >> (64 - shift);
            if high != 0 {
                self.0[word + 1] |= high;
            }
        }
    }

    /// `length` cells (at most 64) from `start` on, as bits.
    #[inline]
    pub const fn run(&self, start: usize, length: usize) -> u64 {
        let (word, shift) = (start >> 6, start & 63);
        let mut bits = self.0[word] >> shift;
        if shift != 0 && word + 1 < N {
            bits |= self.0[word + 1] << (64 - shift);
        }
        bits & (u64::MAX >> (64 - length))
    }

    /// Adds a cell.
    #[inline]
    pub const fn insert(&mut self, cell: usize) {
        self.0[cell >> 6] |= 1 << (cell & 63);
    }

    /// Whether the cell is in it.
    #[inline]
    pub const fn contains(&self, cell: usize) -> bool {
        self.0[cell >> 6] >> (cell & 63) & 1 == 1
    }

    /// Whether the two sets share a cell.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        let mut common = 0;
        for i in 0..N {
            common |= self.0[i] & other.0[i];
        }
        common != 0
    }

    /// All cells of either set.
    #[inline]
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        for i in 0..N {
            self.0[i] |= other.0[i];
        }
        self
    }

    /// The cells of this set that are not in the other.
    #[inline]
    #[must_use]
    pub fn without(mut self, other: &Self) -> Self {
        for i in 0..N {
            self.0[i] &= !other.0[i];
        }
        self
    }

    /// The cells of both sets.
    #[inline]
    #[must_use]
    pub fn both(mut self, other: &Self) -> Self {
        for i in 0..N {
            self.0[i] &= other.0[i];
        }
        self
    }

    /// How many cells.
    #[inline]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The cells, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            std::iter::successors((word != 0).then_some(word), |word| {
                let rest = word & (word - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |word| i * 64 + word.trailing_zeros() as usize)
        })
    }

    /// Calls `f` with each cell, ascending; for inner loops.
    #[inline]
    pub fn each(&self, mut f: impl FnMut(usize)) {
        for (i, &word) in self.0.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                f(i * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    /// The same set at the width that holds any board.
    pub fn widen(&self) -> Cells<WIDE> {
        let mut wide = [0; WIDE];
        wide[..N].copy_from_slice(&self.0);
        Cells(wide)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_may_straddle_two_words() {
        let mut cells = Cells::<3>::default();
        cells.insert_run(51, 0b1_1000_0000_0000_0001);
        cells.insert(170);
        assert_eq!(cells.iter().collect::<Vec<_>>(), [51, 66, 67, 170]);
        assert_eq!(cells.len(), 4);
        assert!(cells.contains(66) && !cells.contains(65));
        assert_eq!(cells.widen().iter().collect::<Vec<_>>(), [51, 66, 67, 170]);
    }

    #[test]
    fn sets_meet_where_they_share_a_cell() {
        let (mut a, mut b) = (Cells::<3>::default(), Cells::<3>::default());
        a.insert(5);
        b.insert(130);
        assert!(!a.meets(&b));
        b.insert(5);
        assert!(a.meets(&b));
        assert_eq!(b.without(&a).iter().collect::<Vec<_>>(), [130]);
        assert_eq!(a.both(&b).iter().collect::<Vec<_>>(), [5]);
    }
}
