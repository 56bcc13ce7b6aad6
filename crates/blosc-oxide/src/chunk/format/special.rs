//! Chunks whose items are all the same.

use super::header::{BLOSC2_LEN, Extension, Fields, Header, Special, VERSION_BLOSC2, flag, flag2};
use crate::chunk::options::{Format, Options};
use crate::chunk::write::tuning::SplitRule;
use crate::error::{Result, bail};
use crate::filter::Pipeline;
use crate::limits::MAX_NBYTES;

const QUIET_NAN_F32: [u8; 4] = 0x7fc0_0000_u32.to_le_bytes();
const QUIET_NAN_F64: [u8; 8] = 0x7ff8_0000_0000_0000_u64.to_le_bytes();

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
/// `InvalidArgument` if `nbytes` is no multiple of the typesize or too much for a chunk, if NaNs are asked for with a
/// typesize other than 4 and 8, or for [`Special::Value`], which [`fill_chunk`] makes.
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
/// `InvalidArgument` if `value` is empty or `nbytes` is no multiple of its length or too much for a chunk.
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
        nbytes: crate::chunk::write::encode::stored(nbytes),
        blocksize: crate::chunk::write::encode::stored(blocksize),
        cbytes: crate::chunk::write::encode::stored(BLOSC2_LEN + value.len()),
        extension: Some(Extension {
            pipeline: Pipeline::none(),
            codec: 0,
            codec_meta: 0,
            flags2: 0,
            blosc2_flags: special.code() << flag2::SPECIAL_SHIFT | crate::chunk::write::encode::native_endianness(),
        }),
    };
    let mut chunk = fields.to_bytes().to_vec();
    chunk.extend_from_slice(value);
    Ok(chunk)
}

/// Fills `out` with what a special chunk holds from byte `from` on.
pub(in crate::chunk) fn fill(header: &Header, special: Special, chunk: &[u8], from: usize, out: &mut [u8]) {
    match special {
        Special::Value => repeat(&chunk[header.header_len()..header.cbytes()], from, out),
        _ => fill_special(special, header.typesize(), from, out),
    }
}

/// After how many bytes a special value other than [`Special::Value`] is repeated.
pub(crate) fn special_width(special: Special, typesize: usize) -> usize {
    match special {
        Special::NaN if typesize == 4 => QUIET_NAN_F32.len(),
        // Only the index of a frame can ask for NaNs of another size: they are read as those of 8 bytes.
        Special::NaN => QUIET_NAN_F64.len(),
        Special::Zeros | Special::Uninit | Special::Value => typesize,
    }
}

/// Fills `out` with a special value other than [`Special::Value`], starting `from` bytes into the repetition.
pub(crate) fn fill_special(special: Special, typesize: usize, from: usize, out: &mut [u8]) {
    match special {
        Special::NaN if typesize == 4 => repeat(&QUIET_NAN_F32, from, out),
        Special::NaN => repeat(&QUIET_NAN_F64, from, out),
        Special::Zeros | Special::Uninit | Special::Value => out.fill(0),
    }
}

/// Fills `out` with `value` over and over, starting `from` bytes into the repetition.
fn repeat(value: &[u8], from: usize, out: &mut [u8]) {
    let phase = from % value.len();
    let mut filled = 0;
    for piece in [&value[phase..], &value[..phase]] {
        let len = piece.len().min(out.len() - filled);
        out[filled..filled + len].copy_from_slice(&piece[..len]);
        filled += len;
    }
    // Doubling copies whole values, so the phase stays right.
    while filled < out.len() {
        let len = filled.min(out.len() - filled);
        out.copy_within(..len, filled);
        filled += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_starts_anywhere_in_the_value() {
        let value = [1, 2, 3];
        let whole: Vec<u8> = value.iter().copied().cycle().take(50).collect();
        for from in 0..20 {
            for len in 0..30 {
                let mut out = vec![0; len];
                repeat(&value, from, &mut out);
                assert_eq!(out, whole[from..from + len], "{from} {len}");
            }
        }
    }
}
