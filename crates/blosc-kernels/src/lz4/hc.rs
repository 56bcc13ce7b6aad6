//! The high-compression encoder: many earlier positions are tried for each match, and overlapping
//! matches are weighed against each other.

use alloc::vec::Vec;

use super::lazy::{Effort, Parser};
use super::mid;
use super::rows::{Depth, Rows};
use super::sequence::{MATCH_MARGIN, MAX_DISTANCE, SequenceWriter};
use crate::lz::window::MAX_INPUT;

/// Inputs up to here have so few positions of a hash that keeping more of them costs more time than
/// it saves bytes.
const SHORT_INPUT: usize = 16 * 1024;
/// In inputs up to here, half as many positions in a row are enough.
const TINY_INPUT: usize = 8 * 1024;

/// The high-compression LZ4 encoder.
///
/// Keeps its tables between calls, which saves clearing them; what a call returns depends on its
/// arguments only.
#[derive(Debug, Clone)]
pub struct HcEncoder {
    tables: mid::Tables,
    narrow: Rows<16>,
    middle: Rows<32>,
    wide: Rows<64>,
    joined: Vec<u8>,
}

impl Default for HcEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl HcEncoder {
    /// An encoder with empty tables.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tables: mid::Tables::new(),
            narrow: Rows::default(),
            middle: Rows::default(),
            wide: Rows::default(),
            joined: Vec::new(),
        }
    }

    /// Compresses `src` into `dst` and returns the length of the block, or `None` if `dst` is too
    /// small for it.
    ///
    /// A higher `level`, from 1 to 12, is slower and compresses better.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        self.compress_after(src, 0, dst, level)
    }

    /// Compresses `src` as if `dict` preceded it: matches may start in the last 64 KiB of `dict`.
    ///
    /// The decoder needs the same dictionary.
    pub fn compress_with_dict(&mut self, src: &[u8], dict: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        let dict = &dict[dict.len().saturating_sub(MAX_DISTANCE)..];
        let mut joined = core::mem::take(&mut self.joined);
        joined.clear();
        joined.extend_from_slice(dict);
        joined.extend_from_slice(src);
        let length = self.compress_after(&joined, dict.len(), dst, level);
        self.joined = joined;
        length
    }

    fn compress_after(&mut self, src: &[u8], start: usize, dst: &mut [u8], level: u8) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        if src.len() - start <= MATCH_MARGIN {
            return SequenceWriter::new(dst).finish(src, start..src.len());
        }
        let older = match level {
            8 if src.len() > SHORT_INPUT => 24,
            9.. if src.len() > SHORT_INPUT => 63,
            _ => 0,
        };
        let depth = Depth { attempts: 4 << level.saturating_sub(3).min(4), older };
        let effort = Effort { depth, long_match: long_match(level, src.len() - start) };
        match level {
            0..=2 => mid::encode(&mut self.tables, src, start, dst),
            3..=5 => Parser::new(&mut self.narrow, src, start, effort).run(dst),
            6.. if level == 6 || src.len() <= TINY_INPUT => Parser::new(&mut self.middle, src, start, effort).run(dst),
            _ => Parser::new(&mut self.wide, src, start, effort).run(dst),
        }
    }
}

/// How long a match must be so that none is looked for a byte later. In a short input there are few
/// that begin there and are not found by their end, and up to level 5 a third of the time counts
/// for more.
fn long_match(level: u8, length: usize) -> usize {
    match level {
        0..=4 => 0,
        5 if length <= SHORT_INPUT => 0,
        5..=7 => 14,
        8 => 24,
        _ => 64,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::super::{decompress_with_dict, max_compressed_len};
    use super::HcEncoder;
    use crate::lz::samples;

    fn compressed(encoder: &mut HcEncoder, src: &[u8], level: u8) -> Vec<u8> {
        let mut block = vec![0; max_compressed_len(src.len())];
        let length = encoder.compress(src, &mut block, level).expect("the worst case fits");
        block.truncate(length);
        block
    }

    fn decompressed(block: &[u8], dict: &[u8], length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        assert_eq!(decompress_with_dict(block, dict, &mut bytes), Ok(length));
        bytes
    }

    #[test]
    fn every_input_comes_back_at_every_level() {
        let mut encoder = HcEncoder::new();
        for input in samples::inputs() {
            for level in 0..=13 {
                let block = compressed(&mut encoder, &input, level);
                assert_eq!(decompressed(&block, &[], input.len()), input);
            }
        }
    }

    #[test]
    fn what_was_compressed_before_changes_nothing() {
        let mut used = HcEncoder::new();
        for input in samples::inputs() {
            for level in [1, 5, 9] {
                assert_eq!(compressed(&mut used, &input, level), compressed(&mut HcEncoder::new(), &input, level));
            }
        }
    }

    #[test]
    fn a_small_output_is_either_enough_or_refused() {
        let mut encoder = HcEncoder::new();
        for input in [samples::mixture(700, 4), samples::text(300), samples::noise(200, 2), samples::periodic(900, 1)] {
            for level in [1, 4, 9] {
                let needed = compressed(&mut encoder, &input, level).len();
                for room in 0..needed + 20 {
                    let mut block = vec![0; room];
                    match encoder.compress(&input, &mut block, level) {
                        Some(length) => assert_eq!(decompressed(&block[..length], &[], input.len()), input),
                        None => assert!(room < needed + 1),
                    }
                }
            }
        }
    }

    #[test]
    fn matches_reach_into_the_dictionary_and_across_its_end() {
        let mut encoder = HcEncoder::new();
        for dict_length in [0, 1, 7, 8, 20, 3000, 32_768, 65_536, 100_000] {
            let dict = samples::mixture(dict_length, 8);
            let mut input = dict[dict.len() / 2..].to_vec();
            input.extend_from_slice(&dict[dict.len() / 2..]);
            input.extend_from_slice(&samples::mixture(5000, 8));
            for level in [1, 4, 9] {
                let mut block = vec![0; max_compressed_len(input.len())];
                let length = encoder.compress_with_dict(&input, &dict, &mut block, level).expect("the worst case fits");
                assert_eq!(decompressed(&block[..length], &dict, input.len()), input);
                if dict_length >= 3000 {
                    assert!(length < compressed(&mut encoder, &input, level).len());
                }
            }
        }
    }
}
