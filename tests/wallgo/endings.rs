//! Exact endings: golden margins, the collapse of pure regions against whole trees, proofs of sedol.

use std::collections::HashMap;

use understudy::bot::{Budget, Limits, Rng, Standing, decide};
use understudy::games::wallgo::action::Move;
use understudy::games::wallgo::board::{Board, Cells, Side, each};
use understudy::games::wallgo::ending::{Ending, Tree};
use understudy::games::wallgo::policies::searching::Searching;
use understudy::games::wallgo::reserve::Reserve;
use understudy::games::wallgo::rules::{Position, Rules, UNLIMITED};

use crate::cases::{list, load, position, random_game, table, text, view_of};
use crate::rules::keys;

fn margin(position: &Position, tree: Tree) -> i32 {
    margin_of(&Rules::default(), position, position.mover(), tree)
}

fn margin_of(rules: &Rules, position: &Position, me: usize, tree: Tree) -> i32 {
    let budget = Budget::unlimited();
    let mut ending = Ending::new(rules, me, tree, &budget, u64::MAX);
    ending.margin(position).unwrap_or_else(|halt| panic!("{halt:?} without a limit"))
}

#[test]
fn golden_endings_have_their_margins_and_verdicts() {
    for file in ["endings", "endings_pass"] {
        for case in list(&load(file)["positions"]) {
            let id = text(&case["id"]);
            let start = position(case);
            let (floor, ceiling) = (margin(&start, Tree::Floor), margin(&start, Tree::Ceiling));
            assert_eq!(Some(i64::from(floor)), case["floor"].as_i64(), "{id}");
            assert_eq!(Some(i64::from(ceiling)), case["ceiling"].as_i64(), "{id}");
            let table = table(&Searching::sedol(), &view_of(Rules::default(), &start), Limits::nodes(5_000_000));
            let told = ["floor", "ceiling"].map(|fact| table.get_fact(fact));
            let chosen = decide(&table);
            // A win at once needs no tree.
            let at_once = matches!(chosen.get_standing(), Standing::Won(proof) if proof.in_plies == Some(1));
            let finished = [Some(f64::from(floor)), Some(f64::from(ceiling))];
            assert!(at_once || told == finished, "{id}: both trees are finished: {told:?}");
            let verdict = match chosen.get_standing() {
                Standing::Won(_) => "win",
                // Every building action loses; where a pass might hold, the position is open.
                Standing::Lost(_) if ceiling < 0 => "loss",
                Standing::Drawn(_) if ceiling == 0 => "draw",
                _ => "open",
            };
            let expected = text(&case["verdict"]);
            if expected == "draw" {
                // A row whose reply may go wrong for either is as good a draw as one that is proved.
                assert!(["draw", "open"].contains(&verdict), "{id}: {verdict}");
                assert_eq!(chosen.get_fact("floor").unwrap_or(0.0), 0.0, "{id}");
            } else {
                assert_eq!(verdict, expected, "{id}");
            }
            if let (Some(floor), "win") = (chosen.get_fact("floor"), expected) {
                assert!(floor > 0.0, "{id}");
            }
        }
    }
}

#[test]
fn the_best_actions_of_golden_endings_reach_the_floor() {
    let rules = Rules::default();
    for case in list(&load("endings")["positions"]) {
        let start = position(case);
        let budget = Budget::unlimited();
        let mut ending = Ending::new(&rules, start.mover(), Tree::Floor, &budget, u64::MAX);
        let mut reaching = Vec::new();
        for mv in start.actions(&rules).into_iter().filter(|mv| start.after(*mv).passes == 0) {
            let found = ending.margin(&start.after(mv)).unwrap_or_else(|halt| panic!("{halt:?}"));
            if Some(i64::from(found)) == case["floor"].as_i64() {
                reaching.push(mv.key());
            }
        }
        let mut expected = keys(&case["best"]);
        expected.retain(|key| !key.ends_with('-'));
        assert_eq!(crate::rules::sorted(reaching), expected, "{}", case["id"]);
    }
}

/// The whole tree, nothing collapsed: margin for `me` when `passer` alone may pass.
struct Whole {
    rules: Rules,
    me: usize,
    passer: usize,
    known: HashMap<Position, i32>,
}

impl Whole {
    fn margin(&mut self, position: &Position) -> i32 {
        let position = Position { passes: 0, ..*position };
        let territory = position.board.territory();
        if territory.mixed == 0 {
            return territory.lead(self.me);
        }
        if let Some(known) = self.known.get(&position) {
            return *known;
        }
        let mut values = Vec::new();
        for mv in position.candidates(&self.rules) {
            let after = position.after(mv);
            if after.passes == 0 || position.mover() == self.passer {
                values.push(self.margin(&after));
            }
        }
        let own = position.mover() == self.me;
        let best = if own { values.into_iter().max() } else { values.into_iter().min() };
        let best = best.expect("each side can build");
        self.known.insert(position, best);
        best
    }
}

#[test]
fn collapsed_and_whole_trees_agree() {
    // By hand: WALLGO_ENDINGS=1000 cargo test --release --test wallgo collapsed_and_whole
    let wanted = std::env::var("WALLGO_ENDINGS").ok().and_then(|wanted| wanted.parse().ok()).unwrap_or(120);
    for switches in ["", "pass=none"] {
        let rules = crate::cases::rules(switches);
        let (mut met, mut differing) = (0, 0);
        for seed in 0.. {
            let fits = |position: &&Position| {
                let board = &position.board;
                let territory = board.territory();
                let pure = territory.pure[0] | territory.pure[1];
                let edges = board.edges_in(pure | territory.mixed);
                let small = board.regions(pure).all(|region| region.count_ones() <= 6);
                territory.mixed != 0 && small && edges <= 11
            };
            let game = random_game(&rules, 40_000 + seed);
            let Some(start) = game.iter().find(fits) else { continue };
            met += 1;
            let me = start.mover();
            let (mut found, mut whole) = (Vec::new(), Vec::new());
            for (tree, passer) in [(Tree::Floor, 1 - me), (Tree::Ceiling, me)] {
                found.push(margin_of(&rules, start, me, tree));
                whole.push(Whole { rules, me, passer, known: HashMap::new() }.margin(start));
            }
            assert_eq!(found, whole, "{switches} seed {seed}: {start:?}");
            differing += usize::from(found[0] != found[1]);
            if met == wanted {
                break;
            }
        }
        assert_eq!(differing > 0, rules.passes(), "the right to pass matters somewhere, and nothing else does");
    }
}

/// Whether `me` can force a margin of `wanted` in the whole tree, nothing collapsed, when `passer` alone may pass.
struct Force {
    rules: Rules,
    me: usize,
    passer: usize,
    wanted: i32,
    known: HashMap<Position, bool>,
    /// Positions it may still meet.
    left: usize,
}

impl Force {
    const MOST: usize = 300_000;

    /// `None`: too many positions.
    fn margin(rules: Rules, position: &Position, me: usize, passer: usize, wanted: i32) -> Option<bool> {
        Self { rules, me, passer, wanted, known: HashMap::new(), left: Self::MOST }.reaches(position)
    }

    fn reaches(&mut self, position: &Position) -> Option<bool> {
        let position = Position { passes: 0, ..*position };
        let territory = position.board.territory();
        if territory.mixed == 0 {
            return Some(territory.lead(self.me) >= self.wanted);
        }
        if let Some(known) = self.known.get(&position) {
            return Some(*known);
        }
        self.left = self.left.checked_sub(1)?;
        let mut children: Vec<Position> =
            position.candidates(&self.rules).into_iter().map(|mv| position.after(mv)).collect();
        children.retain(|after| after.passes == 0 || position.mover() == self.passer);
        children.sort_by_key(|after| after.board.territory().mixed.count_ones());
        // One child as wanted settles it for the side to move.
        let own = position.mover() == self.me;
        let mut reached = !own;
        for after in children {
            if self.reaches(&after)? == own {
                reached = own;
                break;
            }
        }
        self.known.insert(position, reached);
        Some(reached)
    }
}

/// Floor and ceiling for `me`, held against the whole trees: what the floor says is enforced, more than the ceiling is not.
/// `None`: the whole trees are too large.
fn limits_hold(rules: Rules, position: &Position, me: usize) -> Option<(i32, i32)> {
    let [floor, ceiling] = [Tree::Floor, Tree::Ceiling].map(|tree| margin_of(&rules, position, me, tree));
    let enforced = Force::margin(rules, position, me, 1 - me, floor)?;
    let exceeded = Force::margin(rules, position, me, me, ceiling + 1)?;
    assert!(enforced, "floor {floor} is not enforced: {position:?}");
    assert!(!exceeded, "ceiling {ceiling} is exceeded: {position:?}");
    Some((floor, ceiling))
}

fn open_board(pieces: [&str; 2], east: &str, south: &str) -> Board {
    let cells = |text: &str| crate::cases::cells(&serde_json::Value::from(text));
    Board { pieces: pieces.map(cells), east: cells(east), south: cells(south) }
}

#[test]
fn without_passes_a_large_home_proves_nothing_that_is_not_so() {
    let rules = crate::cases::rules("pass=none");
    // A's home of seven cells builds more walls than a plain plan finds; B's two best actions looked won by one cell.
    let pieces = ["02 11 24 34", "20 30 51 55"];
    let board = open_board(pieces, "00 01 02 03 04 10 20 54 55", "04 10 11 20 30 46 55");
    let start = Position { board, to_move: 1, walls_left: [UNLIMITED; 2], passes: 0 };
    let actions = start.candidates(&rules);
    for key in ["30>40N", "20>20S"] {
        let mv = actions.iter().find(|mv| mv.key() == key).expect("a legal action");
        let after = start.after(*mv);
        assert_eq!(Force::margin(rules, &after, 1, 0, -1), Some(false), "{key} does not even force -1");
        assert!(margin_of(&rules, &after, 1, Tree::Floor) < -1, "{key}");
        limits_hold(rules, &after, 1).expect("a small tree");
    }
    let table = table(&Searching::sedol(), &view_of(rules, &start), Limits::nodes(200_000));
    for row in table.rows().iter().filter(|row| ["30>40N", "20>20S"].contains(&row.mv().key().as_str())) {
        assert!(!matches!(row.get_standing(), Standing::Won(_)), "{:?}", row.mv());
    }
}

/// A connected region of so many cells away from `taken`, as cells and open edges: a tree, or with more edges.
fn grown(rng: &mut Rng, cells: u32, taken: Cells) -> (Cells, Board) {
    'again: loop {
        let mut board = Board { pieces: [0, 0], east: 0, south: 0 };
        let mut region = 1 << rng.below(49);
        if region & taken != 0 {
            continue;
        }
        let more = rng.below(3) == 0;
        while region.count_ones() < cells {
            let rim = Board::EMPTY.step(region) & !region & !taken;
            if rim == 0 {
                continue 'again;
            }
            let next = each(rim).nth(rng.below(u64::from(rim.count_ones())) as usize).unwrap();
            let sides: Vec<Side> =
                Side::ALL.into_iter().filter(|side| crosses(next.bit(), *side) & region != 0).collect();
            let first = rng.below(sides.len() as u64) as usize;
            for (at, side) in sides.into_iter().enumerate() {
                if at == first || more && rng.below(2) == 0 {
                    board = opened(board, next.bit(), side);
                }
            }
            region |= next.bit();
        }
        return (region, board);
    }
}

/// The cell beyond a side, if it is on the board.
fn crosses(cell: Cells, side: Side) -> Cells {
    let only = Side::ALL.into_iter().filter(|other| *other != side);
    only.fold(Board::EMPTY, |board, other| board.walled(cell, other)).step(cell)
}

fn opened(mut board: Board, cell: Cells, side: Side) -> Board {
    match side {
        Side::North => board.south |= cell >> 7,
        Side::East => board.east |= cell,
        Side::South => board.south |= cell,
        Side::West => board.east |= cell >> 1,
    }
    board
}

/// A large home of one player, a smaller one of the other, and a mixed region; the other pieces are boxed.
fn position_with_a_large_home(rng: &mut Rng) -> Position {
    let owner = rng.below(2) as usize;
    let mut board = Board { pieces: [0, 0], east: 0, south: 0 };
    let mut taken = 0;
    let seat = |board: &mut Board, rng: &mut Rng, player: usize, region: Cells| {
        let free = region & board.empty();
        board.pieces[player] |= each(free).nth(rng.below(u64::from(free.count_ones())) as usize).unwrap().bit();
    };
    let sizes = [7 + rng.below(2) as u32, 4 + rng.below(2) as u32, 3 + rng.below(2) as u32];
    for (part, cells) in sizes.into_iter().enumerate() {
        let (region, edges) = grown(rng, cells, taken);
        taken |= region;
        (board.east, board.south) = (board.east | edges.east, board.south | edges.south);
        match part {
            0 => (0..=rng.below(3) / 2).for_each(|_| seat(&mut board, rng, owner, region)),
            1 => [0, 1].into_iter().for_each(|player| seat(&mut board, rng, player, region)),
            _ => seat(&mut board, rng, 1 - owner, region),
        }
    }
    for player in [0, 1] {
        while board.pieces[player].count_ones() < 4 {
            seat(&mut board, rng, player, Board::EMPTY.flood(1) & !taken);
        }
    }
    Position { board, to_move: rng.below(2) as u8, walls_left: [UNLIMITED; 2], passes: 0 }
}

#[test]
fn floors_and_ceilings_hold_beside_large_homes() {
    // By hand: WALLGO_HOMES=5000 cargo test --release --test wallgo floors_and_ceilings
    let wanted = std::env::var("WALLGO_HOMES").ok().and_then(|wanted| wanted.parse().ok()).unwrap_or(1_000);
    for switches in ["pass=none", ""] {
        let rules = crate::cases::rules(switches);
        let mut rng = Rng::new(11);
        let (mut held, mut apart) = (0, 0);
        for _ in 0..wanted {
            let start = position_with_a_large_home(&mut rng);
            for me in [0, 1] {
                let Some((floor, ceiling)) = limits_hold(rules, &start, me) else { continue };
                held += 1;
                apart += usize::from(floor != ceiling);
            }
        }
        assert!(held > wanted * 19 / 10 && apart > 0, "{switches}: {held} held, {apart} with limits that differ");
    }
}

/// Fewest cells lost by a lone owner who builds `walls` more walls; `None` when he cannot.
fn fewest_lost(
    board: &Board,
    home: Cells,
    pieces: Cells,
    walls: u32,
    known: &mut HashMap<(u64, u64, u64, u32), Option<u32>>,
) -> Option<u32> {
    let kept = board.flood(pieces);
    if walls == 0 {
        return Some(home.count_ones() - kept.count_ones());
    }
    let key = (pieces, board.east & kept, board.south & kept, walls);
    if let Some(lost) = known.get(&key) {
        return *lost;
    }
    let mut best = None;
    for from in each(pieces) {
        for to in each(board.destinations(from.bit(), kept & !pieces) | from.bit()) {
            for side in Side::ALL {
                if board.open(to.bit(), side) != 0 {
                    let moved = pieces & !from.bit() | to.bit();
                    let lost = fewest_lost(&board.walled(to.bit(), side), home, moved, walls - 1, known);
                    best = [best, lost].into_iter().flatten().min();
                }
            }
        }
    }
    known.insert(key, best);
    best
}

#[test]
fn l7_small_pure_regions_reach_their_bound() {
    let mut rng = Rng::new(7);
    for _ in 0..250 {
        // A random connected region of two to six cells with random inner walls and one to three pieces.
        let mut region: Cells = 1 << rng.below(49);
        let cells = 2 + rng.below(5) as u32;
        while region.count_ones() < cells {
            let rim = Board::EMPTY.step(region) & !region;
            region |= each(rim).nth(rng.below(u64::from(rim.count_ones())) as usize).unwrap().bit();
        }
        let inside = |mask: Cells, shift: u32| mask & region & (region >> shift);
        let mut board =
            Board { pieces: [0, 0], east: inside(Board::EMPTY.east, 1), south: inside(Board::EMPTY.south, 7) };
        for cell in each(region) {
            for side in [Side::East, Side::South] {
                let walled = board.walled(cell.bit(), side);
                if rng.below(4) == 0 && walled.flood(cell.bit()) & region == region {
                    board = walled;
                }
            }
        }
        let mut pieces: Cells = 0;
        while pieces == 0 || u64::from(pieces.count_ones()) < (1 + rng.below(3)).min(u64::from(cells)) {
            pieces |= each(region).nth(rng.below(u64::from(cells)) as usize).unwrap().bit();
        }
        let reserve = Reserve::at_least(&board, region, pieces);
        assert_eq!(u32::from(reserve.free + reserve.extra), board.edges_in(region));
        let mut known = HashMap::new();
        for walls in 0..=board.edges_in(region) {
            let lost = fewest_lost(&board, region, pieces, walls, &mut known);
            let expected = walls.saturating_sub(u32::from(reserve.free));
            // Beyond the bound a piece may box itself in before every wall is built.
            assert_eq!(lost, Some(expected), "{walls} walls in {region:#x} with {pieces:#x}");
        }
    }
}

/// What is won at least when every reply is followed by the ending action that wins most; the ends are as the rules say.
fn least_won_next(start: &Position, mv: &Move) -> i32 {
    let rules = Rules::default();
    let me = start.mover();
    let after = start.after(*mv);
    if after.end(&rules).is_some() {
        return after.board.territory().lead(me);
    }
    let answered = |reply| {
        let answered = after.after(reply);
        if answered.end(&rules).is_some() {
            return answered.board.territory().lead(me);
        }
        let ends = answered.actions(&rules).into_iter().map(|mv| answered.after(mv));
        let ends = ends.filter(|end| end.end(&rules).is_some());
        ends.map(|end| end.board.territory().lead(me)).max().expect("an ending action")
    };
    after.actions(&rules).into_iter().map(answered).min().expect("a reply")
}

#[test]
fn a_win_next_states_what_every_reply_leaves() {
    // The longest line ends two cells ahead, but 51>61W ends the game at once and leaves one.
    let board = open_board(["23 31 34 51", "01 42 43 60"], "10 40 41 53 60", "10 20 31 51");
    let start = Position { board, to_move: 1, walls_left: [UNLIMITED; 2], passes: 0 };
    let table = table(&Searching::sedol(), &view_of(Rules::default(), &start), Limits::nodes(100_000));
    let row = table.rows().iter().find(|row| row.mv().key() == "42>41N").expect("a row");
    let Standing::Won(proof) = row.get_standing() else { panic!("{row:?}") };
    assert_eq!((proof.in_plies, proof.margin), (Some(3), 1));
    assert_eq!(least_won_next(&start, row.mv()), 1);
}

#[test]
fn sedol_proves_wins_against_every_reply() {
    let mut proved = 0;
    for case in list(&load("tactics")["positions"]) {
        let id = text(&case["id"]);
        let next = keys(&case["wins_next_whatever"]);
        if next.is_empty() {
            continue;
        }
        let table = table(&Searching::sedol(), &view_of(Rules::default(), &position(case)), Limits::nodes(1_000_000));
        let won = table.rows().iter().filter(
            |row| matches!(row.get_standing(), Standing::Won(proof) if proof.in_plies.is_some_and(|plies| plies <= 3)),
        );
        let won: Vec<_> = won.collect();
        for row in &won {
            let Standing::Won(proof) = row.get_standing() else { unreachable!("filtered") };
            assert_eq!(proof.margin, least_won_next(&position(case), row.mv()), "{id} {:?}", row.mv());
        }
        let found: Vec<String> = won.iter().map(|row| row.mv().key()).collect();
        // Counting may have settled a candidate before; what is proved is what the data says.
        assert!(found.iter().all(|key| next.contains(key)), "{id}: {found:?}");
        let Standing::Won(proof) = decide(&table).get_standing() else { panic!("{id}") };
        assert!(proof.margin > 0 && !found.is_empty(), "{id}: {found:?} of {next:?}");
        proved += found.len();
    }
    assert!(proved >= 20, "{proved}");
}
