//! Moves, their text and their order.

use std::fmt;

use super::card::{Card, Cards};

/// The four ways to stop a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopKind {
    /// 총통: four 7s in hand.
    Chongtong,
    /// 로우: an unregistered hand with a small sum.
    Low,
    /// 하이: an unregistered hand with a large sum.
    High,
    /// 일반: a small sum, compared with the others.
    Normal,
}

impl StopKind {
    /// In the order in which bots prefer them.
    pub const ALL: [Self; 4] = [Self::Chongtong, Self::Low, Self::High, Self::Normal];

    /// As in move texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chongtong => "CHONGTONG",
            Self::Low => "LOW",
            Self::High => "HIGH",
            Self::Normal => "NORMAL",
        }
    }
}

/// A move at any of the three decision points. The derived order is the canonical one: verb, then numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Move {
    /// Ends the round.
    Stop(StopKind),
    /// Takes the open discard at turn start; the own cards it is laid with, none when it goes into the hand (FREE).
    Take(Cards),
    /// Lays a new meld.
    Register(Cards),
    /// Adds cards to a meld on the table.
    LayOff {
        /// The meld's place on the table.
        meld: u8,
        /// One card that fits, or two 7s.
        cards: Cards,
    },
    /// Thank-you: takes the open discard out of turn and lays it with these own cards.
    Claim(Cards),
    /// Takes the deck's top card.
    Draw,
    /// Leaves the open discard alone.
    Pass,
    /// Ends the turn.
    Discard(Card),
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stop(kind) => write!(f, "stop:{}", kind.name()),
            Self::Take(cards) if cards.is_empty() => write!(f, "take"),
            Self::Take(cards) => write!(f, "take:{}", ids(*cards)),
            Self::Register(cards) => write!(f, "reg:{}", ids(*cards)),
            Self::LayOff { meld, cards } => write!(f, "lay:{meld}:{}", ids(*cards)),
            Self::Claim(cards) => write!(f, "claim:{}", ids(*cards)),
            Self::Draw => write!(f, "draw"),
            Self::Pass => write!(f, "pass"),
            Self::Discard(card) => write!(f, "disc:{}", card.id()),
        }
    }
}

fn ids(cards: Cards) -> String {
    cards.iter().map(|card| card.id().to_string()).collect::<Vec<_>>().join(",")
}

impl Move {
    /// The move that a text names; only the canonical text of a move is accepted.
    pub fn parse(text: &str) -> Option<Self> {
        let (verb, rest) = text.split_once(':').map_or((text, None), |(verb, rest)| (verb, Some(rest)));
        let mv = match (verb, rest) {
            ("stop", Some(name)) => Self::Stop(StopKind::ALL.into_iter().find(|kind| kind.name() == name)?),
            ("take", None) => Self::Take(Cards::NONE),
            ("take", Some(list)) => Self::Take(parse_ids(list)?),
            ("reg", Some(list)) => Self::Register(parse_ids(list)?),
            ("lay", Some(rest)) => {
                let (meld, list) = rest.split_once(':')?;
                Self::LayOff { meld: meld.parse().ok()?, cards: parse_ids(list)? }
            }
            ("claim", Some(list)) => Self::Claim(parse_ids(list)?),
            ("draw", None) => Self::Draw,
            ("pass", None) => Self::Pass,
            ("disc", Some(id)) => Self::Discard(Card::new(id.parse().ok()?)?),
            _ => return None,
        };
        (mv.to_string() == text).then_some(mv)
    }

    /// What sort of move it is.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Stop(_) => "stop",
            Self::Take(_) => "take",
            Self::Register(_) => "register",
            Self::LayOff { .. } => "lay_off",
            Self::Claim(_) => "claim",
            Self::Draw => "draw",
            Self::Pass => "pass",
            Self::Discard(_) => "discard",
        }
    }
}

fn parse_ids(list: &str) -> Option<Cards> {
    list.split(',').map(|id| Card::new(id.parse().ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_and_order_by_verb_then_numbers() {
        let texts = [
            "stop:CHONGTONG", "stop:NORMAL", "take", "take:4,5", "reg:0,1,2", "reg:0,1,2,3", "reg:0,2,3", "lay:0:51",
            "lay:1:3", "lay:10:2", "claim:3,4", "draw", "pass", "disc:2", "disc:10",
        ];
        let moves: Vec<Move> = texts.iter().map(|text| Move::parse(text).unwrap()).collect();
        assert!(moves.is_sorted());
        for (mv, text) in moves.iter().zip(texts) {
            assert_eq!(mv.to_string(), text);
        }
        for bad in ["", "reg:", "reg:2,1", "reg:1,1", "reg:52", "disc:+1", "disc:01", "stop:SOON", "lay:0", "draw:1"] {
            assert_eq!(Move::parse(bad), None, "{bad}");
        }
    }
}
