//! Which chunks have been compared with their hashes.

use crate::error::{Error, Result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each chunk. Threads that read share it.
#[derive(Debug, Default)]
pub(crate) struct CheckedChunks {
    /// Made for the first one: edit after edit forgets them, and costs nothing for that.
    words: OnceLock<Vec<AtomicU64>>,
    /// Why no chunk can be compared: the hashes themselves could not be read.
    obstacle: Option<Error>,
}

impl CheckedChunks {
    /// No chunk has been, and none can be if there were no hashes to be `fetched`.
    pub(super) fn none(fetched: Result<()>) -> Self {
        Self { words: OnceLock::new(), obstacle: fetched.err() }
    }

    /// Why no chunk can be compared, if none can.
    pub(super) fn check(&self) -> Result<()> {
        match &self.obstacle {
            Some(error) => Err(Error::new(error.kind(), error.to_string())),
            None => Ok(()),
        }
    }

    pub(super) fn has(&self, index: usize) -> bool {
        let word = self.words.get().and_then(|words| words.get(index / 64));
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (index % 64) & 1 == 1)
    }

    /// Notes that the chunk `index` of `nchunks` has been.
    pub(super) fn mark(&self, index: usize, nchunks: usize) {
        let words = self.words.get_or_init(|| (0..nchunks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect());
        if let Some(word) = words.get(index / 64) {
            word.fetch_or(1 << (index % 64), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_marked_has_been_compared() {
        let compared = CheckedChunks::default();
        assert!(!compared.has(0));
        for index in [0, 63, 64, 129] {
            compared.mark(index, 130);
        }
        let marked: Vec<usize> = (0..1000).filter(|&index| compared.has(index)).collect();
        assert_eq!(marked, [0, 63, 64, 129]);
    }
}
