//! From data to a chunk.

use crate::code::{self, BAD_PARAMETER, DOES_NOT_FIT, FAILED, NO_CODEC};
use crate::codecs;
use crate::environment;
use blosc_oxide::{
    Codec, Compressor, ErrorKind, Filter, Format, Options, Pipeline, Result, SplitMode, Threads, limits::MAX_BLOCKSIZE,
};
use c_boundary::Idle;

/// A typesize that a header has no room for counts as 1.
const MAX_TYPESIZE: usize = 255;
const MIN_BLOCKSIZE: usize = 128;
const MAX_SPLITS: usize = 16;
const MIN_STREAM: usize = 128;
const MAX_SPLIT_BASE: usize = 256 << 10;
const MIN_SPLIT_BLOCKSIZE: usize = 64 << 10;
const MAX_SPLIT_BLOCKSIZE: usize = 1 << 20;
/// What works on longer blocks is not kept.
const MAX_KEPT_BLOCKSIZE: usize = 4 << 20;

/// What a chunk shall be like, as C says it.
#[derive(Clone, Copy)]
pub(crate) struct Wishes {
    pub(crate) level: i32,
    pub(crate) shuffle: i32,
    pub(crate) typesize: usize,
    pub(crate) codec: i32,
    pub(crate) blocksize: i32,
    pub(crate) split: SplitMode,
    pub(crate) threads: i32,
}

/// The same, checked.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Request {
    level: u8,
    shuffle: Shuffle,
    typesize: usize,
    codec: Codec,
    blocksize: Option<usize>,
    split: SplitMode,
    threads: i32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shuffle {
    None,
    Bytes,
    Bits,
}

/// A compressor, and what it was last set up for.
struct Writer {
    request: Request,
    compressor: Compressor,
}

static WRITERS: Idle<Writer> = Idle::new();

/// Compresses `src` to `dest`, and returns the length of the chunk or a code.
pub(crate) fn compress(wishes: &Wishes, src: &[u8], dest: &mut [u8]) -> i32 {
    let request = match wishes.check() {
        Ok(request) => request,
        Err(code) => return code,
    };
    let Ok(mut writer) = Writer::for_request(request) else { return NO_CODEC };
    let written = writer.compressor.compress_into(src, dest);
    if request.blocksize.is_none_or(|blocksize| blocksize <= MAX_KEPT_BLOCKSIZE) {
        WRITERS.leave(writer);
    }
    match written {
        Ok(len) => code::of_len(len),
        Err(error) if error.kind() == ErrorKind::OutputTooSmall => DOES_NOT_FIT,
        Err(_) => FAILED,
    }
}

/// Drops all that is kept for the next calls.
pub(crate) fn free_resources() {
    WRITERS.clear();
}

/// The threads that a number stands for: one is the caller itself.
pub(crate) fn threads(count: i32) -> Threads {
    match usize::try_from(count) {
        Ok(count @ 2..) => Threads::at_most(count),
        _ => Threads::serial(),
    }
}

impl Wishes {
    fn check(&self) -> std::result::Result<Request, i32> {
        let Some(level) = u8::try_from(self.level).ok().filter(|&level| level <= 9) else {
            environment::warn("`clevel` must be 0 to 9", self.level);
            return Err(BAD_PARAMETER);
        };
        let shuffle = match self.shuffle {
            0 => Shuffle::None,
            1 => Shuffle::Bytes,
            2 => Shuffle::Bits,
            other => {
                environment::warn("`doshuffle` must be 0, 1 or 2", other);
                return Err(BAD_PARAMETER);
            }
        };
        if self.typesize == 0 {
            environment::warn("`typesize` must be 1 or more", 0);
            return Err(BAD_PARAMETER);
        }
        let typesize = if self.typesize > MAX_TYPESIZE { 1 } else { self.typesize };
        let entry = codecs::by_number(self.codec).filter(|entry| entry.is_there()).ok_or(NO_CODEC)?;
        let (codec, split, threads) = (entry.codec, self.split, self.threads);
        let request = Request { level, shuffle, typesize, codec, blocksize: None, split, threads };
        Ok(Request { blocksize: request.forced_blocksize(self.blocksize), ..request })
    }
}

impl Request {
    /// The size of blocks, if it is not left to the library. One that is to be split is enlarged,
    /// so that its streams are not too short.
    fn forced_blocksize(&self, blocksize: i32) -> Option<usize> {
        if blocksize == 0 {
            return None;
        }
        let asked = usize::try_from(blocksize).unwrap_or_default().clamp(MIN_BLOCKSIZE, MAX_BLOCKSIZE);
        if self.level == 0 || !self.splits(asked) {
            return Some(asked);
        }
        Some((asked.min(MAX_SPLIT_BASE) * self.typesize).clamp(MIN_SPLIT_BLOCKSIZE, MAX_SPLIT_BLOCKSIZE))
    }

    fn splits(&self, blocksize: usize) -> bool {
        let is_wanted = match self.split {
            SplitMode::Always => true,
            SplitMode::Never => false,
            SplitMode::Auto => matches!(self.codec, Codec::BloscLz | Codec::Snappy),
            _ => self.codec != Codec::Zstd,
        };
        is_wanted && self.typesize <= MAX_SPLITS && blocksize / self.typesize >= MIN_STREAM
    }

    fn options(&self) -> Result<Options> {
        let pipeline = match self.shuffle {
            Shuffle::None => Pipeline::none(),
            Shuffle::Bytes => Pipeline::new(&[Filter::Shuffle])?,
            Shuffle::Bits => Pipeline::new(&[Filter::BitShuffle])?,
        };
        Ok(Options::new(self.typesize)
            .with_format(Format::Blosc1)
            .with_codec(self.codec)
            .with_level(self.level)
            .with_pipeline(pipeline)
            .with_split(self.split)
            .with_blocksize(self.blocksize)
            .with_threads(threads(self.threads)))
    }
}

impl Writer {
    /// A writer for `request`, with the memory of an earlier one if there is any.
    fn for_request(request: Request) -> Result<Box<Self>> {
        let Some(mut writer) = WRITERS.take() else {
            return Ok(Box::new(Self { request, compressor: Compressor::new(request.options()?)? }));
        };
        if writer.request != request {
            writer.compressor.set_options(request.options()?)?;
            writer.request = request;
        }
        Ok(writer)
    }
}
