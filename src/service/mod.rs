//! gRPC around bots.
pub mod codec;
