//! The data as one sequence: ranges of bytes and items, scattered items.

use super::window::Window;
use crate::error::{Result, bail};
use crate::schunk::SuperChunk;
use std::ops::Range;

impl SuperChunk {
    /// The data of this range of bytes; only the blocks that have any of it are read and decoded.
    ///
    /// # Errors
    /// `InvalidArgument` if the range is not inside the data; as [`decompress`](Self::decompress).
    pub fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>> {
        self.check_range("bytes", &range, self.nbytes())?;
        let len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        self.limits.check("a range of data", len)?;
        let mut data = vec![0; len];
        self.bytes_into(range.start, &mut data)?;
        Ok(data)
    }

    /// Fills `out` with the data from byte `start` on.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn bytes_into(&self, start: u64, out: &mut [u8]) -> Result<()> {
        let end = start.saturating_add(out.len() as u64);
        self.check_range("bytes", &(start..end), self.nbytes())?;
        let mut at = start;
        let mut rest = out;
        while !rest.is_empty() {
            let index = self.chunk_at(at)?;
            let range = self.chunk_range(index)?;
            let len = usize::try_from(range.end - at).unwrap_or(usize::MAX).min(rest.len());
            let (part, after) = rest.split_at_mut(len);
            self.chunk_part(index, usize::try_from(at - range.start).unwrap_or(usize::MAX), part)?;
            at += len as u64;
            rest = after;
        }
        Ok(())
    }

    /// The data of this range of items.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn items(&self, range: Range<u64>) -> Result<Vec<u8>> {
        self.check_range("items", &range, self.nitems())?;
        let typesize = self.typesize() as u64;
        self.bytes(range.start * typesize..range.end * typesize)
    }

    /// Fills `out` with the data from item `first` on.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn items_into(&self, first: u64, out: &mut [u8]) -> Result<()> {
        self.bytes_into(first.saturating_mul(self.typesize() as u64), out)
    }

    /// The items at these positions, one after the other. Each block is decoded once, whatever the
    /// order.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn gather(&self, positions: &[u64]) -> Result<Vec<u8>> {
        let typesize = self.typesize();
        let len = positions.len().saturating_mul(typesize);
        self.limits.check("gathered items", len)?;
        let mut order: Vec<usize> = (0..positions.len()).collect();
        order.sort_unstable_by_key(|&place| positions[place]);
        if let Some(&last) = order.last() {
            self.check_range("items", &(positions[last]..positions[last].saturating_add(1)), self.nitems())?;
        }
        let mut items = vec![0; len];
        let mut window = Window::default();
        for place in order {
            let start = positions[place] * typesize as u64;
            window.read(self, start, &mut items[place * typesize..][..typesize])?;
        }
        Ok(items)
    }

    /// The data of all chunks, one after the other.
    pub fn chunks(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        (0..self.nchunks()).map(|index| self.decompress(index))
    }

    pub(in crate::schunk) fn check_range(&self, what: &str, range: &Range<u64>, len: u64) -> Result<()> {
        if range.start > range.end || range.end > len {
            bail!(InvalidArgument, "{what} {}..{} are asked for, there are {len}", range.start, range.end);
        }
        Ok(())
    }
}
