//! R15: nothing an old client relies on has changed: `buf breaking` against the stored image, and calls made and read
//! with the stored descriptors alone.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};

use crate::load::runtime;
use crate::process::{Program, Server};
use crate::report::Report;
use crate::requests::{easiest, requests};
use crate::wire::{Channel, DECIDE, Ending, frame, frame_bytes};
use crate::{Context, Trouble};

const IMAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/proto/first.binpb");

/// R15.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    match Command::new("buf").arg("breaking").arg("--against").arg(IMAGE).current_dir(proto).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            said.lines().take(10).for_each(|line| report.line(line));
            report.check(output.status.success(), format!("buf breaking: {}", output.status), "nothing breaks");
        }
        Err(error) => report.check(false, format!("buf: {error} (pip install buf-bin)"), "buf is there"),
    }
    old_stubs(context, report)
}

/// An old client knows only the stored image: its requests are understood, and its reading of the reply says the same.
fn old_stubs(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let pool = DescriptorPool::decode(&std::fs::read(IMAGE)?[..])?;
    let message = |name: &str| pool.get_message_by_name(name).ok_or("the image lacks a message");
    let server = Server::start(Program::Product, &[], &context.scratch)?;
    for game in understudy::games::KEYS {
        let mut fine = 0;
        let asked = requests(game, &easiest(game)?, 20, context.seed);
        for request in &asked {
            let old = DynamicMessage::decode(message("understudy.v1.DecideRequest")?, &request.encode_to_vec()[..])?;
            let body = frame_bytes(0, &old.encode_to_vec());
            let answer = runtime().block_on(async {
                Channel::new(&server.target()).call(DECIDE, None, body, Duration::from_secs(10)).await
            });
            let old = DynamicMessage::decode(message("understudy.v1.DecideResponse")?, answer.body.clone())?;
            let key = old.get_field_by_name("move_key").and_then(|key| key.as_str().map(str::to_owned));
            let rows = old.get_field_by_name("candidates").and_then(|rows| rows.as_list().map(<[_]>::len));
            let has_move = old.has_field_by_name("move");
            fine += usize::from(
                answer.ending == Ending::OK && has_move && key.is_some_and(|key| !key.is_empty()) && rows > Some(0),
            );
        }
        report.check(fine == asked.len(), format!("{game}: {fine} of {} calls with the old stubs", asked.len()), "all");
    }
    let empty = runtime().block_on(async {
        Channel::new(&server.target()).call(DECIDE, None, frame(&()), Duration::from_secs(10)).await
    });
    report.check(empty.ending == Ending::Status(3), format!("an empty request: {}", empty.ending), "InvalidArgument");
    Ok(())
}
