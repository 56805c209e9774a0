//! R10: stored requests over Decide, over BatchDecide and on the command line, with one worker and with several, and
//! with a second build where one is named: byte-equal but for request id and timing.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use prost::Message;
use prost_reflect::{DescriptorPool, DeserializeOptions, DynamicMessage, SerializeOptions};
use understudy::{games, pb};

use crate::load::runtime;
use crate::process::{Program, Server};
use crate::report::Report;
use crate::requests::requests;
use crate::wire::{BATCH, Channel, DECIDE, Ending, frame};
use crate::{Context, Trouble};

const WAIT: Duration = Duration::from_secs(120);

/// R10.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let asked = stored(context, context.pick(10_000, 500));
    report.line(format!("{} requests, {} policies", asked.len(), games::registry().bots().len()));
    let reference = {
        let server = Server::start(Program::Product, &["--workers", "1"], &context.scratch)?;
        unary(&server, &asked)?
    };
    let mut compare = |name: &str, answers: Vec<Vec<u8>>| {
        let differ =
            reference.iter().zip(&answers).filter(|(a, b)| a != b).count() + reference.len().abs_diff(answers.len());
        report.check(differ == 0, format!("{name}: {differ} of {} differ", answers.len()), "0");
    };
    {
        let server = Server::start(Program::Product, &["--workers", "1"], &context.scratch)?;
        compare("BatchDecide, 1 worker", batches(&server, &asked)?);
    }
    {
        let server = Server::start(Program::Product, &["--workers", "4"], &context.scratch)?;
        compare("Decide, 4 workers", unary(&server, &asked)?);
        compare("BatchDecide, 4 workers", batches(&server, &asked)?);
    }
    // A process a request: a sample says as much.
    let sample = context.pick(500, 40).min(asked.len());
    let step = asked.len() / sample;
    let picked: Vec<usize> = (0..sample).map(|n| n * step).collect();
    let mut builds = vec![("the command line".to_owned(), Path::new(env!("CARGO_BIN_EXE_understudy")))];
    if let Some(other) = &context.other_build {
        builds.push((format!("another build ({})", other.display()), other));
    }
    for (name, program) in builds {
        let mut differ = 0;
        for n in &picked {
            let answer = command_line(program, &asked[*n])?;
            if answer != reference[*n] {
                differ += 1;
                report.line(first_difference(*n, &asked[*n], &reference[*n], &answer));
            }
        }
        report.check(differ == 0, format!("{name}: {differ} of {sample} differ"), "0");
    }
    Ok(())
}

/// Where two answers part, in text.
fn first_difference(n: usize, request: &pb::DecideRequest, here: &[u8], there: &[u8]) -> String {
    let text = |bytes: &[u8]| pb::DecideResponse::decode(bytes).map(|answer| format!("{answer:?}")).unwrap_or_default();
    let (here, there) = (text(here), text(there));
    let same = here.bytes().zip(there.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(same.saturating_sub(60)).take(160).collect::<String>();
    let seed = request.seed;
    format!("request {n} ({}, seed {seed:?}): ...{}... against ...{}...", request.policy, around(&here), around(&there))
}

/// Requests over every policy in turn, with budgets that no clock shapes.
fn stored(context: &Context, count: usize) -> Vec<pb::DecideRequest> {
    let bots = games::registry().bots();
    let each = count.div_ceil(bots.len().max(1));
    let mut by_bot: Vec<Vec<pb::DecideRequest>> = Vec::new();
    for bot in &bots {
        let heeds = bot.about().heeds;
        let budget = pb::Budget {
            max_nodes: heeds.nodes.then_some(400),
            max_worlds: heeds.worlds.then_some(3),
            max_depth: heeds.depth.then_some(2),
            max_time_us: None,
        };
        let mut asked = requests(bot.game(), bot.name(), each, context.seed);
        for (n, request) in asked.iter_mut().enumerate() {
            request.budget = (budget != pb::Budget::default()).then_some(budget);
            request.detail = if n % 4 == 0 { pb::Detail::All } else { pb::Detail::Top } as i32;
            if n % 3 == 0 {
                request.seed = None;
            }
        }
        by_bot.push(asked);
    }
    let mut all: Vec<pb::DecideRequest> =
        (0..each).flat_map(|n| by_bot.iter().map(move |asked| asked[n].clone())).collect();
    all.truncate(count);
    all
}

/// What is compared.
fn bare(mut response: pb::DecideResponse) -> Vec<u8> {
    response.request_id.clear();
    response.timing = None;
    response.encode_to_vec()
}

fn unary(server: &Server, asked: &[pb::DecideRequest]) -> Result<Vec<Vec<u8>>, Trouble> {
    runtime().block_on(async {
        let channel = Channel::new(&server.target());
        let mut answers = BTreeMap::new();
        // A few at a time, so that several workers have something to disagree about.
        for (start, chunk) in asked.chunks(16).enumerate() {
            let mut calls = tokio::task::JoinSet::new();
            for (n, request) in chunk.iter().enumerate() {
                let (channel, body) = (channel.clone(), frame(request));
                calls.spawn(async move { (start * 16 + n, channel.call(DECIDE, None, body, WAIT).await) });
            }
            while let Some(done) = calls.join_next().await {
                let (n, answer) = done?;
                if answer.ending != Ending::OK {
                    return Err(format!("request {n}: {} {}", answer.ending, answer.text).into());
                }
                answers.insert(n, bare(pb::DecideResponse::decode(answer.body)?));
            }
        }
        Ok(answers.into_values().collect())
    })
}

fn batches(server: &Server, asked: &[pb::DecideRequest]) -> Result<Vec<Vec<u8>>, Trouble> {
    use pb::batch_decide_result::Outcome;
    runtime().block_on(async {
        let channel = Channel::new(&server.target());
        let mut answers = Vec::new();
        // The items of a batch share the cap of rows, so what asks for ALL goes alone.
        let alone = |request: &pb::DecideRequest| request.detail == pb::Detail::All as i32;
        for chunk in asked.chunk_by(|a, b| !alone(a) && !alone(b)) {
            let batch = pb::BatchDecideRequest { items: chunk.to_vec() };
            let answer = channel.call(BATCH, None, frame(&batch), WAIT).await;
            if answer.ending != Ending::OK {
                return Err(format!("a batch: {} {}", answer.ending, answer.text).into());
            }
            for result in pb::BatchDecideResponse::decode(answer.body)?.results {
                match result.outcome {
                    Some(Outcome::Decision(response)) => answers.push(bare(response)),
                    other => return Err(format!("a batch item: {other:?}").into()),
                }
            }
        }
        Ok(answers)
    })
}

/// `understudy decide --json`, protobuf JSON in and out.
fn command_line(program: &Path, request: &pb::DecideRequest) -> Result<Vec<u8>, Trouble> {
    let pool = DescriptorPool::decode(pb::DESCRIPTORS)?;
    let message = |name: &str| pool.get_message_by_name(name).ok_or("no such message");
    let request = DynamicMessage::decode(message("understudy.v1.DecideRequest")?, &request.encode_to_vec()[..])?;
    let mut child = Command::new(program)
        .args(["decide", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut json = serde_json::Serializer::new(Vec::new());
    request.serialize_with_options(&mut json, &SerializeOptions::new())?;
    child.stdin.take().ok_or("no stdin")?.write_all(&json.into_inner())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("decide: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let mut json = serde_json::Deserializer::from_slice(&output.stdout);
    let response = DynamicMessage::deserialize_with_options(
        message("understudy.v1.DecideResponse")?,
        &mut json,
        &DeserializeOptions::new(),
    )?;
    Ok(bare(response.transcode_to::<pb::DecideResponse>()?))
}
