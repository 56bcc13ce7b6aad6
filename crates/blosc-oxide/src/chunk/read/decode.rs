//! From a chunk to its data.

use super::blocks::block::{BlockDecoder, BlockSource, Scratch, codec_plugin, decode_dict, grow, own, set_stages};
use super::blocks::queue::{End, Queue};
use super::blocks::sharing::{is_worth_sharing, work};
use super::view::Chunk;
use crate::chunk::format::header::Header;
use crate::chunk::format::special;
use crate::chunk::plugins::Plugins;
use crate::error::{Result, bail};
use crate::exec::{Threads, fill_parts, keep_first, lock, part_len, tick};
use crate::filter::{BitshuffleRule, Stages};
use crate::item::Item;
use crate::limits::Limits;
use blosc_kernels::copy::copy;
use std::sync::{Arc, Mutex};

/// Reads chunks, and keeps the memory it needs for that: after the first chunk of a size,
/// [`decompress_into`] makes no allocation of its own.
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
    block_shape: Option<Arc<[usize]>>,
    /// The true size of items, where the field of a header is too small for it.
    item: Option<usize>,
    /// The rule of bitshuffle of chunks whose header does not say it.
    bitshuffle: BitshuffleRule,
    workers: Vec<Mutex<Scratch>>,
    /// The first block, for filters that refer to it.
    first: Vec<u8>,
}

impl Decompressor {
    /// One that works on as many threads as there are, within the default limits, without plug-ins.
    #[must_use]
    pub fn new() -> Self {
        Self {
            threads: Threads::default(),
            limits: Limits::new(),
            plugins: Plugins::new(),
            block_shape: None,
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

    /// Sets the shape of blocks in items, which codecs of arrays need to know, such as
    /// [`Codec::ZFP_ACCURACY`](crate::Codec::ZFP_ACCURACY).
    #[must_use]
    pub fn with_block_shape(mut self, shape: Option<&[usize]>) -> Self {
        self.set_block_shape(shape);
        self
    }

    /// Sets the shape of blocks from now on.
    pub fn set_block_shape(&mut self, shape: Option<&[usize]>) {
        if self.block_shape.as_deref() != shape {
            self.block_shape = shape.map(Arc::from);
        }
    }

    /// Sets the rule of bitshuffle for chunks that do not say it, which are those of version 4.
    /// See [`Header::is_bitshuffle_ambiguous`].
    #[must_use]
    pub fn with_bitshuffle(mut self, rule: BitshuffleRule) -> Self {
        self.bitshuffle = rule;
        self
    }

    /// Sets the size of items, which a header cannot store if it is more than 255 bytes.
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
    /// As [`decompress`](Self::decompress); `InvalidArgument` if the typesize of the chunk is not
    /// the size of `T`, or if its length is no multiple of it.
    pub fn decompress_items<T: Item>(&mut self, bytes: &[u8]) -> Result<Vec<T>> {
        let chunk = Chunk::parse(bytes)?;
        let (typesize, nbytes) = (chunk.header().typesize(), chunk.header().nbytes());
        if typesize != T::SIZE || !nbytes.is_multiple_of(T::SIZE) {
            bail!(InvalidArgument, "{nbytes} bytes of items of {typesize} bytes are no items of {}", T::DTYPE);
        }
        self.limits.check("the data of a chunk", nbytes)?;
        T::from_filled(nbytes / T::SIZE, false, &mut |out| self.chunk_into(&chunk, out).map(drop))
    }

    /// Puts the data of the chunk that `bytes` starts with at the start of `out`, and returns how
    /// long it is.
    ///
    /// # Errors
    /// As [`decompress`](Self::decompress); `OutputTooSmall` if `out` is shorter than the data.
    /// After an error the content of `out` is unspecified.
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

    /// Decodes the `wanted` blocks of a regular chunk to their positions in `out`, which is as long
    /// as all of the data.
    pub(in crate::chunk) fn decode(
        &mut self,
        chunk: &Chunk<'_>,
        wanted: &(dyn Fn(usize) -> bool + Sync),
        out: &mut [u8],
    ) -> Result<()> {
        let Self { threads, limits, plugins, block_shape, item, bitshuffle, workers, first } = self;
        let plan = chunk.plan()?;
        if plan.nblocks() == 0 {
            return Ok(());
        }
        limits.check("a block", largest_block(chunk.header()))?;
        let dict = decode_dict(&plan, chunk.header())?;
        let mut stages = Stages::none();
        set_stages(&mut stages, chunk.header(), plugins, *item, *bitshuffle)?;
        let plugin = codec_plugin(chunk.header().codec(), plugins)?;
        let decoder = BlockDecoder::new(&plan, &stages, chunk.header(), plugin, dict.as_ref(), block_shape.as_deref());
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
                // From both ends: whoever decodes to the same memory again finds most of it in the
                // cache that has it.
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
        let Self { limits, plugins, block_shape, item, bitshuffle, workers, first, .. } = self;
        let plan = chunk.plan()?;
        limits.check("a block", largest_block(chunk.header()))?;
        let dict = decode_dict(&plan, chunk.header())?;
        let mut stages = Stages::none();
        set_stages(&mut stages, chunk.header(), plugins, *item, *bitshuffle)?;
        let plugin = codec_plugin(chunk.header().codec(), plugins)?;
        let decoder = BlockDecoder::new(&plan, &stages, chunk.header(), plugin, dict.as_ref(), block_shape.as_deref());
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

/// The most memory that one block can need.
fn largest_block(header: &Header) -> usize {
    if header.has_vlblocks() { header.nbytes() } else { header.blocksize() }
}
