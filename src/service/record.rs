//! A share of the calls, written down as they were: one JSON line `{request, reply}` each, so that an odd move seen
//! live can be replayed. Never blocking; what finds no room is dropped and counted.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::json;

use super::json;
use super::metrics::Metrics;
use crate::bot::Rng;
use crate::pb;

type Pair = (pb::DecideRequest, pb::DecideResponse);

/// What the writer is told: a pair, or that there will be no more.
type Note = Option<Box<Pair>>;

/// Pairs that may wait for the disk.
const ROOM: usize = 256;

/// Picks calls and hands them to its writer.
pub struct Recorder {
    share: f64,
    count: AtomicU64,
    sender: SyncSender<Note>,
    writer: Mutex<Option<JoinHandle<()>>>,
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
        let writer = std::thread::Builder::new().name("record".to_owned()).spawn(move || write(file, &receiver))?;
        Ok(Self { share, count: AtomicU64::new(0), sender, writer: Mutex::new(Some(writer)), metrics })
    }

    /// Whether this call is one of the share; then its request is kept.
    pub fn choose(&self, request: &pb::DecideRequest) -> Option<Chosen<'_>> {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let chosen = Rng::new(count).unit() < self.share;
        chosen.then(|| Chosen { recorder: self, request: request.clone() })
    }

    /// Waits until everything kept so far is in the file, and ends the writer.
    pub fn finish(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            // An error means that the writer is gone already.
            let _ = self.sender.send(None);
            let _ = writer.join();
        }
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
        if self.recorder.sender.try_send(Some(Box::new((self.request, reply.clone())))).is_err() {
            self.recorder.metrics.record_dropped.inc();
        }
    }
}

fn write(file: File, notes: &Receiver<Note>) {
    let mut file = BufWriter::new(file);
    let mut more = true;
    while more && let Ok(first) = notes.recv() {
        for note in std::iter::once(first).chain(notes.try_iter()) {
            let Some(pair) = note else {
                more = false;
                continue;
            };
            let request = json::of("understudy.v1.DecideRequest", &pair.0);
            let reply = json::of("understudy.v1.DecideResponse", &pair.1);
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
