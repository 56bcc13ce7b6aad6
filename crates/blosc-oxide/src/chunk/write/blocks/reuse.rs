//! Compressing what has changed, and only that.

use crate::chunk::format::plan::Plan;
use crate::chunk::options::{Format, Options};
use crate::chunk::read::view::Chunk;
use crate::chunk::write::layout::Layout;
use crate::filter::id as filter_id;
use std::ops::Range;

/// Blocks that are as they were in an older chunk.
pub(in crate::chunk) struct Reuse<'a> {
    plan: Plan<'a>,
    blocksize: usize,
    changed: Changed<'a>,
}

/// What has changed.
pub(in crate::chunk) enum Changed<'a> {
    /// These ranges of bytes.
    Bytes(Range<usize>),
    /// The blocks for which this returns true.
    Blocks(&'a [bool]),
}

impl<'a> Reuse<'a> {
    /// `None` if the older chunk was made in another way, or if its blocks depend on each other.
    pub(in crate::chunk) fn new(
        options: &Options,
        layout: &Layout,
        old: &'a Chunk<'a>,
        changed: Changed<'a>,
    ) -> Option<Self> {
        let header = old.header();
        let is_compressed = !header.is_memcpyed() && header.special().is_none() && !header.has_vlblocks();
        let is_independent = !options.dict && !header.has_dict() && !options.pipeline.contains(filter_id::DELTA);
        let is_same_kind = header.is_extended()
            && options.format == Format::Blosc2
            && options.level > 0
            && layout.nbytes >= layout.min_buffer
            && (header.codec(), header.codec_meta()) == (options.codec, options.codec_meta)
            && (header.pipeline(), header.typesize()) == (options.pipeline, layout.typesize)
            && header.bitshuffle_rule() == Some(options.bitshuffle_rule())
            && (header.blocksize(), header.is_split()) == (layout.blocksize, layout.split);
        if !(is_compressed && is_independent && is_same_kind) {
            return None;
        }
        let plan = Plan::new(header, old.as_bytes()).ok()?;
        Some(Self { plan, blocksize: layout.blocksize, changed })
    }

    /// The bytes of a block, if it is the same; `None` as well if it is damaged.
    pub(in crate::chunk) fn block(&self, index: usize, len: usize) -> Option<&'a [u8]> {
        let start = index * self.blocksize;
        let is_changed = match &self.changed {
            Changed::Bytes(changed) => start < changed.end && changed.start < start + len,
            Changed::Blocks(changed) => changed.get(index).copied().unwrap_or(true),
        };
        if is_changed || index >= self.plan.nblocks() {
            return None;
        }
        let block = self.plan.block(index).ok().filter(|block| block.len == len)?;
        block.stored_bytes().ok()
    }
}

impl Reuse<'_> {
    /// Whether all blocks that have not changed can be copied.
    pub(in crate::chunk) fn is_complete(&self, layout: &Layout) -> bool {
        let Changed::Blocks(changed) = self.changed else { return false };
        let len = |index: usize| layout.blocksize.min(layout.nbytes - index * layout.blocksize);
        changed.len() == layout.nblocks
            && (0..layout.nblocks).all(|index| changed[index] || self.block(index, len(index)).is_some())
    }
}

#[cfg(test)]
mod tests {
    use crate::chunk::{Chunk, Compressor, Options};
    use crate::filter::Filter;

    /// Numbers that compress, but to no run.
    fn numbers(count: u32) -> Vec<u8> {
        (0..count).flat_map(|i| (i * 7 + ((i * i) >> 5) % 13).to_le_bytes()).collect()
    }

    fn options() -> Options {
        Options::new(4).with_blocksize(1024)
    }

    #[test]
    fn what_is_reused_is_what_would_have_been_written() {
        let old = numbers(5000);
        for options in [options(), options().with_level(9), options().with_filters([Filter::BitShuffle])] {
            let mut compressor = Compressor::new(options).unwrap();
            let old_chunk = compressor.compress(&old).unwrap();
            let old_chunk = Chunk::parse(&old_chunk).unwrap();
            for changed in [0..0, 0..1, 1023..1025, 1024..2048, 5000..9000, 19_999..20_000, 0..20_000] {
                for len in [20_000, 19_996, 20_480, 24_000, 1024, 40] {
                    let mut new = old.clone();
                    new[changed.clone()].iter_mut().for_each(|byte| *byte ^= 0x55);
                    new.resize(len, 3);
                    let changed = changed.start.min(len)..changed.end.min(len);
                    let reused = compressor.compress_changed(&new, &old_chunk, &changed).unwrap();
                    assert_eq!(reused, compressor.compress(&new).unwrap(), "{changed:?} of {len}");
                }
            }
        }
    }

    #[test]
    fn chunks_of_another_kind_are_not_reused() {
        let old = numbers(5000);
        let others = [
            options().with_blocksize(2048),
            Options::new(4).with_blocksize(1024).with_filters([Filter::Delta]),
            options().with_level(0),
        ];
        for other in others {
            let old_chunk = Compressor::new(other.clone()).unwrap().compress(&old).unwrap();
            let old_chunk = Chunk::parse(&old_chunk).unwrap();
            let mut compressor = Compressor::new(options()).unwrap();
            assert_eq!(
                compressor.compress_changed(&old, &old_chunk, &(0..0)).unwrap(),
                compressor.compress(&old).unwrap()
            );
        }
    }

    #[test]
    fn what_has_become_zeros_is_stored_as_such() {
        let mut compressor = Compressor::new(options()).unwrap();
        let old_chunk = compressor.compress(&numbers(5000)).unwrap();
        let zeros = vec![0; 20_000];
        let chunk = compressor.compress_changed(&zeros, &Chunk::parse(&old_chunk).unwrap(), &(0..20_000)).unwrap();
        assert_eq!(chunk, compressor.compress(&zeros).unwrap());
    }

    #[test]
    fn blocks_that_have_not_changed_need_not_be_there() {
        let old = numbers(5000);
        let mut compressor = Compressor::new(options()).unwrap();
        let old_chunk = compressor.compress(&old).unwrap();
        let mut new = old.clone();
        new[2048..3072].reverse();
        let mut changed = [false; 20];
        changed[2] = true;
        let mut partial = vec![0xaa; 20_000];
        partial[2048..3072].copy_from_slice(&new[2048..3072]);
        let chunk = compressor.compress_blocks(&partial, &Chunk::parse(&old_chunk).unwrap(), &changed).unwrap();
        assert_eq!(chunk.unwrap(), compressor.compress(&new).unwrap());
        let stored = Compressor::new(options().with_level(0)).unwrap().compress(&old).unwrap();
        let refused = compressor.compress_blocks(&partial, &Chunk::parse(&stored).unwrap(), &changed).unwrap();
        assert!(refused.is_none());
    }
}
