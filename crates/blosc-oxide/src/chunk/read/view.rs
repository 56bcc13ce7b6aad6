//! A chunk that is looked at, whole or in part, without being copied.

use crate::chunk::format::header::Header;
use crate::chunk::format::plan::Plan;
use crate::error::{Result, bail};
use std::ops::Range;

/// A chunk in memory: its header, checked, and its bytes, borrowed.
///
/// ```
/// use blosc_oxide::{Chunk, Options};
/// let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
/// let bytes = blosc_oxide::compress(&data, &Options::new(4))?;
/// let chunk = Chunk::parse(&bytes)?;
/// assert_eq!(chunk.header().nbytes(), 400_000);
/// assert_eq!(chunk.items(70_000..70_001)?, 70_000_u32.to_le_bytes());
/// assert_eq!(chunk.decompress()?, data);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    header: Header,
    bytes: &'a [u8],
}

/// What is known about a block without decoding it.
///
/// ```
/// use blosc_oxide::{Chunk, Options, compress};
/// let data: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
/// let bytes = compress(&data, &Options::new(4).with_blocksize(16_000))?;
/// let chunk = Chunk::parse(&bytes)?;
/// let blocks = (0..chunk.header().nblocks()).map(|block| chunk.block_info(block)).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(blocks.iter().map(|block| block.nbytes).collect::<Vec<_>>(), [16_000, 16_000, 8000]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockInfo {
    /// The size of the block once decoded.
    pub nbytes: usize,
    /// How many bytes of the chunk it takes; 0 in a chunk of a special value.
    pub cbytes: usize,
}

impl<'a> Chunk<'a> {
    /// Looks at the chunk that `bytes` starts with; what comes after it is ignored.
    ///
    /// # Errors
    /// As [`Header::parse`]; `Truncated` if the chunk is not all there, `Unsupported` if it is
    /// lazy.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut chunk = Self::unread(bytes);
        chunk.read()?;
        Ok(chunk)
    }

    /// The chunk that `bytes` starts with, before anything was checked.
    pub(in crate::chunk) fn unread(bytes: &'a [u8]) -> Self {
        Self { header: Header::UNREAD, bytes }
    }

    /// As [`parse`](Self::parse), into an existing chunk.
    pub(in crate::chunk) fn read(&mut self) -> Result<()> {
        self.header.read(self.bytes)?;
        if self.header.is_lazy() {
            bail!(Unsupported, "the chunk is lazy: it has no streams, its frame has them");
        }
        let (cbytes, given) = (self.header.cbytes(), self.bytes.len());
        match self.bytes.get(..cbytes) {
            Some(bytes) => self.bytes = bytes,
            None => bail!(Truncated, "chunk: cbytes is {cbytes}, {given} bytes are there"),
        }
        Ok(())
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The bytes of the chunk, and none after it.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// What is known about a block without decoding it.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such block, `Corrupt` if its offset in the chunk is
    /// damaged.
    pub fn block_info(&self, index: usize) -> Result<BlockInfo> {
        let range = self.block_range(index)?;
        let nbytes = range.len();
        if self.header.special().is_some() {
            return Ok(BlockInfo { nbytes, cbytes: 0 });
        }
        if self.header.is_memcpyed() {
            return Ok(BlockInfo { nbytes, cbytes: nbytes });
        }
        let block = self.plan()?.block(index)?;
        Ok(BlockInfo { nbytes, cbytes: block.cbytes().map_err(|error| error.within(format_args!("block {index}")))? })
    }

    /// Which bytes of the data a block holds.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such block, `Corrupt` if the lengths of variable-length
    /// blocks are damaged.
    pub fn block_range(&self, index: usize) -> Result<Range<usize>> {
        if index >= self.header.nblocks() {
            bail!(InvalidArgument, "block {index} is asked for, the chunk has {}", self.header.nblocks());
        }
        if !self.header.has_vlblocks() {
            let start = index * self.header.blocksize();
            return Ok(start..self.header.nbytes().min(start + self.header.blocksize()));
        }
        let plan = self.plan()?;
        let mut start = 0;
        for before in 0..index {
            start += plan.block(before)?.len;
        }
        Ok(start..start + plan.block(index)?.len)
    }

    #[inline]
    pub(in crate::chunk) fn plan(&self) -> Result<Plan<'_>> {
        Plan::new(&self.header, self.bytes)
    }
}
