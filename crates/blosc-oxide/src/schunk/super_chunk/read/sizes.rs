//! The size of each chunk, and where it starts in the data.

use crate::error::{Error, ErrorKind, Result, bail, error};
use crate::schunk::SuperChunk;
use crate::schunk::starts::Starts;
use crate::schunk::state::ChunkSize;
use crate::schunk::store::Slot;
use std::ops::Range;
use std::sync::Arc;

impl SuperChunk {
    /// The size of the data of the chunk `index`.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_nbytes(&self, index: usize) -> Result<usize> {
        self.check_index(index)?;
        let size = match self.state.chunksize {
            ChunkSize::Fixed(_) => None,
            _ => self.starts()?.size(index),
        };
        let size = match (size, self.state.chunksize) {
            (Some(size), _) => size,
            (None, ChunkSize::Fixed(_)) => self.chunk_range(index).map(|range| range.end - range.start)?,
            (None, _) => self.own_nbytes(index)?,
        };
        usize::try_from(size).map_err(|_| error!(Corrupt, "chunk {index}: too long"))
    }

    /// The size of the data of a chunk by its own header, or why that is not known.
    fn own_nbytes(&self, index: usize) -> Result<u64> {
        match self.slot(index)? {
            Slot::Stored => Ok(self.stored_header(index)?.nbytes() as u64),
            Slot::Special(_) => bail!(Corrupt, "chunk {index}: it is special, and how long is not stored"),
        }
    }

    /// The range of bytes of the data that the chunk `index` holds.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    pub fn chunk_range(&self, index: usize) -> Result<Range<u64>> {
        self.check_index(index)?;
        match self.state.chunksize {
            ChunkSize::Fixed(size) => {
                let start = index as u64 * size as u64;
                Ok(start..self.state.nbytes.min(start + size as u64))
            }
            _ => self.starts()?.range(index).map_err(self.at(index)),
        }
    }

    /// The chunk that holds the byte `position`, which must be one of the data's.
    pub(in crate::schunk) fn chunk_at(&self, position: u64) -> Result<usize> {
        let index = match self.state.chunksize {
            ChunkSize::Fixed(size) => position / size as u64,
            _ => self.starts()?.chunk_at(position)? as u64,
        };
        usize::try_from(index).map_err(|_| error!(Corrupt, "byte {position} is in no chunk"))
    }

    /// The bytes of the block that holds the byte `position`; of the chunk, where it has no blocks
    /// of one size.
    pub(in crate::schunk) fn block_around(&self, position: u64) -> Result<Range<u64>> {
        let index = self.chunk_at(position)?;
        let chunk = self.chunk_range(index)?;
        let blocksize = self.chunk_header(index)?.map_or(0, |header| header.blocksize() as u64);
        if blocksize == 0 {
            return Ok(chunk);
        }
        let start = chunk.start + (position - chunk.start) / blocksize * blocksize;
        Ok(start..chunk.end.min(start + blocksize))
    }

    /// Whether the sizes of chunks make up the size of the data, where each chunk has its own.
    pub(crate) fn check_sizes(&self) -> Result<()> {
        match self.state.chunksize {
            ChunkSize::Fixed(_) => Ok(()),
            _ => self.starts()?.check(),
        }
    }

    /// Where each chunk of a super-chunk with chunks of different sizes starts.
    fn starts(&self) -> Result<&Starts> {
        let known = match self.starts.get() {
            Some(known) => known,
            None => match self.find_starts() {
                // What was not read this time may be the next.
                Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Conflict) => return Err(error),
                found => self.starts.get_or_init(|| found.map(Arc::new)),
            },
        };
        known.as_deref().map_err(|error| Error::new(error.kind(), error.to_string()))
    }

    fn find_starts(&self) -> Result<Starts> {
        self.limits.check_list::<u64>("the list of chunks", self.nchunks() as u64)?;
        let mut starts = Starts::with_capacity(self.nchunks(), self.state.nbytes);
        for run in self.chunk_runs() {
            let size = match run.header {
                Ok(header) => header.map(|header| header.nbytes() as u64),
                Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Conflict) => return Err(error),
                Err(_) => None,
            };
            // The reference leaves out how long a special chunk is here; one of them can be told
            // from the sum.
            starts.push(size, run.chunks.len());
        }
        Ok(starts)
    }
}
