//! Wall Go: rules, wire, terms, search and proofs, against counted trees and an obvious slow rule book.

#[path = "wallgo/cases.rs"]
mod cases;
#[path = "wallgo/easy.rs"]
mod easy;
#[path = "wallgo/endings.rs"]
mod endings;
#[path = "wallgo/family.rs"]
mod family;
#[path = "wallgo/games.rs"]
mod games;
#[path = "wallgo/properties.rs"]
mod properties;
#[path = "wallgo/rules.rs"]
mod rules;
#[path = "wallgo/search.rs"]
mod search;
#[path = "wallgo/setup.rs"]
mod setup;
#[path = "wallgo/slow.rs"]
mod slow;
#[path = "wallgo/wire.rs"]
mod wire;
