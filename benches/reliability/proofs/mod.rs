//! One file a promise.

use crate::report::Report;
use crate::{Context, Trouble};

mod batch_equal;
mod compatibility;
mod configuration;
mod cost;
mod deadlines;
mod floods;
mod garbage;
mod isolation;
mod plateau;
mod priority;
mod release;
mod restart;
mod rotation;
mod slow_peers;
mod soak;
mod start;

/// A promise and how it is proved.
pub struct Proof {
    pub id: &'static str,
    pub promise: &'static str,
    pub run: fn(&Context, &mut Report) -> Result<(), Trouble>,
}

const fn proof(
    id: &'static str,
    promise: &'static str,
    run: fn(&Context, &mut Report) -> Result<(), Trouble>,
) -> Proof {
    Proof { id, promise, run }
}

/// All of them.
pub const PROOFS: &[Proof] = &[
    proof("R1", "a rolling restart loses nothing", restart::run_proof),
    proof("R2", "deadlines hold end to end", deadlines::run),
    proof("R3", "goodput stays on its plateau under overload (with R5: probes never starve)", plateau::run),
    proof("R4", "players go before bulk", priority::run),
    proof("R5", "probes never starve (measured within R3's overload)", plateau::run_probes),
    proof("R6", "memory stays bounded", floods::run),
    proof("R7", "no input crashes it", garbage::run),
    proof("R8", "a cancelled call frees what it held", release::run),
    proof("R9", "a panic stays alone", isolation::run),
    proof("R10", "the same request gives the same bytes", batch_equal::run),
    proof("R11", "a long run changes nothing", soak::run_proof),
    proof("R12", "a bad configuration fails fast", configuration::run),
    proof("R13", "slow peers hurt nobody", slow_peers::run_proof),
    proof("R14", "rotation costs no call", rotation::run_proof),
    proof("R15", "old clients keep working", compatibility::run),
    proof("CPU", "CPU per call against a bare echo", cost::run),
    proof("START", "it is small and there at once", start::run),
];
