//! The decoder of LZ4 blocks.
//!
//! A block is a list of sequences: a token with two lengths of four bits, literals, and a match
//! given by its distance. The last sequence ends after its literals. [`plain_sequences`] decodes
//! those that are far from the ends of input and output, with copies that run over; whatever it
//! cannot do is left to [`Decoder::checked_literals`] and [`Decoder::checked_match`], which check
//! everything.

use crate::lz::LzError;
use crate::lz::copy::{self, OVER};
use crate::lz::hint::{align_loop, likely, opaque, unlikely};
use crate::lz::length::{extension, extension_inside};
use crate::lz::vectors::{Job, Vectors, dispatch};

/// Decodes the LZ4 block `src` into `dst` and returns how many bytes it made.
///
/// The result is less than `dst.len()` when the stream ends early; whoever needs an exact length
/// compares. Bytes of `dst` behind it may have been overwritten.
///
/// # Errors
/// When the stream is cut off, needs more space than `dst` has, or has a match that goes back too
/// far.
pub fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<false, false>(src, &[], dst)
}

/// Decodes the LZ4 block `src` whose matches may also refer to the last 64 KiB of `dict`, as if
/// `dict` stood right before `dst`.
///
/// # Errors
/// As [`decompress`].
pub fn decompress_with_dict(src: &[u8], dict: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<false, true>(src, dict, dst)
}

/// Decodes the start of the LZ4 block `src`: stops as soon as `dst` is full, without looking at the
/// rest.
///
/// The result is less than `dst.len()` only when the whole stream makes fewer bytes.
///
/// # Errors
/// As [`decompress`], except that a stream with more bytes than `dst` has space for is not an
/// error.
pub fn decompress_prefix(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<true, false>(src, &[], dst)
}

/// [`decompress_prefix`] of a block made with a dictionary, see [`decompress_with_dict`].
///
/// # Errors
/// As [`decompress_prefix`].
pub fn decompress_prefix_with_dict(src: &[u8], dict: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<true, true>(src, dict, dst)
}

/// A length in the token that goes on in extension bytes.
const EXTENDED: usize = 15;
/// The shortest match.
const MIN_MATCH: usize = 4;

/// The most literals of a sequence without extended lengths.
const MAX_PLAIN_LITERALS: usize = EXTENDED - 1;
/// What such a sequence may read of the input: a token, literals, two bytes of distance, and the
/// byte after.
const PLAIN_INPUT: usize = 1 + MAX_PLAIN_LITERALS + 2 + 1;
/// What it may write.
const PLAIN_OUTPUT: usize = MAX_PLAIN_LITERALS + 32;

fn decode<const PREFIX: bool, const DICT: bool>(src: &[u8], dict: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    dispatch(Decoder::<PREFIX, DICT> { src, dict, dst, read: 0, written: 0 })
}

/// Without `DICT`, the dictionary is empty.
struct Decoder<'a, const PREFIX: bool, const DICT: bool> {
    src: &'a [u8],
    dict: &'a [u8],
    dst: &'a mut [u8],
    read: usize,
    written: usize,
}

impl<const PREFIX: bool, const DICT: bool> Job for Decoder<'_, PREFIX, DICT> {
    type Output = Result<usize, LzError>;

    #[inline(always)]
    fn run<V: Vectors>(mut self, vectors: V) -> Self::Output {
        if self.is_full() {
            return Ok(0);
        }
        loop {
            let mut token = None;
            if self.src.len() - self.read >= PLAIN_INPUT && self.dst.len() - self.written >= PLAIN_OUTPUT {
                let Self { src, read, written, .. } = self;
                // What is not needed is not read: it was stored in other pieces only just now,
                // which takes time to put together.
                let dict = if DICT { self.dict } else { &[] };
                let plain = Plain::<DICT> { src, dict, dst: self.dst, read, written };
                let stop = vectors.outline(plain);
                (self.read, self.written) = (stop.read, stop.written);
                token = stop.token;
            }
            let token = match token {
                Some(token) => token,
                None => {
                    let token = self.token()?;
                    if self.checked_literals(vectors, token)? {
                        return Ok(self.written);
                    }
                    token
                }
            };
            if self.checked_match(vectors, token)? {
                return Ok(self.written);
            }
        }
    }
}

impl<const PREFIX: bool, const DICT: bool> Decoder<'_, PREFIX, DICT> {
    #[inline(always)]
    fn token(&mut self) -> Result<u8, LzError> {
        let Some(&token) = self.src.get(self.read) else {
            // Only the match of a sequence before this one can have ended here.
            return Err(if self.read == 0 { self.cut() } else { LzError::BadEnd { read: self.read } });
        };
        self.read += 1;
        Ok(token)
    }

    /// Copies the literals of a sequence. Returns whether the output is complete.
    #[inline(always)]
    fn checked_literals<V: Vectors>(&mut self, vectors: V, token: u8) -> Result<bool, LzError> {
        let len = self.length(usize::from(token >> 4))?;
        let len = self.fitted(len)?;
        let end = self.written + len;
        if len > self.src.len() - self.read {
            return Err(self.cut());
        }
        copy::literals_inside(vectors, self.src, self.read, self.dst, self.written, len);
        self.read += len;
        self.written = end;
        Ok(self.read == self.src.len() || self.is_full())
    }

    /// Copies the match of a sequence. Returns whether the output is complete.
    #[inline(always)]
    fn checked_match<V: Vectors>(&mut self, vectors: V, token: u8) -> Result<bool, LzError> {
        let Some(&[low, high]) = self.src.get(self.read..self.read + 2) else { return Err(self.cut()) };
        self.read += 2;
        let distance = usize::from(u16::from_le_bytes([low, high]));
        let len = self.length(usize::from(token & 15))? + MIN_MATCH;
        let available = self.written + self.dict.len();
        if distance == 0 || distance > available {
            return Err(LzError::DistanceTooFar { distance, available });
        }
        let mut len = self.fitted(len)?;
        if distance > self.written {
            let back = distance - self.written;
            let part = len.min(back);
            let from = &self.dict[self.dict.len() - back..][..part];
            copy::literals_exact(vectors, from, &mut self.dst[self.written..self.written + part]);
            self.written += part;
            len -= part;
        }
        if len > 0 {
            copy::match_inside(vectors, self.dst, self.written, distance, len);
            self.written += len;
        }
        Ok(self.is_full())
    }

    /// The length of which the token has `bits`.
    #[inline(always)]
    fn length(&mut self, bits: usize) -> Result<usize, LzError> {
        if bits < EXTENDED {
            return Ok(bits);
        }
        let (more, next) = extension(self.src, self.read).ok_or(self.cut())?;
        self.read = next;
        Ok(EXTENDED + more)
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

/// Decodes sequences while they are far enough from the ends of input and output.
struct Plain<'a, const DICT: bool> {
    src: &'a [u8],
    dict: &'a [u8],
    dst: &'a mut [u8],
    read: usize,
    written: usize,
}

/// Where [`Plain`] stopped: before a token, or after the literals of the sequence with the token
/// given.
struct Stop {
    read: usize,
    written: usize,
    token: Option<u8>,
}

impl<const DICT: bool> Job for Plain<'_, DICT> {
    type Output = Stop;

    #[inline(always)]
    fn run<V: Vectors>(self, vectors: V) -> Stop {
        plain_sequences(vectors, self)
    }
}

#[inline(always)]
fn plain_sequences<V: Vectors, const DICT: bool>(vectors: V, plain: Plain<'_, DICT>) -> Stop {
    let Plain { src, dict, dst, mut read, mut written } = plain;
    let (Some(last_read), Some(last_written), Some(last_over)) =
        (src.len().checked_sub(PLAIN_INPUT), dst.len().checked_sub(PLAIN_OUTPUT), dst.len().checked_sub(OVER))
    else {
        return Stop { read, written, token: None };
    };
    // As the loop does: so that nothing is between the alignment and it.
    if read > last_read || written > last_written {
        return Stop { read, written, token: None };
    }
    align_loop::<0>(src.as_ptr(), dst.as_ptr(), last_over);
    while read <= last_read && written <= last_written {
        // SAFETY: `read` is at most `last_read`.
        let token = unsafe { *src.get_unchecked(read) };
        let literals = usize::from(token >> 4);
        // Behind token, literals and distance.
        let mut after = opaque(read + 3);
        if likely(literals < EXTENDED) {
            // SAFETY: PLAIN_INPUT is 16 bytes and more behind the token, PLAIN_OUTPUT more than 16
            // bytes.
            unsafe { copy::chunk::<16>(src, read + 1, dst, written) };
            after += literals;
            written += literals;
        } else {
            // SAFETY: the token is not the last byte of PLAIN_INPUT.
            let Some((more, from)) = (unsafe { extension_inside(src, read + 1) }) else { break };
            let literals = EXTENDED + more;
            if from + literals + OVER > src.len() || written + literals > last_over {
                break;
            }
            // SAFETY: the comparisons above.
            unsafe { copy::literals_over(vectors, src, from, dst, written, literals) };
            after = from + literals + 2;
            written += literals;
        }

        // From here on, 32 bytes can be written: PLAIN_OUTPUT had them behind plain literals, and
        // OVER is more. Also there is a byte at `after`: PLAIN_INPUT had it behind plain literals,
        // and OVER is more. SAFETY: `after` is inside, and behind at least the token and two bytes.
        let distance = usize::from(unsafe { load_u16(src, after - 2) });
        // No distance at all is one too far, too.
        if unlikely(distance.wrapping_sub(1) >= written) {
            if DICT
                && let Some(start) = (dict.len() + written).checked_sub(distance)
                && let Some((len, next)) = match_length(src, usize::from(token & 15), after)
                && start + len + OVER <= dict.len()
                && written + len <= last_over
            {
                // SAFETY: the comparisons above.
                unsafe { copy::literals_over(vectors, dict, start, dst, written, len) };
                read = next;
                written += len;
                continue;
            }
            return at_match(src, read, after, written);
        }
        let bits = usize::from(token & 15);
        if likely(bits < EXTENDED) {
            if likely(distance >= 8) {
                let from = written - distance;
                // SAFETY: the distance is from 8 to `written`, and 32 bytes can be written.
                unsafe { copy::chunk_within::<8>(dst, from, written) };
                // A load that is not inside one of the latest stores has to wait for them. So what
                // is not needed is loaded from the start, where nothing has been stored for long.
                let second = if bits > 8 - MIN_MATCH { from + 8 } else { 0 };
                // SAFETY: `second` is at most `written`.
                unsafe { copy::chunk_within::<8>(dst, second, written + 8) };
                // SAFETY: the distance is from 8 to `written`, and 32 bytes can be written.
                unsafe { copy::chunk_within::<2>(dst, from + 16, written + 16) };
            } else {
                // SAFETY: the distance is from 1 to 7 and to `written`, and 32 bytes can be
                // written.
                unsafe { copy::short_period(vectors, dst, written, distance) };
            }
            read = after;
            written += MIN_MATCH + bits;
            continue;
        }
        // SAFETY: `after` is inside.
        let more = unsafe { *src.get_unchecked(after) };
        if likely(more != 255) {
            let end = written + EXTENDED + MIN_MATCH + usize::from(more);
            if unlikely(end > last_over) {
                return at_match(src, read, after, written);
            }
            if likely(distance >= 32 && end - written <= 32) {
                // SAFETY: the distance is from 32 to `written`, and OVER is more than 32 bytes.
                unsafe { vectors.join_within(dst, written - distance, written) };
            } else {
                // SAFETY: the distance is from 1 to `written`, and OVER bytes are behind `end`.
                unsafe { copy::match_over(vectors, dst, written, distance, end - written) };
            }
            read = after + 1;
            written = end;
        } else {
            let Some((more, next)) = extension(src, after) else { return at_match(src, read, after, written) };
            let end = written + EXTENDED + MIN_MATCH + more;
            if unlikely(end > last_over) {
                return at_match(src, read, after, written);
            }
            // SAFETY: the distance is from 1 to `written`, and OVER bytes are behind `end`.
            unsafe { copy::long_match_over(vectors, dst, written, distance, end - written) };
            read = next;
            written = end;
        }
    }
    Stop { read, written, token: None }
}

/// After the literals of the sequence from `start` on, before the distance that ends at `after`.
#[cold]
#[inline(never)]
fn at_match(src: &[u8], start: usize, after: usize, written: usize) -> Stop {
    Stop { read: after - 2, written, token: src.get(start).copied() }
}

/// The length of a match of which the token has `bits`, and where the next sequence starts. `at` is
/// behind the distance.
#[inline(always)]
fn match_length(src: &[u8], bits: usize, at: usize) -> Option<(usize, usize)> {
    if bits < EXTENDED {
        return Some((MIN_MATCH + bits, at));
    }
    let (more, next) = extension(src, at)?;
    Some((MIN_MATCH + EXTENDED + more, next))
}

/// # Safety
/// `at + 2` is at most `src.len()`.
#[inline(always)]
unsafe fn load_u16(src: &[u8], at: usize) -> u16 {
    debug_assert!(at + 2 <= src.len());
    // SAFETY: the caller has `at` inside `src`.
    let start = unsafe { src.as_ptr().add(at) };
    // SAFETY: and the byte behind it too.
    u16::from_le(unsafe { start.cast::<u16>().read_unaligned() })
}

#[cfg(test)]
mod tests;
