//! One block: its streams decoded, its filters undone.

use crate::chunk::format::header::Header;
use crate::chunk::format::plan::{Block, Plan, Stream};
use crate::chunk::memory::room;
use crate::chunk::plugins::Plugins;
use crate::codec::{Codec, CodecContext, CodecPlugin, DecodeDict, DecodeState, Decoding, missing};
use crate::error::{Result, bail};
use crate::exec::{Threads, keep_first, lock, tick};
use crate::filter::{BitshuffleRule, BlockPlace, Element, Stages};
use blosc_kernels::copy::copy;
use std::sync::Mutex;

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

/// Everything that the blocks of one chunk have in common.
pub(in crate::chunk) struct BlockDecoder<'d> {
    pub(in crate::chunk) plan: &'d Plan<'d>,
    pub(in crate::chunk) stages: &'d Stages<'d>,
    pub(in crate::chunk) how: Decoding<'d>,
    pub(in crate::chunk::read) refers_to_first_block: bool,
    pub(in crate::chunk::read) blocksize: usize,
    pub(in crate::chunk::read) nbytes: usize,
}

impl<'d> BlockDecoder<'d> {
    #[inline]
    pub(in crate::chunk::read) fn new(
        plan: &'d Plan<'d>,
        stages: &'d Stages<'d>,
        header: &Header,
        plugin: Option<&'d dyn CodecPlugin>,
        dict: Option<&'d DecodeDict<'d>>,
        block_shape: Option<&'d [usize]>,
    ) -> Self {
        let context = CodecContext { meta: header.codec_meta(), level: 0, typesize: header.typesize(), block_shape };
        Self {
            plan,
            stages,
            how: Decoding { codec: header.codec(), context, plugin, dict },
            // Variable-length blocks never refer to another, whatever the filter.
            refers_to_first_block: stages.refers_to_first_block() && !header.has_vlblocks(),
            blocksize: header.blocksize(),
            nbytes: header.nbytes(),
        }
    }

    pub(in crate::chunk::read) fn block_len(&self, index: usize) -> Result<usize> {
        if self.blocksize > 0 {
            return Ok(self.blocksize.min(self.nbytes - index * self.blocksize));
        }
        Ok(self.plan.block(index)?.len)
    }

    /// Decodes one block into `out`, which has its length.
    pub(in crate::chunk::read) fn decode(
        &self,
        index: usize,
        reference: &[u8],
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let block = self.plan.block(index)?;
        let is_self_contained = index == 0 || !self.refers_to_first_block;
        let place = if is_self_contained { BlockPlace::First } else { BlockPlace::After(reference) };
        self.decode_here(&block, place, out, scratch).map_err(|error| error.within(format_args!("block {index}")))
    }

    #[inline(always)]
    pub(in crate::chunk::read) fn decode_here(
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

    /// Decodes the only block of a chunk, its streams on several workers.
    pub(in crate::chunk::read) fn decode_in_parallel(
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
    pub(in crate::chunk::read) fn decode_streams_with(
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
    pub(in crate::chunk::read) fn decode_streams(
        &self,
        block: &Block<'_>,
        out: &mut [u8],
        codec: &mut DecodeState,
    ) -> Result<()> {
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

/// One block, ready to be decoded into a buffer.
pub(in crate::chunk) struct BlockSource<'s, 'd> {
    pub(in crate::chunk::read) decoder: &'s BlockDecoder<'d>,
    pub(in crate::chunk::read) index: usize,
    pub(in crate::chunk::read) reference: &'s [u8],
    pub(in crate::chunk::read) scratch: &'s mut Scratch,
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

#[inline(always)]
fn decode_stream(stream: Stream<'_>, out: &mut [u8], codec: &mut DecodeState, how: &Decoding<'_>) -> Result<()> {
    match stream {
        Stream::Run(byte) => out.fill(byte),
        Stream::Raw(bytes) => copy(bytes, out),
        Stream::Compressed(bytes) => codec.decompress(how, bytes, out)?,
    }
    Ok(())
}

/// Resolves the filters of a chunk that have to be undone.
#[inline]
pub(in crate::chunk::read) fn set_stages<'p>(
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
pub(in crate::chunk::read) fn codec_plugin(codec: Codec, plugins: &Plugins) -> Result<Option<&dyn CodecPlugin>> {
    let plugin = match codec {
        Codec::Plugin(id) => plugins.codecs.get(id),
        _ => None,
    };
    if plugin.is_none() && !codec.can_be_read() {
        return Err(missing(codec));
    }
    Ok(plugin)
}

pub(in crate::chunk::read) fn decode_dict<'a>(plan: &Plan<'a>, header: &Header) -> Result<Option<DecodeDict<'a>>> {
    plan.dict().map(|dict| DecodeDict::new(header.codec(), dict)).transpose()
}

/// Makes sure that there is scratch for `count` workers.
#[inline]
pub(in crate::chunk::read) fn grow(workers: &mut Vec<Mutex<Scratch>>, count: usize) {
    while workers.len() < count {
        workers.push(Mutex::default());
    }
}

/// The scratch of a worker, which no other worker uses.
pub(in crate::chunk::read) fn own(worker: &mut Mutex<Scratch>) -> &mut Scratch {
    worker.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}
