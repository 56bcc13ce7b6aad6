//! Writing the sequences of an LZ4 block: a token, literals, an offset and a match length.

use core::ops::Range;

use crate::lz::literals::copy_literals;

/// How many literals are copied at a time where there are more than a few.
const WIDE: usize = 32;
/// A match is at least this long.
pub(super) const MIN_MATCH: usize = 4;
/// What a match takes at least, in bytes: its token and its offset. So many literals cost as much.
pub(super) const MATCH_COST: usize = 3;
/// The last bytes of a block are literals.
pub(super) const LAST_LITERALS: usize = 5;
/// The last match starts at least this many bytes before the end of the block.
pub(super) const MATCH_MARGIN: usize = 12;
/// How far back a match may reach.
pub(super) const MAX_DISTANCE: usize = 65_535;

/// The most bytes a block of `length` bytes can take when compressed.
#[must_use]
pub const fn max_compressed_len(length: usize) -> usize {
    length + length / 255 + 16
}

/// Appends sequences to an output that may be too small for them.
pub(super) struct SequenceWriter<'a> {
    dst: &'a mut [u8],
    written: usize,
}

impl<'a> SequenceWriter<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        Self { dst, written: 0 }
    }

    /// How many bytes there are so far.
    #[cfg(test)]
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// Appends `literals` of `src` and a match; `None` if a block with this sequence cannot fit.
    #[inline(always)]
    pub(super) fn sequence(
        &mut self,
        src: &[u8],
        literals: Range<usize>,
        distance: usize,
        match_length: usize,
    ) -> Option<()> {
        let count = literals.len();
        let extra = match_length - MIN_MATCH;
        if count < 15
            && extra < 15 + 255
            && let Some(out) = self.dst[self.written..].first_chunk_mut::<24>()
            && let Some(copied) = src[literals.start..].first_chunk::<16>()
        {
            out[0] = low_byte(count << 4 | extra.min(15));
            out[1..17].copy_from_slice(copied);
            out[1 + count] = low_byte(distance & 255);
            out[2 + count] = low_byte(distance >> 8);
            out[3 + count] = low_byte(extra.wrapping_sub(15) & 255);
            self.written += 3 + count + usize::from(extra >= 15);
            return Some(());
        }
        self.written = long_sequence(self.dst, self.written, src, literals, distance, match_length)?;
        Some(())
    }

    /// Appends the literals that end the block and returns the length of the block.
    pub(super) fn finish(self, src: &[u8], literals: Range<usize>) -> Option<usize> {
        let out = self.dst.get_mut(self.written..)?;
        let count = literals.len();
        if out.len() < 1 + count + extension_length(count) {
            return None;
        }
        out[0] = nibble(count) << 4;
        let written = 1 + put_extension(&mut out[1..], count);
        copy_literals(src, literals.start, out, written, count);
        Some(self.written + written + count)
    }
}

/// Writes a sequence of any lengths at `written`, if there is space, and returns where it ends.
///
/// Not a method, so that the writer can stay in registers around the call.
#[inline(never)]
fn long_sequence(
    dst: &mut [u8],
    written: usize,
    src: &[u8],
    literals: Range<usize>,
    distance: usize,
    match_length: usize,
) -> Option<usize> {
    let out = dst.get_mut(written..)?;
    let count = literals.len();
    let extra = match_length - MIN_MATCH;
    if let Some(len) = medium_sequence(out, &src[literals.start..], count, distance, extra) {
        return Some(written + len);
    }
    let needed = 3 + count + extension_length(count) + extension_length(extra);
    if out.len() < needed + 1 + LAST_LITERALS {
        return None;
    }
    out[0] = nibble(count) << 4 | nibble(extra);
    let mut at = 1 + put_extension(&mut out[1..], count);
    copy_literals(src, literals.start, out, at, count);
    at += count;
    out[at..at + 2].copy_from_slice(&u16::try_from(distance).ok()?.to_le_bytes());
    put_extension(&mut out[at + 2..], extra);
    Some(written + needed)
}

/// Writes a sequence whose lengths are extended by no more than a byte, where input and output go
/// on behind it. Returns how long it is.
#[inline(always)]
fn medium_sequence(out: &mut [u8], src: &[u8], count: usize, distance: usize, extra: usize) -> Option<usize> {
    let more = count.checked_sub(15).filter(|&more| more < 255 && extra < 15 + 255)?;
    let copied = count.next_multiple_of(WIDE);
    let out = out.get_mut(..copied + 5)?;
    let literals = src.get(..copied)?;
    out[0] = 15 << 4 | nibble(extra);
    out[1] = low_byte(more);
    for (out, part) in out[2..].as_chunks_mut::<WIDE>().0.iter_mut().zip(literals.as_chunks::<WIDE>().0) {
        *out = *part;
    }
    let end = out[2 + count..].first_chunk_mut::<3>()?;
    *end = [low_byte(distance & 255), low_byte(distance >> 8), low_byte(extra.wrapping_sub(15) & 255)];
    Some(4 + count + usize::from(extra >= 15))
}

/// Writes what a length has beyond the 15 of its token nibble; returns how many bytes that took.
#[inline(always)]
fn put_extension(out: &mut [u8], length: usize) -> usize {
    let Some(rest) = length.checked_sub(15) else { return 0 };
    if rest < 255 {
        out[0] = low_byte(rest);
        return 1;
    }
    let full = rest / 255;
    out[..full].fill(255);
    out[full] = low_byte(rest % 255);
    full + 1
}

/// How many bytes a length takes beyond its token nibble.
#[inline(always)]
pub(super) fn extension_length(length: usize) -> usize {
    if length < 15 { 0 } else { (length - 15) / 255 + 1 }
}

/// What the token says of a length.
#[inline(always)]
fn nibble(length: usize) -> u8 {
    low_byte(length.min(15))
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the callers pass values below 256")]
fn low_byte(value: usize) -> u8 {
    value as u8
}
