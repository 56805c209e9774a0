//! Apple game: rules, wire, policies, assessment, against data made by an independent program and against the obvious
//! ways to the same answers.

#[path = "apple/assess.rs"]
mod assess;
#[path = "apple/cases.rs"]
mod cases;
#[path = "apple/policies.rs"]
mod policies;
#[path = "apple/rules.rs"]
mod rules;
#[path = "apple/search.rs"]
mod search;
#[path = "apple/wire.rs"]
mod wire;
