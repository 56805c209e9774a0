//! Randomness that is the same in every release: splitmix64, seeded, split by label; and the FNV-1a hash.

/// A stream of pseudo-random numbers. The algorithm is splitmix64 and never changes, so a seed means the same for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The stream whose state starts as `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// An independent stream named by `label`. It depends on this stream's present state and the label only, and
    /// leaves this stream where it is, so that adding a consumer never shifts another one's numbers.
    pub fn split(&self, label: &str) -> Self {
        Self { state: mix(self.state ^ fnv(label.as_bytes())) }
    }

    /// The `index`-th of a family of independent streams; leaves this stream where it is.
    pub fn fork(&self, index: u64) -> Self {
        Self { state: mix(self.state ^ mix(index.wrapping_add(GOLDEN))) }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number in `0..n`, as the high half of a 128-bit product: one output a call. `n` must not be 0.
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0, "below(0) has no answer");
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// A number in `[0, 1)` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Fisher-Yates, from the last place down.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// FNV-1a over 64 bits, fed piece by piece.
#[derive(Clone, Copy, Debug)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Fnv {
    /// Takes in more bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    /// The hash of all bytes taken in so far.
    pub const fn finish(self) -> u64 {
        self.0
    }
}

/// FNV-1a (64 bits) of `bytes`.
pub fn fnv(bytes: &[u8]) -> u64 {
    let mut hash = Fnv::default();
    hash.write(bytes);
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_matches_the_published_sequence() {
        // The first outputs of splitmix64 from state 1234567 (Vigna's reference program).
        let mut rng = Rng::new(1_234_567);
        assert_eq!(rng.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn fnv_matches_the_published_vectors() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn splits_leave_the_stream_alone() {
        let rng = Rng::new(7);
        assert_eq!(rng.split("deal"), rng.split("deal"));
        assert_ne!(rng.split("deal"), rng.split("think"));
        assert_ne!(rng.fork(0), rng.fork(1));
        assert_eq!(rng, Rng::new(7));
    }
}
