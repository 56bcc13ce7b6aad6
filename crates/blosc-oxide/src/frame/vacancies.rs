//! Where nothing lives in a frame, as a footer tells it to the handle that opens the frame next.
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

/// How many parts are told: a frame that is committed again and again has two or three.
const MAX_PARTS: usize = 8;
const NUMBER_LEN: usize = 8;
/// Of what is told.
pub(super) const VACANCIES_LEN: usize = NUMBER_LEN * (1 + 2 * MAX_PARTS);

/// Where nothing lives in a frame.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Vacancies {
    /// No chunk ends after this, be it one that counts or one that others may still be reading.
    pub(super) chunks_end: u64,
    /// In order; none overlaps another.
    pub(super) parts: Vec<Range<u64>>,
}

impl Vacancies {
    /// As bytes; of too many parts, the longest.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut parts = self.parts.clone();
        if parts.len() > MAX_PARTS {
            parts.select_nth_unstable_by_key(MAX_PARTS, |part| std::cmp::Reverse(part.end.saturating_sub(part.start)));
            parts.truncate(MAX_PARTS);
        }
        parts.sort_unstable_by_key(|part| part.start);
        let numbers = parts.iter().flat_map(|part| [part.start, part.end]);
        let mut bytes: Vec<u8> = [self.chunks_end].into_iter().chain(numbers).flat_map(u64::to_le_bytes).collect();
        bytes.resize(VACANCIES_LEN, 0);
        bytes
    }

    /// What `bytes` start with; `None` if that cannot be.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let number = |at: usize| array_at(bytes, at.checked_mul(NUMBER_LEN)?).map(u64::from_le_bytes);
        let mut vacancies = Self { chunks_end: number(0)?, parts: Vec::new() };
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
            vacancies.parts.push(part);
        }
        Some(vacancies)
    }

    /// Whether all parts lie in `frame`, and none of them where something lives.
    pub(super) fn fit(&self, frame: &Range<u64>, live: &Range<u64>) -> bool {
        let is_free = |part: &Range<u64>| part.end <= live.start || live.end <= part.start;
        self.parts.iter().all(|part| frame.start <= part.start && part.end <= frame.end && is_free(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_parts_are_told_in_order() {
        let parts: Vec<_> = (1..12).map(|at| at * 100..at * 101).collect();
        let vacancies = Vacancies { chunks_end: 5, parts: parts.clone() };
        let bytes = vacancies.to_bytes();
        assert_eq!(bytes.len(), VACANCIES_LEN);
        assert_eq!(Vacancies::parse(&bytes), Some(Vacancies { chunks_end: 5, parts: parts[3..].to_vec() }));
        assert_eq!(Vacancies::parse(&bytes[1..]), None);
    }

    #[test]
    fn parts_that_overlap_are_none() {
        for parts in [vec![5..10, 9..12], vec![10..20, 1..5]] {
            let numbers = parts.iter().flat_map(|part: &Range<u64>| [part.start, part.end]);
            let mut bytes: Vec<u8> = [0].into_iter().chain(numbers).flat_map(u64::to_le_bytes).collect();
            bytes.resize(VACANCIES_LEN, 0);
            assert_eq!(Vacancies::parse(&bytes), None, "{parts:?}");
        }
    }

    #[test]
    fn parts_must_lie_where_nothing_lives() {
        let vacancies = Vacancies { chunks_end: 0, parts: vec![10..20, 40..50] };
        assert!(vacancies.fit(&(10..50), &(20..40)));
        assert!(!vacancies.fit(&(11..50), &(20..40)));
        assert!(!vacancies.fit(&(10..49), &(20..40)));
        assert!(!vacancies.fit(&(10..50), &(19..40)));
        assert!(!vacancies.fit(&(10..50), &(20..41)));
    }
}
