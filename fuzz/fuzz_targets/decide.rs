//! Raw bytes as Decide takes them: decode, validate, decide.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use understudy_fuzz::decision::Kitchen;

static KITCHEN: OnceLock<Kitchen> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    KITCHEN.get_or_init(Kitchen::default).bytes(data);
});
