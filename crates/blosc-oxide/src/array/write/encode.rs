//! Chunks that are assembled and compressed in parallel, and stored in order.

use super::edit::ArrayEdit;
use super::encoder::{Encoder, Fill};
use crate::array::geometry::Geometry;
use crate::error::{Result, error};
use crate::exec::{lock, tick};
use crate::schunk::{Staged, room_for};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many chunks are compressed for each worker before they are stored.
const CHUNKS_A_WORKER: usize = 8;

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
        let before = self.array.sc.start_checking();
        let staged = self.encode_all(geometry, count, fill);
        self.array.sc.restore_checking(before);
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
        if let Some(at) = idle.iter().position(|encoder| encoder.is_serial() == is_serial) {
            return Ok(idle.swap_remove(at));
        }
        drop(idle);
        Encoder::new(self.array.sc.options().clone(), is_serial)
    }
}
