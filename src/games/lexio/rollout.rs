//! Rollouts: a world played to its end by cheap policies. Rivals play as their style says, my seat by `draft`: the
//! terms of `hard`, read off the open hands of the world and one fixed plan per hand, with weights of their own.

use super::chances::{Chances, single_chance};
use super::flow::SEATS;
use super::meld::{Key, Meld, MeldKind};
use super::melds;
use super::policies::easy_move;
use super::rules::Ruleset;
use super::tile::{Deck, TileSet};
use super::worlds::{Style, World};

/// Weights of `draft` in one stage.
#[derive(Clone, Copy, Debug)]
struct Draft {
    lead: f64,
    pass: f64,
    single_strength: f64,
    tile_cost: f64,
    control_gain: f64,
    /// By number of tiles: 1, 2, 3, (4), 5.
    size: [f64; 5],
}

const fn draft(lead: f64, pass: f64, single: f64, tile: f64, control: f64, size: [f64; 3]) -> Draft {
    let size = [0.0, size[0], size[1], 0.0, size[2]];
    Draft { lead, pass, single_strength: single, tile_cost: tile, control_gain: control, size }
}

/// Weights by stage, in the order of [`super::reading::STAGES`]; fitted with a prototype (strength notes, section 5).
static DRAFT: [Draft; 8] = [
    draft(3.6, 0.0, 0.5, -0.9, 5.6, [3.0, 6.8, 10.2]),
    draft(1.9, 0.0, 0.1, -1.9, 6.1, [2.7, 8.2, 10.1]),
    draft(1.6, 0.0, 0.4, -3.9, 6.6, [1.8, 6.3, 9.4]),
    draft(0.1, 0.0, 1.9, -3.6, 6.8, [1.2, 3.7, 5.2]),
    draft(1.4, -0.3, 0.8, -0.6, 3.6, [2.5, 8.0, 9.5]),
    draft(0.6, -0.7, 0.0, -2.4, 3.9, [1.8, 4.6, 7.4]),
    draft(0.8, -0.6, 0.0, -3.4, 4.4, [0.2, 2.3, 2.0]),
    draft(0.9, -0.3, 0.0, -3.2, 4.1, [-0.4, 0.7, 0.0]),
];

/// Win chances of pairs, triples and fives, fixed at the root of a decision.
#[derive(Clone, Debug)]
pub struct Wins {
    pair: [f64; 15],
    triple: [f64; 15],
    straight: [f64; 12],
    flush: [f64; 15],
    full_house: [f64; 15],
    four: f64,
    deck: &'static Deck,
}

impl Wins {
    /// The chances against what is unseen now.
    pub fn of(chances: &Chances, deck: &'static Deck) -> Self {
        let ranked = |kind: MeldKind, order: usize| chances.five(kind, Key::of_order(kind, order as u8));
        let mut wins = Self {
            pair: [1.0; 15],
            triple: [1.0; 15],
            straight: [1.0; 12],
            flush: [1.0; 15],
            full_house: [1.0; 15],
            four: ranked(MeldKind::FourPlusOne, 0),
            deck,
        };
        for order in 0..15 {
            [wins.pair[order], wins.triple[order]] = chances.above(order as u8);
            wins.flush[order] = ranked(MeldKind::Flush, order);
            wins.full_house[order] = ranked(MeldKind::FullHouse, order);
        }
        for (win, straight) in wins.straight.iter_mut().zip(deck.straights) {
            *win = chances.five(MeldKind::Straight, Key::of_straight(straight));
        }
        wins
    }

    fn five(&self, meld: &Meld) -> f64 {
        let order = usize::from(meld.key().order());
        match meld.kind() {
            MeldKind::Flush => self.flush[order],
            MeldKind::FullHouse => self.full_house[order],
            MeldKind::FourPlusOne => self.four,
            MeldKind::StraightFlush => 0.98,
            _ => {
                let orders = meld.key().orders();
                let place = self.deck.straights.iter().position(|straight| straight.orders == orders);
                self.straight[place.unwrap_or(0)]
            }
        }
    }
}

/// A planned five, and its chance to lose.
#[derive(Clone, Copy, Debug)]
struct Five {
    meld: Meld,
    loses: f64,
}

/// A hand with its plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hand {
    tiles: TileSet,
    fives: [Option<Five>; 2],
    /// Whether it may hold fives beside the planned ones.
    more: bool,
}

impl Hand {
    /// Without a plan, for who needs none.
    pub const fn bare(tiles: TileSet) -> Self {
        Self { tiles, fives: [None; 2], more: false }
    }

    /// With the plan of fewest melds; among those the one whose fives have the smallest id sum. `scratch` is emptied.
    pub fn planned(tiles: TileSet, wins: &Wins, scratch: &mut Vec<Meld>) -> Self {
        /// Hands with more fives than this are planned by the first ones: rollouts need not be exact.
        const ENOUGH: usize = 64;
        scratch.clear();
        melds::fives(tiles, wins.deck, &mut |meld| scratch.push(meld));
        let more = !scratch.is_empty();
        scratch.truncate(ENOUGH);
        let melds_of = |rest: TileSet| rest.lanes().count_ones() + rest.lanes_by_count()[2].count_ones();
        let mut best = (melds_of(tiles), 0);
        let mut chosen: [Option<Meld>; 2] = [None; 2];
        for (i, a) in scratch.iter().enumerate() {
            let rest = tiles.minus(a.tiles());
            let sum = a.tiles().id_sum();
            let one = (1 + melds_of(rest), sum);
            if one < best {
                (best, chosen) = (one, [Some(*a), None]);
            }
            if rest.len() < 5 {
                continue;
            }
            for b in scratch[i + 1..].iter().filter(|b| b.tiles().within(rest)) {
                let two = (2 + melds_of(rest.minus(b.tiles())), sum + b.tiles().id_sum());
                if two < best {
                    (best, chosen) = (two, [Some(*a), Some(*b)]);
                }
            }
        }
        let five = |meld: Meld| Five { meld, loses: 1.0 - wins.five(&meld) };
        Self { tiles, fives: chosen.map(|meld| meld.map(five)), more }
    }

    fn planned_tiles(&self) -> TileSet {
        self.fives.iter().flatten().fold(TileSet::EMPTY, |all, five| all.or(five.meld.tiles()))
    }

    fn play(&mut self, meld: &Meld) {
        self.tiles = self.tiles.minus(meld.tiles());
        for five in &mut self.fives {
            if five.is_some_and(|five| five.meld.tiles().meets(meld.tiles())) {
                *five = None;
            }
        }
    }
}

/// Who sits at a seat of a rollout; seat 0 is mine, the others follow in the order in which they act.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    wins: &'a Wins,
    rules: Ruleset,
    hands: [Hand; SEATS],
    styles: [Style; SEATS],
    seats: u8,
    to_act: u8,
    owner: u8,
    passes: u8,
    table: Option<Meld>,
    /// Every tile still held.
    live: TileSet,
}

/// What a draft seat sees of the others when it acts.
struct Rivals {
    tiles: TileSet,
    size: f64,
    /// Most tiles in one of their hands.
    longest: u32,
}

impl Rivals {
    /// Whether they hold a stronger meld together; of fives that is taken for granted.
    fn beat(&self, meld: &Meld) -> bool {
        let order = meld.key().order();
        let higher = |lanes: u64| lanes & (!1 << (4 * order)) != 0;
        match meld.kind() {
            MeldKind::Single => self.tiles.highest() > meld.tiles().highest(),
            MeldKind::Pair => higher(self.tiles.lanes_by_count()[0]) || self.tiles.rank(order).len() >= 2,
            MeldKind::Triple => higher(self.tiles.lanes_by_count()[1]),
            _ => true,
        }
    }
}

impl<'a> Table<'a> {
    /// The table of a world in which I am to act. My own hand comes with each move.
    pub fn of(world: &World, rules: Ruleset, passes: u8, owner: u8, table: Option<Meld>, wins: &'a Wins, scratch: &mut Vec<Meld>) -> Self {
        let seats = wins.deck.seats;
        let mut hands = [Hand::default(); SEATS];
        let mut styles = [Style::Draft; SEATS];
        let mut live = TileSet::EMPTY;
        for rival in 0..usize::from(seats) - 1 {
            let tiles = world.hands[rival];
            styles[rival + 1] = world.styles[rival];
            hands[rival + 1] = match world.styles[rival] {
                Style::Easy => Hand::bare(tiles),
                Style::Draft => Hand::planned(tiles, wins, scratch),
            };
            live = live.or(tiles);
        }
        Self { wins, rules, hands, styles, seats, to_act: 0, owner, passes, table, live }
    }

    /// The same with my own seat playing in this style.
    #[must_use]
    pub const fn with_me(mut self, style: Style) -> Self {
        self.styles[0] = style;
        self
    }

    /// My net chips when I play `play` (`None`: pass), which leaves me `left`, and the world is played to its end.
    pub fn play_out(mut self, play: Option<Meld>, left: Hand) -> i32 {
        self.hands[0] = left;
        self.live = self.live.or(left.tiles);
        self.move_on(play);
        if left.tiles.is_empty() {
            return self.net();
        }
        loop {
            let seat = usize::from(self.to_act);
            let play = match self.styles[seat] {
                Style::Easy => easy_move(self.hands[seat].tiles, self.wins.deck, self.table.as_ref()),
                Style::Draft => self.draft(seat),
            };
            if let Some(meld) = &play {
                self.hands[seat].play(meld);
                self.live = self.live.minus(meld.tiles());
                if self.hands[seat].tiles.is_empty() {
                    return self.net();
                }
            }
            self.move_on(play);
        }
    }

    fn move_on(&mut self, play: Option<Meld>) {
        if play.is_some() {
            self.table = play;
            self.owner = self.to_act;
            self.passes = 0;
        } else {
            self.passes += 1;
        }
        self.to_act = if self.to_act + 1 == self.seats { 0 } else { self.to_act + 1 };
        if self.passes + 1 == self.seats {
            self.table = None;
            self.passes = 0;
        }
    }

    fn net(&self) -> i32 {
        let mut counts = [0; SEATS];
        for (count, hand) in counts.iter_mut().zip(&self.hands) {
            *count = self.rules.count(hand.tiles);
        }
        self.rules.net(&counts[..usize::from(self.seats)], 0)
    }

    /// The move of a seat that plays by terms; `None` is a pass.
    fn draft(&self, seat: usize) -> Option<Meld> {
        let hand = &self.hands[seat];
        let (mut shortest, mut longest) = (u32::MAX, 0);
        for other in (0..usize::from(self.seats)).filter(|other| *other != seat) {
            let count = self.hands[other].tiles.len();
            (shortest, longest) = (shortest.min(count), longest.max(count));
        }
        let tiles = self.live.minus(hand.tiles);
        let rivals = Rivals { tiles, size: f64::from(tiles.len()), longest };
        if let Some(sure) = self.finish(hand, &rivals) {
            return Some(sure);
        }
        let stage = match shortest {
            0..=2 => 0,
            3..=4 => 1,
            5..=7 => 2,
            _ => 3,
        };
        match &self.table {
            None => self.draft_lead(hand, &rivals, &DRAFT[stage]),
            Some(table) => self.draft_follow(hand, &rivals, &DRAFT[stage + 4], table),
        }
    }

    /// With two melds left, one of which nobody can answer: that one, if it may be played. The other then goes out.
    fn finish(&self, hand: &Hand, rivals: &Rivals) -> Option<Meld> {
        let rest = hand.tiles.minus(hand.planned_tiles());
        let groups = rest.lanes().count_ones() + rest.lanes_by_count()[2].count_ones();
        let fives = hand.fives.iter().flatten();
        if groups + fives.clone().count() as u32 != 2 || rest.lanes_by_count()[2] != 0 {
            return None;
        }
        let sure = |meld: &Meld| {
            (meld.count() > rivals.longest || !rivals.beat(meld))
                && self.table.as_ref().is_none_or(|table| meld.answers(table))
        };
        let mut found = fives.map(|five| five.meld).find(&sure);
        melds::each_lane(rest.lanes(), |order| {
            let part = rest.rank(order);
            let meld = Meld::same_rank(part, GROUPS[part.len() as usize - 1]);
            if found.is_none() && sure(&meld) {
                found = Some(meld);
            }
        });
        found
    }

    fn draft_lead(&self, hand: &Hand, rivals: &Rivals, weights: &Draft) -> Option<Meld> {
        let mut best = Best::none();
        let rest = hand.tiles.minus(hand.planned_tiles());
        melds::each_lane(rest.lanes(), |order| {
            let mut part = TileSet::EMPTY;
            for (kind, tile) in GROUPS.into_iter().zip(rest.rank(order)) {
                part = part.with(tile);
                self.weigh(Meld::same_rank(part, kind), hand, rivals, weights, &mut best);
            }
        });
        for five in hand.fives.iter().flatten() {
            self.weigh(five.meld, hand, rivals, weights, &mut best);
        }
        best.meld
    }

    fn draft_follow(&self, hand: &Hand, rivals: &Rivals, weights: &Draft, table: &Meld) -> Option<Meld> {
        let mut best = Best { score: weights.pass, meld: None };
        match table.kind() {
            MeldKind::Single => {
                let above = table.tiles().lowest().map_or(TileSet::EMPTY, |tile| hand.tiles.above(tile));
                for tile in above {
                    self.weigh(Meld::same_rank(TileSet::of(tile), MeldKind::Single), hand, rivals, weights, &mut best);
                }
            }
            MeldKind::Pair | MeldKind::Triple => {
                let need = table.count();
                let lanes = hand.tiles.lanes_by_count()[need as usize - 2];
                // Ranks from that of the table on.
                melds::each_lane(lanes & (!0 << (4 * table.key().order())), |order| {
                    let low: TileSet = hand.tiles.rank(order).into_iter().take(need as usize).collect();
                    let meld = Meld::same_rank(low, table.kind());
                    if meld.key() > table.key() {
                        self.weigh(meld, hand, rivals, weights, &mut best);
                    }
                });
            }
            _ if hand.more && hand.tiles.len() >= 5 => self.follow_five(hand, rivals, weights, table, &mut best),
            _ => {}
        }
        best.meld
    }

    /// The planned fives that answer; without one the three weakest answers.
    fn follow_five(&self, hand: &Hand, rivals: &Rivals, weights: &Draft, table: &Meld, best: &mut Best) {
        let planned = hand.fives.iter().flatten().filter(|five| five.meld.key() > table.key());
        let mut any = false;
        for five in planned {
            self.weigh(five.meld, hand, rivals, weights, best);
            any = true;
        }
        if any {
            return;
        }
        let mut cheapest: [Option<Meld>; 3] = [None; 3];
        melds::answers(hand.tiles, self.wins.deck, table, |meld| {
            let mut meld = Some(meld);
            for place in &mut cheapest {
                if place.is_none_or(|kept| meld.is_some_and(|meld| meld < kept)) {
                    std::mem::swap(place, &mut meld);
                }
            }
        });
        for meld in cheapest.into_iter().flatten() {
            self.weigh(meld, hand, rivals, weights, best);
        }
    }

    fn weigh(&self, meld: Meld, hand: &Hand, rivals: &Rivals, weights: &Draft, best: &mut Best) {
        let count = meld.count();
        let tiles = meld.tiles();
        if tiles == hand.tiles {
            // Going out ends the search: nothing scores as much.
            *best = Best { score: f64::INFINITY, meld: Some(meld) };
            return;
        }
        let below: u32 = tiles.into_iter().map(|tile| rivals.tiles.below(tile).len()).sum();
        let tile_cost = f64::from(below) / (f64::from(count) * rivals.size);
        let (lead, strength) = self.chance(&meld, rivals);
        let lead = if count > rivals.longest { 1.0 } else { lead };
        let gain = ((2.0 + self.freed(hand, tiles, rivals)) / 3.0).clamp(0.0, 1.0);
        let score = weights.size[count as usize - 1]
            + weights.lead * lead
            + weights.single_strength * strength
            + weights.tile_cost * tile_cost
            + weights.control_gain * gain;
        if score > best.score {
            *best = Best { score, meld: Some(meld) };
        }
    }

    /// The values of `lead` and `single_strength`.
    fn chance(&self, meld: &Meld, rivals: &Rivals) -> (f64, f64) {
        let order = usize::from(meld.key().order());
        match meld.kind() {
            MeldKind::Single => {
                let stronger = rivals.tiles.len() - meld.tiles().lowest().map_or(0, |t| rivals.tiles.below(t).len());
                (if stronger == 0 { 1.0 } else { 0.0 }, single_chance(stronger))
            }
            MeldKind::Pair => (0.99 * self.wins.pair[order], 0.0),
            MeldKind::Triple => (0.99 * self.wins.triple[order], 0.0),
            _ => (self.wins.five(meld), 0.0),
        }
    }

    /// Expected losers that go with `gone`. A planned five that loses a tile is dropped: its other tiles stand alone.
    fn freed(&self, hand: &Hand, gone: TileSet, rivals: &Rivals) -> f64 {
        let rest = hand.tiles.minus(hand.planned_tiles());
        let (mut freed, mut dropped) = (0.0, TileSet::EMPTY);
        for five in hand.fives.iter().flatten() {
            if five.meld.tiles().meets(gone) {
                dropped = dropped.or(five.meld.tiles());
                freed += five.loses;
            }
        }
        if dropped == gone {
            return freed;
        }
        let after = rest.or(dropped).minus(gone);
        let mut lanes = gone.or(dropped).lanes();
        while lanes != 0 {
            let order = (lanes.trailing_zeros() / 4) as u8;
            lanes &= lanes - 1;
            freed += self.rank_loses(rest.rank(order), order, rivals) - self.rank_loses(after.rank(order), order, rivals);
        }
        freed
    }

    /// Expected losers among tiles of one rank: one meld, of four tiles two pairs.
    fn rank_loses(&self, tiles: TileSet, order: u8, rivals: &Rivals) -> f64 {
        match tiles.len() {
            0 => 0.0,
            1 => {
                let stronger = tiles.lowest().map_or(0, |tile| rivals.tiles.above(tile).len());
                1.0 - single_chance(stronger)
            }
            2 => 1.0 - self.wins.pair[usize::from(order)],
            3 => 1.0 - self.wins.triple[usize::from(order)],
            _ => 2.0 * (1.0 - self.wins.pair[usize::from(order)]),
        }
    }
}

const GROUPS: [MeldKind; 3] = [MeldKind::Single, MeldKind::Pair, MeldKind::Triple];

struct Best {
    score: f64,
    meld: Option<Meld>,
}

impl Best {
    const fn none() -> Self {
        Self { score: f64::NEG_INFINITY, meld: None }
    }
}
