//! Data of any length in and out: some chunks at a time, several at once.

use super::{Reader, SuperChunk};
use crate::chunk::{Compressor, fill_special};
use crate::error::{Result, bail};
use crate::exec::{Threads, lock, ordered};
use crate::limits::{Limits, MAX_NBYTES};
use crate::schunk::state::ChunkSize;
use crate::schunk::store::Slot;
use std::io::{Read, Write};
use std::ops::Range;
use std::sync::Mutex;

/// How much data may be under way when chunks are worked on at the same time; else the blocks of
/// one chunk are.
const MAX_UNDER_WAY: u64 = 256 << 20;
/// How many chunks are under way for each worker.
const CHUNKS_A_WORKER: usize = 2;
/// How much of a special chunk is made at a time.
const SPECIAL_PIECE: u64 = 4 << 20;

impl SuperChunk {
    /// Appends all that comes out of `data` in chunks of `chunk_nbytes`, and returns how much that
    /// was. Only a few chunks are in memory at a time, however long the data is.
    ///
    /// A last chunk that is shorter than the others is filled up first, so that all keep one size.
    ///
    /// ```
    /// use blosc_oxide::{Options, SuperChunk};
    /// let mut sc = SuperChunk::new(Options::new(4))?;
    /// assert_eq!(sc.extend_from(&[1; 1000][..], 400)?, 1000);
    /// assert_eq!(sc.extend_from(&[2; 100][..], 400)?, 100);
    /// assert_eq!((sc.nchunks(), sc.chunksize(), sc.nbytes()), (3, Some(400), 1100));
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`append`](Self::append), and whatever `data` reports. Nothing has been appended then.
    pub fn extend_from(&mut self, mut data: impl Read + Send, chunk_nbytes: usize) -> Result<u64> {
        if !(1..=MAX_NBYTES).contains(&chunk_nbytes) {
            bail!(InvalidArgument, "chunks of {chunk_nbytes} bytes are asked for, they can have 1 to {MAX_NBYTES}");
        }
        self.edit(|sc| {
            let before = sc.nbytes();
            sc.fill_last(&mut data)?;
            let workers = workers(&sc.options.threads, sc.limits, usize::MAX, chunk_nbytes);
            if workers == 1 {
                sc.append_one_by_one(data, chunk_nbytes)?;
            } else {
                sc.append_several_at_once(data, chunk_nbytes, workers)?;
            }
            Ok(sc.nbytes() - before)
        })
    }

    fn fill_last(&mut self, data: &mut impl Read) -> Result<()> {
        let (ChunkSize::Fixed(size), Some(last)) = (self.state.chunksize, self.nchunks().checked_sub(1)) else {
            return Ok(());
        };
        let there = self.chunk_nbytes(last)?;
        if there >= size || self.state.vlblocks {
            return Ok(());
        }
        let (_, mut buffer) = self.sound_chunk(last)?;
        let came = data.take((size - there) as u64).read_to_end(&mut buffer)?;
        if came > 0 { self.replace_data(last, &buffer) } else { Ok(()) }
    }

    fn append_one_by_one(&mut self, mut data: impl Read, chunk_nbytes: usize) -> Result<()> {
        let mut buffer = Vec::new();
        while fill(&mut data, chunk_nbytes, &mut buffer)? {
            self.append_buffer(&buffer)?;
        }
        Ok(())
    }

    fn append_several_at_once(
        &mut self,
        mut data: impl Read + Send,
        chunk_nbytes: usize,
        workers: usize,
    ) -> Result<()> {
        let threads = self.options.threads.clone();
        let options = self.options.clone().with_threads(Threads::serial());
        let compressors: Vec<Mutex<Compressor>> =
            (0..workers).map(|_| Compressor::new(options.clone()).map(Mutex::new)).collect::<Result<_>>()?;
        let spare = Spare::default();
        let next = || {
            let mut plain = spare.take();
            Ok(fill(&mut data, chunk_nbytes, &mut plain)?.then_some(plain))
        };
        let work = |worker: usize, plain: Vec<u8>| {
            let mut chunk = spare.take();
            let compressor = &mut *lock(&compressors[worker]);
            chunk.resize(compressor.max_compressed_len(plain.len()), 0);
            let len = compressor.compress_into(&plain, &mut chunk)?;
            spare.give(plain);
            Ok((chunk, len))
        };
        ordered(&threads, workers, next, work, |(chunk, len): (Vec<u8>, usize)| {
            self.put_chunk(self.nchunks(), &chunk[..len])?;
            spare.give(chunk);
            Ok(())
        })
    }

    /// Writes the data of this range of bytes to `out`. Only a few chunks are in memory at a time,
    /// however long it is.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes), and whatever `out` reports. What came before that has been
    /// written.
    pub fn write_to(&self, range: Range<u64>, mut out: impl Write + Send) -> Result<()> {
        self.check_range("bytes", &range, self.nbytes())?;
        if range.is_empty() {
            return Ok(out.flush()?);
        }
        let chunks = self.chunk_at(range.start)?..self.chunk_at(range.end - 1)? + 1;
        let largest = self.chunksize().map_or_else(|| self.largest_chunk(chunks.clone()), Ok)?;
        let workers = workers(&self.options.threads, self.limits, chunks.len(), largest);
        // Workers share chunks or blocks, never both: one that waits for a block might be given
        // another chunk to do.
        let inner = if workers > 1 { Threads::serial() } else { self.options.threads.clone() };
        let readers: Vec<Mutex<Reader>> = (0..workers).map(|_| Mutex::new(self.new_reader(&inner))).collect();
        let spare = Spare::default();
        let mut parts = WantedParts { sc: self, chunks, wanted: range };
        let work = |worker: usize, part: WantedPart| {
            let WantedPart { index, from, len } = part;
            self.limits.check("the data of a chunk", len)?;
            let mut part = spare.take();
            part.resize(len, 0);
            self.part_with(index, from, &mut part, &mut lock(&readers[worker]))?;
            Ok(part)
        };
        ordered(
            &self.options.threads,
            workers,
            || parts.next(),
            work,
            |part: Vec<u8>| {
                out.write_all(&part)?;
                spare.give(part);
                Ok(())
            },
        )?;
        Ok(out.flush()?)
    }

    fn part_with(&self, index: usize, from: usize, out: &mut [u8], reader: &mut Reader) -> Result<()> {
        match self.slot(index)? {
            Slot::Special(special) => {
                fill_special(special, self.typesize(), from, out);
                Ok(())
            }
            Slot::Stored => self.stored_part(index, from, out, reader).map_err(self.at(index)),
        }
    }

    fn largest_chunk(&self, chunks: Range<usize>) -> Result<usize> {
        chunks.map(|index| self.chunk_nbytes(index)).try_fold(0, |largest, nbytes| Ok(nbytes?.max(largest)))
    }
}

/// A part of a chunk that is wanted.
struct WantedPart {
    index: usize,
    from: usize,
    len: usize,
}

/// What is wanted of each chunk. Special ones come in pieces: they may be of any length, and
/// nothing of them is stored.
struct WantedParts<'s> {
    sc: &'s SuperChunk,
    chunks: Range<usize>,
    wanted: Range<u64>,
}

impl WantedParts<'_> {
    fn next(&mut self) -> Result<Option<WantedPart>> {
        let Range { start: index, end } = self.chunks;
        if index == end {
            return Ok(None);
        }
        let chunk = self.sc.chunk_range(index)?;
        let most = match self.sc.slot(index)? {
            Slot::Special(_) => SPECIAL_PIECE,
            Slot::Stored => u64::MAX,
        };
        let start = self.wanted.start.max(chunk.start);
        let stop = self.wanted.end.min(chunk.end).min(start.saturating_add(most));
        self.wanted.start = stop;
        if stop >= chunk.end || stop >= self.wanted.end {
            self.chunks.start += 1;
        }
        let inside = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        Ok(Some(WantedPart { index, from: inside(start - chunk.start), len: inside(stop - start) }))
    }
}

/// How many chunks are worked on at the same time.
fn workers(threads: &Threads, limits: Limits, chunks: usize, chunk_nbytes: usize) -> usize {
    let room = room_for(limits, chunk_nbytes) / CHUNKS_A_WORKER;
    if room < 2 { 1 } else { threads.workers(chunks, usize::MAX).min(room) }
}

/// How many chunks may be under way: not so many that their data is more than a limit together.
pub(crate) fn room_for(limits: Limits, chunk_nbytes: usize) -> usize {
    let most = usize::try_from(limits.at_most(MAX_UNDER_WAY)).unwrap_or(usize::MAX);
    most / chunk_nbytes.max(1)
}

/// Reads up to `len` bytes into `buffer`; whether there were any.
fn fill(data: &mut impl Read, len: usize, buffer: &mut Vec<u8>) -> Result<bool> {
    buffer.resize(len, 0);
    let mut filled = 0;
    while filled < len {
        match data.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    buffer.truncate(filled);
    Ok(filled > 0)
}

/// Buffers that are used again: getting new ones from the system costs as much as a fast codec.
#[derive(Default)]
struct Spare(Mutex<Vec<Vec<u8>>>);

impl Spare {
    fn take(&self) -> Vec<u8> {
        lock(&self.0).pop().unwrap_or_default()
    }

    fn give(&self, buffer: Vec<u8>) {
        lock(&self.0).push(buffer);
    }
}
