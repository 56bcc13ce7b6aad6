//! Whether a chunk can be decoded, without decoding what cannot go wrong.

use super::decode::Decompressor;
use super::view::Chunk;
use crate::chunk::format::plan::{Plan, Stream};
use crate::error::Result;

impl Decompressor {
    /// Checks whether the data of `chunk` can be decoded. Data that no codec has made is not
    /// decoded for that: special values, copies, and streams of one repeated byte, which can make
    /// terabytes of a few hundred bytes. Returns how many bytes were decoded.
    pub(crate) fn examine(&mut self, chunk: &Chunk<'_>) -> Result<usize> {
        let header = chunk.header();
        if header.special().is_some() || header.is_memcpyed() {
            return Ok(0);
        }
        // What is damaged is so whether it could be decoded or not.
        let has_codec = has_compressed_streams(&chunk.plan()?)?;
        self.check_known(header)?;
        if has_codec { self.chunk(chunk).map(|data| data.len()) } else { Ok(0) }
    }
}

/// Whether a codec has made a stream of one of the blocks. All of them are looked at.
fn has_compressed_streams(plan: &Plan<'_>) -> Result<bool> {
    let mut is_compressed = false;
    for index in 0..plan.nblocks() {
        let block = plan.block(index)?;
        for stream in block.streams() {
            let stream = stream.map_err(|error| error.within(format_args!("block {index}")))?;
            is_compressed |= matches!(stream, Stream::Compressed(_));
        }
    }
    Ok(is_compressed)
}
