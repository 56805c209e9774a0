//! Hoola against its data: rules, views, settlement, referee, policies.

#[path = "hoola/data.rs"]
mod data;
#[path = "hoola/easy.rs"]
mod easy;
#[path = "hoola/legal.rs"]
mod legal;
#[path = "hoola/melds.rs"]
mod melds;
#[path = "hoola/rounds.rs"]
mod rounds;
#[path = "hoola/settlement.rs"]
mod settlement;
#[path = "hoola/validation.rs"]
mod validation;
#[path = "hoola/wire.rs"]
mod wire;
