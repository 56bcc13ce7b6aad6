//! What a super-chunk is, apart from its chunks.

use super::meta::{Metalayers, VlMetalayers};
use crate::chunk::{Options, SplitMode};
use crate::codec::Codec;
use crate::filter::{BitshuffleRule, Pipeline};

/// The size of the data of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkSize {
    /// There was no chunk yet.
    Unknown,
    /// The same for all, but for the last one, which can hold less.
    Fixed(usize),
    /// Each its own.
    Variable,
}

/// What the header and the trailer of a frame keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) typesize: usize,
    /// 0 if it is chosen for each chunk.
    pub(crate) blocksize: usize,
    pub(crate) chunksize: ChunkSize,
    pub(crate) nbytes: u64,
    pub(crate) codec: Codec,
    pub(crate) codec_meta: u8,
    pub(crate) level: u8,
    pub(crate) pipeline: Pipeline,
    pub(crate) split: SplitMode,
    pub(crate) dict: bool,
    pub(crate) vlblocks: bool,
    /// The rule of bitshuffle of chunks that do not tell it; `None` if the frame does not tell it
    /// either.
    pub(crate) bitshuffle: Option<BitshuffleRule>,
    pub(crate) metalayers: Metalayers,
    pub(crate) vlmetalayers: VlMetalayers,
}

impl State {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            typesize: options.typesize,
            blocksize: options.blocksize.unwrap_or(0),
            chunksize: ChunkSize::Unknown,
            nbytes: 0,
            codec: options.codec,
            codec_meta: options.codec_meta,
            level: options.level,
            pipeline: options.pipeline,
            split: options.split,
            dict: options.dict,
            vlblocks: false,
            bitshuffle: Some(BitshuffleRule::Current),
            metalayers: Metalayers::new(),
            vlmetalayers: VlMetalayers::new(),
        }
    }

    /// The options that further chunks are compressed with; threads and plug-ins are those of
    /// `base`.
    pub(crate) fn options(&self, base: &Options) -> Options {
        let mut options = base
            .clone()
            .with_codec(self.codec)
            .with_codec_meta(self.codec_meta)
            .with_level(self.level)
            .with_pipeline(self.pipeline)
            .with_split(self.split)
            .with_dict(self.dict)
            .with_blocksize((self.blocksize > 0).then_some(self.blocksize));
        options.typesize = self.typesize;
        options
    }
}
