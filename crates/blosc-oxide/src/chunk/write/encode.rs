//! From data to a chunk.
//!
//! Blocks are compressed in any order but always written in theirs, and no decision depends on how
//! many threads there are or how long the output is: the same data and options give the same bytes.

use super::blocks::assembly::Buffers;
use super::blocks::packer::Packer;
use super::blocks::reuse::{Changed, Reuse};
use super::blocks::scratch::{Scratch, own};
use super::dict;
use super::layout::{Layout, SIZE_LEN, stored, stored_typesize};
use super::resolve::{codec_version, encoding, native_endianness, stages};
use super::tuning::SplitRule;
use super::{blosc1, tuning};
use crate::chunk::format::header::{BLOSC1_LEN, BLOSC2_LEN, Extension, Fields, Special, flag, flag2};
use crate::chunk::memory::room;
use crate::chunk::options::{Format, Options};
use crate::chunk::read::view::Chunk;
use crate::error::{Result, bail};
use crate::exec::fill_parts;
use crate::filter::{BlockPlace, Stages, id as filter_id};
use crate::item::Item;
use crate::limits::MAX_NBYTES;
use blosc_kernels::copy::copy;
use blosc_kernels::runs::is_zero;
use std::ops::Range;
use std::sync::Mutex;

/// Writes chunks, and keeps the memory it needs for that: after the first buffer of a size,
/// [`compress_into`] makes no allocation of its own on one thread. On several threads, the number
/// of parts that wait for an earlier one differs from call to call; memory is kept for the largest
/// number so far.
///
/// [`compress_into`]: Compressor::compress_into
///
/// ```
/// use blosc_oxide::{Codec, Compressor, Options};
/// let mut compressor = Compressor::new(Options::new(8).with_codec(Codec::Lz4))?;
/// let data = [42; 8000];
/// let mut chunk = vec![0; compressor.max_compressed_len(data.len())];
/// let len = compressor.compress_into(&data, &mut chunk)?;
/// assert_eq!(blosc_oxide::decompress(&chunk[..len])?, data);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct Compressor {
    pub(in crate::chunk) options: Options,
    pub(in crate::chunk) workers: Vec<Mutex<Scratch>>,
    /// A chunk that may be too long for the caller's output.
    whole: Vec<u8>,
    assembly: Buffers,
    /// The filtered data, which a dictionary is made from.
    filtered: Vec<u8>,
}

impl Compressor {
    /// Checks the options.
    ///
    /// # Errors
    /// `InvalidArgument` if an option is out of its range or contradicts another, `Unsupported` if
    /// this build is without the codec or filter.
    pub fn new(options: Options) -> Result<Self> {
        Ok(Self {
            options: checked(options)?,
            workers: vec![Mutex::default()],
            whole: Vec::new(),
            assembly: Buffers::default(),
            filtered: Vec::new(),
        })
    }

    /// The options it has.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The length that a chunk of `nbytes` has at the most.
    #[must_use]
    pub fn max_compressed_len(&self, nbytes: usize) -> usize {
        nbytes.saturating_add(self.header_len())
    }

    /// The size of the blocks that a chunk of `nbytes` has.
    ///
    /// ```
    /// use blosc_oxide::{Compressor, Options};
    /// assert_eq!(Compressor::new(Options::new(4).with_blocksize(1001))?.blocksize_for(5000), 1000);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    #[must_use]
    pub fn blocksize_for(&self, nbytes: usize) -> usize {
        self.layout(nbytes).blocksize
    }

    /// The chunk of `data`.
    ///
    /// # Errors
    /// `InvalidArgument` if the data is too long for a chunk; whatever a plug-in reports.
    pub fn compress(&mut self, data: &[u8]) -> Result<Vec<u8>> {
        self.check_len(data.len())?;
        let mut chunk = vec![0; self.max_compressed_len(data.len())];
        let len = self.write(data, &mut chunk)?.expect("there is room for the longest chunk");
        chunk.truncate(len);
        chunk.shrink_to_fit();
        Ok(chunk)
    }

    /// Compresses numbers into a new chunk. Their bytes are little-endian in it, on every machine.
    ///
    /// # Errors
    /// As [`compress`](Self::compress); `InvalidArgument` if the typesize of the options is not the
    /// size of `T`.
    pub fn compress_items<T: Item>(&mut self, items: &[T]) -> Result<Vec<u8>> {
        let typesize = self.options.typesize;
        if typesize != T::SIZE {
            bail!(InvalidArgument, "items of {} have {} bytes, the typesize is {typesize}", T::DTYPE, T::SIZE);
        }
        self.compress(&T::to_bytes(items, false))
    }

    /// Puts the chunk of `data` at the start of `out`, and returns how long it is. It is never
    /// longer than [`max_compressed_len`](Self::max_compressed_len), and the same whatever the
    /// length of `out`. Compressing ends as soon as `out` is full.
    ///
    /// # Errors
    /// As [`compress`](Self::compress); `OutputTooSmall` if the chunk is longer than `out`.
    pub fn compress_into(&mut self, data: &[u8], out: &mut [u8]) -> Result<usize> {
        self.check_len(data.len())?;
        let (max, room) = (self.max_compressed_len(data.len()), out.len());
        let written = if self.options.dict && room < max {
            self.write_elsewhere(data, max, out)?
        } else {
            self.write(data, &mut out[..room.min(max)])?
        };
        match written {
            Some(len) => Ok(len),
            None => bail!(OutputTooSmall, "the chunk is longer than the output, which has room for {room} bytes"),
        }
    }

    /// Makes the chunk in other memory and copies it to `out`; `None` if it is longer. In an `out`
    /// that is too short, the dictionary would be left out, and the chunk would be another one.
    fn write_elsewhere(&mut self, data: &[u8], max: usize, out: &mut [u8]) -> Result<Option<usize>> {
        let mut whole = std::mem::take(&mut self.whole);
        let written = self.write(data, room(&mut whole, max));
        let written = written.map(|len| {
            let len = len?;
            copy(&whole[..len], out.get_mut(..len)?);
            Some(len)
        });
        self.whole = whole;
        written
    }

    /// Replaces the options, and keeps its memory.
    ///
    /// ```
    /// use blosc_oxide::{Codec, Compressor, Options};
    /// let mut compressor = Compressor::new(Options::new(8).with_codec(Codec::Lz4))?;
    /// compressor.set_options(Options::new(2).with_codec(Codec::Zstd).with_level(9))?;
    /// assert_eq!(compressor.compress(&[0; 64])?.len(), 32);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new); the options stay what they were.
    pub fn set_options(&mut self, options: Options) -> Result<()> {
        self.options = checked(options)?;
        Ok(())
    }

    /// The chunk of `data`, of which only the bytes in `changed` are not what `old` holds: the
    /// blocks that they do not reach are copied from there, if it is a chunk of the same kind. The
    /// data may also have become longer or shorter at its end, which is treated as a change.
    pub(crate) fn compress_changed(&mut self, data: &[u8], old: &Chunk<'_>, changed: &Range<usize>) -> Result<Vec<u8>> {
        self.check_len(data.len())?;
        let layout = self.layout(data.len());
        let reuse = Reuse::new(&self.options, &layout, old, Changed::Bytes(changed.clone())).filter(|_| !is_zero(data));
        let Some(reuse) = reuse else { return self.compress(data) };
        let mut whole = std::mem::take(&mut self.whole);
        let out = room(&mut whole, self.max_compressed_len(data.len()));
        let packed = self.pack(data, &layout, Some(&reuse), out);
        let len = packed.map(|len| match len {
            Some(len) => self.finish(&layout, self.flags(&layout), 0, len, out),
            None => {
                let stored = self.store(data, &layout, Stored::Incompressible, out);
                stored.expect("there is room for the longest chunk")
            }
        });
        let chunk = len.map(|len| out[..len].to_vec());
        self.whole = whole;
        chunk
    }

    /// The chunk of `data`, of which only the blocks that `changed` is true for are there: the
    /// others are copied from `old`. `None` if they cannot be, or if the chunk would have to be
    /// stored as it is.
    pub(crate) fn compress_blocks(
        &mut self,
        data: &[u8],
        old: &Chunk<'_>,
        changed: &[bool],
    ) -> Result<Option<Vec<u8>>> {
        self.check_len(data.len())?;
        let layout = self.layout(data.len());
        let reuse = Reuse::new(&self.options, &layout, old, Changed::Blocks(changed));
        let Some(reuse) = reuse.filter(|reuse| reuse.is_complete(&layout)) else { return Ok(None) };
        let mut whole = std::mem::take(&mut self.whole);
        let out = room(&mut whole, self.max_compressed_len(data.len()));
        let packed = self.pack(data, &layout, Some(&reuse), out);
        let chunk = packed.map(|len| {
            len.map(|len| {
                let len = self.finish(&layout, self.flags(&layout), 0, len, out);
                out[..len].to_vec()
            })
        });
        self.whole = whole;
        chunk
    }

    /// The chunk of `nbytes` that `fill` gives block by block: it puts what comes from a position
    /// on into the block, and returns what the block repeats, if it repeats something. One that
    /// repeats the same as the block before it is not compressed again. Of `old`, only these bytes
    /// are not the same. `None` if the data is better stored as it is.
    pub(crate) fn compress_by_blocks(
        &mut self,
        nbytes: usize,
        old: Option<(&Chunk<'_>, Range<usize>)>,
        fill: &mut dyn FnMut(usize, &mut [u8]) -> Option<u64>,
    ) -> Result<Option<Vec<u8>>> {
        self.check_len(nbytes)?;
        let layout = self.layout(nbytes);
        let reuse = old.and_then(|(old, changed)| Reuse::new(&self.options, &layout, old, Changed::Bytes(changed)));
        let (mut first, mut block) = (vec![0; layout.blocksize], vec![0; layout.blocksize]);
        fill(0, &mut first);
        let Self { options, workers, .. } = self;
        let packer = Packer {
            layout: &layout,
            reuse: reuse.as_ref(),
            stages: stages(options)?,
            how: encoding(options, layout.split, None),
            data: &first,
            streams_at: layout.header_len + layout.nblocks * SIZE_LEN,
        };
        let mut out = vec![0; packer.streams_at];
        let mut last: Option<(u64, usize, Range<usize>)> = None;
        for index in 0..layout.nblocks {
            let from = index * layout.blocksize;
            let block = &mut block[..layout.blocksize.min(nbytes - from)];
            let repeated = fill(from, block);
            let at = out.len();
            packer.put_start(index, at, &mut out);
            match &last {
                Some((word, len, place)) if Some(*word) == repeated && *len == block.len() => {
                    out.extend_from_within(place.clone());
                }
                _ => packer.push_block(index, block, &mut out, own(&mut workers[0]))?,
            }
            last = repeated.map(|word| (word, block.len(), at..out.len()));
            if out.len() >= layout.header_len + nbytes {
                return Ok(None);
            }
        }
        let len = out.len();
        self.finish(&layout, self.flags(&layout), 0, len, &mut out);
        Ok(Some(out))
    }

    /// The header of a chunk that stores `nbytes` as they are, after it.
    pub(crate) fn stored_head(&self, nbytes: usize) -> Result<[u8; BLOSC2_LEN]> {
        self.check_len(nbytes)?;
        let mut head = [0; BLOSC2_LEN];
        let layout = self.layout(nbytes);
        self.finish(&layout, flag::EXTENDED | flag::MEMCPYED, 0, layout.header_len + nbytes, &mut head);
        Ok(head)
    }

    fn check_len(&self, nbytes: usize) -> Result<()> {
        let max = i32::MAX as usize - self.header_len();
        debug_assert!(max >= MAX_NBYTES);
        if nbytes > max {
            bail!(InvalidArgument, "{nbytes} bytes are too many for a chunk, which holds {max}");
        }
        Ok(())
    }

    fn header_len(&self) -> usize {
        match self.options.format {
            Format::Blosc1 => BLOSC1_LEN,
            Format::Blosc2 => BLOSC2_LEN,
        }
    }

    /// Writes the chunk of `data` to `out`, which is no longer than the longest chunk of it; `None`
    /// if it is too short.
    fn write(&mut self, data: &[u8], out: &mut [u8]) -> Result<Option<usize>> {
        let layout = self.layout(data.len());
        if data.len() < layout.min_buffer || self.options.level == 0 {
            return Ok(self.store(data, &layout, Stored::WithoutTrying, out));
        }
        if layout.has_runs && is_zero(data) {
            let flags = self.flags(&layout);
            let fits = out.len() >= BLOSC2_LEN;
            let special = Special::Zeros.code() << flag2::SPECIAL_SHIFT;
            return Ok(fits.then(|| self.finish(&layout, flags, special, BLOSC2_LEN, out)));
        }
        let packed = if self.options.dict { self.pack_with_dict(data, &layout, out)? } else { None };
        let (packed, blosc2_flags) = match packed {
            Some(len) => (Some(len), flag2::DICT),
            None => (self.pack(data, &layout, None, out)?, 0),
        };
        match packed {
            Some(len) => Ok(Some(self.finish(&layout, self.flags(&layout), blosc2_flags, len, out))),
            None => Ok(self.store(data, &layout, Stored::Incompressible, out)),
        }
    }

    /// Compresses all blocks to `out`; `None` if that is no shorter than storing them.
    fn pack(
        &mut self,
        data: &[u8],
        layout: &Layout,
        reuse: Option<&Reuse<'_>>,
        out: &mut [u8],
    ) -> Result<Option<usize>> {
        let Self { options, workers, assembly, .. } = self;
        let packer = Packer {
            layout,
            reuse,
            stages: stages(options)?,
            how: encoding(options, layout.split, None),
            data,
            streams_at: layout.header_len + layout.nblocks * SIZE_LEN,
        };
        packer.pack(&options.threads, workers, assembly, out)
    }

    /// The same with a dictionary made from the data; `None` if none can be made.
    fn pack_with_dict(&mut self, data: &[u8], layout: &Layout, out: &mut [u8]) -> Result<Option<usize>> {
        let Self { options, workers, assembly, filtered, .. } = self;
        let filtered = room(filtered, data.len());
        filter_all(options, layout, data, own(&mut workers[0]), filtered)?;
        let Some(dict) = dict::from_blocks(options.codec, options.level, layout, filtered) else {
            return Ok(None);
        };
        let dict_at = layout.header_len + layout.nblocks * SIZE_LEN;
        let Some(streams_at) = dict::write(&dict, dict_at, out) else { return Ok(None) };
        let packer = Packer {
            layout,
            reuse: None,
            stages: Stages::none(),
            how: encoding(options, layout.split, Some(&dict)),
            data: filtered,
            streams_at,
        };
        packer.pack(&options.threads, workers, assembly, out)
    }

    /// How a buffer of `nbytes` is divided into blocks.
    pub(in crate::chunk) fn layout(&self, nbytes: usize) -> Layout {
        let options = &self.options;
        let typesize = stored_typesize(options.typesize);
        let (blocksize, split, min_buffer) = match options.format {
            Format::Blosc1 => {
                let blocksize =
                    blosc1::blocksize(nbytes, typesize, options.codec, options.level, options.split, options.blocksize);
                let split = blosc1::splits(options.split, options.codec, typesize, blocksize);
                (blocksize, split, blosc1::MIN_BUFFER)
            }
            Format::Blosc2 => {
                let rule = SplitRule {
                    mode: options.split,
                    codec: options.codec,
                    level: options.level,
                    pipeline: options.pipeline,
                };
                let blocksize = rule.blocksize(nbytes, options.typesize, options.blocksize);
                (blocksize, rule.splits(typesize, blocksize), tuning::MIN_BUFFER)
            }
        };
        let blocksize = blocksize.max(1);
        Layout {
            nbytes,
            typesize,
            blocksize,
            nblocks: nbytes.div_ceil(blocksize),
            split,
            header_len: self.header_len(),
            min_buffer,
            has_runs: options.has_runs(),
        }
    }

    /// Byte 2 of a chunk that is compressed.
    fn flags(&self, layout: &Layout) -> u8 {
        let options = &self.options;
        let mut flags = options.codec.format_code() << flag::CODEC_SHIFT;
        if !layout.split {
            flags |= flag::NOT_SPLIT;
        }
        match options.format {
            Format::Blosc1 if options.has_shuffle() => flags |= flag::SHUFFLE,
            Format::Blosc1 if options.has_bitshuffle() => flags |= flag::BITSHUFFLE,
            Format::Blosc1 => {}
            Format::Blosc2 => flags |= flag::EXTENDED,
        }
        if options.pipeline.contains(filter_id::DELTA) {
            flags |= flag::DELTA;
        }
        flags
    }

    /// Stores the data as it is; `None` if `out` is too short.
    fn store(&self, data: &[u8], layout: &Layout, why: Stored, out: &mut [u8]) -> Option<usize> {
        let flags = match (why, self.options.format) {
            (Stored::WithoutTrying, Format::Blosc2) => flag::EXTENDED,
            _ => self.flags(layout),
        };
        let len = layout.header_len + data.len();
        let body = out.get_mut(layout.header_len..len)?;
        fill_parts(&self.options.threads, body, |at, part| copy(&data[at..at + part.len()], part));
        Some(self.finish(layout, flags | flag::MEMCPYED, 0, len, out))
    }

    /// Writes the header of a chunk of `cbytes`.
    fn finish(&self, layout: &Layout, flags: u8, blosc2_flags: u8, cbytes: usize, out: &mut [u8]) -> usize {
        let options = &self.options;
        let fields = Fields {
            version: options.version(),
            codec_version: codec_version(options),
            flags,
            typesize: u8::try_from(layout.typesize).unwrap_or(1),
            nbytes: stored(layout.nbytes),
            blocksize: stored(layout.blocksize),
            cbytes: stored(cbytes),
            extension: (options.format == Format::Blosc2).then_some(Extension {
                pipeline: options.pipeline,
                codec: options.repeated_codec(),
                codec_meta: options.codec_meta,
                flags2: 0,
                blosc2_flags: blosc2_flags | native_endianness(),
            }),
        };
        let header_len = layout.header_len;
        out[..header_len].copy_from_slice(&fields.to_bytes()[..header_len]);
        cbytes
    }
}

/// The options after checks, resolved.
fn checked(mut options: Options) -> Result<Options> {
    options.check()?;
    if let Ok(planes) = u8::try_from(options.typesize) {
        options.pipeline = options.pipeline.with_planes(planes);
    }
    stages(&options)?;
    Ok(options)
}

/// Why data is stored as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stored {
    WithoutTrying,
    Incompressible,
}

/// Filters all blocks of `data` into `filtered`.
fn filter_all(
    options: &Options,
    layout: &Layout,
    data: &[u8],
    scratch: &mut Scratch,
    filtered: &mut [u8],
) -> Result<()> {
    let stages = stages(options)?;
    let blocks = data.chunks(layout.blocksize).zip(filtered.chunks_mut(layout.blocksize));
    for (index, (block, out)) in blocks.enumerate() {
        let place = if index == 0 { BlockPlace::First } else { BlockPlace::After(&data[..layout.blocksize]) };
        copy(scratch.filter(&stages, place, block)?.0, out);
    }
    Ok(())
}
