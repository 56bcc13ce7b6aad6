//! Compressed parts of a chunk, put together in their order while others are still being
//! compressed.
//!
//! A part is one or more blocks, or one stream of the only block. It is copied to its final
//! position while it is in the cache of the processor that has compressed it, or soon after: for
//! large chunks, memory is written once.

use crate::chunk::memory::room;
use std::sync::atomic::AtomicUsize;

/// What is kept for the next chunk.
#[derive(Debug, Default)]
pub(in crate::chunk) struct Buffers {
    /// Free memory, each for one part.
    spare: Vec<Vec<u8>>,
    parts: Vec<Part>,
    /// The lengths of the blocks.
    block_lens: Vec<AtomicUsize>,
}

/// What is known of a part.
#[derive(Debug, Default)]
struct Part {
    /// Its bytes, if it is compressed but its position is not known yet.
    slot: Option<Vec<u8>>,
    len: usize,
    /// Whether it is cut off where something failed: nothing comes after it.
    is_cut: bool,
}

impl Buffers {
    /// An empty assembly of `nparts`, each of `slot_len` bytes at the most, in `streams`, the
    /// length of which is the limit for all together; and space for the lengths of `nblocks`.
    pub(in crate::chunk) fn assembly<'a>(
        &'a mut self,
        (nparts, nblocks): (usize, usize),
        slot_len: usize,
        streams: &'a mut [u8],
    ) -> (Assembly<'a>, &'a [AtomicUsize]) {
        self.parts.clear();
        self.parts.resize_with(nparts, Part::default);
        self.block_lens.resize_with(nblocks, AtomicUsize::default);
        let Self { spare, parts, block_lens } = self;
        (
            Assembly {
                slot_len,
                rest: streams,
                placed: 0,
                placed_len: 0,
                is_too_long: false,
                is_cut: false,
                parts,
                spare,
            },
            block_lens,
        )
    }
}

/// The parts of a chunk that is being made.
pub(in crate::chunk) struct Assembly<'a> {
    slot_len: usize,
    /// The output behind the parts already placed.
    rest: &'a mut [u8],
    /// Number of parts already placed.
    placed: usize,
    /// Total length of the parts already placed.
    placed_len: usize,
    is_too_long: bool,
    /// Whether the last of them was cut off.
    is_cut: bool,
    parts: &'a mut [Part],
    spare: &'a mut Vec<Vec<u8>>,
}

/// A part and its slice of the output, which has its length.
pub(in crate::chunk) struct Placed<'a> {
    pub(in crate::chunk) slot: Vec<u8>,
    pub(in crate::chunk) len: usize,
    pub(in crate::chunk) place: &'a mut [u8],
}

impl<'a> Assembly<'a> {
    /// Memory for any one part.
    pub(in crate::chunk) fn slot(&mut self) -> Vec<u8> {
        let mut slot = self.spare.pop().unwrap_or_default();
        room(&mut slot, self.slot_len);
        slot
    }

    /// Takes memory that is no longer needed.
    pub(in crate::chunk) fn give_back(&mut self, slot: Vec<u8>) {
        self.spare.push(slot);
    }

    /// Takes a part, which is the first `len` bytes of `slot`. If it `is_cut`, something failed
    /// right after these.
    pub(in crate::chunk) fn finished(&mut self, index: usize, slot: Vec<u8>, len: usize, is_cut: bool) {
        self.parts[index] = Part { slot: Some(slot), len, is_cut };
    }

    /// The next part in order with its slice of the output, if it is there. The caller has to copy
    /// it.
    pub(in crate::chunk) fn place(&mut self) -> Option<Placed<'a>> {
        if self.is_cut {
            return None;
        }
        let part = self.parts.get_mut(self.placed)?;
        let slot = part.slot.take()?;
        let len = part.len;
        if len > self.rest.len() {
            self.is_too_long = true;
            self.spare.push(slot);
            return None;
        }
        self.placed += 1;
        self.is_cut = part.is_cut;
        self.placed_len += len;
        let (place, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
        self.rest = rest;
        Some(Placed { slot, len, place })
    }

    /// Whether the parts are longer than they are allowed to be.
    pub(in crate::chunk) fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// Total length of the parts already placed.
    pub(in crate::chunk) fn placed_len(&self) -> usize {
        self.placed_len
    }
}

impl Drop for Assembly<'_> {
    /// Memory of parts that were never placed, because the output was too short, is kept for the
    /// next chunk.
    fn drop(&mut self) {
        self.spare.extend(self.parts.iter_mut().filter_map(|part| part.slot.take()));
    }
}
