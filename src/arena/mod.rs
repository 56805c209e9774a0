//! Bots against bots: paired deals, rotated seats, numbers with intervals.
//!
//! The referee deals from one stream and policies think from another; a policy gets views and nothing else. With node
//! or world budgets every number except times is the same on every run, on any number of threads, and after merging
//! shards.

pub mod durations;
pub mod match_;
pub mod merge;
pub mod ordered;
pub mod player;
pub mod positions;
pub mod record;
pub mod report;
pub mod run;
pub mod seating;
pub mod stats;
pub mod tune;

pub use match_::{Broken, Match, Played};
pub use player::{Mind, Player, SeatSpec};
pub use report::{Header, Report, Sample};
pub use run::{Finished, Schedule, Setup, Shard, Watch, run};
