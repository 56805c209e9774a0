//! How a subcommand ends badly.

use std::process::ExitCode;

use crate::bot::{Violation, Violations};

/// Why a subcommand did not succeed.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// Bad usage or bad input, one problem a line: exit 2.
    Input(Vec<String>),
    /// Anything else: exit 1.
    Failed(String),
    /// Whoever read our output has seen enough: exit 0.
    Unread,
}

impl Failure {
    /// Bad usage or input with one problem.
    pub fn input(problem: impl Into<String>) -> Self {
        Self::Input(vec![problem.into()])
    }

    /// A failure that is not the input's.
    pub fn failed(problem: impl Into<String>) -> Self {
        Self::Failed(problem.into())
    }

    /// Bad input, every violation on its line; of very many the first, and how many more there are.
    pub fn violations(violations: &Violations) -> Self {
        Self::Input(lines(violations))
    }

    /// Says what is wrong on stderr; the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            Self::Input(problems) => {
                for problem in problems {
                    eprintln!("understudy: {problem}");
                }
                ExitCode::from(2)
            }
            Self::Failed(problem) => {
                eprintln!("understudy: {problem}");
                ExitCode::from(1)
            }
            Self::Unread => ExitCode::SUCCESS,
        }
    }
}

/// As [`Failure::violations`] tells them.
pub fn lines(violations: &Violations) -> Vec<String> {
    let line = |violation: &Violation| match violation.field.as_str() {
        "" => violation.description(),
        field => format!("{field}: {}", violation.description()),
    };
    let mut lines: Vec<_> = violations.kept().iter().map(line).collect();
    if violations.len() > lines.len() {
        lines.push(format!("and {} more", violations.len() - lines.len()));
    }
    lines
}
