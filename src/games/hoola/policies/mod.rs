//! The policies, easiest first.

pub mod easy;
