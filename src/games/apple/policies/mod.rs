//! The policies, easiest first.

mod easy;
mod expert;
mod hard;
mod normal;

pub use easy::Easy;
pub use expert::Expert;
pub use hard::Hard;
pub use normal::Normal;
