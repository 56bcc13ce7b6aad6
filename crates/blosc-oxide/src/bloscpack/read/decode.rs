//! From records, which are a chunk and the checksum right after it, to data.

use crate::bloscpack::batch;
use crate::bloscpack::format::checksum::Checksum;
use crate::bloscpack::format::layout::ChunkRecord;
use crate::chunk::{Chunk, Decompressor};
use crate::error::{Result, bail};
use crate::exec::Threads;
use crate::limits::Limits;
use crate::storage::{ReadAt, read_exact};
use std::ops::Range;
use std::sync::Mutex;

/// What all records of a file have in common.
#[derive(Debug, Clone)]
pub(in crate::bloscpack) struct Decoding {
    pub(in crate::bloscpack) checksum: Checksum,
    pub(in crate::bloscpack) limits: Limits,
    pub(in crate::bloscpack) threads: Threads,
}

/// What is wanted of a chunk, and memory for it that is used again.
#[derive(Debug)]
pub(in crate::bloscpack) struct Job {
    pub(in crate::bloscpack) place: ChunkRecord,
    part: Option<Range<usize>>,
    /// The record, if it came from a stream.
    record: Vec<u8>,
    data: Vec<u8>,
    is_done: bool,
}

impl Job {
    /// All data of a chunk.
    pub(in crate::bloscpack) fn new(place: ChunkRecord) -> Self {
        Self { place, part: None, record: Vec::new(), data: Vec::new(), is_done: false }
    }

    /// All data of a chunk that came from a stream.
    pub(in crate::bloscpack) fn with_record(place: ChunkRecord, record: Vec<u8>) -> Self {
        Self { record, ..Self::new(place) }
    }

    /// A range of the data of a chunk.
    pub(in crate::bloscpack) fn part(mut self, range: Range<usize>) -> Self {
        self.part = (range.len() < self.place.header.nbytes()).then_some(range);
        self
    }
}

/// The jobs that are under way together.
#[derive(Debug, Default)]
pub(in crate::bloscpack) struct Jobs {
    jobs: Vec<Job>,
    used: usize,
}

impl Jobs {
    /// Forgets the jobs and keeps the memory of the first, and of as many others as a batch has
    /// memory for: each place may have had a large chunk at some time.
    pub(in crate::bloscpack) fn clear(&mut self) {
        self.used = 0;
        let mut kept = 0_usize;
        for job in self.jobs.iter_mut().skip(1) {
            kept = kept.saturating_add(job.data.capacity()).saturating_add(job.record.capacity());
            if kept > batch::MAX_BYTES {
                (job.data, job.record) = (Vec::new(), Vec::new());
            }
        }
    }

    /// Memory for the record of the next job.
    pub(in crate::bloscpack) fn spare_record(&mut self) -> Vec<u8> {
        let mut record = self.jobs.get_mut(self.used).map(|job| std::mem::take(&mut job.record)).unwrap_or_default();
        record.clear();
        record
    }

    /// Adds a job, with the memory for data of one of the last round.
    pub(in crate::bloscpack) fn push(&mut self, mut job: Job) {
        match self.jobs.get_mut(self.used) {
            Some(before) => {
                job.data = std::mem::take(&mut before.data);
                *before = job;
            }
            None => self.jobs.push(job),
        }
        self.used += 1;
    }

    /// Does all of them, reading records from `source` or, without one, taking those that the jobs
    /// came with. Then hands over the data of those before the first that failed.
    pub(in crate::bloscpack) fn run(
        &mut self,
        source: Option<&dyn ReadAt>,
        workers: &[Mutex<Worker>],
        how: &Decoding,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let jobs = &mut self.jobs[..self.used];
        let bytes = jobs.iter().map(|job| job.place.header.nbytes()).sum();
        // Threads work on a chunk each; a single chunk's blocks are shared between them.
        let inner = if jobs.len() == 1 { how.threads.clone() } else { Threads::serial() };
        let inner = Decoding { threads: inner, ..how.clone() };
        let result = batch::run(&how.threads, workers, jobs, bytes, |worker, job| worker.run(source, job, &inner));
        for job in jobs.iter().take_while(|job| job.is_done) {
            take(&job.data)?;
        }
        result
    }
}

/// Reads and decodes records, and keeps the memory for that.
#[derive(Debug, Default)]
pub(in crate::bloscpack) struct Worker {
    record: Vec<u8>,
    decompressor: Decompressor,
}

impl Worker {
    /// As many as `threads` has threads.
    pub(in crate::bloscpack) fn team(threads: &Threads) -> Vec<Mutex<Self>> {
        (0..threads.workers(usize::MAX, usize::MAX)).map(|_| Mutex::default()).collect()
    }

    fn run(&mut self, source: Option<&dyn ReadAt>, job: &mut Job, how: &Decoding) -> Result<()> {
        let place = job.place;
        match source {
            None => self.decode(job, how),
            Some(source) => self.read(source, &place, how).and_then(|()| {
                std::mem::swap(&mut self.record, &mut job.record);
                let result = self.decode(job, how);
                std::mem::swap(&mut self.record, &mut job.record);
                result
            }),
        }
        .map_err(|error| error.within(format_args!("chunk {}", place.index)))
    }

    fn read(&mut self, source: &dyn ReadAt, place: &ChunkRecord, how: &Decoding) -> Result<()> {
        let len = usize::try_from(place.end.saturating_sub(place.at)).unwrap_or(usize::MAX);
        how.limits.check("a chunk", len)?;
        self.record.resize(len, 0);
        read_exact(source, place.at, &mut self.record, "its bytes")
    }

    fn decode(&mut self, job: &mut Job, how: &Decoding) -> Result<()> {
        let chunk = Chunk::parse(verified(&job.record, &job.place, how.checksum)?)?;
        // Whoever read the header before looked at the same bytes, unless the file was changed in
        // between.
        if chunk.header() != &job.place.header {
            bail!(Corrupt, "its header has changed while it was read");
        }
        let wanted = job.part.as_ref().map_or(chunk.header().nbytes(), Range::len);
        how.limits.check("the data of a chunk", wanted)?;
        job.data.resize(wanted, 0);
        let decompressor = std::mem::take(&mut self.decompressor);
        self.decompressor = decompressor.with_threads(how.threads.clone()).with_limits(how.limits);
        match &job.part {
            Some(part) => self.decompressor.bytes_into(&chunk, part.start, &mut job.data)?,
            None => drop(self.decompressor.chunk_into(&chunk, &mut job.data)?),
        }
        job.is_done = true;
        Ok(())
    }
}

/// The record at `place`, verified: the chunk that is in it.
pub(in crate::bloscpack) fn read_chunk(source: &dyn ReadAt, place: &ChunkRecord, how: &Decoding) -> Result<Vec<u8>> {
    let mut worker = Worker::default();
    let read = worker.read(source, place, how).and_then(|()| {
        let len = verified(&worker.record, place, how.checksum)?.len();
        worker.record.truncate(len);
        Ok(())
    });
    read.map_err(|error| error.within(format_args!("chunk {}", place.index)))?;
    Ok(worker.record)
}

/// The chunk of a record whose checksum is right.
fn verified<'a>(record: &'a [u8], place: &ChunkRecord, checksum: Checksum) -> Result<&'a [u8]> {
    let Some((chunk, digest)) = record.split_at_checked(place.header.cbytes()) else {
        bail!(Truncated, "cbytes is {}, {} bytes are there", place.header.cbytes(), record.len());
    };
    checksum.check(chunk, digest)?;
    Ok(chunk)
}
