//! The bits of a stream.

use super::InflateError;
use crate::lz::hint::likely;
use crate::lz::matching::load;

/// Takes bits from a stream, the lowest of a byte first.
///
/// Behind the end of the stream there are zeros: it is [`position`](Self::position) that finds out,
/// once a block.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    src: &'a [u8],
    /// Where the next bytes come from, perhaps behind the end.
    next: usize,
    /// Bits that were loaded and not taken. Above `count` of them are more, which will be loaded
    /// again.
    held: u64,
    count: u32,
}

/// How many bits can be taken after a refill.
pub(super) const REFILLED: u32 = 56;

impl<'a> Bits<'a> {
    pub(super) fn new(src: &'a [u8]) -> Self {
        Self { src, next: 0, held: 0, count: 0 }
    }

    /// Makes sure that [`REFILLED`] bits can be taken.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        let word = if likely(self.src.len() >= 8 && self.next <= self.src.len() - 8) {
            // SAFETY: the comparisons above.
            u64::from_le_bytes(unsafe { load(self.src, self.next) })
        } else {
            last_word(self.src, self.next)
        };
        self.held |= word << self.count;
        // As many whole bytes as had space.
        self.next += ((63 - self.count) / 8) as usize;
        self.count |= REFILLED;
    }

    /// The bits that come next; only those that a refill has promised are there.
    #[inline(always)]
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Goes on behind `count` bits that were refilled.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        debug_assert!(count <= self.count);
        self.held >>= count;
        self.count -= count;
    }

    /// The next `count` bits, up to 16, that were refilled.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "at most 16 bits are left by the mask")]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let value = (self.held & ((1 << count) - 1)) as u32;
        self.skip(count);
        value
    }

    /// The first byte of the stream of which no bit was taken.
    pub(super) fn position(&self) -> Result<usize, InflateError> {
        let position = self.next - (self.count / 8) as usize;
        if position > self.src.len() { Err(self.cut()) } else { Ok(position) }
    }

    /// The content of a stored block, which starts with its length at the next whole byte.
    pub(super) fn stored(&mut self) -> Result<&'a [u8], InflateError> {
        let rest = &self.src[self.position()?..];
        let Some((&[low, high, not_low, not_high], content)) = rest.split_first_chunk() else {
            return Err(self.cut());
        };
        let len = u16::from_le_bytes([low, high]);
        if len != !u16::from_le_bytes([not_low, not_high]) {
            return Err(InflateError::BadBlock);
        }
        let content = content.get(..usize::from(len)).ok_or(self.cut())?;
        *self = Self { next: self.position()? + 4 + content.len(), held: 0, count: 0, ..*self };
        Ok(content)
    }

    fn cut(&self) -> InflateError {
        InflateError::InputEnded { input: self.src.len() }
    }
}

/// What is left of `src` from `at` on, and zeros. Not a method: the bits are to stay in registers.
#[cold]
#[inline(never)]
fn last_word(src: &[u8], at: usize) -> u64 {
    let rest = src.get(at..).unwrap_or_default();
    rest.iter().take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}
