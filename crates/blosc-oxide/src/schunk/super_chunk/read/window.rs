//! Scattered items, many of which are in the same block.

use crate::error::Result;
use crate::schunk::SuperChunk;

/// The block that the last item was in, and the next one may be in.
#[derive(Default)]
pub(super) struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    pub(in crate::schunk) fn read(&mut self, sc: &SuperChunk, start: u64, item: &mut [u8]) -> Result<()> {
        let end = start + item.len() as u64;
        if start < self.start || end > self.start + self.bytes.len() as u64 {
            let block = sc.block_around(start)?;
            if end > block.end {
                return sc.bytes_into(start, item);
            }
            self.start = block.start;
            self.bytes = sc.bytes(block)?;
        }
        let from = usize::try_from(start - self.start).unwrap_or(usize::MAX);
        item.copy_from_slice(&self.bytes[from..from + item.len()]);
        Ok(())
    }
}
