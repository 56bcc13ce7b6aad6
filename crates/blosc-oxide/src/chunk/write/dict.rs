//! Dictionaries that are made from the data of one chunk and stored in it.

use super::layout::{Layout, SIZE_LEN, put_size};
use crate::codec::{Codec, EncodeDict, train};

const MAX_LEN: usize = 32 << 10;
const MIN_LEN: usize = 256;
/// A dictionary takes at most one byte for this many of data.
const DATA_PER_BYTE: usize = 20;
/// Of each part of the data, one byte of this many is used for the training.
const PART_PER_SAMPLE: usize = 16;
const MIN_SAMPLES: usize = 8;

/// How long a dictionary for `nbytes` of data may be; `None` if it would be too short to be of use.
fn max_len(nbytes: usize) -> Option<usize> {
    Some((nbytes / DATA_PER_BYTE).min(MAX_LEN)).filter(|&len| len >= MIN_LEN)
}

/// A dictionary for data that has been filtered block by block.
pub(in crate::chunk) fn from_blocks(codec: Codec, level: u8, layout: &Layout, filtered: &[u8]) -> Option<EncodeDict> {
    let max_len = max_len(filtered.len())?;
    let streams = layout.nblocks * if layout.split { layout.typesize } else { 1 };
    let part = filtered.len() / streams.max(MIN_SAMPLES);
    let sample = part / PART_PER_SAMPLE;
    if sample == 0 {
        return None;
    }
    let samples: Vec<u8> = filtered.chunks_exact(part).flat_map(|part| &part[..sample]).copied().collect();
    let sizes = vec![sample; samples.len() / sample];
    EncodeDict::new(codec, level, train(codec, &samples, &sizes, max_len)?)
}

/// A dictionary for variable-length blocks that have been filtered and follow one another.
pub(in crate::chunk) fn from_vlblocks(codec: Codec, level: u8, lens: &[usize], filtered: &[u8]) -> Option<EncodeDict> {
    let max_len = max_len(filtered.len())?;
    if lens.len() < MIN_SAMPLES {
        return None;
    }
    EncodeDict::new(codec, level, train(codec, filtered, lens, max_len)?)
}

/// Writes the dictionary at `at` of a chunk and returns where it ends; `None` if there is no space.
pub(in crate::chunk) fn write(dict: &EncodeDict, at: usize, out: &mut [u8]) -> Option<usize> {
    let start = at + SIZE_LEN;
    let end = start + dict.bytes().len();
    out.get_mut(start..end)?.copy_from_slice(dict.bytes());
    put_size(at, dict.bytes().len(), out);
    Some(end)
}
