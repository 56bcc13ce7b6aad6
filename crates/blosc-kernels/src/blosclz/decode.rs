//! The decoder of BloscLZ streams.
//!
//! A stream is a sequence of operations: runs of up to 32 literals, and matches given by length and
//! distance. It ends after literals. [`plain_operations`] decodes those that are far from the ends
//! of input and output, with copies that run over; whatever it cannot do is left to
//! [`Decoder::checked_operation`], which checks everything.

use crate::lz::LzError;
use crate::lz::copy::{self, OVER};
use crate::lz::hint::{likely, opaque, unlikely};
use crate::lz::length::extension;
use crate::lz::vectors::{Job, Vectors, dispatch};

/// Decodes the BloscLZ stream `src` into `dst` and returns how many bytes it made.
///
/// The result is less than `dst.len()` when the stream ends early; whoever needs an exact length
/// compares. Bytes of `dst` behind it may have been overwritten. An empty stream makes no bytes.
///
/// # Errors
/// When the stream is cut off, ends with a match, needs more space than `dst` has, or has a match
/// that goes back too far.
pub fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<false>(src, dst)
}

/// Decodes the start of the BloscLZ stream `src`: stops as soon as `dst` is full, without looking
/// at the rest.
///
/// The result is less than `dst.len()` only when the whole stream makes fewer bytes.
///
/// # Errors
/// As [`decompress`], except that a stream with more bytes than `dst` has space for is not an
/// error.
pub fn decompress_prefix(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<true>(src, dst)
}

/// Opcodes below this are runs of literals, one longer than the opcode says.
const FIRST_MATCH: u8 = 32;
/// The length of a match whose opcode has all three bits of length set; it goes on in extension
/// bytes.
const EXTENDED: usize = 9;
/// The distance that stands for itself plus two more bytes.
const FAR: usize = 8192;
/// The most bytes of a distance.
const MAX_DISTANCE_BYTES: usize = 3;

/// What an operation without extension may read of the input: an opcode, 32 literals, and the
/// opcode behind them.
const PLAIN_INPUT: usize = 1 + 32 + 1;
/// What it may write.
const PLAIN_OUTPUT: usize = 32;

fn decode<const PREFIX: bool>(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    dispatch(Decoder::<PREFIX> { src, dst, read: 0, written: 0 })
}

struct Decoder<'a, const PREFIX: bool> {
    src: &'a [u8],
    dst: &'a mut [u8],
    read: usize,
    written: usize,
}

impl<const PREFIX: bool> Job for Decoder<'_, PREFIX> {
    type Output = Result<usize, LzError>;

    #[inline(always)]
    fn run<V: Vectors>(mut self, vectors: V) -> Self::Output {
        let Some(first) = self.src.first() else { return Ok(0) };
        if self.is_full() {
            return Ok(0);
        }
        self.read = 1;
        // The upper bits of the first opcode are a mark of the writer.
        let mut ended = self.checked_literals(vectors, first % FIRST_MATCH)?;
        while !ended {
            if self.src.len() - self.read >= PLAIN_INPUT && self.dst.len() - self.written >= PLAIN_OUTPUT {
                let plain = Plain { src: self.src, dst: self.dst, read: self.read, written: self.written };
                (self.read, self.written) = vectors.outline(plain);
            }
            ended = self.checked_operation(vectors)?;
        }
        Ok(self.written)
    }
}

impl<const PREFIX: bool> Decoder<'_, PREFIX> {
    /// Decodes one operation. Returns whether the output is complete.
    #[inline(always)]
    fn checked_operation<V: Vectors>(&mut self, vectors: V) -> Result<bool, LzError> {
        let Some(&opcode) = self.src.get(self.read) else {
            // Literals at the end would have ended the decoding.
            return Err(LzError::BadEnd { read: self.read });
        };
        self.read += 1;
        if opcode < FIRST_MATCH { self.checked_literals(vectors, opcode) } else { self.checked_match(vectors, opcode) }
    }

    #[inline(always)]
    fn checked_literals<V: Vectors>(&mut self, vectors: V, opcode: u8) -> Result<bool, LzError> {
        let len = self.fitted(usize::from(opcode) + 1)?;
        let end = self.written + len;
        if len > self.src.len() - self.read {
            return Err(self.cut());
        }
        copy::literals_inside(vectors, self.src, self.read, self.dst, self.written, len);
        self.read += len;
        self.written = end;
        Ok(self.read == self.src.len() || self.is_full())
    }

    #[inline(always)]
    fn checked_match<V: Vectors>(&mut self, vectors: V, opcode: u8) -> Result<bool, LzError> {
        let (len, distance, next) = match_fields(self.src, opcode, self.read).ok_or(self.cut())?;
        self.read = next;
        if distance > self.written {
            return Err(LzError::DistanceTooFar { distance, available: self.written });
        }
        let len = self.fitted(len)?;
        copy::match_inside(vectors, self.dst, self.written, distance, len);
        self.written += len;
        Ok(self.is_full())
    }

    /// As much of `len` bytes as there is space for; too little space is an error unless a prefix
    /// is wanted.
    #[inline(always)]
    fn fitted(&self, len: usize) -> Result<usize, LzError> {
        let room = self.dst.len() - self.written;
        if len <= room || PREFIX {
            return Ok(len.min(room));
        }
        Err(LzError::OutputFull { written: self.written, room: self.dst.len() })
    }

    fn is_full(&self) -> bool {
        PREFIX && self.written == self.dst.len()
    }

    fn cut(&self) -> LzError {
        LzError::InputEnded { input: self.src.len() }
    }
}

/// The length and the distance of a match, and where the next operation starts; nothing if the
/// input ends before. `at` is behind the opcode.
#[inline(always)]
fn match_fields(src: &[u8], opcode: u8, mut at: usize) -> Option<(usize, usize, usize)> {
    let mut len = usize::from(opcode >> 5) + 2;
    if len == EXTENDED {
        let (more, next) = extension(src, at)?;
        len += more;
        at = next;
    }
    let distance = near_distance(opcode, *src.get(at)?);
    if distance != FAR {
        return Some((len, distance, at + 1));
    }
    let &[high, low] = src.get(at + 1..at + 3)? else { return None };
    Some((len, distance + usize::from(u16::from_be_bytes([high, low])), at + 3))
}

fn near_distance(opcode: u8, low: u8) -> usize {
    (usize::from(opcode & 31) << 8) + usize::from(low) + 1
}

/// Decodes operations while they are far enough from the ends of input and output. Results in where
/// it stopped.
struct Plain<'a> {
    src: &'a [u8],
    dst: &'a mut [u8],
    read: usize,
    written: usize,
}

impl Job for Plain<'_> {
    type Output = (usize, usize);

    #[inline(always)]
    fn run<V: Vectors>(self, vectors: V) -> Self::Output {
        let Self { src, dst, read, written } = self;
        plain_operations(vectors, src, dst, read, written)
    }
}

#[inline(always)]
fn plain_operations<V: Vectors>(
    vectors: V,
    src: &[u8],
    dst: &mut [u8],
    mut read: usize,
    mut written: usize,
) -> (usize, usize) {
    let (Some(last_read), Some(last_written), Some(last_over)) =
        (src.len().checked_sub(PLAIN_INPUT), dst.len().checked_sub(PLAIN_OUTPUT), dst.len().checked_sub(OVER))
    else {
        return (read, written);
    };
    // How many literals are right before `read` in the input.
    let mut literals = 0;
    while read <= last_read && written <= last_written {
        // SAFETY: `read` is at most `last_read`.
        let opcode = unsafe { *src.get_unchecked(read) };
        if opcode < FIRST_MATCH {
            let next = opaque(read + 2);
            // SAFETY: PLAIN_INPUT is 32 bytes and more behind the opcode, PLAIN_OUTPUT is 32 bytes.
            unsafe { copy::chunk::<32>(src, read + 1, dst, written) };
            literals = usize::from(opcode) + 1;
            read = next + usize::from(opcode);
            written += literals;
            continue;
        }

        let mut len = usize::from(opcode >> 5) + 2;
        let mut at = read + 1;
        if len == EXTENDED {
            // SAFETY: PLAIN_INPUT is more than the opcode.
            let more = unsafe { *src.get_unchecked(at) };
            len += usize::from(more);
            at += 1;
            if unlikely(more == 255) {
                let Some((len, distance, next)) = match_fields(src, opcode, read + 1) else { break };
                if distance > written || written + len > last_over {
                    break;
                }
                // SAFETY: the distance is from 1 to `written`, and OVER bytes are behind the match.
                unsafe { copy::long_match_over(vectors, dst, written, distance, len) };
                literals = 0;
                read = next;
                written += len;
                continue;
            }
        }
        // SAFETY: PLAIN_INPUT is more than opcode, extension byte and MAX_DISTANCE_BYTES.
        let (distance, next) = unsafe { distance_inside(src, opcode, at) };
        if unlikely(distance > written) {
            break;
        }
        if len < EXTENDED {
            if likely(distance >= 8) {
                // SAFETY: the distance is from 8 to `written`, and PLAIN_OUTPUT is more than 8
                // bytes.
                unsafe { copy::chunk_within::<8>(dst, written - distance, written) };
            } else {
                // SAFETY: the distance is from 1 to 7 and to `written`, and PLAIN_OUTPUT is 32
                // bytes.
                unsafe { copy::short_period(vectors, dst, written, distance) };
            }
        } else {
            if written + len > last_over {
                break;
            }
            if distance >= V::WIDTH {
                // SAFETY: the distance is from WIDTH to `written`, and OVER is more than a
                // register.
                unsafe { copy::register_within(vectors, dst, written - distance, written) };
                if unlikely(len > V::WIDTH) {
                    // SAFETY: as above, and OVER bytes are behind the match.
                    unsafe { copy::far_match_over(vectors, dst, written + V::WIDTH, distance, len - V::WIDTH) };
                }
            } else {
                // Taken from the input, the pattern does not have to wait for literals to be
                // stored.
                let pattern = if distance <= literals {
                    // SAFETY: the literals are before `read`, and PLAIN_INPUT behind it is more
                    // than a register.
                    unsafe { vectors.load_repeated(src, read - distance, distance) }
                } else {
                    // SAFETY: the distance is at most `written`, and OVER is more than a register.
                    unsafe { vectors.load_repeated(dst, written - distance, distance) }
                };
                // SAFETY: the distance is from 1 to WIDTH and to `written`, and OVER bytes are
                // behind the match.
                unsafe { copy::period_over(vectors, dst, written, distance, len, pattern) };
            }
        }
        literals = 0;
        read = next;
        written += len;
    }
    (read, written)
}

/// The distance of a match, and where the next operation starts. `at` is behind opcode and length.
///
/// # Safety
/// `at + MAX_DISTANCE_BYTES` is at most `src.len()`.
#[inline(always)]
unsafe fn distance_inside(src: &[u8], opcode: u8, at: usize) -> (usize, usize) {
    debug_assert!(at + MAX_DISTANCE_BYTES <= src.len());
    // SAFETY: the caller has it inside.
    let low = unsafe { *src.get_unchecked(at) };
    let distance = near_distance(opcode, low);
    if likely(distance != FAR) {
        return (distance, at + 1);
    }
    // SAFETY: the caller has it inside.
    let high = unsafe { *src.get_unchecked(at + 1) };
    // SAFETY: the caller has it inside.
    let low = unsafe { *src.get_unchecked(at + 2) };
    (distance + usize::from(u16::from_be_bytes([high, low])), at + 3)
}

#[cfg(test)]
mod tests;
