//! Chunks whose streams are not compressed.
//!
//! They hold the same bytes as a chunk that is stored as one copy, but a reader treats them as
//! compressed ones. The packed super-chunk needs them: old writers did not agree on whether its
//! delta covers copies.

use super::layout::{SIZE_LEN, stored};
use crate::chunk::format::header::{BLOSC1_LEN, Fields, VERSION_BLOSC1, VERSION_FIVE_FILTERS, flag};
use crate::error::{Result, bail};

const BLOCKSIZE: usize = 1 << 20;

/// A chunk of `data` with a header of 16 bytes; its items are bytes, so that all readers agree that
/// it is not split.
///
/// # Errors
/// `InvalidArgument` if the data is too long.
pub(crate) fn raw_chunk(data: &[u8], alpha: bool) -> Result<Vec<u8>> {
    let nblocks = data.len().div_ceil(BLOCKSIZE);
    let streams_at = BLOSC1_LEN + nblocks * SIZE_LEN;
    let cbytes = streams_at + nblocks * SIZE_LEN + data.len();
    if i32::try_from(cbytes).is_err() {
        bail!(InvalidArgument, "{} bytes are too many for a chunk that is not compressed", data.len());
    }
    let fields = Fields {
        version: if alpha { VERSION_FIVE_FILTERS } else { VERSION_BLOSC1 },
        codec_version: 1,
        flags: flag::NOT_SPLIT,
        typesize: 1,
        nbytes: stored(data.len()),
        blocksize: stored(data.len().clamp(1, BLOCKSIZE)),
        cbytes: stored(cbytes),
        extension: None,
    };
    let mut chunk = Vec::with_capacity(cbytes);
    chunk.extend_from_slice(&fields.to_bytes()[..BLOSC1_LEN]);
    for index in 0..nblocks {
        chunk.extend_from_slice(&stored(streams_at + index * (SIZE_LEN + BLOCKSIZE)).to_le_bytes());
    }
    for block in data.chunks(BLOCKSIZE) {
        chunk.extend_from_slice(&stored(block.len()).to_le_bytes());
        chunk.extend_from_slice(block);
    }
    Ok(chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Chunk;

    #[test]
    fn raw_chunks_come_back_and_are_no_copies() {
        for len in [0, 1, 127, 128, BLOCKSIZE, 2 * BLOCKSIZE + 1] {
            let data: Vec<u8> = (0..len).map(|i| u8::try_from(i % 256).unwrap()).collect();
            for alpha in [false, true] {
                let bytes = raw_chunk(&data, alpha).unwrap();
                let chunk = Chunk::parse(&bytes).unwrap();
                assert_eq!(chunk.as_bytes().len(), bytes.len());
                assert!(!chunk.header().is_memcpyed() && !chunk.header().is_split());
                assert_eq!(chunk.decompress().unwrap(), data);
            }
        }
    }
}
