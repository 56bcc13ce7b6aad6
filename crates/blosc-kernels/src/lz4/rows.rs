//! Finding the longest match of a position: earlier positions lie in rows by the hash of their first four bytes.
//!
//! A row keeps the latest positions of its hashes, and of each a tag of more hash bits. All tags of a row are compared
//! at once, and only positions whose tag agrees are looked at. These do not depend on each other, which is what makes
//! rows faster than chains.

use alloc::vec::Vec;

use super::sequence::{LAST_LITERALS, MAX_DISTANCE, MIN_MATCH};
use crate::lz::matching::{common_length, common_length_before, load};

/// How many positions all rows can hold together: twice as many as matches can reach, since rows fill unevenly.
const ENTRIES: usize = 2 * (MAX_DISTANCE + 1);
/// The fewest positions it is worth having rows for.
const MIN_ENTRIES: usize = 1024;
/// How many tags are compared at once.
const GROUP: usize = 16;
/// Of more positions than this in a row, all inside one match, not all are put into the rows.
const STRETCH: usize = 64;
/// How many of them are at each end; of those in between it is one in so many.
const STRETCH_ENDS: usize = 16;

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
        let back = common_length_before(src, self.from, self.at, self.at - anchor);
        Self { at: self.at - back, from: self.from - back, length: self.length + back }
    }
}

/// The latest positions of some hashes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Row<const WIDTH: usize> {
    /// 0 where there is no position.
    tags: [u8; WIDTH],
    /// The low halves of the positions.
    positions: [u16; WIDTH],
    /// Where the latest position is. The others follow, from late to early, and go on at the start of the row.
    head: u8,
}

impl<const WIDTH: usize> Row<WIDTH> {
    const EMPTY: Self = Self { tags: [0; WIDTH], positions: [0; WIDTH], head: 0 };

    #[inline(always)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rows have at most 64 positions; of positions the low half is kept"
    )]
    fn insert(&mut self, tag: u8, position: usize) {
        self.head = self.head.wrapping_sub(1) % WIDTH as u8;
        let slot = usize::from(self.head);
        self.tags[slot] = tag;
        self.positions[slot] = position as u16;
    }

    /// A bit for each position whose tag agrees, the latest position first.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the mask has WIDTH bits")]
    fn candidates(&self, tag: u8) -> u64 {
        let mut mask = 0;
        for (index, group) in self.tags.as_chunks().0.iter().enumerate() {
            mask |= u64::from(equal_bytes(group, tag)) << (GROUP * index);
        }
        let head = u32::from(self.head);
        match WIDTH {
            16 => (mask as u16).rotate_right(head).into(),
            32 => (mask as u32).rotate_right(head).into(),
            _ => mask.rotate_right(head),
        }
    }

    /// How far before `at` the position is that comes `index` places after the latest.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "only the low half of positions is known")]
    fn distance(&self, at: usize, index: u32) -> usize {
        let slot = (usize::from(self.head) + index as usize) % WIDTH;
        usize::from((at as u16).wrapping_sub(self.positions[slot]))
    }
}

/// The memory of a [`Finder`].
#[derive(Debug, Clone, Default)]
pub(super) struct Rows<const WIDTH: usize>(Vec<Row<WIDTH>>);

/// Finds matches of one input, in rows of `WIDTH` positions.
pub(super) struct Finder<'a, const WIDTH: usize> {
    src: &'a [u8],
    rows: &'a mut [Row<WIDTH>],
    row_bits: u32,
    /// How many positions are looked at.
    attempts: u32,
    /// The first position that was not put into the rows yet.
    next: usize,
}

impl<'a, const WIDTH: usize> Finder<'a, WIDTH> {
    /// A finder that knows all positions before `start`.
    pub(super) fn new(rows: &'a mut Rows<WIDTH>, src: &'a [u8], start: usize, attempts: u32) -> Self {
        let entries = (2 * src.len()).clamp(MIN_ENTRIES, ENTRIES);
        let count = (entries / WIDTH).next_power_of_two();
        if rows.0.len() < count {
            rows.0.resize(count, Row::EMPTY);
        }
        let rows = &mut rows.0[..count];
        for row in &mut *rows {
            row.tags.fill(0);
        }
        let mut finder = Self { src, rows, row_bits: count.ilog2(), attempts, next: start };
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

    /// The longest match that starts no later than two bytes after `now` and ends at least two bytes after it, extended
    /// back to `anchor` at most.
    ///
    /// The last two bytes of `now` and the two after it are looked up, since all such matches have these.
    #[inline(always)]
    pub(super) fn farther(&mut self, now: &Match, anchor: usize) -> Option<Match> {
        let found = self.search::<true>(now.end() - 2, now.at + 2, MIN_MATCH - 1)?;
        Some(found.extended_back(self.src, anchor))
    }

    /// Looks up the bytes at `at`: the longest match that starts at `start`, and ends more than `least` bytes after `at`.
    #[inline(always)]
    fn search<const EARLIER: bool>(&mut self, at: usize, start: usize, least: usize) -> Option<Match> {
        let src = self.src;
        let end = src.len() - LAST_LITERALS;
        assert!(start <= at && least >= MIN_MATCH - 1);
        if at + least >= end {
            return None;
        }
        self.insert_before(at);
        let before = at - start;
        let opening = word4(src, start);
        let (row, tag) = self.place(at);
        let row = &mut self.rows[row];
        let mut candidates = row.candidates(tag);
        let mut attempts = self.attempts;
        let mut best = least;
        let mut best_from = at;
        // A longer match has the four bytes that end right after the best one.
        let mut tail = best + 1 - MIN_MATCH;
        let mut closing = word4(src, at + tail);
        while candidates != 0 && attempts > 0 {
            let distance = row.distance(at, candidates.trailing_zeros());
            candidates &= candidates - 1;
            attempts -= 1;
            if distance == 0 || distance + before > at {
                continue;
            }
            let from = at - distance;
            // SAFETY: `from` is before `at`, and `word4` has checked that four bytes follow `at + tail`.
            let other = u32::from_le_bytes(unsafe { load(src, from + tail) });
            if other != closing {
                continue;
            }
            if EARLIER && word4(src, from - before) != opening {
                continue;
            }
            let length = common_length(src, from - before, start, end);
            if length > best + before {
                best = length - before;
                best_from = from;
                if at + best >= end {
                    break;
                }
                tail = best + 1 - MIN_MATCH;
                closing = word4(src, at + tail);
            }
        }
        row.insert(tag, at);
        (best_from != at).then(|| Match { at: start, from: best_from - before, length: best + before })
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
        self.rows[row].insert(tag, position);
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
