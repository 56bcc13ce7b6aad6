//! Which chunks have been compared with their hashes.

use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each chunk. Threads that read share it.
#[derive(Debug)]
pub(crate) struct Compared {
    words: Vec<AtomicU64>,
}

impl Compared {
    /// None of `nchunks` chunks has been.
    pub(crate) fn none_of(nchunks: usize) -> Self {
        Self { words: (0..nchunks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    pub(super) fn has(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (index % 64) & 1 == 1)
    }

    pub(super) fn mark(&self, index: usize) {
        if let Some(word) = self.words.get(index / 64) {
            word.fetch_or(1 << (index % 64), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_marked_has_been_compared() {
        let compared = Compared::none_of(130);
        for index in [0, 63, 64, 129] {
            compared.mark(index);
        }
        let marked: Vec<usize> = (0..1000).filter(|&index| compared.has(index)).collect();
        assert_eq!(marked, [0, 63, 64, 129]);
    }
}
