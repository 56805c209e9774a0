//! The messages of Lexio, in and out: the only file of the game that names protobuf types.

use super::flow::{Claim, SEATS};
use super::meld::MeldKind;
use super::rules::{FirstLead, NAME, Ruleset, Settle, TwoMult, VERSION};
use super::tile::TileSet;
use super::view::{Draft, View};
use super::{Lexio, Move};
use crate::bot::{Checked, Fnv, Reject, Violations, Wire};
use crate::pb;
use crate::pb::lexio as msg;

impl Wire for Lexio {
    fn opens(view: &pb::View) -> bool {
        matches!(view.game, Some(pb::view::Game::Lexio(_)))
    }

    fn read(view: pb::View) -> Result<Checked<Self>, Reject> {
        let mut wrong = Violations::under("view.lexio");
        let Some(pb::view::Game::Lexio(message)) = view.game else {
            wrong.add("", "", "not a Lexio view");
            return Err(Reject::Invalid(wrong));
        };
        let rules = read_rules(message.ruleset.unwrap_or_default(), &mut wrong);
        let draft = Draft {
            rules,
            me: message.me,
            round: message.round,
            hand: message.hand,
            played: message.played,
            table: message.table.map(|table| (table.seat, table.tiles)),
            counts: message.seats.iter().map(|seat| seat.tile_count).collect(),
            log: message.log.into_iter().map(read_action).collect(),
            money: message.money,
        };
        match draft.check(&mut wrong) {
            Some((view, warnings)) => {
                let (view_hash, ruleset) = (hash(&view), view.rules().to_string());
                Ok(Checked { view, view_hash, ruleset, warnings })
            }
            None => Err(Reject::Invalid(wrong)),
        }
    }

    fn write_view(view: &View) -> pb::View {
        let log = view.log().iter().map(|action| msg::Action {
            seat: u32::from(action.seat),
            trick: u32::from(action.trick),
            pass: action.play.is_none(),
            tiles: action.play.map_or_else(Vec::new, |meld| ids(meld.tiles())),
        });
        let counts = view.counts();
        let seats = counts[..usize::from(view.seats())].iter();
        pb::View {
            game: Some(pb::view::Game::Lexio(msg::View {
                ruleset: Some(write_rules(view.rules())),
                me: u32::from(view.me()),
                round: u32::from(view.round()),
                hand: ids(view.hand()),
                played: ids(view.played()),
                table: view.table().map(|(seat, meld)| msg::Table { seat: u32::from(*seat), tiles: ids(meld.tiles()) }),
                seats: seats.map(|&count| msg::Seat { tile_count: u32::from(count) }).collect(),
                log: log.collect(),
                money: view.money().unwrap_or_default().to_vec(),
            })),
        }
    }

    fn write_move(_view: &View, mv: &Move) -> pb::Move {
        let message = match mv {
            Move::Pass => msg::Move { pass: true, tiles: Vec::new(), kind: msg::MeldKind::Unspecified as i32 },
            Move::Play(meld) => {
                msg::Move { pass: false, tiles: ids(meld.tiles()), kind: write_kind(meld.kind()) as i32 }
            }
        };
        pb::Move { game: Some(pb::r#move::Game::Lexio(message)) }
    }
}

fn ids(tiles: TileSet) -> Vec<u32> {
    let mut ids = Vec::with_capacity(tiles.len() as usize);
    ids.extend(tiles.into_iter().map(|tile| u32::from(tile.id())));
    ids
}

const fn write_kind(kind: MeldKind) -> msg::MeldKind {
    match kind {
        MeldKind::Single => msg::MeldKind::Single,
        MeldKind::Pair => msg::MeldKind::Pair,
        MeldKind::Triple => msg::MeldKind::Triple,
        MeldKind::Straight => msg::MeldKind::Straight,
        MeldKind::Flush => msg::MeldKind::Flush,
        MeldKind::FullHouse => msg::MeldKind::FullHouse,
        MeldKind::FourPlusOne => msg::MeldKind::FourPlusOne,
        MeldKind::StraightFlush => msg::MeldKind::StraightFlush,
    }
}

fn read_action(action: msg::Action) -> Claim {
    Claim { seat: action.seat, trick: action.trick, pass: action.pass, tiles: action.tiles }
}

/// The resolved rules; `None` when something about them is not known, and then every such thing is named.
fn read_rules(message: msg::Ruleset, wrong: &mut Violations) -> Option<Ruleset> {
    let before = wrong.len();
    if message.name != NAME {
        wrong.add("ruleset.name", "unknown_ruleset", format!("this server plays {NAME}"));
    }
    if message.version != VERSION {
        wrong.add("ruleset.version", "unknown_version", format!("this server plays version {VERSION}"));
    }
    let mut unknown = |switch: &str, value: i32| {
        wrong.add(format_args!("ruleset.{switch}"), "unknown_value", format!("value {value} is not known"));
    };
    let first_lead = match msg::FirstLead::try_from(message.first_lead) {
        Ok(msg::FirstLead::Unspecified | msg::FirstLead::C3Holder) => FirstLead::C3Holder,
        Ok(msg::FirstLead::PreviousWinner) => FirstLead::PreviousWinner,
        Err(_) => {
            unknown("first_lead", message.first_lead);
            FirstLead::default()
        }
    };
    let two_mult = match msg::TwoMult::try_from(message.two_mult) {
        Ok(msg::TwoMult::Unspecified | msg::TwoMult::Pow2) => TwoMult::Pow2,
        Ok(msg::TwoMult::Once) => TwoMult::Once,
        Err(_) => {
            unknown("two_mult", message.two_mult);
            TwoMult::default()
        }
    };
    let settle = match msg::Settle::try_from(message.settle) {
        Ok(msg::Settle::Unspecified | msg::Settle::Pairwise) => Settle::Pairwise,
        Ok(msg::Settle::WinnerOnly) => Settle::WinnerOnly,
        Err(_) => {
            unknown("settle", message.settle);
            Settle::default()
        }
    };
    for (switch, value) in [("must_play_c3", message.must_play_c3), ("pass_lock", message.pass_lock)] {
        if !matches!(msg::Switch::try_from(value), Ok(msg::Switch::Unspecified | msg::Switch::Off)) {
            unknown(switch, value);
        }
    }
    (wrong.len() == before).then_some(Ruleset { first_lead, two_mult, settle })
}

fn write_rules(rules: Ruleset) -> msg::Ruleset {
    let first_lead = match rules.first_lead {
        FirstLead::C3Holder => msg::FirstLead::C3Holder,
        FirstLead::PreviousWinner => msg::FirstLead::PreviousWinner,
    };
    let two_mult = match rules.two_mult {
        TwoMult::Pow2 => msg::TwoMult::Pow2,
        TwoMult::Once => msg::TwoMult::Once,
    };
    let settle = match rules.settle {
        Settle::Pairwise => msg::Settle::Pairwise,
        Settle::WinnerOnly => msg::Settle::WinnerOnly,
    };
    msg::Ruleset {
        name: NAME.to_owned(),
        version: VERSION,
        first_lead: first_lead as i32,
        two_mult: two_mult as i32,
        settle: settle as i32,
        must_play_c3: msg::Switch::Off as i32,
        pass_lock: msg::Switch::Off as i32,
    }
}

/// FNV-1a over the canonical bytes: the resolved ruleset as text and a zero byte; seats, me and round as one byte each;
/// hand and played as 8 bytes, little-endian; the table's seat plus one (0: none) and its tiles; one byte a count; the
/// number of actions (4 bytes), each as seat, trick (2 bytes) and tiles (0: a pass); then the money, if any, 8 bytes a
/// seat. Sets, not lists: the order in which tiles were sent does not matter.
fn hash(view: &View) -> u64 {
    let mut hash = Fnv::default();
    hash.write(view.rules().to_string().as_bytes());
    hash.write(&[0, view.seats(), view.me(), view.round()]);
    hash.write(&view.hand().bits().to_le_bytes());
    hash.write(&view.played().bits().to_le_bytes());
    let (owner, table) = view.table().map_or((0, 0), |(seat, meld)| (seat + 1, meld.tiles().bits()));
    hash.write(&[owner]);
    hash.write(&table.to_le_bytes());
    let counts: [u8; SEATS] = view.counts();
    hash.write(&counts[..usize::from(view.seats())]);
    hash.write(&(view.log().len() as u32).to_le_bytes());
    for action in view.log() {
        hash.write(&[action.seat]);
        hash.write(&action.trick.to_le_bytes());
        hash.write(&action.play.map_or(0, |meld| meld.tiles().bits()).to_le_bytes());
    }
    for money in view.money().unwrap_or_default() {
        hash.write(&money.to_le_bytes());
    }
    hash.finish()
}
