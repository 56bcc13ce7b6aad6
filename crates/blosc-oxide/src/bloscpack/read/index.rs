//! Where chunks are and which bytes they hold, found by going from one to the next.

use crate::bloscpack::format::layout::{Layout, Walk};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::storage::ReadAt;
use std::ops::Range;

/// All chunks of a file, as far as they can be found.
#[derive(Debug)]
pub(in crate::bloscpack) struct Index {
    entries: Vec<Entry>,
    /// How many bytes the chunks hold.
    nbytes: u64,
    /// Why there are no more.
    failure: Option<(ErrorKind, String)>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    at: u64,
    /// The first byte of the data that is in this chunk.
    start: u64,
}

impl Index {
    pub(in crate::bloscpack) fn build(layout: &Layout, source: &dyn ReadAt, limits: Limits) -> Self {
        let mut index = Self { entries: Vec::new(), nbytes: 0, failure: None };
        for place in Walk::new(layout, source) {
            let bytes = index.entries.len().saturating_mul(size_of::<Entry>());
            let count = index.nchunks().saturating_add(1);
            match limits.check("the list of all chunks", bytes).and(limits.check_chunks(count)).and(place) {
                Ok(place) => {
                    index.entries.push(Entry { at: place.at, start: index.nbytes });
                    index.nbytes = index.nbytes.saturating_add(place.header.nbytes() as u64);
                }
                Err(error) => {
                    index.failure = Some((error.kind(), error.to_string()));
                    break;
                }
            }
        }
        index
    }

    /// Fails if not all chunks were found.
    pub(in crate::bloscpack) fn check(&self) -> Result<()> {
        match &self.failure {
            Some((kind, message)) => Err(Error::new(*kind, message.clone())),
            None => Ok(()),
        }
    }

    pub(in crate::bloscpack) fn nchunks(&self) -> u64 {
        self.entries.len() as u64
    }

    pub(in crate::bloscpack) fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Where a chunk starts.
    pub(in crate::bloscpack) fn position(&self, chunk: u64) -> Option<u64> {
        let chunk = usize::try_from(chunk).ok()?;
        self.entries.get(chunk).map(|entry| entry.at)
    }

    /// Which bytes of the data a chunk holds.
    pub(in crate::bloscpack) fn range(&self, chunk: u64) -> Option<Range<u64>> {
        let chunk = usize::try_from(chunk).ok()?;
        let start = self.entries.get(chunk)?.start;
        let end = self.entries.get(chunk + 1).map_or(self.nbytes, |next| next.start);
        Some(start..end)
    }

    /// The last chunk that starts at or before byte `at` of the data.
    pub(in crate::bloscpack) fn chunk_of(&self, at: u64) -> u64 {
        let after = self.entries.partition_point(|entry| entry.start <= at);
        after.saturating_sub(1) as u64
    }
}
