//! Terms: named shares in 0..=1, each measuring one fact about the game.

use std::fmt::Debug;

/// A share. There is no way to make one outside 0..=1.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Unit(f64);

impl Unit {
    /// Nothing.
    pub const ZERO: Self = Self(0.0);
    /// Half.
    pub const HALF: Self = Self(0.5);
    /// All.
    pub const ONE: Self = Self(1.0);

    /// `x` cut to 0..=1; what is not a number counts as 0.
    pub const fn clamp(x: f64) -> Self {
        if x > 0.0 { Self(if x < 1.0 { x } else { 1.0 }) } else { Self(0.0) }
    }

    /// `part / whole`, cut to 0..=1; 0 when there is no whole.
    pub fn ratio(part: u32, whole: u32) -> Self {
        if whole == 0 { Self::ZERO } else { Self::clamp(f64::from(part) / f64::from(whole)) }
    }

    /// 1 when `yes`, else 0.
    pub const fn flag(yes: bool) -> Self {
        if yes { Self::ONE } else { Self::ZERO }
    }

    /// What is left to the whole.
    pub const fn complement(self) -> Self {
        Self(1.0 - self.0)
    }

    /// The number itself, 0..=1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// Whether a larger value speaks for a move or against it. A fitted weight keeps the sign of its term's direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More is better: the weight is never negative.
    Good,
    /// More is worse: the weight is never positive.
    Cost,
    /// A constant or threshold: either sign.
    Free,
}

/// What everybody may know about a term.
#[derive(Clone, Copy, Debug)]
pub struct TermSpec {
    /// snake_case, on the wire and in weights files.
    pub id: &'static str,
    /// One sentence: the fact about the game it measures.
    pub summary: &'static str,
    /// The sign its weight keeps.
    pub direction: Direction,
}

/// The term list of one game: a plain struct of [`Unit`]s, declared with [`terms!`](crate::terms). Default is all zeros.
pub trait Terms: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// One number per term, in the order of [`Self::SPECS`].
    type Values: AsRef<[f64]> + AsMut<[f64]> + Copy + Debug + Default + PartialEq + Send + Sync + 'static;
    /// The terms, in the order they are shown.
    const SPECS: &'static [TermSpec];

    /// The values, in that order.
    fn values(&self) -> Self::Values;

    /// The terms with one value replaced; `index` counts in [`Self::SPECS`].
    fn with(self, index: usize, value: Unit) -> Self;

    /// The place of a term by its id.
    fn index(id: &str) -> Option<usize> {
        Self::SPECS.iter().position(|spec| spec.id == id)
    }
}

/// A set of terms of one game, as places in [`Terms::SPECS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermSet(pub u32);

impl TermSet {
    /// The terms at these places.
    pub const fn of(places: &[usize]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < places.len() {
            bits |= 1 << places[i];
            i += 1;
        }
        Self(bits)
    }

    /// Whether the term at `place` is in the set.
    pub const fn contains(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    /// The places, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..32).filter(move |&place| self.contains(place))
    }

    /// All terms of either set.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Declares the terms of a game: a struct of named [`Unit`](crate::bot::Unit)s and an enum of their places.
///
/// ```
/// use understudy::bot::{Terms, Unit};
/// understudy::terms! {
///     /// What a coin toss looks like.
///     pub TossTerms, TossTerm {
///         Heads heads: Good, "1 when heads are up.";
///         Edge edge: Cost, "1 when it stands on its edge.";
///     }
/// }
/// let toss = TossTerms { heads: Unit::ONE, ..TossTerms::default() };
/// assert_eq!(toss.values(), [1.0, 0.0]);
/// assert_eq!(TossTerms::index("edge"), Some(TossTerm::Edge as usize));
/// ```
#[macro_export]
macro_rules! terms {
    ($(#[$doc:meta])* $vis:vis $terms:ident, $place:ident {
        $($variant:ident $field:ident : $direction:ident, $summary:literal ;)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        $vis struct $terms {
            $(#[doc = $summary] pub $field: $crate::bot::Unit,)+
        }

        /// The places of the terms, in the order they are shown.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(dead_code)]
        $vis enum $place {
            $(#[doc = $summary] $variant,)+
        }

        impl $crate::bot::Terms for $terms {
            type Values = [f64; <[&str]>::len(&[$(stringify!($field)),+])];
            const SPECS: &'static [$crate::bot::TermSpec] = &[$($crate::bot::TermSpec {
                id: stringify!($field),
                summary: $summary,
                direction: $crate::bot::Direction::$direction,
            }),+];

            fn values(&self) -> Self::Values {
                [$(self.$field.get()),+]
            }

            fn with(mut self, index: usize, value: $crate::bot::Unit) -> Self {
                let mut place = 0;
                $(if index == place { self.$field = value; } place += 1;)+
                let _ = place;
                self
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_unit_is_a_share(x in proptest::num::f64::ANY, a in any::<u32>(), b in any::<u32>()) {
            for unit in [Unit::clamp(x), Unit::ratio(a, b)] {
                prop_assert!((0.0..=1.0).contains(&unit.get()));
            }
        }
    }

    #[test]
    fn not_a_number_is_nothing() {
        assert_eq!(Unit::clamp(f64::NAN), Unit::ZERO);
        assert_eq!(Unit::ratio(3, 0), Unit::ZERO);
    }

    #[test]
    fn sets_list_their_places() {
        let set = TermSet::of(&[0, 3]);
        assert!(set.contains(3) && !set.contains(1));
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 3]);
    }
}
