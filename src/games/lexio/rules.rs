//! The ruleset and its switches, and the settlement that ends a round.

use std::fmt;

use super::tile::{TileSet};

/// Name and version of the one ruleset.
pub const NAME: &str = "lexio.standard";
/// Its version.
pub const VERSION: u32 = 1;
/// Rounds of a match.
pub const ROUNDS: u8 = 5;

/// Declares a switch: an enum whose first value is the default, with the names that replies and files use.
macro_rules! switch {
    ($(#[$doc:meta])* $name:ident { $(#[$first_doc:meta])* $first:ident $first_id:literal, $($(#[$more_doc:meta])* $more:ident $more_id:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $(#[$first_doc])*
            #[default]
            $first,
            $($(#[$more_doc])* $more,)*
        }

        impl $name {
            /// As replies and files spell it.
            pub const fn id(self) -> &'static str {
                match self {
                    Self::$first => $first_id,
                    $(Self::$more => $more_id,)*
                }
            }

            /// The value with this id.
            pub fn parse(id: &str) -> Option<Self> {
                [Self::$first, $(Self::$more),*].into_iter().find(|value| value.id() == id)
            }
        }
    };
}

switch! {
    /// Who leads the first trick of a round.
    FirstLead {
        /// The holder of cloud 3.
        C3Holder "c3_holder",
        /// Whoever won the round before; the holder of cloud 3 in round 1.
        PreviousWinner "previous_winner",
    }
}

switch! {
    /// What a 2 left in hand does to the count.
    TwoMult {
        /// Every 2 doubles it.
        Pow2 "pow2",
        /// Doubled once, however many 2s.
        Once "once",
    }
}

switch! {
    /// Who pays whom.
    Settle {
        /// Every pair pays the difference.
        Pairwise "pairwise",
        /// Each loser pays the winner.
        WinnerOnly "winner_only",
    }
}

/// `lexio.standard`, version 1, with its switches. `must_play_c3` and `pass_lock` know only `off`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ruleset {
    /// Who leads first.
    pub first_lead: FirstLead,
    /// What 2s cost.
    pub two_mult: TwoMult,
    /// Who pays whom.
    pub settle: Settle,
}

impl fmt::Display for Ruleset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{NAME}.v{VERSION} first_lead={} two_mult={} settle={} must_play_c3=off pass_lock=off",
            self.first_lead.id(),
            self.two_mult.id(),
            self.settle.id()
        )
    }
}

impl Ruleset {
    /// The rules that a text names: `lexio.standard` or `lexio.standard.v1`, perhaps with `switch=value` pairs behind.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let name = words.next()?;
        let known = name == NAME || name.strip_prefix(NAME) == Some(".v1");
        let mut rules = known.then(Self::default)?;
        for word in words {
            let (switch, value) = word.split_once('=')?;
            match switch {
                "first_lead" => rules.first_lead = FirstLead::parse(value)?,
                "two_mult" => rules.two_mult = TwoMult::parse(value)?,
                "settle" => rules.settle = Settle::parse(value)?,
                "must_play_c3" | "pass_lock" if value == "off" => {}
                _ => return None,
            }
        }
        Some(rules)
    }

    /// What a hand counts at the end of a round: its tiles, doubled for the 2s among them. At most 208.
    pub fn count(&self, hand: TileSet) -> i32 {
        self.count_of(hand.len(), hand.rank(14).len())
    }

    /// The same for a hand of `tiles` tiles, `twos` of them 2s.
    pub fn count_of(&self, tiles: u32, twos: u32) -> i32 {
        let doublings = match self.two_mult {
            TwoMult::Pow2 => twos,
            TwoMult::Once => twos.min(1),
        };
        (tiles as i32) << doublings
    }

    /// What seat `me` gets when the seats' hands count `counts`, the winner's 0. Sums to 0 over the seats.
    pub fn net(&self, counts: &[i32], me: usize) -> i32 {
        let sum: i32 = counts.iter().sum();
        match self.settle {
            Settle::Pairwise => sum - counts.len() as i32 * counts[me],
            Settle::WinnerOnly if counts[me] == 0 => sum,
            Settle::WinnerOnly => -counts[me],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_rules() {
        let rules = Ruleset { two_mult: TwoMult::Once, ..Ruleset::default() };
        assert_eq!(Ruleset::parse(&rules.to_string()), Some(rules));
        assert_eq!(Ruleset::parse("lexio.standard"), Some(Ruleset::default()));
        for bad in ["", "lexio", "lexio.standard.v2", "lexio.standard pass_lock=on", "lexio.standard settle"] {
            assert_eq!(Ruleset::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_largest_counts_are_those_of_the_spec() {
        let rules = Ruleset::default();
        assert_eq!((rules.count_of(12, 4), rules.count_of(13, 4)), (192, 208));
        assert_eq!(Ruleset { two_mult: TwoMult::Once, ..rules }.count_of(13, 4), 26);
    }
}
