//! The generated messages and services, one module a package. Named only by each game's `wire.rs`, by
//! `bot/registry.rs`, by `service/` and by `cli/`.
#![allow(missing_docs, clippy::all, clippy::disallowed_methods)]

pub use understudy::v1::*;

/// The compiled `.proto` files, for reflection and protobuf JSON.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/understudy.bin"));

// The nesting of the packages is the one the generated code refers to.
mod understudy {
    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/understudy.v1.rs"));
    }
    pub mod lexio {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/understudy.lexio.v1.rs"));
        }
    }
    pub mod wallgo {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/understudy.wallgo.v1.rs"));
        }
    }
    pub mod apple {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/understudy.apple.v1.rs"));
        }
    }
    pub mod hoola {
        pub mod v1 {
            include!(concat!(env!("OUT_DIR"), "/understudy.hoola.v1.rs"));
        }
    }
}

pub use understudy::apple::v1 as apple;
pub use understudy::hoola::v1 as hoola;
pub use understudy::lexio::v1 as lexio;
pub use understudy::wallgo::v1 as wallgo;
