//! The rule book written the obvious way, cell by cell, to hold the fast one against.

use std::collections::BTreeMap;

use understudy::games::wallgo::rules::{Pass, Position, Rules, Stay, UNLIMITED};

type At = (i32, i32);
/// `11>12E`, as bytes.
pub type Key = [u8; 6];

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slow {
    /// 0: empty, 1: A, 2: B.
    pub owner: [[u8; 7]; 7],
    /// Walls on the east and on the south side of each cell.
    pub east: [[bool; 7]; 7],
    pub south: [[bool; 7]; 7],
    pub to_move: u8,
    pub walls_left: [u8; 2],
    pub passes: u8,
}

const STEPS: [(u8, At); 4] = [(b'N', (-1, 0)), (b'E', (0, 1)), (b'S', (1, 0)), (b'W', (0, -1))];

fn plus(a: At, b: At) -> At {
    (a.0 + b.0, a.1 + b.1)
}

fn all_cells() -> impl Iterator<Item = At> {
    (0..7).flat_map(|row| (0..7).map(move |col| (row, col)))
}

fn get<T: Copy>(grid: &[[T; 7]; 7], at: At) -> T {
    grid[at.0 as usize][at.1 as usize]
}

impl Slow {
    pub fn of(position: &Position) -> Self {
        let mut slow = Self {
            owner: [[0; 7]; 7],
            east: [[false; 7]; 7],
            south: [[false; 7]; 7],
            to_move: position.to_move,
            walls_left: position.walls_left,
            passes: position.passes,
        };
        for at in all_cells() {
            let (row, col) = (at.0 as usize, at.1 as usize);
            let bit = 1u64 << (7 * row + col);
            let board = &position.board;
            slow.owner[row][col] = u8::from(board.pieces[0] & bit != 0) + 2 * u8::from(board.pieces[1] & bit != 0);
            slow.east[row][col] = board.east_walls() & bit != 0;
            slow.south[row][col] = board.south_walls() & bit != 0;
        }
        slow
    }

    fn open(&self, at: At, direction: At) -> bool {
        let next = plus(at, direction);
        if !(0..7).contains(&next.0) || !(0..7).contains(&next.1) {
            return false;
        }
        !match direction {
            (0, 1) => get(&self.east, at),
            (0, -1) => get(&self.east, next),
            (1, 0) => get(&self.south, at),
            _ => get(&self.south, next),
        }
    }

    fn empty(&self, at: At) -> bool {
        get(&self.owner, at) == 0
    }

    pub fn region(&self, start: At) -> Vec<At> {
        let mut seen = [[false; 7]; 7];
        let (mut all, mut next) = (vec![start], 0);
        seen[start.0 as usize][start.1 as usize] = true;
        while next < all.len() {
            let at = all[next];
            next += 1;
            for (_, direction) in STEPS {
                let other = plus(at, direction);
                if self.open(at, direction) && !get(&seen, other) {
                    seen[other.0 as usize][other.1 as usize] = true;
                    all.push(other);
                }
            }
        }
        all
    }

    fn holds(&self, region: &[At], player: u8) -> bool {
        region.iter().any(|at| get(&self.owner, *at) == player + 1)
    }

    fn mixed(&self, at: At) -> bool {
        let region = self.region(at);
        self.holds(&region, 0) && self.holds(&region, 1)
    }

    /// Pure cells of A and of B, and whether a mixed region exists.
    pub fn cells(&self) -> ([usize; 2], bool) {
        let (mut cells, mut any_mixed) = ([0; 2], false);
        for at in all_cells() {
            let region = self.region(at);
            match (self.holds(&region, 0), self.holds(&region, 1)) {
                (true, true) => any_mixed = true,
                (true, false) => cells[0] += 1,
                (false, true) => cells[1] += 1,
                (false, false) => {}
            }
        }
        (cells, any_mixed)
    }

    fn turns(&self, rules: &Rules, player: u8) -> Vec<Key> {
        let mut all = Vec::new();
        let key = |from: At, to: At, wall: u8| {
            let digit = |n: i32| b'0' + n as u8;
            [digit(from.0), digit(from.1), b'>', digit(to.0), digit(to.1), wall]
        };
        for from in all_cells().filter(|at| get(&self.owner, *at) == player + 1) {
            if !rules.sealed_may_act && !self.mixed(from) {
                continue;
            }
            if !STEPS.iter().any(|(_, direction)| self.open(from, *direction)) {
                if rules.pass == Pass::SealedOnly {
                    all.push(key(from, from, b'-'));
                }
                continue;
            }
            if self.walls_left[usize::from(player)] == 0 {
                continue;
            }
            let mut ends = Vec::new();
            for (_, first) in STEPS {
                let middle = plus(from, first);
                if !self.open(from, first) || !self.empty(middle) {
                    continue;
                }
                ends.push(middle);
                for (_, second) in STEPS {
                    let end = plus(middle, second);
                    if self.open(middle, second) && (self.empty(end) || end == from) {
                        ends.push(end);
                    }
                }
            }
            if rules.stay == Stay::Always {
                ends.push(from);
            }
            for to in ends {
                for (letter, direction) in STEPS {
                    if self.open(to, direction) {
                        all.push(key(from, to, letter));
                    }
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn builds(&self, rules: &Rules, player: u8) -> bool {
        self.turns(rules, player).iter().any(|key| key[5] != b'-')
    }

    /// The legal actions, sorted; none means that the side skips.
    pub fn legal(&self, rules: &Rules) -> Vec<Key> {
        self.turns(rules, self.to_move)
    }

    pub fn play(&self, key: Option<Key>) -> Self {
        let mut next = self.clone();
        next.to_move = 1 - self.to_move;
        let Some(key) = key.filter(|key| key[5] != b'-') else {
            next.passes += 1;
            return next;
        };
        let at = |i: usize| (usize::from(key[i] - b'0'), usize::from(key[i + 1] - b'0'));
        let (from, to) = (at(0), at(3));
        next.owner[from.0][from.1] = 0;
        next.owner[to.0][to.1] = self.to_move + 1;
        match key[5] {
            b'N' => next.south[to.0 - 1][to.1] = true,
            b'E' => next.east[to.0][to.1] = true,
            b'S' => next.south[to.0][to.1] = true,
            _ => next.east[to.0][to.1 - 1] = true,
        }
        let left = &mut next.walls_left[usize::from(self.to_move)];
        if *left != UNLIMITED {
            *left -= 1;
        }
        next.passes = 0;
        next
    }

    /// The legal actions by successor.
    pub fn successors(&self, rules: &Rules) -> BTreeMap<Slow, Vec<Key>> {
        let mut all: BTreeMap<Slow, Vec<Key>> = BTreeMap::new();
        for key in self.legal(rules) {
            all.entry(self.play(Some(key))).or_default().push(key);
        }
        all
    }
}
