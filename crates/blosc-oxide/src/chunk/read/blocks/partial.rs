//! A part of a block, decoding no more of its streams and undoing no more of its filter than
//! necessary.

use super::block::{BlockDecoder, Scratch};
use crate::chunk::format::plan::{Block, Stream};
use crate::chunk::memory::room;
use crate::codec::DecodeState;
use crate::error::Result;
use blosc_kernels::copy::copy;
use blosc_kernels::shuffle::unshuffle_range;
use std::ops::Range;

impl BlockDecoder<'_> {
    /// Puts the bytes of a block from `from` on into `out`; `false` if the block must be decoded
    /// whole for that.
    pub(in crate::chunk) fn decode_part(
        &self,
        index: usize,
        from: usize,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<bool> {
        let block = self.plan.block(index)?;
        let part = from..from + out.len();
        if self.stages.is_empty() {
            self.decode_plain_part(&block, &part, out, scratch)?;
            return Ok(true);
        }
        let stream_len = block.stream_len();
        match self.stages.lone_shuffle() {
            // One stream is one plane, or all of them; and the part is of whole items, not of the
            // tail.
            Some(group)
                if (stream_len == block.len || stream_len * group == block.len)
                    && part.end <= block.len / group * group =>
            {
                self.decode_shuffled_part(&block, group, &part, out, scratch)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Without filters, only the streams that the part is in count, and nothing after it.
    fn decode_plain_part(
        &self,
        block: &Block<'_>,
        part: &Range<usize>,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { codec, filtered, .. } = scratch;
        let stream_len = block.stream_len();
        for (number, stream) in block.streams().enumerate() {
            let start = number * stream_len;
            let (from, to) = (part.start.max(start), part.end.min(start + stream_len));
            if from < to {
                let decoded = room(filtered, stream_len);
                self.decode_prefix(stream?, to - start, decoded, codec)?;
                copy(&decoded[from - start..to - start], &mut out[from - part.start..to - part.start]);
            }
        }
        Ok(())
    }

    /// After a shuffle, an item has a byte in each plane: no plane is needed beyond the last item.
    fn decode_shuffled_part(
        &self,
        block: &Block<'_>,
        group: usize,
        part: &Range<usize>,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { codec, filtered, block: items } = scratch;
        let (first, last) = (part.start / group, part.end.div_ceil(group));
        let stream_len = block.stream_len();
        let filtered = room(filtered, block.len);
        let is_split = stream_len * group == block.len;
        let wanted = if is_split { last } else { (group - 1) * (block.len / group) + last };
        for (stream, decoded) in block.streams().zip(filtered.chunks_exact_mut(stream_len)) {
            self.decode_prefix(stream?, wanted, decoded, codec)?;
        }
        if part.start == first * group && part.end == last * group {
            unshuffle_range(group, filtered, first, out);
        } else {
            let items = room(items, (last - first) * group);
            unshuffle_range(group, filtered, first, items);
            out.copy_from_slice(&items[part.start - first * group..][..out.len()]);
        }
        Ok(())
    }

    /// Decodes the first `wanted` bytes of a stream, or more, into `out`, which has room for all of
    /// it.
    fn decode_prefix(&self, stream: Stream<'_>, wanted: usize, out: &mut [u8], codec: &mut DecodeState) -> Result<()> {
        match stream {
            Stream::Run(byte) => out[..wanted].fill(byte),
            Stream::Raw(bytes) => copy(&bytes[..wanted], &mut out[..wanted]),
            Stream::Compressed(bytes) => codec.decompress_prefix(&self.how, bytes, wanted, out)?,
        }
        Ok(())
    }
}
