//! A histogram of think times that merges: 32 buckets for each doubling, so a quantile is right to 3 %.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Buckets for each doubling, as a power of two.
const STEPS: u32 = 5;

/// How long decisions took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Durations {
    /// Counts by bucket.
    buckets: Vec<u64>,
    /// The longest, in ns.
    max: u64,
}

/// Median, 99th percentile and maximum in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Half of the decisions took no longer.
    pub p50: f64,
    /// 99 % of the decisions took no longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Durations {
    /// Counts one.
    pub fn add(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let place = bucket(ns);
        if self.buckets.len() <= place {
            self.buckets.resize(place + 1, 0);
        }
        self.buckets[place] += 1;
        self.max = self.max.max(ns);
    }

    /// Counts everything that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *mine += theirs;
        }
        self.max = self.max.max(other.max);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The quantiles that reports show; zeros when nothing was counted.
    pub fn quantiles(&self) -> Quantiles {
        let us = |ns: u64| ns as f64 / 1000.0;
        Quantiles { p50: us(self.quantile(0.50)), p99: us(self.quantile(0.99)), max: us(self.max) }
    }

    fn quantile(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (place, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return upper(place).min(self.max);
            }
        }
        self.max
    }
}

fn bucket(ns: u64) -> usize {
    let exponent = (u64::BITS - ns.leading_zeros()).saturating_sub(STEPS + 1);
    ((exponent << STEPS) as u64 + (ns >> exponent)) as usize
}

/// The largest time that falls into a bucket.
fn upper(place: usize) -> u64 {
    let place = place as u64;
    let exponent = (place >> STEPS).saturating_sub(1);
    let mantissa = place - (exponent << STEPS);
    ((mantissa + 1) << exponent) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_lies_in_its_bucket() {
        for ns in (0..5000).chain([1 << 20, (1 << 20) + 12_345, 1 << 40]) {
            let place = bucket(ns);
            assert!(upper(place) >= ns, "{ns}");
            assert!(place == 0 || upper(place - 1) < ns, "{ns}");
            assert!(upper(place) as f64 <= ns as f64 * 1.033 + 1.0, "{ns}");
        }
    }

    #[test]
    fn quantiles_of_a_ramp() {
        let mut half = Durations::default();
        let mut all = Durations::default();
        for us in 1..=1000 {
            if us % 2 == 0 { &mut half } else { &mut all }.add(Duration::from_micros(us));
        }
        all.merge(&half);
        let found = all.quantiles();
        assert_eq!((all.count(), found.max), (1000, 1000.0));
        assert!((found.p50 - 500.0).abs() < 16.0 && (found.p99 - 990.0).abs() < 31.0, "{found:?}");
    }
}
