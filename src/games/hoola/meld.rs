//! Melds: what may be laid from the hand, what may lie on the table, and what fits on it.

use super::card::{Card, Cards};

/// How runs pass the ace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunWrap {
    /// `... Q K A 2 3 ...`, closed everywhere.
    #[default]
    Ring,
    /// `A 2 3` and `Q K A`, not `K A 2`.
    AceHighOrLow,
    /// `A 2 3` only.
    AceLow,
}

impl RunWrap {
    /// The cards at which a run of three may begin, going up.
    pub const fn starts(self) -> Cards {
        match self {
            Self::Ring => Cards::ALL,
            Self::AceHighOrLow => Cards::from_bits(!Cards::rank(13).bits()),
            Self::AceLow => Cards::from_bits(!(Cards::rank(12).bits() | Cards::rank(13).bits())),
        }
    }

    /// The highest place a run may reach when its first card's place is its rank: 14 is the ace above the king.
    const fn top(self) -> u32 {
        match self {
            Self::Ring => u32::MAX,
            Self::AceHighOrLow => 14,
            Self::AceLow => 13,
        }
    }

    /// The neighbours of every card of the set, in its own suit.
    pub fn neighbours(self, cards: Cards) -> Cards {
        match self {
            Self::Ring | Self::AceHighOrLow => cards.up() | cards.down(),
            Self::AceLow => (cards.up() - Cards::rank(1)) | (cards.down() - Cards::rank(13)),
        }
    }
}

/// The three kinds of meld.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MeldKind {
    /// 3 or 4 cards of one rank.
    Set,
    /// 3 to 13 cards of one suit in line; on the table also 2, when one is a 7.
    Run,
    /// A single 7.
    Seven,
}

/// Whether the cards are one unbroken line of one suit, of any length.
pub fn is_line(cards: Cards, wrap: RunWrap) -> bool {
    let Some(lowest) = cards.first() else { return false };
    let suit = Cards::from_bits(0x1FFF << (13 * u32::from(lowest.suit())));
    if !suit.covers(cards) {
        return false;
    }
    let length = cards.len();
    // On the ring a line has one card whose predecessor is missing; the whole suit has none.
    let begins = cards - cards.up();
    length == 13 || begins.is_single() && begins.first().is_some_and(|c| u32::from(c.rank()) + length - 1 <= wrap.top())
}

/// What the cards are when laid from the hand, if anything.
pub fn new_kind(cards: Cards, wrap: RunWrap) -> Option<MeldKind> {
    let first = cards.first()?;
    match cards.len() {
        1 => first.is_seven().then_some(MeldKind::Seven),
        2 => None,
        3 | 4 if Cards::rank(first.rank()).covers(cards) => Some(MeldKind::Set),
        _ => is_line(cards, wrap).then_some(MeldKind::Run),
    }
}

/// What the cards are when they lie on the table, if anything: a run of 2 may stand there when one card is a 7.
pub fn table_kind(cards: Cards, wrap: RunWrap) -> Option<MeldKind> {
    if cards.len() == 2 {
        return (cards.meets(Cards::SEVENS) && is_line(cards, wrap)).then_some(MeldKind::Run);
    }
    new_kind(cards, wrap)
}

/// The single cards that may be laid off on such a meld.
pub fn fits(kind: MeldKind, cards: Cards, wrap: RunWrap) -> Cards {
    match kind {
        MeldKind::Seven => cards.up() | cards.down(),
        MeldKind::Set => cards.tripled_ranks() - cards,
        MeldKind::Run => {
            let ends = (cards.up() | cards.down()) - cards;
            if wrap == RunWrap::Ring || cards.len() >= 12 {
                // A run of 12 is closed by its last card under every convention; one of 13 has no end.
                return ends;
            }
            let (aces, kings) = (Cards::rank(1), Cards::rank(13));
            let closed = match (wrap, cards.meets(aces), cards.meets(kings)) {
                (RunWrap::AceHighOrLow, true, true) => Cards::rank(2),
                (RunWrap::AceHighOrLow | RunWrap::AceLow, true, false) => kings,
                (RunWrap::AceLow, false, true) => aces,
                _ => Cards::NONE,
            };
            ends - closed
        }
    }
}

/// What a meld becomes by one lay-off: a single card that fits, or exactly two 7s on a SEVEN.
pub fn lay_off(kind: MeldKind, cards: Cards, add: Cards, wrap: RunWrap) -> Option<MeldKind> {
    if add.is_single() {
        let after = if kind == MeldKind::Seven { MeldKind::Run } else { kind };
        return fits(kind, cards, wrap).covers(add).then_some(after);
    }
    let two_sevens = add.len() == 2 && Cards::SEVENS.covers(add) && !add.meets(cards);
    (kind == MeldKind::Seven && two_sevens).then_some(MeldKind::Set)
}

/// The cards in the order they are shown: a run along the ring from its low end, a run of 13 from the ace.
pub fn in_order(kind: MeldKind, cards: Cards) -> Vec<Card> {
    let list: Vec<Card> = cards.iter().collect();
    let begins = cards - cards.up();
    match (kind, begins.first()) {
        (MeldKind::Run, Some(low)) => {
            let at = list.iter().position(|&card| card == low).unwrap_or(0);
            [&list[at..], &list[..at]].concat()
        }
        _ => list,
    }
}

/// Calls `found` with every SET and RUN in the hand, short forms of long runs included, in no particular order.
pub fn each_group(hand: Cards, wrap: RunWrap, mut found: impl FnMut(Cards)) {
    each_set(hand, &mut found);
    each_run(hand, wrap, &mut found);
}

fn each_set(hand: Cards, found: &mut impl FnMut(Cards)) {
    let held = hand & hand.tripled_ranks();
    for card in held.iter() {
        let all = held & Cards::rank(card.rank());
        if all.first() != Some(card) {
            continue;
        }
        found(all);
        if all.len() == 4 {
            all.iter().for_each(|left_out| found(all.without(left_out)));
        }
    }
}

fn each_run(hand: Cards, wrap: RunWrap, found: &mut impl FnMut(Cards)) {
    let begins = triples(hand, wrap);
    for low in begins.iter() {
        let mut next = Cards::of(low).up();
        let mut run = Cards::of(low);
        let mut length = 1;
        while hand.covers(next) && !run.covers(next) && u32::from(low.rank()) + length <= wrap.top() {
            run = run | next;
            length += 1;
            next = next.up();
            // The whole suit is one set of cards wherever it begins.
            if length >= 3 && (length < 13 || low.rank() == 1) {
                found(run);
            }
        }
    }
}

/// The cards at which a run of three begins.
fn triples(hand: Cards, wrap: RunWrap) -> Cards {
    hand & hand.down() & hand.down().down() & wrap.starts()
}

/// Whether the hand holds a SET or a RUN.
pub fn holds_group(hand: Cards, wrap: RunWrap) -> bool {
    !triples(hand, wrap).is_empty() || !hand.tripled_ranks().is_empty()
}

/// The cards of the hand that stand in some SET or RUN of it.
pub fn grouped(hand: Cards, wrap: RunWrap) -> Cards {
    let begins = triples(hand, wrap);
    begins | begins.up() | begins.up().up() | (hand & hand.tripled_ranks())
}

/// The cards outside the hand that form a SET or RUN with two cards of it.
pub fn completions(hand: Cards, wrap: RunWrap) -> Cards {
    let (up, down, starts) = (hand.up(), hand.down(), wrap.starts());
    let (up2, down2) = (up.up(), down.down());
    let as_low = down & down2 & starts;
    let as_middle = up & down & starts.up();
    let as_high = up & up2 & starts.up().up();
    (as_low | as_middle | as_high | hand.paired_ranks()) - hand
}

/// Calls `found` with every choice of own cards that forms a new SET or RUN with the open card.
pub fn each_claim(hand: Cards, open: Card, wrap: RunWrap, mut found: impl FnMut(Cards)) {
    if !completions(hand, wrap).has(open) {
        return;
    }
    let suit = Cards::from_bits(0x1FFF << (13 * u32::from(open.suit())));
    let near = hand & (suit | Cards::rank(open.rank()));
    each_group(near.with(open), wrap, |group| {
        if group.has(open) {
            found(group.without(open));
        }
    });
}

/// One meld on the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meld {
    /// Its shape now.
    pub kind: MeldKind,
    /// Who registered it.
    pub owner: u8,
    /// Its cards.
    pub cards: Cards,
    /// The single cards that may be laid off on it.
    pub fits: Cards,
}

impl Meld {
    /// A meld of these cards; `None` when they may not lie on the table like that.
    pub fn on_table(owner: u8, kind: MeldKind, cards: Cards, wrap: RunWrap) -> Option<Self> {
        let legal = table_kind(cards, wrap) == Some(kind);
        legal.then(|| Self { kind, owner, cards, fits: fits(kind, cards, wrap) })
    }
}

/// The melds on the table, in the order they were registered; a meld's id is its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Melds {
    list: [Meld; Self::MOST],
    len: u8,
    fits: Cards,
}

impl Default for Melds {
    fn default() -> Self {
        let none = Meld { kind: MeldKind::Seven, owner: 0, cards: Cards::NONE, fits: Cards::NONE };
        Self { list: [none; Self::MOST], len: 0, fits: Cards::NONE }
    }
}

impl Melds {
    /// Four SEVENs, and sixteen melds of three from the other 48 cards.
    pub const MOST: usize = 20;

    /// The melds; a meld's id is its place.
    pub fn list(&self) -> &[Meld] {
        &self.list[..usize::from(self.len)]
    }

    /// The single cards that may be laid off somewhere.
    pub const fn fits(&self) -> Cards {
        self.fits
    }

    /// All cards on the table.
    pub fn cards(&self) -> Cards {
        self.list().iter().fold(Cards::NONE, |all, meld| all | meld.cards)
    }

    /// Adds a meld. False, and nothing added, when there are twenty: more than 52 different cards can make.
    pub fn push(&mut self, meld: Meld) -> bool {
        let Some(place) = self.list.get_mut(usize::from(self.len)) else { return false };
        *place = meld;
        self.len += 1;
        self.fits = self.fits | meld.fits;
        true
    }

    /// Takes back the meld that was added last.
    pub fn pop(&mut self) {
        let none = Self::default().list[0];
        if let Some(last) = self.len.checked_sub(1) {
            self.list[usize::from(last)] = none;
            self.len = last;
            self.refit();
        }
    }

    /// Registers cards known to form a new meld.
    pub fn register(&mut self, owner: u8, cards: Cards, wrap: RunWrap) {
        let kind = new_kind(cards, wrap).expect("a legal new meld; this is a bug of the caller");
        self.push(Meld { kind, owner, cards, fits: fits(kind, cards, wrap) });
    }

    /// Lays cards known to fit on meld `id`; gives the meld as it was.
    pub fn lay_off(&mut self, id: usize, cards: Cards, wrap: RunWrap) -> Meld {
        let before = self.list[id];
        let meld = &mut self.list[id];
        meld.kind = match meld.kind {
            MeldKind::Seven if cards.is_single() => MeldKind::Run,
            MeldKind::Seven => MeldKind::Set,
            kind => kind,
        };
        meld.cards = meld.cards | cards;
        meld.fits = fits(meld.kind, meld.cards, wrap);
        self.refit();
        before
    }

    /// Puts a meld back as it was before a lay-off.
    pub fn restore(&mut self, id: usize, before: Meld) {
        self.list[id] = before;
        self.refit();
    }

    fn refit(&mut self) {
        self.fits = self.list().iter().fold(Cards::NONE, |all, meld| all | meld.fits);
    }

    /// Whether a SEVEN lies on the table.
    pub fn has_seven(&self) -> bool {
        self.list().iter().any(|meld| meld.kind == MeldKind::Seven)
    }
}
