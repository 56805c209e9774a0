//! Rulesets and their switches. A legal move never depends on one: only the greedy order and validation do.

use std::fmt;

/// What "fewer cells" means in the greedy rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// Apples: the rule's motive is to keep apples for later, and points are apples.
    #[default]
    Apples,
    /// Cells of the rectangle, cleared ones included.
    Area,
}

/// What to do with a board whose sum is not a multiple of ten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SumCheck {
    /// Accept it with a warning: clones deal such boards.
    #[default]
    Warn,
    /// Refuse it.
    Require,
}

/// A named ruleset, resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruleset {
    /// One of [`Ruleset::NAMES`].
    pub name: &'static str,
    /// What the greedy rule counts.
    pub count: Count,
    /// What a sum that is not a multiple of ten leads to.
    pub sum_check: SumCheck,
}

impl Default for Ruleset {
    fn default() -> Self {
        Self { name: Self::NAMES[0], count: Count::Apples, sum_check: SumCheck::Warn }
    }
}

impl Ruleset {
    /// The names, the default first.
    pub const NAMES: &'static [&'static str] = &["fruitbox.v1", "fruitbox-area.v1", "fruitbox-strict.v1"];

    /// The ruleset with this name.
    pub fn named(name: &str) -> Option<Self> {
        let name = *Self::NAMES.iter().find(|known| **known == name)?;
        Some(match name {
            "fruitbox-area.v1" => Self { name, count: Count::Area, ..Self::default() },
            "fruitbox-strict.v1" => Self { name, sum_check: SumCheck::Require, ..Self::default() },
            _ => Self { name, ..Self::default() },
        })
    }

    /// The same with one switch set, as `count=AREA`.
    pub fn switched(mut self, switch: &str) -> Option<Self> {
        match switch {
            "count=APPLES" => self.count = Count::Apples,
            "count=AREA" => self.count = Count::Area,
            "sum_check=WARN" => self.sum_check = SumCheck::Warn,
            "sum_check=REQUIRE" => self.sum_check = SumCheck::Require,
            "target=10" | "max_digit=9" | "gaps=OPEN" | "tie=v1" => {}
            _ => return None,
        }
        Some(self)
    }
}

impl fmt::Display for Ruleset {
    /// The resolved set as replies echo it: name, then every switch.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = match self.count {
            Count::Apples => "APPLES",
            Count::Area => "AREA",
        };
        let sum_check = match self.sum_check {
            SumCheck::Warn => "WARN",
            SumCheck::Require => "REQUIRE",
        };
        write!(f, "{} count={count} sum_check={sum_check} target=10 max_digit=9 gaps=OPEN tie=v1", self.name)
    }
}
