//! Memory that is filled by several threads, if it is large enough.

use super::{Threads, lock, tick};
use std::sync::Mutex;

/// One thread does not use all of the memory's speed; but below this, much of it is in a cache that
/// threads share, and a second one makes it slower.
const MIN_BYTES_TO_SHARE: usize = 16 << 20;
/// The bytes that one thread fills at a time.
const PART: usize = 256 << 10;

/// Fills `out` by calling `fill` with parts of it and their positions.
pub(crate) fn fill_parts(threads: &Threads, out: &mut [u8], fill: impl Fn(usize, &mut [u8]) + Sync) {
    let nbytes = out.len();
    let workers = if nbytes < MIN_BYTES_TO_SHARE { 1 } else { threads.workers(nbytes.div_ceil(PART), nbytes) };
    if workers == 1 {
        return fill(0, out);
    }
    let parts = Mutex::new(out.chunks_mut(PART).enumerate());
    threads.run(workers, &|worker| {
        loop {
            tick();
            // From both ends: whoever fills the same memory again finds most of it in the cache
            // that has it.
            let part = if worker.is_multiple_of(2) { lock(&parts).next() } else { lock(&parts).next_back() };
            let Some((index, part)) = part else { return };
            fill(index * PART, part);
        }
    });
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
}
