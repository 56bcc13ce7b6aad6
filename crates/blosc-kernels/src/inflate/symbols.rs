//! From symbols to bytes.

use super::InflateError;
use super::bits::Bits;
use super::code::{Code, DISTANCE_BITS, DISTANCE_ENTRIES, Entry, LITERAL_BITS, LITERAL_ENTRIES};
use crate::lz::copy::{self, OVER};
use crate::lz::hint::{likely, unlikely};
use crate::lz::vectors::Vectors;

/// The longest match.
const MAX_MATCH: usize = 258;
/// How many literals are looked up before there must be more bits.
const LITERALS: usize = 3;
/// What a turn may write.
const TURN: usize = LITERALS + MAX_MATCH + OVER;

/// Where the bytes go.
pub(super) struct Output<'a> {
    dst: &'a mut [u8],
    pub(super) written: usize,
}

impl<'a> Output<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        Self { dst, written: 0 }
    }

    /// Writes the content of a stored block.
    pub(super) fn stored(&mut self, content: &[u8]) -> Result<(), InflateError> {
        let Some(place) = self.dst[self.written..].get_mut(..content.len()) else { return Err(self.full()) };
        place.copy_from_slice(content);
        self.written += content.len();
        Ok(())
    }

    /// Decodes a block up to its end.
    #[inline(always)]
    pub(super) fn symbols<V: Vectors>(
        &mut self,
        vectors: V,
        bits: &mut Bits<'_>,
        codes: Codes<'_>,
    ) -> Result<(), InflateError> {
        if self.dst.len() >= TURN {
            // A copy, which can be in registers.
            let mut local = *bits;
            let (is_over, written) = far_from_end(vectors, &mut local, codes, self.dst, self.written)?;
            (*bits, self.written) = (local, written);
            if is_over {
                return Ok(());
            }
        }
        self.near_end(vectors, bits, codes)
    }

    /// Decodes the rest of a block, where every byte may be one too many.
    #[inline(never)]
    fn near_end<V: Vectors>(&mut self, vectors: V, bits: &mut Bits<'_>, codes: Codes<'_>) -> Result<(), InflateError> {
        loop {
            bits.refill();
            let entry = codes.literals.first(bits);
            let entry = codes.literals.second(entry, bits);
            if entry.is_literal() {
                bits.skip(entry.len());
                let full = self.full();
                *self.dst.get_mut(self.written).ok_or(full)? = entry.byte();
                self.written += 1;
            } else if entry.is_other() {
                return end(bits, entry);
            } else {
                let (len, distance) = codes.sequence(bits, entry, self.written)?;
                if len > self.dst.len() - self.written {
                    return Err(self.full());
                }
                copy::match_inside(vectors, self.dst, self.written, distance, len);
                self.written += len;
            }
        }
    }

    fn full(&self) -> InflateError {
        InflateError::OutputFull { written: self.written, room: self.dst.len() }
    }
}

/// Decodes while [`TURN`] bytes can be written, which `dst` has. Returns whether the block is over,
/// and how much is written then.
#[inline(always)]
fn far_from_end<V: Vectors>(
    vectors: V,
    bits: &mut Bits<'_>,
    codes: Codes<'_>,
    dst: &mut [u8],
    written: usize,
) -> Result<(bool, usize), InflateError> {
    assert!(dst.len() >= TURN);
    let last = dst.len() - TURN;
    let mut at = written;
    bits.refill();
    // What comes next is looked up before there are more bits, so as not to wait for them: a turn
    // leaves enough.
    let mut entry = codes.literals.first(bits);
    while at <= last {
        bits.refill();
        if entry.is_literal() {
            // SAFETY: TURN bytes follow `last`, more than LITERALS.
            unsafe { put(dst, at, entry.byte()) };
            at += 1;
            bits.skip(entry.len());
            entry = codes.literals.first(bits);
            if entry.is_literal() {
                // SAFETY: as above.
                unsafe { put(dst, at, entry.byte()) };
                at += 1;
                bits.skip(entry.len());
                entry = codes.literals.first(bits);
                if entry.is_literal() {
                    // SAFETY: as above.
                    unsafe { put(dst, at, entry.byte()) };
                    at += 1;
                    bits.skip(entry.len());
                    entry = codes.literals.first(bits);
                    continue;
                }
            }
        }
        if unlikely(entry.is_other()) {
            entry = codes.literals.second(entry, bits);
            if entry.is_literal() {
                // SAFETY: as above: this is the third of them at most.
                unsafe { put(dst, at, entry.byte()) };
                at += 1;
                bits.skip(entry.len());
                entry = codes.literals.first(bits);
                continue;
            }
            if entry.is_other() {
                return end(bits, entry).map(|()| (true, at));
            }
        }
        let (len, distance) = codes.sequence(bits, entry, at)?;
        entry = codes.literals.first(bits);
        // SAFETY: the distance is from 1 to `at`, and of TURN bytes behind `last` no more than two
        // are written.
        unsafe { copy::match_over(vectors, dst, at, distance, len) };
        at += len;
    }
    Ok((false, at))
}

/// The codes of a block.
#[derive(Clone, Copy)]
pub(super) struct Codes<'a> {
    pub(super) literals: &'a Code<LITERAL_BITS, LITERAL_ENTRIES>,
    pub(super) distances: &'a Code<DISTANCE_BITS, DISTANCE_ENTRIES>,
}

impl Codes<'_> {
    /// The length and the distance of a match, of which `entry` is the length and `written` bytes
    /// can be referred to.
    #[inline(always)]
    fn sequence(self, bits: &mut Bits<'_>, entry: Entry, written: usize) -> Result<(usize, usize), InflateError> {
        let len = entry.value(bits.held());
        bits.skip(entry.len());
        bits.refill();
        let mut entry = self.distances.first(bits);
        if unlikely(entry.is_other()) {
            entry = self.distances.second(entry, bits);
            if entry.is_other() {
                return Err(InflateError::BadSymbol);
            }
        }
        let distance = entry.value(bits.held());
        bits.skip(entry.len());
        if likely(distance <= written) {
            Ok((len, distance))
        } else {
            Err(InflateError::DistanceTooFar { distance, available: written })
        }
    }
}

/// What `entry` says, which is no literal and no length.
fn end(bits: &mut Bits<'_>, entry: Entry) -> Result<(), InflateError> {
    bits.skip(entry.len());
    if entry.is_block_end() { Ok(()) } else { Err(InflateError::BadSymbol) }
}

/// # Safety
/// `at` is less than `dst.len()`.
#[inline(always)]
unsafe fn put(dst: &mut [u8], at: usize, byte: u8) {
    debug_assert!(at < dst.len());
    // SAFETY: the caller has `at` inside `dst`.
    *unsafe { dst.get_unchecked_mut(at) } = byte;
}
