//! The vocabulary that every game shares. No I/O, no async, no game names.
//!
//! A bot is a table of evaluated moves ([`Evaluated`]), the decision is its maximum ([`decide`]), and a policy only
//! ever sees a [`Game::View`].

pub mod budget;
pub mod deepen;
pub mod evaluation;
pub mod game;
pub mod policy;
pub mod registry;
pub mod reject;
pub mod rng;
pub mod roster;
pub mod terms;
pub mod tuning;
pub mod weights;
pub mod weights_file;

pub use budget::{Budget, CancelFlag, Limits, Stopped, Stopwatch};
pub use deepen::{Round, deepen};
pub use evaluation::{Bound, Completion, Evaluated, Evaluation, Fact, Payoff, Proof, Standing, Work, decide};
pub use game::{Ask, Game, Illegal, MatchStyle, Outcome, Referee, Seat, Seats, Settlement};
pub use policy::{About, Policy, PolicyKind, Turn};
pub use registry::{Bot, Checked, Prepared, Registry, Reply, Rows, Thought, Wire};
pub use reject::{Reject, Violation, Violations, Warning};
pub use rng::{Fnv, Rng, fnv};
pub use roster::{Entry, Roster};
pub use terms::{Direction, TermSet, TermSpec, Terms, Unit};
pub use tuning::Tuning;
pub use weights::{WeightTable, Weights, WeightsError};
pub use weights_file::WeightsFile;
