//! Staged chunks put into the index and the list of hashes.

use crate::error::{Result, bail};
use crate::frame::format::hashes::{Hashes, UNKNOWN};
use crate::frame::format::index::{Entry, Index};
use crate::schunk::Staged;
use std::ops::Range;

/// The entry and the hash of a staged chunk.
pub(in crate::frame) fn entry_of(staged: &Staged) -> Result<(Entry, u64)> {
    match staged {
        Staged::Special(special) => Ok((Entry::Special(*special), UNKNOWN)),
        Staged::At { entry, hash } => Ok((Entry::At(*entry), *hash)),
        Staged::Memory(bytes) => bail!(InvalidArgument, "a chunk of {} bytes is not in this frame", bytes.len()),
    }
}

/// Puts chunks in place of those at `range` of index and hashes, and returns those that were there.
/// If it fails, nothing has changed.
pub(in crate::frame) fn splice(
    range: Range<usize>,
    chunks: &[Staged],
    index: &mut Index,
    hashes: Option<&mut Hashes>,
) -> Result<Vec<Staged>> {
    let old_hash = |at: usize| hashes.as_ref().and_then(|hashes| hashes.get(at)).unwrap_or(UNKNOWN);
    let old = index.entries_from(range.start)?.take(range.len()).zip(range.clone());
    let taken: Vec<Staged> = old.map(|(entry, at)| entry.staged(old_hash(at))).collect();
    if taken.len() != range.len() {
        bail!(InvalidArgument, "chunks {range:?} are to be replaced, there are {}", index.len());
    }
    let (entries, new_hashes): (Vec<Entry>, Vec<u64>) =
        chunks.iter().map(entry_of).collect::<Result<Vec<_>>>()?.into_iter().unzip();
    index.splice(range.clone(), entries.into_iter().map(|entry| (entry, 1)))?;
    if let Some(hashes) = hashes {
        hashes.splice(range, &new_hashes);
    }
    Ok(taken)
}
