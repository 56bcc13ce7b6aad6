//! The fast encoder: one candidate per hash, greedy, with steps that grow while nothing matches.

use alloc::vec::Vec;

use super::sequence::{LAST_LITERALS, MATCH_MARGIN, MAX_DISTANCE, SequenceWriter};
use crate::lz::matching::{common_length, common_length_before, hash4, hash5, low4};
use crate::lz::window::{Entry, Key, MAX_INPUT, Positions, TRIES_PER_STEP, Window};

/// Slots of the table; large inputs use half of them.
const SLOTS: usize = 1 << 13;
/// Inputs below this length cannot have a match that is too far.
const SMALL_INPUT: usize = MAX_DISTANCE + MATCH_MARGIN;
/// The largest acceleration that makes a difference.
const MAX_ACCELERATION: u32 = 65_537;
/// How far apart the positions of a dictionary are that can be found.
const DICT_STRIDE: usize = 3;

/// The fast LZ4 encoder.
///
/// Keeps its table between calls, which saves clearing it; what a call returns depends on its
/// arguments only.
#[derive(Debug, Clone)]
pub struct Encoder {
    table: Positions<u32, SLOTS>,
    small_table: Positions<u16, SLOTS>,
    /// Dictionary and input side by side.
    joined: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Encoder {
    /// An encoder with an empty table.
    #[must_use]
    pub fn new() -> Self {
        Self { table: Positions::new(), small_table: Positions::new(), joined: Vec::new() }
    }

    /// Compresses `src` into `dst` and returns the length of the block, or `None` if `dst` is too
    /// small for it.
    ///
    /// A larger `acceleration` is faster and compresses less; 1 is the usual value, 0 counts as 1.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8], acceleration: u32) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        if src.len() < SMALL_INPUT {
            encode::<Word4, u16>(&mut self.small_table, src, 0, dst, acceleration)
        } else {
            encode::<Word5, u32>(&mut self.table, src, 0, dst, acceleration)
        }
    }

    /// Compresses `src` as if `dict` preceded it: matches may start in the last 64 KiB of `dict`.
    ///
    /// The decoder needs the same dictionary.
    pub fn compress_with_dict(&mut self, src: &[u8], dict: &[u8], dst: &mut [u8], acceleration: u32) -> Option<usize> {
        let dict = &dict[dict.len().saturating_sub(MAX_DISTANCE)..];
        if src.len() > MAX_INPUT - dict.len() {
            return None;
        }
        let mut joined = core::mem::take(&mut self.joined);
        joined.clear();
        joined.extend_from_slice(dict);
        joined.extend_from_slice(src);
        let length = encode::<Word5, u32>(&mut self.table, &joined, dict.len(), dst, acceleration);
        self.joined = joined;
        length
    }
}

/// Four bytes, spread over the whole table.
struct Word4;

impl Key<SLOTS> for Word4 {
    #[inline(always)]
    fn slot(word: u64) -> usize {
        hash4(low4(word), 13)
    }
}

/// Five bytes, in half the table: large inputs have matches enough, and the table stays in the
/// first cache.
struct Word5;

impl Key<SLOTS> for Word5 {
    #[inline(always)]
    fn slot(word: u64) -> usize {
        hash5(word, 12)
    }
}

/// Writes the block of everything from `start` on.
#[inline(always)]
fn encode<K: Key<SLOTS>, E: Entry>(
    table: &mut Positions<E, SLOTS>,
    src: &[u8],
    start: usize,
    dst: &mut [u8],
    acceleration: u32,
) -> Option<usize> {
    let writer = SequenceWriter::new(dst);
    if src.len() - start <= MATCH_MARGIN {
        return writer.finish(src, start..src.len());
    }
    let window = Window::new(table, src)?;
    let tries = acceleration.clamp(1, MAX_ACCELERATION) * TRIES_PER_STEP;
    let mut search = Search::<K, E> { window, last_start: src.len() - MATCH_MARGIN, tries };
    for at in (0..start).step_by(DICT_STRIDE) {
        search.window.remember(at);
    }
    search.run(src, start, writer)
}

struct Search<'a, K, E> {
    window: Window<'a, K, E, SLOTS>,
    /// Where the last match may start.
    last_start: usize,
    tries: u32,
}

impl<K: Key<SLOTS>, E: Entry> Search<'_, K, E> {
    #[inline(always)]
    fn run(&mut self, src: &[u8], start: usize, mut writer: SequenceWriter<'_>) -> Option<usize> {
        let end = src.len() - LAST_LITERALS;
        let mut anchor = start;
        self.window.remember(start);
        let mut next = start + 1;
        while let Some((mut at, mut from)) = self.next_match(next) {
            let mut back = common_length_before(src, from, at, at - anchor);
            loop {
                let length = common_length(src, from, at, end);
                writer.sequence(src, anchor..at - back, at - from, back + length)?;
                anchor = at + length;
                if anchor > self.last_start {
                    return writer.finish(src, anchor..src.len());
                }
                self.window.remember(anchor - 2);
                match self.match_at(anchor) {
                    Some(found) => (at, from, back) = (anchor, found, 0),
                    None => break,
                }
            }
            next = anchor + 1;
        }
        writer.finish(src, anchor..src.len())
    }

    /// Where the bytes at `at` were seen before, if near enough.
    #[inline(always)]
    fn match_at(&mut self, at: usize) -> Option<usize> {
        self.window.replace(at).filter(|&from| is_near::<E>(at, from))
    }

    /// The first match at or after `at`, looking at fewer and fewer positions; where it is and
    /// where it came from.
    #[inline(always)]
    fn next_match(&mut self, at: usize) -> Option<(usize, usize)> {
        self.window.leap(at, self.last_start, self.tries, is_near::<E>)
    }
}

/// Whether `from` can be reached from `at`. It always can where positions are short.
#[inline(always)]
fn is_near<E: Entry>(at: usize, from: usize) -> bool {
    E::MAX <= MAX_DISTANCE || at - from <= MAX_DISTANCE
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::super::{decompress, decompress_with_dict, max_compressed_len};
    use super::Encoder;
    use crate::lz::samples;

    fn compressed(encoder: &mut Encoder, src: &[u8], acceleration: u32) -> Vec<u8> {
        let mut block = vec![0; max_compressed_len(src.len())];
        let length = encoder.compress(src, &mut block, acceleration).expect("the worst case fits");
        block.truncate(length);
        block
    }

    fn decompressed(block: &[u8], dict: &[u8], length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        assert_eq!(decompress_with_dict(block, dict, &mut bytes), Ok(length));
        bytes
    }

    #[test]
    fn every_input_comes_back() {
        let mut encoder = Encoder::new();
        for input in samples::inputs() {
            for acceleration in [0, 1, 2, 5, 9, 100, u32::MAX] {
                let block = compressed(&mut encoder, &input, acceleration);
                let mut bytes = vec![0; input.len()];
                assert_eq!(decompress(&block, &mut bytes), Ok(input.len()));
                assert_eq!(bytes, input);
            }
        }
    }

    #[test]
    fn what_was_compressed_before_changes_nothing() {
        let mut used = Encoder::new();
        for input in samples::inputs() {
            assert_eq!(compressed(&mut used, &input, 1), compressed(&mut Encoder::new(), &input, 1));
        }
    }

    #[test]
    fn a_small_output_is_either_enough_or_refused() {
        let mut encoder = Encoder::new();
        for input in [samples::mixture(700, 4), samples::text(300), samples::noise(200, 2), samples::periodic(900, 1)] {
            let needed = compressed(&mut encoder, &input, 1).len();
            for room in 0..needed + 20 {
                let mut block = vec![0; room];
                match encoder.compress(&input, &mut block, 1) {
                    Some(length) => assert_eq!(decompressed(&block[..length], &[], input.len()), input),
                    None => assert!(room < needed + 1),
                }
            }
        }
    }

    #[test]
    fn matches_reach_into_the_dictionary_and_across_its_end() {
        let mut encoder = Encoder::new();
        for dict_length in [0, 1, 7, 8, 20, 3000, 32_768, 65_536, 100_000] {
            let dict = samples::mixture(dict_length, 8);
            let mut input = dict[dict.len() / 2..].to_vec();
            input.extend_from_slice(&dict[dict.len() / 2..]);
            input.extend_from_slice(&samples::mixture(5000, 8));
            let mut block = vec![0; max_compressed_len(input.len())];
            let length = encoder.compress_with_dict(&input, &dict, &mut block, 1).expect("the worst case fits");
            assert_eq!(decompressed(&block[..length], &dict, input.len()), input);
            if dict_length >= 3000 {
                assert!(length < compressed(&mut encoder, &input, 1).len());
            }
        }
    }
}
