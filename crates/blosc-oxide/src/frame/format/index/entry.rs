//! One entry of an index, and how it is stored.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::entries::{ENTRY_LEN, Entries};
use crate::chunk::Special;
use crate::error::{Error, error};
use crate::schunk::{Slot, Staged};

pub(super) const SPECIAL: u64 = 1 << 63;
pub(super) const ZEROS: u64 = 1 << 56;
pub(super) const NAN: u64 = 1 << 57;
pub(super) const UNINIT: u64 = 1 << 58;

/// How entries are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Offsets of 64 bits, of which the highest tells special values.
    Current,
    /// Offsets of this many bytes, and nothing else: that of the betas.
    Offsets(OffsetWidth),
}

/// The bytes of an offset in an early frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OffsetWidth {
    Two,
    Four,
    Eight,
}

impl Coding {
    pub(super) fn entry_len(self) -> usize {
        match self {
            Self::Offsets(OffsetWidth::Two) => 2,
            Self::Offsets(OffsetWidth::Four) => 4,
            Self::Current | Self::Offsets(OffsetWidth::Eight) => ENTRY_LEN,
        }
    }

    /// Appends entries that are stored in this way.
    pub(super) fn append(self, stored: &[u8], entries: &mut Entries) {
        let entry_len = self.entry_len();
        if entry_len == ENTRY_LEN {
            let (words, _) = stored.as_chunks();
            return append_words(words.iter().map(|&word| u64::from_le_bytes(word)), entries);
        }
        let word = |offset: &[u8]| offset.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        append_words(stored.chunks_exact(entry_len).map(word), entries);
    }

    /// The entry that is stored as these bits.
    pub(super) fn entry(self, bits: u64) -> Entry {
        match self {
            Self::Offsets(_) if bits & SPECIAL != 0 => Entry::Wrong(bits),
            _ => Entry::from_bits(bits),
        }
    }

    /// What is wrong with bits that are no entry.
    pub(super) fn wrong(self, bits: u64) -> Error {
        match self {
            Self::Current => error!(Corrupt, "frame index: {bits:#x} is no offset and no special value"),
            Self::Offsets(_) => error!(Corrupt, "frame index: the offset {} is negative", bits.cast_signed()),
        }
    }
}

/// Appends words, run by run.
pub(super) fn append_words(words: impl Iterator<Item = u64>, entries: &mut Entries) {
    let mut run = None;
    for word in words {
        run = match run {
            Some((same, count)) if same == word => Some((same, usize::saturating_add(count, 1))),
            ended => {
                ended.into_iter().for_each(|(word, count)| entries.push_run(word, count));
                Some((word, 1))
            }
        };
    }
    run.into_iter().for_each(|(word, count)| entries.push_run(word, count));
}

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// All items are known.
    Special(Special),
    /// The offset of a chunk from the end of the header, or the number of its file.
    At(u64),
    /// Damaged: these bits are no entry.
    Wrong(u64),
}

impl Entry {
    pub(super) fn from_bits(bits: u64) -> Self {
        match bits {
            _ if bits & SPECIAL == 0 => Self::At(bits),
            _ if bits & ZEROS != 0 => Self::Special(Special::Zeros),
            _ if bits & UNINIT != 0 => Self::Special(Special::Uninit),
            _ if bits & NAN != 0 => Self::Special(Special::NaN),
            _ => Self::Wrong(bits),
        }
    }

    /// Where the chunk is, if it is anywhere.
    pub(crate) fn offset(self) -> Option<u64> {
        if let Self::At(place) = self { Some(place) } else { None }
    }

    /// The same for a chunk that is elsewhere.
    pub(crate) fn map_offset(self, change: impl FnOnce(u64) -> u64) -> Self {
        if let Self::At(place) = self { Self::At(change(place)) } else { self }
    }

    /// What is stored for the chunk.
    pub(crate) fn slot(self) -> Slot {
        if let Self::Special(special) = self { Slot::Special(special) } else { Slot::Stored }
    }

    /// The chunk, as one that is stored but not one of the sequence yet.
    pub(crate) fn staged(self, hash: u64) -> Staged {
        match self {
            Self::Special(special) => Staged::Special(special),
            Self::At(entry) | Self::Wrong(entry) => Staged::At { entry, hash },
        }
    }

    pub(super) fn bits(self) -> u64 {
        match self {
            Self::At(bits) | Self::Wrong(bits) => bits,
            Self::Special(Special::NaN) => SPECIAL | NAN,
            Self::Special(Special::Uninit) => SPECIAL | UNINIT,
            Self::Special(Special::Zeros | Special::Value) => SPECIAL | ZEROS,
        }
    }
}
