//! The blocks of a chunk, handed out to workers.

use super::block::{BlockDecoder, Scratch};
use crate::chunk::memory::room;
use crate::error::{Error, Result};
use std::ops::Range;

/// Hands out blocks from both ends, each with its own part of the output.
pub(in crate::chunk::read) struct Queue<'o, 'd> {
    blocks: Range<usize>,
    /// The output of all of them.
    rest: &'o mut [u8],
    decoder: &'o BlockDecoder<'d>,
}

/// The blocks that have not been handed out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::chunk::read) enum End {
    Front,
    Back,
}

/// Blocks in a row, and the part of the output that is theirs.
pub(in crate::chunk::read) struct Part<'o> {
    pub(in crate::chunk::read) blocks: Range<usize>,
    pub(in crate::chunk::read) out: &'o mut [u8],
}

impl<'o, 'd> Queue<'o, 'd> {
    pub(in crate::chunk::read) fn new(out: &'o mut [u8], decoder: &'o BlockDecoder<'d>) -> Self {
        Self { blocks: 0..decoder.plan.nblocks(), rest: out, decoder }
    }

    /// The next blocks, until those of them that are wanted have `len` bytes or more; or which has
    /// failed.
    pub(in crate::chunk::read) fn next(
        &mut self,
        end: End,
        len: usize,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Option<std::result::Result<Part<'o>, (usize, Error)>> {
        // Where blocks of variable length end is known from those before them.
        let end = if self.decoder.blocksize > 0 { end } else { End::Front };
        let Range { start, end: stop } = self.blocks;
        let (mut part_len, mut wanted_len) = (0, 0);
        while !self.blocks.is_empty() && (wanted_len == 0 || wanted_len < len) {
            let next = if end == End::Front { self.blocks.start } else { self.blocks.end - 1 };
            match self.decoder.block_len(next) {
                Ok(len) => {
                    part_len += len;
                    wanted_len += if wanted(next) { len } else { 0 };
                }
                Err(error) if next == start => return Some(Err((next, error))),
                // Those before it come first.
                Err(_) => break,
            }
            match end {
                End::Front => self.blocks.start += 1,
                End::Back => self.blocks.end -= 1,
            }
        }
        let blocks = match end {
            End::Front => start..self.blocks.start,
            End::Back => self.blocks.end..stop,
        };
        (start < stop).then(|| Ok(Part { blocks, out: self.take(end, part_len) }))
    }

    /// All blocks that are left.
    pub(in crate::chunk::read) fn rest(self) -> Part<'o> {
        Part { blocks: self.blocks, out: self.rest }
    }

    /// The part of the output that belongs to the first block.
    pub(in crate::chunk::read) fn first(&mut self) -> Result<&'o mut [u8]> {
        let len = self.decoder.block_len(0)?;
        self.blocks.start = 1;
        Ok(self.take(End::Front, len))
    }

    fn take(&mut self, end: End, len: usize) -> &'o mut [u8] {
        let rest = std::mem::take(&mut self.rest);
        let (part, rest) = match end {
            End::Front => rest.split_at_mut(len),
            End::Back => {
                let (rest, part) = rest.split_at_mut(rest.len() - len);
                (part, rest)
            }
        };
        self.rest = rest;
        part
    }

    /// Hands out no more blocks if all that are left come after `failed`. Those before it are still
    /// handed out: the error of the lowest one is returned.
    pub(in crate::chunk::read) fn stop_behind(&mut self, failed: usize) {
        if failed <= self.blocks.start {
            self.blocks.end = self.blocks.start;
        }
    }
}

impl BlockDecoder<'_> {
    /// Decodes the first block, in the output if it is wanted there, and returns it for others to
    /// refer to.
    pub(in crate::chunk::read) fn first_block<'o>(
        &self,
        is_wanted: bool,
        queue: &mut Queue<'o, '_>,
        first: &'o mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<&'o [u8]> {
        let block = if is_wanted { queue.first()? } else { room(first, self.block_len(0)?) };
        self.decode(0, &[], block, scratch)?;
        Ok(block)
    }

    /// Decodes the `wanted` ones of some blocks; says which has failed.
    pub(in crate::chunk::read) fn decode_blocks(
        &self,
        part: Part<'_>,
        wanted: &dyn Fn(usize) -> bool,
        reference: &[u8],
        scratch: &mut Scratch,
    ) -> std::result::Result<(), (usize, Error)> {
        let mut rest = part.out;
        for index in part.blocks {
            let len = self.block_len(index).map_err(|error| (index, error))?;
            let (block, after) = rest.split_at_mut(len);
            if wanted(index) {
                self.decode(index, reference, block, scratch).map_err(|error| (index, error))?;
            }
            rest = after;
        }
        Ok(())
    }
}
