//! The `understudy` program: see [`understudy::cli`].

fn main() {}
