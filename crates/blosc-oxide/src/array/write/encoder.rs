//! One chunk put together and compressed.

use crate::array::reader::ArrayReader;
use crate::chunk::{Chunk, Compressor, Options, room};
use crate::error::Result;
use crate::exec::Threads;
use std::ops::Range;

/// What it takes to make a chunk.
pub(in crate::array) struct Encoder {
    compressor: Compressor,
    /// Whether the compressor works on one thread.
    is_serial: bool,
    data: Vec<u8>,
    chunk: Vec<u8>,
    scratch: Vec<u8>,
}

/// Fills the data of a chunk, given its number among those that are made, with the help of some
/// memory.
pub(in crate::array) type Fill<'a> =
    dyn Fn(&ArrayReader, usize, &mut [u8], &mut Vec<u8>) -> Result<Filled<'a>> + Sync + 'a;

/// What of the data of a chunk has been filled.
pub(in crate::array) enum Filled<'a> {
    /// All of it.
    Whole,
    /// Nothing, because all of it is in memory already.
    Ready(&'a [u8]),
    /// The blocks that are true; the others are as they are in the chunk `old`.
    Blocks { old: usize, changed: Vec<bool> },
}

impl Encoder {
    /// Whether the compressor works on one thread.
    pub(super) fn is_serial(&self) -> bool {
        self.is_serial
    }

    pub(super) fn new(options: Options, is_serial: bool) -> Result<Self> {
        let options = if is_serial { options.with_threads(Threads::serial()) } else { options };
        let compressor = Compressor::new(options)?;
        Ok(Self { compressor, is_serial, data: Vec::new(), chunk: Vec::new(), scratch: Vec::new() })
    }

    pub(super) fn encode(
        &mut self,
        array: &ArrayReader,
        nbytes: usize,
        number: usize,
        fill: &Fill<'_>,
    ) -> Result<Vec<u8>> {
        let data = room(&mut self.data, nbytes);
        let filled = fill(array, number, data, &mut self.scratch)?;
        if let Filled::Blocks { old, changed } = &filled
            && let Some(chunk) = self.encode_blocks(array, nbytes, *old, changed)?
        {
            return Ok(chunk);
        }
        let out = room(&mut self.chunk, self.compressor.max_compressed_len(nbytes));
        let data = if let Filled::Ready(data) = filled { data } else { &self.data[..nbytes] };
        let len = self.compressor.compress_into(data, out)?;
        Ok(self.take_chunk(len))
    }

    /// The first `len` bytes of the memory for chunks: that memory itself, if most of it is used,
    /// because to copy them to new memory is slower than to take new memory for the next chunk.
    fn take_chunk(&mut self, len: usize) -> Vec<u8> {
        if len < self.chunk.len() / 2 {
            return self.chunk[..len].to_vec();
        }
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.truncate(len);
        chunk.shrink_to_fit();
        chunk
    }

    /// Compresses some blocks, and takes the others as they are stored; `None` if that cannot be
    /// done, and they are there as well then.
    fn encode_blocks(
        &mut self,
        array: &ArrayReader,
        nbytes: usize,
        old: usize,
        changed: &[bool],
    ) -> Result<Option<Vec<u8>>> {
        let data = &mut self.data[..nbytes];
        if let Some(stored) = array.sc.stored_chunk(old)? {
            let stored = Chunk::parse(&stored)?;
            let chunk = self.compressor.compress_blocks(data, &stored, changed)?;
            if chunk.is_some() {
                return Ok(chunk);
            }
        }
        let unchanged: Vec<bool> = changed.iter().map(|changed| !changed).collect();
        let missing = ranges_of(&unchanged, array.geometry().block_nbytes());
        array.sc.ranges_into(old, &missing, data)?;
        Ok(None)
    }
}

/// Where the blocks are that are true, of `nbytes` each.
pub(in crate::array) fn ranges_of(blocks: &[bool], nbytes: usize) -> Vec<Range<usize>> {
    let chosen = (0..).zip(blocks).filter(|(_, is_chosen)| **is_chosen);
    chosen.map(|(block, _)| block * nbytes..(block + 1) * nbytes).collect()
}
