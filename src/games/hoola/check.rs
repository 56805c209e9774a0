//! From a draft, in any state of disorder, to a [`View`]: seven stages, each reporting all it finds.

use std::fmt::{Arguments, Display};

use super::card::{Card, Cards};
use super::meld::{Meld, MeldKind, Melds};
use super::phase::{Layoffs, Phase, TurnSoFar};
use super::rules::{DiscardDraw, DokbakScope, HoolaLayoff, Rules, STANDARD, TieSplit};
use super::view::{Discard, MatchStanding, SeatView, View, exhausted};
use crate::bot::{Reject, Seat, Violations, Warning};

use super::meld::RunWrap;

/// An override of a named switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switch<T> {
    /// Not named: the default holds.
    #[default]
    Default,
    /// This value.
    Is(T),
    /// A value that nobody knows.
    Unknown,
}

/// The ruleset as somebody wrote it.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct RulesDraft {
    pub name: String,
    /// Overrides of the numbers of [`Rules::RANGES`], in that order.
    pub numbers: [Option<u32>; 6],
    pub run_wrap: Switch<RunWrap>,
    pub discard_draw: Switch<DiscardDraw>,
    pub hoola_layoff: Switch<HoolaLayoff>,
    pub dokbak_scope: Switch<DokbakScope>,
    pub tie_split: Switch<TieSplit>,
    pub seven_hand_value: Option<u32>,
    pub chongtong_unregistered_only: Option<bool>,
    pub payer_inherits_baks: Option<bool>,
    pub jokers: Option<u32>,
}

/// A seat as somebody wrote it.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct SeatDraft {
    pub hand_count: u32,
    pub registered: bool,
    pub known: Vec<u32>,
}

/// A meld as somebody wrote it; an unknown kind is none.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct MeldDraft {
    pub id: u32,
    pub owner: u32,
    pub kind: Option<MeldKind>,
    pub cards: Vec<u32>,
}

/// A discard as somebody wrote it.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct DiscardDraft {
    pub card: u32,
    pub seat: Option<u32>,
    pub taken_by: Option<u32>,
}

/// The turn in progress as somebody wrote it; unknown lay-offs are none.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct TurnDraft {
    pub registered_at_start: bool,
    pub taken_card: Option<u32>,
    pub taken_from: Option<u32>,
    pub layoffs: Option<Layoffs>,
}

/// A view as somebody wrote it: nothing in it has been checked. An unknown phase is none.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Draft {
    pub rules: RulesDraft,
    pub seat: u32,
    pub starter: u32,
    pub turn_seat: u32,
    pub phase: Option<Phase>,
    pub hand: Vec<u32>,
    pub seats: Vec<SeatDraft>,
    pub melds: Vec<MeldDraft>,
    pub discards: Vec<DiscardDraft>,
    pub deck_remaining: u32,
    pub turn: Option<TurnDraft>,
    pub round_index: Option<u32>,
    pub rounds_total: Option<u32>,
    pub scores: Vec<i64>,
}

/// The view that a draft means.
///
/// # Errors
/// Every violation of the first stage that finds one.
pub fn check(draft: &Draft) -> Result<View, Reject> {
    let rules = check_rules(&draft.rules)?;
    checked_under(rules, draft)
}

/// The same for rules that are known to be good: how the referee shows its table.
///
/// # Errors
/// Every violation of the first stage that finds one.
pub fn checked_under(rules: Rules, draft: &Draft) -> Result<View, Reject> {
    let (phase, turn) = check_shape(&rules, draft)?;
    check_cards(draft)?;
    let melds = check_melds(&rules, draft)?;
    check_phase(&rules, draft, phase)?;
    check_counts(&rules, draft, phase)?;
    check_sums(&rules, draft, phase)?;
    Ok(build(rules, draft, phase, turn, melds))
}

/// What was accepted with a frown.
pub fn warnings(view: &View) -> Vec<Warning> {
    let standing = &view.standing;
    let mut warnings = Vec::new();
    let mut warn = |code, text: &str| {
        warnings.push(Warning { field: "view.hoola.scores".to_owned(), code, text: text.to_owned() });
    };
    if standing.scores.iter().map(|&score| i128::from(score)).sum::<i128>() != 0 {
        warn("SCORES_NOT_ZERO_SUM", "the scores do not add up to 0");
    }
    if !standing.scores.is_empty() && standing.rounds_total.is_none() {
        warn("SCORES_WITHOUT_ROUNDS", "scores without rounds_total say nothing about what is left to play");
    }
    warnings
}

fn violations() -> Violations {
    Violations::under("view.hoola")
}

/// Stage 0.
fn check_rules(draft: &RulesDraft) -> Result<Rules, Reject> {
    let mut rules = Rules::default();
    let mut found = violations();
    if draft.name != STANDARD {
        found.add("ruleset.name", "UNSUPPORTED", format!("the ruleset known here is {STANDARD}"));
    }
    for ((name, least, most), value) in Rules::RANGES.into_iter().zip(draft.numbers) {
        let Some(value) = value else { continue };
        if !rules.set_number(name, value) {
            found.add(format_args!("ruleset.{name}"), "OUT_OF_RANGE", format!("{value} is not in {least}..={most}"));
        }
    }
    let mut unknown = |name: &str| {
        found.add(format_args!("ruleset.{name}"), "UNSUPPORTED", format!("no such value of {name} is known here"));
    };
    choose(&mut rules.run_wrap, draft.run_wrap, || unknown("run_wrap"));
    choose(&mut rules.discard_draw, draft.discard_draw, || unknown("discard_draw"));
    choose(&mut rules.hoola_layoff, draft.hoola_layoff, || unknown("hoola_layoff"));
    choose(&mut rules.dokbak_scope, draft.dokbak_scope, || unknown("dokbak_scope"));
    choose(&mut rules.tie_split, draft.tie_split, || unknown("tie_split"));
    match draft.seven_hand_value {
        None => {}
        Some(value @ (7 | 14)) => rules.seven_hand_value = value as u8,
        Some(_) => unknown("seven_hand_value"),
    }
    if draft.jokers.is_some() {
        unknown("jokers");
    }
    rules.chongtong_unregistered_only = draft.chongtong_unregistered_only.unwrap_or(false);
    rules.payer_inherits_baks = draft.payer_inherits_baks.unwrap_or(true);
    found.finish()?;
    Ok(rules)
}

fn choose<T>(place: &mut T, switch: Switch<T>, unknown: impl FnOnce()) {
    match switch {
        Switch::Default => {}
        Switch::Is(value) => *place = value,
        Switch::Unknown => unknown(),
    }
}

/// Everything a draft says about single numbers, with the number of seats to hold it against.
struct Shape {
    players: u32,
    found: Violations,
}

impl Shape {
    fn seat(&mut self, path: impl Display, seat: u32) {
        if seat >= self.players {
            let players = self.players;
            self.found.add(path, "OUT_OF_RANGE", format_args!("seat {seat} does not exist at a table of {players}"));
        }
    }

    fn card(&mut self, path: impl Display, card: u32) {
        if card > 51 {
            self.found.add(path, "OUT_OF_RANGE", format_args!("card {card} does not exist (0..=51)"));
        }
    }

    fn unknown(&mut self, path: impl Display) {
        self.found.add(path, "UNSUPPORTED", "not a value known here");
    }

    fn count(&mut self, path: &str, count: usize) {
        if count != self.players as usize {
            self.found.add(path, "SEAT_COUNT", format!("{count} entries for {} seats", self.players));
        }
    }
}

/// Stage 1.
fn check_shape(rules: &Rules, draft: &Draft) -> Result<(Phase, Option<TurnSoFar>), Reject> {
    let mut shape = Shape { players: u32::from(rules.players), found: violations() };
    if draft.phase.is_none() {
        shape.unknown("phase");
    }
    shape.seat("seat", draft.seat);
    shape.seat("starter", draft.starter);
    shape.seat("turn_seat", draft.turn_seat);
    draft.hand.iter().enumerate().for_each(|(i, &card)| shape.card(format_args!("hand[{i}]"), card));
    shape.count("seats", draft.seats.len());
    for (i, seat) in draft.seats.iter().enumerate() {
        for (k, &card) in seat.known.iter().enumerate() {
            shape.card(format_args!("seats[{i}].known_cards[{k}]"), card);
        }
    }
    draft.melds.iter().enumerate().for_each(|(i, meld)| check_meld_shape(&mut shape, i, meld));
    check_discard_shapes(&mut shape, &draft.discards);
    if let Some(turn) = &draft.turn {
        check_turn_shape(&mut shape, turn);
    }
    check_match_shape(&mut shape, draft);
    shape.found.finish()?;
    let turn = draft.turn.as_ref().map(|turn| TurnSoFar {
        registered_at_start: turn.registered_at_start,
        taken_card: turn.taken_card.and_then(Card::new),
        taken_from: turn.taken_from.map(|seat| Seat(seat as u8)),
        layoffs: turn.layoffs.unwrap_or_default(),
    });
    // The phase is known here: a missing one was a violation.
    Ok((draft.phase.unwrap_or(Phase::Window), turn))
}

fn check_meld_shape(shape: &mut Shape, i: usize, meld: &MeldDraft) {
    if meld.id as usize != i {
        shape.found.add(format_args!("melds[{i}].id"), "MELD_ID", format_args!("id {} at place {i}", meld.id));
    }
    shape.seat(format_args!("melds[{i}].owner"), meld.owner);
    if meld.kind.is_none() {
        shape.unknown(format_args!("melds[{i}].kind"));
    }
    meld.cards.iter().enumerate().for_each(|(k, &card)| shape.card(format_args!("melds[{i}].cards[{k}]"), card));
}

fn check_discard_shapes(shape: &mut Shape, discards: &[DiscardDraft]) {
    if discards.is_empty() {
        shape.found.add("discards", "EMPTY", "the opening card is the first discard");
    }
    for (i, discard) in discards.iter().enumerate() {
        shape.card(format_args!("discards[{i}].card"), discard.card);
        let mut bad = |text| shape.found.add(format_args!("discards[{i}].seat"), "OUT_OF_RANGE", text);
        match (i, discard.seat) {
            (0, Some(_)) => bad("nobody threw the opening card"),
            (0, None) => {}
            (_, Some(seat)) => shape.seat(format_args!("discards[{i}].seat"), seat),
            (_, None) => bad("somebody threw every card but the first"),
        }
        if let Some(taker) = discard.taken_by {
            shape.seat(format_args!("discards[{i}].taken_by"), taker);
        }
    }
}

fn check_turn_shape(shape: &mut Shape, turn: &TurnDraft) {
    if let Some(card) = turn.taken_card {
        shape.card("turn.taken_card", card);
    }
    if let Some(seat) = turn.taken_from {
        shape.seat("turn.taken_from", seat);
    }
    if turn.layoffs.is_none() {
        shape.unknown("turn.layoffs");
    }
}

fn check_match_shape(shape: &mut Shape, draft: &Draft) {
    if !draft.scores.is_empty() {
        shape.count("scores", draft.scores.len());
    }
    if let (Some(index), Some(total)) = (draft.round_index, draft.rounds_total)
        && index >= total
    {
        shape.found.add("round_index", "OUT_OF_RANGE", format!("round {index} of {total}"));
    }
}

fn set_of(cards: &[u32]) -> Cards {
    cards.iter().filter_map(|&card| Card::new(card)).collect()
}

/// Stage 2.
fn check_cards(draft: &Draft) -> Result<(), Reject> {
    let mut seen = Cards::NONE;
    let mut found = violations();
    let mut place = |path: Arguments<'_>, card: u32| {
        let Some(card) = Card::new(card) else { return };
        if seen.has(card) {
            found.add(path, "DUPLICATE_CARD", format_args!("card {} lies in two places", card.id()));
        }
        seen = seen.with(card);
    };
    for (i, &card) in draft.hand.iter().enumerate() {
        place(format_args!("hand[{i}]"), card);
    }
    for (i, meld) in draft.melds.iter().enumerate() {
        for (k, &card) in meld.cards.iter().enumerate() {
            place(format_args!("melds[{i}].cards[{k}]"), card);
        }
    }
    for (i, discard) in draft.discards.iter().enumerate().filter(|(_, discard)| discard.taken_by.is_none()) {
        place(format_args!("discards[{i}].card"), discard.card);
    }
    for (i, seat) in draft.seats.iter().enumerate().filter(|&(i, _)| i != draft.seat as usize) {
        for (k, &card) in seat.known.iter().enumerate() {
            place(format_args!("seats[{i}].known_cards[{k}]"), card);
        }
    }
    found.finish()
}

/// Stage 3.
fn check_melds(rules: &Rules, draft: &Draft) -> Result<Melds, Reject> {
    let mut melds = Melds::default();
    let mut found = violations();
    let mut owners = 0u32;
    for (i, meld) in draft.melds.iter().enumerate() {
        owners |= 1 << meld.owner;
        let kind = meld.kind.unwrap_or(MeldKind::Seven);
        let built = Meld::on_table(meld.owner as u8, kind, set_of(&meld.cards), rules.run_wrap);
        if !built.is_some_and(|meld| melds.push(meld)) {
            found.add(format_args!("melds[{i}]"), "BAD_MELD", "these cards may not lie on the table as such a meld");
        }
    }
    for (i, seat) in draft.seats.iter().enumerate() {
        if seat.registered != (owners >> i & 1 == 1) {
            let text = "a seat is registered exactly when it owns a meld";
            found.add(format_args!("seats[{i}].registered"), "REGISTRATION_MISMATCH", text);
        }
    }
    found.finish()?;
    Ok(melds)
}

/// Stage 4.
fn check_phase(rules: &Rules, draft: &Draft, phase: Phase) -> Result<(), Reject> {
    let mut found = violations();
    let last = draft.discards.len().saturating_sub(1);
    let Some(open) = draft.discards.get(last) else { return found.finish() };
    if phase != Phase::Window && draft.turn_seat != draft.seat {
        found.add("turn_seat", "PHASE_MISMATCH", "it is not my turn, yet I am asked to play it");
    }
    if draft.turn.is_some() != (phase == Phase::Action) {
        found.add("turn", "PHASE_MISMATCH", "a turn in progress belongs to ACTION, and only there");
    }
    if phase != Phase::Action && open.taken_by.is_some() {
        let path = format!("discards[{last}].taken_by");
        found.add(&path, "PHASE_MISMATCH", "the last discard is open, so nobody has it");
    }
    if phase == Phase::Window {
        let whose = open.seat.unwrap_or(draft.starter);
        if open.seat == Some(draft.seat) {
            found.add("seat", "PHASE_MISMATCH", "nobody answers the window of the own discard");
        }
        if draft.turn_seat != whose {
            let text = format!("the window belongs to the discarder or, for the opening card, the starter: {whose}");
            found.add("turn_seat", "PHASE_MISMATCH", text);
        }
    }
    if let (Phase::Action, Some(turn)) = (phase, &draft.turn) {
        check_turn(&mut found, draft, turn, open);
    }
    if phase == Phase::TurnStart {
        if draft.deck_remaining == 0 {
            found.add("deck_remaining", "ROUND_OVER", "a turn start with an empty deck ends the round");
        } else if exhausted(rules, draft.deck_remaining as usize, last) {
            found.add("discards", "ROUND_OVER", "under FREE the round ends after 100 completed turns");
        }
    }
    found.finish()
}

fn check_turn(found: &mut Violations, draft: &Draft, turn: &TurnDraft, open: &DiscardDraft) {
    let taken = (turn.taken_card, turn.taken_from);
    let fits = match open.taken_by {
        Some(taker) => taker == draft.seat && taken == (Some(open.card), open.seat),
        None => taken == (None, None),
    };
    if !fits {
        found.add("turn.taken_card", "PHASE_MISMATCH", "it must be the last discard when I took that, else absent");
    }
    let registered = draft.seats.get(draft.seat as usize).is_some_and(|seat| seat.registered);
    if turn.registered_at_start && !registered {
        found.add("turn.registered_at_start", "PHASE_MISMATCH", "a registered seat stays registered");
    }
    if turn.layoffs.unwrap_or_default() != Layoffs::None && !registered {
        found.add("turn.layoffs", "PHASE_MISMATCH", "only a registered seat lays off");
    }
}

/// Stage 5.
fn check_counts(rules: &Rules, draft: &Draft, phase: Phase) -> Result<(), Reject> {
    let mut found = violations();
    for (i, seat) in draft.seats.iter().enumerate() {
        let mine = i == draft.seat as usize;
        let acting = u32::from(mine && phase == Phase::Action);
        let path = format!("seats[{i}].hand_count");
        if !seat.registered && seat.hand_count != 7 + acting {
            let text = format!("an unregistered seat holds {} cards here, not {}", 7 + acting, seat.hand_count);
            found.add(&path, "UNREGISTERED_COUNT", text);
        }
        if seat.registered && !(1..=6 + acting).contains(&seat.hand_count) {
            let text = format!("a registered seat holds 1..={} cards here, not {}", 6 + acting, seat.hand_count);
            found.add(&path, "OUT_OF_RANGE", text);
        }
        let allowed = rules.discard_draw == DiscardDraw::Free && seat.known.len() <= seat.hand_count as usize;
        let held = !mine || seat.known.iter().all(|card| draft.hand.contains(card));
        let sound = seat.known.is_empty() || allowed && held;
        if !sound {
            let text = "cards taken under FREE and still in hand, no more than the hand holds";
            found.add(format_args!("seats[{i}].known_cards"), "KNOWN_CARDS", text);
        }
        if mine && seat.hand_count as usize != draft.hand.len() {
            found.add("hand", "HAND_COUNT_MISMATCH", format!("{} cards, counted {}", draft.hand.len(), seat.hand_count));
        }
    }
    found.finish()
}

/// Stage 6.
fn check_sums(rules: &Rules, draft: &Draft, phase: Phase) -> Result<(), Reject> {
    let mut found = violations();
    let taken = draft.discards.iter().filter(|discard| discard.taken_by.is_some()).count() as i64;
    let thrown = draft.discards.len() as i64;
    let deck = i64::from(draft.deck_remaining);
    let held: i64 = draft.seats.iter().map(|seat| i64::from(seat.hand_count)).sum();
    let laid: i64 = draft.melds.iter().map(|meld| meld.cards.len() as i64).sum();
    let all = held + laid + thrown - taken + deck;
    if all != 52 {
        found.add("deck_remaining", "CARD_COUNT", format!("{all} cards in hands, melds, discards and deck, not 52"));
    }
    let begun = i64::from(rules.deck()) - deck + taken;
    let completed = thrown - 1 + i64::from(phase == Phase::Action);
    if begun != completed {
        let text = format!("{begun} cards drawn or taken, but {completed} turns by the discards");
        found.add("discards", "TURN_ACCOUNTING", text);
    }
    found.finish()
}

fn build(rules: Rules, draft: &Draft, phase: Phase, turn: Option<TurnSoFar>, melds: Melds) -> View {
    let mut seats = [SeatView::default(); 5];
    for (place, seat) in seats.iter_mut().zip(&draft.seats) {
        *place = SeatView {
            hand_count: seat.hand_count as u8,
            registered: seat.registered,
            known: set_of(&seat.known),
        };
    }
    let discard = |entry: &DiscardDraft| {
        let seat = |seat: Option<u32>| seat.map(|seat| Seat(seat as u8));
        Some(Discard { card: Card::new(entry.card)?, seat: seat(entry.seat), taken_by: seat(entry.taken_by) })
    };
    View {
        rules,
        seat: Seat(draft.seat as u8),
        starter: Seat(draft.starter as u8),
        turn_seat: Seat(draft.turn_seat as u8),
        phase,
        hand: set_of(&draft.hand),
        seats,
        melds,
        discards: draft.discards.iter().filter_map(discard).collect(),
        deck_remaining: draft.deck_remaining as u8,
        turn,
        standing: MatchStanding {
            round_index: draft.round_index,
            rounds_total: draft.rounds_total,
            scores: draft.scores.clone(),
        },
    }
}
