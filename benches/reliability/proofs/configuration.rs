//! R12: what is wrong with a configuration is said in one line each, at once, and the exit code is 2.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::wait;
use crate::report::Report;
use crate::{Context, Trouble};

/// R12.
pub fn run(context: &Context, report: &mut Report) -> Result<(), Trouble> {
    let file = |name: &str, text: &str| -> Result<String, Trouble> {
        let path = context.scratch.join(name);
        std::fs::write(&path, text)?;
        Ok(path.display().to_string())
    };
    let bad_weights = format!("lexio/hard={}", file("weights.json", "{\"no\": \"weights\"}")?);
    let bad_certificate = file("cert.pem", "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")?;
    let bad_key = file("key.pem", "nothing")?;
    let no_tokens = file("tokens", "# nobody\n")?;
    let short_token = file("short", "frontend abc\n")?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let busy = listener.local_addr()?.to_string();
    let cases: &[(&str, &[&str])] = &[
        ("unknown flag", &["--no-such-flag"]),
        ("bad value", &["--queue", "many"]),
        ("bad duration", &["--drain-delay", "soon"]),
        ("weights of no such file", &["--weights", "lexio/hard=/nonexistent/weights.json"]),
        ("bad weights", &["--weights", &bad_weights]),
        ("weights of no such game", &["--weights", "chess/hard=/nonexistent"]),
        ("port in use", &["--listen", &busy]),
        ("admin port in use", &["--admin-listen", &busy]),
        ("bad certificate", &["--tls-cert", &bad_certificate, "--tls-key", &bad_key]),
        ("certificate without key", &["--tls-cert", &bad_certificate]),
        ("no such token file", &["--auth-tokens", "/nonexistent/tokens"]),
        ("token file without a token", &["--auth-tokens", &no_tokens]),
        ("token too short", &["--auth-tokens", &short_token]),
        ("record share of 2", &["--record-share", "2"]),
        ("tokens in the clear", &["--auth-tokens", &short_token, "--listen", "0.0.0.0:0"]),
    ];
    for (name, flags) in cases {
        let mut all = vec!["serve"];
        // A flag of the case takes the place of the default, so that no case depends on which ports are free.
        for (flag, value) in [("--listen", "127.0.0.1:0"), ("--admin-listen", "127.0.0.1:0")] {
            if !flags.contains(&flag) {
                all.extend([flag, value]);
            }
        }
        all.extend(*flags);
        let began = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_understudy"))
            .args(&all)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let status = wait(&mut child, Duration::from_secs(5))?;
        let took = began.elapsed();
        let _ = child.kill();
        let said = String::from_utf8_lossy(&child.wait_with_output()?.stderr).into_owned();
        // clap adds its usage and a hint after the line that names the problem.
        let first = said.lines().next().unwrap_or_default();
        let clear = first.len() > 10 && !said.contains("panicked");
        let code = status.and_then(|status| status.code());
        let holds = code == Some(2) && took < Duration::from_secs(1) && clear;
        let figure = format!("{name}: exit {code:?} after {} ms: {first}", took.as_millis());
        report.check(holds, figure, "exit 2 within 1 s, a clear line");
    }
    drop(listener);
    Ok(())
}
