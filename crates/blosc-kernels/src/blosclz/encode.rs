//! The encoder: one candidate per hash, greedy, after a probe that tells whether compressing is
//! worth it.

use crate::lz::matching::{common_length, hash4, low4};
use crate::lz::window::{Key, MAX_INPUT, Positions, Window};

/// Slots of the table at the highest levels.
const SLOTS: usize = 1 << 14;
/// The longest run of literals one opcode can announce.
const MAX_RUN: usize = 32;
/// The stream starts with so many literals.
const FIRST_LITERALS: usize = 4;
/// A match with fewer bytes in common is not worth encoding: decoders take as long for it as for a
/// longer one.
const LONG: usize = 7;
/// A match with fewer bytes in common takes as much space as its bytes.
const SHORT: usize = 5;
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
/// Split blocks that compress to so much less do without short matches.
const PERCENT_WITHOUT_SHORT: usize = 400;

/// Which matches streams are made of: those of Blosc2 chunks are decoded faster, those of Blosc1
/// chunks are shorter. Every decoder reads both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Of 7 bytes and more.
    Blosc2,
    /// Of 5 bytes and more, but where the stream is one of several that a block is split into, and
    /// much shorter than its input: there they are as those of Blosc2.
    Blosc1 {
        /// Whether blocks are split into streams.
        is_split: bool,
    },
}

/// The BloscLZ encoder.
///
/// Keeps its table between calls, which saves clearing it; what a call returns depends on its
/// arguments only.
#[derive(Debug, Clone)]
pub struct Encoder {
    table: Positions<u32, SLOTS>,
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
    /// `None` if `dst` is too small, or if a sample of `src` does not compress well enough for
    /// `level`, which is from 1 (demands most, finds least) to 9 (compresses best).
    pub fn compress(&mut self, src: &[u8], dst: &mut [u8], level: u8, variant: Variant) -> Option<usize> {
        let level = level.clamp(1, 9);
        if !(MIN_INPUT..=MAX_INPUT).contains(&src.len()) || dst.len() < MIN_OUTPUT {
            return None;
        }
        let table = &mut self.table;
        if !is_worth_trying(table, src, level, variant) {
            return None;
        }
        match (takes_short_matches(table, src, variant), level) {
            (false, 1) => encode::<12, LONG>(table, src, dst, level),
            (false, 2) => encode::<13, LONG>(table, src, dst, level),
            (false, _) => encode::<14, LONG>(table, src, dst, level),
            (true, 1) => encode::<12, SHORT>(table, src, dst, level),
            (true, 2) => encode::<13, SHORT>(table, src, dst, level),
            (true, _) => encode::<14, SHORT>(table, src, dst, level),
        }
    }
}

/// Whether a sample compresses as well as the level demands.
fn is_worth_trying(table: &mut Positions<u32, SLOTS>, src: &[u8], level: u8, variant: Variant) -> bool {
    let wanted = wanted_percent(level);
    match (variant, level) {
        (Variant::Blosc1 { .. }, _) => is_worth_it::<12, SHORT>(table, sample_of_blosc1(src), wanted),
        (Variant::Blosc2, 1) => is_worth_it::<12, LONG>(table, sample(src, sampled_part(level), 12), wanted),
        (Variant::Blosc2, 2) => is_worth_it::<13, LONG>(table, sample(src, sampled_part(level), 13), wanted),
        (Variant::Blosc2, _) => is_worth_it::<14, LONG>(table, sample(src, sampled_part(level), 14), wanted),
    }
}

/// Whether short matches are taken, where they are not left out for the sake of decoders: these
/// have little to do anyway where there is much to gain, and what is not split is compressed as
/// well as possible.
fn takes_short_matches(table: &mut Positions<u32, SLOTS>, src: &[u8], variant: Variant) -> bool {
    match variant {
        Variant::Blosc2 => false,
        Variant::Blosc1 { is_split: false } => true,
        Variant::Blosc1 { is_split: true } => {
            !is_worth_it::<12, SHORT>(table, sample_of_blosc1(src), PERCENT_WITHOUT_SHORT)
        }
    }
}

/// The start of the last of `parts` parts of an input, at most as long as there are slots for
/// `bits` bits.
fn sample(src: &[u8], parts: usize, bits: u32) -> &[u8] {
    let len = src.len() / parts;
    let part = &src[src.len() - len..];
    &part[..len.min(1 << bits)]
}

fn sample_of_blosc1(src: &[u8]) -> &[u8] {
    sample(src, 4, 12)
}

fn encode<const BITS: u32, const COMMON: usize>(
    table: &mut Positions<u32, SLOTS>,
    src: &[u8],
    dst: &mut [u8],
    level: u8,
) -> Option<usize> {
    let mut search = Search::<BITS, COMMON>::new(table, src)?;
    let mut writer = Writer::new(dst);
    let mut anchor = 0;
    let mut at = FIRST_LITERALS;
    while let Some(found) = search.next_match::<false>(at, search.end.min(anchor + writer.room())) {
        writer.sequence(src, anchor, &found)?;
        let boundary = found.at + found.length;
        at = boundary + 2;
        anchor = at;
        if at >= search.end {
            break;
        }
        let word = search.window.word(boundary);
        search.window.remember_as(word, boundary);
        if level == 9 {
            search.window.remember_as(word << 32 >> 40, boundary + 1);
        }
    }
    writer.finish(&src[anchor..])
}

/// Whether `sample` would shrink so much that it has `wanted` percent of its compressed length.
///
/// Stops as soon as the rest of the sample cannot change the answer.
fn is_worth_it<const BITS: u32, const COMMON: usize>(
    table: &mut Positions<u32, SLOTS>,
    sample: &[u8],
    wanted: usize,
) -> bool {
    let Some(mut search) = Search::<BITS, COMMON>::new(table, sample) else { return false };
    let most = sample.len() * 100 / wanted;
    let mut cost = 1 + FIRST_LITERALS;
    let mut run = FIRST_LITERALS;
    let mut at = 0;
    while cost <= most
        && let Some(found) = search.next_match::<true>(at, search.end.min(at + most - cost + 2))
    {
        cost += sequence_cost(run, found.at - at, &found);
        run = 0;
        let boundary = found.at + found.length;
        at = boundary + 2;
        let rest = search.end.saturating_sub(at);
        if rest == 0 || worst_cost(cost, rest) * wanted <= search.end * 100 {
            break;
        }
        search.window.remember(boundary);
    }
    let consumed = search.end.max(at);
    cost += consumed - at + (run + consumed - at) / MAX_RUN;
    consumed * 100 >= cost * wanted
}

/// What `count` literals after `run` others, and the match that follows them, add to the cost.
///
/// The opcode of a run of literals is counted when the run starts, so it is taken back if there is
/// no literal.
#[inline(always)]
fn sequence_cost(run: usize, count: usize, found: &Found) -> usize {
    let total = run + count;
    let unused = usize::from(total.is_multiple_of(MAX_RUN));
    let reference = if found.distance < FAR_DISTANCE { 2 } else { 4 } + extension_length(found.length);
    count + total / MAX_RUN + reference + 1 - unused
}

/// A bound of the cost if `rest` more bytes turn out as bad as they can: all literals, and a match
/// at their end.
#[inline(always)]
fn worst_cost(cost: usize, rest: usize) -> usize {
    cost + rest + rest / MAX_RUN + 7
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

/// Four bytes, hashed to `BITS` bits.
struct Word<const BITS: u32>;

impl<const BITS: u32> Key<SLOTS> for Word<BITS> {
    #[inline(always)]
    fn slot(word: u64) -> usize {
        hash4(low4(word), BITS)
    }
}

/// What looks for matches with `COMMON` bytes in common or more.
struct Search<'a, const BITS: u32, const COMMON: usize> {
    src: &'a [u8],
    window: Window<'a, Word<BITS>, u32, SLOTS>,
    /// Where the search for matches ends.
    end: usize,
}

impl<'a, const BITS: u32, const COMMON: usize> Search<'a, BITS, COMMON> {
    fn new(table: &'a mut Positions<u32, SLOTS>, src: &'a [u8]) -> Option<Self> {
        let end = src.len().checked_sub(MATCH_MARGIN)?;
        Some(Self { src, window: Window::new(table, src)?, end })
    }

    /// The first match worth encoding at or after `at` and before `stop`; `SAMPLING` also takes
    /// short far ones.
    #[inline(always)]
    fn next_match<const SAMPLING: bool>(&mut self, at: usize, stop: usize) -> Option<Found> {
        let src = self.src;
        self.window.scan::<COMMON, _>(at, stop, |at, from| {
            let distance = at - from;
            if distance == 0 || distance >= DISTANCE_LIMIT {
                return None;
            }
            let length = encoded_length::<COMMON>(src, from, at);
            let worth_it = SAMPLING || length > 5 || distance < FAR_DISTANCE;
            worth_it.then_some(Found { at, distance, length })
        })
    }
}

/// The length to encode for a match: the last byte of a long one is left out unless it ends with
/// the input, so that the next match can begin there.
#[inline(always)]
fn encoded_length<const COMMON: usize>(src: &[u8], from: usize, at: usize) -> usize {
    let end = src.len() - 1;
    (common_length(src, from, at, end) + 1).min(end - at).saturating_sub(COMMON.div_ceil(2))
}

/// How many bytes a length takes beyond its opcode.
#[inline(always)]
fn extension_length(length: usize) -> usize {
    if length < LONG_MATCH { 0 } else { (length - LONG_MATCH) / 255 + 1 }
}

/// Appends literals and matches to an output that may be too small for them.
///
/// One byte is always kept for the opcode of a run of literals, since a stream may not end with a
/// match.
struct Writer<'a> {
    dst: &'a mut [u8],
    written: usize,
}

impl<'a> Writer<'a> {
    fn new(dst: &'a mut [u8]) -> Self {
        Self { dst, written: 0 }
    }

    /// How many bytes can still be written.
    #[inline(always)]
    fn room(&self) -> usize {
        self.dst.len() - self.written
    }

    /// Appends the literals of `src` from `anchor` to the match, and the match.
    #[inline(always)]
    fn sequence(&mut self, src: &[u8], anchor: usize, found: &Found) -> Option<()> {
        let count = found.at - anchor;
        if count <= MAX_RUN
            && let Some(out) = self.dst[self.written..].first_chunk_mut::<{ MAX_RUN + 2 }>()
            && let Some(literals) = src[anchor..].first_chunk::<MAX_RUN>()
        {
            out[0] = low_byte(count.wrapping_sub(1) & 255);
            out[1..1 + MAX_RUN].copy_from_slice(literals);
            self.written += count + usize::from(count > 0);
        } else {
            self.written = put_literals(self.dst, self.written, &src[anchor..found.at])?;
        }
        self.reference(found.distance, found.length)
    }

    /// Appends a match.
    #[inline(always)]
    fn reference(&mut self, distance: usize, length: usize) -> Option<()> {
        if length < LONG_MATCH + 255
            && let Some(out) = self.dst[self.written..].first_chunk_mut::<8>()
        {
            let (high, rest, rest_length) = distance_bytes(distance);
            let extended = usize::from(length >= LONG_MATCH);
            out[0] = low_byte(length.min(LONG_MATCH) << 5) | high;
            out[1] = low_byte(length.wrapping_sub(LONG_MATCH) & 255);
            out[1 + extended..5 + extended].copy_from_slice(&rest);
            self.written += 1 + extended + rest_length;
        } else {
            self.written = put_long_reference(self.dst, self.written, distance, length)?;
        }
        Some(())
    }

    /// Appends the literals that end the stream, marks it and returns its length.
    fn finish(self, literals: &[u8]) -> Option<usize> {
        let length = put_literals(self.dst, self.written, literals)?;
        self.dst[0] |= STREAM_MARK;
        Some(length)
    }
}

/// Writes literals at `written`, if there is space, and returns where they end.
///
/// Not a method, so that the writer can stay in registers around the call.
#[inline(never)]
fn put_literals(dst: &mut [u8], written: usize, literals: &[u8]) -> Option<usize> {
    let out = dst.get_mut(written..)?;
    let needed = literals.len() + literals.len().div_ceil(MAX_RUN);
    if out.len() <= needed {
        return None;
    }
    let (runs, rest) = literals.as_chunks::<MAX_RUN>();
    let (full, last) = out[..needed].as_chunks_mut::<{ 1 + MAX_RUN }>();
    for (out, run) in full.iter_mut().zip(runs) {
        out[0] = low_byte(MAX_RUN - 1);
        out[1..].copy_from_slice(run);
    }
    if let Some((opcode, out)) = last.split_first_mut() {
        *opcode = low_byte(rest.len() - 1);
        out.copy_from_slice(rest);
    }
    Some(written + needed)
}

/// Writes a match of any length at `written`, if there is space, and returns where it ends.
#[inline(never)]
fn put_long_reference(dst: &mut [u8], written: usize, distance: usize, length: usize) -> Option<usize> {
    let out = dst.get_mut(written..)?;
    let (high, rest, rest_length) = distance_bytes(distance);
    let extension = extension_length(length);
    let needed = 1 + extension + rest_length;
    if out.len() <= needed {
        return None;
    }
    out[0] = low_byte(length.min(LONG_MATCH) << 5) | high;
    if extension > 0 {
        out[1..extension].fill(255);
        out[extension] = low_byte((length - LONG_MATCH) % 255);
    }
    out[1 + extension..needed].copy_from_slice(&rest[..rest_length]);
    Some(written + needed)
}

/// What a distance adds to the opcode, the bytes that it takes more, and how many these are.
#[inline(always)]
fn distance_bytes(distance: usize) -> (u8, [u8; 4], usize) {
    if distance < FAR_DISTANCE {
        (low_byte((distance - 1) >> 8), [low_byte((distance - 1) & 255), 0, 0, 0], 1)
    } else {
        let beyond = distance - FAR_DISTANCE;
        (31, [255, low_byte(beyond >> 8), low_byte(beyond & 255), 0], 3)
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
    use super::{Encoder, Variant};
    use crate::lz::samples;

    const VARIANTS: [Variant; 3] =
        [Variant::Blosc2, Variant::Blosc1 { is_split: false }, Variant::Blosc1 { is_split: true }];

    fn compressed(encoder: &mut Encoder, src: &[u8], level: u8, variant: Variant) -> Option<Vec<u8>> {
        let mut stream = vec![0; src.len() * 2 + 66];
        let length = encoder.compress(src, &mut stream, level, variant)?;
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
            for (level, variant) in (0..=10).flat_map(|level| VARIANTS.map(|variant| (level, variant))) {
                if let Some(stream) = compressed(&mut encoder, &input, level, variant) {
                    assert_eq!(decompressed(&stream, input.len()), input);
                    count += 1;
                }
            }
        }
        assert!(count > 3000, "{count}");
    }

    #[test]
    fn noise_and_tiny_inputs_are_refused() {
        let mut encoder = Encoder::new();
        for (level, variant) in (1..=9).flat_map(|level| VARIANTS.map(|variant| (level, variant))) {
            assert_eq!(compressed(&mut encoder, &samples::noise(100_000, 1), level, variant), None);
            assert_eq!(compressed(&mut encoder, &[7; 15], level, variant), None);
        }
    }

    #[test]
    fn what_was_compressed_before_changes_nothing() {
        let mut used = Encoder::new();
        for input in samples::inputs() {
            for (level, variant) in [1, 5, 9].into_iter().zip(VARIANTS) {
                let fresh = compressed(&mut Encoder::new(), &input, level, variant);
                assert_eq!(compressed(&mut used, &input, level, variant), fresh);
            }
        }
    }

    #[test]
    fn a_small_output_is_either_enough_or_refused() {
        let mut encoder = Encoder::new();
        for input in [samples::mixture(900, 4), samples::text(600), samples::periodic(9000, 1)] {
            for (level, variant) in [3, 5, 9].into_iter().flat_map(|level| VARIANTS.map(|variant| (level, variant))) {
                let Some(stream) = compressed(&mut encoder, &input, level, variant) else { continue };
                for room in 0..stream.len() + 20 {
                    let mut cut = vec![0; room];
                    match encoder.compress(&input, &mut cut, level, variant) {
                        Some(length) => assert_eq!(cut[..length], stream[..]),
                        None => assert!(room < (stream.len() + 1).max(66)),
                    }
                }
            }
        }
    }

    #[test]
    fn short_matches_make_streams_of_blosc1_shorter() {
        let mut encoder = Encoder::new();
        for input in [samples::text(100_000), samples::mixture(100_000, 4)] {
            let [long, short, _] =
                VARIANTS.map(|variant| compressed(&mut encoder, &input, 9, variant).map(|s| s.len()));
            assert!(short < long || long.is_none(), "{short:?} {long:?}");
        }
    }
}
