//! HDF5 filter 32026: each chunk of a dataset is a contiguous frame with one chunk.
//!
//! Parameters: the version of the filter, the size of blocks (0: automatic), typesize, bytes of a
//! chunk; those that the user gives: level (5), filter (1, shuffle), codec (0, blosclz); and for 2
//! to 16 axes their number and the lengths of a chunk along them: the frame is an array of this
//! shape then, so that parts of it can be read by others.

mod frame;

use blosc_oxide::{Codec, Compressor, Filter as Step, Options};
use hdf5_filter::{Buffer, ChunkType, Filter, Result, export_filter, threads};
use std::ffi::{CStr, c_uint};
use std::ops::RangeInclusive;

const FILTER_VERSION: c_uint = 1;
/// How many parameters come before those of the user.
const RESERVED: usize = 4;
/// How many come before the shape: the number of axes is the last of them.
const BEFORE_SHAPE: usize = 8;
/// What the user can leave out: level, filter and codec.
const DEFAULTS: [c_uint; 3] = [5, 1, 0];
/// The ranks that an array can have.
const RANKS: RangeInclusive<usize> = 2..=16;

struct Blosc2;

export_filter!(Blosc2);

impl Filter for Blosc2 {
    const ID: i32 = 32026;
    const NAME: &'static CStr = c"blosc2";
    const MAX_PARAMETERS: usize = BEFORE_SHAPE + *RANKS.end();

    fn parameters(given: &[c_uint], chunks: &ChunkType) -> Result<Vec<c_uint>> {
        let number = |size: usize| c_uint::try_from(size).map_err(|error| error.to_string());
        let blocksize = given.get(1).copied().unwrap_or(0);
        let mut parameters = vec![FILTER_VERSION, blocksize, number(chunks.element)?, chunks.nbytes()?];
        parameters.extend(given.iter().skip(RESERVED).take(DEFAULTS.len()));
        if RANKS.contains(&chunks.shape.len()) {
            parameters.extend(&DEFAULTS[parameters.len() - RESERVED..]);
            parameters.push(number(chunks.shape.len())?);
            for &len in &chunks.shape {
                parameters.push(c_uint::try_from(len).map_err(|error| error.to_string())?);
            }
        }
        // Whatever cannot be used is refused now, and not when the first chunk is written.
        options(&parameters)?;
        Ok(parameters)
    }

    fn compress(parameters: &[c_uint], data: &[u8], is_optional: bool) -> Result<Option<Buffer>> {
        let options = options(parameters)?;
        let typesize = usize::try_from(parameters[2]).unwrap_or(0);
        let frame = match shape(parameters)? {
            // An item that is an array itself has more elements than the shape counts.
            Some(shape) if nbytes(&shape, typesize) == Some(data.len() as u64) => {
                frame::of_array(&shape, typesize, options, data)
            }
            _ => frame::of_chunk(options, data),
        };
        let frame = frame.map_err(|error| error.to_string())?;
        if is_optional && frame.len() >= data.len() {
            return Ok(None);
        }
        Buffer::copy_of(&frame).map(Some)
    }

    fn decompress(_parameters: &[c_uint], chunk: &[u8]) -> Result<Buffer> {
        frame::data(chunk)
    }
}

/// The options that parameters stand for.
fn options(parameters: &[c_uint]) -> Result<Options> {
    let [_, blocksize, typesize, _, ..] = *parameters else {
        return Err(format!("the dataset has {} parameters of the filter, {RESERVED} are needed", parameters.len()));
    };
    let of_user = |index: usize| parameters.get(RESERVED + index).copied().unwrap_or(DEFAULTS[index]);
    let level = u8::try_from(of_user(0)).ok().filter(|&level| level <= 9);
    let level = level.ok_or_else(|| format!("the level of {parameters:?} is above 9"))?;
    let steps: &[Step] = match of_user(1) {
        0 => &[],
        1 => &[Step::Shuffle],
        2 => &[Step::BitShuffle],
        3 => &[Step::Delta],
        other => return Err(format!("the filter is {other}, it can be 0 to 3: none, shuffle, bitshuffle, delta")),
    };
    let codec = u8::try_from(of_user(2)).ok().map(Codec::from_code).filter(|codec| codec.is_built_in());
    let codec = codec.ok_or_else(|| format!("there is no codec {}", of_user(2)))?;
    let mut options = Options::new(usize::try_from(typesize).unwrap_or(0))
        .with_level(level)
        .with_filters(steps.iter().copied())
        .with_codec(codec)
        .with_threads(threads());
    if blocksize > 0 {
        options = options.with_blocksize(usize::try_from(blocksize).unwrap_or(usize::MAX));
    }
    Compressor::new(options.clone()).map_err(|error| error.to_string())?;
    Ok(options)
}

/// The shape of the array that a chunk is, if parameters have one.
fn shape(parameters: &[c_uint]) -> Result<Option<Vec<u64>>> {
    let Some(&rank) = parameters.get(BEFORE_SHAPE - 1) else { return Ok(None) };
    let shape = parameters[BEFORE_SHAPE..].iter().map(|&len| u64::from(len));
    let shape: Vec<u64> = shape.take(usize::try_from(rank).unwrap_or(usize::MAX)).collect();
    if RANKS.contains(&shape.len()) && u32::try_from(shape.len()) == Ok(rank) {
        Ok(Some(shape))
    } else {
        Err(format!("parameters {parameters:?} tell {rank} axes, and the lengths of {}", shape.len()))
    }
}

fn nbytes(shape: &[u64], typesize: usize) -> Option<u64> {
    shape.iter().try_fold(typesize as u64, |product, &len| product.checked_mul(len))
}
