//! Where the chunks of a super-chunk are.

use super::state::State;
use crate::chunk::Special;
use crate::error::{Result, bail};
use crate::storage::ReadAt;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// What is stored for a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Nothing: all of its items are known.
    Special(Special),
    /// A chunk.
    Stored,
}

/// What is to be stored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum NewChunk<'a> {
    /// Nothing: all items are known.
    Special(Special),
    /// A chunk.
    Bytes(&'a [u8]),
}

/// A chunk that is stored, but not one of the sequence: not yet, or not any more.
#[derive(Debug, Clone)]
pub(crate) enum Staged {
    /// Nothing is stored: all items are known.
    Special(Special),
    /// In memory.
    Memory(Arc<Vec<u8>>),
    /// Where the store finds it, and its hash.
    At { entry: u64, hash: u64 },
}

/// Where a chunk of a new sequence comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// It is this chunk of the old sequence.
    Old(usize),
    /// It has been staged.
    New(Staged),
}

/// What getting hold of a sequence has brought.
#[derive(Debug, Default)]
pub(crate) struct Begun {
    /// Whether it was not held before.
    pub(crate) is_new: bool,
    /// What others have made of it meanwhile.
    pub(crate) state: Option<State>,
}

/// What another program has changed, one that knows nothing of hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// The metalayers of fixed size.
    pub(crate) metalayers: bool,
    /// Anything else: chunks, or variable-length metalayers.
    pub(crate) rest: bool,
}

/// A sequence of chunks. Changes need not last before [`commit`](Self::commit).
pub(crate) trait ChunkStore: Send + Sync {
    fn nchunks(&self) -> usize;

    /// The bytes that the chunks take.
    fn cbytes(&self) -> u64;

    /// The least bytes that a chunk must have.
    fn min_chunk(&self) -> usize {
        0
    }

    /// What is stored for the chunk `index`, which must be less than `nchunks`.
    fn slot(&self, index: usize) -> Result<Slot>;

    /// The same, and where the row of chunks ends that it is in and of which the same is stored: nothing, or one chunk for
    /// all of them.
    fn run(&self, index: usize) -> Result<(Slot, usize)> {
        Ok((self.slot(index)?, index + 1))
    }

    /// Puts the first bytes of a stored chunk into `out`, `len` of them or as many as there are, perhaps with bytes of
    /// the next one, and returns how many.
    fn read_head(&self, index: usize, len: usize, out: &mut Vec<u8>) -> Result<usize>;

    /// Fills `out` with the bytes of a stored chunk from `position` on.
    fn read_part(&self, index: usize, position: usize, out: &mut [u8]) -> Result<()>;

    /// The bytes of a stored chunk, where they are in memory.
    fn bytes(&self, _index: usize) -> Option<&[u8]> {
        None
    }

    /// Puts all bytes of a stored chunk into `out`.
    fn read(&self, index: usize, out: &mut Vec<u8>) -> Result<()>;

    /// Puts chunks of a special value, for which nothing is stored, in front of the one at `index`, or at the end. If it
    /// fails, nothing has changed.
    fn insert_specials(&mut self, index: usize, special: Special, count: usize) -> Result<()> {
        self.splice(index..index, &vec![Staged::Special(special); count]).map(|_| ())
    }

    /// Whether chunks stay in memory, so that it does not matter when they are stored.
    fn is_in_memory(&self) -> bool {
        false
    }

    /// Stores a chunk without making it one of the sequence.
    fn stage(&mut self, chunk: Cow<'_, [u8]>) -> Result<Staged>;

    /// Puts chunks in place of those at `range`, and returns the ones that were there. Those can be put back; they take
    /// space until they are [unstaged](Self::unstage). If it fails, nothing has changed.
    fn splice(&mut self, range: Range<usize>, chunks: &[Staged]) -> Result<Vec<Staged>>;

    /// Gives up a chunk that is not one of the sequence, and its space as far as nobody else may be reading it.
    fn unstage(&mut self, _staged: Staged) -> Result<()> {
        Ok(())
    }

    /// Gets hold of the sequence before it is changed: nobody else changes it until [`release`](Self::release).
    /// `has_changes` tells whether something has been changed already without holding it.
    fn begin(&mut self, _has_changes: bool) -> Result<Begun> {
        Ok(Begun::default())
    }

    /// Makes sure that nobody changes the sequence until [`release`](Self::release); the new state, if others have.
    fn share(&mut self, _has_changes: bool) -> Result<Option<State>> {
        Ok(None)
    }

    /// Lets others change the sequence.
    fn release(&mut self) {}

    /// Whether the three methods above do anything.
    fn is_locking(&self) -> bool {
        false
    }

    /// Publishes all changes.
    fn commit(&mut self, state: &State) -> Result<()>;

    /// Gives up all changes since the last commit; the state that was published then.
    fn rollback(&mut self) -> Result<State> {
        bail!(InvalidArgument, "in memory nothing is kept of what was there before a change");
    }

    /// Reclaims unused space. All changes have been published.
    fn compact(&mut self, _state: &State) -> Result<()> {
        Ok(())
    }

    /// Reads the hashes of the chunks, where some are kept and have not been read. `Conflict` if they are gone, because
    /// others have published something else since.
    fn fetch_hashes(&mut self) -> Result<()> {
        Ok(())
    }

    /// The XXH3 hash of a stored chunk, where one is kept and has been fetched.
    fn hash(&self, _index: usize) -> Option<u64> {
        None
    }

    /// Compares the bytes of a stored chunk with its hash, where one is kept and has been fetched.
    fn compare(&self, _index: usize, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    /// What another program has changed since the hashes were written.
    fn foreign(&self) -> Foreign {
        Foreign::default()
    }

    /// How many bytes are stored that no longer count.
    fn dead_bytes(&self) -> Result<u64> {
        Ok(0)
    }

    /// Whether hashes of the chunks are kept.
    fn has_hashes(&self) -> bool {
        false
    }

    /// Where the chunk `index` is stored: its position in the storage, or the number of its file.
    fn position(&self, _index: usize) -> Result<Option<u64>> {
        Ok(None)
    }

    /// The header of the container as it was committed last, if there is one.
    fn header(&self) -> &[u8] {
        &[]
    }

    /// Takes notice of what others have published since; the new state, if they have.
    fn reload(&mut self) -> Result<Option<State>> {
        Ok(None)
    }

    /// The storage that all chunks are read from, if it is a single one, and where the frame starts in it.
    fn source(&self) -> Option<(&dyn ReadAt, u64)> {
        None
    }
}

/// Chunks in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryStore {
    chunks: Vec<Staged>,
    cbytes: u64,
}

/// What a chunk takes in memory.
fn cbytes_of(chunk: &Staged) -> u64 {
    if let Staged::Memory(bytes) = chunk { bytes.len() as u64 } else { 0 }
}

impl MemoryStore {
    fn stored(&self, index: usize) -> Result<&[u8]> {
        match &self.chunks[index] {
            Staged::Memory(bytes) => Ok(bytes),
            other => bail!(InvalidArgument, "chunk {index} is not stored, it is {other:?}"),
        }
    }
}

impl ChunkStore for MemoryStore {
    fn nchunks(&self) -> usize {
        self.chunks.len()
    }

    fn cbytes(&self) -> u64 {
        self.cbytes
    }

    fn slot(&self, index: usize) -> Result<Slot> {
        Ok(match self.chunks[index] {
            Staged::Special(special) => Slot::Special(special),
            Staged::Memory(_) | Staged::At { .. } => Slot::Stored,
        })
    }

    fn read_head(&self, index: usize, len: usize, out: &mut Vec<u8>) -> Result<usize> {
        let bytes = self.stored(index)?;
        let head = &bytes[..len.min(bytes.len())];
        if out.len() < head.len() {
            out.resize(head.len(), 0);
        }
        out[..head.len()].copy_from_slice(head);
        Ok(head.len())
    }

    fn read_part(&self, index: usize, position: usize, out: &mut [u8]) -> Result<()> {
        let bytes = self.stored(index)?;
        let Some(part) = bytes.get(position..position.saturating_add(out.len())) else {
            bail!(Truncated, "chunk {index}: {} bytes at {position} are more than its {}", out.len(), bytes.len());
        };
        out.copy_from_slice(part);
        Ok(())
    }

    fn read(&self, index: usize, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        out.extend_from_slice(self.stored(index)?);
        Ok(())
    }

    fn bytes(&self, index: usize) -> Option<&[u8]> {
        match self.chunks.get(index)? {
            Staged::Memory(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn is_in_memory(&self) -> bool {
        true
    }

    fn stage(&mut self, chunk: Cow<'_, [u8]>) -> Result<Staged> {
        Ok(Staged::Memory(Arc::new(chunk.into_owned())))
    }

    fn splice(&mut self, range: Range<usize>, chunks: &[Staged]) -> Result<Vec<Staged>> {
        if let Some(Staged::At { entry, .. }) = chunks.iter().find(|chunk| matches!(chunk, Staged::At { .. })) {
            bail!(InvalidArgument, "a chunk that is stored at {entry} is not in memory");
        }
        let taken: Vec<Staged> = self.chunks.splice(range, chunks.iter().cloned()).collect();
        self.cbytes += chunks.iter().map(cbytes_of).sum::<u64>();
        self.cbytes -= taken.iter().map(cbytes_of).sum::<u64>();
        Ok(taken)
    }

    fn commit(&mut self, _state: &State) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_that_is_stored_elsewhere_is_refused() {
        let mut store = MemoryStore::default();
        let chunk = store.stage(Cow::Borrowed(b"chunk")).unwrap();
        assert!(store.splice(0..0, &[chunk]).unwrap().is_empty());
        assert!(store.splice(0..1, &[Staged::At { entry: 5, hash: 7 }]).is_err());
        assert_eq!((store.nchunks(), store.bytes(0), store.cbytes()), (1, Some(&b"chunk"[..]), 5));
    }
}
