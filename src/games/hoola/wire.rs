//! Between protobuf messages and the game's own types: the only file of the game that names `pb`.

use super::Hoola;
use super::card::{Card, Cards};
use super::check::{
    DiscardDraft, Draft, MeldDraft, RulesDraft, SeatDraft, Switch, TurnDraft, check, warnings,
};
use super::meld::{MeldKind, RunWrap, in_order};
use super::moves::{Move, StopKind};
use super::phase::{Layoffs, Phase};
use super::rules::{DiscardDraw, DokbakScope, HoolaLayoff, Rules, STANDARD, TieSplit};
use super::view::View;
use crate::bot::{Checked, Fnv, Reject, Violations, Wire};
use crate::pb;
use crate::pb::hoola as wire;
use crate::pb::view::Game as GameView;

impl Wire for Hoola {
    fn opens(view: &pb::View) -> bool {
        matches!(view.game, Some(GameView::Hoola(_)))
    }

    fn read(view: pb::View) -> Result<Checked<Self>, Reject> {
        let Some(GameView::Hoola(message)) = view.game else {
            let mut violations = Violations::under("view");
            violations.add("game", "", "this is no view of hoola");
            return Err(Reject::Invalid(violations));
        };
        let view = check(&draft(message))?;
        Ok(Checked {
            view_hash: view_hash(&view),
            ruleset: view.rules().to_string(),
            warnings: warnings(&view),
            view,
        })
    }

    fn write_view(view: &View) -> pb::View {
        pb::View { game: Some(GameView::Hoola(message(view))) }
    }

    fn write_move(view: &View, mv: &Move) -> pb::Move {
        pb::Move { game: Some(pb::r#move::Game::Hoola(wire::Move { action: Some(action(view, mv)) })) }
    }
}

/// The message as a draft: nothing is judged here but numbers of enums that do not exist.
fn draft(message: wire::View) -> Draft {
    Draft {
        rules: rules_draft(message.ruleset.unwrap_or_default()),
        seat: message.seat,
        starter: message.starter,
        turn_seat: message.turn_seat,
        phase: match wire::Phase::try_from(message.phase) {
            Ok(wire::Phase::TurnStart) => Some(Phase::TurnStart),
            Ok(wire::Phase::Action) => Some(Phase::Action),
            Ok(wire::Phase::Window) => Some(Phase::Window),
            Ok(wire::Phase::Unspecified) | Err(_) => None,
        },
        hand: message.hand,
        seats: message
            .seats
            .into_iter()
            .map(|seat| SeatDraft { hand_count: seat.hand_count, registered: seat.registered, known: seat.known_cards })
            .collect(),
        melds: message.melds.into_iter().map(meld_draft).collect(),
        discards: message
            .discards
            .into_iter()
            .map(|discard| DiscardDraft { card: discard.card, seat: discard.seat, taken_by: discard.taken_by })
            .collect(),
        deck_remaining: message.deck_remaining,
        turn: message.turn.map(turn_draft),
        round_index: message.round_index,
        rounds_total: message.rounds_total,
        scores: message.scores,
    }
}

fn rules_draft(message: wire::Ruleset) -> RulesDraft {
    RulesDraft {
        name: message.name,
        numbers: [
            message.players,
            message.stop_limit,
            message.low_limit,
            message.high_limit,
            message.mult_low,
            message.mult_high,
        ],
        run_wrap: match wire::RunWrap::try_from(message.run_wrap) {
            Ok(wire::RunWrap::Unspecified) => Switch::Default,
            Ok(wire::RunWrap::Ring) => Switch::Is(RunWrap::Ring),
            Ok(wire::RunWrap::AceHighOrLow) => Switch::Is(RunWrap::AceHighOrLow),
            Ok(wire::RunWrap::AceLow) => Switch::Is(RunWrap::AceLow),
            Err(_) => Switch::Unknown,
        },
        discard_draw: match wire::DiscardDraw::try_from(message.discard_draw) {
            Ok(wire::DiscardDraw::Unspecified) => Switch::Default,
            Ok(wire::DiscardDraw::MeldOnly) => Switch::Is(DiscardDraw::MeldOnly),
            Ok(wire::DiscardDraw::ThankyouOnly) => Switch::Is(DiscardDraw::ThankyouOnly),
            Ok(wire::DiscardDraw::Free) => Switch::Is(DiscardDraw::Free),
            Err(_) => Switch::Unknown,
        },
        hoola_layoff: match wire::HoolaLayoff::try_from(message.hoola_layoff) {
            Ok(wire::HoolaLayoff::Unspecified) => Switch::Default,
            Ok(wire::HoolaLayoff::Any) => Switch::Is(HoolaLayoff::Any),
            Ok(wire::HoolaLayoff::Own) => Switch::Is(HoolaLayoff::Own),
            Ok(wire::HoolaLayoff::None) => Switch::Is(HoolaLayoff::None),
            Err(_) => Switch::Unknown,
        },
        dokbak_scope: match wire::DokbakScope::try_from(message.dokbak_scope) {
            Ok(wire::DokbakScope::Unspecified) => Switch::Default,
            Ok(wire::DokbakScope::Hoola) => Switch::Is(DokbakScope::Hoola),
            Ok(wire::DokbakScope::AnyWin) => Switch::Is(DokbakScope::AnyWin),
            Ok(wire::DokbakScope::Off) => Switch::Is(DokbakScope::Off),
            Err(_) => Switch::Unknown,
        },
        tie_split: match wire::TieSplit::try_from(message.tie_split) {
            Ok(wire::TieSplit::Unspecified) => Switch::Default,
            Ok(wire::TieSplit::Split) => Switch::Is(TieSplit::Split),
            Ok(wire::TieSplit::NextStarter) => Switch::Is(TieSplit::NextStarter),
            Err(_) => Switch::Unknown,
        },
        seven_hand_value: message.seven_hand_value,
        chongtong_unregistered_only: message.chongtong_unregistered_only,
        payer_inherits_baks: message.payer_inherits_baks,
        jokers: message.jokers,
    }
}

fn meld_draft(message: wire::Meld) -> MeldDraft {
    MeldDraft {
        id: message.id,
        owner: message.owner,
        kind: match wire::MeldKind::try_from(message.kind) {
            Ok(wire::MeldKind::Set) => Some(MeldKind::Set),
            Ok(wire::MeldKind::Run) => Some(MeldKind::Run),
            Ok(wire::MeldKind::Seven) => Some(MeldKind::Seven),
            Ok(wire::MeldKind::Unspecified) | Err(_) => None,
        },
        cards: message.cards,
    }
}

fn turn_draft(message: wire::Turn) -> TurnDraft {
    TurnDraft {
        registered_at_start: message.registered_at_start,
        taken_card: message.taken_card,
        taken_from: message.taken_from,
        layoffs: match wire::Layoffs::try_from(message.layoffs) {
            Ok(wire::Layoffs::None) => Some(Layoffs::None),
            Ok(wire::Layoffs::Own) => Some(Layoffs::Own),
            Ok(wire::Layoffs::Others) => Some(Layoffs::Others),
            Ok(wire::Layoffs::Unspecified) | Err(_) => None,
        },
    }
}

fn ids(cards: Cards) -> Vec<u32> {
    cards.iter().map(|card| u32::from(card.id())).collect()
}

fn message(view: &View) -> wire::View {
    wire::View {
        ruleset: Some(ruleset(view.rules())),
        seat: u32::from(view.seat.0),
        starter: u32::from(view.starter.0),
        turn_seat: u32::from(view.turn_seat.0),
        phase: match view.phase {
            Phase::TurnStart => wire::Phase::TurnStart,
            Phase::Action => wire::Phase::Action,
            Phase::Window => wire::Phase::Window,
        } as i32,
        hand: ids(view.hand),
        seats: view
            .seats()
            .iter()
            .map(|seat| wire::Seat {
                hand_count: u32::from(seat.hand_count),
                registered: seat.registered,
                known_cards: ids(seat.known),
            })
            .collect(),
        melds: (0..)
            .zip(view.melds.list())
            .map(|(id, meld)| wire::Meld {
                id,
                owner: u32::from(meld.owner),
                kind: match meld.kind {
                    MeldKind::Set => wire::MeldKind::Set,
                    MeldKind::Run => wire::MeldKind::Run,
                    MeldKind::Seven => wire::MeldKind::Seven,
                } as i32,
                cards: in_order(meld.kind, meld.cards).into_iter().map(|card| u32::from(card.id())).collect(),
            })
            .collect(),
        discards: view
            .discards
            .iter()
            .map(|discard| wire::Discard {
                card: u32::from(discard.card.id()),
                seat: discard.seat.map(|seat| u32::from(seat.0)),
                taken_by: discard.taken_by.map(|seat| u32::from(seat.0)),
            })
            .collect(),
        deck_remaining: u32::from(view.deck_remaining),
        turn: view.turn.map(|turn| wire::Turn {
            registered_at_start: turn.registered_at_start,
            taken_card: turn.taken_card.map(|card| u32::from(card.id())),
            taken_from: turn.taken_from.map(|seat| u32::from(seat.0)),
            layoffs: match turn.layoffs {
                Layoffs::None => wire::Layoffs::None,
                Layoffs::Own => wire::Layoffs::Own,
                Layoffs::Others => wire::Layoffs::Others,
            } as i32,
        }),
        round_index: view.standing.round_index,
        rounds_total: view.standing.rounds_total,
        scores: view.standing.scores.clone(),
    }
}

/// Every switch, the defaults filled in.
fn ruleset(rules: &Rules) -> wire::Ruleset {
    wire::Ruleset {
        name: STANDARD.to_owned(),
        players: Some(u32::from(rules.players)),
        run_wrap: match rules.run_wrap {
            RunWrap::Ring => wire::RunWrap::Ring,
            RunWrap::AceHighOrLow => wire::RunWrap::AceHighOrLow,
            RunWrap::AceLow => wire::RunWrap::AceLow,
        } as i32,
        discard_draw: match rules.discard_draw {
            DiscardDraw::MeldOnly => wire::DiscardDraw::MeldOnly,
            DiscardDraw::ThankyouOnly => wire::DiscardDraw::ThankyouOnly,
            DiscardDraw::Free => wire::DiscardDraw::Free,
        } as i32,
        stop_limit: Some(u32::from(rules.stop_limit)),
        low_limit: Some(u32::from(rules.low_limit)),
        high_limit: Some(u32::from(rules.high_limit)),
        mult_low: Some(u32::from(rules.mult_low)),
        mult_high: Some(u32::from(rules.mult_high)),
        hoola_layoff: match rules.hoola_layoff {
            HoolaLayoff::Any => wire::HoolaLayoff::Any,
            HoolaLayoff::Own => wire::HoolaLayoff::Own,
            HoolaLayoff::None => wire::HoolaLayoff::None,
        } as i32,
        dokbak_scope: match rules.dokbak_scope {
            DokbakScope::Hoola => wire::DokbakScope::Hoola,
            DokbakScope::AnyWin => wire::DokbakScope::AnyWin,
            DokbakScope::Off => wire::DokbakScope::Off,
        } as i32,
        tie_split: match rules.tie_split {
            TieSplit::Split => wire::TieSplit::Split,
            TieSplit::NextStarter => wire::TieSplit::NextStarter,
        } as i32,
        seven_hand_value: Some(rules.seven()),
        chongtong_unregistered_only: Some(rules.chongtong_unregistered_only),
        payer_inherits_baks: Some(rules.payer_inherits_baks),
        jokers: None,
    }
}

fn action(view: &View, mv: &Move) -> wire::r#move::Action {
    use wire::r#move::Action;
    let list = |cards: Cards| wire::Cards { cards: ids(cards) };
    match *mv {
        Move::Stop(kind) => Action::Stop(match kind {
            StopKind::Chongtong => wire::StopKind::Chongtong,
            StopKind::Low => wire::StopKind::Low,
            StopKind::High => wire::StopKind::High,
            StopKind::Normal => wire::StopKind::Normal,
        } as i32),
        Move::Draw => Action::Draw(wire::Nothing {}),
        Move::Pass => Action::Pass(wire::Nothing {}),
        Move::Take(own) => Action::Take(list(own)),
        Move::Claim(own) => Action::Claim(list(own)),
        Move::Register(cards) => Action::Register(wire::Cards { cards: new_meld(view, cards) }),
        Move::LayOff { meld, cards } => Action::LayOff(wire::LayOff { meld: u32::from(meld), cards: ids(cards) }),
        Move::Discard(card) => Action::Discard(u32::from(card.id())),
    }
}

/// A new meld in the order it is shown: a run from its low end.
fn new_meld(view: &View, cards: Cards) -> Vec<u32> {
    let kind = super::meld::new_kind(cards, view.rules().run_wrap).unwrap_or(MeldKind::Set);
    in_order(kind, cards).into_iter().map(|card: Card| u32::from(card.id())).collect()
}

/// FNV-1a over the canonical bytes: the resolved rules as text, then one byte a number and eight bytes a set of cards.
/// Of the discards only what a policy reads is in: the cards that lie there, the last one with its thrower, and how
/// many turns are complete. The match's standing changes no decision and is left out.
fn view_hash(view: &View) -> u64 {
    let mut hash = Fnv::default();
    hash.write(view.rules().to_string().as_bytes());
    let cards = |hash: &mut Fnv, cards: Cards| hash.write(&cards.bits().to_le_bytes());
    let seat = |seat: Option<crate::bot::Seat>| seat.map_or(u8::MAX, |seat| seat.0);
    let phase = match view.phase {
        Phase::TurnStart => 1,
        Phase::Action => 2,
        Phase::Window => 3,
    };
    hash.write(&[0, view.seat.0, view.starter.0, view.turn_seat.0, phase]);
    cards(&mut hash, view.hand);
    for other in view.seats() {
        hash.write(&[other.hand_count, u8::from(other.registered)]);
        cards(&mut hash, other.known);
    }
    hash.write(&[view.melds.list().len() as u8]);
    for meld in view.melds.list() {
        hash.write(&[meld.owner, meld.kind as u8]);
        cards(&mut hash, meld.cards);
    }
    let last = view.last_discard();
    let lying = view.discards.iter().filter(|discard| discard.taken_by.is_none()).map(|discard| discard.card);
    cards(&mut hash, lying.collect());
    hash.write(&[last.card.id(), seat(last.seat), view.deck_remaining]);
    hash.write(&(view.completed_turns() as u32).to_le_bytes());
    if let Some(turn) = view.turn {
        let taken = turn.taken_card.map_or(u8::MAX, Card::id);
        hash.write(&[u8::from(turn.registered_at_start), taken, seat(turn.taken_from), turn.layoffs as u8]);
    }
    hash.finish()
}
