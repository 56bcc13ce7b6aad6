//! Bit streams that are read from their end.

/// Bits from the end of a slice to its start: below the highest set bit of the last byte, which marks the end, downwards,
/// then the byte before from its highest bit on.
#[derive(Debug, Clone, Copy)]
pub(super) struct BackwardBits<'a> {
    bytes: &'a [u8],
    /// Bits that were not read: the lowest ones of `bytes`.
    left: usize,
}

/// How many bits a [`BackwardBits::window`] has at least.
pub(super) const WINDOW: u32 = 57;

impl<'a> BackwardBits<'a> {
    /// `None` without an end mark.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let mark = bytes.last()?.checked_ilog2()?;
        Some(Self { bytes, left: 8 * (bytes.len() - 1) + mark as usize })
    }

    /// How many bits were not read.
    #[inline(always)]
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// The next bits, from the highest one down, [`WINDOW`] of them or more; zeros below the start of the slice.
    #[inline(always)]
    pub(super) fn window(&self) -> u64 {
        let end = self.left.div_ceil(8);
        let word = match end.checked_sub(8).and_then(|start| self.bytes[start..].first_chunk()) {
            Some(word) => u64::from_le_bytes(*word),
            None => first_word(&self.bytes[..end]),
        };
        word << (8 * end - self.left)
    }

    /// Goes on behind `count` bits that are left.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: usize) {
        debug_assert!(count <= self.left);
        self.left -= count;
    }

    /// The next `count` bits, at most 16, the first of them as the highest; `None` if fewer are left.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "at most 16 bits are left by the shift")]
    pub(super) fn take(&mut self, count: u32) -> Option<u16> {
        debug_assert!(count <= 16);
        // Two shifts, as one by 64 bits is none.
        let value = (self.window() >> 1 >> (63 - count)) as u16;
        self.left = self.left.checked_sub(count as usize)?;
        Some(value)
    }
}

/// A word of less than eight bytes, with zeros below them.
#[cold]
#[inline(never)]
fn first_word(bytes: &[u8]) -> u64 {
    let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    // An empty slice would be shifted by all of a word's bits, and is zero anyway.
    word << (64 - 8 * bytes.len().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lz::samples::noise;
    use alloc::vec::Vec;

    #[test]
    fn bits_come_from_below_the_mark_downwards() {
        let mut bits = BackwardBits::new(&[0b1010_0110, 0b0001_0110]).unwrap();
        assert_eq!(bits.left(), 12);
        assert_eq!(bits.take(3), Some(0b011));
        assert_eq!(bits.take(2), Some(0b01));
        assert_eq!(bits.take(0), Some(0));
        assert_eq!(bits.take(8), None);
        assert_eq!(bits.take(7), Some(0b010_0110));
        assert_eq!((bits.left(), bits.take(1)), (0, None));
    }

    #[test]
    fn without_a_mark_there_is_no_stream() {
        assert!(BackwardBits::new(&[]).is_none());
        assert!(BackwardBits::new(&[255, 0]).is_none());
        assert_eq!(BackwardBits::new(&[1]).unwrap().left(), 0);
        assert_eq!(BackwardBits::new(&[1]).unwrap().window(), 0);
    }

    #[test]
    fn a_window_has_the_next_bits_wherever_it_is() {
        let mut bytes = noise(30, 3);
        bytes.push(1);
        let bits: Vec<u64> =
            bytes[..30].iter().rev().flat_map(|byte| (0..8).rev().map(move |bit| u64::from(byte >> bit & 1))).collect();
        let mut stream = BackwardBits::new(&bytes).unwrap();
        for at in 0..=bits.len() {
            let expected = (0..WINDOW as usize).fold(0, |word, i| word << 1 | bits.get(at + i).unwrap_or(&0));
            assert_eq!(stream.window() >> (64 - WINDOW), expected, "at {at}");
            if at < bits.len() {
                stream.skip(1);
            }
        }
        assert_eq!(stream.left(), 0);
    }
}
