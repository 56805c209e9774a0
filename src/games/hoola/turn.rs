//! Whole turns: every set of disjoint new melds, every way to lay off, one discard or an empty hand.

use super::card::{Card, Cards};
use super::meld::{MeldKind, Melds};
use super::moves::Move;
use super::phase::{Layoffs, Scene, TurnSoFar, each_pair};
use super::settlement::End;
use super::state::{layoff_on, out};
use crate::bot::Seat;

/// At most this many cards are in hand during a turn, so at most this many melds and lay-offs are made in it.
const MOST: usize = 8;

/// A plan can begin with any of its melds and lay-offs, and with any two of three 7s that go on one SEVEN.
const FIRST: usize = MOST + 3;

/// More plans than this are not looked at.
pub const MOST_PLANS: u32 = 4096;

/// What a turn does, in an order in which it can be done: new melds, lay-offs, a discard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    melds: [Cards; MOST],
    meld_count: u8,
    lay_offs: [(u8, Cards); MOST],
    lay_off_count: u8,
    discard: Option<Card>,
}

impl Plan {
    const EMPTY: Self = Self {
        melds: [Cards::NONE; MOST],
        meld_count: 0,
        lay_offs: [(0, Cards::NONE); MOST],
        lay_off_count: 0,
        discard: None,
    };

    /// The new melds.
    pub fn melds(&self) -> &[Cards] {
        &self.melds[..usize::from(self.meld_count)]
    }

    /// The lay-offs: place on the table, as it is once all melds of the plan lie there, and cards.
    pub fn lay_offs(&self) -> &[(u8, Cards)] {
        &self.lay_offs[..usize::from(self.lay_off_count)]
    }

    /// The discard, unless the hand is empty before it.
    pub const fn discard(&self) -> Option<Card> {
        self.discard
    }

    /// The moves in order, starting with `first`, which must be one of those the plan can begin with. `on_table` is
    /// the number of melds that lie on the table now: new ones get the next places in the order they are laid.
    pub fn line(&self, first: Option<Move>, on_table: u8) -> Vec<Move> {
        let mut melds = self.melds().to_vec();
        let mut places: Vec<usize> = (0..melds.len()).collect();
        if let Some(Move::Register(cards)) = first
            && let Some(at) = melds.iter().position(|&meld| meld == cards)
        {
            melds[..=at].rotate_right(1);
            places[..=at].rotate_right(1);
        }
        let renumbered = |meld: u8| match meld.checked_sub(on_table) {
            None => meld,
            Some(new) => {
                let now = places.iter().position(|&place| place == usize::from(new));
                on_table + now.unwrap_or(usize::from(new)) as u8
            }
        };
        let lay_offs =
            self.lay_offs().iter().map(|&(meld, cards)| Move::LayOff { meld: renumbered(meld), cards });
        let mut line: Vec<Move> = melds.into_iter().map(Move::Register).chain(lay_offs).collect();
        if let Some(Move::LayOff { meld, cards }) = first {
            begin_with(&mut line, meld, cards);
        }
        line.extend(self.discard.map(Move::Discard));
        line
    }
}

/// Brings a lay-off to the front. Of three 7s that go on a SEVEN any two can be the pair that goes first.
fn begin_with(line: &mut Vec<Move>, meld: u8, cards: Cards) {
    let first = Move::LayOff { meld, cards };
    if !line.contains(&first) {
        let third = line.iter().fold(Cards::NONE, |laid, mv| match mv {
            Move::LayOff { meld: other, cards } if *other == meld => laid | *cards,
            _ => laid,
        }) - cards;
        line.retain(|mv| !matches!(mv, Move::LayOff { meld: other, .. } if *other == meld));
        line.push(first);
        line.push(Move::LayOff { meld, cards: third });
    }
    if let Some(at) = line.iter().position(|&mv| mv == first) {
        line[..=at].rotate_right(1);
    }
}

/// What a plan leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ending {
    /// The hand is empty: the round is over and won.
    Out(End),
    /// The turn is over.
    Left {
        /// The hand left.
        hand: Cards,
        /// The cards of it that fit the table.
        fits: Cards,
        /// Whether the seat is registered.
        registered: bool,
    },
}

/// Takes the plans.
pub trait PlanVisitor {
    /// The value of an ending of a turn, or of an empty hand: of plans that differ in the discard only, the first of the
    /// greatest value is kept, unless they are nothing but a discard.
    fn value(&mut self, ending: &Ending) -> f64;

    /// One plan with its ending and value, and the moves it can begin with.
    fn plan(&mut self, plan: &Plan, ending: &Ending, value: f64, first: &[Move]);
}

/// How the enumeration went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// Plans looked at.
    pub plans: u32,
    /// Whether there were more.
    pub cut: bool,
}

/// Hands every plan of the turn to the visitor: those with fewer new melds first, then in ascending order.
pub fn each_plan(scene: &Scene<'_>, turn: &TurnSoFar, seat: Seat, visitor: &mut impl PlanVisitor) -> Looked {
    let mut groups = Vec::with_capacity(16);
    scene.each_new_meld(|cards| groups.push(cards));
    groups.sort_unstable();
    let mut planner = Planner {
        scene,
        turn,
        seat,
        visitor,
        melds: *scene.melds,
        groups: &groups,
        plan: Plan::EMPTY,
        layoffs: turn.layoffs,
        visited: Vec::new(),
        looked: Looked::default(),
    };
    for count in 0..=MOST {
        if !planner.with_melds(count, 0, scene.hand) {
            break;
        }
    }
    planner.looked
}

struct Planner<'a, V> {
    scene: &'a Scene<'a>,
    turn: &'a TurnSoFar,
    seat: Seat,
    visitor: &'a mut V,
    melds: Melds,
    groups: &'a [Cards],
    plan: Plan,
    layoffs: Layoffs,
    /// Lay-offs already looked at with the present melds: the hand left and a mark of what lies where.
    visited: Vec<(Cards, u64)>,
    looked: Looked,
}

impl<V: PlanVisitor> Planner<'_, V> {
    /// Lays `count` more of the groups from place `from` on. False when there was no way to.
    fn with_melds(&mut self, count: usize, from: usize, hand: Cards) -> bool {
        if count == 0 {
            self.lay_offs(hand);
            return true;
        }
        let mut any = false;
        for place in from..self.groups.len() {
            let group = self.groups[place];
            if self.looked.cut || !hand.covers(group) {
                continue;
            }
            self.melds.register(self.seat.0, group, self.scene.rules.run_wrap);
            self.plan.melds[usize::from(self.plan.meld_count)] = group;
            self.plan.meld_count += 1;
            any |= self.with_melds(count - 1, place + 1, hand - group);
            self.plan.meld_count -= 1;
            self.melds.pop();
        }
        any
    }

    /// With the melds as they lie: no lay-off at all, or every way to lay off until nothing fits.
    fn lay_offs(&mut self, hand: Cards) {
        self.end(hand);
        if self.scene.registered || self.plan.meld_count > 0 {
            self.visited.clear();
            self.lay_on(hand, 0);
        }
    }

    fn lay_on(&mut self, hand: Cards, mark: u64) {
        let sevens = hand & Cards::SEVENS;
        let pairs = sevens.len() >= 2 && self.melds.has_seven();
        if !hand.meets(self.melds.fits()) && !pairs {
            // Nothing laid off is the plan that was looked at first.
            if self.plan.lay_off_count > 0 {
                self.end(hand);
            }
            return;
        }
        for id in 0..self.melds.list().len() {
            let meld = self.melds.list()[id];
            for card in (hand & meld.fits).iter() {
                self.lay(id, Cards::of(card), hand, mark);
            }
            if pairs && meld.kind == MeldKind::Seven {
                each_pair(sevens, |pair| self.lay(id, pair, hand, mark));
            }
        }
    }

    fn lay(&mut self, id: usize, cards: Cards, hand: Cards, mark: u64) {
        // What lies where does not depend on the order of laying: one exclusive or a card.
        let mark = cards.iter().fold(mark, |mark, card| mark ^ spread(id as u64 * 64 + u64::from(card.id())));
        let hand = hand - cards;
        if self.looked.cut || self.visited.contains(&(hand, mark)) {
            return;
        }
        self.visited.push((hand, mark));
        let layoffs = self.layoffs;
        let before = self.melds.lay_off(id, cards, self.scene.rules.run_wrap);
        self.layoffs = layoffs.max(layoff_on(before.owner, self.seat));
        self.plan.lay_offs[usize::from(self.plan.lay_off_count)] = (id as u8, cards);
        self.plan.lay_off_count += 1;
        self.lay_on(hand, mark);
        self.plan.lay_off_count -= 1;
        self.layoffs = layoffs;
        self.melds.restore(id, before);
    }

    /// Everything is laid that this plan lays: an empty hand, or each discard.
    fn end(&mut self, hand: Cards) {
        let mut first = [Move::Pass; FIRST];
        let begins = self.begins(&mut first);
        if hand.is_empty() {
            self.plan.discard = None;
            let ending = Ending::Out(out(self.scene.rules, self.turn, self.layoffs));
            self.look(&ending, &first[..begins]);
            return;
        }
        let last = Scene { hand, ..*self.scene };
        let mut best: Option<(f64, Card, Ending)> = None;
        for card in last.discards().iter() {
            let ending = self.discarded(hand.without(card));
            if begins == 0 {
                self.plan.discard = Some(card);
                self.look(&ending, &[Move::Discard(card)]);
                continue;
            }
            if !self.count() {
                break;
            }
            let value = self.visitor.value(&ending);
            if best.is_none_or(|(most, ..)| value > most) {
                best = Some((value, card, ending));
            }
        }
        if let Some((value, card, ending)) = best {
            self.plan.discard = Some(card);
            self.visitor.plan(&self.plan, &ending, value, &first[..begins]);
        }
    }

    fn discarded(&self, hand: Cards) -> Ending {
        if hand.is_empty() {
            return Ending::Out(out(self.scene.rules, self.turn, self.layoffs));
        }
        let registered = self.scene.registered || self.plan.meld_count > 0;
        Ending::Left { hand, fits: hand & self.melds.fits(), registered }
    }

    fn look(&mut self, ending: &Ending, first: &[Move]) {
        if self.count() {
            let value = self.visitor.value(ending);
            self.visitor.plan(&self.plan, ending, value, first);
        }
    }

    fn count(&mut self) -> bool {
        if self.looked.plans == MOST_PLANS {
            self.looked.cut = true;
            return false;
        }
        self.looked.plans += 1;
        true
    }

    /// The moves this plan can begin with: any of its melds; a lay-off that is legal on the table as it lies now.
    fn begins(&self, first: &mut [Move; FIRST]) -> usize {
        let mut count = 0;
        let mut add = |mv| {
            first[count] = mv;
            count += 1;
        };
        self.plan.melds().iter().for_each(|&cards| add(Move::Register(cards)));
        if self.scene.registered {
            for &(meld, cards) in self.plan.lay_offs() {
                let Some(now) = self.scene.melds.list().get(usize::from(meld)) else { continue };
                if now.fits.covers(cards) {
                    add(Move::LayOff { meld, cards });
                } else if now.kind == MeldKind::Seven && cards.len() == 2 {
                    each_pair(self.melds.list()[usize::from(meld)].cards - now.cards, |cards| {
                        add(Move::LayOff { meld, cards });
                    });
                }
            }
        }
        count
    }
}

/// Spreads a small number over 64 bits (the finaliser of splitmix64).
const fn spread(x: u64) -> u64 {
    let x = (x + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^ (x >> 27)
}
