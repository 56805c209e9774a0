//! What a proof prints: its table, its figures against their pass lines, and the verdict.

/// A proof's findings so far.
#[derive(Default)]
pub struct Report {
    misses: usize,
    checks: usize,
}

impl Report {
    /// A line of the table.
    pub fn line(&mut self, text: impl AsRef<str>) {
        println!("  {}", text.as_ref());
    }

    /// A figure against its pass line.
    pub fn check(&mut self, holds: bool, figure: impl AsRef<str>, pass_line: impl AsRef<str>) {
        self.checks += 1;
        self.misses += usize::from(!holds);
        let verdict = if holds { "pass" } else { "MISS" };
        println!("  {verdict}  {}  (pass line: {})", figure.as_ref(), pass_line.as_ref());
    }

    /// Every check held, and there was one.
    pub fn passed(&self) -> bool {
        self.misses == 0 && self.checks > 0
    }
}

/// Under what conditions the figures were taken: machine, commit, form, what else was running.
pub fn conditions(quick: bool, seed: u64) -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':')).map(|(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let git = std::process::Command::new("git").args(["describe", "--always", "--dirty"]).output();
    let commit = git.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned()).unwrap_or_default();
    let build = if cfg!(debug_assertions) { "dev build" } else { "release build" };
    let form = if quick { "short forms" } else { "full forms" };
    format!(
        "{cores} cores,{}; commit {commit}, {build}; {form}, seed {seed}; {}",
        model.unwrap_or(" unknown"),
        load_average()
    )
}

/// What else wants the cores: anything above our own two or so disturbs the figures.
pub fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("load average {}", text.split(' ').next().unwrap_or("?"))
}
