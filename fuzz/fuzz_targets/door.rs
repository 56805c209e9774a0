//! Bytes and frames against a real server: it answers or hangs up, and stands.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use understudy_fuzz::door::Door;
use understudy_fuzz::source::Source;

static DOOR: OnceLock<Door> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    DOOR.get_or_init(Door::open).knock(&mut Source(data));
});
