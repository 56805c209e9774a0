//! What the fuzz targets share with the seeded tests and the reliability proofs.

pub mod decision;
pub mod door;
pub mod mutate;
pub mod position;
pub mod positions;
pub mod raw;
pub mod source;
