//! The generated messages and services, one module a package, listed by `build.rs`. Named only by each game's `wire.rs`,
//! by `bot/registry.rs`, by `service/` and by `cli/`.
#![allow(missing_docs, clippy::all, clippy::disallowed_methods)]

// `self`: rustdoc knows a crate of this name as well.
pub use self::understudy::v1::*;

/// The compiled `.proto` files, for reflection and protobuf JSON.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/understudy.bin"));

include!(concat!(env!("OUT_DIR"), "/packages.rs"));
include!(concat!(env!("OUT_DIR"), "/games.rs"));
