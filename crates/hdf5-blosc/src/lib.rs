//! HDF5 filter 32001: each chunk of a dataset is a Blosc1 chunk.
//!
//! Parameters: the version of the filter, that of the format, typesize, bytes of a chunk; and those
//! that the user gives: level (5), shuffle (1), codec (0, blosclz).

use blosc_oxide::{Codec, Compressor, Decompressor, ErrorKind, Filter as Step, Format, Header, Options};
use hdf5_filter::{Buffer, ChunkType, Filter, Result, export_filter, threads};
use std::ffi::{CStr, c_uint};

const FILTER_VERSION: c_uint = 2;
const FORMAT_VERSION: c_uint = 2;
/// How many parameters come before those of the user.
const RESERVED: usize = 4;
/// Larger items are taken for bytes.
const MAX_TYPESIZE: usize = 255;
/// What a chunk is longer than its data at the most.
const OVERHEAD: usize = 16;

struct Blosc;

export_filter!(Blosc);

impl Filter for Blosc {
    const ID: i32 = 32001;
    const NAME: &'static CStr = c"blosc";
    const MAX_PARAMETERS: usize = 8;

    fn parameters(given: &[c_uint], chunks: &ChunkType) -> Result<Vec<c_uint>> {
        let typesize = if chunks.element > MAX_TYPESIZE { 1 } else { chunks.element };
        let typesize = c_uint::try_from(typesize).map_err(|error| error.to_string())?;
        let mut parameters = vec![FILTER_VERSION, FORMAT_VERSION, typesize, chunks.nbytes()?];
        parameters.extend(given.iter().skip(RESERVED));
        // Whatever cannot be used is refused now, and not when the first chunk is written.
        options(&parameters)?;
        Ok(parameters)
    }

    fn compress(parameters: &[c_uint], data: &[u8], is_optional: bool) -> Result<Option<Buffer>> {
        let mut compressor = Compressor::new(options(parameters)?).map_err(|error| error.to_string())?;
        // A chunk that would be longer than its data is stored without the filter, if that is
        // allowed.
        let mut chunk = Buffer::zeros(if is_optional { data.len() } else { data.len() + OVERHEAD })?;
        match compressor.compress_into(data, &mut chunk) {
            Ok(len) => {
                chunk.truncate(len);
                Ok(Some(chunk))
            }
            Err(error) if error.kind() == ErrorKind::OutputTooSmall => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn decompress(_parameters: &[c_uint], chunk: &[u8]) -> Result<Buffer> {
        let nbytes = Header::parse(chunk).map_err(|error| error.to_string())?.nbytes();
        let mut data = Buffer::zeros(nbytes)?;
        let mut decompressor = Decompressor::new().with_threads(threads());
        decompressor.decompress_into(chunk, &mut data).map_err(|error| error.to_string())?;
        Ok(data)
    }
}

/// The options that parameters stand for.
fn options(parameters: &[c_uint]) -> Result<Options> {
    let Some(&typesize) = parameters.get(2) else {
        return Err(format!("the dataset has {} parameters of the filter, {RESERVED} are needed", parameters.len()));
    };
    let level = parameters.get(4).map_or(Ok(5), |&level| u8::try_from(level));
    let level =
        level.ok().filter(|&level| level <= 9).ok_or_else(|| format!("the level of {parameters:?} is above 9"))?;
    let steps: &[Step] = match parameters.get(5) {
        Some(0) => &[],
        None | Some(1) => &[Step::Shuffle],
        Some(2) => &[Step::BitShuffle],
        Some(other) => return Err(format!("shuffle is {other}, it can be 0, 1 or 2")),
    };
    let options = Options::new(usize::try_from(typesize).unwrap_or(0))
        .with_format(Format::Blosc1)
        .with_level(level)
        .with_filters(steps.iter().copied())
        .with_codec(codec(parameters.get(6).copied())?)
        .with_threads(threads());
    Compressor::new(options.clone()).map_err(|error| error.to_string())?;
    Ok(options)
}

/// The codec with a number.
fn codec(number: Option<c_uint>) -> Result<Codec> {
    let codec = u8::try_from(number.unwrap_or(0)).ok().map(Codec::from_code).filter(|codec| codec.is_built_in());
    codec.ok_or_else(|| format!("there is no codec {}", number.unwrap_or(0)))
}
