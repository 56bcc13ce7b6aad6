//! How a chunk is to be written.

use super::format::header::{VERSION_BETA, VERSION_BLOSC1, VERSION_BLOSC2, VERSION_FIVE_FILTERS};
use super::plugins::Plugins;
use crate::codec::{Codec, missing};
use crate::error::{Result, bail};
use crate::exec::Threads;
use crate::filter::{BitshuffleRule, Filter, Pipeline, id as filter_id};
use crate::limits::{MAX_BLOCKSIZE, MAX_FILTERS};
use std::sync::Arc;

/// Which family of chunk is written.
///
/// ```
/// use blosc_oxide::{Format, Header, Options, compress};
/// let chunk = compress(b"for Zarr or HDF5", &Options::new(1).with_format(Format::Blosc1))?;
/// assert_eq!(Header::parse(&chunk)?.header_len(), 16);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Format {
    /// A header of 16 bytes, that C-Blosc 1.x and everything later reads.
    Blosc1,
    /// A header of 32 bytes with up to six filters.
    #[default]
    Blosc2,
}

/// Whether blocks are stored as one stream for each byte of an item, which helps fast codecs after
/// a shuffle.
///
/// ```
/// use blosc_oxide::{Chunk, Options, SplitMode, compress};
/// let data: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
/// let chunk = compress(&data, &Options::new(4).with_split(SplitMode::Never))?;
/// assert!(!Chunk::parse(&chunk)?.header().is_split());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum SplitMode {
    /// Wherever the format allows it.
    Always,
    /// Never.
    Never,
    /// Where it pays off.
    Auto,
    /// As the reference does by default: in Blosc2 the same as `Auto`, in Blosc1 for every codec
    /// but zstd.
    #[default]
    ForwardCompat,
}

/// For the readers of which releases chunks are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Alpha,
    /// With the rule of bitshuffle of its readers.
    Beta(BitshuffleRule),
    Release,
}

/// Options for writing chunks; built by value and checked once, by
/// [`Compressor::new`](super::Compressor::new).
///
/// | option | range | default |
/// |---|---|---|
/// | typesize | 1 to 536,866,816 bytes | none, it must be given |
/// | codec | any that is built in, or a plug-in | `BloscLz` |
/// | level | 0 (store) to 9 | 5 |
/// | filters | up to 6 | `Shuffle` |
/// | blocksize | 1 to 536,866,816 bytes, rounded down to whole items | automatic |
/// | split | see [`SplitMode`] | `ForwardCompat` |
/// | dict | with lz4, lz4hc and zstd | off |
/// | format | see [`Format`] | `Blosc2` |
/// | threads | see [`Threads`] | as many as there are |
///
/// ```
/// use blosc_oxide::{Codec, Filter, Options};
/// let options = Options::new(8).with_codec(Codec::Zstd).with_level(7).with_filters([Filter::BitShuffle]);
/// assert_eq!((options.codec(), options.level()), (Codec::Zstd, 7));
/// assert_eq!(options.pipeline().to_string(), "bitshuffle");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub(crate) typesize: usize,
    pub(crate) codec: Codec,
    pub(crate) codec_meta: u8,
    pub(crate) level: u8,
    pub(crate) pipeline: Pipeline,
    filter_count: usize,
    pub(crate) split: SplitMode,
    pub(crate) blocksize: Option<usize>,
    pub(crate) dict: bool,
    pub(crate) format: Format,
    era: Era,
    pub(crate) threads: Threads,
    pub(crate) plugins: Plugins,
    pub(crate) block_shape: Option<Arc<[usize]>>,
}

impl Options {
    /// The defaults, for items of `typesize` bytes.
    #[must_use]
    pub fn new(typesize: usize) -> Self {
        Self {
            typesize,
            codec: Codec::BloscLz,
            codec_meta: 0,
            level: 5,
            pipeline: Pipeline::none(),
            filter_count: 0,
            split: SplitMode::default(),
            blocksize: None,
            dict: false,
            format: Format::default(),
            era: Era::Release,
            threads: Threads::default(),
            plugins: Plugins::new(),
            block_shape: None,
        }
        .with_filters([Filter::Shuffle])
    }

    /// Sets the codec.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }

    /// Sets the byte that a plug-in codec is parameterised with.
    #[must_use]
    pub fn with_codec_meta(mut self, meta: u8) -> Self {
        self.codec_meta = meta;
        self
    }

    /// Sets the level: 0 stores, 1 is the fastest, 9 the smallest.
    #[must_use]
    pub fn with_level(mut self, level: u8) -> Self {
        self.level = level;
        self
    }

    /// Sets the filters, in the order of compression.
    #[must_use]
    pub fn with_filters(mut self, filters: impl IntoIterator<Item = Filter>) -> Self {
        let filters: Vec<Filter> = filters.into_iter().collect();
        self.filter_count = filters.len();
        self.pipeline = Pipeline::new(&filters).unwrap_or_default();
        self
    }

    /// Sets the filters with the slots they are in.
    #[must_use]
    pub fn with_pipeline(mut self, pipeline: Pipeline) -> Self {
        self.filter_count = pipeline.filters().count();
        self.pipeline = pipeline;
        self
    }

    /// Sets whether blocks are split.
    #[must_use]
    pub fn with_split(mut self, mode: SplitMode) -> Self {
        self.split = mode;
        self
    }

    /// Sets the size of blocks in bytes; `None` lets codec, level and typesize decide. It is
    /// rounded down to whole items, and up to one.
    #[must_use]
    pub fn with_blocksize(mut self, bytes: impl Into<Option<usize>>) -> Self {
        self.blocksize = bytes.into();
        self
    }

    /// Sets whether each chunk gets a dictionary made from its own data, where that is possible.
    #[must_use]
    pub fn with_dict(mut self, dict: bool) -> Self {
        self.dict = dict;
        self
    }

    /// Sets the family of chunk.
    #[must_use]
    pub fn with_format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Makes Blosc1 chunks those that the first alphas of C-Blosc2 wrote: version 3, with the old
    /// rule of bitshuffle. They exist in packed super-chunks only, so [`Format`] does not offer
    /// them.
    #[must_use]
    pub(crate) fn alpha(mut self, alpha: bool) -> Self {
        self.era = if alpha { Era::Alpha } else { Era::Release };
        self
    }

    /// Makes Blosc2 chunks those that the betas of C-Blosc2 wrote: version 4, without special
    /// values and without short forms of repeated bytes, which those did not read. They exist in
    /// early frames only. The rule of bitshuffle is that of the release they are for.
    #[must_use]
    pub(crate) fn beta(mut self, bitshuffle: BitshuffleRule) -> Self {
        self.era = Era::Beta(bitshuffle);
        self
    }

    /// Sets where blocks are worked on.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the plug-in codecs and filters.
    #[must_use]
    pub fn with_plugins(mut self, plugins: Plugins) -> Self {
        self.plugins = plugins;
        self
    }

    /// Sets the shape of blocks in items, which codecs of arrays need to know, such as
    /// [`Codec::ZFP_ACCURACY`]. Arrays do it themselves; the size of blocks is for the caller to
    /// set to that of all items of the shape.
    ///
    /// ```
    /// use blosc_oxide::{Codec, Compressor, Decompressor, Options};
    /// let plane: Vec<u8> = (0..64 * 64).flat_map(|i| (i as f32 / 1000.0).to_le_bytes()).collect();
    /// let options = Options::new(4)
    ///     .with_codec(Codec::ZFP_ACCURACY)
    ///     .with_codec_meta(-3_i8 as u8) // an error of at most a thousandth
    ///     .with_filters([])
    ///     .with_blocksize(Some(4 * 32 * 64))
    ///     .with_block_shape(Some(&[32, 64]));
    /// # if !options.codec().is_built_in() { return Ok(()) }
    /// let chunk = Compressor::new(options)?.compress(&plane)?;
    /// assert!(chunk.len() < plane.len() / 4);
    /// let back = Decompressor::new().with_block_shape(Some(&[32, 64])).decompress(&chunk)?;
    /// let last = f32::from_le_bytes(*back.last_chunk().unwrap());
    /// assert!((last - 4.095).abs() <= 0.001);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    #[must_use]
    pub fn with_block_shape(mut self, shape: Option<&[usize]>) -> Self {
        self.block_shape = shape.map(Arc::from);
        self
    }

    /// The shape of blocks in items, if it was said.
    #[must_use]
    pub fn block_shape(&self) -> Option<&[usize]> {
        self.block_shape.as_deref()
    }

    /// The size of an item in bytes.
    #[must_use]
    pub fn typesize(&self) -> usize {
        self.typesize
    }

    /// The codec.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// The byte that a plug-in codec is parameterised with.
    #[must_use]
    pub fn codec_meta(&self) -> u8 {
        self.codec_meta
    }

    /// The level: 0 stores, 1 is the fastest, 9 the smallest.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.level
    }

    /// The filters with the slots they are in.
    #[must_use]
    pub fn pipeline(&self) -> Pipeline {
        self.pipeline
    }

    /// Whether blocks are split.
    #[must_use]
    pub fn split(&self) -> SplitMode {
        self.split
    }

    /// The size of blocks in bytes that was asked for; `None` lets codec, level and typesize
    /// decide.
    #[must_use]
    pub fn blocksize(&self) -> Option<usize> {
        self.blocksize
    }

    /// Whether each chunk gets a dictionary made from its own data.
    #[must_use]
    pub fn dict(&self) -> bool {
        self.dict
    }

    /// The family of chunk.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Where blocks are worked on.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// The plug-in codecs and filters.
    #[must_use]
    pub fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// Refuses what cannot be written, or could not be read again.
    pub(super) fn check(&self) -> Result<()> {
        if !(1..=MAX_BLOCKSIZE).contains(&self.typesize) {
            bail!(InvalidArgument, "typesize is {}, it can be 1 to {MAX_BLOCKSIZE}", self.typesize);
        }
        if self.level > 9 {
            bail!(InvalidArgument, "level is {}, it can be 0 to 9", self.level);
        }
        if self.filter_count > MAX_FILTERS {
            bail!(InvalidArgument, "{} filters given, a chunk can have {MAX_FILTERS}", self.filter_count);
        }
        if let Some(blocksize) = self.blocksize
            && !(1..=MAX_BLOCKSIZE).contains(&blocksize)
        {
            bail!(InvalidArgument, "blocksize is {blocksize}, it can be 1 to {MAX_BLOCKSIZE}");
        }
        if self.dict && !self.codec.takes_dictionary() {
            bail!(InvalidArgument, "dictionaries are for lz4, lz4hc and zstd, not for {}", self.codec);
        }
        if self.typesize > usize::from(u8::MAX)
            && self.pipeline.filters().any(|filter| matches!(filter, Filter::ByteDelta(0)))
        {
            bail!(
                InvalidArgument,
                "bytedelta needs the number of planes for items of {} bytes, which no header can store",
                self.typesize
            );
        }
        self.pipeline.check_order()?;
        match self.format {
            Format::Blosc1 => self.check_blosc1()?,
            Format::Blosc2 if self.codec == Codec::Snappy => {
                bail!(InvalidArgument, "snappy exists in Blosc1 chunks only");
            }
            Format::Blosc2 => {}
        }
        self.check_codec()
    }

    fn check_codec(&self) -> Result<()> {
        if self.codec == Codec::Lizard {
            bail!(InvalidArgument, "lizard is read, but not written: choose another codec");
        }
        let is_plugin = matches!(self.codec, Codec::Plugin(id) if self.plugins.codecs.get(id).is_some());
        if !is_plugin && self.codec.is_zfp() {
            let is_transpose = |filter: &Filter| matches!(filter, Filter::Shuffle | Filter::BitShuffle);
            if let Some(filter) = self.pipeline.filters().find(is_transpose) {
                bail!(InvalidArgument, "{} compresses numbers, and {filter} would take them apart", self.codec);
            }
        }
        if is_plugin || self.codec.is_built_in() { Ok(()) } else { Err(missing(self.codec)) }
    }

    fn check_blosc1(&self) -> Result<()> {
        if let Codec::Plugin(id) = self.codec {
            bail!(InvalidArgument, "codec {id} cannot be stored in a Blosc1 chunk");
        }
        if self.dict {
            bail!(InvalidArgument, "a Blosc1 chunk cannot have a dictionary");
        }
        let ids: Vec<Filter> = self.pipeline.filters().collect();
        match ids[..] {
            [] | [Filter::Shuffle | Filter::BitShuffle] => Ok(()),
            _ => bail!(InvalidArgument, "a Blosc1 chunk can have shuffle or bitshuffle, not {}", self.pipeline),
        }
    }

    /// The version that goes into the header.
    pub(super) fn version(&self) -> u8 {
        match self.format {
            Format::Blosc1 if self.era == Era::Alpha => VERSION_FIVE_FILTERS,
            Format::Blosc1 => VERSION_BLOSC1,
            Format::Blosc2 if matches!(self.era, Era::Beta(_)) => VERSION_BETA,
            Format::Blosc2 => VERSION_BLOSC2,
        }
    }

    /// The rule of bitshuffle that readers of the chunk have.
    pub(super) fn bitshuffle_rule(&self) -> BitshuffleRule {
        match (self.format, self.era) {
            (Format::Blosc1, _) => BitshuffleRule::Old,
            (Format::Blosc2, Era::Beta(rule)) => rule,
            (Format::Blosc2, _) => BitshuffleRule::Current,
        }
    }

    /// Whether repeated bytes have a short form, in a stream and as a whole chunk.
    pub(super) fn has_runs(&self) -> bool {
        self.version() >= VERSION_BLOSC2
    }

    /// The code of the codec as a Blosc2 header repeats it; the betas left that byte 0.
    pub(super) fn repeated_codec(&self) -> u8 {
        if self.version() == VERSION_BETA { 0 } else { self.codec.code() }
    }

    /// Whether the one filter of a Blosc1 chunk is this one.
    pub(super) fn has_shuffle(&self) -> bool {
        self.pipeline.contains(filter_id::SHUFFLE)
    }

    /// Whether the one filter of a Blosc1 chunk is this one.
    pub(super) fn has_bitshuffle(&self) -> bool {
        self.pipeline.contains(filter_id::BITSHUFFLE)
    }
}
