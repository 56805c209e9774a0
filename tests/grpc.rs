//! The service over a real connection: every status, every limit, and what happens to whoever leaves.
// Tests of deadlines read the clock that the code under test may not.
#![allow(clippy::disallowed_methods)]

#[path = "grpc/batch.rs"]
mod batch;
#[path = "grpc/boards.rs"]
mod boards;
#[path = "grpc/budgets.rs"]
mod budgets;
#[path = "grpc/cancel.rs"]
mod cancel;
#[path = "grpc/drain.rs"]
mod drain;
#[path = "grpc/drill.rs"]
mod drill;
#[path = "grpc/harness.rs"]
mod harness;
#[path = "grpc/limits.rs"]
mod limits;
#[path = "grpc/overload.rs"]
mod overload;
#[path = "grpc/raw.rs"]
mod raw;
#[path = "grpc/seen.rs"]
mod seen;
#[path = "grpc/statuses.rs"]
mod statuses;
#[path = "grpc/tls.rs"]
mod tls;
