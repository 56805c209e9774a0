//! The HTTP/2 door: a real server in this process, a fresh connection for every input.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use understudy::games;
use understudy::pb::ServerState;
use understudy::service::config::Config;
use understudy::service::{self, Server};

use super::raw;
use super::source::Source;

/// A server to knock at.
pub struct Door(Server);

impl Door {
    /// One with short patience: a fuzzer has many inputs to try.
    pub fn open() -> Self {
        #[cfg(unix)]
        outlive_broken_pipes();
        let short = Duration::from_millis(50);
        let config = Config { body_timeout: short, handshake_timeout: short, ..Config::default() };
        let server = service::assemble(config, games::registry()).expect("a server with default settings");
        assert!(server.wait_until_serving(Duration::from_secs(60)), "the self-test does not end");
        Self(server)
    }

    /// Sends what the choices say, reads what comes back, and asks whether the server still stands.
    pub fn knock(&self, source: &mut Source<'_>) {
        if let Ok(stream) = TcpStream::connect(self.0.address()) {
            // The peer may hang up at any byte: that is its right, and no finding.
            let _ = speak(stream, source);
        }
        assert_eq!(self.0.state(), ServerState::Serving);
        assert_eq!(self.0.metrics().panics.get(), 0, "a panic behind the door");
    }
}

/// A peer that hangs up raises SIGPIPE, which ends a process that neither ignores nor hears it. Once heard it stays so.
#[cfg(unix)]
fn outlive_broken_pipes() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().expect("a runtime");
    let _inside = runtime.enter();
    drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::pipe()).expect("a handler"));
}

fn speak(mut stream: TcpStream, source: &mut Source<'_>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(5)))?;
    stream.set_write_timeout(Some(Duration::from_millis(50)))?;
    let manner = source.byte() % 5;
    if manner > 0 {
        stream.write_all(&raw::preface())?;
    }
    if manner > 1 {
        stream.write_all(&raw::headers(1, manner == 2))?;
    }
    if manner == 4 {
        stream.write_all(&raw::reset(1))?;
    }
    if manner == 0 {
        stream.write_all(source.0)?;
    } else {
        // Frames with sound heads: what lies behind them is reached far more often.
        while !source.0.is_empty() {
            let (kind, flags, stream_id) = (source.byte() % 11, source.byte(), u32::from(source.byte() % 8));
            let length = source.below(512).min(source.0.len());
            let (payload, rest) = source.0.split_at(length);
            stream.write_all(&raw::frame(kind, flags, stream_id, payload))?;
            source.0 = rest;
        }
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut sink = [0; 4096];
    while stream.read(&mut sink)? > 0 {}
    Ok(())
}
