//! The statistics, in one place: means with 95 % intervals, scores by bootstrap, a sequential test.

use serde::{Deserialize, Serialize};

use crate::bot::Rng;

/// Two-sided 95 % quantile of the normal distribution.
const Z95: f64 = 1.959_963_984_540_054;

/// A mean and how far it may be off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half of the 95 % interval; `None` below two samples.
    pub half_width: Option<f64>,
}

/// Mean and variance of a list, in its order.
fn moments(values: &[f64]) -> (f64, f64) {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        let delta = value - mean;
        mean += delta / count;
        squares += delta * (value - mean);
    }
    (mean, if count > 1.0 { squares / (count - 1.0) } else { 0.0 })
}

/// Standard deviation of a list.
pub fn deviation(values: &[f64]) -> f64 {
    moments(values).1.sqrt()
}

/// The mean of independent samples (one a deal), with its 95 % interval by the normal approximation.
pub fn interval(values: &[f64]) -> Interval {
    let (mean, variance) = moments(values);
    let half_width = (values.len() > 1).then(|| Z95 * (variance / values.len() as f64).sqrt());
    Interval { mean, half_width }
}

/// One pair of games: points (1 a win, 1/2 a draw) and the number of decided games they were made in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairScore {
    /// Points won.
    pub points: f64,
    /// Games that ended by the rules.
    pub decided: u32,
}

/// Resamples of the bootstrap.
const RESAMPLES: usize = 2000;

/// Share of points over decided games, with a 95 % interval by bootstrap over pairs. Seeded, so it repeats.
pub fn score(pairs: &[PairScore]) -> Interval {
    let share = |points: f64, decided: u32| if decided == 0 { 0.5 } else { points / f64::from(decided) };
    let total = |list: &mut dyn Iterator<Item = &PairScore>| {
        list.fold((0.0, 0), |(points, decided), pair| (points + pair.points, decided + pair.decided))
    };
    let (points, decided) = total(&mut pairs.iter());
    if pairs.len() < 2 {
        return Interval { mean: share(points, decided), half_width: None };
    }
    let mut rng = Rng::new(0).split("bootstrap");
    let mut shares: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let mut drawn = (0..pairs.len()).map(|_| &pairs[rng.below(pairs.len() as u64) as usize]);
            let (points, decided) = total(&mut drawn);
            share(points, decided)
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    let (low, high) = (shares[RESAMPLES * 25 / 1000], shares[RESAMPLES * 975 / 1000 - 1]);
    Interval { mean: share(points, decided), half_width: Some((high - low) / 2.0) }
}

/// A sequential test between "the mean is at most `low`" and "it is at least `high`", both errors 5 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    /// The smaller hypothesis.
    pub low: f64,
    /// The larger hypothesis.
    pub high: f64,
}

/// Where a sequential test stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing decided yet.
    Open,
    /// `low` is accepted.
    Low,
    /// `high` is accepted.
    High,
}

/// ln((1 - 0.05) / 0.05).
const DECIDED: f64 = 2.944_438_979_166_440_3;
/// Below this many samples the variance is not trusted.
const ENOUGH: usize = 100;

impl Sprt {
    /// Log likelihood ratio of `high` over `low`, with the variance of the samples.
    pub fn ratio(&self, values: &[f64]) -> f64 {
        let (mean, variance) = moments(values);
        let n = values.len() as f64;
        // Equal samples carry no noise at all: whichever hypothesis is nearer is certain.
        let variance = variance.max(1e-9);
        n * (self.high - self.low) * (2.0 * mean - self.low - self.high) / (2.0 * variance)
    }

    /// What the samples so far decide.
    pub fn verdict(&self, values: &[f64]) -> Verdict {
        if values.len() < ENOUGH {
            return Verdict::Open;
        }
        match self.ratio(values) {
            ratio if ratio >= DECIDED => Verdict::High,
            ratio if ratio <= -DECIDED => Verdict::Low,
            _ => Verdict::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_known_samples() {
        let found = interval(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(found.mean, 2.5);
        // sd = sqrt(5/3), over sqrt(4).
        assert!((found.half_width.expect("four samples") - Z95 * (5.0f64 / 3.0).sqrt() / 2.0).abs() < 1e-12);
        assert_eq!(interval(&[7.0]), Interval { mean: 7.0, half_width: None });
    }

    #[test]
    fn the_interval_holds_the_truth_19_times_in_20() {
        let mut rng = Rng::new(5);
        let hits = (0..2000)
            .filter(|_| {
                let values: Vec<f64> = (0..100).map(|_| rng.unit()).collect();
                let found = interval(&values);
                (found.mean - 0.5).abs() <= found.half_width.expect("many samples")
            })
            .count();
        assert!((1860..=1940).contains(&hits), "{hits} of 2000");
    }

    #[test]
    fn bootstrap_agrees_with_the_normal_interval() {
        let mut rng = Rng::new(9);
        let pairs: Vec<PairScore> = (0..400).map(|_| PairScore { points: rng.below(3) as f64, decided: 2 }).collect();
        let found = score(&pairs);
        let shares: Vec<f64> = pairs.iter().map(|pair| pair.points / 2.0).collect();
        let normal = interval(&shares);
        assert!((found.mean - normal.mean).abs() < 1e-12);
        let (a, b) = (found.half_width.expect("pairs"), normal.half_width.expect("pairs"));
        assert!((a / b - 1.0).abs() < 0.1, "{a} {b}");
    }

    #[test]
    fn undecided_games_are_no_half_points() {
        let pairs = [PairScore { points: 1.0, decided: 1 }, PairScore { points: 1.0, decided: 2 }];
        assert_eq!(score(&pairs).mean, 2.0 / 3.0);
    }

    #[test]
    fn the_sequential_test_errs_rarely() {
        let test = Sprt { low: 0.0, high: 0.2 };
        let mut wrong = [0, 0];
        for seed in 0..400 {
            let truth = if seed % 2 == 0 { 0.0 } else { 0.2 };
            let mut rng = Rng::new(seed);
            let mut values = Vec::new();
            let verdict = loop {
                values.push(truth + (rng.unit() - 0.5) * 3.0);
                match test.verdict(&values) {
                    Verdict::Open => {}
                    verdict => break verdict,
                }
            };
            let expected = if truth > 0.1 { Verdict::High } else { Verdict::Low };
            wrong[usize::from(truth > 0.1)] += usize::from(verdict != expected);
        }
        assert!(wrong[0] <= 16 && wrong[1] <= 16, "{wrong:?} of 200 each");
    }
}
