//! The rules by which C-Blosc2 splits blocks and chooses their size, which is what its users expect
//! of ours.

use crate::chunk::format::header::MAX_STORED_TYPESIZE;
use crate::chunk::options::SplitMode;
use crate::codec::Codec;
use crate::filter::{Pipeline, id as filter_id};
use crate::limits::MAX_BLOCKSIZE;

/// Shorter buffers are stored as they are.
pub(in crate::chunk) const MIN_BUFFER: usize = 32;
/// The data cache that a block should stay in.
pub(in crate::chunk) const L1: usize = 32 << 10;

const MAX_SPLITS: usize = 16;
const MIN_STREAM: usize = 32;
const MAX_SPLIT_BLOCKSIZE: usize = 4 << 20;
const MAX_SPLIT_LEVEL_OF_ZSTD: u8 = 5;

const BASE_KIB: [usize; 10] = [8, 16, 32, 64, 128, 128, 256, 256, 256, 256];
const HIGH_RATIO_BASE_KIB: [usize; 10] = [16, 32, 64, 128, 256, 256, 512, 512, 512, 1024];
const SPLIT_KIB_PER_BYTE_OF_ITEM: [usize; 10] = [32, 32, 32, 32, 64, 64, 64, 128, 256, 512];

/// The block size of a level before splitting is considered.
pub(in crate::chunk) fn base_blocksize(codec: Codec, level: u8) -> usize {
    let row = if codec.is_high_ratio() { &HIGH_RATIO_BASE_KIB } else { &BASE_KIB };
    row[usize::from(level)] << 10
}

/// What decides whether blocks are split.
#[derive(Debug, Clone, Copy)]
pub(in crate::chunk) struct SplitRule {
    pub(in crate::chunk) mode: SplitMode,
    pub(in crate::chunk) codec: Codec,
    pub(in crate::chunk) level: u8,
    pub(in crate::chunk) pipeline: Pipeline,
}

impl SplitRule {
    /// Whether blocks of `blocksize` bytes are stored as one stream for each byte of an item.
    pub(in crate::chunk) fn splits(&self, typesize: usize, blocksize: usize) -> bool {
        let can_be_split = blocksize >= typesize && blocksize.is_multiple_of(typesize);
        can_be_split
            && match self.mode {
                SplitMode::Always => typesize <= MAX_STORED_TYPESIZE,
                SplitMode::Never => false,
                SplitMode::Auto | SplitMode::ForwardCompat => self.pays_off(typesize, blocksize),
            }
    }

    fn pays_off(&self, typesize: usize, blocksize: usize) -> bool {
        let is_fast_codec = match self.codec {
            Codec::BloscLz | Codec::Lz4 => true,
            Codec::Zstd => self.level <= MAX_SPLIT_LEVEL_OF_ZSTD,
            _ => false,
        };
        is_fast_codec
            && self.pipeline.contains(filter_id::SHUFFLE)
            && typesize <= MAX_SPLITS
            && blocksize / typesize >= MIN_STREAM
    }

    /// The size of the blocks of a buffer of `nbytes` with items of `typesize`, which is not capped
    /// here.
    pub(in crate::chunk) fn blocksize(&self, nbytes: usize, typesize: usize, forced: Option<usize>) -> usize {
        let wanted = match forced {
            Some(forced) => forced.max(typesize),
            None if nbytes < L1 => nbytes,
            None => self.automatic_blocksize(nbytes, typesize),
        };
        whole_items(wanted.min(nbytes).min(MAX_BLOCKSIZE), typesize)
    }

    fn automatic_blocksize(&self, nbytes: usize, typesize: usize) -> usize {
        if self.level > 0 && self.splits(typesize, nbytes / typesize * typesize) {
            let per_byte = SPLIT_KIB_PER_BYTE_OF_ITEM[usize::from(self.level)] << 10;
            (per_byte * typesize).clamp(L1, MAX_SPLIT_BLOCKSIZE)
        } else {
            base_blocksize(self.codec, self.level)
        }
    }
}

/// `blocksize` rounded down to whole items, where there is at least one.
pub(in crate::chunk) fn whole_items(blocksize: usize, typesize: usize) -> usize {
    if blocksize > typesize { blocksize / typesize * typesize } else { blocksize }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;

    fn rule(codec: Codec, level: u8, filter: Filter) -> SplitRule {
        let pipeline = Pipeline::new(&[filter]).unwrap();
        SplitRule { mode: SplitMode::ForwardCompat, codec, level, pipeline }
    }

    #[test]
    fn block_sizes_are_those_of_the_reference() {
        let big = 16 << 20;
        assert_eq!(rule(Codec::Lz4, 5, Filter::Shuffle).blocksize(big, 4, None), 256 << 10);
        assert_eq!(rule(Codec::Lz4, 5, Filter::BitShuffle).blocksize(big, 4, None), 128 << 10);
        assert_eq!(rule(Codec::Zstd, 6, Filter::Shuffle).blocksize(big, 4, None), 512 << 10);
        assert_eq!(rule(Codec::BloscLz, 9, Filter::Shuffle).blocksize(big, 16, None), 4 << 20);
        assert_eq!(rule(Codec::Lz4, 1, Filter::Shuffle).blocksize(big, 3, None), 98304);
        assert_eq!(rule(Codec::Lz4, 5, Filter::Shuffle).blocksize(1003, 4, None), 1000);
        assert_eq!(rule(Codec::Lz4, 5, Filter::Shuffle).blocksize(100, 1000, None), 100);
    }

    #[test]
    fn a_block_size_that_is_asked_for_is_rounded_to_whole_items() {
        let rule = rule(Codec::Lz4, 5, Filter::Shuffle);
        assert_eq!(rule.blocksize(1 << 20, 4, Some(1001)), 1000);
        assert_eq!(rule.blocksize(1 << 20, 12, Some(5)), 12);
        assert_eq!(rule.blocksize(100, 4, Some(1000)), 100);
    }
}
