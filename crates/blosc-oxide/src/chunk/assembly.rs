//! Compressed blocks, put together in their order while others are still being compressed.
//!
//! A block is copied to its place while it is in the cache of the processor that has compressed it, or soon after: of
//! large chunks, memory is written once.

use super::decode::room;
use super::encode::Layout;

/// What is kept for the next chunk.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Memory for one block each, which nobody is using.
    spare: Vec<Vec<u8>>,
    blocks: Vec<Block>,
}

/// What is known of a block.
#[derive(Debug, Default)]
struct Block {
    /// Its bytes, if it is compressed but cannot be placed yet.
    slot: Option<Vec<u8>>,
    len: usize,
}

impl Buffers {
    /// An empty assembly in `streams`, which the blocks together must be shorter than.
    pub(super) fn assembly<'a>(&'a mut self, layout: &Layout, streams: &'a mut [u8]) -> Assembly<'a> {
        self.blocks.clear();
        self.blocks.resize_with(layout.nblocks, Block::default);
        let Self { spare, blocks } = self;
        Assembly { slot_len: layout.slot_len(), rest: streams, placed: 0, is_too_long: false, blocks, spare }
    }
}

/// The blocks of a chunk that is being made.
pub(super) struct Assembly<'a> {
    slot_len: usize,
    /// What lies behind the blocks that have their place.
    rest: &'a mut [u8],
    /// How many have one.
    placed: usize,
    is_too_long: bool,
    blocks: &'a mut [Block],
    spare: &'a mut Vec<Vec<u8>>,
}

/// A block and where it belongs, which has its length.
pub(super) struct Placed<'a> {
    pub(super) slot: Vec<u8>,
    pub(super) len: usize,
    pub(super) place: &'a mut [u8],
}

impl<'a> Assembly<'a> {
    /// Memory for any one block.
    pub(super) fn slot(&mut self) -> Vec<u8> {
        let mut slot = self.spare.pop().unwrap_or_default();
        room(&mut slot, self.slot_len);
        slot
    }

    /// Takes memory that is no longer needed.
    pub(super) fn give_back(&mut self, slot: Vec<u8>) {
        self.spare.push(slot);
    }

    /// Takes a block, which is the first `len` bytes of `slot`, and returns memory for another.
    pub(super) fn finished(&mut self, index: usize, slot: Vec<u8>, len: usize) -> Vec<u8> {
        self.blocks[index] = Block { slot: Some(slot), len };
        self.slot()
    }

    /// The next block in order with its place, if it is there. Whoever asks has to copy it.
    pub(super) fn place(&mut self) -> Option<Placed<'a>> {
        let block = self.blocks.get_mut(self.placed)?;
        let slot = block.slot.take()?;
        let len = block.len;
        if len >= self.rest.len() {
            self.is_too_long = true;
            self.spare.push(slot);
            return None;
        }
        self.placed += 1;
        let (place, rest) = std::mem::take(&mut self.rest).split_at_mut(len);
        self.rest = rest;
        Some(Placed { slot, len, place })
    }

    /// Whether the blocks are not shorter than they are allowed to be.
    pub(super) fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// How long the blocks are, in their order.
    pub(super) fn lens(&self) -> impl Iterator<Item = usize> + '_ {
        self.blocks.iter().map(|block| block.len)
    }
}

impl Drop for Assembly<'_> {
    /// Blocks that were never placed, because there was no room, leave their memory to the next chunk.
    fn drop(&mut self) {
        self.spare.extend(self.blocks.iter_mut().filter_map(|block| block.slot.take()));
    }
}
