//! Chunks that are assembled and compressed in parallel, and stored in order.

use crate::array::edit::ArrayEdit;
use crate::array::geometry::Geometry;
use crate::array::reader::ArrayReader;
use crate::chunk::{Chunk, Compressor, Options, room};
use crate::error::{Result, error};
use crate::exec::{Threads, lock, tick};
use crate::schunk::{Staged, room_for};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many chunks are compressed for each worker before they are stored.
const CHUNKS_A_WORKER: usize = 8;

/// The state for making chunks.
pub(in crate::array) struct Encoder {
    compressor: Compressor,
    /// Whether the compressor works on one thread.
    is_serial: bool,
    data: Vec<u8>,
    chunk: Vec<u8>,
    scratch: Vec<u8>,
}

/// Fills the data of a chunk, given its number among those that are made, with the help of some
/// memory.
pub(in crate::array) type Fill<'a> =
    dyn Fn(&ArrayReader, usize, &mut [u8], &mut Vec<u8>) -> Result<Filled<'a>> + Sync + 'a;

/// Which data of a chunk has been filled.
pub(in crate::array) enum Filled<'a> {
    /// All of it.
    Whole,
    /// Nothing, because all of it is in memory already.
    Ready(&'a [u8]),
    /// The blocks that are true; the others are as they are in the chunk `old`.
    Blocks { old: usize, changed: Vec<bool> },
}

impl Encoder {
    fn new(options: Options, is_serial: bool) -> Result<Self> {
        let options = if is_serial { options.with_threads(Threads::serial()) } else { options };
        let compressor = Compressor::new(options)?;
        Ok(Self { compressor, is_serial, data: Vec::new(), chunk: Vec::new(), scratch: Vec::new() })
    }

    fn encode(&mut self, array: &ArrayReader, nbytes: usize, number: usize, fill: &Fill<'_>) -> Result<Vec<u8>> {
        let data = room(&mut self.data, nbytes);
        let filled = fill(array, number, data, &mut self.scratch)?;
        if let Filled::Blocks { old, changed } = &filled
            && let Some(chunk) = self.encode_blocks(array, nbytes, *old, changed)?
        {
            return Ok(chunk);
        }
        let out = room(&mut self.chunk, self.compressor.max_compressed_len(nbytes));
        let data = if let Filled::Ready(data) = filled { data } else { &self.data[..nbytes] };
        let len = self.compressor.compress_into(data, out)?;
        Ok(self.take_chunk(len))
    }

    /// The first `len` bytes of the memory for chunks: that memory itself, if most of it is used,
    /// because to copy them to new memory is slower than to take new memory for the next chunk.
    fn take_chunk(&mut self, len: usize) -> Vec<u8> {
        if len < self.chunk.len() / 2 {
            return self.chunk[..len].to_vec();
        }
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.truncate(len);
        chunk.shrink_to_fit();
        chunk
    }

    /// Compresses some blocks, and takes the others as they are stored; `None` if that cannot be
    /// done, and they are there as well then.
    fn encode_blocks(
        &mut self,
        array: &ArrayReader,
        nbytes: usize,
        old: usize,
        changed: &[bool],
    ) -> Result<Option<Vec<u8>>> {
        let data = &mut self.data[..nbytes];
        if let Some(stored) = array.sc.stored_chunk(old)? {
            let stored = Chunk::parse(&stored)?;
            let chunk = self.compressor.compress_blocks(data, &stored, changed)?;
            if chunk.is_some() {
                return Ok(chunk);
            }
        }
        let unchanged: Vec<bool> = changed.iter().map(|changed| !changed).collect();
        let missing = ranges_of(&unchanged, array.geometry().block_nbytes());
        array.sc.ranges_into(old, &missing, data)?;
        Ok(None)
    }
}

/// The ranges of the blocks that are true, of `nbytes` each.
pub(in crate::array) fn ranges_of(blocks: &[bool], nbytes: usize) -> Vec<Range<usize>> {
    let chosen = (0..).zip(blocks).filter(|(_, is_chosen)| **is_chosen);
    chosen.map(|(block, _)| block * nbytes..(block + 1) * nbytes).collect()
}

impl ArrayEdit {
    /// Makes `count` chunks and stores them, without making them chunks of the array.
    ///
    /// Which thread makes which chunk is not defined; they are stored in order, so that the bytes
    /// are always the same. Old chunks that they are made of are compared with their hashes:
    /// otherwise damage would get a new, valid hash.
    pub(in crate::array) fn encode(
        &mut self,
        geometry: &Geometry,
        count: usize,
        fill: &Fill<'_>,
    ) -> Result<Vec<Staged>> {
        self.array.sc.store().fetch_hashes()?;
        let before = self.array.sc.compare_when_read();
        let staged = self.encode_all(geometry, count, fill);
        self.array.sc.compare_as_before(before);
        staged
    }

    fn encode_all(&mut self, geometry: &Geometry, count: usize, fill: &Fill<'_>) -> Result<Vec<Staged>> {
        let nbytes = geometry.chunk_nbytes();
        self.array.sc.limits().check("the data of a chunk", nbytes)?;
        let workers = self.array.sc.options().threads.workers(count, count.saturating_mul(nbytes));
        // Each worker has data and a chunk of its own.
        let room = room_for(self.array.sc.limits(), nbytes) / 2;
        // A few chunks are better shared block by block.
        let workers = if count < workers || room < 2 { 1 } else { workers.min(room) };
        let batch = match workers {
            1 => 1,
            _ if self.array.sc.store().facts().memory.is_some() => count,
            _ => (workers * CHUNKS_A_WORKER).min(room),
        };
        let mut staged = Vec::with_capacity(count);
        let mut done = 0;
        while done < count {
            let end = count.min(done + batch);
            let chunks = self.encode_batch(nbytes, done..end, workers, fill);
            let stored = chunks.and_then(|chunks| {
                chunks.into_iter().try_for_each(|chunk| {
                    staged.push(self.array.sc.stage(chunk)?);
                    Ok(())
                })
            });
            if let Err(error) = stored {
                self.array.sc.unstage(staged);
                return Err(error);
            }
            done = end;
        }
        Ok(staged)
    }

    fn encode_batch(
        &self,
        nbytes: usize,
        numbers: Range<usize>,
        workers: usize,
        fill: &Fill<'_>,
    ) -> Result<Vec<Vec<u8>>> {
        if workers == 1 {
            let mut encoder = self.encoder(false)?;
            let chunks = numbers.map(|number| encoder.encode(&self.array, nbytes, number, fill)).collect();
            lock(&self.encoders).push(encoder);
            return chunks;
        }
        let next = AtomicUsize::new(numbers.start);
        let made: Vec<Mutex<Option<Vec<u8>>>> = numbers.clone().map(|_| Mutex::default()).collect();
        let failure = Mutex::new(None);
        self.array.sc.options().threads.run(workers, &|_| {
            let run = || -> Result<()> {
                let mut encoder = self.encoder(true)?;
                loop {
                    tick();
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        lock(&self.encoders).push(encoder);
                        return Ok(());
                    }
                    *lock(&made[number - numbers.start]) = Some(encoder.encode(&self.array, nbytes, number, fill)?);
                }
            };
            if let Err(error) = run() {
                next.store(numbers.end, Ordering::Relaxed);
                lock(&failure).get_or_insert(error);
            }
        });
        if let Some(error) = failure.into_inner().unwrap_or_default() {
            return Err(error);
        }
        let taken = made.into_iter().map(|chunk| chunk.into_inner().ok().flatten());
        taken
            .map(|chunk| chunk.ok_or_else(|| error!(InvalidArgument, "the executor has not run every worker")))
            .collect()
    }

    /// An encoder that is not in use.
    fn encoder(&self, is_serial: bool) -> Result<Encoder> {
        let mut idle = lock(&self.encoders);
        if let Some(at) = idle.iter().position(|encoder| encoder.is_serial == is_serial) {
            return Ok(idle.swap_remove(at));
        }
        drop(idle);
        Encoder::new(self.array.sc.options().clone(), is_serial)
    }
}
