//! Bit streams that are read from their end.

use crate::lz::matching::load;

/// Bits from the end of a stream to its start: below the highest set bit of the last byte, which
/// marks the end, downwards, then the byte before from its highest bit on.
///
/// A stream is a part of a larger slice. What is before its start can be looked at, but not taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BackwardBits<'a> {
    bytes: &'a [u8],
    /// The first bit of the stream, counted from the start of `bytes`.
    start: usize,
    /// Behind the bit that is next; less than the bits of `bytes`.
    end: usize,
}

/// How many bits a [`BackwardBits::window`] has at least.
pub(crate) const WINDOW: u32 = 56;

impl<'a> BackwardBits<'a> {
    /// The stream that starts at byte `start` and ends with `bytes`; `None` without an end mark.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8], start: usize) -> Option<Self> {
        let mark = bytes.get(start..)?.last()?.checked_ilog2()?;
        Some(Self { bytes, start: 8 * start, end: 8 * (bytes.len() - 1) + mark as usize })
    }

    /// How many bits were not read.
    #[inline(always)]
    pub(crate) fn left(&self) -> usize {
        self.end - self.start
    }

    /// The first bit of the stream, counted from the start of the slice.
    #[inline(always)]
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Behind the bit that is next, counted from the start of the slice.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// The next bits, from the highest one down, [`WINDOW`] of them or more; below the start of the
    /// stream are others.
    #[inline(always)]
    pub(crate) fn window(&self) -> u64 {
        let last = self.end / 8;
        let word = if last >= 7 {
            // SAFETY: `end` is less than the bits of `bytes`, so that `last` is one of them.
            u64::from_le_bytes(unsafe { load(self.bytes, last - 7) })
        } else {
            first_word(&self.bytes[..=last])
        };
        word << (8 - self.end % 8)
    }

    /// Goes on behind `count` bits that are left.
    #[inline(always)]
    pub(crate) fn skip(&mut self, count: usize) {
        debug_assert!(count <= self.left());
        self.end -= count;
    }

    /// The next `count` bits, at most 16, the first of them as the highest; `None` if fewer are
    /// left.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "at most 16 bits are left by the shift")]
    pub(crate) fn take(&mut self, count: u32) -> Option<u16> {
        debug_assert!(count <= 16);
        if count as usize > self.left() {
            return None;
        }
        // Two shifts, as one by 64 bits is none.
        let value = (self.window() >> 1 >> (63 - count)) as u16;
        self.end -= count as usize;
        Some(value)
    }
}

/// A word that ends with `bytes`, fewer than eight, with zeros below them.
#[cold]
#[inline(never)]
fn first_word(bytes: &[u8]) -> u64 {
    let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    word << (64 - 8 * bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lz::samples::noise;
    use alloc::vec::Vec;

    #[test]
    fn bits_come_from_below_the_mark_downwards() {
        let mut bits = BackwardBits::new(&[0b1010_0110, 0b0001_0110], 0).unwrap();
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
        assert!(BackwardBits::new(&[], 0).is_none());
        assert!(BackwardBits::new(&[1, 1], 2).is_none());
        assert!(BackwardBits::new(&[1, 1], 3).is_none());
        assert!(BackwardBits::new(&[255, 0], 0).is_none());
        assert_eq!(BackwardBits::new(&[1], 0).unwrap().left(), 0);
        assert_eq!(BackwardBits::new(&[7, 1], 1).unwrap().left(), 0);
    }

    #[test]
    fn a_window_has_the_next_bits_wherever_it_is() {
        let mut bytes = noise(30, 3);
        bytes.push(1);
        let bits: Vec<u64> =
            bytes[..30].iter().rev().flat_map(|byte| (0..8).rev().map(move |bit| u64::from(byte >> bit & 1))).collect();
        for start in [0, 1, 8, 20] {
            let mut stream = BackwardBits::new(&bytes, start).unwrap();
            for at in 0..=bits.len() - 8 * start {
                let expected = (0..WINDOW as usize).fold(0, |word, i| word << 1 | bits.get(at + i).unwrap_or(&0));
                assert_eq!(stream.window() >> (64 - WINDOW), expected, "at {at}");
                if stream.left() > 0 {
                    stream.skip(1);
                }
            }
            assert_eq!(stream.left(), 0);
        }
    }
}
