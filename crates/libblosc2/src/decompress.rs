//! From a chunk to its data, or to a part of it, with a context.

use crate::code::{self, DATA, INVALID_HEADER, INVALID_PARAM, Outcome, POSTFILTER, READ_BUFFER, WRITE_BUFFER};
use crate::context::Context;
use crate::structs::PostfilterParams;
use blosc_oxide::{Chunk, Header};
use std::ffi::c_int;
use std::ops::Range;

const BLOSC1_LEN: usize = 16;
const BLOSC2_LEN: usize = 32;
/// Both of these flags say that a header has 32 bytes.
const EXTENDED: u8 = 0x05;

/// The header of a chunk.
pub(crate) fn header(src: &[u8]) -> Outcome<Header> {
    let &[_, _, flags, ..] = src else { return Err(READ_BUFFER) };
    let len = if flags & EXTENDED == EXTENDED { BLOSC2_LEN } else { BLOSC1_LEN };
    if src.len() < len {
        return Err(READ_BUFFER);
    }
    Header::parse(src).map_err(|_| INVALID_HEADER)
}

/// A whole chunk.
fn chunk(src: &[u8]) -> Outcome<Chunk<'_>> {
    let header = header(src)?;
    if header.cbytes() > src.len() {
        return Err(INVALID_HEADER);
    }
    Chunk::parse(src).map_err(|error| code::of(&error))
}

impl Context {
    /// Decompresses a chunk to `dest`: the length of the data or a code.
    pub(crate) fn decompress(&mut self, src: &[u8], dest: &mut [u8]) -> Outcome<c_int> {
        let maskout = self.maskout.take();
        let nbytes = header(src)?.nbytes();
        let Some(dest) = dest.get_mut(..nbytes) else { return Err(WRITE_BUFFER) };
        let chunk = chunk(src)?;
        if nbytes == 0 {
            return Ok(0);
        }
        let nblocks = chunk.header().nblocks();
        if maskout.as_ref().is_some_and(|mask| mask.len() != nblocks) {
            return Err(DATA);
        }
        let wanted: Vec<usize> = match &maskout {
            Some(mask) => mask.iter().enumerate().filter(|&(_, &is_out)| !is_out).map(|(index, _)| index).collect(),
            None => (0..nblocks).collect(),
        };
        if self.dparams.postfilter.is_some() {
            self.postfilter_blocks(&chunk, &wanted, dest)?;
            return Ok(code::of_len(nbytes));
        }
        self.begin(src.as_ptr());
        let result = if maskout.is_some() {
            self.decompressor().blocks_into(&chunk, &wanted, dest)
        } else {
            self.decompressor().chunk_into(&chunk, dest).map(drop)
        };
        result.map_err(|error| self.failure(&error))?;
        Ok(code::of_len(nbytes))
    }

    /// Puts `dest.len()` bytes of the data from `start` on into `dest`.
    pub(crate) fn part(&mut self, src: &[u8], start: usize, dest: &mut [u8]) -> Outcome<()> {
        let chunk = chunk(src)?;
        let range = start..start.checked_add(dest.len()).ok_or(INVALID_PARAM)?;
        if range.end > chunk.header().nbytes() {
            return Err(INVALID_PARAM);
        }
        if self.dparams.postfilter.is_some() {
            return self.postfilter_part(&chunk, &range, dest);
        }
        self.begin(src.as_ptr());
        let result = self.decompressor().bytes_into(&chunk, start, dest);
        result.map_err(|error| self.failure(&error))
    }

    /// One of the blocks of a chunk.
    pub(crate) fn block(&mut self, src: &[u8], index: usize) -> Outcome<Vec<u8>> {
        let chunk = chunk(src)?;
        self.begin(src.as_ptr());
        let block = self.decompressor().block(&chunk, index);
        block.map_err(|error| self.failure(&error))
    }

    /// How many blocks a chunk has that keeps blocks of any lengths apart.
    pub(crate) fn nblocks(src: &[u8]) -> Outcome<usize> {
        let header = header(src)?;
        if header.has_vlblocks() { Ok(header.nblocks()) } else { Err(INVALID_PARAM) }
    }

    fn postfilter_blocks(&mut self, chunk: &Chunk<'_>, wanted: &[usize], dest: &mut [u8]) -> Outcome<()> {
        for &index in wanted {
            let range = chunk.block_range(index).map_err(|error| code::of(&error))?;
            self.postfilter_block(chunk, index, &range, &mut dest[range.clone()])?;
        }
        Ok(())
    }

    fn postfilter_part(&mut self, chunk: &Chunk<'_>, part: &Range<usize>, dest: &mut [u8]) -> Outcome<()> {
        let mut block = Vec::new();
        for index in 0..chunk.header().nblocks() {
            let range = chunk.block_range(index).map_err(|error| code::of(&error))?;
            let (from, to) = (part.start.max(range.start), part.end.min(range.end));
            if from < to {
                block.clear();
                block.resize(range.len(), 0);
                self.postfilter_block(chunk, index, &range, &mut block)?;
                let place = &mut dest[from - part.start..to - part.start];
                place.copy_from_slice(&block[from - range.start..to - range.start]);
            }
        }
        Ok(())
    }

    /// Decompresses one block, and lets the program make of it what it wants.
    fn postfilter_block(
        &mut self,
        chunk: &Chunk<'_>,
        index: usize,
        range: &Range<usize>,
        out: &mut [u8],
    ) -> Outcome<()> {
        let Some(postfilter) = self.dparams.postfilter else { return Ok(()) };
        let mut input = vec![0; range.len()];
        self.begin(chunk.as_bytes().as_ptr());
        let decoded = self.decompressor().bytes_into(chunk, range.start, &mut input);
        decoded.map_err(|error| self.failure(&error))?;
        let mut scratch = vec![0; 4 * chunk.header().blocksize().max(range.len())];
        let number = |size: usize| i32::try_from(size).map_err(|_| INVALID_PARAM);
        let mut params = PostfilterParams {
            user_data: self.postparams.map_or(std::ptr::null_mut(), |params| params.user_data),
            input: input.as_ptr(),
            output: out.as_mut_ptr(),
            size: number(range.len())?,
            typesize: number(chunk.header().typesize())?,
            offset: number(range.start)?,
            nchunk: self.nchunk,
            nblock: number(index)?,
            tid: 0,
            ttmp: scratch.as_mut_ptr(),
            ttmp_nbytes: scratch.len(),
            ctx: &raw mut *self,
        };
        // SAFETY: the parameters say of input and output what they are, and the program has given
        // the function for this.
        let code = unsafe { postfilter(&raw mut params) };
        if code == 0 { Ok(()) } else { Err(POSTFILTER) }
    }
}
