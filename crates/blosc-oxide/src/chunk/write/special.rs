//! Chunks whose items are all the same, made without any data.

use super::layout::stored;
use super::resolve::native_endianness;
use super::tuning::SplitRule;
use crate::chunk::format::header::{BLOSC2_LEN, Extension, Fields, Special, VERSION_BLOSC2, flag, flag2};
use crate::chunk::options::{Format, Options};
use crate::error::{Result, bail};
use crate::filter::Pipeline;
use crate::limits::MAX_NBYTES;

/// A chunk of `nbytes` zeros, NaNs or bytes that were never written, in 32 bytes.
///
/// ```
/// use blosc_oxide::{Options, Special};
/// let chunk = blosc_oxide::special_chunk(Special::NaN, 800, &Options::new(8))?;
/// assert_eq!(chunk.len(), 32);
/// assert!(f64::from_le_bytes(blosc_oxide::decompress(&chunk)?[..8].try_into().unwrap()).is_nan());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
///
/// # Errors
/// `InvalidArgument` if `nbytes` is no multiple of the typesize or too much for a chunk, if NaNs
/// are asked for with a typesize other than 4 and 8, or for [`Special::Value`], which
/// [`fill_chunk`] makes.
pub fn special_chunk(special: Special, nbytes: usize, options: &Options) -> Result<Vec<u8>> {
    check(options)?;
    if special == Special::Value {
        bail!(InvalidArgument, "a chunk that repeats a value needs the value: use fill_chunk");
    }
    if special == Special::NaN && !matches!(options.typesize, 4 | 8) {
        bail!(InvalidArgument, "there is no NaN of {} bytes", options.typesize);
    }
    build(special, &[], options.typesize, nbytes, options)
}

/// A chunk of `nbytes` that repeats `value`.
///
/// # Errors
/// `InvalidArgument` if `value` is empty or `nbytes` is no multiple of its length or too much for a
/// chunk.
pub fn fill_chunk(value: &[u8], nbytes: usize, options: &Options) -> Result<Vec<u8>> {
    check(options)?;
    if value.is_empty() {
        bail!(InvalidArgument, "the value to repeat is empty");
    }
    build(Special::Value, value, value.len(), nbytes, options)
}

fn check(options: &Options) -> Result<()> {
    if options.format == Format::Blosc1 {
        bail!(InvalidArgument, "a Blosc1 chunk has no special values");
    }
    options.check()
}

fn build(special: Special, value: &[u8], item: usize, nbytes: usize, options: &Options) -> Result<Vec<u8>> {
    if nbytes > MAX_NBYTES || !nbytes.is_multiple_of(item) {
        bail!(InvalidArgument, "nbytes is {nbytes}, it must be a multiple of {item} and at most {MAX_NBYTES}");
    }
    let rule =
        SplitRule { mode: options.split, codec: options.codec, level: options.level, pipeline: options.pipeline };
    let blocksize = rule.blocksize(nbytes, options.typesize, options.blocksize).max(1);
    let fields = Fields {
        version: VERSION_BLOSC2,
        codec_version: 1,
        flags: flag::EXTENDED,
        typesize: u8::try_from(options.typesize).unwrap_or(1),
        nbytes: stored(nbytes),
        blocksize: stored(blocksize),
        cbytes: stored(BLOSC2_LEN + value.len()),
        extension: Some(Extension {
            pipeline: Pipeline::none(),
            codec: 0,
            codec_meta: 0,
            flags2: 0,
            blosc2_flags: special.code() << flag2::SPECIAL_SHIFT | native_endianness(),
        }),
    };
    let mut chunk = fields.to_bytes().to_vec();
    chunk.extend_from_slice(value);
    Ok(chunk)
}
