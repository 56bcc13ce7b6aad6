//! Where chunks are and which bytes they hold, found by going from one to the next.

use super::layout::{Cursor, Layout};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::storage::ReadAt;
use std::ops::Range;

/// The first chunks of a file, as many as have been asked for so far.
#[derive(Debug)]
pub(super) struct Index {
    entries: Vec<Entry>,
    /// How many bytes the chunks hold.
    nbytes: u64,
    cursor: Cursor,
    /// Why no more can be found.
    failure: Option<(ErrorKind, String)>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    at: u64,
    /// The first byte of the data that is in this chunk.
    start: u64,
}

impl Index {
    /// One that knows no chunk yet.
    pub(super) fn new(layout: &Layout) -> Self {
        Self { entries: Vec::new(), nbytes: 0, cursor: Cursor::new(0, layout.chunks_at), failure: None }
    }

    /// Goes on until `count` chunks are known, or no more can be found.
    pub(super) fn reach(&mut self, count: u64, layout: &Layout, source: &dyn ReadAt, limits: Limits) {
        while self.nchunks() < count && self.failure.is_none() {
            let Some(place) = self.cursor.step(layout, source) else { return };
            let bytes = self.entries.len().saturating_mul(size_of::<Entry>());
            let count = self.nchunks().saturating_add(1);
            match limits.check("the list of all chunks", bytes).and(limits.check_chunks(count)).and(place) {
                Ok(place) => {
                    self.entries.push(Entry { at: place.at, start: self.nbytes });
                    self.nbytes = self.nbytes.saturating_add(place.header.nbytes() as u64);
                }
                Err(error) => self.failure = Some((error.kind(), error.to_string())),
            }
        }
    }

    /// Fails if a chunk could not be found.
    pub(super) fn check(&self) -> Result<()> {
        match &self.failure {
            Some((kind, message)) => Err(Error::new(*kind, message.clone())),
            None => Ok(()),
        }
    }

    pub(super) fn nchunks(&self) -> u64 {
        self.entries.len() as u64
    }

    pub(super) fn nbytes(&self) -> u64 {
        self.nbytes
    }

    /// Where a chunk starts.
    pub(super) fn position(&self, chunk: u64) -> Option<u64> {
        let chunk = usize::try_from(chunk).ok()?;
        self.entries.get(chunk).map(|entry| entry.at)
    }

    /// Which bytes of the data a chunk holds.
    pub(super) fn range(&self, chunk: u64) -> Option<Range<u64>> {
        let chunk = usize::try_from(chunk).ok()?;
        let start = self.entries.get(chunk)?.start;
        let end = self.entries.get(chunk + 1).map_or(self.nbytes, |next| next.start);
        Some(start..end)
    }

    /// The last chunk that starts at or before byte `at` of the data.
    pub(super) fn chunk_of(&self, at: u64) -> u64 {
        let after = self.entries.partition_point(|entry| entry.start <= at);
        after.saturating_sub(1) as u64
    }
}
