//! Reading files and standard input, writing standard output.

use std::io::{self, Read, Write};
use std::path::Path;

use super::Failure;

/// The text of FILE, or of standard input for `-` or no file.
///
/// # Errors
/// When it cannot be read, with its name.
pub fn read(file: Option<&Path>) -> Result<String, Failure> {
    match file {
        Some(path) if path != Path::new("-") => {
            std::fs::read_to_string(path).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
        }
        _ => {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::input(format!("standard input: {error}")))?;
            Ok(text)
        }
    }
}

/// Writes to standard output. A reader that left early (`| head`) is no failure of ours.
///
/// # Errors
/// When it cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Unread),
        Err(error) => Err(Failure::failed(format!("standard output: {error}"))),
    }
}

/// One JSON document on standard output.
///
/// # Errors
/// When it cannot be written.
pub fn print_json(document: &impl serde::Serialize) -> Result<(), Failure> {
    print(&pretty(document)?)
}

/// One JSON document with its line end.
///
/// # Errors
/// When it is not JSON.
pub fn pretty(document: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(document).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(text + "\n")
}

/// Puts a file in place whole: who waits for it, as a merge waits for its shards, never reads half of it.
///
/// # Errors
/// When it cannot be written, with its name.
pub fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::failed(format!("{}: {error}", path.display()));
    let mut part = path.to_owned().into_os_string();
    part.push(".part");
    std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path)).map_err(failed)
}
