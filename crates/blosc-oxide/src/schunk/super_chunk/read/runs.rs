//! Runs of chunks that are stored as one.

use crate::chunk::{Header, Special};
use crate::error::Result;
use crate::schunk::SuperChunk;
use crate::schunk::store::Slot;
use std::ops::Range;

impl SuperChunk {
    /// All chunks, in runs for which the same is stored: nothing, or one chunk for all, so that a
    /// hundred million special chunks need not be visited one by one.
    ///
    /// ```
    /// use blosc_oxide::{Options, Special, SuperChunk};
    /// let mut sc = SuperChunk::new(Options::new(1))?;
    /// sc.append(&[1; 1000])?;
    /// sc.fill(Special::Zeros, 5000, 1000)?;
    /// let specials = sc.chunk_runs().filter(|run| run.special == Some(Special::Zeros));
    /// assert_eq!(specials.map(|run| run.chunks.len()).sum::<usize>(), 5);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    pub fn chunk_runs(&self) -> impl Iterator<Item = ChunkRun> + '_ {
        let mut index = 0;
        std::iter::from_fn(move || {
            let run = (index < self.nchunks()).then(|| self.chunk_run(index))?;
            index = run.chunks.end;
            Some(run)
        })
    }

    fn chunk_run(&self, index: usize) -> ChunkRun {
        match self.store().run(index).map_err(self.at(index)) {
            Ok((Slot::Special(special), end)) => {
                ChunkRun { chunks: index..end, special: Some(special), header: Ok(None) }
            }
            Ok((Slot::Stored, end)) => {
                let header = self.stored_header(index);
                let special = header.as_ref().ok().and_then(Header::special);
                ChunkRun { chunks: index..end, special, header: header.map(Some) }
            }
            Err(error) => ChunkRun { chunks: index..index + 1, special: None, header: Err(error) },
        }
    }
}

/// Chunks in a row of which the same is stored.
///
/// ```
/// use blosc_oxide::{Frame, Options, Special, storage::MemoryStorage};
/// let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
/// edit.append(&[7; 100])?;
/// edit.fill(Special::Zeros, 500, 100)?;
/// let frame = edit.commit()?;
/// let runs: Vec<_> = frame.chunk_runs().map(|run| (run.chunks, run.special)).collect();
/// assert_eq!(runs, [(0..1, None), (1..6, Some(Special::Zeros))]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ChunkRun {
    /// Which chunks these are.
    pub chunks: Range<usize>,
    /// The special value that they have.
    pub special: Option<Special>,
    /// The header of what is stored, if anything is; or why it cannot be read, which is `Corrupt`,
    /// `Truncated` or `Io`.
    pub header: Result<Option<Header>>,
}
