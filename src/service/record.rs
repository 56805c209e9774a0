//! A share of the calls, written down as they were: one JSON line `{request, reply}` each, so that an odd move seen
//! live can be replayed. Never blocking; what finds no room is dropped and counted.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::json;

use super::deadline::now;
use super::json;
use super::logs::Repeats;
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
    opened(path, OpenOptions::new().create(true))
}

/// The same for `--check-config`: a file that was not there is not there afterwards.
///
/// # Errors
/// Why it could not be written.
pub fn check(path: &Path) -> Result<(), String> {
    if path.exists() {
        return opened(path, &mut OpenOptions::new()).map(drop);
    }
    opened(path, OpenOptions::new().create_new(true))?;
    std::fs::remove_file(path).map_err(|error| named(path, &error))
}

fn opened(path: &Path, options: &mut OpenOptions) -> Result<File, String> {
    // Opening a pipe would wait for who reads it, and the start with it.
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.file_type().is_char_device()) {
        return Err(named(path, &"neither a regular file nor a character device"));
    }
    options.append(true).mode(0o600).open(path).map_err(|error| named(path, &error))
}

fn named(path: &Path, problem: &dyn Display) -> String {
    format!("--record {}: {problem}", path.display())
}

impl Recorder {
    /// Starts the writer.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(file: File, share: f64, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(ROOM);
        let told = Arc::clone(&metrics);
        let writer = std::thread::Builder::new().name("record".to_owned());
        let writer = writer.spawn(move || write(file, &receiver, &told))?;
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

fn write(file: File, notes: &Receiver<Note>, metrics: &Metrics) {
    let mut lines = Lines { file, torn: false };
    let mut faults = Repeats::default();
    while let Ok(Some(pair)) = notes.recv() {
        let request = json::of("understudy.v1.DecideRequest", &pair.0);
        let reply = json::of("understudy.v1.DecideResponse", &pair.1);
        if let Err(error) = lines.put(&json!({ "request": request, "reply": reply }).to_string()) {
            metrics.record_dropped.inc();
            if let Some(times) = faults.again(now()) {
                tracing::error!(%error, times, "recording failed");
            }
        }
    }
}

/// Writes lines whole, without a buffer in which a failure would mix them.
struct Lines<W> {
    file: W,
    /// The last line ends in its middle.
    torn: bool,
}

impl<W: Write> Lines<W> {
    /// One line. What a full disk took of it stays, closed by the line end of the next one, so that one line is bad.
    fn put(&mut self, line: &str) -> std::io::Result<()> {
        let whole = if self.torn { format!("\n{line}\n") } else { format!("{line}\n") };
        let mut rest = whole.as_bytes();
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(taken) => {
                    self.torn = rest[..taken].last() != Some(&b'\n');
                    rest = &rest[taken..];
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes as many bytes as there is room for.
    #[derive(Default)]
    struct Disk {
        room: usize,
        text: Vec<u8>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.room == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(self.room);
            self.room -= taken;
            self.text.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_fills_and_frees_spoils_one_line() {
        let mut lines = Lines { file: Disk::default(), torn: false };
        let mut put = |room: usize, line: &str| {
            lines.file.room = room;
            lines.put(line).is_ok()
        };
        assert!(put(6, "first"));
        assert!(!put(0, "lost"), "nothing of it is there");
        assert!(!put(3, "spoilt"));
        assert!(!put(0, "lost"), "and the torn line is still to be closed");
        assert!(put(100, "second") && put(100, "third"));
        assert_eq!(String::from_utf8_lossy(&lines.file.text), "first\nspo\nsecond\nthird\n");
    }

    #[test]
    fn only_files_and_character_devices_are_written_to() {
        assert!(open(Path::new("/dev/null")).is_ok());
        let folder = open(&std::env::temp_dir());
        assert!(folder.is_err_and(|error| error.contains("neither a regular file")));
    }
}
