//! The fast encoder: one candidate per hash, greedy, with steps that grow while nothing matches.

use alloc::vec::Vec;

use super::sequence::{LAST_LITERALS, MATCH_MARGIN, MAX_DISTANCE, MIN_MATCH, SequenceWriter};
use crate::lz::matching::{MAX_INPUT, Positions, common_length, common_length_before, hash4, hash5, word4, word8};

/// Slots of the table; large inputs use half of them.
const SLOTS: usize = 1 << 13;
/// Inputs below this length cannot have a match that is too far.
const SMALL_INPUT: usize = MAX_DISTANCE + MATCH_MARGIN;
/// The step grows by one each time so many positions were tried in vain.
const TRIES_PER_STEP: u32 = 64;
/// The largest acceleration that makes a difference.
const MAX_ACCELERATION: u32 = 65_537;
/// How far apart the positions of a dictionary are that can be found.
const DICT_STRIDE: usize = 3;

/// The fast LZ4 encoder.
///
/// Keeps its table between calls, which saves clearing it; what a call returns depends on its arguments only.
#[derive(Debug, Clone)]
pub struct Encoder {
    table: Positions<SLOTS>,
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
        Self { table: Positions::new(), joined: Vec::new() }
    }

    /// Compresses `src` into `dst` and returns the length of the block, or `None` if `dst` is too small for it.
    ///
    /// A larger `acceleration` is faster and compresses less; 1 is the usual value, 0 counts as 1.
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8], acceleration: u32) -> Option<usize> {
        if src.len() > MAX_INPUT {
            return None;
        }
        self.table.start(src.len());
        if src.len() < SMALL_INPUT {
            Search::<Word4>::new(&mut self.table, src, acceleration).run(0, dst)
        } else {
            Search::<Word5>::new(&mut self.table, src, acceleration).run(0, dst)
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
        self.table.start(joined.len());
        let mut search = Search::<Word5>::new(&mut self.table, &joined, acceleration);
        search.learn(dict.len());
        let length = search.run(dict.len(), dst);
        self.joined = joined;
        length
    }
}

/// Which bytes of a position are hashed.
trait Key {
    fn slot(src: &[u8], at: usize) -> usize;
}

/// Four bytes, spread over the whole table.
struct Word4;

impl Key for Word4 {
    #[inline(always)]
    fn slot(src: &[u8], at: usize) -> usize {
        hash4(word4(src, at), 13)
    }
}

/// Five bytes, in half the table: large inputs have matches enough, and the table stays in the first cache.
struct Word5;

impl Key for Word5 {
    #[inline(always)]
    fn slot(src: &[u8], at: usize) -> usize {
        hash5(word8(src, at), 12)
    }
}

/// A match of the input with earlier bytes of it.
struct Found {
    at: usize,
    from: usize,
}

struct Search<'a, K> {
    table: &'a mut Positions<SLOTS>,
    src: &'a [u8],
    acceleration: u32,
    key: core::marker::PhantomData<K>,
}

impl<'a, K: Key> Search<'a, K> {
    fn new(table: &'a mut Positions<SLOTS>, src: &'a [u8], acceleration: u32) -> Self {
        let acceleration = acceleration.clamp(1, MAX_ACCELERATION);
        Self { table, src, acceleration, key: core::marker::PhantomData }
    }

    /// Lets matches start in the first `length` bytes.
    fn learn(&mut self, length: usize) {
        let hashable = length.min(self.src.len().saturating_sub(7));
        for at in (0..hashable).step_by(DICT_STRIDE) {
            self.table.set(K::slot(self.src, at), at);
        }
    }

    /// Writes the block of everything from `start` on.
    fn run(mut self, start: usize, dst: &mut [u8]) -> Option<usize> {
        let src = self.src;
        let mut writer = SequenceWriter::new(dst);
        let mut anchor = start;
        if src.len() - start > MATCH_MARGIN {
            let last_start = src.len() - MATCH_MARGIN;
            self.table.set(K::slot(src, start), start);
            let mut next = start + 1;
            while let Some(mut found) = self.next_match(next, last_start) {
                let back = common_length_before(src, found.from, found.at, found.at - anchor);
                found.at -= back;
                found.from -= back;
                loop {
                    let end = src.len() - LAST_LITERALS;
                    let length = MIN_MATCH + common_length(src, found.from + MIN_MATCH, found.at + MIN_MATCH, end);
                    writer.sequence(src, anchor..found.at, found.at - found.from, length)?;
                    anchor = found.at + length;
                    if anchor > last_start {
                        return writer.finish(src, anchor..src.len());
                    }
                    self.table.set(K::slot(src, anchor - 2), anchor - 2);
                    match self.match_at(anchor) {
                        Some(from) => found = Found { at: anchor, from },
                        None => break,
                    }
                }
                next = anchor + 1;
            }
        }
        writer.finish(src, anchor..src.len())
    }

    /// Where the bytes at `at` were seen before, if near enough.
    #[inline(always)]
    fn match_at(&mut self, at: usize) -> Option<usize> {
        let from = self.table.replace(K::slot(self.src, at), at);
        let equal = word4(self.src, from) == word4(self.src, at);
        (equal && from < at && at - from <= MAX_DISTANCE).then_some(from)
    }

    /// The first match at or after `at`, looking at fewer and fewer positions.
    #[inline(always)]
    fn next_match(&mut self, mut at: usize, last_start: usize) -> Option<Found> {
        let mut tries = self.acceleration * TRIES_PER_STEP;
        let mut step = 1;
        while at + step <= last_start + 1 {
            if let Some(from) = self.match_at(at) {
                return Some(Found { at, from });
            }
            at += step;
            step = (tries / TRIES_PER_STEP) as usize;
            tries += 1;
        }
        None
    }
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
