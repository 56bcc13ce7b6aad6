//! The rules by which C-Blosc 1.x splits blocks and chooses their size.

use super::tuning::{self, whole_items};
use crate::chunk::format::split::can_split;
use crate::chunk::options::SplitMode;
use crate::codec::Codec;

/// Shorter buffers are stored as they are.
pub(in crate::chunk) const MIN_BUFFER: usize = 128;

const MIN_FORCED_BLOCKSIZE: usize = 128;
const MAX_SPLIT_BASE: usize = 256 << 10;
const MIN_SPLIT_BLOCKSIZE: usize = 64 << 10;
const MAX_SPLIT_BLOCKSIZE: usize = 1 << 20;

/// Whether a writer splits.
pub(in crate::chunk) fn splits(mode: SplitMode, codec: Codec, typesize: usize, blocksize: usize) -> bool {
    let wanted = match mode {
        SplitMode::Always => true,
        SplitMode::Never => false,
        SplitMode::Auto => matches!(codec, Codec::BloscLz | Codec::Snappy),
        SplitMode::ForwardCompat => codec != Codec::Zstd,
    };
    wanted && can_split(typesize, blocksize)
}

/// The size of the blocks of a buffer of `nbytes`.
pub(in crate::chunk) fn blocksize(
    nbytes: usize,
    typesize: usize,
    codec: Codec,
    level: u8,
    mode: SplitMode,
    forced: Option<usize>,
) -> usize {
    let wanted = match forced {
        Some(forced) => forced.max(MIN_FORCED_BLOCKSIZE),
        None if nbytes < tuning::L1 => nbytes,
        None => {
            let base = tuning::base_blocksize(codec, level);
            if level > 0 && splits(mode, codec, typesize, nbytes) {
                (base.min(MAX_SPLIT_BASE) * typesize).clamp(MIN_SPLIT_BLOCKSIZE, MAX_SPLIT_BLOCKSIZE)
            } else {
                base
            }
        }
    };
    whole_items(wanted.min(nbytes), typesize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_items_in_long_blocks_are_split() {
        assert!(can_split(16, 2048));
        assert!(!can_split(17, 1 << 20));
        assert!(!can_split(16, 2047));
        assert!(!splits(SplitMode::Always, Codec::Lz4, 32, 1 << 20));
        assert!(!splits(SplitMode::ForwardCompat, Codec::Zstd, 4, 1 << 20));
        assert!(!splits(SplitMode::Auto, Codec::Lz4, 4, 1 << 20));
    }
}
