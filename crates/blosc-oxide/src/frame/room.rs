//! Where nothing lives: what old indexes, trailers and footers leave behind, and what has never
//! come to count.
//!
//! Without it, a frame that is committed after every small chunk would grow by a whole index each
//! time. What replaced and deleted chunks leave behind is not among it, unless they were stored
//! since the last commit: others may still be reading them.

use std::ops::Range;

/// Parts of a frame that may be written to before the next commit.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// In order, and none next to another.
    free: Vec<Range<u64>>,
}

impl Room {
    /// Forgets all of it.
    pub(super) fn clear(&mut self) {
        self.free.clear();
    }

    /// Adds a part, which must not overlap another.
    pub(super) fn give(&mut self, part: Range<u64>) {
        if part.is_empty() {
            return;
        }
        let at = self.free.partition_point(|free| free.start < part.start);
        self.free.insert(at, part);
        self.join(at);
        self.join(at.saturating_sub(1));
    }

    /// Makes one of a part and the one after it, if nothing is between them.
    fn join(&mut self, at: usize) {
        if let Some([first, second]) = self.free.get(at..at + 2)
            && first.end >= second.start
        {
            self.free[at] = first.start..first.end.max(second.end);
            self.free.remove(at + 1);
        }
    }

    /// The start of the first part that has `len` bytes, for a chunk.
    pub(super) fn take(&mut self, len: u64) -> Option<u64> {
        let at = self.free.iter().position(|free| free.end - free.start >= len)?;
        let start = self.free[at].start;
        self.take_at(at, start..start + len);
        Some(start)
    }

    /// Takes a part, if all of it is free; whether it is.
    pub(super) fn take_exactly(&mut self, wanted: &Range<u64>) -> bool {
        let found = self.free.iter().position(|free| free.start <= wanted.start && wanted.end <= free.end);
        if let Some(at) = found {
            self.take_at(at, wanted.clone());
        }
        found.is_some()
    }

    /// All parts, in order.
    pub(super) fn parts(&self) -> &[Range<u64>] {
        &self.free
    }

    /// Where `len` bytes end a part that lies behind `position`: chunks may follow one another
    /// before them.
    pub(super) fn take_behind(&mut self, position: u64, len: u64) -> Option<u64> {
        let has_room = |free: &Range<u64>| free.end.saturating_sub(free.start.max(position)) >= len;
        let at = self.free.iter().position(has_room)?;
        let start = self.free[at].end - len;
        self.take_at(at, start..start + len);
        Some(start)
    }

    fn take_at(&mut self, at: usize, taken: Range<u64>) {
        let free = self.free.remove(at);
        self.give(free.start..taken.start);
        self.give(taken.end..free.end);
    }

    /// Forgets everything before `start` and from `end` on.
    pub(super) fn keep(&mut self, start: u64, end: u64) {
        for free in &mut self.free {
            *free = free.start.max(start)..free.end.min(end);
        }
        self.free.retain(|free| !free.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(parts: &[Range<u64>]) -> Room {
        let mut room = Room::default();
        parts.iter().cloned().for_each(|part| room.give(part));
        room
    }

    #[test]
    fn neighbours_are_joined() {
        assert_eq!(room(&[10..20, 30..40, 20..30, 50..60, 0..5, 7..7]).free, [0..5, 10..40, 50..60]);
    }

    #[test]
    fn chunks_take_the_front_and_indexes_the_end() {
        let mut room = room(&[10..20, 30..60]);
        assert_eq!(room.take(10), Some(10));
        assert_eq!(room.take(11), Some(30));
        assert_eq!(room.take_behind(0, 9), Some(51));
        assert_eq!(room.take_behind(45, 7), None);
        assert_eq!(room.take_behind(45, 6), Some(45));
        assert_eq!(room.take(5), None);
        assert_eq!(room.take(4), Some(41));
    }

    #[test]
    fn a_part_is_taken_if_all_of_it_is_free() {
        let mut room = room(&[10..20, 30..60]);
        assert!(!room.take_exactly(&(15..25)));
        assert!(room.take_exactly(&(40..50)));
        assert_eq!(room.parts(), [10..20, 30..40, 50..60]);
    }

    #[test]
    fn what_is_cut_off_is_forgotten() {
        let mut room = room(&[10..20, 30..60, 70..80]);
        room.keep(15, 40);
        assert_eq!(room.free, [15..20, 30..40]);
    }
}
