//! Win next, whatever they do: after every reply there is an action that ends the game and wins it.

use super::action::Turn;
use super::ending::Halt;
use super::leaf::{Judge, Kind, Leaf};
use super::rules::Position;
use crate::bot::Budget;

/// The reply that holds out longest, the end it leads to, and what is won at least.
pub struct WonNext {
    /// The last board, three plies from the root; or two, when the reply itself ends the game.
    pub leaf: Leaf,
    /// Reply and ending action.
    pub line: Vec<Turn>,
    /// The smallest margin over all replies, in cells: another reply may end the game sooner and leave less.
    pub margin: i32,
}

/// Proves that `after`, where the other side is to move, is won by the next own action at the latest. Every legal reply
/// is looked at, passes included. `None`: some reply escapes.
///
/// # Errors
/// The budget is spent, or `share` is.
pub fn won_next(
    judge: &Judge<'_>,
    after: &Position,
    budget: &Budget,
    share: &mut u64,
) -> Result<Option<WonNext>, Halt> {
    let mut tick = || {
        budget.tick()?;
        *share = share.checked_sub(1).ok_or(Halt::Share)?;
        Ok::<(), Halt>(())
    };
    let mut replies = Vec::with_capacity(128);
    after.each_turn(judge.rules, after.mover(), |turn| replies.push(turn));
    let mut worst: Option<WonNext> = None;
    let mut least = i32::MAX;
    for reply in replies {
        tick()?;
        let answered = after.after(super::action::Move::Turn(reply));
        let leaf = judge.leaf(&answered, 2);
        let mut found = match leaf.kind() {
            Kind::EndWon => Some(WonNext { leaf, line: vec![reply], margin: leaf.margin() }),
            Kind::EndLost | Kind::EndDrawn => return Ok(None),
            _ => None,
        };
        if found.is_none() {
            let mut endings = Vec::with_capacity(128);
            answered.each_turn(judge.rules, judge.me, |turn| endings.push(turn));
            for turn in endings {
                tick()?;
                let end = answered.after(super::action::Move::Turn(turn));
                if end.board.territory().mixed != 0 {
                    continue;
                }
                let leaf = judge.leaf(&end, 3);
                let better = found.as_ref().is_none_or(|best| leaf.margin() > best.margin);
                if leaf.kind() == Kind::EndWon && better {
                    found = Some(WonNext { leaf, line: vec![reply, turn], margin: leaf.margin() });
                }
            }
        }
        let Some(found) = found else { return Ok(None) };
        least = least.min(found.margin);
        // The longest way, then the smallest margin on it.
        let order = |won: &WonNext| (std::cmp::Reverse(won.line.len()), won.margin);
        if worst.as_ref().is_none_or(|worst| order(&found) < order(worst)) {
            worst = Some(found);
        }
    }
    Ok(worst.map(|worst| WonNext { margin: least, ..worst }))
}
