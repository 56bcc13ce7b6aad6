//! Writing the sequences of an LZ4 block: a token, literals, an offset and a match length.

use crate::lz::literals::copy_literals;

/// A match is at least this long.
pub(super) const MIN_MATCH: usize = 4;
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

    /// Appends `literals` of `src` and a match; `None` if a block with this sequence cannot fit.
    #[inline(always)]
    pub(super) fn sequence(
        &mut self,
        src: &[u8],
        literals: core::ops::Range<usize>,
        distance: usize,
        match_length: usize,
    ) -> Option<()> {
        debug_assert!((1..=MAX_DISTANCE).contains(&distance) && match_length >= MIN_MATCH);
        let count = literals.len();
        let extra = match_length - MIN_MATCH;
        let needed = 3 + count + extension_length(count) + extension_length(extra);
        if self.dst.len() - self.written < needed + 1 + LAST_LITERALS {
            return None;
        }
        let token = self.written;
        self.written += 1;
        self.extension(count);
        self.literals(src, literals);
        let offset = u16::try_from(distance).ok()?;
        self.dst[self.written..self.written + 2].copy_from_slice(&offset.to_le_bytes());
        self.written += 2;
        self.extension(extra);
        self.dst[token] = nibble(count) << 4 | nibble(extra);
        Some(())
    }

    /// Appends the literals that end the block and returns the length of the block.
    pub(super) fn finish(mut self, src: &[u8], literals: core::ops::Range<usize>) -> Option<usize> {
        let count = literals.len();
        if self.dst.len() - self.written < 1 + count + extension_length(count) {
            return None;
        }
        self.dst[self.written] = nibble(count) << 4;
        self.written += 1;
        self.extension(count);
        self.literals(src, literals);
        Some(self.written)
    }

    #[inline(always)]
    fn literals(&mut self, src: &[u8], literals: core::ops::Range<usize>) {
        let count = literals.len();
        copy_literals(src, literals.start, self.dst, self.written, count);
        self.written += count;
    }

    /// Appends what a length has beyond the 15 of its token nibble.
    #[inline(always)]
    fn extension(&mut self, length: usize) {
        if length >= 15 {
            let rest = length - 15;
            let bytes = &mut self.dst[self.written..][..rest / 255 + 1];
            let (last, full) = bytes.split_last_mut().expect("at least one byte");
            full.fill(255);
            *last = low_byte(rest % 255);
            self.written += rest / 255 + 1;
        }
    }
}

/// How many bytes a length takes beyond its token nibble.
#[inline(always)]
fn extension_length(length: usize) -> usize {
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
