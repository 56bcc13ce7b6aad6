//! The encoder: one candidate per hash, greedy, after a probe that tells whether compressing is worth it.

use crate::lz::literals::copy_literals;
use crate::lz::matching::{MAX_INPUT, Positions, common_length, hash4, word4};

/// Slots of the table at the highest levels.
const SLOTS: usize = 1 << 14;
/// The longest run of literals one opcode can announce.
const MAX_RUN: usize = 32;
/// The stream starts with so many literals.
const FIRST_LITERALS: usize = 4;
/// Positions so near the end are literals.
const MATCH_MARGIN: usize = 12;
/// Distances below this take two bytes.
const FAR_DISTANCE: usize = 8192;
/// Matches must be nearer than this.
const DISTANCE_LIMIT: usize = 73_725;
/// Shorter inputs are not compressed.
const MIN_INPUT: usize = 16;
/// Outputs shorter than this are not written to.
const MIN_OUTPUT: usize = 66;
/// A length is stored in the opcode if it is below this.
const LONG_MATCH: usize = 7;
/// Set in the first byte of every stream.
const STREAM_MARK: u8 = 1 << 5;

/// The BloscLZ encoder.
///
/// Keeps its table between calls, which saves clearing it; what a call returns depends on its arguments only.
#[derive(Debug, Clone)]
pub struct Encoder {
    table: Positions<SLOTS>,
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
        Self { table: Positions::new() }
    }

    /// Compresses `src` into `dst` and returns the length of the stream.
    ///
    /// `None` if `dst` is too small, or if a sample of `src` does not compress well enough for `level`, which is from
    /// 1 (demands most, finds least) to 9 (compresses best).
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        let level = level.clamp(1, 9);
        if !(MIN_INPUT..=MAX_INPUT).contains(&src.len()) || dst.len() < MIN_OUTPUT {
            return None;
        }
        if !self.sample_is_worth_it(src, level) {
            return None;
        }
        self.encode(src, dst, level)
    }

    /// Whether a sample at the end of `src` compresses as well as `level` demands.
    fn sample_is_worth_it(&mut self, src: &[u8], level: u8) -> bool {
        let part = src.len() / sampled_part(level);
        let bits = hash_bits(level);
        let sample = &src[src.len() - part..];
        let sample = &sample[..part.min(1 << bits)];
        let (consumed, cost) = self.sample_cost(sample, bits);
        consumed * 100 >= cost * wanted_percent(level)
    }

    /// How many bytes of `sample` were looked at, and how many bytes they would take.
    fn sample_cost(&mut self, sample: &[u8], bits: u32) -> (usize, usize) {
        let mut search = Search::new(&mut self.table, sample, bits);
        let mut cost = 1 + FIRST_LITERALS;
        let mut run = FIRST_LITERALS;
        let mut at = 0;
        while let Some(found) = search.next_match::<true>(at, search.end()) {
            let literals = found.at - at;
            cost += literals + (run + literals) / MAX_RUN;
            if (run + literals).is_multiple_of(MAX_RUN) {
                cost -= 1;
            }
            cost += if found.distance < FAR_DISTANCE { 2 } else { 4 } + extension_length(found.length) + 1;
            run = 0;
            at = found.at + found.length;
            search.remember(at);
            at += 2;
        }
        let end = search.end().max(at);
        let literals = end - at;
        (end, cost + literals + (run + literals) / MAX_RUN)
    }

    fn encode(&mut self, src: &[u8], dst: &mut [u8], level: u8) -> Option<usize> {
        let mut search = Search::new(&mut self.table, src, hash_bits(level));
        let mut writer = Writer::new(dst);
        let mut anchor = 0;
        let mut at = FIRST_LITERALS;
        while let Some(found) = search.next_match::<false>(at, search.end()) {
            writer.literals(src, anchor, found.at)?;
            writer.back_reference(found.distance, found.length)?;
            at = found.at + found.length;
            search.remember(at);
            if level == 9 {
                search.remember_three(at + 1);
            }
            at += 2;
            anchor = at;
        }
        writer.literals(src, anchor, src.len())?;
        writer.finish()
    }
}

/// Bits of the hashes at a level.
fn hash_bits(level: u8) -> u32 {
    match level {
        1 => 12,
        2 => 13,
        _ => 14,
    }
}

/// What part of the input the sample is taken from: the last `1 / n`.
fn sampled_part(level: u8) -> usize {
    match level {
        1 => 8,
        2 | 3 => 4,
        4..=6 => 2,
        _ => 1,
    }
}

/// How many percent of its compressed length the sample must have for a level.
fn wanted_percent(level: u8) -> usize {
    match level {
        1 => 200,
        2 => 150,
        3..=6 => 120,
        7 => 115,
        8 => 110,
        _ => 100,
    }
}

/// A match as it is encoded: `length` is two less than the bytes it stands for.
struct Found {
    at: usize,
    distance: usize,
    length: usize,
}

struct Search<'a> {
    table: &'a mut Positions<SLOTS>,
    src: &'a [u8],
    bits: u32,
}

impl<'a> Search<'a> {
    fn new(table: &'a mut Positions<SLOTS>, src: &'a [u8], bits: u32) -> Self {
        table.start(src.len());
        Self { table, src, bits }
    }

    /// Where the search for matches ends.
    fn end(&self) -> usize {
        self.src.len().saturating_sub(MATCH_MARGIN)
    }

    /// The first match worth encoding at or after `at` and before `stop`; `SAMPLING` also takes short far ones.
    #[inline(always)]
    fn next_match<const SAMPLING: bool>(&mut self, mut at: usize, stop: usize) -> Option<Found> {
        let src = self.src;
        while at < stop {
            let word = word4(src, at);
            let from = self.table.replace(hash4(word, self.bits), at);
            if word4(src, from) == word {
                let distance = at - from;
                if distance != 0 && distance < DISTANCE_LIMIT {
                    let length = encoded_length(src, from, at);
                    if length >= 4 && (SAMPLING || length > 5 || distance < FAR_DISTANCE) {
                        return Some(Found { at, distance, length });
                    }
                }
            }
            at += 1;
        }
        None
    }

    /// Lets the four bytes at `at` be found.
    #[inline(always)]
    fn remember(&mut self, at: usize) {
        self.table.set(hash4(word4(self.src, at), self.bits), at);
    }

    /// Lets the three bytes at `at`, followed by a zero, be found.
    #[inline(always)]
    fn remember_three(&mut self, at: usize) {
        self.table.set(hash4(word4(self.src, at - 1) >> 8, self.bits), at);
    }
}

/// The length to encode for a match: the byte after it is left out unless the match ends with the input.
#[inline(always)]
fn encoded_length(src: &[u8], from: usize, at: usize) -> usize {
    let end = src.len() - 1;
    (common_length(src, from, at, end) + 1).min(end - at).saturating_sub(4)
}

/// How many bytes a length takes beyond its opcode.
#[inline(always)]
fn extension_length(length: usize) -> usize {
    if length < LONG_MATCH { 0 } else { (length - LONG_MATCH) / 255 + 1 }
}

/// Appends literals and matches to an output that may be too small for them.
///
/// One byte is always kept for the opcode of a run of literals, since a stream may not end with a match.
struct Writer<'a> {
    dst: &'a mut [u8],
    written: usize,
}

impl<'a> Writer<'a> {
    fn new(dst: &'a mut [u8]) -> Self {
        Self { dst, written: 0 }
    }

    /// Appends the literals of `src` from `start` to `end`.
    #[inline(always)]
    fn literals(&mut self, src: &[u8], start: usize, end: usize) -> Option<()> {
        let count = end - start;
        let needed = count + count.div_ceil(MAX_RUN);
        if self.dst.len() - self.written <= needed {
            return None;
        }
        let mut at = start;
        while at < end {
            let run = (end - at).min(MAX_RUN);
            self.dst[self.written] = low_byte(run - 1);
            copy_literals(src, at, self.dst, self.written + 1, run);
            self.written += 1 + run;
            at += run;
        }
        Some(())
    }

    /// Appends a match.
    #[inline(always)]
    fn back_reference(&mut self, distance: usize, length: usize) -> Option<()> {
        let far = distance >= FAR_DISTANCE;
        let extension = extension_length(length);
        let needed = if far { 4 } else { 2 } + extension;
        if self.dst.len() - self.written <= needed {
            return None;
        }
        let out = &mut self.dst[self.written..][..needed];
        self.written += needed;
        let (high, low) = if far { (31, 255) } else { ((distance - 1) >> 8, (distance - 1) & 255) };
        out[0] = low_byte(length.min(LONG_MATCH) << 5 | high);
        if extension > 0 {
            out[1..extension].fill(255);
            out[extension] = low_byte((length - LONG_MATCH) % 255);
        }
        out[extension + 1] = low_byte(low);
        if far {
            let beyond = distance - FAR_DISTANCE;
            out[extension + 2] = low_byte(beyond >> 8);
            out[extension + 3] = low_byte(beyond & 255);
        }
        Some(())
    }

    /// Marks the stream and returns its length.
    fn finish(self) -> Option<usize> {
        self.dst[0] |= STREAM_MARK;
        Some(self.written)
    }
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the callers pass values below 256")]
fn low_byte(value: usize) -> u8 {
    value as u8
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::super::decompress;
    use super::Encoder;
    use crate::lz::samples;

    fn compressed(encoder: &mut Encoder, src: &[u8], level: u8) -> Option<Vec<u8>> {
        let mut stream = vec![0; src.len() * 2 + 66];
        let length = encoder.compress(src, &mut stream, level)?;
        stream.truncate(length);
        Some(stream)
    }

    fn decompressed(stream: &[u8], length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        assert_eq!(decompress(stream, &mut bytes), Ok(length));
        bytes
    }

    #[test]
    fn every_compressible_input_comes_back_at_every_level() {
        let mut encoder = Encoder::new();
        let mut count = 0;
        for input in samples::inputs() {
            for level in 0..=10 {
                if let Some(stream) = compressed(&mut encoder, &input, level) {
                    assert_eq!(decompressed(&stream, input.len()), input);
                    count += 1;
                }
            }
        }
        assert!(count > 1000, "{count}");
    }

    #[test]
    fn noise_and_tiny_inputs_are_refused() {
        let mut encoder = Encoder::new();
        for level in 1..=9 {
            assert_eq!(compressed(&mut encoder, &samples::noise(100_000, 1), level), None);
            assert_eq!(compressed(&mut encoder, &[7; 15], level), None);
        }
    }

    #[test]
    fn what_was_compressed_before_changes_nothing() {
        let mut used = Encoder::new();
        for input in samples::inputs() {
            for level in [1, 5, 9] {
                assert_eq!(compressed(&mut used, &input, level), compressed(&mut Encoder::new(), &input, level));
            }
        }
    }

    #[test]
    fn a_small_output_is_either_enough_or_refused() {
        let mut encoder = Encoder::new();
        for input in [samples::mixture(900, 4), samples::text(600), samples::periodic(9000, 1)] {
            for level in [3, 5, 9] {
                let Some(stream) = compressed(&mut encoder, &input, level) else { continue };
                for room in 0..stream.len() + 20 {
                    let mut cut = vec![0; room];
                    match encoder.compress(&input, &mut cut, level) {
                        Some(length) => assert_eq!(cut[..length], stream[..]),
                        None => assert!(room < (stream.len() + 1).max(66)),
                    }
                }
            }
        }
    }
}
