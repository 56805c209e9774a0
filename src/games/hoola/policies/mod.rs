//! The policies, easiest first.

pub mod easy;
pub mod expert;
pub mod habits;
pub mod hard;
mod rows;
