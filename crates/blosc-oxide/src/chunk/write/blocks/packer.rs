//! The blocks of a chunk, compressed.

use super::assembly::{Assembly, Buffers};
use super::reuse::Reuse;
use super::scratch::{Scratch, own};
use crate::chunk::memory::room;
use crate::chunk::write::layout::{Layout, SIZE_LEN, put_size, stored};
use crate::codec::{Codec, EncodeState, Encoding};
use crate::error::{Error, Result};
use crate::exec::{Threads, keep_first, lock, part_len, tick};
use crate::filter::{BlockPlace, Stages};
use blosc_kernels::copy::copy;
use blosc_kernels::runs::repeated_byte;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const RUN_TOKEN: u8 = 0x01;

/// Everything that the blocks of one chunk have in common.
pub(in crate::chunk) struct Packer<'p> {
    pub(in crate::chunk) layout: &'p Layout,
    pub(in crate::chunk) reuse: Option<&'p Reuse<'p>>,
    pub(in crate::chunk) stages: Stages<'p>,
    pub(in crate::chunk) how: Encoding<'p>,
    pub(in crate::chunk) data: &'p [u8],
    /// Where the first stream goes.
    pub(in crate::chunk) streams_at: usize,
}

/// A part that was compressed.
struct Packed {
    /// Its length. If something has failed: the output must be longer than this, or one thread
    /// would have stopped before.
    len: usize,
    /// What has failed, and where.
    failed: Option<(usize, Error)>,
}

/// What has become of a stream.
enum Attempt {
    /// It is in its place, and so long there.
    Packed(usize),
    /// It is no shorter when it is compressed. There is room for it as it is, where nothing of use
    /// is yet.
    Raw,
    /// It is longer than its place.
    TooLong,
}

/// What has failed in a block.
struct Failure {
    /// The output must be longer than this: otherwise the data would have been stored before the
    /// failure.
    needed: usize,
    error: Error,
}

/// A stream for which this many bytes are left, or fewer, is not tried.
const NEEDED_TO_FAIL: usize = SIZE_LEN - 1;

impl Packer<'_> {
    /// Compresses all blocks to `out`; `None` if that is no shorter than storing them, or longer
    /// than `out`.
    pub(in crate::chunk) fn pack(
        &self,
        threads: &Threads,
        workers: &mut Vec<Mutex<Scratch>>,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let room = out.len();
        let out = &mut out[..room.min(self.most())];
        if self.streams_at > out.len() {
            return Ok(None);
        }
        let jobs = if self.layout.nblocks == 1 { self.streams_to_share() } else { self.layout.nblocks };
        let count = threads.workers(jobs, self.work());
        while workers.len() < count {
            workers.push(Mutex::default());
        }
        if count == 1 {
            return self.pack_in_order(own(&mut workers[0]), out);
        }
        if self.layout.nblocks > 1 {
            return self.pack_blocks_in_parallel(threads, &workers[..count], buffers, out);
        }
        self.pack_streams_in_parallel(threads, &mut workers[..count], buffers, out)
    }

    /// The cost of compressing all of it, in bytes of the slower codecs: waking a second thread
    /// takes as long as the fastest take for a hundred kilobytes.
    fn work(&self) -> usize {
        let nbytes = self.data.len();
        match (self.how.codec, self.how.context.level) {
            _ if self.is_fast() => nbytes / 4,
            (Codec::Lz4Hc | Codec::Zlib | Codec::Zstd, ..3) => nbytes / 2,
            _ => nbytes,
        }
    }

    /// How many streams of the only block can be compressed at a time. Of the fast codecs it is
    /// one: a block that one thread filters and another compresses has to go from cache to cache,
    /// which takes longer than compressing it.
    fn streams_to_share(&self) -> usize {
        if self.is_fast() { 1 } else { self.layout.nstreams(self.data.len()) }
    }

    fn is_fast(&self) -> bool {
        matches!(self.how.codec, Codec::BloscLz | Codec::Lz4 | Codec::Snappy)
    }

    /// The longest chunk that is shorter than storing the data as it is.
    fn most(&self) -> usize {
        self.layout.header_len + self.layout.nbytes - 1
    }

    /// Compresses block after block, each to its final position.
    ///
    /// Blocks at the start that are no shorter when they are compressed are copied when one comes
    /// that is: if none comes, the data is stored as a whole, and would have been copied in vain.
    fn pack_in_order(&self, scratch: &mut Scratch, out: &mut [u8]) -> Result<Option<usize>> {
        let mut at = self.streams_at;
        let mut is_raw = self.stages.is_empty() && !self.layout.split && self.reuse.is_none();
        for (index, block) in self.data.chunks(self.layout.blocksize).enumerate() {
            self.put_start(index, at, out);
            if is_raw {
                let Scratch { codec, spare, .. } = scratch;
                at += match self.try_stream(block, &mut out[at..], codec, spare)? {
                    Attempt::Raw => SIZE_LEN + block.len(),
                    Attempt::Packed(len) => {
                        is_raw = false;
                        self.put_raw_blocks(index, out);
                        len
                    }
                    Attempt::TooLong => return Ok(None),
                };
                continue;
            }
            let packed = self.pack_block(index, block, &mut out[at..], scratch);
            let Some(len) = packed.map_err(|failure| failure.error)? else { return Ok(None) };
            at += len;
        }
        Ok(Some(at))
    }

    /// Compresses several blocks at a time.
    fn pack_blocks_in_parallel(
        &self,
        threads: &Threads,
        workers: &[Mutex<Scratch>],
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let Layout { nblocks, blocksize, .. } = *self.layout;
        let (head, streams) = out.split_at_mut(self.streams_at);
        let blocks_in_part = self.blocks_in_part(workers.len());
        let nparts = nblocks.div_ceil(blocks_in_part);
        let slot_len = blocks_in_part * self.layout.slot_len();
        let (assembly, block_lens) = buffers.assembly((nparts, nblocks), slot_len, streams);
        let packed = in_parallel(threads, workers, assembly, nparts, &|part, slot, scratch| {
            let first = part * blocks_in_part;
            let blocks = self.data.chunks(blocksize).enumerate().skip(first).take(blocks_in_part);
            let mut at = 0;
            for (index, block) in blocks {
                match self.pack_block(index, block, &mut slot[at..], scratch) {
                    Ok(len) => {
                        let len = len.expect("a slot has room for the worst case");
                        block_lens[index].store(len, Ordering::Relaxed);
                        at += len;
                    }
                    Err(Failure { needed, error }) => return Packed { len: at + needed, failed: Some((index, error)) },
                }
            }
            Packed { len: at, failed: None }
        })?;
        if packed.is_some() {
            let mut at = self.streams_at;
            for (index, len) in block_lens.iter().enumerate() {
                self.put_start(index, at, head);
                at += len.load(Ordering::Relaxed);
            }
        }
        Ok(packed.map(|len| self.streams_at + len))
    }

    /// How many blocks are handed out at a time: taking them may wait for other workers that do.
    fn blocks_in_part(&self, workers: usize) -> usize {
        (part_len(self.layout.nbytes, workers) / self.layout.blocksize).max(1)
    }

    /// Compresses several streams of the only block at a time.
    fn pack_streams_in_parallel(
        &self,
        threads: &Threads,
        workers: &mut [Mutex<Scratch>],
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let (block, nstreams) = (self.data, self.layout.nstreams(self.data.len()));
        if self.reuse.is_some() || self.run_of(block).is_some() {
            return self.pack_in_order(own(&mut workers[0]), out);
        }
        let (head, streams) = out.split_at_mut(self.streams_at);
        self.put_start(0, self.streams_at, head);
        let stream_len = block.len() / nstreams;
        let (assembly, _) = buffers.assembly((nstreams, 0), SIZE_LEN + stream_len, streams);
        let mut memory = std::mem::take(&mut own(&mut workers[0]).filtered);
        let packed = memory.filter(&self.stages, BlockPlace::First, block).and_then(|filtered| {
            in_parallel(threads, workers, assembly, nstreams, &|index, slot, scratch| {
                let stream = &filtered[index * stream_len..][..stream_len];
                match self.pack_stream(stream, slot, &mut scratch.codec, &mut scratch.spare) {
                    Ok(len) => Packed { len: len.expect("a slot has room for the worst case"), failed: None },
                    Err(error) => Packed { len: NEEDED_TO_FAIL, failed: Some((index, error)) },
                }
            })
        });
        own(&mut workers[0]).filtered = memory;
        Ok(packed?.map(|len| self.streams_at + len))
    }

    /// The byte that a block repeats, if that can be seen before it is filtered.
    fn run_of(&self, block: &[u8]) -> Option<u8> {
        if self.layout.has_runs && self.stages.keeps_runs() { repeated_byte(block) } else { None }
    }

    /// Compresses one block to the start of `slot`; `None` if it is longer than `slot`.
    fn pack_block(
        &self,
        index: usize,
        block: &[u8],
        slot: &mut [u8],
        scratch: &mut Scratch,
    ) -> std::result::Result<Option<usize>, Failure> {
        if let Some(old) = self.reuse.and_then(|reuse| reuse.block(index, block.len())) {
            return Ok(put(old, slot));
        }
        let nstreams = self.layout.nstreams(block.len());
        if let Some(byte) = self.run_of(block) {
            return Ok((0..nstreams).try_fold(0, |at, _| Some(at + put_run(byte, &mut slot[at..])?)));
        }
        let place = if index == 0 { BlockPlace::First } else { BlockPlace::After(&self.data[..self.layout.blocksize]) };
        let filtered = scratch.filter(&self.stages, place, block);
        let (filtered, codec, spare) = filtered.map_err(|error| Failure { needed: 0, error })?;
        let mut at = 0;
        for stream in filtered.chunks(filtered.len() / nstreams) {
            let packed = self.pack_stream(stream, &mut slot[at..], codec, spare);
            match packed.map_err(|error| Failure { needed: at + NEEDED_TO_FAIL, error })? {
                Some(len) => at += len,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// Compresses one block to the end of `out`.
    pub(in crate::chunk) fn push_block(
        &self,
        index: usize,
        block: &[u8],
        out: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let at = out.len();
        out.resize(at + self.layout.slot_len(), 0);
        let len = self.pack_block(index, block, &mut out[at..], scratch).map_err(|failure| failure.error)?;
        out.truncate(at + len.expect("a slot has room for the worst case"));
        Ok(())
    }

    /// Copies the first `count` blocks, each of one stream, to where they belong.
    fn put_raw_blocks(&self, count: usize, out: &mut [u8]) {
        let mut at = self.streams_at;
        for block in self.data.chunks(self.layout.blocksize).take(count) {
            at += put_raw(block, &mut out[at..]);
        }
    }

    /// Compresses one stream to the start of `slot`; `None` if it is longer than `slot`.
    fn pack_stream(
        &self,
        stream: &[u8],
        slot: &mut [u8],
        codec: &mut EncodeState,
        spare: &mut Vec<u8>,
    ) -> Result<Option<usize>> {
        Ok(match self.try_stream(stream, slot, codec, spare)? {
            Attempt::Packed(len) => Some(len),
            Attempt::Raw => Some(put_raw(stream, slot)),
            Attempt::TooLong => None,
        })
    }

    /// Compresses one stream to the start of `slot`, if that makes it shorter.
    ///
    /// How well it compresses must not depend on the length of `slot`: where a slot is too short
    /// for the stream as it is, it is compressed to `spare` first.
    fn try_stream(
        &self,
        stream: &[u8],
        slot: &mut [u8],
        codec: &mut EncodeState,
        spare: &mut Vec<u8>,
    ) -> Result<Attempt> {
        if self.layout.has_runs
            && let Some(byte) = repeated_byte(stream)
        {
            return Ok(put_run(byte, slot).map_or(Attempt::TooLong, Attempt::Packed));
        }
        let Some((size, rest)) = slot.split_at_mut_checked(SIZE_LEN) else { return Ok(Attempt::TooLong) };
        let len = if let Some(payload) = rest.get_mut(..stream.len()) {
            let Some(len) = self.compressed_len(stream, payload, codec)? else { return Ok(Attempt::Raw) };
            len
        } else {
            let payload = room(spare, stream.len());
            let Some(len) = self.compressed_len(stream, payload, codec)? else { return Ok(Attempt::TooLong) };
            let Some(len) = put(&payload[..len], rest) else { return Ok(Attempt::TooLong) };
            len
        };
        size.copy_from_slice(&stored(len).to_le_bytes());
        Ok(Attempt::Packed(SIZE_LEN + len))
    }

    /// Compresses one stream to the start of `payload`, which is as long; `None` if that makes it
    /// no shorter.
    fn compressed_len(&self, stream: &[u8], payload: &mut [u8], codec: &mut EncodeState) -> Result<Option<usize>> {
        let len = codec.compress(&self.how, stream, payload)?;
        // A size of 0 would be read as a run of zeros.
        Ok(len.filter(|&len| len > 0 && len < stream.len()))
    }

    pub(in crate::chunk) fn put_start(&self, index: usize, at: usize, out: &mut [u8]) {
        put_size(self.layout.header_len + index * SIZE_LEN, at, out);
    }
}

/// Makes `nparts` parts of a chunk, several at a time and each in memory of its own, and copies
/// each to its final position as soon as all before it are there. Returns how long they are, or
/// `None` if that is too long. `pack` makes one of them at the start of the memory it is given.
fn in_parallel(
    threads: &Threads,
    workers: &[Mutex<Scratch>],
    assembly: Assembly<'_>,
    nparts: usize,
    pack: &(dyn Fn(usize, &mut [u8], &mut Scratch) -> Packed + Sync),
) -> Result<Option<usize>> {
    let (assembly, next) = (Mutex::new(assembly), AtomicUsize::new(0));
    let failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    threads.run(workers.len(), &|worker| {
        let mut scratch = lock(&workers[worker]);
        let mut slot = lock(&assembly).slot();
        let _alarm = Alarm { next: &next, nparts };
        loop {
            tick();
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= nparts {
                break;
            }
            let Packed { len, failed } = pack(part, &mut slot, &mut scratch);
            let is_cut = failed.is_some();
            if let Some(found) = failed {
                keep_first(&mut lock(&failure), found);
            }
            let is_too_long;
            (slot, is_too_long) = hand_over(&assembly, part, slot, len, is_cut);
            if is_cut || is_too_long {
                next.store(nparts, Ordering::Relaxed);
            }
        }
        lock(&assembly).give_back(slot);
    });
    let assembly = assembly.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Nothing behind what has failed is ever placed: one thread would have stopped here, too.
    if assembly.is_too_long() {
        return Ok(None);
    }
    match failure.into_inner().unwrap_or_default() {
        Some((_, error)) => Err(error),
        None => Ok(Some(assembly.placed_len())),
    }
}

/// Stops the other workers when the thread that owns it panics: their work would be lost.
struct Alarm<'a> {
    next: &'a AtomicUsize,
    nparts: usize,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.next.store(self.nparts, Ordering::Relaxed);
        }
    }
}

/// Hands a part over, and copies parts to their positions until one is missing. Returns memory for
/// another, and whether the parts have got too long.
fn hand_over(assembly: &Mutex<Assembly<'_>>, part: usize, slot: Vec<u8>, len: usize, is_cut: bool) -> (Vec<u8>, bool) {
    let mut locked = lock(assembly);
    locked.finished(part, slot, len, is_cut);
    while let Some(next) = locked.place() {
        drop(locked);
        copy(&next.slot[..next.len], next.place);
        locked = lock(assembly);
        locked.give_back(next.slot);
    }
    (locked.slot(), locked.is_too_long())
}

/// Writes a stream of one repeated byte, if there is space: nothing but a size of 0, or the negated
/// byte and a token.
fn put_run(byte: u8, slot: &mut [u8]) -> Option<usize> {
    let size = (-i32::from(byte)).to_le_bytes();
    if byte == 0 { put(&size, slot) } else { put(&[size[0], size[1], size[2], size[3], RUN_TOKEN], slot) }
}

/// Writes a stream as it is to the start of `slot`, which has room for it; returns how long it is
/// there.
fn put_raw(stream: &[u8], slot: &mut [u8]) -> usize {
    let (size, rest) = slot.split_at_mut(SIZE_LEN);
    size.copy_from_slice(&stored(stream.len()).to_le_bytes());
    copy(stream, &mut rest[..stream.len()]);
    SIZE_LEN + stream.len()
}

/// Copies `bytes` to the start of `slot`, if there is room, and returns how many these are.
fn put(bytes: &[u8], slot: &mut [u8]) -> Option<usize> {
    copy(bytes, slot.get_mut(..bytes.len())?);
    Some(bytes.len())
}
