//! A file that is read: what it is, all of its data, or any part of it.

use super::decode::Worker;
use super::index::Index;
use crate::bloscpack::format::header::FileHeader;
use crate::bloscpack::format::journal::Recovered;
use crate::bloscpack::format::layout::{ChunkRecord, Layout};
use crate::bloscpack::format::metadata::Metadata;
use crate::bloscpack::format::offsets::{ENTRY_LEN, Offsets};
use crate::chunk::Header;
use crate::error::{AtPath, Result, bail, error};
use crate::exec::Threads;
use crate::limits::Limits;
use crate::storage::{FileStorage, ReadAt};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

/// How a file is read.
///
/// ```
/// use blosc_oxide::bloscpack::{Bloscpack, BloscpackOptions, ReadOptions, pack};
/// use blosc_oxide::{Limits, Options, Threads};
/// let mut file = Vec::new();
/// pack(&b"data"[..], &mut file, &BloscpackOptions::new(Options::new(1)))?;
/// let options = ReadOptions::new().with_threads(Threads::serial()).with_limits(Limits::new().with_max_allocation(1 << 20));
/// assert_eq!(Bloscpack::with_options(&file[..], options)?.read_range(0..4)?, b"data");
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    pub(in crate::bloscpack) limits: Limits,
    pub(in crate::bloscpack) threads: Threads,
}

impl ReadOptions {
    /// As many threads as there are, and the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what a declared size may make it allocate.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets where chunks are worked on.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Limits for what a declared size may allocate.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The threads that chunks are worked on by.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }
}

/// A Bloscpack file, open for reading. Reads only what is asked for.
///
/// ```
/// use blosc_oxide::bloscpack::{self, Bloscpack, BloscpackOptions};
/// use blosc_oxide::{Options, storage::MemoryStorage};
///
/// let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
/// let packed = bloscpack::pack_slice(&data, &BloscpackOptions::new(Options::new(4)).with_chunk_size(50_000))?;
/// let file = Bloscpack::from_storage(MemoryStorage::new(packed))?;
/// assert_eq!((file.nchunks()?, file.nbytes()?), (8, 400_000));
/// assert_eq!(file.read_range(200_000..200_004)?, 50_000_u32.to_le_bytes());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct Bloscpack<S = FileStorage> {
    pub(in crate::bloscpack) source: Recovered<S>,
    pub(in crate::bloscpack) layout: Layout,
    pub(in crate::bloscpack) options: ReadOptions,
    offsets: OnceLock<Offsets>,
    index: OnceLock<Index>,
    /// Workers that are not at work, with the memory they keep.
    pub(in crate::bloscpack) idle: Mutex<Option<Vec<Mutex<Worker>>>>,
}

impl Bloscpack<FileStorage> {
    /// Opens a file.
    ///
    /// # Errors
    /// As [`from_storage`](Self::from_storage).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_storage(FileStorage::open(path).at_path(path)?).at_path(path)
    }
}

impl<S: ReadAt> Bloscpack<S> {
    /// Reads what stands before the chunks.
    ///
    /// # Errors
    /// `Corrupt`, `Truncated` or `Unsupported` if that is damaged, cut off or of a version of the
    /// future, `ChecksumMismatch` if the metadata is damaged; `Io` if it cannot be read.
    pub fn from_storage(storage: S) -> Result<Self> {
        Self::with_options(storage, ReadOptions::new())
    }

    /// As [`from_storage`](Self::from_storage), with limits and threads of one's own.
    ///
    /// # Errors
    /// As [`from_storage`](Self::from_storage); `LimitExceeded` if the metadata is larger than the
    /// limits allow.
    pub fn with_options(storage: S, options: ReadOptions) -> Result<Self> {
        let source = Recovered::new(storage, options.limits)?;
        let layout = Layout::read(&source, options.limits)?;
        Ok(Self { source, layout, options, offsets: OnceLock::new(), index: OnceLock::new(), idle: Mutex::default() })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &FileHeader {
        &self.layout.header
    }

    /// The metadata, if there is any.
    #[must_use]
    pub fn metadata(&self) -> Option<&Metadata> {
        self.layout.metadata.as_ref()
    }

    /// What the table of offsets is worth.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn offsets(&self) -> Result<Offsets> {
        if let Some(&offsets) = self.offsets.get() {
            return Ok(offsets);
        }
        let offsets = match (self.layout.table, self.layout.header.nchunks()) {
            (None, _) => Offsets::Absent,
            (Some(table), Some(nchunks)) => {
                let min_len = 16 + self.layout.header.checksum().len() as u64;
                table.assess(&self.source, nchunks, self.layout.chunks_at, min_len)?
            }
            (Some(_), None) => Offsets::Unset,
        };
        Ok(*self.offsets.get_or_init(|| offsets))
    }

    /// The offsets as they are stored, one for each chunk; none if there is no table.
    ///
    /// # Errors
    /// If they cannot be read, or the number of chunks is not known and cannot be found.
    pub fn stored_offsets(&self) -> Result<Vec<i64>> {
        match self.layout.table {
            Some(table) => {
                let nchunks = self.nchunks()?;
                self.check_list(nchunks)?;
                table.stored(&self.source, nchunks)
            }
            None => Ok(Vec::new()),
        }
    }

    /// Whether the number of chunks, and so the length of the data, is written down. In a file that
    /// was written to a pipe it is not: one that was cut between two chunks looks whole.
    #[must_use]
    pub fn is_length_known(&self) -> bool {
        self.layout.header.nchunks().is_some()
    }

    /// Whether an append or a change of metadata was interrupted after it had become valid. It
    /// reads as if it had come to its end; [`recover`](crate::bloscpack::recover) brings it there.
    #[must_use]
    pub fn has_journal(&self) -> bool {
        self.source.has_journal()
    }

    /// How many chunks there are. If the file does not say, they are counted.
    ///
    /// # Errors
    /// If counting comes upon damage.
    pub fn nchunks(&self) -> Result<u64> {
        match self.layout.header.nchunks() {
            Some(nchunks) => Ok(nchunks),
            None => self.whole_index().map(Index::nchunks),
        }
    }

    /// How many bytes of data there are. If the file does not say, the chunks are asked.
    ///
    /// # Errors
    /// If that comes upon damage.
    pub fn nbytes(&self) -> Result<u64> {
        let (Some(nchunks), Some(chunk)) = (self.layout.header.nchunks(), self.layout.header.chunk_size()) else {
            return self.whole_index().map(Index::nbytes);
        };
        let Some(full) = nchunks.checked_sub(1) else { return Ok(0) };
        let last = match self.layout.header.last_chunk() {
            Some(last) => last,
            None => self.place(full)?.header.nbytes(),
        };
        let nbytes = full.checked_mul(chunk as u64).and_then(|nbytes| nbytes.checked_add(last as u64));
        nbytes.ok_or_else(|| error!(Corrupt, "header: {nchunks} chunks of {chunk} bytes are more than 2^64"))
    }

    /// Where a chunk stands in the file.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such chunk; if its header is damaged or cut off.
    pub fn chunk_position(&self, index: u64) -> Result<u64> {
        Ok(self.place(index)?.at)
    }

    /// The header of a chunk.
    ///
    /// # Errors
    /// As [`chunk_position`](Self::chunk_position).
    pub fn chunk_header(&self, index: u64) -> Result<Header> {
        Ok(self.place(index)?.header)
    }

    /// Where the last chunk ends.
    pub(in crate::bloscpack) fn end(&self) -> Result<u64> {
        match self.nchunks()?.checked_sub(1) {
            Some(last) => Ok(self.place(last)?.end),
            None => Ok(self.layout.chunks_at),
        }
    }

    /// Where the first `count` chunks are, if there is a table of offsets that does not say so.
    pub(in crate::bloscpack) fn positions_to_fill_in(&self, count: u64) -> Result<Vec<u64>> {
        match self.offsets()? {
            Offsets::Absent | Offsets::Sane => Ok(Vec::new()),
            Offsets::Unset | Offsets::Wrong => {
                self.check_list(count)?;
                (0..count).map(|index| self.chunk_position(index)).collect()
            }
        }
    }

    fn check_list(&self, nchunks: u64) -> Result<()> {
        let bytes = usize::try_from(nchunks.saturating_mul(ENTRY_LEN)).unwrap_or(usize::MAX);
        self.options.limits.check("the list of all offsets", bytes)
    }

    /// Where a chunk is: by its offset if that can be right, else by going there. Where chunks may
    /// be of any size, only going there tells which bytes of the data a chunk holds, and an offset
    /// that skips one would contradict that.
    pub(in crate::bloscpack) fn place(&self, index: u64) -> Result<ChunkRecord> {
        if let Some(nchunks) = self.layout.header.nchunks()
            && index >= nchunks
        {
            bail!(InvalidArgument, "chunk {index} is asked for, the file has {nchunks}");
        }
        if self.layout.header.chunk_size().is_some()
            && self.offsets()? == Offsets::Sane
            && let Some(place) = self.place_by_offset(index)?
        {
            return Ok(place);
        }
        let walked = self.index();
        match walked.position(index) {
            Some(at) => self.layout.chunk_at(&self.source, index, at),
            None => {
                walked.check()?;
                bail!(InvalidArgument, "chunk {index} is asked for, the file has {}", walked.nchunks());
            }
        }
    }

    /// `None` if there is no good chunk where the offset says, or it does not end where the next
    /// one starts.
    fn place_by_offset(&self, index: u64) -> Result<Option<ChunkRecord>> {
        let (Some(table), Some(nchunks)) = (self.layout.table, self.layout.header.nchunks()) else { return Ok(None) };
        let Ok(at) = u64::try_from(table.entry(&self.source, index)?) else { return Ok(None) };
        let Ok(place) = self.layout.chunk_at(&self.source, index, at) else { return Ok(None) };
        if index + 1 == nchunks {
            return Ok(Some(place));
        }
        let next = u64::try_from(table.entry(&self.source, index + 1)?);
        Ok((next == Ok(place.end)).then_some(place))
    }

    pub(in crate::bloscpack) fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::build(&self.layout, &self.source, self.options.limits))
    }

    pub(in crate::bloscpack) fn whole_index(&self) -> Result<&Index> {
        let index = self.index();
        index.check()?;
        Ok(index)
    }
}
