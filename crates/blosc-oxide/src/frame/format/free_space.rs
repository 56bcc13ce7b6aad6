//! The free space of a frame, as a footer lists it for the next writer.
//!
//! ```text
//! no chunk, old or new, ends after this | eight times: start, end; both 0 if there are no more
//!                   8                                  8     8
//! ```
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::bytes::array_at;
use std::ops::Range;

/// How many parts are listed: a frame that is committed again and again has two or three.
const MAX_PARTS: usize = 8;
const NUMBER_LEN: usize = 8;
/// The length of the list.
pub(in crate::frame) const FREE_SPACE_LEN: usize = NUMBER_LEN * (1 + 2 * MAX_PARTS);

/// The free space of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::frame) struct FreeSpace {
    /// No chunk ends after this, be it a committed one or one that others may still be reading.
    pub(in crate::frame) chunks_end: u64,
    /// In order; none overlaps another.
    pub(in crate::frame) parts: Vec<Range<u64>>,
}

impl FreeSpace {
    /// As bytes; of too many parts, the longest.
    pub(in crate::frame) fn to_bytes(&self) -> Vec<u8> {
        let mut parts = self.parts.clone();
        if parts.len() > MAX_PARTS {
            parts.select_nth_unstable_by_key(MAX_PARTS, |part| std::cmp::Reverse(part.end.saturating_sub(part.start)));
            parts.truncate(MAX_PARTS);
        }
        parts.sort_unstable_by_key(|part| part.start);
        let numbers = parts.iter().flat_map(|part| [part.start, part.end]);
        let mut bytes: Vec<u8> = [self.chunks_end].into_iter().chain(numbers).flat_map(u64::to_le_bytes).collect();
        bytes.resize(FREE_SPACE_LEN, 0);
        bytes
    }

    /// The list that `bytes` start with; `None` if it is not valid.
    pub(in crate::frame) fn parse(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| array_at(bytes, at.checked_mul(NUMBER_LEN)?).map(u64::from_le_bytes);
        let mut free_space = Self { chunks_end: number(0)?, parts: Vec::new() };
        let mut last = 0;
        for at in (1..=2 * MAX_PARTS).step_by(2) {
            let part = number(at)?..number(at.checked_add(1)?)?;
            if part == (0..0) {
                break;
            }
            if part.is_empty() || part.start < last {
                return None;
            }
            last = part.end;
            free_space.parts.push(part);
        }
        Some(free_space)
    }

    /// Whether all parts lie in `frame`, and none of them in `live`.
    pub(in crate::frame) fn fits(&self, frame: &Range<u64>, live: &Range<u64>) -> bool {
        let is_free = |part: &Range<u64>| part.end <= live.start || live.end <= part.start;
        self.parts.iter().all(|part| frame.start <= part.start && part.end <= frame.end && is_free(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_parts_are_listed_in_order() {
        let parts: Vec<_> = (1..12).map(|at| at * 100..at * 101).collect();
        let free_space = FreeSpace { chunks_end: 5, parts: parts.clone() };
        let bytes = free_space.to_bytes();
        assert_eq!(bytes.len(), FREE_SPACE_LEN);
        assert_eq!(FreeSpace::parse(&bytes), Some(FreeSpace { chunks_end: 5, parts: parts[3..].to_vec() }));
        assert_eq!(FreeSpace::parse(&bytes[1..]), None);
    }

    #[test]
    fn parts_that_overlap_are_none() {
        for parts in [vec![5..10, 9..12], vec![10..20, 1..5]] {
            let numbers = parts.iter().flat_map(|part: &Range<u64>| [part.start, part.end]);
            let mut bytes: Vec<u8> = [0].into_iter().chain(numbers).flat_map(u64::to_le_bytes).collect();
            bytes.resize(FREE_SPACE_LEN, 0);
            assert_eq!(FreeSpace::parse(&bytes), None, "{parts:?}");
        }
    }

    #[test]
    fn parts_must_not_overlap_what_is_live() {
        let free_space = FreeSpace { chunks_end: 0, parts: vec![10..20, 40..50] };
        assert!(free_space.fits(&(10..50), &(20..40)));
        assert!(!free_space.fits(&(11..50), &(20..40)));
        assert!(!free_space.fits(&(10..49), &(20..40)));
        assert!(!free_space.fits(&(10..50), &(19..40)));
        assert!(!free_space.fits(&(10..50), &(20..41)));
    }
}
