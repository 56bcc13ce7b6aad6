//! Where the chunks of a super-chunk are.

use super::state::State;
use crate::chunk::Special;
use crate::error::{Error, Result, bail};
use crate::storage::ReadAt;

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

/// A chunk that is stored, but not one of the sequence yet.
#[derive(Debug)]
pub(crate) enum Staged {
    /// Nothing is stored: all items are known.
    Special(Special),
    /// In memory.
    Memory(Vec<u8>),
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

    /// Puts a chunk in front of the one at `index`, or at the end.
    fn insert(&mut self, index: usize, chunk: NewChunk<'_>) -> Result<()>;

    /// Puts a chunk in place of another.
    fn replace(&mut self, index: usize, chunk: NewChunk<'_>) -> Result<()>;

    /// Takes a chunk away.
    fn remove(&mut self, index: usize) -> Result<()>;

    /// Whether chunks stay in memory, so that it does not matter when they are stored.
    fn is_in_memory(&self) -> bool {
        false
    }

    /// Stores a chunk without making it one of the sequence.
    fn stage(&mut self, chunk: Vec<u8>) -> Result<Staged>;

    /// Gives up a chunk that has been staged.
    fn unstage(&mut self, _staged: Staged) {}

    /// Puts a staged chunk in place of another.
    fn put(&mut self, index: usize, staged: Staged) -> Result<()>;

    /// Makes `sources` what comes after the first `kept` chunks. They have been checked: no old chunk comes twice, nor one
    /// of those, and old ones that do not come are taken away.
    fn arrange(&mut self, kept: usize, sources: Vec<Source>) -> Result<()>;

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

    /// Gives back the room of what no longer counts. All changes have been published.
    fn compact(&mut self, _state: &State) -> Result<()> {
        Ok(())
    }

    /// Reads the hashes of the chunks, where some are kept and have not been read. `Locked` if they are gone, because
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

    /// What the chunks are read from, if it is one storage, and where in it they begin to count.
    fn source(&self) -> Option<(&dyn ReadAt, u64)> {
        None
    }
}

/// Chunks in memory.
#[derive(Debug, Default)]
pub(crate) struct MemoryStore {
    chunks: Vec<Kept>,
    cbytes: u64,
}

#[derive(Debug, Clone)]
enum Kept {
    Special(Special),
    Bytes(Vec<u8>),
}

impl Kept {
    fn new(chunk: NewChunk<'_>) -> Self {
        match chunk {
            NewChunk::Special(special) => Self::Special(special),
            NewChunk::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }

    fn cbytes(&self) -> u64 {
        match self {
            Self::Special(_) => 0,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }
}

impl TryFrom<Staged> for Kept {
    type Error = Error;

    fn try_from(staged: Staged) -> Result<Self> {
        match staged {
            Staged::Special(special) => Ok(Self::Special(special)),
            Staged::Memory(bytes) => Ok(Self::Bytes(bytes)),
            Staged::At { entry, .. } => bail!(InvalidArgument, "a chunk that is stored at {entry} is not in memory"),
        }
    }
}

impl MemoryStore {
    fn stored(&self, index: usize) -> Result<&[u8]> {
        match &self.chunks[index] {
            Kept::Bytes(bytes) => Ok(bytes),
            Kept::Special(special) => bail!(InvalidArgument, "chunk {index} is not stored, it is {special:?}"),
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
            Kept::Special(special) => Slot::Special(special),
            Kept::Bytes(_) => Slot::Stored,
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

    fn insert(&mut self, index: usize, chunk: NewChunk<'_>) -> Result<()> {
        let kept = Kept::new(chunk);
        self.cbytes += kept.cbytes();
        self.chunks.insert(index, kept);
        Ok(())
    }

    fn replace(&mut self, index: usize, chunk: NewChunk<'_>) -> Result<()> {
        let kept = Kept::new(chunk);
        self.cbytes += kept.cbytes();
        self.cbytes -= std::mem::replace(&mut self.chunks[index], kept).cbytes();
        Ok(())
    }

    fn remove(&mut self, index: usize) -> Result<()> {
        self.cbytes -= self.chunks.remove(index).cbytes();
        Ok(())
    }

    fn bytes(&self, index: usize) -> Option<&[u8]> {
        match self.chunks.get(index)? {
            Kept::Bytes(bytes) => Some(bytes),
            Kept::Special(_) => None,
        }
    }

    fn is_in_memory(&self) -> bool {
        true
    }

    fn stage(&mut self, chunk: Vec<u8>) -> Result<Staged> {
        Ok(Staged::Memory(chunk))
    }

    fn put(&mut self, index: usize, staged: Staged) -> Result<()> {
        let kept = Kept::try_from(staged)?;
        self.cbytes += kept.cbytes();
        self.cbytes -= std::mem::replace(&mut self.chunks[index], kept).cbytes();
        Ok(())
    }

    fn arrange(&mut self, kept: usize, sources: Vec<Source>) -> Result<()> {
        let is_elsewhere = |source: &Source| matches!(source, Source::New(Staged::At { .. }));
        if sources.iter().any(is_elsewhere) {
            bail!(InvalidArgument, "a chunk that is stored elsewhere is not in memory");
        }
        let mut old: Vec<Option<Kept>> = self.chunks.drain(kept..).map(Some).collect();
        self.cbytes -= old.iter().flatten().map(Kept::cbytes).sum::<u64>();
        self.chunks.extend(sources.into_iter().filter_map(|source| match source {
            Source::Old(index) => old[index - kept].take(),
            Source::New(staged) => Kept::try_from(staged).ok(),
        }));
        self.cbytes += self.chunks[kept..].iter().map(Kept::cbytes).sum::<u64>();
        Ok(())
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
        let elsewhere = || Staged::At { entry: 5, hash: 7 };
        let mut store = MemoryStore::default();
        store.insert(0, NewChunk::Bytes(b"chunk")).unwrap();
        assert!(store.put(0, elsewhere()).is_err());
        assert!(store.arrange(0, vec![Source::New(elsewhere()), Source::Old(0)]).is_err());
        assert_eq!((store.nchunks(), store.bytes(0)), (1, Some(&b"chunk"[..])));
    }
}
