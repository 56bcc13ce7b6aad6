//! Finding the longest match of a position: earlier positions lie in rows by the hash of their
//! first four bytes.
//!
//! A row keeps the latest positions of its hashes, and of each a tag of more hash bits. All tags of
//! a row are compared at once, and only positions whose tag agrees are looked at. These do not
//! depend on each other, which is what makes rows faster than chains. Where one hash fills its row,
//! what it drives out goes to a second row behind the first.

use alloc::vec::Vec;

use super::sequence::{LAST_LITERALS, MAX_DISTANCE, MIN_MATCH};
use crate::lz::matching::{common_length, common_length_before, load};

/// How many positions all rows can hold together: twice as many as matches can reach, since rows
/// fill unevenly.
const ENTRIES: usize = 2 * (MAX_DISTANCE + 1);
/// The fewest positions it is worth having rows for.
const MIN_ENTRIES: usize = 1024;
/// How many tags are compared at once.
const GROUP: usize = 16;
/// Of more positions than this in a row, all inside one match, not all are put into the rows.
const STRETCH: usize = 64;
/// How many of them are at each end; of those in between it is one in so many.
const STRETCH_ENDS: usize = 16;

/// So many positions of one hash in a row, and it may have had more.
const FULL: u32 = 60;

/// How many earlier positions are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    /// In a row.
    pub(super) attempts: u32,
    /// In the second row behind a full one; without such rows 0.
    pub(super) older: u32,
}

/// A match of the input with earlier bytes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    pub(super) at: usize,
    pub(super) from: usize,
    pub(super) length: usize,
}

impl Match {
    /// The position after the match.
    #[inline(always)]
    pub(super) fn end(&self) -> usize {
        self.at + self.length
    }

    /// The match with what agrees before it, but not from before `anchor`.
    #[inline(always)]
    fn extended_back(self, src: &[u8], anchor: usize) -> Self {
        self.longer_before(common_length_before(src, self.from, self.at, self.at - anchor))
    }

    /// The match with `back` more bytes before it.
    #[inline(always)]
    pub(super) fn longer_before(self, back: usize) -> Self {
        Self { at: self.at - back, from: self.from - back, length: self.length + back }
    }
}

/// The latest positions of some hashes.
///
/// Slot 0 holds no position: in place of its tag is the slot of the latest one, so that finding a
/// slot and writing its tag touch the same part of memory. Earlier positions are in the slots after
/// it, and go on in slot 1 after the last.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Row<const WIDTH: usize> {
    /// 0 where there is no position.
    tags: [u8; WIDTH],
    /// The low halves of the positions.
    positions: [u16; WIDTH],
}

impl<const WIDTH: usize> Row<WIDTH> {
    const EMPTY: Self = Self { tags: [0; WIDTH], positions: [0; WIDTH] };

    /// The slot before the latest: of the earliest position, which is the next to be replaced.
    #[inline(always)]
    fn earliest_slot(&self) -> usize {
        let head = usize::from(self.tags[0]);
        (if head <= 1 { WIDTH } else { head } - 1) % WIDTH
    }

    /// Puts a position in the place of the earliest.
    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rows have at most 64 positions; of positions the low half is kept"
    )]
    pub(crate) fn insert(&mut self, tag: u8, position: usize) {
        let slot = self.earliest_slot();
        self.tags[0] = slot as u8;
        self.tags[slot] = tag;
        self.positions[slot] = position as u16;
    }

    /// The earliest position, its low half, if it has the same tag.
    #[inline(always)]
    fn earliest(&self, tag: u8) -> Option<usize> {
        let slot = self.earliest_slot();
        (self.tags[slot] == tag).then(|| self.positions[slot].into())
    }

    /// A bit for each position whose tag agrees, the latest position first.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the mask has WIDTH bits")]
    pub(crate) fn candidates(&self, tag: u8) -> u64 {
        let mut mask = 0;
        for (index, group) in self.tags.as_chunks().0.iter().enumerate() {
            mask |= u64::from(equal_bytes(group, tag)) << (GROUP * index);
        }
        mask &= !1;
        let head = u32::from(self.tags[0]);
        match WIDTH {
            16 => (mask as u16).rotate_right(head).into(),
            32 => (mask as u32).rotate_right(head).into(),
            _ => mask.rotate_right(head),
        }
    }

    /// How far before `at` the position is that comes `index` places after the latest.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "only the low half of positions is known")]
    pub(crate) fn distance(&self, at: usize, index: u32) -> usize {
        let slot = (usize::from(self.tags[0]) + index as usize) % WIDTH;
        usize::from((at as u16).wrapping_sub(self.positions[slot]))
    }
}

/// The memory of a [`Finder`].
#[derive(Debug, Clone, Default)]
pub(super) struct Rows<const WIDTH: usize> {
    latest: Vec<Row<WIDTH>>,
    older: Vec<Row<WIDTH>>,
}

/// `count` empty rows.
pub(crate) fn cleared<const WIDTH: usize>(rows: &mut Vec<Row<WIDTH>>, count: usize) -> &mut [Row<WIDTH>] {
    if rows.len() < count {
        rows.resize(count, Row::EMPTY);
    }
    let rows = &mut rows[..count];
    for row in &mut *rows {
        row.tags.fill(0);
    }
    rows
}

/// The longest match so far of the bytes at a position.
struct Longest<'a> {
    src: &'a [u8],
    at: usize,
    /// How many bytes before `at` matches start.
    before: usize,
    /// The first four bytes of a match.
    opening: u32,
    /// Where matches end at the latest.
    end: usize,
    /// How many bytes of the best match follow `at`.
    length: usize,
    /// Where the earlier bytes of those at `at` are, or `at` if there is no match yet.
    from: usize,
    /// The four bytes that end right after the best match are here, as seen from `at`. A longer one
    /// has them too.
    tail: usize,
    closing: u32,
}

impl<'a> Longest<'a> {
    /// Nothing yet; a match must be longer than `least`.
    #[inline(always)]
    fn new(src: &'a [u8], at: usize, start: usize, end: usize, least: usize) -> Self {
        let tail = least + 1 - MIN_MATCH;
        let (opening, closing) = (word4(src, start), word4(src, at + tail));
        Self { src, at, before: at - start, opening, end, length: least, from: at, tail, closing }
    }

    /// Looks at the positions of a row with this tag, the latest first and not more than
    /// `attempts`. Returns how many, or 0 if no match can be longer.
    #[inline(always)]
    fn try_row<const EARLIER: bool, const WIDTH: usize>(&mut self, row: &Row<WIDTH>, tag: u8, attempts: u32) -> u32 {
        let mut candidates = row.candidates(tag);
        let mut tried = 0;
        while candidates != 0 && tried < attempts {
            let distance = row.distance(self.at, candidates.trailing_zeros());
            candidates &= candidates - 1;
            tried += 1;
            if distance == 0 || distance + self.before > self.at {
                continue;
            }
            let from = self.at - distance;
            // SAFETY: `from` is before `at`, and `word4` has checked that four bytes follow
            // `at + tail`.
            let other = u32::from_le_bytes(unsafe { load(self.src, from + self.tail) });
            if other != self.closing {
                continue;
            }
            if EARLIER && word4(self.src, from - self.before) != self.opening {
                continue;
            }
            let length = common_length(self.src, from - self.before, self.at - self.before, self.end);
            if length > self.length + self.before {
                self.length = length - self.before;
                self.from = from;
                if self.at + self.length >= self.end {
                    return 0;
                }
                self.tail = self.length + 1 - MIN_MATCH;
                self.closing = word4(self.src, self.at + self.tail);
            }
        }
        tried
    }

    #[inline(always)]
    fn found(&self) -> Option<Match> {
        let Self { at, before, from, length, .. } = *self;
        (from != at).then(|| Match { at: at - before, from: from - before, length: length + before })
    }
}

/// Finds matches of one input, in rows of `WIDTH` positions.
pub(super) struct Finder<'a, const WIDTH: usize> {
    src: &'a [u8],
    rows: &'a mut [Row<WIDTH>],
    /// As many, for what a hash has driven out of a row that is full of it; or none.
    older: &'a mut [Row<WIDTH>],
    row_bits: u32,
    /// How many positions are looked at in a row.
    attempts: u32,
    /// How many in the row behind it.
    older_attempts: u32,
    /// The first position that was not put into the rows yet.
    next: usize,
}

impl<'a, const WIDTH: usize> Finder<'a, WIDTH> {
    /// A finder that knows all positions before `start`.
    pub(super) fn new(rows: &'a mut Rows<WIDTH>, src: &'a [u8], start: usize, depth: Depth) -> Self {
        let entries = (2 * src.len()).clamp(MIN_ENTRIES, ENTRIES);
        let count = (entries / WIDTH).next_power_of_two();
        let older = cleared(&mut rows.older, if depth.older > 0 { count } else { 0 });
        let rows = cleared(&mut rows.latest, count);
        let Depth { attempts, older: older_attempts } = depth;
        let mut finder = Self { src, rows, older, row_bits: count.ilog2(), attempts, older_attempts, next: start };
        for position in 0..start {
            finder.insert(position);
        }
        finder
    }

    /// The longest match at `at` if it is longer than `least`, extended back to `anchor` at most.
    #[inline(always)]
    pub(super) fn longest(&mut self, at: usize, anchor: usize, least: usize) -> Option<Match> {
        let found = self.search::<false>(at, at, least)?;
        Some(found.extended_back(self.src, anchor))
    }

    /// The longest match that starts no later than two bytes after `now` and ends at least two
    /// bytes after it, extended back to `anchor` at most.
    ///
    /// The last two bytes of `now` and the two after it are looked up, since all such matches have
    /// these.
    #[inline(always)]
    pub(super) fn farther(&mut self, now: &Match, anchor: usize) -> Option<Match> {
        let found = self.search::<true>(now.end() - 2, now.at + 2, MIN_MATCH - 1)?;
        Some(found.extended_back(self.src, anchor))
    }

    /// Looks up the bytes at `at`: the longest match that starts at `start`, and ends more than
    /// `least` bytes after `at`.
    #[inline(always)]
    fn search<const EARLIER: bool>(&mut self, at: usize, start: usize, least: usize) -> Option<Match> {
        let src = self.src;
        let end = src.len() - LAST_LITERALS;
        assert!(start <= at && least >= MIN_MATCH - 1);
        if at + least >= end {
            return None;
        }
        self.insert_before(at);
        let (row, tag) = self.place(at);
        let mut longest = Longest::new(src, at, start, end, least);
        let tried = longest.try_row::<EARLIER, WIDTH>(&self.rows[row], tag, self.attempts);
        if tried >= FULL
            && let Some(older) = self.older.get(row)
        {
            longest.try_row::<EARLIER, WIDTH>(older, tag, self.older_attempts);
        }
        self.put(row, tag, at);
        longest.found()
    }

    /// Puts the positions before `at` into the rows, and lets `at` be the last of them.
    #[inline(always)]
    fn insert_before(&mut self, at: usize) {
        if self.next + STRETCH < at {
            self.insert_stretch(at);
        }
        for position in self.next..at {
            self.insert(position);
        }
        self.next = self.next.max(at + 1);
    }

    /// Puts some of the positions before `at` into the rows, up to the last few.
    #[cold]
    fn insert_stretch(&mut self, at: usize) {
        let (first, last) = (self.next + STRETCH_ENDS, at - STRETCH_ENDS);
        for position in self.next..first {
            self.insert(position);
        }
        for position in (first..last).step_by(STRETCH_ENDS) {
            self.insert(position);
        }
        self.next = last;
    }

    #[inline(always)]
    fn insert(&mut self, position: usize) {
        let (row, tag) = self.place(position);
        self.put(row, tag, position);
    }

    #[inline(always)]
    fn put(&mut self, row: usize, tag: u8, position: usize) {
        let row_of_tag = &mut self.rows[row];
        if let Some(older) = self.older.get_mut(row)
            && let Some(earliest) = row_of_tag.earliest(tag)
        {
            older.insert(tag, earliest);
        }
        row_of_tag.insert(tag, position);
    }

    /// The row of the bytes at `at`, and their tag.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a tag is eight bits of the hash")]
    fn place(&self, at: usize) -> (usize, u8) {
        let hash = word4(self.src, at).wrapping_mul(2_654_435_761);
        let row = (hash >> (32 - self.row_bits)) as usize;
        (row, ((hash >> (24 - self.row_bits)) as u8).max(1))
    }
}

/// The four bytes at `at`.
#[inline(always)]
fn word4(src: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(src[at..at + 4].try_into().expect("four bytes"))
}

/// A bit for each byte that equals `byte`.
#[inline(always)]
fn equal_bytes(bytes: &[u8; GROUP], byte: u8) -> u16 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    return unsafe { equal_bytes_sse2(bytes, byte) };
    #[cfg(not(target_arch = "x86_64"))]
    equal_bytes_scalar(bytes, byte)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the mask has 16 bits")]
fn equal_bytes_sse2(bytes: &[u8; GROUP], byte: u8) -> u16 {
    use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: `bytes` are the 16 bytes that are read.
    let group = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    _mm_movemask_epi8(_mm_cmpeq_epi8(group, _mm_set1_epi8(byte.cast_signed()))) as u16
}

#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline]
fn equal_bytes_scalar(bytes: &[u8; GROUP], byte: u8) -> u16 {
    let mut mask = 0;
    for (index, &other) in bytes.iter().enumerate() {
        mask |= u16::from(other == byte) << index;
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::{GROUP, equal_bytes, equal_bytes_scalar};
    use crate::lz::samples::Random;

    #[test]
    fn tags_are_compared_as_the_scalar_code_does() {
        let mut random = Random(3);
        for _ in 0..1000 {
            let bytes: [u8; GROUP] = core::array::from_fn(|_| random.byte() & 3);
            assert_eq!(equal_bytes(&bytes, 2), equal_bytes_scalar(&bytes, 2));
        }
    }
}
