//! The index of a frame: for each chunk where it is, or what it is if it is nowhere.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::chunk::{BLOSC2_LEN, Chunk, Compressor, Decompressor, Options, Special, SplitMode};
use crate::error::{Result, bail};
use crate::exec::Threads;
use crate::limits::Limits;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::xxh3_64;

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
    fn entry_len(self) -> usize {
        match self {
            Self::Offsets(OffsetWidth::Two) => 2,
            Self::Offsets(OffsetWidth::Four) => 4,
            Self::Current | Self::Offsets(OffsetWidth::Eight) => ENTRY_LEN,
        }
    }

    /// The words of entries that are stored in this way.
    fn words(self, stored: Vec<u8>) -> Result<Vec<u8>> {
        if self.entry_len() < ENTRY_LEN {
            let mut words = Vec::with_capacity(stored.len().saturating_mul(ENTRY_LEN / 2));
            for offset in stored.chunks_exact(self.entry_len()) {
                words.extend_from_slice(offset);
                words.resize(words.len().next_multiple_of(ENTRY_LEN), 0);
            }
            return Ok(words);
        }
        let (words, _) = stored.as_chunks();
        let is_entry = |bits: u64| match self {
            Self::Current => Entry::from_bits(bits).is_some(),
            Self::Offsets(_) => bits & SPECIAL == 0,
        };
        let wrong = words.iter().map(|&word| u64::from_le_bytes(word)).find(|&bits| !is_entry(bits));
        match wrong {
            Some(bits) if self == Self::Current => {
                bail!(Corrupt, "frame index: {bits:#x} is no offset and no special value")
            }
            Some(bits) => bail!(Corrupt, "frame index: the offset {} is negative", bits.cast_signed()),
            None => Ok(stored),
        }
    }
}

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// All items are known.
    Special(Special),
    /// The offset of a chunk from the end of the header, or the number of its file.
    At(u64),
}

impl Entry {
    /// The entry that is stored as these bits; `None` if there is no such.
    fn from_bits(bits: u64) -> Option<Self> {
        Some(match bits {
            _ if bits & SPECIAL == 0 => Self::At(bits),
            _ if bits & ZEROS != 0 => Self::Special(Special::Zeros),
            _ if bits & UNINIT != 0 => Self::Special(Special::Uninit),
            _ if bits & NAN != 0 => Self::Special(Special::NaN),
            _ => return None,
        })
    }

    /// Where the chunk is, if it is anywhere.
    pub(crate) fn place(self) -> Option<u64> {
        if let Self::At(place) = self { Some(place) } else { None }
    }

    /// The same for a chunk that is elsewhere.
    pub(crate) fn map_place(self, change: impl FnOnce(u64) -> u64) -> Self {
        if let Self::At(place) = self { Self::At(change(place)) } else { self }
    }

    fn bits(self) -> u64 {
        match self {
            Self::At(offset) => offset,
            Self::Special(Special::NaN) => SPECIAL | NAN,
            Self::Special(Special::Uninit) => SPECIAL | UNINIT,
            Self::Special(Special::Zeros | Special::Value) => SPECIAL | ZEROS,
        }
    }
}

/// An index as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Packed(Arc<(Vec<u8>, OnceLock<u64>)>);

impl Packed {
    fn new(bytes: Vec<u8>) -> Self {
        Self(Arc::new((bytes, OnceLock::new())))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0.0
    }

    /// The XXH3 hash of the bytes.
    pub(crate) fn digest(&self) -> u64 {
        *self.0.1.get_or_init(|| xxh3_64(self.bytes()))
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes().len()
    }
}

/// The index: as it is stored, and decoded when it is first asked.
#[derive(Debug)]
pub(crate) struct Index {
    /// As it counts in the frame.
    committed: Packed,
    /// As it was packed last.
    packed: Packed,
    /// How often it has been packed.
    version: u64,
    /// The entries that have been changed since.
    changed: Range<usize>,
    len: usize,
    /// The entries, as the chunk holds them.
    words: OnceLock<Vec<u8>>,
    packer: Packer,
    coding: Coding,
    limits: Limits,
}

impl Index {
    /// The index of a frame without chunks.
    pub(crate) fn new() -> Self {
        Self::with(Vec::new(), 0, OnceLock::from(Vec::new()), Coding::Current, Limits::new())
    }

    fn with(packed: Vec<u8>, len: usize, words: OnceLock<Vec<u8>>, coding: Coding, limits: Limits) -> Self {
        let packed = Packed::new(packed);
        Self {
            committed: packed.clone(),
            packed,
            version: 0,
            changed: 0..0,
            len,
            words,
            packer: Packer::default(),
            coding,
            limits,
        }
    }

    /// The index that `bytes` start with.
    pub(crate) fn parse(bytes: &[u8], limits: Limits) -> Result<Self> {
        Self::parse_as(Coding::Current, bytes, limits)
    }

    /// The index that `bytes` start with, with entries that are stored in this way.
    pub(crate) fn parse_as(coding: Coding, bytes: &[u8], limits: Limits) -> Result<Self> {
        let entry_len = coding.entry_len();
        let chunk = Chunk::parse(bytes).map_err(|error| error.within("frame index"))?;
        let nbytes = chunk.header().nbytes();
        if !nbytes.is_multiple_of(entry_len) {
            bail!(Corrupt, "frame index: {nbytes} bytes are no whole entries of {entry_len}");
        }
        let len = nbytes.checked_div(entry_len).unwrap_or_default();
        limits.check("frame index", len.saturating_mul(ENTRY_LEN))?;
        limits.check_chunks(len as u64)?;
        Ok(Self::with(chunk.as_bytes().to_vec(), len, OnceLock::new(), coding, limits))
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// As it counts in the frame.
    pub(crate) fn committed(&self) -> &[u8] {
        self.committed.bytes()
    }

    /// The entries that count in the frame.
    pub(crate) fn committed_entries(&self) -> Result<Vec<Entry>> {
        if self.committed().is_empty() {
            return Ok(Vec::new());
        }
        Ok(Self::parse_as(self.coding, self.committed(), self.limits)?.entries()?.collect())
    }

    /// Takes notice of what has come to count.
    pub(crate) fn set_committed(&mut self, packed: Packed) {
        self.committed = packed;
    }

    /// How often it has been packed: what has been written of the same version is the same.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    fn words(&self) -> Result<&Vec<u8>> {
        if let Some(words) = self.words.get() {
            return Ok(words);
        }
        let words = decode(self.packed.bytes(), self.coding, self.limits)?;
        Ok(self.words.get_or_init(|| words))
    }

    pub(crate) fn entries(&self) -> Result<impl ExactSizeIterator<Item = Entry> + '_> {
        self.entries_from(0)
    }

    /// The entries behind the first `first`.
    pub(crate) fn entries_from(&self, first: usize) -> Result<impl ExactSizeIterator<Item = Entry> + '_> {
        let (words, _) = self.words()?.as_chunks();
        Ok(words.get(first..).unwrap_or_default().iter().map(|word| known_entry(*word)))
    }

    pub(crate) fn entry(&self, index: usize) -> Result<Entry> {
        let (words, _) = self.words()?.as_chunks();
        match words.get(index) {
            Some(word) => Ok(known_entry(*word)),
            None => bail!(InvalidArgument, "chunk {index} is asked for, there are {}", self.len),
        }
    }

    /// Puts entries in place of those at `range`.
    #[expect(clippy::expect_used, reason = "they have just been decoded")]
    pub(crate) fn splice(&mut self, range: Range<usize>, entries: impl ExactSizeIterator<Item = Entry>) -> Result<()> {
        self.words()?;
        let words = self.words.get_mut().expect("decoded");
        let keeps_others = range.len() == entries.len();
        words.splice(in_bytes(&range), entries.flat_map(|entry| entry.bits().to_le_bytes()));
        self.len = words.len().checked_div(ENTRY_LEN).unwrap_or_default();
        let changed = range.start..if keeps_others { range.end } else { usize::MAX };
        let start = if self.changed.is_empty() { changed.start } else { self.changed.start.min(changed.start) };
        self.changed = start..self.changed.end.max(changed.end);
        Ok(())
    }

    /// Makes the entries others.
    pub(crate) fn set(&mut self, entries: impl ExactSizeIterator<Item = Entry>) -> Result<()> {
        self.splice(0..self.len, entries)
    }

    /// The index as it is to be stored: nothing if there are no entries.
    pub(crate) fn pack(&mut self) -> Result<Packed> {
        if !self.changed.is_empty() {
            self.words()?;
            let words = self.words.get().map(Vec::as_slice).unwrap_or_default();
            let old = (self.packed.bytes(), in_bytes(&self.changed));
            self.packed = Packed::new(self.packer.pack(words, Some(old))?);
            self.version = self.version.wrapping_add(1);
            self.changed = 0..0;
        }
        Ok(self.packed.clone())
    }
}

fn in_bytes(entries: &Range<usize>) -> Range<usize> {
    entries.start.saturating_mul(ENTRY_LEN)..entries.end.saturating_mul(ENTRY_LEN)
}

/// The entry of a word; decoding has refused what is none.
fn known_entry(word: [u8; ENTRY_LEN]) -> Entry {
    let bits = u64::from_le_bytes(word);
    Entry::from_bits(bits).unwrap_or(Entry::At(bits))
}

/// The length that an index of `len` entries has at the most.
pub(crate) fn max_packed_len(len: usize) -> usize {
    len.saturating_mul(ENTRY_LEN).saturating_add(BLOSC2_LEN)
}

/// The words of an index that is stored as `packed`.
fn decode(packed: &[u8], coding: Coding, limits: Limits) -> Result<Vec<u8>> {
    let mut decompressor = Decompressor::new().with_threads(Threads::serial()).with_limits(limits);
    let bytes = decompressor.decompress(packed).map_err(|error| error.within("frame index"))?;
    coding.words(bytes)
}

/// A chunk of these entries.
pub(crate) fn pack(entries: impl Iterator<Item = Entry>) -> Result<Packed> {
    let words: Vec<u8> = entries.flat_map(|entry| entry.bits().to_le_bytes()).collect();
    Packer::default().pack(&words, None).map(Packed::new)
}

fn check_count(count: usize) -> Result<()> {
    if count > MAX_CHUNKS {
        bail!(InvalidArgument, "a frame has room for {MAX_CHUNKS} chunks, not for {count}");
    }
    Ok(())
}

/// Makes chunks of entries, and keeps what it needs for that.
#[derive(Debug, Default)]
struct Packer(Option<Box<Compressor>>);

impl Packer {
    /// A chunk of these words; `old` is an older one, and which bytes are not the same in it.
    fn pack(&mut self, words: &[u8], old: Option<(&[u8], Range<usize>)>) -> Result<Vec<u8>> {
        let count = words.len().checked_div(ENTRY_LEN).unwrap_or_default();
        if count == 0 {
            return Ok(Vec::new());
        }
        check_count(count)?;
        let compressor = match &mut self.0 {
            Some(compressor) => compressor,
            none => none.insert(Box::new(Compressor::new(options())?)),
        };
        match old.and_then(|(packed, changed)| Some((Chunk::parse(packed).ok()?, changed))) {
            Some((old, changed)) => compressor.compress_changed(words, &old, &changed),
            None => compressor.compress(words),
        }
    }
}

fn options() -> Options {
    Options::new(ENTRY_LEN).split(SplitMode::Never).blocksize(BLOCKSIZE).threads(Threads::serial())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter::once;

    fn entries() -> Vec<Entry> {
        vec![
            Entry::At(0),
            Entry::Special(Special::Zeros),
            Entry::Special(Special::NaN),
            Entry::Special(Special::Uninit),
            Entry::At(123_456),
        ]
    }

    #[test]
    fn entries_are_read_back() {
        let index = Index::parse(pack(entries().into_iter()).unwrap().bytes(), Limits::new()).unwrap();
        assert_eq!(index.len(), 5);
        assert!(index.entries().unwrap().eq(entries()));
        assert_eq!(index.entry(2).unwrap(), Entry::Special(Special::NaN));
        assert!(index.entry(5).is_err());
    }

    #[test]
    fn special_entries_have_the_bits_of_the_reference() {
        assert_eq!(Entry::Special(Special::Zeros).bits(), 0x8100_0000_0000_0000);
        assert_eq!(Entry::Special(Special::NaN).bits(), 0x8200_0000_0000_0000);
        assert_eq!(Entry::Special(Special::Uninit).bits(), 0x8400_0000_0000_0000);
    }

    #[test]
    fn a_word_that_is_no_entry_is_refused() {
        let words = [0, 1 << 63].map(u64::to_le_bytes);
        let packed = Packer::default().pack(words.as_flattened(), None).unwrap();
        let index = Index::parse(&packed, Limits::new()).unwrap();
        assert!(index.entry(0).unwrap_err().to_string().contains("0x8000000000000000"));
    }

    #[test]
    fn the_first_of_several_bits_decides_what_is_special() {
        let all = SPECIAL | ZEROS | NAN | UNINIT;
        assert_eq!(Entry::from_bits(all), Some(Entry::Special(Special::Zeros)));
        assert_eq!(Entry::from_bits(all & !ZEROS), Some(Entry::Special(Special::Uninit)));
        assert_eq!(Entry::from_bits(SPECIAL | NAN), Some(Entry::Special(Special::NaN)));
        assert_eq!(Entry::from_bits(all & !SPECIAL), Some(Entry::At(all & !SPECIAL)));
        assert_eq!(Entry::from_bits(SPECIAL | 1), None);
        assert_eq!(Entry::Special(Special::Value).bits(), SPECIAL | ZEROS);
    }

    #[test]
    fn only_a_chunk_that_is_somewhere_has_a_place() {
        let (at, special) = (Entry::At(7), Entry::Special(Special::NaN));
        assert_eq!((at.place(), special.place()), (Some(7), None));
        assert_eq!((at.map_place(|place| place + 1), special.map_place(|place| place + 1)), (Entry::At(8), special));
    }

    #[test]
    fn an_index_is_whole_entries_within_the_limits() {
        let packed = pack(entries().into_iter()).unwrap();
        assert!(packed.len() <= max_packed_len(5) && max_packed_len(5) == 40 + 32);
        let parse = |limits| Index::parse(packed.bytes(), limits).map(|index| index.len());
        assert_eq!(parse(Limits::new().max_allocation(40).max_chunks(5)).unwrap(), 5);
        assert!(parse(Limits::new().max_allocation(39)).is_err());
        assert!(parse(Limits::new().max_chunks(4)).is_err());
        let ragged = Compressor::new(options()).unwrap().compress(&[0; 12]).unwrap();
        let error = Index::parse(&ragged, Limits::new()).unwrap_err();
        assert_eq!(error.to_string(), "frame index: 12 bytes are no whole entries of 8");
        assert_eq!(Index::new().pack().unwrap().len(), 0);
    }

    #[test]
    fn an_index_has_as_many_entries_as_a_chunk_holds() {
        assert!(check_count(268_435_455).is_ok());
        let error = check_count(268_435_456).unwrap_err();
        assert_eq!(error.to_string(), "a frame has room for 268435455 chunks, not for 268435456");
        assert!(check_count(268_435_457).is_err());
    }

    #[test]
    fn what_has_been_changed_is_a_new_version_when_it_is_packed() {
        let mut index = Index::new();
        let mut versions = vec![index.version()];
        index.splice(0..0, once(Entry::At(5))).unwrap();
        versions.push(index.version());
        let packed = index.pack().unwrap();
        versions.push(index.version());
        index.pack().unwrap();
        versions.push(index.version());
        index.splice(0..1, once(Entry::At(6))).unwrap();
        index.pack().unwrap();
        versions.push(index.version());
        assert_eq!(versions, [0, 0, 1, 1, 2]);
        assert_eq!((packed.digest(), packed.len()), (xxh3_64(packed.bytes()), packed.bytes().len()));
        assert_eq!(index.committed_entries().unwrap(), []);
        index.set_committed(packed.clone());
        assert_eq!(index.committed(), packed.bytes());
        assert_eq!(index.committed_entries().unwrap(), [Entry::At(5)]);
    }

    #[test]
    fn entries_behind_the_first_are_read_and_replaced() {
        let mut index = Index::parse(pack(entries().into_iter()).unwrap().bytes(), Limits::new()).unwrap();
        assert!(index.entries_from(3).unwrap().eq(entries().into_iter().skip(3)));
        assert_eq!(index.entries_from(6).unwrap().len(), 0);
        index.splice(4..5, [Entry::At(1), Entry::At(2)].into_iter()).unwrap();
        assert_eq!((index.len(), index.entry(4).unwrap(), index.entry(5).unwrap()), (6, Entry::At(1), Entry::At(2)));
        index.splice(6..6, once(Entry::At(3))).unwrap();
        assert_eq!((index.len(), index.entry(6).unwrap()), (7, Entry::At(3)));
        let anew = pack(index.entries().unwrap()).unwrap();
        assert_eq!(index.pack().unwrap().bytes(), anew.bytes());
        assert!(index.committed_entries().unwrap().into_iter().eq(entries()), "what counts is as before");
    }

    #[test]
    fn what_is_packed_after_changes_is_what_would_be_packed_anew() {
        let mut index = Index::new();
        let mut model = Vec::new();
        let mut seed = 1_u64;
        for step in 0..3000_u64 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 33).unwrap() % (model.len() + 1);
            match seed >> 62 {
                0 if at < model.len() => {
                    model[at] = Entry::At(step);
                    index.splice(at..at + 1, once(Entry::At(step))).unwrap();
                }
                1 if at < model.len() && step > 2500 => {
                    model.remove(at);
                    index.splice(at..at + 1, std::iter::empty()).unwrap();
                }
                2 if step % 50 == 0 => {
                    model.insert(at, Entry::Special(Special::Zeros));
                    index.splice(at..at, once(Entry::Special(Special::Zeros))).unwrap();
                }
                _ => {
                    model.push(Entry::At(step * 1000));
                    index.splice(index.len()..index.len(), once(Entry::At(step * 1000))).unwrap();
                }
            }
            if step % 7 == 0 {
                assert_eq!(index.pack().unwrap().bytes(), pack(model.iter().copied()).unwrap().bytes());
            }
        }
        assert!(index.entries().unwrap().eq(model.iter().copied()));
        index.set(entries().into_iter()).unwrap();
        assert_eq!(index.pack().unwrap().bytes(), pack(entries().into_iter()).unwrap().bytes());
    }
}
