//! The policies, one file each.

mod easy;

pub use easy::{Easy, easy_move};
