//! The policies, easiest first.

mod easy;
mod normal;

pub use easy::Easy;
pub use normal::Normal;
