//! The `understudy` program: see [`understudy::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    understudy::cli::main()
}
