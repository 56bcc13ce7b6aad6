//! Memory that is filled by several threads, where there is enough of it for that.

use super::{Threads, lock};
use blosc_kernels::copy::copy;
use std::sync::Mutex;

/// One thread does not use all of the memory's speed; but below this, a second one is not awake in time.
const MIN_BYTES_TO_SHARE: usize = 4 << 20;
/// What one thread does at a time.
const PART: usize = 1 << 20;

/// Does `job` with everything that `parts` gives, `nbytes` in all.
fn share<P>(threads: &Threads, nbytes: usize, parts: impl Iterator<Item = P> + Send, job: impl Fn(P) + Sync) {
    let workers = if nbytes < MIN_BYTES_TO_SHARE { 1 } else { threads.workers(nbytes / PART, nbytes) };
    if workers == 1 {
        return parts.for_each(job);
    }
    let parts = Mutex::new(parts);
    threads.run(workers, &|_| {
        loop {
            let part = lock(&parts).next();
            let Some(part) = part else { return };
            job(part);
        }
    });
}

/// Copies the first of each pair to the second, which has its length: `nbytes` in all.
pub(crate) fn copy_pairs<'a>(
    threads: &Threads,
    nbytes: usize,
    pairs: impl Iterator<Item = (&'a [u8], &'a mut [u8])> + Send,
) {
    share(threads, nbytes, pairs, |(from, to)| copy(from, to));
}

/// Fills `out` by `fill`, which is given parts of it and where they start.
pub(crate) fn fill_parts(threads: &Threads, out: &mut [u8], fill: impl Fn(usize, &mut [u8]) + Sync) {
    if out.len() < MIN_BYTES_TO_SHARE {
        return fill(0, out);
    }
    let parts = out.chunks_mut(PART).enumerate();
    share(threads, parts.len() * PART, parts, |(index, part)| fill(index * PART, part));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_filled_once_wherever_it_ends() {
        for len in [0, 1, PART, MIN_BYTES_TO_SHARE - 1, MIN_BYTES_TO_SHARE, MIN_BYTES_TO_SHARE + PART + 7] {
            let expected: Vec<u8> = (0..=250).cycle().take(len).collect();
            for threads in [Threads::serial(), Threads::at_most(0)] {
                let mut out = vec![0; len];
                fill_parts(&threads, &mut out, |at, part| {
                    part.iter_mut().zip(&expected[at..]).for_each(|(byte, expected)| *byte += expected);
                });
                assert!(out == expected, "{len}");
            }
        }
    }

    #[test]
    fn pairs_of_different_lengths_are_copied() {
        let from: Vec<u8> = (0..=250).cycle().take(6 << 20).collect();
        for threads in [Threads::serial(), Threads::at_most(0)] {
            let mut to = vec![0; from.len()];
            let mut rest = (&from[..], &mut to[..]);
            let pairs = std::iter::from_fn(|| {
                let len = rest.0.len().min(900_001);
                let (from, to) = (rest.0.split_off(..len)?, rest.1.split_off_mut(..len)?);
                (len > 0).then_some((from, to))
            });
            copy_pairs(&threads, from.len(), pairs);
            assert!(to == from);
        }
    }
}
