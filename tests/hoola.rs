//! Hoola against its data: rules, views, settlement, referee, policies.

#[path = "hoola/counts.rs"]
mod counts;
#[path = "hoola/data.rs"]
mod data;
#[path = "hoola/easy.rs"]
mod easy;
#[path = "hoola/expert.rs"]
mod expert;
#[path = "hoola/hard.rs"]
mod hard;
#[path = "hoola/legal.rs"]
mod legal;
#[path = "hoola/melds.rs"]
mod melds;
#[path = "hoola/play.rs"]
mod play;
#[path = "hoola/rounds.rs"]
mod rounds;
#[path = "hoola/settlement.rs"]
mod settlement;
#[path = "hoola/validation.rs"]
mod validation;
#[path = "hoola/wire.rs"]
mod wire;
