//! How a round moves on: whose turn it is, what must be answered, when a trick and a round end.

use super::meld::Meld;
use super::tile::{Deck, Tile, TileSet};

/// Most players at a table.
pub const SEATS: usize = 5;

/// What everybody at the table knows about the course of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Players.
    pub seats: u8,
    /// The seat whose turn it is.
    pub to_act: u8,
    /// Who owns `table`.
    pub owner: u8,
    /// Passes in a row since the last play.
    pub passes: u8,
    /// Tricks finished so far.
    pub trick: u16,
    /// Tiles each seat still holds.
    pub left: [u8; SEATS],
    /// What must be answered; `None`: the seat to act leads.
    pub table: Option<Meld>,
    /// Every tile played.
    pub played: TileSet,
}

/// The rule that an action breaks; the first that fits, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Somebody has gone out already.
    AfterRoundEnd,
    /// Another seat is to act.
    OutOfTurn,
    /// The trick's number is another.
    WrongTrick,
    /// A pass with tiles.
    PassWithTiles,
    /// A play without tiles.
    PlayWithoutTiles,
    /// Who leads must play.
    PassOnLead,
    /// A tile that is not in the game.
    TileNotInDeck,
    /// A tile that has been played, or stands twice in the list.
    TileRepeated,
    /// The tiles are no meld.
    NotAMeld,
    /// More tiles than the seat holds.
    TooManyTiles,
    /// Another number of tiles than what must be answered.
    CountDiffers,
    /// Not stronger than what must be answered.
    DoesNotBeat,
}

impl Fault {
    /// The reason code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::AfterRoundEnd => "after_round_end",
            Self::OutOfTurn => "out_of_turn",
            Self::WrongTrick => "wrong_trick",
            Self::PassWithTiles => "pass_with_tiles",
            Self::PlayWithoutTiles => "play_without_tiles",
            Self::PassOnLead => "pass_on_lead",
            Self::TileNotInDeck => "tile_not_in_deck",
            Self::TileRepeated => "tile_repeated",
            Self::NotAMeld => "not_a_meld",
            Self::TooManyTiles => "too_many_tiles",
            Self::CountDiffers => "count_differs",
            Self::DoesNotBeat => "does_not_beat",
        }
    }
}

/// An action as somebody reports it, unchecked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Who acted.
    pub seat: u32,
    /// In which trick.
    pub trick: u32,
    /// Whether it was a pass.
    pub pass: bool,
    /// The tiles laid down.
    pub tiles: Vec<u32>,
}

impl Flow {
    /// The start of a round: `first` leads, every seat holds `left` tiles.
    pub const fn start(seats: u8, first: u8, left: [u8; SEATS]) -> Self {
        Self { seats, to_act: first, owner: first, passes: 0, trick: 0, left, table: None, played: TileSet::EMPTY }
    }

    /// The seat that went out, when the round is over.
    pub fn winner(&self) -> Option<u8> {
        // Whoever goes out does so by the last play, so only its owner can have.
        (self.left[usize::from(self.owner)] == 0).then_some(self.owner)
    }

    /// What a claimed action is, if it is legal now: a meld, or `None` for a pass.
    ///
    /// # Errors
    /// The first rule it breaks, in the order of [`Fault`].
    pub fn admit(&self, deck: &Deck, claim: &Claim) -> Result<Option<Meld>, Fault> {
        if self.winner().is_some() {
            return Err(Fault::AfterRoundEnd);
        }
        if claim.seat != u32::from(self.to_act) {
            return Err(Fault::OutOfTurn);
        }
        if claim.trick != u32::from(self.trick) {
            return Err(Fault::WrongTrick);
        }
        if claim.pass {
            if !claim.tiles.is_empty() {
                return Err(Fault::PassWithTiles);
            }
            return self.refuse(None).map_or(Ok(None), Err);
        }
        if claim.tiles.is_empty() {
            return Err(Fault::PlayWithoutTiles);
        }
        let meld = self.read_tiles(deck, &claim.tiles)?;
        self.refuse(Some(&meld)).map_or(Ok(Some(meld)), Err)
    }

    fn read_tiles(&self, deck: &Deck, ids: &[u32]) -> Result<Meld, Fault> {
        let known = |id: &u32| Tile::new(*id).filter(|tile| deck.tiles.has(*tile));
        let mut tiles = TileSet::EMPTY;
        let mut repeated = false;
        for id in ids {
            let tile = known(id).ok_or(Fault::TileNotInDeck)?;
            repeated |= tiles.or(self.played).has(tile);
            tiles = tiles.with(tile);
        }
        if repeated {
            return Err(Fault::TileRepeated);
        }
        Meld::read(tiles, deck).ok_or(Fault::NotAMeld)
    }

    /// The rule that the seat to act would break by playing this meld of tiles that it holds, or by passing (`None`).
    #[inline]
    pub fn refuse(&self, play: Option<&Meld>) -> Option<Fault> {
        let Some(meld) = play else {
            return self.table.is_none().then_some(Fault::PassOnLead);
        };
        if meld.count() > u32::from(self.left[usize::from(self.to_act)]) {
            return Some(Fault::TooManyTiles);
        }
        let table = self.table.as_ref()?;
        if meld.count() != table.count() {
            Some(Fault::CountDiffers)
        } else if meld.key() <= table.key() {
            Some(Fault::DoesNotBeat)
        } else {
            None
        }
    }

    /// Moves on by a legal action of the seat to act.
    #[inline]
    pub fn apply(&mut self, play: Option<Meld>) {
        match play {
            Some(meld) => {
                self.left[usize::from(self.to_act)] -= meld.count() as u8;
                self.played = self.played.or(meld.tiles());
                self.table = play;
                self.owner = self.to_act;
                self.passes = 0;
            }
            None => self.passes += 1,
        }
        self.to_act = self.after(self.to_act);
        if self.passes + 1 == self.seats {
            // Everybody else passed in a row: the turn has come back to the owner, who leads.
            self.table = None;
            self.passes = 0;
            self.trick += 1;
        }
    }

    /// The seat behind `seat`, clockwise.
    pub const fn after(&self, seat: u8) -> u8 {
        if seat + 1 == self.seats { 0 } else { seat + 1 }
    }
}
