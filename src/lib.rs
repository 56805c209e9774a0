//! understudy: a bot that can take any empty seat.
//!
//! A bot is a table of evaluated moves. The decision is its maximum. A policy only ever sees a view.
//!
//! Arrows go one way: `cli -> service, arena -> games -> bot`.

pub mod arena;
pub mod bot;
pub mod cli;
pub mod games;
pub mod pb;
pub mod service;
