//! Lexio: rules, views, policies, against golden data made by an independent program (`tests/cases/lexio`).

#[path = "lexio/easy.rs"]
mod easy;
#[path = "lexio/expert.rs"]
mod expert;
#[path = "lexio/fuzz.rs"]
mod fuzz;
#[path = "lexio/load.rs"]
mod load;
#[path = "lexio/plan.rs"]
mod plan;
#[path = "lexio/rounds.rs"]
mod rounds;
#[path = "lexio/rules.rs"]
mod rules;
#[path = "lexio/terms.rs"]
mod terms;
#[path = "lexio/views.rs"]
mod views;
