//! The high-compression encoder: chains of all earlier positions with the same hash, and lazy choice among matches.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::sequence::{LAST_LITERALS, MATCH_MARGIN, MAX_DISTANCE, MIN_MATCH, SequenceWriter};
use crate::lz::matching::{MAX_INPUT, Positions, common_length, common_length_before, hash4, word4};

const HASH_BITS: u32 = 15;
/// Links of the chains, one for each distance a match can have.
const LINKS: usize = MAX_DISTANCE + 1;

/// The high-compression LZ4 encoder.
///
/// Keeps its tables between calls, which saves clearing them; what a call returns depends on its arguments only.
#[derive(Debug, Clone)]
pub struct HcEncoder {
    heads: Positions<{ 1 << HASH_BITS }>,
    links: Box<[u16; LINKS]>,
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
        let links = vec![0; LINKS].into_boxed_slice().try_into().expect("a box of LINKS words");
        Self { heads: Positions::new(), links, joined: Vec::new() }
    }

    /// Compresses `src` into `dst` and returns the length of the block, or `None` if `dst` is too small for it.
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
        self.heads.start(src.len());
        let attempts = 1 << (level.clamp(2, 9) - 1);
        Search { heads: &mut self.heads, links: &mut self.links, src, inserted: 0, attempts }.run(start, dst)
    }
}

/// A match of the input with earlier bytes of it.
#[derive(Clone, Copy)]
struct Match {
    at: usize,
    from: usize,
    length: usize,
}

struct Search<'a> {
    heads: &'a mut Positions<{ 1 << HASH_BITS }>,
    links: &'a mut [u16; LINKS],
    src: &'a [u8],
    inserted: usize,
    attempts: u32,
}

impl Search<'_> {
    /// Writes the block of everything from `start` on.
    fn run(mut self, start: usize, dst: &mut [u8]) -> Option<usize> {
        let src = self.src;
        let mut writer = SequenceWriter::new(dst);
        let mut anchor = start;
        let mut at = start;
        while at + MATCH_MARGIN <= src.len() {
            let Some(mut best) = self.longest(at, anchor) else {
                at += 1;
                continue;
            };
            while best.at + 1 + MATCH_MARGIN <= src.len() {
                match self.longest(best.at + 1, anchor) {
                    Some(later) if later.length > best.length => best = later,
                    _ => break,
                }
            }
            writer.sequence(src, anchor..best.at, best.at - best.from, best.length)?;
            anchor = best.at + best.length;
            at = anchor;
        }
        writer.finish(src, anchor..src.len())
    }

    /// The longest match that covers `at` and starts at `anchor` or later.
    fn longest(&mut self, at: usize, anchor: usize) -> Option<Match> {
        let src = self.src;
        let mut from = self.insert_up_to(at);
        let mut best: Option<Match> = None;
        for _ in 0..self.attempts {
            if from >= at || at - from > MAX_DISTANCE {
                break;
            }
            if word4(src, from) == word4(src, at) {
                let ahead = common_length(src, from, at, src.len() - LAST_LITERALS);
                let back = common_length_before(src, from, at, at - anchor);
                let length = ahead + back;
                if length >= MIN_MATCH && best.is_none_or(|best| length > best.length) {
                    best = Some(Match { at: at - back, from: from - back, length });
                }
            }
            let link = usize::from(self.links[from % LINKS]);
            if link == 0 {
                break;
            }
            from -= link;
        }
        best
    }

    /// Inserts every position up to `at` and returns the position that `at` is linked to.
    fn insert_up_to(&mut self, at: usize) -> usize {
        for position in self.inserted..=at {
            let previous = self.heads.replace(hash4(word4(self.src, position), HASH_BITS), position);
            self.links[position % LINKS] = u16::try_from(position - previous).unwrap_or(0);
        }
        self.inserted = self.inserted.max(at + 1);
        at - usize::from(self.links[at % LINKS])
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
