//! Messages to views and back. The only file of this game that names protobuf types.

use super::Wallgo;
use super::action::Move;
use super::board::{Cell, Cells, Side, each};
use super::rules::{FirstMover, Pass, Rules, Setup, Stay, TieBreak};
use super::view::{Claim, ClaimedMasks, ClaimedPlayer, Phase, View};
use crate::bot::{Checked, Fnv, Reject, Violations, Wire};
use crate::pb;
use crate::pb::wallgo as wire;

/// The one ruleset.
pub const RULESET: &str = "wallgo.v1";

impl Wire for Wallgo {
    fn opens(view: &pb::View) -> bool {
        matches!(view.game, Some(pb::view::Game::Wallgo(_)))
    }

    fn read(view: pb::View) -> Result<Checked<Self>, Reject> {
        let mut problems = Violations::under("view.wallgo");
        let Some(pb::view::Game::Wallgo(message)) = view.game else {
            problems.add("", "other_game", "this is not a view of Wall Go");
            return Err(Reject::Invalid(problems));
        };
        let claim = read_claim(&message, &mut problems);
        let mut warnings = Vec::new();
        let checked = View::check(&claim, &mut problems, &mut warnings);
        problems.finish()?;
        let Some(view) = checked else {
            return Err(Reject::Invalid(Violations::default()));
        };
        for warning in &mut warnings {
            warning.field = format!("view.wallgo.{}", warning.field);
        }
        Ok(Checked { view_hash: hash(&view), ruleset: view.rules().resolved(), view, warnings })
    }

    fn write_view(view: &View) -> pb::View {
        pb::View { game: Some(pb::view::Game::Wallgo(write(view))) }
    }

    fn write_move(view: &View, mv: &Move) -> pb::Move {
        use wire::r#move::Action;
        let mut message = wire::Move::default();
        match mv {
            Move::Place(cell) => message.action = Some(Action::Place(write_cell(*cell))),
            Move::Turn(turn) => {
                let wall = match turn.wall() {
                    Some(Side::North) => wire::Wall::N,
                    Some(Side::East) => wire::Wall::E,
                    Some(Side::South) => wire::Wall::S,
                    Some(Side::West) => wire::Wall::W,
                    None => wire::Wall::None,
                };
                message.action = Some(Action::Turn(wire::Turn {
                    from: Some(write_cell(turn.from())),
                    to: Some(write_cell(turn.to())),
                    wall: wall as i32,
                }));
                message.slot = turn.slot();
                message.same_slots = view.position().same_slots(view.rules(), *turn);
            }
            Move::Skip => message.action = Some(Action::Skip(wire::Skip {})),
        }
        pb::Move { game: Some(pb::r#move::Game::Wallgo(message)) }
    }
}

fn read_claim(message: &wire::View, problems: &mut Violations) -> Claim {
    match message.ruleset.as_str() {
        RULESET => {}
        "" => problems.add("ruleset", "ruleset_missing", "name the ruleset: wallgo.v1"),
        other => {
            let text = format!("unknown ruleset {:?}: this server knows wallgo.v1", other.chars().take(32).collect::<String>());
            problems.add("ruleset", "ruleset_unknown", text);
        }
    }
    let phase = match wire::Phase::try_from(message.phase) {
        Ok(wire::Phase::Setup) => Some(Phase::Setup),
        Ok(wire::Phase::Play) => Some(Phase::Play),
        Ok(wire::Phase::Unspecified) => {
            problems.add("phase", "phase_missing", "name the phase: PHASE_SETUP or PHASE_PLAY");
            None
        }
        Err(_) => {
            problems.add("phase", "phase_unknown", format!("no phase has number {}", message.phase));
            None
        }
    };
    let rules = read_switches(message.switches.as_ref(), problems);
    let cells = |list: &[wire::Cell]| list.iter().map(|cell| (cell.row, cell.col)).collect();
    let player = |player: &wire::Player| ClaimedPlayer { pieces: cells(&player.pieces), walls_left: player.walls_left };
    let masks = |compact: &wire::Compact| ClaimedMasks {
        pieces: compact.pieces.clone(),
        east: compact.east,
        south: compact.south,
    };
    Claim {
        rules,
        phase,
        to_move: message.to_move,
        players: message.players.iter().map(player).collect(),
        east_walls: cells(&message.east_walls),
        south_walls: cells(&message.south_walls),
        compact: message.compact.as_ref().map(masks),
        consecutive_passes: message.consecutive_passes,
        wall_owners: !message.wall_owners.is_empty(),
    }
}

fn read_switches(switches: Option<&wire::Switches>, problems: &mut Violations) -> Rules {
    let mut rules = Rules::default();
    let Some(switches) = switches else {
        return rules;
    };
    let mut unknown = |name: &str, number: i32| {
        problems.add(format_args!("switches.{name}"), "switch_unknown", format!("no value has number {number}"));
    };
    match wire::Setup::try_from(switches.setup) {
        Ok(wire::Setup::Unspecified | wire::Setup::Fixed2Abab) => rules.setup = Setup::Fixed2Abab,
        Ok(wire::Setup::Fixed2Abba) => rules.setup = Setup::Fixed2Abba,
        Ok(wire::Setup::FreeAbbaabba) => rules.setup = Setup::FreeAbbaabba,
        Ok(wire::Setup::Given) => rules.setup = Setup::Given,
        Err(_) => unknown("setup", switches.setup),
    }
    match wire::FirstMover::try_from(switches.first_mover) {
        Ok(wire::FirstMover::Unspecified | wire::FirstMover::LastPlacer) => rules.first_mover = FirstMover::LastPlacer,
        Ok(wire::FirstMover::FirstPlacer) => rules.first_mover = FirstMover::FirstPlacer,
        Ok(wire::FirstMover::Explicit) => rules.first_mover = FirstMover::Explicit,
        Err(_) => unknown("first_mover", switches.first_mover),
    }
    match wire::Stay::try_from(switches.stay) {
        Ok(wire::Stay::Unspecified | wire::Stay::Always) => rules.stay = Stay::Always,
        Ok(wire::Stay::RoundTripOnly) => rules.stay = Stay::RoundTripOnly,
        Err(_) => unknown("stay", switches.stay),
    }
    match wire::Pass::try_from(switches.pass) {
        Ok(wire::Pass::Unspecified | wire::Pass::SealedOnly) => rules.pass = Pass::SealedOnly,
        Ok(wire::Pass::None) => rules.pass = Pass::None,
        Err(_) => unknown("pass", switches.pass),
    }
    match wire::TieBreak::try_from(switches.tie_break) {
        Ok(wire::TieBreak::Unspecified | wire::TieBreak::Draw) => rules.tie_break = TieBreak::Draw,
        Ok(wire::TieBreak::LargestRegion) => rules.tie_break = TieBreak::LargestRegion,
        Ok(wire::TieBreak::RegionLexicographic) => rules.tie_break = TieBreak::RegionLexicographic,
        Err(_) => unknown("tie_break", switches.tie_break),
    }
    rules.sealed_may_act = switches.sealed_may_act.unwrap_or(true);
    match switches.wall_limit.unwrap_or(0) {
        limit @ (0 | 20 | 25) => rules.wall_limit = limit as u8,
        limit => problems.add("switches.wall_limit", "switch_unknown", format!("{limit}: 0 (none), 20 and 25 exist")),
    }
    if !switches.breaker.is_empty() {
        problems.add("switches.breaker", "not_supported", "the breaker is not supported yet");
    }
    rules
}

const fn write_cell(cell: Cell) -> wire::Cell {
    wire::Cell { row: cell.row() as u32, col: cell.col() as u32 }
}

fn write_cells(cells: Cells) -> Vec<wire::Cell> {
    each(cells).map(write_cell).collect()
}

fn write(view: &View) -> wire::View {
    let (rules, position) = (view.rules(), view.position());
    let player = |player: usize| wire::Player {
        pieces: write_cells(position.board.pieces[player]),
        walls_left: (rules.wall_limit > 0).then(|| u32::from(position.walls_left[player])),
    };
    wire::View {
        ruleset: RULESET.to_owned(),
        switches: Some(write_switches(rules)),
        phase: match view.phase() {
            Phase::Setup => wire::Phase::Setup,
            Phase::Play => wire::Phase::Play,
        } as i32,
        to_move: u32::from(position.to_move),
        players: vec![player(0), player(1)],
        east_walls: write_cells(position.board.east_walls()),
        south_walls: write_cells(position.board.south_walls()),
        compact: None,
        consecutive_passes: u32::from(position.passes),
        wall_owners: Vec::new(),
    }
}

fn write_switches(rules: &Rules) -> wire::Switches {
    wire::Switches {
        setup: match rules.setup {
            Setup::Fixed2Abab => wire::Setup::Fixed2Abab,
            Setup::Fixed2Abba => wire::Setup::Fixed2Abba,
            Setup::FreeAbbaabba => wire::Setup::FreeAbbaabba,
            Setup::Given => wire::Setup::Given,
        } as i32,
        first_mover: match rules.first_mover {
            FirstMover::LastPlacer => wire::FirstMover::LastPlacer,
            FirstMover::FirstPlacer => wire::FirstMover::FirstPlacer,
            FirstMover::Explicit => wire::FirstMover::Explicit,
        } as i32,
        stay: match rules.stay {
            Stay::Always => wire::Stay::Always,
            Stay::RoundTripOnly => wire::Stay::RoundTripOnly,
        } as i32,
        pass: match rules.pass {
            Pass::SealedOnly => wire::Pass::SealedOnly,
            Pass::None => wire::Pass::None,
        } as i32,
        sealed_may_act: Some(rules.sealed_may_act),
        tie_break: match rules.tie_break {
            TieBreak::Draw => wire::TieBreak::Draw,
            TieBreak::LargestRegion => wire::TieBreak::LargestRegion,
            TieBreak::RegionLexicographic => wire::TieBreak::RegionLexicographic,
        } as i32,
        wall_limit: Some(u32::from(rules.wall_limit)),
        breaker: String::new(),
    }
}

/// FNV-1a over the canonical bytes: the resolved ruleset, phase, player to move, both piece masks, east and south
/// walls, walls left (only with a limit), passes. Both forms of the board give the same bytes.
fn hash(view: &View) -> u64 {
    let position = view.position();
    let mut hash = Fnv::default();
    hash.write(view.rules().resolved().as_bytes());
    hash.write(&[0, u8::from(view.phase() == Phase::Play), position.to_move]);
    for mask in [
        position.board.pieces[0],
        position.board.pieces[1],
        position.board.east_walls(),
        position.board.south_walls(),
    ] {
        hash.write(&mask.to_le_bytes());
    }
    if view.rules().wall_limit > 0 {
        hash.write(&position.walls_left);
    }
    hash.write(&[position.passes]);
    hash.finish()
}
