//! The index of a frame: for each chunk where it is, or what it is if it is nowhere.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::chunk::{Chunk, Compressor, Decompressor, Options, Special, SplitMode};
use crate::error::{Result, bail};
use crate::exec::Threads;
use crate::limits::Limits;
use std::sync::OnceLock;

/// The size of an entry.
pub(super) const ENTRY_LEN: usize = 8;
/// The most chunks a frame can have.
pub(super) const MAX_CHUNKS: usize = i32::MAX as usize / ENTRY_LEN;
/// What the reference uses; small blocks make single entries cheap.
const BLOCKSIZE: usize = 16 << 10;

const SPECIAL: u64 = 1 << 63;
const ZEROS: u64 = 1 << 56;
const NAN: u64 = 1 << 57;
const UNINIT: u64 = 1 << 58;

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// All items are known.
    Special(Special),
    /// The offset of a chunk from the end of the header, or the number of its file.
    At(u64),
}

impl Entry {
    fn from_stored(stored: i64) -> Result<Self> {
        let bits = stored.cast_unsigned();
        if bits & SPECIAL == 0 {
            return Ok(Self::At(bits));
        }
        Ok(Self::Special(match bits {
            _ if bits & ZEROS != 0 => Special::Zeros,
            _ if bits & UNINIT != 0 => Special::Uninit,
            _ if bits & NAN != 0 => Special::NaN,
            _ => bail!(Corrupt, "frame index: {bits:#x} is no offset and no special value"),
        }))
    }

    fn stored(self) -> u64 {
        match self {
            Self::At(offset) => offset,
            Self::Special(Special::NaN) => SPECIAL | NAN,
            Self::Special(Special::Uninit) => SPECIAL | UNINIT,
            Self::Special(Special::Zeros | Special::Value) => SPECIAL | ZEROS,
        }
    }
}

/// The index, decoded when it is first asked.
#[derive(Debug)]
pub(crate) struct Index {
    /// As it is stored; empty once entries have been changed.
    packed: Vec<u8>,
    len: usize,
    entries: OnceLock<Vec<Entry>>,
    limits: Limits,
}

impl Index {
    /// The index of a frame without chunks.
    pub(crate) fn new() -> Self {
        Self { packed: Vec::new(), len: 0, entries: OnceLock::from(Vec::new()), limits: Limits::new() }
    }

    /// The index that `bytes` start with.
    pub(crate) fn parse(bytes: &[u8], limits: Limits) -> Result<Self> {
        let chunk = Chunk::parse(bytes).map_err(|error| error.within("frame index"))?;
        let nbytes = chunk.header().nbytes();
        if !nbytes.is_multiple_of(ENTRY_LEN) {
            bail!(Corrupt, "frame index: {nbytes} bytes are no whole entries of {ENTRY_LEN}");
        }
        let len = nbytes.checked_div(ENTRY_LEN).unwrap_or_default();
        limits.check("frame index", len.saturating_mul(size_of::<Entry>()))?;
        Ok(Self { packed: chunk.as_bytes().to_vec(), len, entries: OnceLock::new(), limits })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// As it was stored, if it has not been changed.
    pub(crate) fn packed(&self) -> &[u8] {
        &self.packed
    }

    pub(crate) fn entries(&self) -> Result<&[Entry]> {
        if let Some(entries) = self.entries.get() {
            return Ok(entries);
        }
        let entries = self.decode()?;
        Ok(self.entries.get_or_init(|| entries))
    }

    pub(crate) fn entry(&self, index: usize) -> Result<Entry> {
        match self.entries()?.get(index) {
            Some(&entry) => Ok(entry),
            None => bail!(InvalidArgument, "chunk {index} is asked for, there are {}", self.len),
        }
    }

    fn decode(&self) -> Result<Vec<Entry>> {
        let mut decompressor = Decompressor::new().with_threads(Threads::serial()).with_limits(self.limits);
        let bytes = decompressor.decompress(&self.packed).map_err(|error| error.within("frame index"))?;
        let words = bytes.chunks_exact(ENTRY_LEN).filter_map(|word| word.try_into().ok());
        words.map(|word| Entry::from_stored(i64::from_le_bytes(word))).collect()
    }

    /// The entries, to be changed.
    pub(crate) fn entries_mut(&mut self) -> Result<Change<'_>> {
        self.entries()?;
        self.packed.clear();
        Ok(Change(self))
    }
}

/// Entries that are being changed.
pub(crate) struct Change<'a>(&'a mut Index);

impl std::ops::Deref for Change<'_> {
    type Target = Vec<Entry>;

    #[expect(clippy::expect_used, reason = "entries_mut has just put them there")]
    fn deref(&self) -> &Vec<Entry> {
        self.0.entries.get().expect("decoded")
    }
}

impl std::ops::DerefMut for Change<'_> {
    #[expect(clippy::expect_used, reason = "entries_mut has just put them there")]
    fn deref_mut(&mut self) -> &mut Vec<Entry> {
        self.0.entries.get_mut().expect("decoded")
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.0.len = Vec::len(self);
    }
}

/// A chunk of these entries.
pub(crate) fn pack(entries: &[Entry]) -> Result<Vec<u8>> {
    if entries.len() > MAX_CHUNKS {
        bail!(InvalidArgument, "a frame has room for {MAX_CHUNKS} chunks, not for {}", entries.len());
    }
    let bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.stored().to_le_bytes()).collect();
    let options = Options::new(ENTRY_LEN).split(SplitMode::Never).blocksize(BLOCKSIZE).threads(Threads::serial());
    Compressor::new(options)?.compress(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_back() {
        let entries = vec![
            Entry::At(0),
            Entry::Special(Special::Zeros),
            Entry::Special(Special::NaN),
            Entry::Special(Special::Uninit),
            Entry::At(123_456),
        ];
        let index = Index::parse(&pack(&entries).unwrap(), Limits::new()).unwrap();
        assert_eq!(index.len(), 5);
        assert_eq!(index.entries().unwrap(), entries);
    }

    #[test]
    fn special_entries_have_the_bits_of_the_reference() {
        assert_eq!(Entry::Special(Special::Zeros).stored(), 0x8100_0000_0000_0000);
        assert_eq!(Entry::Special(Special::NaN).stored(), 0x8200_0000_0000_0000);
        assert_eq!(Entry::Special(Special::Uninit).stored(), 0x8400_0000_0000_0000);
    }

    #[test]
    fn changes_are_counted() {
        let mut index = Index::new();
        index.entries_mut().unwrap().push(Entry::At(7));
        assert_eq!(index.len(), 1);
    }
}
