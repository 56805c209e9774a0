//! Bots against bots.
