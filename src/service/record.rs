//! A share of the calls, written down as they were: one JSON line `{request, reply}` each, so that an odd move seen
//! live can be replayed. Never blocking; what finds no room is dropped and counted.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde_json::json;

use super::json;
use super::metrics::Metrics;
use crate::bot::Rng;
use crate::pb;

type Pair = (pb::DecideRequest, pb::DecideResponse);

/// Pairs that may wait for the disk.
const ROOM: usize = 256;

/// Picks calls and hands them to its writer.
pub struct Recorder {
    share: f64,
    count: AtomicU64,
    sender: SyncSender<Pair>,
    metrics: Arc<Metrics>,
}

/// The file, opened before anything else, so that a bad path stops the start.
///
/// # Errors
/// Why it cannot be written.
pub fn open(path: &Path) -> Result<File, String> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| format!("--record {}: {error}", path.display()))
}

impl Recorder {
    /// Starts the writer.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(file: File, share: f64, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(ROOM);
        std::thread::Builder::new().name("record".to_owned()).spawn(move || write(file, &receiver))?;
        Ok(Self { share, count: AtomicU64::new(0), sender, metrics })
    }

    /// Whether this call is one of the share; then its request is kept.
    pub fn choose(&self, request: &pb::DecideRequest) -> Option<Chosen<'_>> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let chosen = Rng::new(count).unit() < self.share;
        chosen.then(|| Chosen { recorder: self, request: request.clone() })
    }
}

/// A call that will be recorded, if it succeeds.
pub struct Chosen<'a> {
    recorder: &'a Recorder,
    request: pb::DecideRequest,
}

impl Chosen<'_> {
    /// Writes the pair down, if there is room.
    pub fn keep(self, reply: &pb::DecideResponse) {
        if self.recorder.sender.try_send((self.request, reply.clone())).is_err() {
            self.recorder.metrics.record_dropped.inc();
        }
    }
}

fn write(file: File, pairs: &Receiver<Pair>) {
    let mut file = BufWriter::new(file);
    while let Ok(first) = pairs.recv() {
        for (request, reply) in std::iter::once(first).chain(pairs.try_iter()) {
            let request = json::of("understudy.v1.DecideRequest", &request);
            let reply = json::of("understudy.v1.DecideResponse", &reply);
            let line = json!({ "request": request, "reply": reply });
            if let Err(error) = writeln!(file, "{line}") {
                tracing::error!(%error, "recording failed");
            }
        }
        if let Err(error) = file.flush() {
            tracing::error!(%error, "recording failed");
        }
    }
}
