//! gRPC around bots.
pub mod codec;
pub mod envelope;
