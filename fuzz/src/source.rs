//! Choices drawn from bytes: a fuzzer steers them, a test feeds them from a seeded stream.

/// Bytes to draw from; zeros when they run out.
pub struct Source<'a>(pub &'a [u8]);

impl Source<'_> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// A number in `0..n`; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let wide = usize::from(self.byte()) << 8 | usize::from(self.byte());
        wide % n.max(1)
    }
}
