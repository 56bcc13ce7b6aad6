//! Chunks whose blocks have lengths of their own.

use super::blocks::scratch::{Scratch, own};
use super::dict;
use super::encode::Compressor;
use super::layout::{SIZE_LEN, put_size, stored};
use super::resolve::{codec_version, encoding, native_endianness, stages};
use crate::chunk::format::header::{BLOSC2_LEN, Extension, Fields, VERSION_VLBLOCKS, VLBLOCKS, flag, flag2};
use crate::chunk::options::{Format, Options};
use crate::codec::{EncodeDict, Encoding};
use crate::error::{Result, bail};
use crate::filter::{BlockPlace, id as filter_id};
use blosc_kernels::copy::copy;

impl Compressor {
    /// A chunk that keeps `blocks` apart: each can be read alone, and has its own length.
    ///
    /// ```
    /// use blosc_oxide::{Chunk, Compressor, Options};
    /// let bytes = Compressor::new(Options::new(1))?.compress_vlblocks(&[b"one", b"three"])?;
    /// let chunk = Chunk::parse(&bytes)?;
    /// assert_eq!(chunk.block(1)?, b"three");
    /// assert_eq!(chunk.decompress()?, b"onethree");
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` if there is no block, or an empty one, or they are too long together for a
    /// chunk, if the format is Blosc1, or if delta is among the filters: it refers to other blocks.
    pub fn compress_vlblocks(&mut self, blocks: &[&[u8]]) -> Result<Vec<u8>> {
        let nbytes = check(&self.options, blocks)?;
        let Self { options, workers, .. } = self;
        let scratch = own(&mut workers[0]);
        let lens: Vec<usize> = blocks.iter().map(|block| block.len()).collect();
        let mut filtered = vec![0; nbytes];
        filter_all(options, blocks, scratch, &mut filtered)?;
        let dict = if options.dict && options.level > 0 {
            dict::from_vlblocks(options.codec, options.level, &lens, &filtered)
        } else {
            None
        };
        let starts_end = BLOSC2_LEN + SIZE_LEN * lens.len();
        let room_needed =
            starts_end + SIZE_LEN * lens.len() + nbytes + dict.as_ref().map_or(0, |dict| SIZE_LEN + dict.bytes().len());
        let mut chunk = vec![0; room_needed];
        let streams_at = match &dict {
            Some(dict) => dict::write(dict, starts_end, &mut chunk).unwrap_or(starts_end),
            None => starts_end,
        };
        let how = encoding(options, false, dict.as_ref());
        let cbytes = pack(&how, &lens, &filtered, streams_at, scratch, &mut chunk)?;
        chunk[..BLOSC2_LEN].copy_from_slice(&header(options, nbytes, lens.len(), cbytes, dict.as_ref()).to_bytes());
        chunk.truncate(cbytes);
        Ok(chunk)
    }
}

/// Refuses blocks that cannot be in such a chunk; returns the size of all together.
fn check(options: &Options, blocks: &[&[u8]]) -> Result<usize> {
    if options.format == Format::Blosc1 {
        bail!(InvalidArgument, "a Blosc1 chunk cannot have variable-length blocks");
    }
    if options.pipeline.contains(filter_id::DELTA) {
        bail!(InvalidArgument, "delta refers to the first block, which variable-length blocks must not");
    }
    if blocks.is_empty() {
        bail!(InvalidArgument, "no variable-length block is given");
    }
    if let Some(index) = blocks.iter().position(|block| block.is_empty()) {
        bail!(InvalidArgument, "variable-length block {index} is empty");
    }
    let nbytes = blocks.iter().fold(0_usize, |sum, block| sum.saturating_add(block.len()));
    let worst =
        nbytes.saturating_add(BLOSC2_LEN + (64 << 10)).saturating_add(blocks.len().saturating_mul(2 * SIZE_LEN));
    if i32::try_from(worst).is_err() {
        bail!(InvalidArgument, "{} blocks of {nbytes} bytes in all are too much for a chunk", blocks.len());
    }
    Ok(nbytes)
}

fn filter_all(options: &Options, blocks: &[&[u8]], scratch: &mut Scratch, mut filtered: &mut [u8]) -> Result<()> {
    let stages = stages(options)?;
    for block in blocks {
        let (out, rest) = filtered.split_at_mut(block.len());
        copy(scratch.filter(&stages, BlockPlace::First, block)?.0, out);
        filtered = rest;
    }
    Ok(())
}

/// Compresses block after block from `at` on, and returns where the last one ends.
fn pack(
    how: &Encoding<'_>,
    lens: &[usize],
    mut filtered: &[u8],
    mut at: usize,
    scratch: &mut Scratch,
    chunk: &mut [u8],
) -> Result<usize> {
    for (index, &len) in lens.iter().enumerate() {
        let (block, rest) = filtered.split_at(len);
        filtered = rest;
        put_size(BLOSC2_LEN + index * SIZE_LEN, at, chunk);
        put_size(at, len, chunk);
        at += SIZE_LEN;
        at += pack_block(how, block, scratch, &mut chunk[at..at + len])?;
    }
    Ok(at)
}

fn pack_block(how: &Encoding<'_>, block: &[u8], scratch: &mut Scratch, out: &mut [u8]) -> Result<usize> {
    let packed = if how.context.level == 0 { None } else { scratch.codec.compress(how, block, out)? };
    match packed {
        // A payload as long as the block means that it is stored as it is, and an empty one could
        // not be distinguished.
        Some(len) if len > 0 && len < block.len() => Ok(len),
        _ => {
            copy(block, out);
            Ok(block.len())
        }
    }
}

fn header(options: &Options, nbytes: usize, nblocks: usize, cbytes: usize, dict: Option<&EncodeDict>) -> Fields {
    Fields {
        version: VERSION_VLBLOCKS,
        codec_version: codec_version(options),
        flags: flag::EXTENDED | flag::NOT_SPLIT | options.codec.format_code() << flag::CODEC_SHIFT,
        typesize: u8::try_from(options.typesize).unwrap_or(1),
        nbytes: stored(nbytes),
        blocksize: stored(nblocks),
        cbytes: stored(cbytes),
        extension: Some(Extension {
            pipeline: options.pipeline,
            codec: options.codec.code(),
            codec_meta: options.codec_meta,
            flags2: VLBLOCKS,
            blosc2_flags: native_endianness() | if dict.is_some() { flag2::DICT } else { 0 },
        }),
    }
}
