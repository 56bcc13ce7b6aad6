//! From a chunk to its data.

use super::view::Chunk;
use crate::chunk::format::header::Header;
use crate::chunk::format::plan::{Block, Plan, Stream};
use crate::chunk::format::special;
use crate::chunk::plugins::Plugins;
use crate::codec::{Codec, CodecContext, CodecPlugin, DecodeDict, DecodeState, Decoding, missing};
use crate::error::{Error, Result, bail};
use crate::exec::{Threads, fill_parts, lock, part_len, tick};
use crate::filter::{BitshuffleRule, BlockPlace, Element, Stages};
use crate::item::Item;
use crate::limits::Limits;
use blosc_kernels::copy::copy;
use std::ops::Range;
use std::sync::Mutex;

/// Reads chunks, and keeps the memory it needs for that: after the first chunk of a size, [`decompress_into`] makes no
/// allocation of its own.
///
/// [`decompress_into`]: Decompressor::decompress_into
///
/// ```
/// use blosc_oxide::{Decompressor, Options};
/// let chunk = blosc_oxide::compress(&[1; 5000], &Options::new(1))?;
/// let mut decompressor = Decompressor::new();
/// let mut data = [0; 5000];
/// assert_eq!(decompressor.decompress_into(&chunk, &mut data)?, 5000);
/// assert_eq!(data, [1; 5000]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct Decompressor {
    threads: Threads,
    pub(in crate::chunk) limits: Limits,
    plugins: Plugins,
    /// The true size of items, where a header has no room for it.
    item: Option<usize>,
    /// The rule of bitshuffle, where a header does not tell.
    bitshuffle: BitshuffleRule,
    workers: Vec<Mutex<Scratch>>,
    /// The first block, for filters that refer to it.
    first: Vec<u8>,
}

/// What each worker keeps.
#[derive(Default)]
pub(in crate::chunk) struct Scratch {
    pub(in crate::chunk) codec: DecodeState,
    pub(in crate::chunk) filtered: Vec<u8>,
    /// A whole block of which only a part is wanted.
    pub(in crate::chunk) block: Vec<u8>,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.filtered.len() + self.block.len())
    }
}

impl Decompressor {
    /// One that works on as many threads as there are, within the default limits, without plug-ins.
    #[must_use]
    pub fn new() -> Self {
        Self {
            threads: Threads::default(),
            limits: Limits::new(),
            plugins: Plugins::new(),
            item: None,
            bitshuffle: BitshuffleRule::default(),
            workers: Vec::new(),
            first: Vec::new(),
        }
    }

    /// Sets where blocks are worked on.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Sets where blocks are worked on from now on.
    pub fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// Sets what a declared size may make it allocate.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the plug-in codecs and filters.
    #[must_use]
    pub fn with_plugins(mut self, plugins: Plugins) -> Self {
        self.plugins = plugins;
        self
    }

    /// Sets the rule of bitshuffle for chunks that do not tell it, which are those of version 4. See
    /// [`Header::is_bitshuffle_ambiguous`].
    #[must_use]
    pub fn with_bitshuffle(mut self, rule: BitshuffleRule) -> Self {
        self.bitshuffle = rule;
        self
    }

    /// Tells it the size of items, which a header cannot say of those of more than 255 bytes.
    #[must_use]
    pub(crate) fn with_item(mut self, typesize: usize) -> Self {
        self.item = Some(typesize);
        self
    }

    /// The data of the chunk that `bytes` starts with.
    ///
    /// # Errors
    /// As [`Chunk::parse`] and [`Chunk::decompress`].
    pub fn decompress(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        self.chunk(&Chunk::parse(bytes)?)
    }

    /// The numbers in the chunk that `bytes` starts with; their bytes are little-endian in it.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress); `InvalidArgument` if the typesize of the chunk is not the size of `T`, or
    /// if its length is no multiple of it.
    pub fn decompress_items<T: Item>(&mut self, bytes: &[u8]) -> Result<Vec<T>> {
        let chunk = Chunk::parse(bytes)?;
        let (typesize, nbytes) = (chunk.header().typesize(), chunk.header().nbytes());
        if typesize != T::SIZE || !nbytes.is_multiple_of(T::SIZE) {
            bail!(InvalidArgument, "{nbytes} bytes of items of {typesize} bytes are no items of {}", T::DTYPE);
        }
        self.limits.check("the data of a chunk", nbytes)?;
        T::from_filled(nbytes / T::SIZE, false, &mut |out| self.chunk_into(&chunk, out).map(drop))
    }

    /// Puts the data of the chunk that `bytes` starts with at the start of `out`, and returns how long it is.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress); `OutputTooSmall` if `out` is shorter than the data. After an error the
    /// content of `out` is unspecified.
    pub fn decompress_into(&mut self, bytes: &[u8], out: &mut [u8]) -> Result<usize> {
        let mut chunk = Chunk::unread(bytes);
        chunk.read()?;
        self.chunk_into(&chunk, out)
    }

    /// All of the data of `chunk`.
    ///
    /// # Errors
    /// As [`Chunk::decompress`].
    pub fn chunk(&mut self, chunk: &Chunk<'_>) -> Result<Vec<u8>> {
        let mut data = self.buffer(chunk.header().nbytes())?;
        self.chunk_into(chunk, &mut data)?;
        Ok(data)
    }

    /// Puts all of the data of `chunk` at the start of `out`, and returns how long it is.
    ///
    /// # Errors
    /// As [`decompress_into`](Self::decompress_into).
    pub fn chunk_into(&mut self, chunk: &Chunk<'_>, out: &mut [u8]) -> Result<usize> {
        let header = chunk.header();
        let nbytes = header.nbytes();
        let Some(out) = out.get_mut(..nbytes) else {
            bail!(OutputTooSmall, "the chunk holds {nbytes} bytes, the output has room for {}", out.len());
        };
        if let Some(special) = header.special() {
            fill_parts(&self.threads, out, |at, part| special::fill(header, special, chunk.as_bytes(), at, part));
        } else if header.is_memcpyed() {
            let stored = &chunk.as_bytes()[header.header_len()..];
            fill_parts(&self.threads, out, |at, part| copy(&stored[at..at + part.len()], part));
        } else {
            self.decode(chunk, &|_| true, out)?;
        }
        Ok(nbytes)
    }

    /// Whether the codec and the filters of a chunk are known.
    pub(in crate::chunk) fn check_known(&self, header: &Header) -> Result<()> {
        codec_plugin(header.codec(), &self.plugins)?;
        set_stages(&mut Stages::none(), header, &self.plugins, self.item, self.bitshuffle)
    }

    /// Memory for `nbytes` of output, if the limits allow it.
    pub(in crate::chunk) fn buffer(&self, nbytes: usize) -> Result<Vec<u8>> {
        self.limits.check("the data of a chunk", nbytes)?;
        Ok(vec![0; nbytes])
    }

    /// Decodes the `wanted` blocks of a regular chunk to where they belong in `out`, which has room for all of it.
    pub(in crate::chunk) fn decode(
        &mut self,
        chunk: &Chunk<'_>,
        wanted: &(dyn Fn(usize) -> bool + Sync),
        out: &mut [u8],
    ) -> Result<()> {
        let Self { threads, limits, plugins, item, bitshuffle, workers, first } = self;
        let plan = chunk.plan()?;
        if plan.nblocks() == 0 {
            return Ok(());
        }
        limits.check("a block", largest_block(chunk.header()))?;
        let dict = decode_dict(&plan, chunk.header())?;
        let mut stages = Stages::none();
        set_stages(&mut stages, chunk.header(), plugins, *item, *bitshuffle)?;
        let plugin = codec_plugin(chunk.header().codec(), plugins)?;
        let decoder = BlockDecoder::new(&plan, &stages, chunk.header(), plugin, dict.as_ref());
        grow(workers, 1);
        if plan.nblocks() == 1 && wanted(0) {
            let block = plan.block(0)?;
            let most = threads.workers(block.nstreams(), block.len);
            let count = if most > 1 && is_worth_sharing(&block, chunk.header().codec()) { most } else { 1 };
            grow(workers, count);
            let result = decoder.decode_in_parallel(&block, threads, &mut workers[..count], out);
            return result.map_err(|error| error.within("block 0"));
        }
        let mut queue = Queue::new(out, &decoder);
        let reference = if decoder.refers_to_first_block {
            decoder.first_block(wanted(0), &mut queue, first, own(&mut workers[0]))?
        } else {
            &[]
        };
        let nwanted = (0..plan.nblocks()).filter(|&index| wanted(index)).count();
        let nbytes = decoder.nbytes / plan.nblocks() * nwanted;
        let count = threads.workers(nwanted, work(chunk.header().codec(), nbytes));
        grow(workers, count);
        if count == 1 {
            let decoded = decoder.decode_blocks(queue.rest(), wanted, reference, own(&mut workers[0]));
            return decoded.map_err(|(_, error)| error);
        }
        let part_len = part_len(nbytes, count);
        let queue = Mutex::new(queue);
        let failure = Mutex::new(None);
        threads.run(count, &|worker| {
            let mut scratch = lock(&workers[worker]);
            loop {
                tick();
                // From both ends: whoever decodes to the same memory again finds most of it in the cache that has it.
                let end = if worker.is_multiple_of(2) { End::Front } else { End::Back };
                let part = lock(&queue).next(end, part_len, wanted);
                let decoded = match part {
                    None => return,
                    Some(Ok(part)) => decoder.decode_blocks(part, wanted, reference, &mut scratch),
                    Some(Err(found)) => Err(found),
                };
                if let Err(found) = decoded {
                    lock(&queue).stop_behind(found.0);
                    keep_first(&mut lock(&failure), found);
                }
            }
        });
        match failure.into_inner().unwrap_or_default() {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Calls `use_block` with one block of a regular chunk after the other.
    pub(in crate::chunk) fn each_block(
        &mut self,
        chunk: &Chunk<'_>,
        blocks: impl Iterator<Item = usize>,
        mut use_block: impl FnMut(usize, BlockSource<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let Self { limits, plugins, item, bitshuffle, workers, first, .. } = self;
        let plan = chunk.plan()?;
        limits.check("a block", largest_block(chunk.header()))?;
        let dict = decode_dict(&plan, chunk.header())?;
        let mut stages = Stages::none();
        set_stages(&mut stages, chunk.header(), plugins, *item, *bitshuffle)?;
        let plugin = codec_plugin(chunk.header().codec(), plugins)?;
        let decoder = BlockDecoder::new(&plan, &stages, chunk.header(), plugin, dict.as_ref());
        grow(workers, 1);
        let scratch = own(&mut workers[0]);
        let mut queue = Queue::new(&mut [], &decoder);
        let reference =
            if decoder.refers_to_first_block { decoder.first_block(false, &mut queue, first, scratch)? } else { &[] };
        for index in blocks {
            use_block(index, BlockSource { decoder: &decoder, index, reference, scratch })?;
        }
        Ok(())
    }
}

impl Default for Decompressor {
    fn default() -> Self {
        Self::new()
    }
}

/// One block that can be decoded to where it is wanted.
pub(in crate::chunk) struct BlockSource<'s, 'd> {
    decoder: &'s BlockDecoder<'d>,
    index: usize,
    reference: &'s [u8],
    scratch: &'s mut Scratch,
}

impl BlockSource<'_, '_> {
    /// Decodes the block into `out`, which has its length.
    pub(in crate::chunk) fn decode_into(self, out: &mut [u8]) -> Result<()> {
        self.decoder.decode(self.index, self.reference, out, self.scratch)
    }

    /// The size of the block.
    pub(in crate::chunk) fn len(&self) -> Result<usize> {
        self.decoder.block_len(self.index)
    }

    /// Decodes the block and puts the bytes from `from` on into `out`.
    pub(in crate::chunk) fn decode_part_into(self, from: usize, out: &mut [u8]) -> Result<()> {
        let is_done = self.decoder.decode_part(self.index, from, out, self.scratch);
        if is_done.map_err(|error| error.within(format_args!("block {}", self.index)))? {
            return Ok(());
        }
        let len = self.len()?;
        let mut block = std::mem::take(&mut self.scratch.block);
        let whole = room(&mut block, len);
        let result = self.decoder.decode(self.index, self.reference, whole, self.scratch);
        if result.is_ok() {
            out.copy_from_slice(&whole[from..from + out.len()]);
        }
        self.scratch.block = block;
        result
    }
}

/// Hands out blocks from both ends, each with its own part of the output.
struct Queue<'o, 'd> {
    blocks: Range<usize>,
    /// The output of all of them.
    rest: &'o mut [u8],
    decoder: &'o BlockDecoder<'d>,
}

/// Which blocks are handed out next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

/// Blocks in a row, and the part of the output that is theirs.
struct Part<'o> {
    blocks: Range<usize>,
    out: &'o mut [u8],
}

impl<'o, 'd> Queue<'o, 'd> {
    fn new(out: &'o mut [u8], decoder: &'o BlockDecoder<'d>) -> Self {
        Self { blocks: 0..decoder.plan.nblocks(), rest: out, decoder }
    }

    /// The next blocks, until those of them that are wanted have `len` bytes or more; or which has failed.
    fn next(
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
    fn rest(self) -> Part<'o> {
        Part { blocks: self.blocks, out: self.rest }
    }

    /// The part of the output that belongs to the first block.
    fn first(&mut self) -> Result<&'o mut [u8]> {
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

    /// Hands out no more blocks if all that are left come after `failed`. Those before it are still handed out: the failure of the
    /// lowest is to be told.
    fn stop_behind(&mut self, failed: usize) {
        if failed <= self.blocks.start {
            self.blocks.end = self.blocks.start;
        }
    }
}

/// Everything that the blocks of one chunk have in common.
pub(in crate::chunk) struct BlockDecoder<'d> {
    pub(in crate::chunk) plan: &'d Plan<'d>,
    pub(in crate::chunk) stages: &'d Stages<'d>,
    pub(in crate::chunk) how: Decoding<'d>,
    refers_to_first_block: bool,
    blocksize: usize,
    nbytes: usize,
}

impl<'d> BlockDecoder<'d> {
    #[inline]
    fn new(
        plan: &'d Plan<'d>,
        stages: &'d Stages<'d>,
        header: &Header,
        plugin: Option<&'d dyn CodecPlugin>,
        dict: Option<&'d DecodeDict<'d>>,
    ) -> Self {
        let context = CodecContext { meta: header.codec_meta(), level: 0, typesize: header.typesize() };
        Self {
            plan,
            stages,
            how: Decoding { codec: header.codec(), context, plugin, dict },
            // Variable-length blocks stand for themselves, whatever the filter.
            refers_to_first_block: stages.refers_to_first_block() && !header.has_vlblocks(),
            blocksize: header.blocksize(),
            nbytes: header.nbytes(),
        }
    }

    fn block_len(&self, index: usize) -> Result<usize> {
        if self.blocksize > 0 {
            return Ok(self.blocksize.min(self.nbytes - index * self.blocksize));
        }
        Ok(self.plan.block(index)?.len)
    }

    /// Decodes the first block, in the output if it is wanted there, and returns it for others to refer to.
    fn first_block<'o>(
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
    fn decode_blocks(
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

    /// Decodes one block into `out`, which has its length.
    fn decode(&self, index: usize, reference: &[u8], out: &mut [u8], scratch: &mut Scratch) -> Result<()> {
        let block = self.plan.block(index)?;
        let is_self_contained = index == 0 || !self.refers_to_first_block;
        let place = if is_self_contained { BlockPlace::First } else { BlockPlace::After(reference) };
        self.decode_here(&block, place, out, scratch).map_err(|error| error.within(format_args!("block {index}")))
    }

    #[inline(always)]
    fn decode_here(
        &self,
        block: &Block<'_>,
        place: BlockPlace<'_>,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { codec, filtered, .. } = scratch;
        if self.stages.is_empty() {
            return self.decode_streams(block, out, codec);
        }
        let filtered = room(filtered, out.len());
        let target = if self.stages.starts_in_output() { &mut *out } else { &mut *filtered };
        self.decode_streams(block, target, codec)?;
        self.stages.backward(place, out, filtered)
    }

    /// Decodes the only block of a chunk, with several workers stream by stream.
    fn decode_in_parallel(
        &self,
        block: &Block<'_>,
        threads: &Threads,
        workers: &mut [Mutex<Scratch>],
        out: &mut [u8],
    ) -> Result<()> {
        if workers.len() == 1 {
            return self.decode_here(block, BlockPlace::First, out, own(&mut workers[0]));
        }
        let mut filtered = std::mem::take(&mut own(&mut workers[0]).filtered);
        let scratch = room(&mut filtered, out.len());
        let is_direct = self.stages.is_empty() || self.stages.starts_in_output();
        let target = if is_direct { &mut *out } else { &mut *scratch };
        let mut result = self.decode_streams_with(block, threads, workers, target);
        if result.is_ok() && !self.stages.is_empty() {
            result = self.stages.backward(BlockPlace::First, out, scratch);
        }
        own(&mut workers[0]).filtered = filtered;
        result
    }

    /// Decodes the streams of a block, each by one of the workers.
    fn decode_streams_with(
        &self,
        block: &Block<'_>,
        threads: &Threads,
        workers: &[Mutex<Scratch>],
        out: &mut [u8],
    ) -> Result<()> {
        let jobs = Mutex::new(out.chunks_exact_mut(block.stream_len()).zip(block.streams()).enumerate());
        let failure = Mutex::new(None);
        threads.run(workers.len(), &|worker| {
            let mut scratch = lock(&workers[worker]);
            loop {
                tick();
                let job = lock(&jobs).next();
                let Some((index, (part, stream))) = job else { return };
                let decoded = stream.and_then(|stream| decode_stream(stream, part, &mut scratch.codec, &self.how));
                if let Err(error) = decoded {
                    keep_first(&mut lock(&failure), (index, error));
                }
            }
        });
        match failure.into_inner().unwrap_or_default() {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    #[inline(always)]
    fn decode_streams(&self, block: &Block<'_>, out: &mut [u8], codec: &mut DecodeState) -> Result<()> {
        let stream_len = block.stream_len();
        let mut streams = block.streams();
        for part in out.chunks_exact_mut(stream_len) {
            match streams.next() {
                Some(stream) => decode_stream(stream?, part, codec, &self.how)?,
                None => bail!(Corrupt, "{} bytes are left over", part.len()),
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn decode_stream(stream: Stream<'_>, out: &mut [u8], codec: &mut DecodeState, how: &Decoding<'_>) -> Result<()> {
    match stream {
        Stream::Run(byte) => out.fill(byte),
        Stream::Raw(bytes) => copy(bytes, out),
        Stream::Compressed(bytes) => codec.decompress(how, bytes, out)?,
    }
    Ok(())
}

/// Finds out what the filters of a chunk have to undo.
#[inline]
fn set_stages<'p>(
    stages: &mut Stages<'p>,
    header: &Header,
    plugins: &'p Plugins,
    item: Option<usize>,
    untold: BitshuffleRule,
) -> Result<()> {
    if header.is_instrumented() {
        return Ok(());
    }
    let typesize = header.typesize();
    let item = if typesize == 1 { item.unwrap_or(1) } else { typesize };
    let element = Element { typesize, item, bitshuffle: header.bitshuffle_rule().unwrap_or(untold) };
    stages.set_for_decoding(header.pipeline_ref(), element, &plugins.filters)
}

/// The plug-in of a codec that is not built in.
#[inline]
fn codec_plugin(codec: Codec, plugins: &Plugins) -> Result<Option<&dyn CodecPlugin>> {
    let plugin = match codec {
        Codec::Plugin(id) => plugins.codecs.get(id),
        _ => None,
    };
    if plugin.is_none() && !codec.can_be_read() {
        return Err(missing(codec));
    }
    Ok(plugin)
}

fn decode_dict<'a>(plan: &Plan<'a>, header: &Header) -> Result<Option<DecodeDict<'a>>> {
    plan.dict().map(|dict| DecodeDict::new(header.codec(), dict)).transpose()
}

/// What decoding `nbytes` amounts to, in bytes of the slowest codecs: waiting for a second thread takes as long as the
/// fast ones take for a few hundred kilobytes.
fn work(codec: Codec, nbytes: usize) -> usize {
    match codec {
        Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc | Codec::Snappy | Codec::Zstd | Codec::Lizard => nbytes / 8,
        _ => nbytes,
    }
}

/// Whether decoding the streams of a block side by side saves time: in picoseconds, for an average processor.
///
/// What one thread has decoded and another one filters goes from cache to cache, which takes longer than decoding it took if
/// the codec is fast. And streams are of different kinds: often one of them takes longer than all others together.
fn is_worth_sharing(block: &Block<'_>, codec: Codec) -> bool {
    const WAKING_UP: u64 = 30_000_000;
    const MOVING_A_BYTE: u64 = 150;
    let for_a_byte = match codec {
        Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc | Codec::Snappy => return false,
        Codec::Zstd => 400,
        _ => 2000,
    };
    let (mut all, mut longest) = (0, 0);
    for stream in block.streams().flatten() {
        if let Stream::Compressed(bytes) = stream {
            let time = bytes.len() as u64 * for_a_byte;
            all += time;
            longest = longest.max(time);
        }
    }
    all - longest.max(all / 2) > WAKING_UP + block.len as u64 / 2 * MOVING_A_BYTE
}

/// The most that one block can ask for.
fn largest_block(header: &Header) -> usize {
    if header.has_vlblocks() { header.nbytes() } else { header.blocksize() }
}

/// Makes sure that there is scratch for `count` workers.
#[inline]
fn grow(workers: &mut Vec<Mutex<Scratch>>, count: usize) {
    while workers.len() < count {
        workers.push(Mutex::default());
    }
}

/// The scratch of a worker that nobody else can be using.
fn own(worker: &mut Mutex<Scratch>) -> &mut Scratch {
    worker.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The first `len` bytes of `buffer`, whatever they are, which grows to that if need be.
pub(crate) fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        // What it held is not wanted, nor kept while there is new memory. New zeros of the system are made when they are
        // first touched, where `resize` would write them all.
        *buffer = Vec::new();
        *buffer = vec![0; len];
    }
    &mut buffer[..len]
}

/// Keeps the failure of the lowest block, so that the error does not depend on timing: those below a block that fails are all
/// tried.
pub(in crate::chunk) fn keep_first(kept: &mut Option<(usize, Error)>, found: (usize, Error)) {
    if kept.as_ref().is_none_or(|(index, _)| found.0 < *index) {
        *kept = Some(found);
    }
}
