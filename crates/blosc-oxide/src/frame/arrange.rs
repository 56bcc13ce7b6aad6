//! Lists of entries that are made of old ones and of chunks that have been staged.

use super::checksums::{Hashes, UNKNOWN};
use super::index::{Entry, Index};
use crate::error::{Result, bail};
use crate::schunk::{Source, Staged};

/// The entry and the hash of a staged chunk.
pub(super) fn staged_entry(staged: &Staged) -> Result<(Entry, u64)> {
    match staged {
        Staged::Special(special) => Ok((Entry::Special(*special), UNKNOWN)),
        Staged::At { entry, hash } => Ok((Entry::At(*entry), *hash)),
        Staged::Memory(bytes) => bail!(InvalidArgument, "a chunk of {} bytes is not in this frame", bytes.len()),
    }
}

/// Makes the index and the hashes what `sources` stand for, after the first `kept`, and returns the entries that do not
/// come any more.
pub(super) fn arrange(
    kept: usize,
    sources: &[Source],
    index: &mut Index,
    hashes: Option<&mut Hashes>,
) -> Result<Vec<Entry>> {
    let old: Vec<Entry> = index.entries_from(kept)?.collect();
    let old_hash = |at: usize| hashes.as_ref().and_then(|hashes| hashes.get(at)).unwrap_or(UNKNOWN);
    let arranged = sources.iter().map(|source| match source {
        Source::Old(at) => Ok((old[*at - kept], old_hash(*at))),
        Source::New(staged) => staged_entry(staged),
    });
    let (entries, new_hashes): (Vec<Entry>, Vec<u64>) = arranged.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    index.set_from(kept, entries.into_iter())?;
    if let Some(hashes) = hashes {
        hashes.set_from(kept, &new_hashes);
    }
    let mut gone: Vec<Option<Entry>> = old.into_iter().map(Some).collect();
    for source in sources {
        if let Source::Old(at) = source {
            gone[*at - kept] = None;
        }
    }
    Ok(gone.into_iter().flatten().collect())
}
