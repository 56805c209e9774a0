//! Child processes and what `/proc` says about them.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::admin;
use crate::wire::Target;

/// Which program serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The product: `understudy serve`.
    Product,
    /// The same service with misbehaving policies enrolled beside the real ones, in a process of its own.
    WithTestPolicies,
}

/// A server in a child process; killed when dropped.
pub struct Server {
    child: Child,
    /// Where it speaks gRPC.
    pub grpc: SocketAddr,
    /// Where it speaks about itself.
    pub admin: SocketAddr,
    /// What it wrote to stderr.
    pub log: PathBuf,
    /// From the start of the process to readiness.
    pub ready_after: Duration,
}

impl Server {
    /// Starts `program` on free ports with `flags`, and waits until it is ready.
    pub fn start(program: Program, flags: &[&str], scratch: &Path) -> io::Result<Self> {
        let mut all = vec!["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--log-format", "json"];
        all.extend(flags);
        Self::start_with(program, &all, scratch)
    }

    /// Starts `program` with exactly these flags.
    pub fn start_with(program: Program, flags: &[&str], scratch: &Path) -> io::Result<Self> {
        let mut command = match program {
            Program::Product => Command::new(env!("CARGO_BIN_EXE_understudy")),
            Program::WithTestPolicies => Command::new(std::env::current_exe()?),
        };
        let word = if program == Program::Product { "serve" } else { "--be-server" };
        let began = Instant::now();
        let mut server = Self::spawn(command.arg(word).args(flags), scratch)?;
        server.wait_ready(began)?;
        Ok(server)
    }

    /// The plain tonic server, which spins for `time` in every handler.
    pub fn plain(time: Duration, scratch: &Path) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--be-plain", &time.as_micros().to_string()]);
        Self::spawn(&mut command, scratch)
    }

    fn spawn(command: &mut Command, scratch: &Path) -> io::Result<Self> {
        let log = scratch.join(format!("server-{}.log", unique()));
        let mut child = command.stdout(Stdio::piped()).stderr(File::create(&log)?).spawn()?;
        match read_ports(&mut child) {
            Ok((grpc, admin)) => Ok(Self { child, grpc, admin, log, ready_after: Duration::ZERO }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                let said = fs::read_to_string(&log).unwrap_or_default();
                Err(io::Error::other(format!("the server did not start: {error}; it said: {said}")))
            }
        }
    }

    fn wait_ready(&mut self, began: Instant) -> io::Result<()> {
        while began.elapsed() < Duration::from_secs(30) {
            if admin::get(self.admin, "/readyz").is_ok_and(|page| page.status == 200) {
                self.ready_after = began.elapsed();
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(io::Error::other("the server was not ready within 30 s"))
    }

    /// Whom to call.
    pub fn target(&self) -> Target {
        self.grpc.into()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop.
    pub fn terminate(&self) {
        signal(self.pid(), "TERM");
    }

    /// Its exit status, if it exits within `limit`.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        wait(&mut self.child, limit)
    }

    /// What `/proc` says about it now.
    pub fn reading(&self) -> io::Result<Reading> {
        Reading::of(self.pid())
    }

    /// The value of a metric with these labels (as they stand in the exposition), 0 when absent.
    pub fn metric(&self, series: &str) -> io::Result<f64> {
        Ok(admin::series(&admin::get(self.admin, "/metrics")?.body, series))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a child for at most `limit`.
pub fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() >= limit {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal by name to a process of ours.
pub fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
}

/// A number that no other file of this run has.
fn unique() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// `listening on ADDR` and `admin on ADDR` from the first lines of stdout.
fn read_ports(child: &mut Child) -> io::Result<(SocketAddr, SocketAddr)> {
    let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
    let (mut grpc, mut admin) = (None, None);
    let mut lines = BufReader::new(stdout).lines();
    while grpc.is_none() || admin.is_none() {
        let line = lines.next().ok_or_else(|| io::Error::other("it closed stdout before naming its ports"))??;
        let address = |rest: &str| rest.trim().parse().map_err(io::Error::other);
        if let Some(rest) = line.strip_prefix("listening on ") {
            grpc = Some(address(rest)?);
        } else if let Some(rest) = line.strip_prefix("admin on ") {
            admin = Some(address(rest)?);
        }
    }
    // Whatever else it prints must find a reader, or its next write fails.
    std::thread::spawn(move || lines.for_each(drop));
    Ok((grpc.expect("set above"), admin.expect("set above")))
}

/// A process at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Resident memory in MB (10^6 bytes).
    pub rss_mb: f64,
    /// Largest resident memory so far.
    pub peak_mb: f64,
    /// Open file descriptors.
    pub descriptors: usize,
}

impl Reading {
    /// Of a process.
    pub fn of(pid: u32) -> io::Result<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let kib = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name));
            line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).unwrap_or(0.0)
        };
        Ok(Self {
            rss_mb: kib("VmRSS:") * 1.024e-3,
            peak_mb: kib("VmHWM:") * 1.024e-3,
            descriptors: fs::read_dir(format!("/proc/{pid}/fd"))?.count(),
        })
    }
}

/// Nanoseconds on a core, over all threads alive now. Finer than the 10 ms ticks of `stat`.
pub fn cpu(pid: u32) -> io::Result<Duration> {
    let mut total = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        total += text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(total))
}

/// Decision threads of a server that names none: cores less one, at least one.
pub fn default_workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() - 1).max(1)
}
