//! Who pays whom: the ladder, multipliers, penalties (bak), the sole payer, ties.

use super::rules::{DokbakScope, Rules, TieSplit};
use crate::bot::{Seat, Seats};

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A hand is empty.
    Out,
    /// A hand is empty, in one turn that began unregistered.
    Hoola,
    /// Stopped with four 7s.
    Chongtong,
    /// Stopped with a small unregistered hand.
    Low,
    /// Stopped with a large unregistered hand.
    High,
    /// A NORMAL stop held.
    StopOk,
    /// A NORMAL stop did not hold.
    StopFail,
    /// The deck is used up.
    Exhausted,
}

impl End {
    /// As in data files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Out => "OUT",
            Self::Hoola => "HOOLA",
            Self::Chongtong => "CHONGTONG",
            Self::Low => "LOW",
            Self::High => "HIGH",
            Self::StopOk => "STOP_OK",
            Self::StopFail => "STOP_FAIL",
            Self::Exhausted => "EXHAUSTED",
        }
    }

    /// What every due is multiplied by.
    pub const fn multiplier(self, rules: &Rules) -> i64 {
        match self {
            Self::Hoola => 4,
            Self::Chongtong => 8,
            Self::Low => rules.mult_low as i64,
            Self::High => rules.mult_high as i64,
            Self::Out | Self::StopOk | Self::StopFail | Self::Exhausted => 1,
        }
    }
}

/// The end of a round, with the seats that brought it about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finish {
    /// How.
    pub end: End,
    /// Who went out or stopped; none when the deck ran out.
    pub actor: Option<Seat>,
    /// Whose discard the last turn began with; none for the deck or the opening card.
    pub feeder: Option<Seat>,
}

/// What a seat holds at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// Hand sum.
    pub sum: u32,
    /// Whether it has registered.
    pub registered: bool,
    /// 7s in hand.
    pub sevens: u32,
}

/// What the round paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paid {
    /// Points by seat; 0 beyond the table. They add up to 0.
    pub payments: [i64; 5],
    /// The winners.
    pub winners: Seats,
    /// Who starts the next round.
    pub next_starter: Seat,
}

/// Settles a round. `starter` is the one of this round.
pub fn settle(rules: &Rules, holdings: &[Holding], finish: Finish, starter: Seat) -> Paid {
    let winners = winners(holdings, finish);
    let next_starter = next_starter(holdings.len(), winners, starter);
    let sole = sole_payer(rules, finish);
    let mut payments = [0; 5];
    let mut pot = 0;
    for (i, holding) in holdings.iter().enumerate() {
        let seat = Seat(i as u8);
        if winners.contains(seat) {
            continue;
        }
        let bare = (1 << (place(holdings, winners, seat) - 2)) * finish.end.multiplier(rules);
        let inherits = sole.is_none_or(|payer| payer == seat || rules.payer_inherits_baks);
        let due = if inherits { bare * bak(holding) } else { bare };
        payments[sole.unwrap_or(seat).index()] -= due;
        pot += due;
    }
    for seat in winners.iter() {
        payments[seat.index()] += share(rules, pot, winners.len(), seat == next_starter);
    }
    Paid { payments, winners, next_starter }
}

fn winners(holdings: &[Holding], finish: Finish) -> Seats {
    let (Some(actor), true) = (finish.actor, finish.end != End::StopFail) else {
        return lowest(holdings, finish.actor);
    };
    Seats::default().with(actor)
}

/// Among all seats but `without`: the registered ones with the lowest sum; if none is registered, all with the lowest.
fn lowest(holdings: &[Holding], without: Option<Seat>) -> Seats {
    let candidates = |registered: bool| {
        let open = move |i: &usize| without != Some(Seat(*i as u8)) && holdings[*i].registered >= registered;
        (0..holdings.len()).filter(open)
    };
    let registered = candidates(true).next().is_some();
    let least = candidates(registered).map(|i| holdings[i].sum).min();
    let best = candidates(registered).filter(|&i| Some(holdings[i].sum) == least);
    best.fold(Seats::default(), |seats, i| seats.with(Seat(i as u8)))
}

/// A loser's place: ties all take the lower one, and all unregistered losers share the last.
fn place(holdings: &[Holding], winners: Seats, seat: Seat) -> u32 {
    let own = holdings[seat.index()];
    if !own.registered {
        return holdings.len() as u32;
    }
    let level = holdings.iter().enumerate().filter(|&(i, other)| {
        let rival = Seat(i as u8) != seat && !winners.contains(Seat(i as u8));
        rival && other.registered && other.sum <= own.sum
    });
    winners.len() + 1 + level.count() as u32
}

/// The personal penalty: twice for an unregistered hand, twice for every 7 in it.
fn bak(holding: &Holding) -> i64 {
    (if holding.registered { 1 } else { 2 }) << holding.sevens
}

fn sole_payer(rules: &Rules, finish: Finish) -> Option<Seat> {
    match (finish.end, rules.dokbak_scope) {
        (End::StopFail, _) => finish.actor,
        (End::Hoola, DokbakScope::Hoola | DokbakScope::AnyWin) | (End::Out, DokbakScope::AnyWin) => finish.feeder,
        _ => None,
    }
}

fn next_starter(players: usize, winners: Seats, starter: Seat) -> Seat {
    let players = players as u8;
    let walk = (1..=players).map(|step| Seat((starter.0 + step) % players));
    walk.into_iter().find(|&seat| winners.contains(seat)).unwrap_or(starter)
}

fn share(rules: &Rules, pot: i64, winners: u32, next_starter: bool) -> i64 {
    let winners = i64::from(winners);
    match (rules.tie_split, next_starter) {
        (TieSplit::Split, true) => pot / winners + pot % winners,
        (TieSplit::Split, false) => pot / winners,
        (TieSplit::NextStarter, true) => pot,
        (TieSplit::NextStarter, false) => 0,
    }
}
