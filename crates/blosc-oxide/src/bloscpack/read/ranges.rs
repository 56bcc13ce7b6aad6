//! The data of a file that is read: chunks, ranges of bytes, or all of it.

use super::decode::{Decoding, Job, Jobs, Worker, read_chunk};
use super::reader::{Bloscpack, ReadOptions};
use crate::bloscpack::batch::Batch;
use crate::bloscpack::format::layout::{ChunkRecord, Walk};
use crate::bloscpack::format::offsets::Offsets;
use crate::error::{Result, bail, error};
use crate::exec::lock;
use crate::storage::ReadAt;
use std::io::Write;
use std::iter::{self, Peekable};
use std::ops::Range;
use std::sync::Mutex;

/// What [`Bloscpack::verify`] has found.
///
/// ```
/// use blosc_oxide::bloscpack::{Bloscpack, BloscpackOptions, pack};
/// use blosc_oxide::Options;
/// let mut file = Vec::new();
/// pack(&[7; 3000][..], &mut file, &BloscpackOptions::new(Options::new(1)).with_chunk_size(1000))?;
/// let verified = Bloscpack::from_storage(&file[..])?.verify()?;
/// assert_eq!((verified.nchunks, verified.nbytes, verified.trailing), (3, 3000, 0));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
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

impl<S: ReadAt> Bloscpack<S> {
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
    /// As [`compressed_chunk`](Self::compressed_chunk); `Corrupt` or `Unsupported` if it cannot be
    /// decoded.
    pub fn chunk(&self, index: u64) -> Result<Vec<u8>> {
        let mut data = Vec::new();
        self.each_job(iter::once(self.place(index)), |place| Ok(Job::new(place)), &mut |chunk| {
            data.extend_from_slice(chunk);
            Ok(())
        })?;
        Ok(data)
    }

    /// The data of this range of bytes; chunks without any of it are not read.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk); `InvalidArgument` if the range is not inside the data,
    /// `LimitExceeded` if it is longer than the limits allow.
    pub fn read_range(&self, range: Range<u64>) -> Result<Vec<u8>> {
        self.check_range(&range)?;
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        self.options.limits.check("a range of bytes", len)?;
        let mut data = vec![0; len];
        self.fill(range, &mut data)?;
        Ok(data)
    }

    /// Fills `out` with the data from byte `start` on.
    ///
    /// # Errors
    /// As [`read_range`](Self::read_range).
    pub fn read_into(&self, start: u64, out: &mut [u8]) -> Result<()> {
        let range = start..start.saturating_add(out.len() as u64);
        self.check_range(&range)?;
        self.fill(range, out)
    }

    /// Fills `out` with the data of `range`, which is inside the data and as long as `out`.
    fn fill(&self, range: Range<u64>, out: &mut [u8]) -> Result<()> {
        let mut rest = out;
        self.each_part(range, |part| {
            let split = std::mem::take(&mut rest).split_at_mut_checked(part.len());
            let (now, later) = split.ok_or_else(|| error!(Corrupt, "the chunks hold more data than the file says"))?;
            now.copy_from_slice(part);
            rest = later;
            Ok(())
        })?;
        if !rest.is_empty() {
            bail!(Corrupt, "the chunks hold {} bytes less than the file says", rest.len());
        }
        Ok(())
    }

    /// Writes all of the data to `out` and returns how much it was. Holds a few chunks at a time.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk), and whatever `out` reports. All that comes before the damage has
    /// been written then.
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
    /// What the first damaged chunk reports. Offsets that are wrong are no error: nothing depends
    /// on them.
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

    fn check_range(&self, range: &Range<u64>) -> Result<()> {
        let nbytes = self.nbytes()?;
        if range.start > range.end || range.end > nbytes {
            bail!(InvalidArgument, "bytes {}..{} are asked for, the file has {nbytes}", range.start, range.end);
        }
        Ok(())
    }

    /// Calls `take` with the data of every chunk, in order. Chunks before a damaged one come
    /// through.
    fn each_chunk(&self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let limits = self.options.limits;
        let within = |(index, place): (u64, _)| limits.check_chunks(index + 1).and(place);
        let places = (0_u64..).zip(Walk::new(&self.layout, &self.source)).map(within);
        self.each_job(places, |place| Ok(Job::new(place)), &mut take)
    }

    /// Calls `take` with the parts of `range`, which is inside the data, in order.
    fn each_part(&self, range: Range<u64>, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let chunks = self.chunk_of(range.start)?..self.chunk_of(range.end - 1)? + 1;
        let part = |place: ChunkRecord| {
            let start = self.chunk_start(place.index)?;
            let end = start + place.header.nbytes() as u64;
            let inside = |at: u64| usize::try_from(at.clamp(start, end) - start).unwrap_or(usize::MAX);
            Ok(Job::new(place).part(inside(range.start)..inside(range.end)))
        };
        self.each_job(chunks.map(|index| self.place(index)), part, &mut take)
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

    /// Decodes what `make` asks for of the chunk at each of `places`, some at a time. The first
    /// error is the last place.
    fn each_job(
        &self,
        places: impl Iterator<Item = Result<ChunkRecord>>,
        make: impl Fn(ChunkRecord) -> Result<Job>,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let how = self.decoding();
        let workers = self.workers();
        let mut jobs = Jobs::default();
        let mut places = places.peekable();
        let mut result = Ok(());
        while places.peek().is_some() && result.is_ok() {
            let found = self.gather(&mut places, &make, &mut jobs);
            result = jobs.run(Some(&self.source), &workers, &how, take).and(found);
        }
        self.put_back(workers);
        result
    }

    /// Takes as many of `places` as are worked on at a time; after an error, those before it.
    fn gather(
        &self,
        places: &mut Peekable<impl Iterator<Item = Result<ChunkRecord>>>,
        make: impl Fn(ChunkRecord) -> Result<Job>,
        jobs: &mut Jobs,
    ) -> Result<()> {
        jobs.clear();
        let mut batch = Batch::new(&self.options.threads);
        while let Some(place) = places.next_if(|place| place.as_ref().map_or(true, |place| batch.takes(place.memory())))
        {
            jobs.push(make(place?)?);
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
