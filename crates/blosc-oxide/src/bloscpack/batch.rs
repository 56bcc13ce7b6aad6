//! Many chunks at once, but never more than a bounded number of them in memory.

use crate::error::{Error, Result};
use crate::exec::{Threads, lock, tick};
use std::sync::Mutex;

/// How many plain bytes are under way at the most, unless one chunk alone has more.
pub(super) const MAX_BYTES: usize = 16 << 20;
/// Small chunks go together, so that neither waking threads nor writing costs more than the work.
const MIN_BYTES: usize = 256 << 10;
const MAX_CHUNKS: usize = 1024;

/// The chunks that are worked on at a time, while they are gathered.
#[derive(Debug)]
pub(super) struct Batch {
    /// As many as keep the threads busy.
    for_threads: usize,
    chunks: usize,
    bytes: usize,
}

impl Batch {
    pub(super) fn new(threads: &Threads) -> Self {
        let threads = threads.workers(usize::MAX, usize::MAX);
        // Two for each thread, so that one that is done early finds something to do.
        let for_threads = if threads > 1 { threads.saturating_mul(2) } else { 1 };
        Self { for_threads, chunks: 0, bytes: 0 }
    }

    /// Whether another chunk of `bytes` belongs to it; it is counted if so. The first one always
    /// does.
    pub(super) fn takes(&mut self, bytes: usize) -> bool {
        let is_enough = self.chunks >= self.for_threads && self.bytes >= MIN_BYTES;
        let together = self.bytes.saturating_add(bytes);
        if self.chunks > 0 && (is_enough || self.chunks >= MAX_CHUNKS || together > MAX_BYTES) {
            return false;
        }
        self.chunks += 1;
        self.bytes = together;
        true
    }
}

/// How many chunks of `chunk_size` are worked on at a time.
pub(super) fn chunks_at_once(threads: &Threads, chunk_size: usize) -> usize {
    let mut batch = Batch::new(threads);
    while batch.takes(chunk_size) {}
    batch.chunks
}

/// Does `work` for each of `jobs`, which cover `bytes` in all, on as many of `workers` as that is
/// worth. The error is that of the first job that failed.
pub(super) fn run<W: Send, T: Send>(
    threads: &Threads,
    workers: &[Mutex<W>],
    jobs: &mut [T],
    bytes: usize,
    work: impl Fn(&mut W, &mut T) -> Result<()> + Sync,
) -> Result<()> {
    let count = threads.workers(jobs.len(), bytes).clamp(1, workers.len().max(1));
    let queue = Mutex::new(jobs.iter_mut().enumerate());
    let failure = Mutex::new(None::<(usize, Error)>);
    threads.run(count, &|worker| {
        let Some(state) = workers.get(worker) else { return };
        let mut state = lock(state);
        loop {
            tick();
            if lock(&failure).is_some() {
                return;
            }
            let Some((index, job)) = lock(&queue).next() else { return };
            if let Err(error) = work(&mut state, job) {
                let mut first = lock(&failure);
                if first.as_ref().is_none_or(|(before, _)| index < *before) {
                    *first = Some((index, error));
                }
            }
        }
    });
    match failure.into_inner().unwrap_or_default() {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::error;

    #[test]
    fn memory_is_bounded_whatever_the_size_of_chunks() {
        for threads in [Threads::serial(), Threads::at_most(0)] {
            for chunk_size in [0, 1, 1000, 1 << 20, 5 << 20, 2_147_483_631] {
                let chunks = chunks_at_once(&threads, chunk_size);
                assert!((1..=MAX_CHUNKS).contains(&chunks));
                assert!(chunks == 1 || chunks * chunk_size <= MAX_BYTES, "{chunks} of {chunk_size}");
            }
        }
    }

    #[test]
    fn a_batch_ends_before_the_chunk_that_is_too_much() {
        let mut batch = Batch::new(&Threads::serial());
        assert!(batch.takes(1) && batch.takes(MAX_BYTES - 1));
        assert!(!batch.takes(1));
        let mut batch = Batch::new(&Threads::serial());
        assert!(batch.takes(1) && !batch.takes(MAX_BYTES));
        assert!(batch.takes(1), "what was refused does not count");
        assert!(Batch::new(&Threads::serial()).takes(usize::MAX), "one chunk can have any size");
    }

    #[test]
    fn the_first_error_wins() {
        let workers: Vec<Mutex<()>> = (0..4).map(|_| Mutex::new(())).collect();
        let mut jobs: Vec<usize> = (0..100).collect();
        let result = run(&Threads::default(), &workers, &mut jobs, usize::MAX, |(), job| {
            *job += 1;
            if *job > 50 { Err(error!(Corrupt, "job {job}")) } else { Ok(()) }
        });
        assert_eq!(result.unwrap_err().to_string(), "job 51");
        assert_eq!(jobs[..50], (1..=50).collect::<Vec<_>>());
    }
}
