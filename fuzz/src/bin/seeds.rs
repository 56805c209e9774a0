//! Writes the seed corpus: a sound request for every policy, and a few runs of choices.
//! `cargo run --manifest-path fuzz/Cargo.toml --bin seeds`, after a game or a policy is added.

use std::fs;
use std::path::Path;

use prost::Message;
use understudy::bot::Rng;
use understudy::{games, pb};
use understudy_fuzz::positions::positions;

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for bot in games::registry().bots() {
        for (n, view) in positions(bot.game(), 2, 7).into_iter().enumerate() {
            let policy = bot.name().to_owned();
            let request = pb::DecideRequest { view: Some(view), policy, ..Default::default() };
            fs::write(corpus.join(format!("decide/{}-{}-{n}", bot.game(), bot.name())), request.encode_to_vec())?;
        }
    }
    for n in 0..24 {
        let mut rng = Rng::new(n);
        let choices: Vec<u8> = (0..12).flat_map(|_| rng.next_u64().to_le_bytes()).collect();
        fs::write(corpus.join(format!("position/choices-{n}")), &choices)?;
        // The same choices behind each manner of speaking.
        let knock: Vec<u8> = [n as u8].into_iter().chain(choices).collect();
        fs::write(corpus.join(format!("door/frames-{n}")), knock)?;
    }
    Ok(())
}
