//! Parts of a chunk: ranges of bytes and items, single blocks and sets of them.

use super::decode::Decompressor;
use super::view::Chunk;
use crate::chunk::format::special;
use crate::chunk::memory::room;
use crate::error::{Result, bail};
use std::ops::Range;

impl Decompressor {
    /// The data of this range of bytes, decoding only the blocks that have any of it.
    ///
    /// # Errors
    /// As [`Chunk::bytes`].
    pub fn bytes(&mut self, chunk: &Chunk<'_>, range: Range<usize>) -> Result<Vec<u8>> {
        check_range("bytes", &range, chunk.header().nbytes())?;
        let mut data = self.buffer(range.len())?;
        self.bytes_into(chunk, range.start, &mut data)?;
        Ok(data)
    }

    /// Fills `out` with the data from byte `start` on.
    ///
    /// # Errors
    /// As [`Chunk::bytes`].
    pub fn bytes_into(&mut self, chunk: &Chunk<'_>, start: usize, out: &mut [u8]) -> Result<()> {
        let header = chunk.header();
        let range = start..start.saturating_add(out.len());
        check_range("bytes", &range, header.nbytes())?;
        if out.is_empty() {
            return Ok(());
        }
        if let Some(special) = header.special() {
            special::fill(header, special, chunk.as_bytes(), start, out);
            return Ok(());
        }
        if header.is_memcpyed() {
            let stored = &chunk.as_bytes()[header.header_len()..];
            out.copy_from_slice(&stored[range]);
            return Ok(());
        }
        let blocks = touched_blocks(chunk, &range)?;
        let mut filled = 0;
        let mut block_start = blocks.first_start;
        self.each_block(chunk, blocks.indices, |_, block| {
            let len = block.len()?;
            let from = range.start.max(block_start) - block_start;
            let to = range.end.min(block_start + len) - block_start;
            block_start += len;
            let part = &mut out[filled..filled + (to - from)];
            filled += part.len();
            if part.len() == len { block.decode_into(part) } else { block.decode_part_into(from, part) }
        })
    }

    /// Calls `action` with all of the data, one piece after the other: a block, or up to `len`
    /// bytes if nothing has to be decoded.
    pub(crate) fn pieces(
        &mut self,
        chunk: &Chunk<'_>,
        len: usize,
        mut action: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (header, mut piece) = (chunk.header(), Vec::new());
        if header.special().is_none() && !header.is_memcpyed() {
            if header.nblocks() == 0 {
                return Ok(());
            }
            return self.each_block(chunk, 0..header.nblocks(), |_, block| {
                let piece = room(&mut piece, block.len()?);
                block.decode_into(piece)?;
                action(piece)
            });
        }
        for from in (0..header.nbytes()).step_by(len) {
            let piece = room(&mut piece, len.min(header.nbytes() - from));
            self.bytes_into(chunk, from, piece)?;
            action(piece)?;
        }
        Ok(())
    }

    /// The data of this range of items, decoding only the blocks that have any of it.
    ///
    /// # Errors
    /// As [`Chunk::items`].
    pub fn items(&mut self, chunk: &Chunk<'_>, range: Range<usize>) -> Result<Vec<u8>> {
        let typesize = chunk.header().typesize();
        check_range("items", &range, chunk.header().nbytes() / typesize)?;
        self.bytes(chunk, range.start * typesize..range.end * typesize)
    }

    /// Fills `out` with the data from item `first` on.
    ///
    /// # Errors
    /// As [`Chunk::items`].
    pub fn items_into(&mut self, chunk: &Chunk<'_>, first: usize, out: &mut [u8]) -> Result<()> {
        self.bytes_into(chunk, first.saturating_mul(chunk.header().typesize()), out)
    }

    /// The data of one block.
    ///
    /// # Errors
    /// As [`Chunk::block`].
    pub fn block(&mut self, chunk: &Chunk<'_>, index: usize) -> Result<Vec<u8>> {
        let range = chunk.block_range(index)?;
        self.bytes(chunk, range)
    }

    /// Decodes a set of blocks to their positions in `out`, which is as long as all of the data;
    /// the rest of it does not change.
    ///
    /// # Errors
    /// As [`Chunk::block`]; `OutputTooSmall` if `out` is shorter than the data.
    pub fn blocks_into(&mut self, chunk: &Chunk<'_>, indices: &[usize], out: &mut [u8]) -> Result<()> {
        let nbytes = chunk.header().nbytes();
        let Some(out) = out.get_mut(..nbytes) else {
            bail!(OutputTooSmall, "the chunk holds {nbytes} bytes, the output has room for {}", out.len());
        };
        if chunk.header().special().is_some() || chunk.header().is_memcpyed() {
            return indices.iter().try_for_each(|&index| {
                let range = chunk.block_range(index)?;
                self.bytes_into(chunk, range.start, &mut out[range])
            });
        }
        let mut wanted = vec![false; chunk.header().nblocks()];
        for &index in indices {
            match wanted.get_mut(index) {
                Some(wanted) => *wanted = true,
                None => bail!(InvalidArgument, "block {index} is asked for, the chunk has {}", wanted.len()),
            }
        }
        self.decode(chunk, &|index| wanted[index], out)
    }
}

/// The blocks that a range of bytes is in.
struct Touched {
    indices: Range<usize>,
    /// The first byte of the first of them.
    first_start: usize,
}

fn touched_blocks(chunk: &Chunk<'_>, range: &Range<usize>) -> Result<Touched> {
    let blocksize = chunk.header().blocksize();
    if !chunk.header().has_vlblocks() {
        let first = range.start / blocksize;
        return Ok(Touched { indices: first..range.end.div_ceil(blocksize), first_start: first * blocksize });
    }
    let plan = chunk.plan()?;
    let (mut first, mut first_start, mut start) = (0, 0, 0);
    for index in 0..plan.nblocks() {
        if start >= range.end {
            return Ok(Touched { indices: first..index, first_start });
        }
        if start <= range.start {
            (first, first_start) = (index, start);
        }
        start += plan.block(index)?.len;
    }
    Ok(Touched { indices: first..plan.nblocks(), first_start })
}

fn check_range(what: &str, range: &Range<usize>, len: usize) -> Result<()> {
    if range.start > range.end || range.end > len {
        bail!(InvalidArgument, "{what} {}..{} are asked for, the chunk has {len}", range.start, range.end);
    }
    Ok(())
}
