//! A file that is read: what it is, all of its data, or any part of it.

use super::batch;
use super::decode::{Decoding, Job, Jobs, Worker, read_chunk};
use super::header::FileHeader;
use super::index::Index;
use super::journal::Recovered;
use super::layout::{Layout, Place};
use super::metadata::Metadata;
use super::offsets::Offsets;
use crate::chunk::Header;
use crate::error::{Result, bail, error};
use crate::exec::{Threads, lock};
use crate::limits::Limits;
use crate::storage::{FileStorage, ReadAt};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    pub(super) limits: Limits,
    pub(super) threads: Threads,
}

impl ReadOptions {
    /// All threads of rayon's current pool, and the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what a declared size may make it allocate.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets where chunks are worked on.
    #[must_use]
    pub fn threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }
}

/// A Bloscpack file, open for reading. Reads only what is asked for.
///
/// ```
/// use blosc_oxide::bloscpack::{self, Bloscpack, BloscpackOptions};
/// use blosc_oxide::{MemoryStorage, Options};
///
/// let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
/// let packed = bloscpack::pack_slice(&data, &BloscpackOptions::new(Options::new(4)).chunk_size(50_000))?;
/// let file = Bloscpack::from_storage(MemoryStorage::new(packed))?;
/// assert_eq!((file.nchunks()?, file.nbytes()?), (8, 400_000));
/// assert_eq!(file.read_range(200_000..200_004)?, 50_000_u32.to_le_bytes());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct Bloscpack<S = FileStorage> {
    source: Recovered<S>,
    layout: Layout,
    options: ReadOptions,
    offsets: OnceLock<Offsets>,
    index: OnceLock<Index>,
    /// Workers that are not at work, with the memory they keep.
    idle: Mutex<Option<Vec<Mutex<Worker>>>>,
}

/// What [`Bloscpack::verify`] has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// How many chunks there are.
    pub nchunks: u64,
    /// How many bytes they hold.
    pub nbytes: u64,
    /// What the offsets are worth.
    pub offsets: Offsets,
    /// How many bytes stand after the last chunk and belong to nothing.
    pub trailing: u64,
}

impl Bloscpack<FileStorage> {
    /// Opens a file.
    ///
    /// # Errors
    /// As [`from_storage`](Self::from_storage).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file =
            FileStorage::open(path).map_err(|cause| error!(Io, "{}: {cause}", path.display()).with_source(cause))?;
        Self::from_storage(file)
    }
}

impl<S: ReadAt> Bloscpack<S> {
    /// Reads what stands before the chunks.
    ///
    /// # Errors
    /// `Corrupt`, `Truncated` or `Unsupported` if that is damaged, cut off or of a version of the future,
    /// `ChecksumMismatch` if the metadata is damaged; `Io` if it cannot be read.
    pub fn from_storage(storage: S) -> Result<Self> {
        Self::with_options(storage, ReadOptions::new())
    }

    /// As [`from_storage`](Self::from_storage), with limits and threads of one's own.
    ///
    /// # Errors
    /// As [`from_storage`](Self::from_storage); `LimitExceeded` if the metadata is larger than the limits allow.
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
            Some(table) => table.stored(&self.source, self.nchunks()?),
            None => Ok(Vec::new()),
        }
    }

    /// Whether the number of chunks, and so the length of the data, is written down. In a file that was written to a
    /// pipe it is not: one that was cut between two chunks looks whole.
    #[must_use]
    pub fn is_length_known(&self) -> bool {
        self.layout.header.nchunks().is_some()
    }

    /// Whether an append or a change of metadata was interrupted after it had become valid. It reads as if it had come
    /// to its end; [`recover`](super::recover) brings it there.
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

    /// A chunk as it is stored, its checksum verified.
    ///
    /// # Errors
    /// As [`chunk_position`](Self::chunk_position); `ChecksumMismatch` if the chunk is damaged.
    pub fn compressed_chunk(&self, index: u64) -> Result<Vec<u8>> {
        read_chunk(&self.source, &self.place(index)?, &self.decoding())
    }

    /// The data of a chunk.
    ///
    /// # Errors
    /// As [`compressed_chunk`](Self::compressed_chunk); `Corrupt` or `Unsupported` if it cannot be decoded.
    pub fn chunk(&self, index: u64) -> Result<Vec<u8>> {
        let mut data = Vec::new();
        let place = self.place(index)?;
        self.each_job(index..index + 1, |_| Ok(Job::new(place)), &mut |chunk| {
            data.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(data)
    }

    /// The data of this range of bytes; chunks without any of it are not read.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk); `InvalidArgument` if the range is not inside the data, `LimitExceeded` if it is
    /// longer than the limits allow.
    pub fn read_range(&self, range: Range<u64>) -> Result<Vec<u8>> {
        self.check_range(&range)?;
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        self.options.limits.check("a range of bytes", len)?;
        let mut data = Vec::with_capacity(len);
        self.each_part(range, |part| {
            data.extend_from_slice(part);
            Ok(())
        })?;
        Ok(data)
    }

    /// Fills `out` with the data from byte `start` on.
    ///
    /// # Errors
    /// As [`read_range`](Self::read_range).
    pub fn read_into(&self, start: u64, out: &mut [u8]) -> Result<()> {
        let range = start..start.saturating_add(out.len() as u64);
        self.check_range(&range)?;
        let mut rest = out;
        self.each_part(range, |part| {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(part.len());
            now.copy_from_slice(part);
            rest = later;
            Ok(())
        })
    }

    /// Writes all of the data to `out` and returns how much it was. Holds a few chunks at a time.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk), and whatever `out` reports. All that comes before the damage has been written then.
    pub fn copy_to(&self, mut out: impl Write) -> Result<u64> {
        let mut nbytes = 0;
        self.each_chunk(|data| {
            nbytes += data.len() as u64;
            Ok(out.write_all(data)?)
        })?;
        out.flush()?;
        Ok(nbytes)
    }

    /// Decodes everything and verifies every checksum.
    ///
    /// # Errors
    /// What the first damaged chunk reports. Offsets that are wrong are no error: nothing depends on them.
    pub fn verify(&self) -> Result<Verified> {
        let mut nbytes = 0;
        self.each_chunk(|data| {
            nbytes += data.len() as u64;
            Ok(())
        })?;
        let nchunks = self.nchunks()?;
        let trailing = self.layout.len.saturating_sub(self.end()?);
        Ok(Verified { nchunks, nbytes, offsets: self.offsets()?, trailing })
    }

    /// Where the last chunk ends.
    pub(super) fn end(&self) -> Result<u64> {
        match self.nchunks()?.checked_sub(1) {
            Some(last) => Ok(self.place(last)?.end),
            None => Ok(self.layout.chunks_at),
        }
    }

    /// Where the first `count` chunks are, if there is a table of offsets that does not say so.
    pub(super) fn positions_to_fill_in(&self, count: u64) -> Result<Vec<u64>> {
        match self.offsets()? {
            Offsets::Absent | Offsets::Sane => Ok(Vec::new()),
            Offsets::Unset | Offsets::Wrong => (0..count).map(|index| self.chunk_position(index)).collect(),
        }
    }

    fn check_range(&self, range: &Range<u64>) -> Result<()> {
        let nbytes = self.nbytes()?;
        if range.start > range.end || range.end > nbytes {
            bail!(InvalidArgument, "bytes {}..{} are asked for, the file has {nbytes}", range.start, range.end);
        }
        Ok(())
    }

    /// Where a chunk is: by its offset if that can be right, else by going there.
    pub(super) fn place(&self, index: u64) -> Result<Place> {
        if let Some(nchunks) = self.layout.header.nchunks()
            && index >= nchunks
        {
            bail!(InvalidArgument, "chunk {index} is asked for, the file has {nchunks}");
        }
        if self.offsets()? == Offsets::Sane
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

    /// `None` if there is no good chunk where the offset says, or it does not end where the next one starts.
    fn place_by_offset(&self, index: u64) -> Result<Option<Place>> {
        let (Some(table), Some(nchunks)) = (self.layout.table, self.layout.header.nchunks()) else { return Ok(None) };
        let Ok(at) = u64::try_from(table.entry(&self.source, index)?) else { return Ok(None) };
        let Ok(place) = self.layout.chunk_at(&self.source, index, at) else { return Ok(None) };
        if index + 1 == nchunks {
            return Ok(Some(place));
        }
        let next = u64::try_from(table.entry(&self.source, index + 1)?);
        Ok((next == Ok(place.end)).then_some(place))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::build(&self.layout, &self.source))
    }

    fn whole_index(&self) -> Result<&Index> {
        let index = self.index();
        index.check()?;
        Ok(index)
    }

    /// Calls `take` with the data of every chunk, in order. Chunks before a damaged one come through.
    fn each_chunk(&self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let count = match self.layout.header.nchunks() {
            Some(nchunks) => nchunks,
            None => self.index().nchunks(),
        };
        self.each_job(0..count, |place| Ok(Job::new(place)), &mut take)?;
        if self.is_length_known() { Ok(()) } else { self.index().check() }
    }

    /// Calls `take` with the parts of `range`, which is inside the data, in order.
    fn each_part(&self, range: Range<u64>, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let chunks = self.chunk_of(range.start)?..self.chunk_of(range.end - 1)? + 1;
        let part = |place: Place| {
            let start = self.chunk_start(place.index)?;
            let end = start + place.header.nbytes() as u64;
            let inside = |at: u64| usize::try_from(at.clamp(start, end) - start).unwrap_or(usize::MAX);
            Ok(Job::new(place).part(inside(range.start)..inside(range.end)))
        };
        self.each_job(chunks, part, &mut take)
    }

    /// The chunk that holds byte `at` of the data.
    fn chunk_of(&self, at: u64) -> Result<u64> {
        match (self.layout.header.nchunks(), self.layout.header.chunk_size()) {
            (Some(_), Some(size)) => Ok(at / (size.max(1) as u64)),
            _ => Ok(self.whole_index()?.chunk_of(at)),
        }
    }

    /// The first byte of the data that is in a chunk.
    fn chunk_start(&self, index: u64) -> Result<u64> {
        match (self.layout.header.nchunks(), self.layout.header.chunk_size()) {
            (Some(_), Some(size)) => Ok(index * size as u64),
            _ => Ok(self.whole_index()?.range(index).map_or(0, |range| range.start)),
        }
    }

    /// Decodes what `make` asks for of each of `chunks`, some at a time.
    fn each_job(
        &self,
        chunks: Range<u64>,
        make: impl Fn(Place) -> Result<Job>,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let how = self.decoding();
        let workers = self.workers();
        let mut jobs = Jobs::default();
        let mut next = chunks.start;
        let mut result = Ok(());
        while next < chunks.end && result.is_ok() {
            let found = self.gather(&mut next, chunks.end, &make, &mut jobs);
            result = jobs.run(Some(&self.source), &workers, &how, take).and(found);
        }
        self.put_back(workers);
        result
    }

    /// Finds as many chunks from `next` on as are worked on at a time; after an error, those before it.
    fn gather(&self, next: &mut u64, end: u64, make: impl Fn(Place) -> Result<Job>, jobs: &mut Jobs) -> Result<()> {
        jobs.clear();
        let mut at_once = 1;
        while *next < end && jobs.len() < at_once {
            let place = self.place(*next)?;
            jobs.push(make(place)?);
            if jobs.len() == 1 {
                at_once = batch::chunks_at_once(&self.options.threads, place.header.nbytes());
            }
            *next += 1;
        }
        Ok(())
    }

    fn decoding(&self) -> Decoding {
        let ReadOptions { limits, threads } = self.options.clone();
        Decoding { checksum: self.layout.header.checksum(), limits, threads }
    }

    /// A team with the memory that it had the last time, unless another call is using it.
    fn workers(&self) -> Vec<Mutex<Worker>> {
        lock(&self.idle).take().unwrap_or_else(|| Worker::team(&self.options.threads))
    }

    fn put_back(&self, workers: Vec<Mutex<Worker>>) {
        *lock(&self.idle) = Some(workers);
    }
}
