//! Decoding the sequences of a block, and doing what they say.

use super::ZstdError;
use super::codes::{Cell, Code};
use crate::entropy::bits::BackwardBits;
use crate::lz::copy::{self, OVER};
use crate::lz::hint::{likely, unlikely};
use crate::lz::matching::load;
use crate::lz::vectors::{Job, Vectors};
use core::hint::select_unpredictable;

/// What a sequence can take of the stream: three numbers with all their extra bits, and three
/// states.
const MAX_SEQUENCE_BITS: usize = 31 + 16 + 16 + 9 + 9 + 8;
/// The bits of the three states.
const MAX_STATES_BITS: u32 = 9 + 9 + 8;
/// How many bits a word has at least, whatever bit of a byte it ends with.
const WORD_BITS: u32 = 56;
/// The longest match that is copied without regard to what makes many bytes fast.
const LONG: usize = 128;

/// How many sequences are decoded before they are done: there are registers for either, but not for
/// both at once.
const BATCH: usize = 64;

/// A row of sequences, and what they need.
pub(super) struct Sequences<'a> {
    /// The block, up to its end.
    pub(super) src: &'a [u8],
    /// Where the bits start.
    pub(super) from: usize,
    pub(super) count: usize,
    pub(super) codes: Codes<'a>,
    /// The literals, and [`OVER`] bytes behind them.
    pub(super) literals: &'a [u8],
    /// What matches can refer to besides the output.
    pub(super) dict: &'a [u8],
    /// The frame.
    pub(super) dst: &'a mut [u8],
    pub(super) written: usize,
    /// The last offsets.
    pub(super) offsets: [u32; 3],
}

/// The three codes of the sequences.
#[derive(Clone, Copy)]
pub(super) struct Codes<'a> {
    pub(super) literals: &'a Code,
    pub(super) offsets: &'a Code,
    pub(super) matches: &'a Code,
}

/// Where the block ends, and its last offsets.
pub(super) struct Executed {
    pub(super) written: usize,
    pub(super) offsets: [u32; 3],
}

impl Job for Sequences<'_> {
    type Output = Result<Executed, ZstdError>;

    #[inline(always)]
    fn run<V: Vectors>(self, vectors: V) -> Self::Output {
        let Self { src, from, mut count, codes, literals, dict, dst, written, offsets } = self;
        let mut bits = SequenceBits::new(src, from, codes, offsets)?;
        let mut output = Output { literals, literal: 0, dict, dst, written };
        let mut batch = [Sequence::default(); BATCH];
        while count > 0 {
            let batch = &mut batch[..count.min(BATCH)];
            bits.decode(codes, batch)?;
            output.execute(vectors, batch)?;
            count -= batch.len();
        }
        bits.finish()?;
        output.last_literals(vectors)?;
        Ok(Executed { written: output.written, offsets: bits.offsets })
    }
}

/// So many literals, and a match of so many bytes so far back.
#[derive(Clone, Copy, Default)]
struct Sequence {
    literals: u32,
    offset: u32,
    len: u32,
}

/// The bits of the sequences, and what is known from those that were decoded.
struct SequenceBits<'a> {
    src: &'a [u8],
    /// The first bit of the stream, and the one behind the next, counted from the start of `src`.
    start: usize,
    end: usize,
    /// The states of literals, offsets and matches.
    states: [usize; 3],
    /// How many bits were taken for them.
    states_bits: u32,
    /// The last offsets.
    offsets: [u32; 3],
}

impl<'a> SequenceBits<'a> {
    fn new(src: &'a [u8], from: usize, codes: Codes<'_>, offsets: [u32; 3]) -> Result<Self, ZstdError> {
        let mut bits = BackwardBits::new(src, from).ok_or(ZstdError::BadBits)?;
        let mut state = |code: &Code| bits.take(code.accuracy).map(usize::from).ok_or(ZstdError::BadBits);
        let states = [state(codes.literals)?, state(codes.offsets)?, state(codes.matches)?];
        Ok(Self { src, start: bits.start(), end: bits.end(), states, states_bits: 0, offsets })
    }

    /// Decodes the next sequences.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "positions in a word are below 64")]
    fn decode(&mut self, codes: Codes<'_>, batch: &mut [Sequence]) -> Result<(), ZstdError> {
        let &mut Self { src, start, mut end, states: [mut literals_state, mut offset_state, mut match_state], .. } =
            self;
        let [mut first, mut second, mut third] = self.offsets;
        let mut states_bits = 0;
        // Behind the headers of the frame, of the block and of both sections.
        assert!(start >= MAX_SEQUENCE_BITS && end < 8 * src.len());
        for sequence in batch {
            if unlikely(end < start) {
                return Err(ZstdError::BadBits);
            }
            let literals_cell = codes.literals.at(literals_state);
            let offset_cell = codes.offsets.at(offset_state);
            let match_cell = codes.matches.at(match_state);

            // SAFETY: `end` was asserted to be inside and has only become less since, but is not
            // below `start`.
            let (mut word, mut at) = unsafe { word_before(src, end) };
            let offset_bits = u32::from(offset_cell.extra);
            let match_bits = offset_bits + u32::from(match_cell.extra);
            let extra = match_bits + u32::from(literals_cell.extra);
            let offset_value = offset_cell.base + part(word, at.wrapping_sub(offset_bits), offset_cell.extra);
            if unlikely(extra > WORD_BITS - MAX_STATES_BITS) {
                (word, at) = checked_word(src, start, end, offset_bits)?;
            }
            let match_len = match_cell.base + part(word, at.wrapping_sub(match_bits), match_cell.extra);
            let literals_len = literals_cell.base + part(word, at.wrapping_sub(extra), literals_cell.extra);
            if unlikely(extra > WORD_BITS - MAX_STATES_BITS) {
                (word, at) = checked_word(src, start, end, extra)?;
            }
            let mut taken = extra + u32::from(literals_cell.bits);
            literals_state = next_state(literals_cell, word, at.wrapping_sub(taken));
            taken += u32::from(match_cell.bits);
            match_state = next_state(match_cell, word, at.wrapping_sub(taken));
            taken += u32::from(offset_cell.bits);
            offset_state = next_state(offset_cell, word, at.wrapping_sub(taken));
            end -= taken as usize;
            states_bits = taken - extra;

            // Small values stand for one of the last offsets, another one if there are no literals.
            // Which of them it is cannot be foretold.
            let index = offset_value + u32::from(literals_len == 0);
            let old = select_unpredictable(index == 3, third, first.wrapping_sub(1));
            let old = select_unpredictable(index == 2, second, old);
            let old = select_unpredictable(index == 1, first, old);
            let offset = select_unpredictable(offset_value > 3, offset_value.wrapping_sub(3), old);
            third = select_unpredictable(index <= 2, third, second);
            second = select_unpredictable(index == 1, second, first);
            first = offset;
            *sequence = Sequence { literals: literals_len, offset, len: match_len };
        }
        self.states = [literals_state, offset_state, match_state];
        self.offsets = [first, second, third];
        (self.end, self.states_bits) = (end, states_bits);
        Ok(())
    }

    /// The stream has to end here; behind the last sequence there are no states.
    fn finish(&self) -> Result<(), ZstdError> {
        if self.end + self.states_bits as usize == self.start { Ok(()) } else { Err(ZstdError::BadBits) }
    }
}

/// Where the bytes go, and where they come from.
struct Output<'a> {
    literals: &'a [u8],
    /// The next one.
    literal: usize,
    dict: &'a [u8],
    dst: &'a mut [u8],
    written: usize,
}

impl Output<'_> {
    /// Copies the literals and the match of each sequence.
    #[inline(always)]
    fn execute<V: Vectors>(&mut self, vectors: V, batch: &[Sequence]) -> Result<(), ZstdError> {
        let Self { literals, mut literal, dict, ref mut dst, mut written } = *self;
        let literals_end = literals.len() - OVER;
        let last_over = dst.len().saturating_sub(OVER);
        assert!(literal <= literals_end);
        for sequence in batch {
            let [literals_len, offset, len] =
                [sequence.literals, sequence.offset, sequence.len].map(|len| len as usize);
            let match_start = written + literals_len;
            let match_end = match_start + len;
            let is_plain = literal + literals_len <= literals_end && match_end <= last_over;
            if unlikely(!is_plain || offset.wrapping_sub(1) >= match_start) {
                let left = &literals[literal..literals_end];
                sequence.execute(vectors, left, dict, dst, written)?;
                literal += literals_len;
                written = match_end;
                continue;
            }
            // SAFETY: OVER bytes are behind the literals, and behind the match.
            unsafe { copy::chunk::<16>(literals, literal, dst, written) };
            if unlikely(literals_len > 16) {
                let (from, to) = (literal + 16, written + 16);
                // SAFETY: as above.
                unsafe { copy::literals_over(vectors, literals, from, dst, to, literals_len - 16) };
            }
            literal += literals_len;
            written = match_end;
            if len <= 16 && offset >= 8 {
                let from = match_start - offset;
                // SAFETY: the offset is from 8 to `match_start`, and OVER bytes are behind the
                // match.
                unsafe { copy::chunk_within::<8>(dst, from, match_start) };
                // SAFETY: as above.
                unsafe { copy::chunk_within::<8>(dst, from + 8, match_start + 8) };
            } else if likely(len <= LONG) {
                // SAFETY: the offset is from 1 to `match_start`, and OVER bytes are behind the
                // match.
                unsafe { copy::match_over(vectors, dst, match_start, offset, len) };
            } else {
                // SAFETY: as above.
                unsafe { copy::long_match_over(vectors, dst, match_start, offset, len) };
            }
        }
        (self.literal, self.written) = (literal, written);
        Ok(())
    }

    /// Copies the literals behind the last sequence.
    fn last_literals<V: Vectors>(&mut self, vectors: V) -> Result<(), ZstdError> {
        let last = &self.literals[self.literal..self.literals.len() - OVER];
        let (written, room) = (self.written, self.dst.len());
        let place = self.dst.get_mut(written..written + last.len()).ok_or(ZstdError::OutputFull { written, room })?;
        copy::literals_exact(vectors, last, place);
        self.written += last.len();
        Ok(())
    }
}

/// The word that ends with the byte of the bit before `end`, and how many of its bits are before.
///
/// # Safety
/// `end` is at least 56, and less than the bits of `src`.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "less than 64")]
unsafe fn word_before(src: &[u8], end: usize) -> (u64, u32) {
    // SAFETY: the caller has `end / 8` inside, and seven bytes before it.
    let word = u64::from_le_bytes(unsafe { load(src, end / 8 - 7) });
    (word, (end % 8) as u32 + WORD_BITS)
}

/// The word before `taken` bits before `end`, and how many of its bits are before `end` if it went
/// on so far.
#[cold]
#[inline(never)]
fn checked_word(src: &[u8], start: usize, end: usize, taken: u32) -> Result<(u64, u32), ZstdError> {
    let before = end - taken as usize;
    if before < start {
        return Err(ZstdError::BadBits);
    }
    // SAFETY: compared with `start`, and `end` is inside.
    let (word, at) = unsafe { word_before(src, before) };
    Ok((word, at + taken))
}

/// The `count` bits of a word from bit `at` on; 0 if there are none, whatever `at` is.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "31 bits at most")]
fn part(word: u64, at: u32, count: u8) -> u32 {
    (word.wrapping_shr(at) & !(u64::MAX << (count & 63))) as u32
}

/// The state behind `cell`, of which the bits are in a word from bit `at` on.
#[inline(always)]
fn next_state(cell: Cell, word: u64, at: u32) -> usize {
    usize::from(cell.next) + part(word, at, cell.bits) as usize
}

impl Sequence {
    /// Does what a sequence says that is near an end, or refers to the dictionary, or is wrong.
    #[cold]
    #[inline(never)]
    fn execute<V: Vectors>(
        &self,
        vectors: V,
        literals: &[u8],
        dict: &[u8],
        dst: &mut [u8],
        written: usize,
    ) -> Result<(), ZstdError> {
        let [literals_len, offset, mut len] = [self.literals, self.offset, self.len].map(|len| len as usize);
        if literals_len > literals.len() {
            return Err(ZstdError::BadLiterals);
        }
        if literals_len + len > dst.len() - written {
            return Err(ZstdError::OutputFull { written, room: dst.len() });
        }
        copy::literals_inside(vectors, literals, 0, dst, written, literals_len);
        let mut written = written + literals_len;
        let available = written + dict.len();
        if offset == 0 || offset > available {
            return Err(ZstdError::BadOffset { offset, available });
        }
        if offset > written {
            let from = available - offset;
            let part = len.min(dict.len() - from);
            copy::literals_exact(vectors, &dict[from..from + part], &mut dst[written..written + part]);
            written += part;
            len -= part;
        }
        if len > 0 {
            copy::match_inside(vectors, dst, written, offset, len);
        }
        Ok(())
    }
}
