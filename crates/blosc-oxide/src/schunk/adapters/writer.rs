//! Appending to a super-chunk as to a stream.

use crate::error::{Result, bail};
use crate::limits::MAX_NBYTES;
use crate::schunk::SuperChunk;
use std::io::{self, Write};

/// Appends what is written to a super-chunk, or to the edit of a frame, in chunks of one size.
///
/// What makes no whole chunk waits for more until [`finish`](Self::finish) appends it; `flush` does
/// not cut a chunk short. Bytes that still wait when the writer is dropped are not appended.
/// Nothing is committed: that is done by the edit.
///
/// ```
/// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
/// use std::io::Write;
///
/// let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
/// let mut writer = edit.writer(1 << 10)?;
/// for line in 0..1000 {
///     writeln!(writer, "line {line}")?;
/// }
/// writer.finish()?;
/// let frame = edit.commit()?;
/// assert_eq!((frame.chunksize(), frame.nchunks()), (Some(1 << 10), 9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DataWriter<'a> {
    target: &'a mut SuperChunk,
    chunk_nbytes: usize,
    /// Less than a chunk.
    waiting: Vec<u8>,
}

impl DataWriter<'_> {
    /// Appends what waits.
    ///
    /// # Errors
    /// As [`SuperChunk::extend_from`]. What was written before the last whole chunk has been
    /// appended all the same.
    pub fn finish(mut self) -> Result<()> {
        self.append_waiting()
    }

    fn append_waiting(&mut self) -> Result<()> {
        if !self.waiting.is_empty() {
            self.target.extend_from(self.waiting.as_slice(), self.chunk_nbytes)?;
            self.waiting.clear();
        }
        Ok(())
    }
}

impl Write for DataWriter<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let len = data.len().min(self.chunk_nbytes - self.waiting.len());
        self.waiting.extend_from_slice(&data[..len]);
        if self.waiting.len() == self.chunk_nbytes
            && let Err(error) = self.append_waiting()
        {
            // Nothing of it was appended: these bytes were not written.
            self.waiting.truncate(self.chunk_nbytes - len);
            return Err(error.into());
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SuperChunk {
    /// Appends as to a stream, in chunks of `chunk_nbytes`. A last chunk that is shorter than the
    /// others is filled up first.
    ///
    /// # Errors
    /// `InvalidArgument` if there can be no chunk of that size.
    pub fn writer(&mut self, chunk_nbytes: usize) -> Result<DataWriter<'_>> {
        if !(1..=MAX_NBYTES).contains(&chunk_nbytes) {
            bail!(InvalidArgument, "chunks of {chunk_nbytes} bytes are asked for, they can have 1 to {MAX_NBYTES}");
        }
        Ok(DataWriter { target: self, chunk_nbytes, waiting: Vec::new() })
    }
}
