//! The chunks of a damaged frame, in rows of the same: there may be a hundred million, in a small
//! file.

use crate::chunk::Special;
use crate::error::Result;
use crate::frame::format::index::{Entry, Index};
use crate::limits::Limits;

/// What a row and what is found out about it takes.
type RowMemory = [u64; 10];
/// The entry of a chunk that must be there, and that nothing was found of.
pub(super) const LOST: Entry = Entry::Wrong(u64::MAX);

/// Entries in their order.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<(Entry, usize)>,
    len: usize,
}

impl Rows {
    /// Those of an index, whose offsets count from `base`.
    pub(super) fn of(index: &Index, base: u64, limits: Limits) -> Result<Self> {
        let mut rows = Self::default();
        for (range, entry) in index.runs()? {
            if rows.rows.len().is_power_of_two() {
                limits.check_list::<RowMemory>("the list of chunks", rows.rows.len() as u64)?;
            }
            rows.push(entry.map_offset(|offset| offset.saturating_add(base)), range.len());
        }
        Ok(rows)
    }

    /// How many chunks there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Appends a row.
    pub(super) fn push(&mut self, entry: Entry, count: usize) {
        if count > 0 {
            self.rows.push((entry, count));
            self.len = self.len.saturating_add(count);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Entry, usize)> + '_ {
        self.rows.iter().copied()
    }
}

/// Chunks in a row that are the same, and how long each is, if that is known and they are not
/// damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Examined {
    pub(super) entry: Entry,
    pub(super) count: usize,
    pub(super) size: Option<usize>,
}

/// Chunks of the new frame.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piece {
    /// As they are stored here.
    At(u64),
    /// Of a special value, or damaged; this long, if that is known.
    Special(Special, Option<usize>),
}

impl Examined {
    /// What becomes of the chunks, which are as long as this if nothing tells it.
    pub(super) fn piece(&self, assumed: Option<usize>) -> Piece {
        match (self.entry, self.size) {
            (Entry::At(place), Some(_)) => Piece::At(place),
            (Entry::Special(special), _) => Piece::Special(special, assumed),
            _ => Piece::Special(Special::Uninit, assumed),
        }
    }
}

/// The last chunk by itself: it may be shorter than the others.
pub(super) fn with_last_apart(mut examined: Vec<Examined>) -> Vec<Examined> {
    if let Some(last) = examined.last_mut()
        && last.count > 1
    {
        last.count -= 1;
        let apart = Examined { count: 1, ..*last };
        examined.push(apart);
    }
    examined
}

/// The size that all chunks have but perhaps the last, which is apart.
pub(super) fn usual_size(examined: &[Examined]) -> Option<usize> {
    let mut known = examined.iter().rev().skip(1).filter_map(|row| row.size);
    match known.next() {
        Some(first) => known.all(|size| size == first).then_some(first),
        None => examined.last().and_then(|last| last.size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_chunk_is_apart_and_does_not_tell_the_usual_size() {
        let row = |size| Examined { entry: Entry::At(0), count: 5, size };
        let apart = with_last_apart(vec![row(Some(10)), row(None), row(Some(7))]);
        assert_eq!(apart.iter().map(|row| row.count).collect::<Vec<_>>(), [5, 5, 4, 1]);
        assert_eq!(usual_size(&apart), None);
        assert_eq!(usual_size(&with_last_apart(vec![row(Some(10)), row(None)])), Some(10));
        assert_eq!(usual_size(&[row(Some(3))]), Some(3));
        assert_eq!(usual_size(&[]), None);
    }
}
