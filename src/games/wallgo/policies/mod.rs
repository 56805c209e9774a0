//! How to play, easiest first.

pub mod easy;
pub mod searching;
