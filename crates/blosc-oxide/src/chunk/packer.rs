//! The blocks of a chunk, compressed.

use super::assembly::{Assembly, Buffers};
use super::decode::{keep_first, room};
use super::encode::{Layout, SIZE_LEN, Scratch, own, put_size, stored};
use super::reuse::Reuse;
use crate::codec::{EncodeState, Encoding};
use crate::error::{Error, Result};
use crate::exec::{Threads, lock};
use crate::filter::{BlockPlace, Stages};
use blosc_kernels::copy::copy;
use blosc_kernels::runs::repeated_byte;
use std::sync::{Mutex, PoisonError};

const RUN_TOKEN: u8 = 0x01;

/// Everything that the blocks of one chunk have in common.
pub(super) struct Packer<'p> {
    pub(super) layout: &'p Layout,
    pub(super) reuse: Option<&'p Reuse<'p>>,
    pub(super) stages: Stages<'p>,
    pub(super) how: Encoding<'p>,
    pub(super) data: &'p [u8],
    /// Where the first stream goes.
    pub(super) streams_at: usize,
}

impl Packer<'_> {
    /// Compresses all blocks to `out`; `None` if that is no shorter than storing them.
    pub(super) fn pack(
        &self,
        threads: &Threads,
        workers: &mut Vec<Mutex<Scratch>>,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        if self.streams_at >= self.limit() {
            return Ok(None);
        }
        let count = threads.workers(self.layout.nblocks, self.data.len());
        while workers.len() < count {
            workers.push(Mutex::default());
        }
        if count == 1 {
            return self.pack_in_order(own(&mut workers[0]), out);
        }
        self.pack_side_by_side(threads, &workers[..count], buffers, out)
    }

    /// From this length on, storing the data as it is is no worse.
    fn limit(&self) -> usize {
        self.layout.header_len + self.layout.nbytes
    }

    /// Compresses block after block, each to where it belongs.
    fn pack_in_order(&self, scratch: &mut Scratch, out: &mut [u8]) -> Result<Option<usize>> {
        let mut at = self.streams_at;
        for (index, block) in self.data.chunks(self.layout.blocksize).enumerate() {
            self.put_start(index, at, out);
            let Some(len) = self.pack_block(index, block, &mut out[at..self.limit()], scratch)? else {
                return Ok(None);
            };
            at += len;
            if at >= self.limit() {
                return Ok(None);
            }
        }
        Ok(Some(at))
    }

    /// Compresses several blocks at a time, each to memory of its own; it is copied to where it belongs as soon as all
    /// before it are done.
    fn pack_side_by_side(
        &self,
        threads: &Threads,
        workers: &[Mutex<Scratch>],
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let (head, streams) = out[..self.limit()].split_at_mut(self.streams_at);
        let assembly = Mutex::new(buffers.assembly(self.layout, streams));
        let jobs = Mutex::new(Some(self.data.chunks(self.layout.blocksize).enumerate()));
        let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        threads.run(workers.len(), &|worker| {
            let mut scratch = lock(&workers[worker]);
            let mut slot = lock(&assembly).slot();
            loop {
                let job = lock(&jobs).as_mut().and_then(Iterator::next);
                let Some((index, block)) = job else { break };
                match self.pack_block(index, block, &mut slot, &mut scratch) {
                    Ok(len) => {
                        let len = len.expect("a slot has room for the worst case");
                        slot = lock(&assembly).finished(index, slot, len);
                    }
                    Err(error) => {
                        *lock(&jobs) = None;
                        keep_first(&mut lock(&failure), (index, error));
                    }
                }
                copy_finished(&assembly);
                let is_too_long = lock(&assembly).is_too_long();
                if is_too_long {
                    *lock(&jobs) = None;
                }
            }
            lock(&assembly).give_back(slot);
        });
        let assembly = assembly.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Nothing behind a block that has failed is ever placed: one thread would have stopped here, too.
        if assembly.is_too_long() {
            return Ok(None);
        }
        if let Some((_, error)) = failure.into_inner().unwrap_or_default() {
            return Err(error);
        }
        let mut end = self.streams_at;
        for (index, len) in assembly.lens().enumerate() {
            self.put_start(index, end, head);
            end += len;
        }
        Ok(Some(end))
    }

    /// Compresses one block to the start of `slot`; `None` if it is longer than `slot`.
    fn pack_block(&self, index: usize, block: &[u8], slot: &mut [u8], scratch: &mut Scratch) -> Result<Option<usize>> {
        if let Some(old) = self.reuse.and_then(|reuse| reuse.block(index, block.len())) {
            return Ok(put(old, slot));
        }
        let nstreams = self.layout.nstreams(block.len());
        if self.layout.has_runs
            && self.stages.keeps_runs()
            && let Some(byte) = repeated_byte(block)
        {
            return Ok((0..nstreams).try_fold(0, |at, _| Some(at + put_run(byte, &mut slot[at..])?)));
        }
        let place = if index == 0 { BlockPlace::First } else { BlockPlace::After(&self.data[..self.layout.blocksize]) };
        let (filtered, codec, spare) = scratch.filter(&self.stages, place, block)?;
        let mut at = 0;
        for stream in filtered.chunks(filtered.len() / nstreams) {
            let Some(len) = self.pack_stream(stream, &mut slot[at..], codec, spare)? else { return Ok(None) };
            at += len;
        }
        Ok(Some(at))
    }

    /// Compresses one stream to the start of `slot`; `None` if it is longer than `slot`.
    ///
    /// How well it compresses must not depend on the length of `slot`: where a slot is too short for the stream as it
    /// is, it is compressed to `spare` first.
    fn pack_stream(
        &self,
        stream: &[u8],
        slot: &mut [u8],
        codec: &mut EncodeState,
        spare: &mut Vec<u8>,
    ) -> Result<Option<usize>> {
        if self.layout.has_runs
            && let Some(byte) = repeated_byte(stream)
        {
            return Ok(put_run(byte, slot));
        }
        let Some((size, rest)) = slot.split_at_mut_checked(SIZE_LEN) else { return Ok(None) };
        let len = if let Some(payload) = rest.get_mut(..stream.len()) {
            self.compressed_len(stream, payload, codec)?.unwrap_or_else(|| {
                copy(stream, payload);
                stream.len()
            })
        } else {
            let payload = room(spare, stream.len());
            let Some(len) = self.compressed_len(stream, payload, codec)? else { return Ok(None) };
            let Some(len) = put(&payload[..len], rest) else { return Ok(None) };
            len
        };
        size.copy_from_slice(&stored(len).to_le_bytes());
        Ok(Some(SIZE_LEN + len))
    }

    /// Compresses one stream to the start of `payload`, which is as long; `None` if that makes it no shorter.
    fn compressed_len(&self, stream: &[u8], payload: &mut [u8], codec: &mut EncodeState) -> Result<Option<usize>> {
        let len = codec.compress(&self.how, stream, payload)?;
        // A size of 0 would be read as a run of zeros.
        Ok(len.filter(|&len| len > 0 && len < stream.len()))
    }

    fn put_start(&self, index: usize, at: usize, out: &mut [u8]) {
        put_size(self.layout.header_len + index * SIZE_LEN, at, out);
    }
}

/// Copies blocks to their places until one is missing.
fn copy_finished(assembly: &Mutex<Assembly<'_>>) {
    loop {
        let next = lock(assembly).place();
        let Some(next) = next else { return };
        copy(&next.slot[..next.len], next.place);
        lock(assembly).give_back(next.slot);
    }
}

/// Writes a stream of one repeated byte, if there is room: nothing but a size of 0, or the negated byte and a token.
fn put_run(byte: u8, slot: &mut [u8]) -> Option<usize> {
    let size = (-i32::from(byte)).to_le_bytes();
    if byte == 0 { put(&size, slot) } else { put(&[size[0], size[1], size[2], size[3], RUN_TOKEN], slot) }
}

/// Copies `bytes` to the start of `slot`, if there is room, and returns how many these are.
fn put(bytes: &[u8], slot: &mut [u8]) -> Option<usize> {
    copy(bytes, slot.get_mut(..bytes.len())?);
    Some(bytes.len())
}
