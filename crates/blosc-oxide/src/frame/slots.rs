//! Two places for index and trailer that take turns: a commit brings the one that does not count up
//! to date.
//!
//! ```text
//! index: head | entries │ room for entries and layers │ trailer: layers | hashes | end │ room for hashes
//!                                                                         ^ always in the same place
//! ```
//!
//! Entries and hashes are stored as they are, so that one more of them changes nothing that is
//! there. The layers of the trailer end where the hashes begin.

use super::index::ENTRY_LEN;
use super::trailer::TAIL_LEN;
use super::words::Changes;
use crate::chunk::BLOSC2_LEN;
use std::ops::Range;

/// A frame with fewer chunks has none: its index takes a few microseconds to pack, and is shorter.
pub(super) const MIN_CHUNKS: usize = 256;
/// Slots may take so much, however small the frame is.
const SMALL: u64 = 64 << 10;
/// The layers of a trailer may get so much longer before other slots are needed.
const MORE_LAYERS: u64 = 256;
/// A slot has room for an eighth more chunks than there are, and for some in any case.
const MORE_CHUNKS: (usize, usize) = (8, 64);
/// In front of the slots there is room for chunks: a sixteenth of what they take, within limits.
const HOLE_PART: u64 = 16;
const MIN_HOLE: u64 = 4 << 10;
/// The longest hole, in slots: a new hole costs two slots, which is little beside the chunks that
/// it takes.
const MAX_HOLE: u64 = 128;

/// How much room a slot has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// For how many chunks.
    capacity: usize,
    /// Where hashes start, counted from the start of the slot.
    hashes_at: u64,
    pub(super) len: u64,
}

impl Shape {
    /// That of slots for a frame with so many chunks and layers of so many bytes.
    pub(super) fn new(nchunks: usize, layers: usize, has_hashes: bool) -> Self {
        let (part, more) = MORE_CHUNKS;
        let capacity = nchunks + nchunks / part + more;
        let entries = (capacity * ENTRY_LEN) as u64;
        let hashes_at = BLOSC2_LEN as u64 + entries + layers as u64 + MORE_LAYERS;
        let hashes = if has_hashes { entries } else { 0 };
        Self { capacity, hashes_at, len: hashes_at + hashes + TAIL_LEN as u64 }
    }

    /// Whether they have room for so many chunks and layers of so many bytes.
    pub(super) fn fits(&self, nchunks: usize, layers: usize) -> bool {
        let needed = (BLOSC2_LEN + nchunks * ENTRY_LEN + layers) as u64;
        nchunks <= self.capacity && needed <= self.hashes_at
    }

    /// Whether two of them are not too much for a frame whose chunks take so many bytes.
    pub(super) fn is_affordable(&self, chunks: u64) -> bool {
        2 * self.len <= chunks.max(SMALL)
    }

    /// How long the hole in front of them is in a frame whose chunks take so many bytes.
    pub(super) fn hole(&self, chunks: u64) -> u64 {
        (chunks / HOLE_PART).clamp(MIN_HOLE, MIN_HOLE.max(MAX_HOLE * self.len))
    }
}

/// What a slot holds.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Which entries and hashes are not those of the frame.
    pub(super) entries: Changes,
    pub(super) hashes: Changes,
    /// The layers.
    pub(super) layers: Vec<u8>,
}

/// The two places.
#[derive(Debug)]
pub(super) struct Slots {
    pub(super) shape: Shape,
    start: u64,
    /// The one that counts, if one of them does.
    pub(super) live: Option<usize>,
    /// What each of them holds, if that is known.
    pub(super) held: [Option<Held>; 2],
}

impl Slots {
    /// Empty ones from `start` on.
    pub(super) fn new(start: u64, shape: Shape) -> Self {
        Self { shape, start, live: None, held: [None, None] }
    }

    /// Where the first one starts: chunks end before.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Where a slot is.
    pub(super) fn range(&self, slot: usize) -> Range<u64> {
        let start = self.start + slot as u64 * self.shape.len;
        start..start + self.shape.len
    }

    /// Where a slot has its hashes.
    pub(super) fn hashes_at(&self, slot: usize) -> u64 {
        self.range(slot).start + self.shape.hashes_at
    }

    /// The slot that does not count.
    pub(super) fn next(&self) -> usize {
        self.live.map_or(0, |live| 1 - live)
    }

    /// Whether a part is inside of one of them.
    pub(super) fn contain(&self, part: &Range<u64>) -> bool {
        self.start <= part.start && part.end <= self.range(1).end
    }

    /// What may be written to as soon as slot `live` counts, with index and trailer that end at
    /// `end`.
    pub(super) fn free_besides(&self, live: Option<usize>, end: u64) -> impl Iterator<Item = Range<u64>> + '_ {
        let free = move |slot| if live == Some(slot) { end..self.range(slot).end } else { self.range(slot) };
        [0, 1].into_iter().map(free)
    }

    /// Takes notice of entries and hashes that have changed.
    pub(super) fn changed(&mut self, entries: &Changes, hashes: &Changes) {
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
        let shape = Shape::new(1000, 100, true);
        assert!(shape.fits(1000, 356) && shape.fits(1189, 100) && !shape.fits(1190, 100));
        assert!(!shape.fits(1189, 357) && shape.fits(1000, 1000));
        let plain = Shape::new(1000, 100, false);
        assert_eq!((plain.hashes_at, shape.len - plain.len), (shape.hashes_at, 1189 * 8));
    }

    #[test]
    fn slots_are_no_more_than_the_chunks() {
        let shape = Shape::new(100_000, 100, true);
        assert!(shape.is_affordable(100_000 * 37) && !shape.is_affordable(100_000 * 35));
        assert!(Shape::new(MIN_CHUNKS, 100, true).is_affordable(0));
        assert_eq!((shape.hole(1 << 24), shape.hole(0)), (1 << 20, MIN_HOLE));
    }

    #[test]
    fn what_does_not_count_is_free() {
        let slots = Slots::new(1000, Shape::new(0, 0, false));
        let len = slots.shape.len;
        let free = |live, end| slots.free_besides(live, end).collect::<Vec<_>>();
        assert_eq!(free(None, 0), [1000..1000 + len, 1000 + len..1000 + 2 * len]);
        assert_eq!(free(Some(0), 1010), [1010..1000 + len, 1000 + len..1000 + 2 * len]);
        assert!(slots.contain(&(1000..1000 + 2 * len)) && !slots.contain(&(999..1010)));
    }
}
