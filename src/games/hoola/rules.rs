//! The ruleset and its switches: Hoola has no rule book, so every table says what it plays.

use std::fmt;

use super::meld::RunWrap;

/// Name of the ruleset that the switches override.
pub const STANDARD: &str = "hoola.standard.v1";

/// What the seat at turn start may do with the open discard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DiscardDraw {
    /// Take it under the condition of a claim and lay it at once.
    #[default]
    MeldOnly,
    /// Nothing.
    ThankyouOnly,
    /// Take it into the hand without condition.
    Free,
}

/// Which lay-offs keep the right to a hoola.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HoolaLayoff {
    /// Every one.
    #[default]
    Any,
    /// Only on own melds.
    Own,
    /// None.
    None,
}

/// When the feeder pays for all (dokbak).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DokbakScope {
    /// When it fed a hoola.
    #[default]
    Hoola,
    /// When it fed a hoola or a plain out.
    AnyWin,
    /// Never.
    Off,
}

/// How several winners share the pot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieSplit {
    /// Equally, the remainder to the next starter.
    #[default]
    Split,
    /// All of it to the next starter.
    NextStarter,
}

/// `hoola.standard.v1` and what overrides it. The ranges of the numbers are those of [`Rules::RANGES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Seats at the table, 2..=5.
    pub players: u8,
    /// Meld order around the ace.
    pub run_wrap: RunWrap,
    /// The open discard at turn start.
    pub discard_draw: DiscardDraw,
    /// A NORMAL stop needs a hand sum of at most this.
    pub stop_limit: u8,
    /// A LOW stop needs at most this.
    pub low_limit: u8,
    /// A HIGH stop needs at least this.
    pub high_limit: u8,
    /// Multiplier of LOW.
    pub mult_low: u8,
    /// Multiplier of HIGH.
    pub mult_high: u8,
    /// Which lay-offs keep the right to a hoola.
    pub hoola_layoff: HoolaLayoff,
    /// When the feeder pays for all.
    pub dokbak_scope: DokbakScope,
    /// How several winners share.
    pub tie_split: TieSplit,
    /// Value of a held 7 in every sum: 7 or 14.
    pub seven_hand_value: u8,
    /// CHONGTONG only while unregistered.
    pub chongtong_unregistered_only: bool,
    /// A sole payer pays the others' dues with the others' penalties.
    pub payer_inherits_baks: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            players: 4,
            run_wrap: RunWrap::Ring,
            discard_draw: DiscardDraw::MeldOnly,
            stop_limit: 15,
            low_limit: 15,
            high_limit: 83,
            mult_low: 2,
            mult_high: 2,
            hoola_layoff: HoolaLayoff::Any,
            dokbak_scope: DokbakScope::Hoola,
            tie_split: TieSplit::Split,
            seven_hand_value: 7,
            chongtong_unregistered_only: false,
            payer_inherits_baks: true,
        }
    }
}

impl Rules {
    /// Names and ranges of the numbers that may be overridden.
    pub const RANGES: [(&str, u32, u32); 6] = [
        ("players", 2, 5),
        ("stop_limit", 0, 40),
        ("low_limit", 0, 21),
        ("high_limit", 77, 112),
        ("mult_low", 1, 8),
        ("mult_high", 1, 8),
    ];

    /// Cards in the deck when the opening card has been turned: 37, 30, 23, 16 for 2..=5 players.
    pub const fn deck(&self) -> u32 {
        52 - 7 * self.players as u32 - 1
    }

    /// Value of a held 7.
    pub const fn seven(&self) -> u32 {
        self.seven_hand_value as u32
    }

    /// The number with this name, to be set.
    fn number(&mut self, name: &str) -> Option<&mut u8> {
        Some(match name {
            "players" => &mut self.players,
            "stop_limit" => &mut self.stop_limit,
            "low_limit" => &mut self.low_limit,
            "high_limit" => &mut self.high_limit,
            "mult_low" => &mut self.mult_low,
            "mult_high" => &mut self.mult_high,
            _ => return None,
        })
    }

    /// Overrides one of the numbers of [`Self::RANGES`]; false when it is out of range or there is no such number.
    pub fn set_number(&mut self, name: &str, value: u32) -> bool {
        let fits = Self::RANGES.iter().any(|&(known, least, most)| known == name && (least..=most).contains(&value));
        match (fits, self.number(name)) {
            (true, Some(place)) => {
                *place = value as u8;
                true
            }
            _ => false,
        }
    }

    /// The rules that a text means: the name, then ` switch=value` as often as wanted.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        if words.next() != Some(STANDARD) {
            return None;
        }
        let mut rules = Self::default();
        for word in words {
            let (name, value) = word.split_once('=')?;
            rules.set(name, value)?;
        }
        Some(rules)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "run_wrap" => self.run_wrap = named(&RUN_WRAPS, value)?,
            "discard_draw" => self.discard_draw = named(&DISCARD_DRAWS, value)?,
            "hoola_layoff" => self.hoola_layoff = named(&HOOLA_LAYOFFS, value)?,
            "dokbak_scope" => self.dokbak_scope = named(&DOKBAK_SCOPES, value)?,
            "tie_split" => self.tie_split = named(&TIE_SPLITS, value)?,
            "seven_hand_value" => {
                self.seven_hand_value = match value {
                    "7" => 7,
                    "14" => 14,
                    _ => return None,
                }
            }
            "chongtong_unregistered_only" => self.chongtong_unregistered_only = value.parse().ok()?,
            "payer_inherits_baks" => self.payer_inherits_baks = value.parse().ok()?,
            _ => return self.set_number(name, value.parse().ok()?).then_some(()),
        }
        Some(())
    }
}

const RUN_WRAPS: [(&str, RunWrap); 3] =
    [("RING", RunWrap::Ring), ("ACE_HIGH_OR_LOW", RunWrap::AceHighOrLow), ("ACE_LOW", RunWrap::AceLow)];
const DISCARD_DRAWS: [(&str, DiscardDraw); 3] =
    [("MELD_ONLY", DiscardDraw::MeldOnly), ("THANKYOU_ONLY", DiscardDraw::ThankyouOnly), ("FREE", DiscardDraw::Free)];
const HOOLA_LAYOFFS: [(&str, HoolaLayoff); 3] =
    [("ANY", HoolaLayoff::Any), ("OWN", HoolaLayoff::Own), ("NONE", HoolaLayoff::None)];
const DOKBAK_SCOPES: [(&str, DokbakScope); 3] =
    [("HOOLA", DokbakScope::Hoola), ("ANY_WIN", DokbakScope::AnyWin), ("OFF", DokbakScope::Off)];
const TIE_SPLITS: [(&str, TieSplit); 2] = [("SPLIT", TieSplit::Split), ("NEXT_STARTER", TieSplit::NextStarter)];

fn named<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    names.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
}

fn name_of<T: Copy + PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, known)| *known == value).map_or("?", |&(name, _)| name)
}

/// The resolved set: name, then every switch in the order of the rule table.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{STANDARD} players={}", self.players)?;
        write!(f, " run_wrap={}", name_of(&RUN_WRAPS, self.run_wrap))?;
        write!(f, " discard_draw={}", name_of(&DISCARD_DRAWS, self.discard_draw))?;
        write!(f, " stop_limit={}", self.stop_limit)?;
        write!(f, " low_limit={} high_limit={}", self.low_limit, self.high_limit)?;
        write!(f, " mult_low={} mult_high={}", self.mult_low, self.mult_high)?;
        write!(f, " hoola_layoff={}", name_of(&HOOLA_LAYOFFS, self.hoola_layoff))?;
        write!(f, " dokbak_scope={}", name_of(&DOKBAK_SCOPES, self.dokbak_scope))?;
        write!(f, " tie_split={}", name_of(&TIE_SPLITS, self.tie_split))?;
        write!(f, " seven_hand_value={}", self.seven_hand_value)?;
        write!(f, " chongtong_unregistered_only={}", self.chongtong_unregistered_only)?;
        write!(f, " payer_inherits_baks={}", self.payer_inherits_baks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resolved_text_reads_back() {
        let mut rules = Rules { players: 5, run_wrap: RunWrap::AceLow, seven_hand_value: 14, ..Rules::default() };
        rules.payer_inherits_baks = false;
        assert_eq!(Rules::parse(&rules.to_string()), Some(rules));
        assert_eq!(Rules::parse(STANDARD), Some(Rules::default()));
        for bad in ["hoola.other.v1", "hoola.standard.v1 players=6", "hoola.standard.v1 jokers=0", "hoola.standard.v1 x"] {
            assert_eq!(Rules::parse(bad), None, "{bad}");
        }
    }
}
