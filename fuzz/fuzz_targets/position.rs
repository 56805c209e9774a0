//! Positions of real games, changed field by field as the bytes choose: far more of them pass the first checks than of
//! raw bytes.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use understudy_fuzz::position::Bench;
use understudy_fuzz::source::Source;

static BENCH: OnceLock<Bench> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    BENCH.get_or_init(|| Bench::new(256, 1)).run(&mut Source(data));
});
