//! Two slots for index and trailer that take turns: a commit updates the one that is not live.
//!
//! ```text
//! index: head | entries │ room for entries and layers │ trailer: layers | hashes | end │ room for hashes
//!                                                                         ^ always in the same place
//! ```
//!
//! Entries and hashes are stored uncompressed, so that appending one changes nothing that is there.
//! The layers of the trailer end where the hashes begin.

use crate::chunk::BLOSC2_LEN;
use crate::frame::format::index::{Changes, ENTRY_LEN};
use crate::frame::format::trailer::TAIL_LEN;
use std::ops::Range;

/// A frame with fewer chunks has no slots: its index is packed in a few microseconds, and is
/// shorter.
pub(in crate::frame) const MIN_CHUNKS: usize = 256;
/// IndexSlots may take this much, however small the frame is.
const SMALL: u64 = 64 << 10;
/// By how much the layers of a trailer may grow before other slots are needed.
const MORE_LAYERS: u64 = 256;
/// A slot has capacity for an eighth more chunks than there are, and for a minimum in any case.
const MORE_CHUNKS: (usize, usize) = (8, 64);
/// The gap for chunks in front of the slots: a sixteenth of the size of the chunks, within limits.
const HOLE_PART: u64 = 16;
const MIN_HOLE: u64 = 4 << 10;
/// The longest gap, in slots: a new gap costs two slots, which is little beside the chunks in it.
const MAX_HOLE: u64 = 128;

/// The capacity of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::frame) struct SlotShape {
    /// In chunks.
    capacity: usize,
    /// Offset of the hashes in the slot.
    hashes_at: u64,
    pub(in crate::frame) len: u64,
}

impl SlotShape {
    /// That of slots for a frame with so many chunks and layers of so many bytes.
    pub(in crate::frame) fn new(nchunks: usize, layers: usize, has_hashes: bool) -> Self {
        let (part, more) = MORE_CHUNKS;
        let capacity = nchunks + nchunks / part + more;
        let entries = (capacity * ENTRY_LEN) as u64;
        let hashes_at = BLOSC2_LEN as u64 + entries + layers as u64 + MORE_LAYERS;
        let hashes = if has_hashes { entries } else { 0 };
        Self { capacity, hashes_at, len: hashes_at + hashes + TAIL_LEN as u64 }
    }

    /// Whether so many chunks and layers of so many bytes fit.
    pub(in crate::frame) fn fits(&self, nchunks: usize, layers: usize) -> bool {
        let needed = (BLOSC2_LEN + nchunks * ENTRY_LEN + layers) as u64;
        nchunks <= self.capacity && needed <= self.hashes_at
    }

    /// Whether two of them are affordable in a frame whose chunks take so many bytes.
    pub(in crate::frame) fn is_affordable(&self, chunks: u64) -> bool {
        2 * self.len <= chunks.max(SMALL)
    }

    /// The length of the gap in front of them in a frame whose chunks take so many bytes.
    pub(in crate::frame) fn hole(&self, chunks: u64) -> u64 {
        (chunks / HOLE_PART).clamp(MIN_HOLE, MIN_HOLE.max(MAX_HOLE * self.len))
    }
}

/// The content of a slot.
#[derive(Debug, Default)]
pub(in crate::frame) struct SlotContent {
    /// The entries and hashes that are out of date.
    pub(in crate::frame) entries: Changes,
    pub(in crate::frame) hashes: Changes,
    /// The layers.
    pub(in crate::frame) layers: Vec<u8>,
}

/// The two places.
#[derive(Debug)]
pub(in crate::frame) struct IndexSlots {
    pub(in crate::frame) shape: SlotShape,
    start: u64,
    /// The live one, if one of them is.
    pub(in crate::frame) live: Option<usize>,
    /// The content of each of them, if it is known.
    pub(in crate::frame) held: [Option<SlotContent>; 2],
}

impl IndexSlots {
    /// Empty slots from `start` on.
    pub(in crate::frame) fn new(start: u64, shape: SlotShape) -> Self {
        Self { shape, start, live: None, held: [None, None] }
    }

    /// Where the first one starts: chunks end before it.
    pub(in crate::frame) fn start(&self) -> u64 {
        self.start
    }

    /// Where a slot is.
    pub(in crate::frame) fn range(&self, slot: usize) -> Range<u64> {
        let start = self.start + slot as u64 * self.shape.len;
        start..start + self.shape.len
    }

    /// Where a slot has its hashes.
    pub(in crate::frame) fn hashes_at(&self, slot: usize) -> u64 {
        self.range(slot).start + self.shape.hashes_at
    }

    /// The slot that is not live.
    pub(in crate::frame) fn next(&self) -> usize {
        self.live.map_or(0, |live| 1 - live)
    }

    /// Whether a range is inside one of them.
    pub(in crate::frame) fn contain(&self, part: &Range<u64>) -> bool {
        self.start <= part.start && part.end <= self.range(1).end
    }

    /// The space that is free as soon as slot `live` is committed, with index and trailer that end
    /// at `end`.
    pub(in crate::frame) fn free_besides(
        &self,
        live: Option<usize>,
        end: u64,
    ) -> impl Iterator<Item = Range<u64>> + '_ {
        let free = move |slot| if live == Some(slot) { end..self.range(slot).end } else { self.range(slot) };
        [0, 1].into_iter().map(free)
    }

    /// Notes entries and hashes that have changed.
    pub(in crate::frame) fn changed(&mut self, entries: &Changes, hashes: &Changes) {
        for held in self.held.iter_mut().flatten() {
            held.entries.add(entries);
            held.hashes.add(hashes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_have_room_for_more() {
        let shape = SlotShape::new(1000, 100, true);
        assert!(shape.fits(1000, 356) && shape.fits(1189, 100) && !shape.fits(1190, 100));
        assert!(!shape.fits(1189, 357) && shape.fits(1000, 1000));
        let plain = SlotShape::new(1000, 100, false);
        assert_eq!((plain.hashes_at, shape.len - plain.len), (shape.hashes_at, 1189 * 8));
    }

    #[test]
    fn slots_are_no_more_than_the_chunks() {
        let shape = SlotShape::new(100_000, 100, true);
        assert!(shape.is_affordable(100_000 * 37) && !shape.is_affordable(100_000 * 35));
        assert!(SlotShape::new(MIN_CHUNKS, 100, true).is_affordable(0));
        assert_eq!((shape.hole(1 << 24), shape.hole(0)), (1 << 20, MIN_HOLE));
    }

    #[test]
    fn what_does_not_count_is_free() {
        let slots = IndexSlots::new(1000, SlotShape::new(0, 0, false));
        let len = slots.shape.len;
        let free = |live, end| slots.free_besides(live, end).collect::<Vec<_>>();
        assert_eq!(free(None, 0), [1000..1000 + len, 1000 + len..1000 + 2 * len]);
        assert_eq!(free(Some(0), 1010), [1010..1000 + len, 1000 + len..1000 + 2 * len]);
        assert!(slots.contain(&(1000..1000 + 2 * len)) && !slots.contain(&(999..1010)));
    }
}
