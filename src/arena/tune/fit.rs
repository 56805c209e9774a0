//! Ridge regression with signs: the least squares over equations "difference of terms = difference of payments".

use crate::bot::Direction;

/// Normal equations, gathered one equation at a time. Adding up in the same order gives the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Normal {
    size: usize,
    /// Sum of weight * x * x', row by row.
    matrix: Vec<f64>,
    /// Sum of weight * x * y.
    vector: Vec<f64>,
    /// Decisions behind them.
    pub decisions: u64,
    /// Equations.
    pub equations: u64,
}

/// A row of a table: its features (place and amount), and what it paid.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Places of the unknowns with their factors, each place once.
    pub features: Vec<(usize, f64)>,
    /// What the features should add up to.
    pub target: f64,
    /// Weight of the row.
    pub weight: f64,
}

impl Normal {
    /// No equations in so many unknowns.
    pub fn new(size: usize) -> Self {
        Self { size, matrix: vec![0.0; size * size], vector: vec![0.0; size], decisions: 0, equations: 0 }
    }

    /// Adds the equations of others.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.matrix.iter_mut().zip(&other.matrix) {
            *mine += theirs;
        }
        for (mine, theirs) in self.vector.iter_mut().zip(&other.vector) {
            *mine += theirs;
        }
        self.decisions += other.decisions;
        self.equations += other.equations;
    }

    /// One decision: the rows' differences from their weighted mean, and with weight `absolute` the rows themselves.
    pub fn decision(&mut self, points: &[Point], absolute: f64) {
        let whole: f64 = points.iter().map(|point| point.weight).sum();
        let mut mean = vec![0.0; self.size];
        let mut target = 0.0;
        for point in points {
            for &(place, amount) in &point.features {
                mean[place] += amount * point.weight / whole;
            }
            target += point.target * point.weight / whole;
        }
        for point in points {
            let mut row: Vec<f64> = mean.iter().map(|amount| -amount).collect();
            for &(place, amount) in &point.features {
                row[place] += amount;
            }
            let used: Vec<(usize, f64)> = row.into_iter().enumerate().filter(|(_, amount)| *amount != 0.0).collect();
            if points.len() > 1 {
                self.equation(&used, point.target - target, point.weight);
            }
            if absolute > 0.0 {
                self.equation(&point.features, point.target, absolute * point.weight);
            }
        }
        self.decisions += 1;
    }

    fn equation(&mut self, features: &[(usize, f64)], target: f64, weight: f64) {
        for &(i, a) in features {
            self.vector[i] += weight * a * target;
            for &(j, b) in features {
                self.matrix[i * self.size + j] += weight * a * b;
            }
        }
        self.equations += 1;
    }

    /// The unknowns that fit best, each with the sign of its direction; one that no equation touches is 0.
    pub fn solve(&self, ridge: f64, directions: &[Direction]) -> Vec<f64> {
        let mut found = vec![0.0; self.size];
        for _ in 0..SWEEPS {
            let mut moved = 0.0f64;
            for place in 0..self.size {
                let row = &self.matrix[place * self.size..(place + 1) * self.size];
                let curvature = row[place] + ridge;
                if curvature <= 0.0 {
                    continue;
                }
                let rest: f64 = row.iter().zip(&found).map(|(a, x)| a * x).sum::<f64>() - row[place] * found[place];
                let free = (self.vector[place] - rest) / curvature;
                let kept = match directions[place] {
                    Direction::Good => free.max(0.0),
                    Direction::Cost => free.min(0.0),
                    Direction::Free => free,
                };
                moved = moved.max((kept - found[place]).abs());
                found[place] = kept;
            }
            if moved < 1e-10 {
                break;
            }
        }
        found
    }
}

/// Sweeps of the coordinate descent at most; a few hundred are usual.
const SWEEPS: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot::Rng;

    /// Decisions of five rows whose payment is a known sum of three features plus noise.
    fn known(truth: [f64; 3], absolute: f64) -> Normal {
        let mut rng = Rng::new(3);
        let mut normal = Normal::new(3);
        for _ in 0..3000 {
            let offset = rng.unit() * 20.0;
            let points: Vec<Point> = (0..5)
                .map(|_| {
                    let features: Vec<(usize, f64)> = (0..3).map(|place| (place, rng.unit())).collect();
                    let sum: f64 = features.iter().map(|(place, amount)| truth[*place] * amount).sum();
                    let base = if absolute > 0.0 { 0.0 } else { offset };
                    Point { features, target: sum + base + rng.unit() - 0.5, weight: 0.5 + rng.unit() }
                })
                .collect();
            normal.decision(&points, absolute);
        }
        normal
    }

    #[test]
    fn a_known_sum_is_found() {
        for absolute in [0.0, 0.1] {
            let truth = [3.0, -2.0, 0.5];
            let found = known(truth, absolute).solve(1.0, &[Direction::Good, Direction::Cost, Direction::Free]);
            assert!(found.iter().zip(truth).all(|(found, truth)| (found - truth).abs() < 0.05), "{found:?}");
        }
    }

    #[test]
    fn signs_hold() {
        let found = known([3.0, -2.0, 0.5], 0.0).solve(1.0, &[Direction::Cost, Direction::Cost, Direction::Cost]);
        assert_eq!((found[0], found[2]), (0.0, 0.0));
        assert!(found[1] < -1.5, "{found:?}");
    }

    #[test]
    fn what_no_equation_touches_is_nothing() {
        let mut normal = Normal::new(2);
        let point = |amount, target| Point { features: vec![(0, amount)], target, weight: 1.0 };
        normal.decision(&[point(1.0, 4.0), point(0.0, 0.0)], 0.0);
        let found = normal.solve(1e-9, &[Direction::Free, Direction::Free]);
        assert!((found[0] - 4.0).abs() < 1e-6 && found[1] == 0.0, "{found:?}");
        assert_eq!((normal.decisions, normal.equations), (1, 2));
    }
}
