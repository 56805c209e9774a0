//! The fuzz targets in short: seeded, the same every time, within seconds. The long form is `cargo fuzz`, see `fuzz/`.

use std::collections::BTreeMap;
use std::path::Path;

use prost::Message;
use understudy::bot::Rng;

#[path = "../fuzz/src/decision.rs"]
mod decision;
#[path = "../fuzz/src/door.rs"]
mod door;
#[path = "../fuzz/src/mutate.rs"]
mod mutate;
#[path = "../fuzz/src/position.rs"]
mod position;
#[path = "../fuzz/src/positions.rs"]
mod positions;
#[path = "../fuzz/src/raw.rs"]
mod raw;
#[path = "../fuzz/src/source.rs"]
mod source;

use decision::{Kitchen, Verdict};
use position::Bench;
use source::Source;

fn noise(rng: &mut Rng, words: usize) -> Vec<u8> {
    (0..words).flat_map(|_| rng.next_u64().to_le_bytes()).collect()
}

/// decode -> validate -> decide over 6,000 changed positions of all games: no panic, sums that add up, and both sorts of
/// answer, or the changes are too wild or too tame to test anything.
#[test]
fn changed_positions_are_decided_or_refused() {
    let bench = Bench::new(64, 1);
    let mut rng = Rng::new(2).split("choices");
    let mut seen: BTreeMap<Verdict, u32> = BTreeMap::new();
    for _ in 0..6_000 {
        *seen.entry(bench.run(&mut Source(&noise(&mut rng, 12)))).or_default() += 1;
    }
    assert!(seen[&Verdict::Decided] > 200, "{seen:?}");
    assert!(seen[&Verdict::Refused] > 1_000, "{seen:?}");
    assert!(!seen.contains_key(&Verdict::Unknown), "{seen:?}");
}

/// The bytes of sound requests with one to four bits turned, cut short, or with another request's tail.
#[test]
fn damaged_bytes_are_decided_or_refused() {
    let (bench, kitchen) = (Bench::new(64, 3), Kitchen::default());
    let mut rng = Rng::new(4).split("damage");
    let mut last = Vec::new();
    for _ in 0..6_000 {
        let request = bench.request(&mut Source(&noise(&mut rng, 2)));
        let mut bytes = request.encode_to_vec();
        let cut = 1 + rng.below(bytes.len() as u64) as usize;
        match rng.below(4) {
            0 => bytes.truncate(cut),
            1 => bytes.extend_from_slice(&last[last.len().min(cut)..]),
            _ => {}
        }
        for _ in 0..=rng.below(4) {
            let place = rng.below(bytes.len() as u64) as usize;
            bytes[place] ^= 1 << rng.below(8);
        }
        kitchen.bytes(&bytes);
        last = bytes;
    }
}

/// What fuzzing found worth keeping stays decided or refused.
#[test]
fn the_stored_corpus_runs() {
    let (bench, kitchen) = (Bench::new(256, 1), Kitchen::default());
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let read = |target: &str| -> Vec<Vec<u8>> {
        let files = std::fs::read_dir(corpus.join(target)).expect("a corpus of this target");
        files.map(|file| std::fs::read(file.expect("an entry").path()).expect("a file")).collect()
    };
    let requests = read("decide");
    assert!(!requests.is_empty(), "no seeds");
    let decided = requests.iter().filter(|bytes| kitchen.bytes(bytes) == Verdict::Decided).count();
    assert!(decided > 0, "no seed is a sound request any more");
    for bytes in read("position") {
        bench.run(&mut Source(&bytes));
    }
}

/// Frames and noise at the HTTP/2 door, each on a connection of its own; the server stands after every one.
#[test]
fn the_door_stands_against_noise() {
    let door = door::Door::open();
    let mut rng = Rng::new(5).split("knocks");
    for _ in 0..300 {
        let words = 1 + rng.below(40) as usize;
        door.knock(&mut Source(&noise(&mut rng, words)));
    }
}
