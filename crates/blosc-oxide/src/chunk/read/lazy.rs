//! Lazy chunks: header and offsets of a chunk whose streams are still in a frame, with the numbers
//! that are needed to read them.
//!
//! They live in memory only; the reference makes them when it opens a chunk of a frame on disk.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::view::Chunk;
use crate::bytes::{le_i32, le_i64};
use crate::chunk::format::header::{BLOSC2_LEN, Header, flag2};
use crate::error::{Result, bail};

const START_LEN: usize = 4;
const SIZE_LEN: usize = 4;
/// The chunk's number and its position.
const TRAILER_START_LEN: usize = 4 + 8;
/// Where the flags are that say that a chunk is lazy.
const FLAGS_AT: usize = 31;

/// A lazy chunk.
///
/// ```
/// use blosc_oxide::{LazyChunk, Options, compress};
/// let data: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
/// let chunk = compress(&data, &Options::new(4))?;
/// let lazy = LazyChunk::parse(&LazyChunk::build(&chunk, 7, 4096)?)?;
/// assert_eq!((lazy.nchunk(), lazy.offset(), lazy.header().nbytes()), (7, 4096, 40_000));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LazyChunk {
    header: Header,
    nchunk: i32,
    offset: i64,
    block_cbytes: Vec<i32>,
}

impl LazyChunk {
    /// Reads a lazy chunk.
    ///
    /// # Errors
    /// As [`Header::parse`]; `InvalidArgument` if the chunk is not lazy, `Truncated` if its trailer
    /// is not all there.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let header = Header::parse(bytes)?;
        if !header.is_lazy() {
            bail!(InvalidArgument, "the chunk is not lazy");
        }
        let trailer = header.nblocks().saturating_mul(START_LEN).saturating_add(BLOSC2_LEN);
        let sizes_at = trailer.saturating_add(TRAILER_START_LEN);
        let needed = header.nblocks().saturating_mul(SIZE_LEN).saturating_add(sizes_at);
        let (Some(nchunk), Some(offset), Some(sizes)) =
            (le_i32(bytes, trailer), le_i64(bytes, trailer.saturating_add(4)), bytes.get(sizes_at..needed))
        else {
            bail!(Truncated, "lazy chunk: {needed} bytes needed, {} given", bytes.len());
        };
        let block_cbytes = sizes.chunks_exact(SIZE_LEN).filter_map(|size| le_i32(size, 0)).collect();
        Ok(Self { header, nchunk, offset, block_cbytes })
    }

    /// The lazy form of `chunk`, which is number `nchunk` of a frame and starts at `offset` in it.
    ///
    /// # Errors
    /// As for decoding `chunk`; `Unsupported` for Blosc1 chunks, which have no flag for it, and for
    /// variable-length blocks and special values, which are never lazy.
    pub fn build(chunk: &[u8], nchunk: i32, offset: i64) -> Result<Vec<u8>> {
        let view = Chunk::parse(chunk)?;
        let header = *view.header();
        if !header.is_extended() || header.has_vlblocks() || header.special().is_some() {
            bail!(Unsupported, "only regular Blosc2 chunks can be lazy");
        }
        let starts_end = header.nblocks().saturating_mul(START_LEN).saturating_add(BLOSC2_LEN);
        let mut lazy = vec![0; starts_end];
        // A chunk that is stored as it is has no offsets; the bytes for them are there all the
        // same.
        let head = if header.is_memcpyed() { BLOSC2_LEN } else { starts_end };
        if let (Some(to), Some(from)) = (lazy.get_mut(..head), chunk.get(..head)) {
            to.copy_from_slice(from);
        }
        if let Some(flags) = lazy.get_mut(FLAGS_AT) {
            *flags |= flag2::LAZY;
        }
        lazy.extend_from_slice(&nchunk.to_le_bytes());
        lazy.extend_from_slice(&offset.to_le_bytes());
        for block in 0..header.nblocks() {
            let cbytes = i32::try_from(view.block_info(block)?.cbytes).unwrap_or(i32::MAX);
            lazy.extend_from_slice(&cbytes.to_le_bytes());
        }
        Ok(lazy)
    }

    /// The header of the chunk.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The number of the chunk in its frame; in a sparse frame, the number of its file.
    #[must_use]
    pub fn nchunk(&self) -> i32 {
        self.nchunk
    }

    /// Where the chunk starts in its frame; in a sparse frame, the number of its file.
    #[must_use]
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// How many bytes of the chunk each block takes.
    #[must_use]
    pub fn block_cbytes(&self) -> &[i32] {
        &self.block_cbytes
    }
}
