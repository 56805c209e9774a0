//! Worlds: what the others may hold. The unseen tiles are dealt by their counts, and what the others did in this round
//! is the evidence: of several deals one is kept, by how well it explains their actions.
//!
//! A pass is evidence, never a void: every action keeps some probability in every world.

use super::flow::{Flow, SEATS};
use super::meld::Meld;
use super::melds;
use super::policies::easy_move;
use super::tile::{Deck, Tile, TileSet};
use super::view::{View, full_hands};
use crate::bot::Rng;

/// How a rival is taken to play in one world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Like `easy`.
    #[default]
    Easy,
    /// By a cheap term sum: see the rollouts.
    Draft,
}

/// What the rivals hold in one world, in the order in which they act after me.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct World {
    /// Their hands.
    pub hands: [TileSet; SEATS - 1],
    /// How they play.
    pub styles: [Style; SEATS - 1],
}

/// One logged action of a rival.
#[derive(Clone, Copy, Debug)]
struct Deed {
    /// What the seat has played from this action on: its hand then is this and its hand now.
    later: TileSet,
    table: Option<Meld>,
    play: Option<Meld>,
}

/// Where worlds come from.
#[derive(Clone, Debug)]
pub struct Worlds {
    deck: &'static Deck,
    unseen: Vec<Tile>,
    counts: [u8; SEATS - 1],
    rivals: usize,
    /// The rival that must hold cloud 3.
    holder: Option<usize>,
    deeds: [Vec<Deed>; SEATS - 1],
}

/// Deals drawn for a world, of which one is kept.
const DEALS: usize = 8;
/// No world explains the log worse than this.
const FLOOR: f64 = 1e-9;

impl Worlds {
    /// The worlds that fit a view.
    pub fn of(view: &View) -> Self {
        let rivals: Vec<u8> = view.rivals().collect();
        let mut counts = [0; SEATS - 1];
        counts.iter_mut().zip(&rivals).for_each(|(count, seat)| *count = view.counts()[usize::from(*seat)]);
        let holder = view.hidden_c3_holder().and_then(|seat| rivals.iter().position(|rival| *rival == seat));
        let unseen = view.unseen().into_iter().filter(|tile| holder.is_none() || *tile != Tile::C3).collect();
        Self { deck: view.deck(), unseen, counts, rivals: rivals.len(), holder, deeds: deeds(view, &rivals) }
    }

    /// A world. The same stream of numbers gives the same world.
    pub fn draw(&mut self, rng: &mut Rng) -> World {
        if self.deeds.iter().all(Vec::is_empty) {
            return self.deal(rng);
        }
        let (mut kept, mut sum) = (World::default(), 0.0);
        for _ in 0..DEALS {
            let mut world = self.deal(rng);
            let likely = self.explain(&mut world, rng).max(FLOOR);
            sum += likely;
            if rng.unit() * sum < likely {
                kept = world;
            }
        }
        kept
    }

    fn deal(&mut self, rng: &mut Rng) -> World {
        let mut world = World::default();
        let styles = rng.next_u64();
        let mut next = self.unseen.len();
        for rival in 0..self.rivals {
            let mut hand = if self.holder == Some(rival) { TileSet::of(Tile::C3) } else { TileSet::EMPTY };
            let missing = usize::from(self.counts[rival]) - hand.len() as usize;
            for _ in 0..missing {
                // One step of a shuffle: whatever order the list is in, the tile drawn is any of those left.
                let place = rng.below(next as u64) as usize;
                next -= 1;
                self.unseen.swap(place, next);
                hand = hand.with(self.unseen[next]);
            }
            world.hands[rival] = hand;
            world.styles[rival] = if styles >> rival & 1 == 0 { Style::Easy } else { Style::Draft };
        }
        world
    }

    /// How probable the logged actions are with these hands, up to a factor that is the same in all worlds: for each
    /// rival the mean over both styles. The styles are drawn anew, each by how well it explains its rival.
    fn explain(&self, world: &mut World, rng: &mut Rng) -> f64 {
        let mut likely = 1.0;
        for rival in 0..self.rivals {
            let (mut easy, mut draft) = (0.5, 0.5);
            for deed in &self.deeds[rival] {
                let hand = world.hands[rival].or(deed.later);
                easy *= as_easy(deed, hand, self.deck);
                draft *= as_draft(deed, hand, self.deck);
            }
            likely *= easy + draft;
            let is_easy = rng.unit() * (easy + draft) < easy;
            world.styles[rival] = if is_easy { Style::Easy } else { Style::Draft };
        }
        likely
    }
}

fn deeds(view: &View, rivals: &[u8]) -> [Vec<Deed>; SEATS - 1] {
    let mut deeds: [Vec<Deed>; SEATS - 1] = Default::default();
    let Some(first) = view.log().first() else { return deeds };
    let mut flow = Flow::start(view.seats(), first.seat, full_hands(view.deck()));
    for action in view.log() {
        if let Some(rival) = rivals.iter().position(|seat| *seat == action.seat) {
            deeds[rival].push(Deed { later: TileSet::EMPTY, table: flow.table, play: action.play });
        }
        flow.apply(action.play);
    }
    for list in &mut deeds {
        let mut later = TileSet::EMPTY;
        for deed in list.iter_mut().rev() {
            later = later.or(deed.play.map_or(TileSet::EMPTY, |meld| meld.tiles()));
            deed.later = later;
        }
    }
    deeds
}

/// Whether `hand` holds an answer to `table`.
fn can_answer(hand: TileSet, deck: &Deck, table: &Meld) -> bool {
    match table.count() {
        1 => hand.highest() > table.tiles().highest(),
        count if hand.len() < count => false,
        count => melds::strongest(hand, deck, count).is_some_and(|best| best.key() > table.key()),
    }
}

/// Probability of a deed for who plays like `easy`: whatever `easy` would not do happens with 0.12.
fn as_easy(deed: &Deed, hand: TileSet, deck: &Deck) -> f64 {
    const SELDOM: f64 = 0.12;
    let unlike = match (&deed.table, &deed.play) {
        (None, None) => false,
        (Some(table), None) => can_answer(hand, deck, table),
        (None, Some(lead)) => !hand.lowest().is_some_and(|lowest| lead.tiles().has(lowest)),
        (Some(table), Some(play)) => play.count() < 5 && easy_move(hand, deck, Some(table)) != Some(*play),
    };
    if unlike { SELDOM } else { 1.0 }
}

/// Probability of a deed for who plays by terms: it passes with an answer now and then, and seldom skips a cheaper
/// tile or pair that fits nowhere else.
fn as_draft(deed: &Deed, hand: TileSet, deck: &Deck) -> f64 {
    const PLAYS: f64 = 0.75;
    match (&deed.table, &deed.play) {
        (None, None) => 1.0,
        (Some(table), None) => if can_answer(hand, deck, table) { 0.5 } else { 1.0 },
        (Some(table), Some(play)) if play.count() < 3 => {
            let between = ranks_between(table.key().order(), play.key().order());
            PLAYS * 0.5f64.powi((between & exactly(hand, play.count())).count_ones() as i32)
        }
        (None, Some(lead)) if lead.count() == 1 => {
            let lower = (1 << (4 * lead.key().order())) - 1;
            if lower & exactly(hand, 1) != 0 { PLAYS * 0.5 } else { PLAYS }
        }
        (_, Some(_)) => PLAYS,
    }
}

/// The ranks strictly between two orders, as lanes.
const fn ranks_between(low: u8, high: u8) -> u64 {
    let below_high = (1u64 << (4 * high)) - 1;
    below_high & (!0 << (4 * low + 4))
}

/// The ranks held exactly once or twice, as lanes.
const fn exactly(hand: TileSet, count: u32) -> u64 {
    let [two, three, _] = hand.lanes_by_count();
    if count == 1 { hand.lanes() & !two } else { two & !three }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(text: &str) -> TileSet {
        text.split_whitespace().filter_map(Tile::parse).collect()
    }

    fn deed(table: &str, play: &str) -> Deed {
        let deck = Deck::of(5).unwrap();
        let read = |text: &str| Meld::read(tiles(text), deck);
        Deed { later: tiles(play), table: read(table), play: read(play) }
    }

    #[test]
    fn deeds_are_as_probable_as_the_spec_says() {
        let deck = Deck::of(5).unwrap();
        for (table, play, rest, easy, draft) in [
            // A pass with and without an answer.
            ("C9", "", "C10 C3", 0.12, 0.5),
            ("C9", "", "C8 C3", 1.0, 1.0),
            ("C9 T9", "", "C10 C11", 1.0, 1.0),
            ("C9 T9", "", "C10 T10", 0.12, 0.5),
            ("C3 C4 C5 C6 T7", "", "C8 C9 C10 C11 C13", 0.12, 0.5),
            // Cheapest follow; one lone tile skipped; two skipped; a pair skipped is no lone tile.
            ("C9", "C10", "C11", 1.0, 0.75),
            ("C9", "C11", "C10 C3", 0.12, 0.375),
            ("C9", "C12", "C10 C11", 0.12, 0.1875),
            ("C9", "C12", "C10 T10", 0.12, 0.75),
            ("C9 T9", "C12 T12", "C10 T10 C11", 0.12, 0.375),
            // Leads: with the lowest tile, without it, over a lone lower tile.
            ("", "C3", "C5", 1.0, 0.75),
            ("", "C5", "C3 C7", 0.12, 0.375),
            ("", "C5 T5", "C3 C7", 0.12, 0.75),
        ] {
            let deed = deed(table, play);
            let hand = tiles(rest).or(deed.later);
            assert_eq!(as_easy(&deed, hand, deck), easy, "easy: {play:?} on {table:?} with {rest}");
            assert_eq!(as_draft(&deed, hand, deck), draft, "draft: {play:?} on {table:?} with {rest}");
        }
    }
}
