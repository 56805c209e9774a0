//! `easy`: five lines, no randomness, no search. The baseline of every strength table, and the player of rollouts.

use crate::bot::policy::Heeds;
use crate::bot::{About, Evaluated, Evaluation, Limits, Policy, PolicyKind, TermSet, Turn, Unit, Weights};
use crate::games::hoola::Hoola;
use crate::games::hoola::card::{Card, Cards};
use crate::games::hoola::meld::{each_claim, each_group};
use crate::games::hoola::moves::{Move, StopKind};
use crate::games::hoola::phase::{Phase, Scene};
use crate::games::hoola::terms::{HoolaTerm, HoolaTerms};
use crate::games::hoola::view::View;

/// A NORMAL stop is called at this hand sum or less.
const STOP_AT: u32 = 5;

/// The five lines. Their numbers are the position's fact `rule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Stop when that is certain, or with a very small hand.
    Stop = 1,
    /// Claim whenever legal.
    Claim = 2,
    /// Draw; lay every meld.
    Lay = 3,
    /// Lay off.
    LayOff = 4,
    /// Discard.
    Discard = 5,
}

/// The five lines as a policy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Easy;

impl Policy<Hoola> for Easy {
    fn about(&self) -> About {
        About {
            version: 1,
            summary: "Five fixed lines: stop when certain, claim always, lay everything, throw high and lonely cards.",
            kind: PolicyKind::Rules,
            anytime: false,
            uses_seed: false,
            default_limits: Limits::NONE,
            heeds: Heeds::default(),
            terms: TERMS,
            aliases: &[],
            stages: &[],
        }
    }

    fn evaluate(&self, view: &View, _turn: &mut Turn<'_>) -> Evaluated<Hoola> {
        let scene = view.scene();
        let (line, proposed) = decision(&scene);
        let weights = weights();
        let order = order(&scene, line, proposed);
        let whole = order.len() as u32;
        let rows = order.iter().zip(0..).map(|(&mv, place)| {
            let terms = HoolaTerms {
                line: Unit::flag(mv == proposed),
                preference: Unit::ratio(whole - place, whole),
                ..HoolaTerms::default()
            };
            Evaluation::weigh(mv, terms, &weights)
        });
        Evaluated::new(rows.collect()).fact("rule", f64::from(line as u8), "")
    }

    fn shortcut(&self, view: &View, _turn: &mut Turn<'_>) -> Option<Move> {
        Some(decision(&view.scene()).1)
    }

    fn weights(&self) -> Vec<Weights<HoolaTerms>> {
        vec![weights()]
    }
}

const TERMS: TermSet = TermSet::of(&[HoolaTerm::Line as usize, HoolaTerm::Preference as usize]);

/// A preference is weaker than the line itself: it only orders what the line does not propose.
fn weights() -> Weights<HoolaTerms> {
    Weights::of(&[(HoolaTerm::Line as usize, 10.0), (HoolaTerm::Preference as usize, 1.0)])
}

/// The move, and the line that proposes it. No allocation.
pub fn decision(scene: &Scene<'_>) -> (Line, Move) {
    match scene.phase {
        Phase::TurnStart => match stop(scene) {
            Some(kind) => (Line::Stop, Move::Stop(kind)),
            None => (Line::Lay, Move::Draw),
        },
        Phase::Window => (Line::Claim, claim(scene).map_or(Move::Pass, Move::Claim)),
        Phase::Action => in_turn(scene),
    }
}

/// Line 1.
pub fn stop(scene: &Scene<'_>) -> Option<StopKind> {
    let called = |kind: &StopKind| scene.may_stop(*kind) && (*kind != StopKind::Normal || scene.sum() <= STOP_AT);
    StopKind::ALL.into_iter().find(called)
}

/// Line 2: the own cards that leave the smallest sum in hand; ties: smallest ascending list.
pub fn claim(scene: &Scene<'_>) -> Option<Cards> {
    let seven = scene.rules.seven();
    let mut best: Option<(u32, Cards)> = None;
    each_claim(scene.hand, scene.open, scene.rules.run_wrap, |own| {
        let sum = own.sum(seven);
        if best.is_none_or(|(most, first)| sum > most || sum == most && own < first) {
            best = Some((sum, own));
        }
    });
    best.map(|(_, own)| own)
}

fn in_turn(scene: &Scene<'_>) -> (Line, Move) {
    if scene.holds_group() {
        return (Line::Lay, Move::Register(first_of_best_groups(scene)));
    }
    if let Some(seven) = (scene.hand & Cards::SEVENS).first() {
        return (Line::Lay, Move::Register(Cards::of(seven)));
    }
    match lay_off(scene) {
        Some(mv) => (Line::LayOff, mv),
        None => (Line::Discard, Move::Discard(discard(scene))),
    }
}

/// Eight cards hold at most 21 SETs and RUNs (eight in a row).
const GROUPS: usize = 32;

/// Line 3: of the disjoint SETs and RUNs that leave the smallest sum, then the fewest cards, then are fewest, then come
/// first in order, the first.
fn first_of_best_groups(scene: &Scene<'_>) -> Cards {
    let mut groups = [Cards::NONE; GROUPS];
    let mut count = 0;
    each_group(scene.hand, scene.rules.run_wrap, |group| {
        if count < GROUPS {
            groups[count] = group;
            count += 1;
        }
    });
    if count == 1 {
        return groups[0];
    }
    let groups = &mut groups[..count];
    groups.sort_unstable();
    let mut search = Covering { groups, seven: scene.rules.seven(), best: (0, 0, 0), first: Cards::NONE };
    search.extend(0, Cards::NONE, 0, Cards::NONE);
    search.first
}

struct Covering<'a> {
    groups: &'a [Cards],
    seven: u32,
    /// Sum laid, cards laid, melds saved: the greatest is best.
    best: (u32, u32, i32),
    first: Cards,
}

impl Covering<'_> {
    /// Tries every further group from place `from` on. Ascending order meets the smaller list of equal ones first.
    fn extend(&mut self, from: usize, laid: Cards, melds: i32, first: Cards) {
        for place in from..self.groups.len() {
            let group = self.groups[place];
            if group.meets(laid) {
                continue;
            }
            let (now, first) = (laid | group, if melds == 0 { group } else { first });
            let value = (now.sum(self.seven), now.len(), -(melds + 1));
            if value > self.best || self.first.is_empty() {
                (self.best, self.first) = (value, first);
            }
            self.extend(place + 1, now, melds + 1, first);
        }
    }
}

/// Line 4: the card of highest value, then lowest id, on the lowest meld.
fn lay_off(scene: &Scene<'_>) -> Option<Move> {
    let fitting = scene.hand & scene.melds.fits();
    if !scene.registered || fitting.is_empty() {
        return None;
    }
    let card = highest(fitting, scene.rules.seven())?;
    let meld = scene.melds.list().iter().position(|meld| meld.fits.has(card))?;
    Some(Move::LayOff { meld: meld as u8, cards: Cards::of(card) })
}

/// Line 5: first cards that are not 7s, then cards without partner, then highest value, then lowest id.
fn discard(scene: &Scene<'_>) -> Card {
    let (hand, allowed) = (scene.hand, scene.discards());
    let partnered = scene.rules.run_wrap.neighbours(hand) | hand.paired_ranks();
    let prefer = |cards: Cards, wanted: Cards| if cards.meets(wanted) { cards & wanted } else { cards };
    let best = prefer(prefer(allowed, !Cards::SEVENS), !partnered);
    highest(best, scene.rules.seven()).expect("a hand in ACTION is never empty; this is a bug of the view")
}

/// The card of highest value, then lowest id.
fn highest(cards: Cards, seven: u32) -> Option<Card> {
    if seven > 13 && cards.meets(Cards::SEVENS) {
        return (cards & Cards::SEVENS).first();
    }
    let [a, b, c, d] = cards.lanes();
    let ranks = a | b | c | d;
    let top = ranks.checked_ilog2()?;
    (cards & Cards::rank(top as u8 + 1)).first()
}

/// All legal moves as the line orders them: its own first, then the others in canonical order.
fn order(scene: &Scene<'_>, line: Line, proposed: Move) -> Vec<Move> {
    let seven = scene.rules.seven();
    let sum = |cards: &Cards| -(cards.sum(seven) as i64);
    let mut moves = scene.legal();
    let partnered = scene.rules.run_wrap.neighbours(scene.hand) | scene.hand.paired_ranks();
    moves.sort_by_key(|mv| {
        let own = match (line, mv) {
            (Line::Stop, Move::Stop(kind)) => [0, 0, 0, *kind as i64],
            (Line::Claim, Move::Claim(cards)) => [0, 0, 0, sum(cards)],
            (Line::Claim, Move::Pass) => [0, 0, 1, 0],
            (Line::Lay, Move::Register(cards)) => [0, i64::from(cards.is_single()), 0, sum(cards)],
            (Line::LayOff, Move::LayOff { meld, cards }) => [0, i64::from(!cards.is_single()), sum(cards), i64::from(*meld)],
            (Line::Discard, Move::Discard(card)) => {
                let alone = !partnered.has(*card);
                [0, i64::from(card.is_seven()), i64::from(!alone), sum(&Cards::of(*card))]
            }
            _ => [1, 0, 0, 0],
        };
        (*mv != proposed, own)
    });
    moves
}
