//! Sixty-four bytes at a time: sums of many columns in one step.

use wide::u8x16;

/// Sixty-four unsigned bytes.
#[derive(Clone, Copy, Debug)]
pub struct Bytes([u8x16; 4]);

impl Bytes {
    /// The same byte everywhere.
    #[inline]
    pub fn splat(byte: u8) -> Self {
        Self([u8x16::splat(byte); 4])
    }

    /// These bytes.
    #[inline]
    pub fn from_array(bytes: &[u8; 64]) -> Self {
        let quarter = |i: usize| {
            let mut sixteen = [0; 16];
            sixteen.copy_from_slice(&bytes[16 * i..16 * i + 16]);
            u8x16::from(sixteen)
        };
        Self([quarter(0), quarter(1), quarter(2), quarter(3)])
    }

    #[inline]
    fn zip(&self, other: &Self, f: impl Fn(u8x16, u8x16) -> u8x16) -> Self {
        let (a, b) = (&self.0, &other.0);
        Self([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
    }

    /// Sums; 255 stands for anything above.
    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        self.zip(other, u8x16::saturating_add)
    }

    /// Differences of bytes that are not below the other's.
    #[inline]
    pub fn minus(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    /// Bits of both.
    #[inline]
    pub fn and(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// Bits of either.
    #[inline]
    pub fn or(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// 255 where the byte is `byte`, else 0.
    #[inline]
    pub fn matching(&self, byte: u8) -> Self {
        self.zip(&Self::splat(byte), |a, b| a.cmp_eq(b))
    }

    /// Bit i: whether byte i is `byte`.
    #[inline]
    pub fn equal(&self, byte: u8) -> u64 {
        let bits = self.matching(byte).0.map(|quarter| u64::from(quarter.move_mask() as u16));
        bits[0] | bits[1] << 16 | bits[2] << 32 | bits[3] << 48
    }

    /// Whether every byte is 255.
    #[inline]
    pub fn is_full(&self) -> bool {
        let [a, b, c, d] = self.0;
        ((a & b) & (c & d)).cmp_eq(u8x16::splat(255)).move_mask() == 0xFFFF
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_add_compare_and_fill_one_by_one() {
        let mut digits = [0u8; 64];
        for (i, digit) in digits.iter_mut().enumerate() {
            *digit = (i * 7 % 11) as u8;
        }
        let bytes = Bytes::from_array(&digits);
        let tens = digits.iter().enumerate().fold(0u64, |bits, (i, &d)| bits | u64::from(d == 10) << i);
        assert_eq!(bytes.plus(&Bytes::splat(244)).equal(254), tens);
        assert_eq!(bytes.plus(&bytes).minus(&bytes).equal(3), bytes.equal(3));
        assert_eq!(bytes.matching(3).equal(255), bytes.equal(3));
        assert_eq!(bytes.matching(3).or(&bytes.matching(4)).equal(255), bytes.equal(3) | bytes.equal(4));
        let odd = digits.iter().filter(|digit| *digit % 2 == 1).count() as u32;
        assert_eq!(bytes.and(&Bytes::splat(1)).equal(1).count_ones(), odd);
        assert!(!bytes.is_full() && bytes.plus(&Bytes::splat(255)).is_full());
    }
}
