//! START: how big it is when idle, how soon it serves.

use std::time::Duration;

use crate::process::{Program, Server};
use crate::quiet::Quiet;
use crate::report::Report;
use crate::{Context, Trouble};

/// START.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let quiet = Quiet::listen();
    let mut slowest = Duration::ZERO;
    let mut fattest = 0.0f64;
    for _ in 0..context.pick(10, 3) {
        let server = Server::start(Program::Product, &[], &context.scratch)?;
        std::thread::sleep(Duration::from_millis(500));
        slowest = slowest.max(server.ready_after);
        fattest = fattest.max(server.reading()?.rss_mb);
        report.line(format!(
            "ready after {:>4} ms, {:.1} MB",
            server.ready_after.as_millis(),
            server.reading()?.rss_mb
        ));
    }
    report.check(fattest <= 25.0, format!("idle memory {fattest:.1} MB"), "<= 25 MB");
    // A short form on a busy machine starts in the gaps that others leave: three such gaps, say.
    let limit = Duration::from_millis(300) + 3 * quiet.allowance(context, report);
    let ms = slowest.as_millis();
    report.check(slowest <= limit, format!("start to SERVING {ms} ms, the slowest"), "<= 300 ms, self-test included");
    Ok(())
}
