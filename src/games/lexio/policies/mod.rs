//! The policies, one file each.

mod easy;
mod first;
mod hard;

pub use easy::{Easy, easy_move};
pub use first::First;
pub use hard::Hard;
