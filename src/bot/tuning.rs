//! How a policy's weights are learned: what a game may choose about the one procedure that tunes them all.

/// Settings of `tune` for one policy. The defaults suit a policy whose totals only rank the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Generations; the first plays and rolls out with the easiest policy, each later one with the table before it.
    pub generations: u32,
    /// Decisions gathered in a generation.
    pub decisions: u32,
    /// Share of the tested seat's decisions that are gathered.
    pub share: f64,
    /// Of those where only one row can be played on, the share that is kept: they say what a total is worth, not which.
    pub alone: f64,
    /// Share of the tested seat's moves that are played at random.
    pub wild: f64,
    /// Rows of a table that are played on: 0 all of them, else that many, one of them the best half of the time.
    pub rows: usize,
    /// Hidden worlds over which every row is played on.
    pub worlds: u32,
    /// A row weighs exp((payment - best payment) / temperature); infinite: all rows weigh the same.
    pub temperature: f64,
    /// Payments are cut to this, either way.
    pub clip: f64,
    /// Weight of the equation "total = payment" beside the differences of rows; 0: totals only rank.
    pub absolute: f64,
    /// Ridge.
    pub ridge: f64,
    /// Chance that an opponent at the table plays as the table before does, not as the easiest policy.
    pub peers: f64,
    /// The same in rollouts, drawn anew for every world.
    pub rollout_peers: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            generations: 3,
            decisions: 20_000,
            share: 0.6,
            alone: 1.0,
            wild: 0.05,
            rows: 0,
            worlds: 12,
            temperature: 12.0,
            clip: f64::INFINITY,
            absolute: 0.0,
            ridge: 3.0,
            peers: 0.5,
            rollout_peers: 0.25,
        }
    }
}
