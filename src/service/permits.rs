//! How many calls are in flight, process-wide.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::metrics::Held;
use prometheus::IntGauge;

/// A limited number of places.
#[derive(Clone, Debug)]
pub struct Permits {
    used: Arc<AtomicUsize>,
    limit: usize,
    gauge: Option<IntGauge>,
}

/// One place; given back when dropped.
#[derive(Debug)]
pub struct Permit {
    used: Arc<AtomicUsize>,
    _shown: Option<Held>,
}

impl Permits {
    /// `limit` places, shown by a gauge.
    pub fn new(limit: usize, gauge: Option<IntGauge>) -> Self {
        Self { used: Arc::default(), limit, gauge }
    }

    /// A place, if there is one.
    pub fn take(&self) -> Option<Permit> {
        if self.used.fetch_add(1, Ordering::AcqRel) >= self.limit {
            self.used.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        let shown = self.gauge.as_ref().map(|gauge| Held::new(gauge, 1));
        Some(Permit { used: Arc::clone(&self.used), _shown: shown })
    }

    /// Places taken.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Acquire)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.used.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_is_the_last() {
        let permits = Permits::new(2, None);
        let (one, two) = (permits.take(), permits.take());
        assert!(one.is_some() && two.is_some() && permits.take().is_none());
        drop(one);
        assert_eq!(permits.used(), 1);
        assert!(permits.take().is_some());
    }
}
