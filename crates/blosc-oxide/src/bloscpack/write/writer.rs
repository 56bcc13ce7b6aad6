//! A file that is written, front to back.

use super::packer::Packer;
use super::target::{Counts, File, Stream, Target};
use crate::bloscpack::format::header::{FileHeader, Sizes};
use crate::bloscpack::options::BloscpackOptions;
use crate::error::{Result, bail};
use crate::storage::Storage;
use std::io::{self, Read, Write};

/// A huge chunk size does not ask for more than this before there is data to fill it.
const FIRST_RESERVATION: usize = 32 << 20;

/// Writes a file from data that comes piece by piece. Holds a few chunks at a time, and compresses
/// them in parallel.
///
/// Nothing is complete before [`finish`](Self::finish): a storage that was left before has offsets
/// of -1 or less chunks than its header says, a stream ends inside a chunk or without its last
/// ones.
///
/// ```
/// use blosc_oxide::Options;
/// use blosc_oxide::bloscpack::{self, BloscpackOptions, BloscpackWriter, ReadOptions};
/// use std::io::Write;
///
/// let mut packed = Vec::new();
/// let mut writer = BloscpackWriter::to_stream(&mut packed, &BloscpackOptions::new(Options::new(4)))?;
/// for i in 0..100_000_u32 {
///     writer.write_all(&i.to_le_bytes())?;
/// }
/// assert_eq!(writer.finish()?.nbytes, 400_000);
///
/// let mut data = Vec::new();
/// bloscpack::unpack(&packed[..], &mut data, &ReadOptions::new())?;
/// assert_eq!(data.len(), 400_000);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub struct BloscpackWriter<'a> {
    packer: Packer,
    /// Data that does not fill a batch yet.
    pending: Vec<u8>,
    target: Box<dyn Target + 'a>,
    counts: Counts,
    has_failed: bool,
}

/// What has been written.
///
/// ```
/// use blosc_oxide::bloscpack::{BloscpackOptions, BloscpackWriter};
/// use blosc_oxide::Options;
/// let mut file = Vec::new();
/// let mut writer = BloscpackWriter::to_stream(&mut file, &BloscpackOptions::new(Options::new(1)).with_nbytes(4))?;
/// writer.push(b"data")?;
/// let summary = writer.finish()?;
/// assert_eq!((summary.nbytes, summary.len), (4, file.len() as u64));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The header as it stands in the file.
    pub header: FileHeader,
    /// How many bytes of data went in.
    pub nbytes: u64,
    /// How many chunks came out.
    pub nchunks: u64,
    /// How long the file is.
    pub len: u64,
}

impl std::fmt::Debug for BloscpackWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BloscpackWriter")
            .field("packer", &self.packer)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl<'a> BloscpackWriter<'a> {
    /// Starts a file in a stream, which gets each byte once: there are no offsets, and the header
    /// leaves open how many chunks come, unless [`BloscpackOptions::nbytes`] says it.
    ///
    /// # Errors
    /// `InvalidArgument` or `Unsupported` if the options cannot be; whatever `out` reports.
    pub fn to_stream(out: impl Write + 'a, options: &BloscpackOptions) -> Result<Self> {
        let plan = options.plan(true)?;
        let packer = packer(options)?;
        Ok(Self::new(packer, Box::new(Stream::start(out, plan)?)))
    }

    /// Starts a file in a storage, in place of what it holds. Header and offsets are filled in at
    /// the end.
    ///
    /// # Errors
    /// `InvalidArgument` or `Unsupported` if the options cannot be; whatever `storage` reports.
    pub fn to_storage(storage: &'a mut dyn Storage, options: &BloscpackOptions) -> Result<Self> {
        let plan = options.plan(false)?;
        let packer = packer(options)?;
        Ok(Self::new(packer, Box::new(File::start(storage, plan)?)))
    }

    pub(in crate::bloscpack) fn new(packer: Packer, target: Box<dyn Target + 'a>) -> Self {
        let sizes = Sizes { chunk: Some(packer.chunk_size()), last: None };
        let counts = Counts { nbytes: 0, nchunks: 0, sizes };
        Self { packer, pending: Vec::new(), target, counts, has_failed: false }
    }

    /// Adds data. The same as writing it, but with errors of this library.
    ///
    /// # Errors
    /// Whatever the stream or storage reports; `Poisoned` after an earlier error.
    pub fn push(&mut self, mut data: &[u8]) -> Result<()> {
        let batch = self.packer.batch_len();
        while !data.is_empty() {
            if self.pending.is_empty() && data.len() >= batch {
                let (now, later) = data.split_at(batch);
                self.guarded(|writer| writer.pack(now))?;
                data = later;
            } else {
                let (now, later) = data.split_at(data.len().min(batch - self.pending.len()));
                self.pending.extend_from_slice(now);
                data = later;
                self.pack_if_full()?;
            }
        }
        Ok(())
    }

    /// Adds all that comes out of `data`, and returns how much that was.
    ///
    /// # Errors
    /// As [`push`](Self::push), and whatever `data` reports.
    pub fn push_all(&mut self, mut data: impl Read) -> Result<u64> {
        let batch = self.packer.batch_len();
        let mut total = 0;
        loop {
            let room = batch - self.pending.len();
            self.pending.reserve_exact(room.min(FIRST_RESERVATION));
            let came = data.by_ref().take(room as u64).read_to_end(&mut self.pending)?;
            total += came as u64;
            self.pack_if_full()?;
            if came < room {
                return Ok(total);
            }
        }
    }

    /// Writes what is left, and makes the file complete.
    ///
    /// # Errors
    /// As [`push`](Self::push); `InvalidArgument` if a stream was announced another length than it
    /// got.
    pub fn finish(mut self) -> Result<Summary> {
        if !self.pending.is_empty() || self.counts.nchunks == 0 {
            self.pack_pending()?;
        }
        let counts = self.counts;
        let (header, len) = self.guarded(|writer| writer.target.finish(counts))?;
        Ok(Summary { header, nbytes: counts.nbytes, nchunks: counts.nchunks, len })
    }

    fn pack_if_full(&mut self) -> Result<()> {
        if self.pending.len() < self.packer.batch_len() {
            return Ok(());
        }
        self.pack_pending()
    }

    fn pack_pending(&mut self) -> Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        let result = self.guarded(|writer| writer.pack(&pending));
        pending.clear();
        self.pending = pending;
        result
    }

    /// Compresses and writes data of which only the last chunk may be short.
    fn pack(&mut self, data: &[u8]) -> Result<()> {
        let records = self.packer.pack(data)?;
        for record in records {
            self.target.put(record)?;
        }
        let chunks = records.len() as u64;
        self.counts.nbytes += data.len() as u64;
        self.counts.nchunks += chunks;
        let before_last = records.len().saturating_sub(1) * self.packer.chunk_size();
        self.counts.sizes.last = Some(data.len() - before_last);
        Ok(())
    }

    /// After an error no one knows what has been written.
    fn guarded<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.has_failed {
            bail!(Poisoned, "an earlier write has failed, the file cannot be completed");
        }
        let result = action(self);
        self.has_failed = result.is_err();
        result
    }
}

/// Data is complete only after [`finish`](BloscpackWriter::finish); flushing does nothing.
impl Write for BloscpackWriter<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.push(data).map_err(io::Error::other)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn packer(options: &BloscpackOptions) -> Result<Packer> {
    let chunk_size = options.whole_chunk_size();
    Packer::new(options.chunk(), options.chunk().threads(), chunk_size, options.chunk_checksum())
}
