//! `understudy probe`: one health check, for a container's own probe.

use clap::Args;

use super::remote::{Manner, check};
use super::{Failure, input};

/// One gRPC health check; exit 0 when the server is SERVING, else 1.
#[derive(Args, Debug)]
pub struct ProbeArgs {
    /// Where: HOST:PORT, of the admin or of the gRPC port
    #[arg(default_value = "127.0.0.1:9090")]
    address: String,
    /// The service to ask about; empty for the server as a whole
    #[arg(long, value_name = "NAME", default_value = "")]
    service: String,
    #[command(flatten)]
    manner: Manner,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Asks.
///
/// # Errors
/// For anything but SERVING.
pub fn run(arguments: &ProbeArgs) -> Result<(), Failure> {
    check(&arguments.address, &arguments.manner, &arguments.service)?;
    if arguments.json {
        return input::print_json(&serde_json::json!({ "status": "SERVING" }));
    }
    input::print("SERVING\n")
}
