//! The policies, one file each.

mod easy;
mod expert;
mod first;
mod hard;

pub use easy::{Easy, easy_move};
pub use expert::Expert;
pub use first::First;
pub use hard::Hard;
