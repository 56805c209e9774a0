//! Weights from self-play.
