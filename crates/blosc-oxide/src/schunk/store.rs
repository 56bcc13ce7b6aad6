//! Where the chunks of a super-chunk are.

use super::state::State;
use crate::chunk::Special;
use crate::error::{Result, bail};
use crate::storage::ReadAt;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

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

/// What a program that knows nothing of hashes has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// The metalayers of fixed size.
    pub(crate) metalayers: bool,
    /// Anything else: chunks, or variable-length metalayers.
    pub(crate) rest: bool,
}

/// Facts about a sequence of chunks besides the chunks.
pub(crate) struct Facts<'a> {
    /// The header of the container as it was committed last; empty if there is none.
    pub(crate) header: &'a [u8],
    /// The storage that all chunks are read from, if it is a single one, and where the frame starts
    /// in it.
    pub(crate) source: Option<(&'a dyn ReadAt, u64)>,
    /// What another program has changed since the hashes were written.
    pub(crate) foreign: Foreign,
    /// Whether hashes of the chunks are kept.
    pub(crate) has_hashes: bool,
    /// The least bytes that a chunk must have.
    pub(crate) min_chunk: usize,
    /// How many bytes there are for chunks, unused ones included; 0 where none can be unused.
    pub(crate) chunk_space: u64,
    /// The chunks, if they are in memory: then it does not matter when they are stored.
    pub(crate) memory: Option<&'a MemoryStore>,
}

/// A sequence of chunks to read.
pub(crate) trait ReadChunks: Send + Sync {
    fn nchunks(&self) -> usize;

    /// The bytes that the chunks take.
    fn cbytes(&self) -> u64;

    /// What is stored for the chunk `index`, which must be less than `nchunks`.
    fn slot(&self, index: usize) -> Result<Slot>;

    /// The same, and where the row of chunks ends that it is in and of which the same is stored:
    /// nothing, or one chunk for all of them.
    fn run(&self, index: usize) -> Result<(Slot, usize)> {
        Ok((self.slot(index)?, index + 1))
    }

    /// Puts the first bytes of a stored chunk into `out`, `len` of them or as many as there are,
    /// perhaps with bytes of the next one, and returns how many.
    fn read_head(&self, index: usize, len: usize, out: &mut Vec<u8>) -> Result<usize>;

    /// Fills `out` with the bytes of a stored chunk from `position` on.
    fn read_part(&self, index: usize, position: usize, out: &mut [u8]) -> Result<()>;

    /// All bytes of a stored chunk; borrowed where they are in memory.
    fn read(&self, index: usize) -> Result<Cow<'_, [u8]>>;

    /// Where the chunk `index` is stored: its position in the storage, or the number of its file.
    fn position(&self, _index: usize) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Reads the hashes of the chunks, where some are kept and have not been read. `Conflict` if
    /// they are gone, because others have published something else since.
    fn fetch_hashes(&self) -> Result<()> {
        Ok(())
    }

    /// The XXH3 hash of a stored chunk, where one is kept and has been fetched.
    fn hash(&self, _index: usize) -> Option<u64> {
        None
    }

    /// Whether this is still what is published.
    fn is_current(&self) -> Result<bool> {
        Ok(true)
    }

    fn facts(&self) -> Facts<'_>;
}

/// A sequence of chunks to change. Nothing of it is published.
pub(crate) trait StageChunks: ReadChunks {
    /// Stores a chunk without making it one of the sequence.
    fn stage(&mut self, chunk: Cow<'_, [u8]>) -> Result<Staged>;

    /// Puts chunks in place of those at `range`, and returns the ones that were there. Those can be
    /// put back; they take space until they are [unstaged](Self::unstage). If it fails, nothing has
    /// changed.
    fn splice(&mut self, range: Range<usize>, chunks: &[Staged]) -> Result<Vec<Staged>>;

    /// Puts chunks of a special value, for which nothing is stored, in front of the one at `index`,
    /// or at the end. If it fails, nothing has changed.
    fn insert_specials(&mut self, index: usize, special: Special, count: usize) -> Result<()> {
        self.splice(index..index, &vec![Staged::Special(special); count]).map(|_| ())
    }

    /// Gives up a chunk that is not one of the sequence, and its space as far as nobody else may be
    /// reading it.
    fn unstage(&mut self, _staged: Staged) -> Result<()> {
        Ok(())
    }
}

/// A sequence of chunks whose changes are published together.
pub(crate) trait PublishChunks: StageChunks {
    /// Acquires the right to change the sequence, which is exclusive until
    /// [`release`](Self::release); returns the new state, if others have published one since.
    /// `Locked` if another handle has the right, `Conflict` if others have published something and
    /// there are changes here, `Poisoned` if a write has failed.
    fn begin(&mut self, _has_changes: bool) -> Result<Option<State>> {
        Ok(None)
    }

    /// Releases the right to change the sequence.
    fn release(&mut self) {}

    /// Publishes all changes.
    fn commit(&mut self, _state: &State) -> Result<()> {
        Ok(())
    }

    /// Reclaims unused space. All changes have been published.
    fn compact(&mut self, _state: &State) -> Result<()> {
        Ok(())
    }

    /// Removes what has been stored and not published, as far as possible: it will not be
    /// published.
    fn abandon(&mut self) {}

    /// A snapshot of what has been published; `with_hashes` if it must have all hashes.
    fn snapshot(&self, with_hashes: bool) -> Result<Arc<dyn ReadChunks>>;
}

/// Compares the bytes of a stored chunk with its hash, where one is kept and has been fetched.
pub(crate) fn compare(store: &dyn ReadChunks, index: usize, bytes: &[u8]) -> Result<()> {
    let Some(expected) = store.hash(index) else { return Ok(()) };
    let found = hash_of_chunk(bytes);
    if found != expected {
        bail!(ChecksumMismatch, "its hash is {found:016x}, not {expected:016x}");
    }
    Ok(())
}

/// The hash of a chunk; never 0, which stands for one that is not known.
pub(crate) fn hash_of_chunk(bytes: &[u8]) -> u64 {
    xxh3_64(bytes).max(1)
}

/// Chunks in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryStore {
    chunks: Vec<Staged>,
    cbytes: u64,
}

/// What a chunk takes in memory.
fn cbytes_of(chunk: &Staged) -> u64 {
    if let Staged::Memory(bytes) = chunk { bytes.len() as u64 } else { 0 }
}

impl MemoryStore {
    /// The bytes of a stored chunk.
    pub(crate) fn stored(&self, index: usize) -> Result<&[u8]> {
        match &self.chunks[index] {
            Staged::Memory(bytes) => Ok(bytes),
            other => bail!(InvalidArgument, "chunk {index} is not stored, it is {other:?}"),
        }
    }
}

impl ReadChunks for MemoryStore {
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

    fn read(&self, index: usize) -> Result<Cow<'_, [u8]>> {
        self.stored(index).map(Cow::Borrowed)
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            header: &[],
            source: None,
            foreign: Foreign::default(),
            has_hashes: false,
            min_chunk: 0,
            chunk_space: 0,
            memory: Some(self),
        }
    }
}

impl StageChunks for MemoryStore {
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
}

impl PublishChunks for MemoryStore {
    fn snapshot(&self, _with_hashes: bool) -> Result<Arc<dyn ReadChunks>> {
        Ok(Arc::new(self.clone()))
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
        assert_eq!((store.nchunks(), store.read(0).unwrap(), store.cbytes()), (1, Cow::Borrowed(&b"chunk"[..]), 5));
    }
}
