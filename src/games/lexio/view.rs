//! What one seat knows. A [`View`] is made from a [`Draft`] by one checked constructor, or by the referee; either way
//! it is true, and nobody checks again.

use std::fmt::Arguments;
use std::sync::Arc;

use super::flow::{Claim, Fault, Flow, SEATS};
use super::meld::Meld;
use super::rules::{FirstLead, ROUNDS, Ruleset};
use super::tile::{Deck, Tile, TileSet};
use crate::bot::{Violations, Warning};

/// One public action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// Who acted.
    pub seat: u8,
    /// In which trick, from 0.
    pub trick: u16,
    /// What was played; `None` is a pass.
    pub play: Option<Meld>,
}

/// What one seat knows in the moment it is to act.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub(super) rules: Ruleset,
    pub(super) deck: &'static Deck,
    pub(super) me: u8,
    pub(super) round: u8,
    pub(super) hand: TileSet,
    pub(super) played: TileSet,
    pub(super) table: Option<(u8, Meld)>,
    pub(super) counts: [u8; SEATS],
    /// Shared with the referee's table, so that a view costs no copy of the log.
    pub(super) log: Arc<Vec<Action>>,
    pub(super) money: Option<[i64; SEATS]>,
}

impl View {
    /// The rules in force.
    pub const fn rules(&self) -> Ruleset {
        self.rules
    }

    /// The tiles in the game.
    pub const fn deck(&self) -> &'static Deck {
        self.deck
    }

    /// Players, 3..=5.
    pub const fn seats(&self) -> u8 {
        self.deck.seats
    }

    /// My seat.
    pub const fn me(&self) -> u8 {
        self.me
    }

    /// 1..=5.
    pub const fn round(&self) -> u8 {
        self.round
    }

    /// My tiles.
    pub const fn hand(&self) -> TileSet {
        self.hand
    }

    /// Every tile played this round.
    pub const fn played(&self) -> TileSet {
        self.played
    }

    /// What I must answer, and whose it is; `None`: I lead.
    pub const fn table(&self) -> Option<&(u8, Meld)> {
        self.table.as_ref()
    }

    /// Tiles in each seat's hand, mine included; 0 behind the last seat.
    pub const fn counts(&self) -> [u8; SEATS] {
        self.counts
    }

    /// The other seats, in the order in which they act after me.
    pub fn rivals(&self) -> impl Iterator<Item = u8> {
        let (me, seats) = (self.me, self.deck.seats);
        (1..seats).map(move |step| (me + step) % seats)
    }

    /// Tiles in the shortest hand of the others.
    pub fn theirs(&self) -> u8 {
        self.rivals().map(|seat| self.counts[usize::from(seat)]).min().unwrap_or(0)
    }

    /// The union of the others' hands: the deck without my hand and what was played.
    pub const fn unseen(&self) -> TileSet {
        self.deck.tiles.minus(self.hand).minus(self.played)
    }

    /// Public actions of this round, oldest first. Empty, too, when the caller sent none.
    pub fn log(&self) -> &[Action] {
        &self.log
    }

    /// Running totals per seat, if they were sent.
    pub fn money(&self) -> Option<&[i64]> {
        self.money.as_ref().map(|money| &money[..usize::from(self.deck.seats)])
    }
}

/// A view as somebody reports it: plain numbers, unchecked. `rules` is `None` when the ruleset was not understood.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// The rules.
    pub rules: Option<Ruleset>,
    /// My seat.
    pub me: u32,
    /// Round of the match.
    pub round: u32,
    /// My tiles.
    pub hand: Vec<u32>,
    /// Tiles played.
    pub played: Vec<u32>,
    /// What must be answered, and whose it is.
    pub table: Option<(u32, Vec<u32>)>,
    /// Tiles per seat.
    pub counts: Vec<u32>,
    /// Public actions.
    pub log: Vec<Claim>,
    /// Running totals; empty: not sent.
    pub money: Vec<i64>,
}

impl Draft {
    /// The view, if nothing is wrong; every violation goes to `wrong`.
    pub fn check(&self, wrong: &mut Violations) -> Option<(View, Vec<Warning>)> {
        let deck = Deck::of(self.counts.len());
        if deck.is_none() {
            wrong.add("seats", "player_count", format!("{} seats, but 3 to 5 play", self.counts.len()));
        }
        if self.me as usize >= self.counts.len() {
            wrong.add("me", "no_such_seat", format!("seat {} of {}", self.me, self.counts.len()));
        }
        if !(1..=u32::from(ROUNDS)).contains(&self.round) {
            wrong.add("round", "out_of_range", format!("round {}, but a match has rounds 1 to {ROUNDS}", self.round));
        }
        let money = deck.and_then(|_| self.check_money(wrong));
        let (hand, played) = self.check_tiles(deck, wrong);
        self.check_counts(deck, wrong);
        // A fault of the table, or counts that do not add up, do not stop the replay of the log.
        let simple = wrong.is_empty();
        let table = self.check_table(deck, played, wrong);
        let deck = deck?;
        let unseen = deck.tiles.minus(hand).minus(played);
        if simple {
            self.check_unseen(unseen, wrong);
        }
        let log = if simple && self.rules.is_some() { self.check_log(deck, played, wrong) } else { Vec::new() };
        if !wrong.is_empty() {
            return None;
        }
        let mut counts = [0; SEATS];
        for (to, from) in counts.iter_mut().zip(&self.counts) {
            *to = *from as u8;
        }
        let view = View {
            rules: self.rules?,
            deck,
            me: self.me as u8,
            round: self.round as u8,
            hand,
            played,
            table,
            counts,
            log: Arc::new(log),
            money,
        };
        let warnings = view.warnings();
        Some((view, warnings))
    }

    fn check_money(&self, wrong: &mut Violations) -> Option<[i64; SEATS]> {
        if self.money.is_empty() {
            return None;
        }
        if self.money.len() != self.counts.len() {
            wrong.add("money", "length", format!("{} entries for {} seats", self.money.len(), self.counts.len()));
            return None;
        }
        let mut money = [0; SEATS];
        money.iter_mut().zip(&self.money).for_each(|(to, from)| *to = *from);
        Some(money)
    }

    fn check_tiles(&self, deck: Option<&Deck>, wrong: &mut Violations) -> (TileSet, TileSet) {
        if self.hand.is_empty() {
            wrong.add("hand", "empty", "who is to act holds at least one tile");
        }
        let hand = check_list("hand", &self.hand, deck, TileSet::EMPTY, wrong);
        let played = check_list("played", &self.played, deck, hand, wrong);
        (hand, played)
    }

    fn check_counts(&self, deck: Option<&Deck>, wrong: &mut Violations) {
        let Some(deck) = deck else { return };
        for (seat, &count) in self.counts.iter().enumerate() {
            let path = format!("seats[{seat}].tile_count");
            if count > u32::from(deck.hand_size) {
                let text = format!("{count}, but a hand of {} players holds at most {}", deck.seats, deck.hand_size);
                wrong.add(&path, "above_hand_size", text);
            } else if count == 0 {
                wrong.add(&path, "round_over", "a seat without tiles has ended the round");
            }
            if seat == self.me as usize && count as usize != self.hand.len() && !self.hand.is_empty() {
                wrong.add(&path, "differs_from_hand", format!("{count}, but the hand holds {}", self.hand.len()));
            }
        }
    }

    fn check_table(&self, deck: Option<&Deck>, played: TileSet, wrong: &mut Violations) -> Option<(u8, Meld)> {
        let (seat, ids) = self.table.as_ref()?;
        if *seat as usize >= self.counts.len() {
            wrong.add("table.seat", "no_such_seat", format!("seat {seat} of {}", self.counts.len()));
        } else if *seat == self.me {
            wrong.add("table.seat", "own_table", "everybody passed on your own meld: you would lead, without a table");
        }
        let tiles: Option<TileSet> = ids.iter().map(|&id| Tile::new(id)).collect();
        let meld = tiles
            .filter(|tiles| tiles.len() as usize == ids.len())
            .and_then(|tiles| deck.map(|deck| Meld::read(tiles, deck)))
            .flatten();
        if let Some(deck) = deck
            && meld.is_none()
        {
            wrong.add("table.tiles", "not_a_meld", format!("no meld in the deck of {} players", deck.seats));
        }
        if meld.is_some_and(|meld| !meld.tiles().within(played)) {
            wrong.add("table.tiles", "not_played", "what lies on the table has been played");
        }
        Some((*seat as u8, meld?))
    }

    fn check_unseen(&self, unseen: TileSet, wrong: &mut Violations) {
        let counts = self.counts.iter().enumerate();
        let theirs: u32 = counts.filter(|(seat, _)| *seat != self.me as usize).map(|(_, count)| count).sum();
        if theirs != unseen.len() {
            let text = format!("the others hold {theirs} tiles, but {} are unseen", unseen.len());
            wrong.add("seats", "counts_do_not_match_unseen", text);
        }
    }

    fn check_log(&self, deck: &Deck, played: TileSet, wrong: &mut Violations) -> Vec<Action> {
        let Some(first) = self.log.first() else { return Vec::new() };
        // A first seat that does not exist is out of turn, whoever is to act.
        let start = if first.seat < u32::from(deck.seats) { first.seat as u8 } else { 0 };
        let mut flow = Flow::start(deck.seats, start, full_hands(deck));
        let mut log = Vec::with_capacity(self.log.len().min(512));
        for (i, claim) in self.log.iter().enumerate() {
            match flow.admit(deck, claim) {
                Ok(play) => {
                    log.push(Action { seat: flow.to_act, trick: flow.trick, play });
                    flow.apply(play);
                }
                Err(fault) => {
                    wrong.add(fault_path(i, fault), fault.code(), fault_text(fault, &flow));
                    return log;
                }
            }
        }
        self.compare_with(&flow, played, wrong);
        log
    }

    /// What the replayed log says against what the view says.
    fn compare_with(&self, flow: &Flow, played: TileSet, wrong: &mut Violations) {
        if played != flow.played {
            wrong.add("played", "differs_from_log", "not the tiles of the logged melds");
        }
        for (seat, (&count, &left)) in self.counts.iter().zip(&flow.left).enumerate() {
            if count != u32::from(left) {
                let text = format!("{count}, but the log leaves {left}");
                wrong.add(format_args!("seats[{seat}].tile_count"), "differs_from_log", text);
            }
        }
        let logged = flow.table.map(|meld| (u32::from(flow.owner), meld.tiles()));
        let given = self.table.as_ref().map(|(seat, ids)| {
            let tiles: Option<TileSet> = ids.iter().map(|&id| Tile::new(id)).collect();
            (*seat, tiles.unwrap_or_default())
        });
        if logged != given {
            wrong.add("table", "differs_from_log", "not the last play of the open trick");
        }
        if flow.winner().is_none() && u32::from(flow.to_act) != self.me {
            wrong.add("me", "not_to_act", format!("after the log, seat {} is to act", flow.to_act));
        }
    }
}

/// The hands at the deal.
pub(super) fn full_hands(deck: &Deck) -> [u8; SEATS] {
    let mut left = [0; SEATS];
    left[..usize::from(deck.seats)].fill(deck.hand_size);
    left
}

fn check_list(path: &str, ids: &[u32], deck: Option<&Deck>, other: TileSet, wrong: &mut Violations) -> TileSet {
    let mut seen = TileSet::EMPTY;
    for (i, &id) in ids.iter().enumerate() {
        let mut bad = |code, text: Arguments<'_>| wrong.add(format_args!("{path}[{i}]"), code, text);
        let Some(tile) = Tile::new(id) else {
            bad("no_such_tile", format_args!("tile {id} does not exist (0..=59)"));
            continue;
        };
        if let Some(deck) = deck
            && !deck.tiles.has(tile)
        {
            bad("tile_not_in_deck", format_args!("{tile} is not in the deck of {} players", deck.seats));
        } else if seen.has(tile) {
            bad("duplicate", format_args!("{tile} stands here twice"));
        } else if other.has(tile) {
            bad("also_in_hand", format_args!("{tile} is in the hand"));
        }
        seen = seen.with(tile);
    }
    seen
}

fn fault_path(i: usize, fault: Fault) -> String {
    let tail = match fault {
        Fault::AfterRoundEnd => "",
        Fault::OutOfTurn => ".seat",
        Fault::WrongTrick => ".trick",
        Fault::PassOnLead => ".pass",
        _ => ".tiles",
    };
    format!("log[{i}]{tail}")
}

fn fault_text(fault: Fault, flow: &Flow) -> String {
    match fault {
        Fault::AfterRoundEnd => "somebody has gone out before".to_owned(),
        Fault::OutOfTurn => format!("seat {} is to act", flow.to_act),
        Fault::WrongTrick => format!("this is trick {}", flow.trick),
        Fault::PassWithTiles => "a pass lays no tiles down".to_owned(),
        Fault::PlayWithoutTiles => "a play lays tiles down".to_owned(),
        Fault::PassOnLead => "who leads must play".to_owned(),
        Fault::TileNotInDeck => format!("not in the deck of {} players", flow.seats),
        Fault::TileRepeated => "played before".to_owned(),
        Fault::NotAMeld => "not a single, pair, triple or five-tile meld".to_owned(),
        Fault::TooManyTiles => format!("the seat holds {}", flow.left[usize::from(flow.to_act)]),
        Fault::CountDiffers => format!("{} must be answered by as many", flow.table.map_or(0, |table| table.count())),
        Fault::DoesNotBeat => format!("not stronger than {}", flow.table.map_or(TileSet::EMPTY, |m| m.tiles())),
    }
}

impl View {
    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |field: &str, code, text: &str| {
            warnings.push(Warning { field: format!("view.lexio.{field}"), code, text: text.to_owned() });
        };
        if self.log.is_empty() && !self.played.is_empty() {
            warn("log", "missing", "tiles were played, but there is no log: passes cannot be read as evidence");
        }
        if self.rules.first_lead == FirstLead::C3Holder
            && let (Some(first), Some(holder)) = (self.log.first(), self.seen_c3_holder())
            && first.seat != holder
        {
            warn("log[0].seat", "first_lead_contradicts_c3", &format!("seat {holder} held cloud 3"));
        }
        if self.money().is_some_and(|money| money.iter().map(|&m| i128::from(m)).sum::<i128>() != 0) {
            warn("money", "not_zero_sum", "the totals do not sum to 0");
        }
        warnings
    }

    /// Who held cloud 3 at the deal, where this view shows it.
    fn seen_c3_holder(&self) -> Option<u8> {
        let c3 = TileSet::of(Tile::C3);
        if self.hand.meets(c3) {
            return Some(self.me);
        }
        self.log.iter().find(|action| action.play.is_some_and(|meld| meld.tiles().meets(c3))).map(|action| action.seat)
    }

    /// The seat that must hold cloud 3 although nobody has seen it: whoever led first, where its holder leads.
    pub(super) fn hidden_c3_holder(&self) -> Option<u8> {
        let by_c3 = self.rules.first_lead == FirstLead::C3Holder || self.round == 1;
        let leader = self.log.first().map(|action| action.seat).filter(|seat| *seat != self.me)?;
        (by_c3 && self.unseen().has(Tile::C3)).then_some(leader)
    }
}
