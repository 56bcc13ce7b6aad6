//! The table of offsets: where each chunk starts, -1 for those that are not there (yet).
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::bytes::le_i64;
use crate::error::{Result, bail};
use crate::storage::{ReadAt, read_exact};

/// The length of an entry.
pub(in crate::bloscpack) const ENTRY_LEN: u64 = 8;
/// The entry of a chunk whose place is not known.
pub(in crate::bloscpack) const UNSET: i64 = -1;
/// How many entries are read or written at once.
const PIECE: u64 = 8192;

/// What the table of offsets is worth.
///
/// ```
/// use blosc_oxide::bloscpack::{Bloscpack, BloscpackOptions, Offsets, pack_to_storage};
/// use blosc_oxide::{Options, storage::MemoryStorage};
/// let mut storage = MemoryStorage::default();
/// pack_to_storage(&b"data"[..], &mut storage, &BloscpackOptions::new(Options::new(1)))?;
/// assert_eq!(Bloscpack::from_storage(storage)?.offsets()?, Offsets::Sane);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Offsets {
    /// There is none.
    Absent,
    /// Its entries are -1: whoever wrote the file did not come to an end, or wrote to a pipe.
    /// Chunks are found by going from one to the next.
    Unset,
    /// Its entries cannot be right. They are ignored, chunks are found by going from one to the
    /// next.
    Wrong,
    /// Its entries are used.
    Sane,
}

/// The place of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bloscpack) struct Table {
    at: u64,
    entries: u64,
}

impl Table {
    pub(in crate::bloscpack) fn new(at: u64, entries: u64) -> Self {
        Self { at, entries }
    }

    /// The table that starts at `at`, where no one has written down how long it is: the first entry
    /// is the end of it, or else all entries are -1 and no chunk starts with that.
    pub(in crate::bloscpack) fn find(source: &dyn ReadAt, at: u64, file_len: u64) -> Result<Self> {
        let room = Self::new(at, file_len.saturating_sub(at).checked_div(ENTRY_LEN).unwrap_or_default());
        let mut unset = 0_u64;
        let mut filled = None;
        room.scan(source, room.entries, |_, entry| {
            if entry != UNSET {
                filled = Some(entry);
            } else {
                unset = unset.saturating_add(1);
            }
            filled.is_none()
        })?;
        if unset > 0 || filled.is_none() {
            return Ok(Self::new(at, unset));
        }
        match filled.and_then(|entry| end_by_first_entry(at, entry)) {
            Some(end) if end <= file_len => {
                Ok(Self::new(at, end.saturating_sub(at).checked_div(ENTRY_LEN).unwrap_or_default()))
            }
            // What is no entry is the start of the first chunk.
            _ => Ok(Self::new(at, 0)),
        }
    }

    pub(in crate::bloscpack) fn at(&self) -> u64 {
        self.at
    }

    pub(in crate::bloscpack) fn entries(&self) -> u64 {
        self.entries
    }

    pub(in crate::bloscpack) fn end(&self) -> u64 {
        self.entry_at(self.entries)
    }

    /// Where the entry of a chunk stands.
    pub(in crate::bloscpack) fn entry_at(&self, index: u64) -> u64 {
        self.at.saturating_add(index.saturating_mul(ENTRY_LEN))
    }

    /// The entry of one chunk.
    pub(in crate::bloscpack) fn entry(&self, source: &dyn ReadAt, index: u64) -> Result<i64> {
        let mut bytes = [0; 8];
        if index >= self.entries {
            bail!(InvalidArgument, "offset {index} is asked for, the table has {}", self.entries);
        }
        read_exact(source, self.entry_at(index), &mut bytes, "offsets")?;
        Ok(i64::from_le_bytes(bytes))
    }

    /// The first `count` entries, as they are.
    pub(in crate::bloscpack) fn stored(&self, source: &dyn ReadAt, count: u64) -> Result<Vec<i64>> {
        let mut entries = Vec::new();
        self.scan(source, count.min(self.entries), |_, entry| {
            entries.push(entry);
            true
        })?;
        Ok(entries)
    }

    /// Looks at the entries of `nchunks` chunks that start at `chunks_at` and take `min_len` bytes
    /// at the least.
    pub(in crate::bloscpack) fn assess(
        &self,
        source: &dyn ReadAt,
        nchunks: u64,
        chunks_at: u64,
        min_len: u64,
    ) -> Result<Offsets> {
        if nchunks > self.entries {
            return Ok(Offsets::Wrong);
        }
        let mut lowest = chunks_at;
        let (mut unset, mut sane) = (0_u64, true);
        self.scan(source, nchunks, |index, entry| {
            let position = u64::try_from(entry).ok();
            sane &= position.is_some_and(|at| if index == 0 { at == chunks_at } else { at >= lowest });
            unset = unset.saturating_add(u64::from(entry == UNSET));
            lowest = position.unwrap_or(u64::MAX).saturating_add(min_len);
            true
        })?;
        Ok(match (sane, unset) {
            (true, _) => Offsets::Sane,
            (false, unset) if unset == nchunks => Offsets::Unset,
            (false, _) => Offsets::Wrong,
        })
    }

    /// Calls `look` with the index and the value of each of the first `count` entries, until it
    /// returns `false`.
    fn scan(&self, source: &dyn ReadAt, count: u64, mut look: impl FnMut(u64, i64) -> bool) -> Result<()> {
        let mut index = 0_u64;
        let mut piece = Vec::new();
        while index < count {
            let entries = count.saturating_sub(index).min(PIECE);
            piece.resize(usize::try_from(entries.saturating_mul(ENTRY_LEN)).unwrap_or_default(), 0);
            read_exact(source, self.entry_at(index), &mut piece, "offsets")?;
            for entry in piece.chunks_exact(8) {
                if !look(index, le_i64(entry, 0).unwrap_or(UNSET)) {
                    return Ok(());
                }
                index = index.saturating_add(1);
            }
        }
        Ok(())
    }
}

/// Where a table that starts at `at` ends, if `first` is its first entry: where the first chunk
/// starts. `None` if `first` is the start of a chunk, which as a number is above 4 Gi, as its upper
/// half is the size of the data.
pub(in crate::bloscpack) fn end_by_first_entry(at: u64, first: i64) -> Option<u64> {
    let end = u64::try_from(first).ok()?;
    let len = end.checked_sub(at)?;
    (len > 0 && len.checked_rem(ENTRY_LEN) == Some(0) && len <= u64::from(u32::MAX)).then_some(end)
}

/// Entries as bytes, for `count` chunks that are not there yet, piece by piece.
pub(in crate::bloscpack) fn unset_pieces(count: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut left = count;
    std::iter::from_fn(move || {
        let entries = left.min(PIECE);
        left = left.saturating_sub(entries);
        let bytes = usize::try_from(entries.saturating_mul(ENTRY_LEN)).unwrap_or_default();
        (bytes > 0).then(|| vec![0xff; bytes])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStorage;

    fn table(entries: &[i64]) -> (MemoryStorage, Table) {
        let bytes: Vec<u8> = [0; 8].into_iter().chain(entries.iter().flat_map(|entry| entry.to_le_bytes())).collect();
        (MemoryStorage::new(bytes), Table::new(8, entries.len() as u64))
    }

    fn assess(entries: &[i64], nchunks: u64) -> Offsets {
        let (source, table) = table(entries);
        table.assess(&source, nchunks, 100, 16).unwrap()
    }

    #[test]
    fn entries_are_judged() {
        assert_eq!(assess(&[100, 116, 200, -1], 3), Offsets::Sane);
        assert_eq!(assess(&[-1, -1, -1, -1], 3), Offsets::Unset);
        assert_eq!(assess(&[100, -1, 200, -1], 3), Offsets::Wrong);
        assert_eq!(assess(&[101, 120, 200], 3), Offsets::Wrong);
        assert_eq!(assess(&[100, 115, 200], 3), Offsets::Wrong);
        assert_eq!(assess(&[100, 200, 150], 3), Offsets::Wrong);
        assert_eq!(assess(&[100, 200, -7], 3), Offsets::Wrong);
        assert_eq!(assess(&[100, 200], 3), Offsets::Wrong);
    }

    #[test]
    fn a_table_of_unknown_length_ends_where_the_first_chunk_starts() {
        let found = |entries: &[i64]| {
            let (source, _) = table(entries);
            Table::find(&source, 8, source.len().unwrap()).unwrap().entries()
        };
        assert_eq!(found(&[32, -1, -1, 0x0102, 7]), 3);
        assert_eq!(found(&[-1, -1, 0x0102, 7]), 2);
        assert_eq!(found(&[0x1234_5678_0001_0102, 7]), 0);
        assert_eq!(found(&[-1, -1]), 2);
        assert_eq!(found(&[]), 0);
    }

    #[test]
    fn long_tables_are_read_in_pieces() {
        let entries: Vec<i64> = (0..20_000).map(|index| 100 + 16 * index).collect();
        assert_eq!(assess(&entries, 20_000), Offsets::Sane);
        let (source, table) = table(&entries);
        assert_eq!(table.stored(&source, 30_000).unwrap(), entries);
        assert_eq!(unset_pieces(20_000).map(|piece| piece.len()).sum::<usize>(), 160_000);
    }
}
