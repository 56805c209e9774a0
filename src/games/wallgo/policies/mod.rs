//! How to play, easiest first.

pub mod easy;
pub mod scattering;
pub mod searching;
