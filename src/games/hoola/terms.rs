//! The terms of all Hoola policies. Those of `hard` and `expert` describe the state E that a turn ends in: the hand
//! left, the table, whether the seat is registered, and the cards it cannot place (U).

crate::terms! {
    /// Everything a Hoola policy weighs. `hard` and `expert` weigh in points.
    pub HoolaTerms, HoolaTerm {
        Base base: Free, "1: what a seat in this state is paid before anything else is known.";
        Cards cards: Free, "Cards left in hand / 7.";
        Sum sum: Free, "Value left in hand / 100.";
        Low low: Free, "Value left in hand, counted up to 15, / 15: the part of the sum that decides stops.";
        Sevens sevens: Free, "7s left in hand / 4: each doubles what this hand pays.";
        Reach0 reach0: Free, "1 if the hand splits into melds and cards that fit the table, one card free: a hoola is near.";
        Reach1 reach1: Free, "1 if one more card would make it so.";
        Outs outs: Free, "Unseen cards that complete a SET or RUN with two cards in hand / 32, at most 1.";
        Wait wait: Free, "1 if the seat leaves the open discard alone instead of ending a turn.";
        Left left: Free, "Cards left over when everything layable is laid / 7.";
        Blocked blocked: Free, "1 if nothing in hand can be laid.";
        Win win: Good, "Chance that this row wins the round at once; its weight is what the others would pay.";
        Fail fail: Cost, "Chance that this stop fails; its weight is what this seat would pay.";
        Rollouts rollouts: Good, "Mean payment of the sampled worlds, clipped to -64..64, as a share of that range.";
        Offset offset: Cost, "1: puts 0 points in the middle of the range of `rollouts`.";
        Line line: Good, "1 for the move that the first line to fire proposes.";
        Preference preference: Good, "Place of the move in that line's own order, as a share: 1 is first.";
    }
}
