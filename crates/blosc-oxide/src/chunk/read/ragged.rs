//! Chunks that decode to different data by the two rules of bitshuffle.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::chunk::format::header::{Header, VERSION_BETA};
use crate::filter::{BitshuffleRule, id as filter_id, is_ragged};

/// The block sizes that releases before 2.0.0.beta.5 chose for split blocks, by level; a size that
/// the user had asked for was ignored there.
const OLD_SPLIT_BLOCKS: [usize; 5] = [16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10];
/// The stream formats of blosclz and lz4.
const FAST_FORMATS: std::ops::RangeInclusive<u8> = 0..=1;

impl Header {
    /// The rule of bitshuffle that the version implies; `None` for version 4, which writers with
    /// either rule used.
    #[must_use]
    pub fn bitshuffle_rule(&self) -> Option<BitshuffleRule> {
        match self.version() {
            ..VERSION_BETA => Some(BitshuffleRule::Old),
            VERSION_BETA => None,
            _ => Some(BitshuffleRule::Current),
        }
    }

    /// Whether the chunk decodes to different data by the two rules of bitshuffle: it goes through
    /// bitshuffle, and a block has more than eight items, but no multiple of eight.
    #[must_use]
    pub fn has_ragged_bitshuffle(&self) -> bool {
        let is_filtered = !self.is_memcpyed() && !self.is_instrumented() && self.special().is_none();
        let last = self.nblocks().saturating_sub(1).saturating_mul(self.blocksize());
        let lengths = [self.blocksize().min(self.nbytes()), self.nbytes().saturating_sub(last)];
        is_filtered
            && !self.has_vlblocks()
            && self.pipeline_ref().contains(filter_id::BITSHUFFLE)
            && lengths.into_iter().any(|len| is_ragged(self.typesize(), len))
    }

    /// Whether nothing in the chunk says by which rule of bitshuffle it is to be decoded, and the
    /// data depend on it. In a frame, the frame may say it: see
    /// [`SuperChunk::is_bitshuffle_ambiguous`](crate::SuperChunk::is_bitshuffle_ambiguous).
    #[must_use]
    pub fn is_bitshuffle_ambiguous(&self) -> bool {
        self.bitshuffle_rule().is_none() && self.has_ragged_bitshuffle() && !self.has_recent_blocksize()
    }

    /// Whether the data are those of the old rule only, if chunks that do not say it follow the
    /// rule `untold`.
    pub(crate) fn needs_old_bitshuffle(&self, untold: BitshuffleRule) -> bool {
        self.bitshuffle_rule().unwrap_or(untold) == BitshuffleRule::Old && self.has_ragged_bitshuffle()
    }

    /// Whether only 2.0.0.beta.5 and later can have chosen the size of the blocks.
    fn has_recent_blocksize(&self) -> bool {
        let whole_items = |len: usize| len.saturating_sub(len.checked_rem(self.typesize()).unwrap_or_default());
        let is_old = |len: usize| self.blocksize() == whole_items(len.min(self.nbytes()));
        self.is_split()
            && FAST_FORMATS.contains(&self.codec_format())
            && self.blocksize() != self.nbytes()
            && !OLD_SPLIT_BLOCKS.into_iter().any(is_old)
    }
}
