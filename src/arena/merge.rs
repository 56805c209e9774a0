//! Shards of a run, put together again.

use serde::{Deserialize, Serialize};

use super::durations::Durations;
use super::report::{Header, Report, Sample};
use super::run::{Finished, Shard};

/// What a shard prints: its own report, and everything that a merge needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShardFile {
    /// The report of this part alone.
    #[serde(flatten)]
    pub report: Report,
    /// Which part.
    pub shard: Shard,
    /// What the whole run is.
    pub header: Header,
    /// The deals of this part.
    pub samples: Vec<Sample>,
    /// Think times, one entry a player.
    pub think: Vec<Durations>,
}

/// One run from all of its shards: the same as if it had been played in one piece.
///
/// # Errors
/// When the files are not all the parts of one run.
pub fn merge(files: Vec<ShardFile>) -> Result<(Header, Finished), String> {
    let first = files.first().ok_or("no shards to merge")?;
    let (header, of) = (first.header.clone(), first.shard.of);
    let mut seen = vec![false; usize::try_from(of).map_err(|_| "too many shards")?];
    let mut finished = Finished { samples: Vec::new(), think: vec![Durations::default(); header.players.len()] };
    for file in files {
        if file.header != header || file.shard.of != of {
            return Err(format!("shard {}/{} is of another run", file.shard.index, file.shard.of));
        }
        let place = usize::try_from(file.shard.index).ok().filter(|place| *place < seen.len());
        let place = place.ok_or_else(|| format!("there is no shard {}/{of}", file.shard.index))?;
        if std::mem::replace(&mut seen[place], true) {
            return Err(format!("shard {place}/{of} is there twice"));
        }
        if file.samples.len() as u64 != file.shard.len(header.deals) {
            return Err(format!("shard {place}/{of} is not complete"));
        }
        finished.samples.extend(file.samples);
        for (all, part) in finished.think.iter_mut().zip(&file.think) {
            all.merge(part);
        }
    }
    if let Some(missing) = seen.iter().position(|seen| !seen) {
        return Err(format!("shard {missing}/{of} is missing"));
    }
    finished.samples.sort_by_key(|sample| sample.index);
    Ok((header, finished))
}
