//! The free list: space of superseded indexes, trailers and footers, and of chunks that were never
//! committed.
//!
//! Without it, a frame that is committed after every small chunk would grow by a whole index each
//! time. The space of replaced and deleted chunks is not in it, unless they were stored since the
//! last commit: others may still be reading them.

use std::ops::Range;

/// Ranges of a frame that may be written to before the next commit.
#[derive(Debug, Default)]
pub(in crate::frame) struct FreeList {
    /// In order, and none next to another.
    free: Vec<Range<u64>>,
}

impl FreeList {
    /// Forgets all free ranges.
    pub(in crate::frame) fn clear(&mut self) {
        self.free.clear();
    }

    /// Frees a range, which must not overlap another free one.
    pub(in crate::frame) fn free(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let at = self.free.partition_point(|free| free.start < range.start);
        self.free.insert(at, range);
        self.join(at);
        self.join(at.saturating_sub(1));
    }

    /// Joins a range with the one after it, if nothing is between them.
    fn join(&mut self, at: usize) {
        if let Some([first, second]) = self.free.get(at..at + 2)
            && first.end >= second.start
        {
            self.free[at] = first.start..first.end.max(second.end);
            self.free.remove(at + 1);
        }
    }

    /// Allocates `len` bytes at the start of the first range that is long enough.
    pub(in crate::frame) fn allocate(&mut self, len: u64) -> Option<u64> {
        let at = self.free.iter().position(|free| free.end - free.start >= len)?;
        let start = self.free[at].start;
        self.carve(at, start..start + len);
        Some(start)
    }

    /// Allocates a range, if all of it is free; whether it is.
    pub(in crate::frame) fn allocate_exactly(&mut self, wanted: &Range<u64>) -> bool {
        let found = self.free.iter().position(|free| free.start <= wanted.start && wanted.end <= free.end);
        if let Some(at) = found {
            self.carve(at, wanted.clone());
        }
        found.is_some()
    }

    /// All free ranges, in order.
    pub(in crate::frame) fn ranges(&self) -> &[Range<u64>] {
        &self.free
    }

    /// Allocates `len` bytes at the end of the first range that has them behind `position`: chunks
    /// may follow one another before them.
    pub(in crate::frame) fn allocate_behind(&mut self, position: u64, len: u64) -> Option<u64> {
        let is_enough = |free: &Range<u64>| free.end.saturating_sub(free.start.max(position)) >= len;
        let at = self.free.iter().position(is_enough)?;
        let start = self.free[at].end - len;
        self.carve(at, start..start + len);
        Some(start)
    }

    fn carve(&mut self, at: usize, taken: Range<u64>) {
        let free = self.free.remove(at);
        self.free(free.start..taken.start);
        self.free(taken.end..free.end);
    }

    /// Forgets free space before `start` and from `end` on.
    pub(in crate::frame) fn retain_between(&mut self, start: u64, end: u64) {
        for free in &mut self.free {
            *free = free.start.max(start)..free.end.min(end);
        }
        self.free.retain(|free| !free.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free_list(ranges: &[Range<u64>]) -> FreeList {
        let mut list = FreeList::default();
        ranges.iter().cloned().for_each(|range| list.free(range));
        list
    }

    #[test]
    fn neighbours_are_joined() {
        assert_eq!(free_list(&[10..20, 30..40, 20..30, 50..60, 0..5, 7..7]).free, [0..5, 10..40, 50..60]);
    }

    #[test]
    fn chunks_get_the_front_and_indexes_the_end() {
        let mut list = free_list(&[10..20, 30..60]);
        assert_eq!(list.allocate(10), Some(10));
        assert_eq!(list.allocate(11), Some(30));
        assert_eq!(list.allocate_behind(0, 9), Some(51));
        assert_eq!(list.allocate_behind(45, 7), None);
        assert_eq!(list.allocate_behind(45, 6), Some(45));
        assert_eq!(list.allocate(5), None);
        assert_eq!(list.allocate(4), Some(41));
    }

    #[test]
    fn a_range_is_allocated_if_all_of_it_is_free() {
        let mut list = free_list(&[10..20, 30..60]);
        assert!(!list.allocate_exactly(&(15..25)));
        assert!(list.allocate_exactly(&(40..50)));
        assert_eq!(list.ranges(), [10..20, 30..40, 50..60]);
    }

    #[test]
    fn what_is_cut_off_is_forgotten() {
        let mut list = free_list(&[10..20, 30..60, 70..80]);
        list.retain_between(15, 40);
        assert_eq!(list.free, [15..20, 30..40]);
    }
}
