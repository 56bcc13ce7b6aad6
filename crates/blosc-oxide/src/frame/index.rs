//! The index of a frame: for each chunk where it is, or what it is if it is nowhere.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::entries::Entries;
use super::words::{Changes, WordSum, sum_of, words_from};
use crate::chunk::{BLOSC2_LEN, Chunk, Compressor, Decompressor, Header, Options, Special, SplitMode};
use crate::error::{Error, Result, bail, error};
use crate::exec::Threads;
use crate::limits::Limits;
use crate::schunk::{Slot, Staged};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The size of an entry.
pub(crate) const ENTRY_LEN: usize = 8;
/// The most chunks a frame can have.
pub(super) const MAX_CHUNKS: usize = i32::MAX as usize / ENTRY_LEN;
/// What the reference uses; small blocks make single entries cheap.
const BLOCKSIZE: usize = 16 << 10;
/// Up to this many entries are put side by side to be packed. More of them may be a few long runs,
/// which take far less.
const MAX_WHOLE: usize = 1 << 20;

/// Single entries are looked up by decoding their blocks alone until that has been done for each of
/// so many blocks: all looks together take a part of the time of decoding everything.
const BLOCKS_OF_A_LOOK: usize = 4;

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

    /// Appends entries that are stored in this way.
    fn append(self, stored: &[u8], entries: &mut Entries) {
        let entry_len = self.entry_len();
        if entry_len == ENTRY_LEN {
            let (words, _) = stored.as_chunks();
            return append_words(words.iter().map(|&word| u64::from_le_bytes(word)), entries);
        }
        let word = |offset: &[u8]| offset.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        append_words(stored.chunks_exact(entry_len).map(word), entries);
    }

    /// The entry that is stored as these bits.
    fn entry(self, bits: u64) -> Entry {
        match self {
            Self::Offsets(_) if bits & SPECIAL != 0 => Entry::Wrong(bits),
            _ => Entry::from_bits(bits),
        }
    }

    /// What is wrong with bits that are no entry.
    fn wrong(self, bits: u64) -> Error {
        match self {
            Self::Current => error!(Corrupt, "frame index: {bits:#x} is no offset and no special value"),
            Self::Offsets(_) => error!(Corrupt, "frame index: the offset {} is negative", bits.cast_signed()),
        }
    }
}

/// Appends words, run by run.
fn append_words(words: impl Iterator<Item = u64>, entries: &mut Entries) {
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
    fn from_bits(bits: u64) -> Self {
        match bits {
            _ if bits & SPECIAL == 0 => Self::At(bits),
            _ if bits & ZEROS != 0 => Self::Special(Special::Zeros),
            _ if bits & UNINIT != 0 => Self::Special(Special::Uninit),
            _ if bits & NAN != 0 => Self::Special(Special::NaN),
            _ => Self::Wrong(bits),
        }
    }

    /// Where the chunk is, if it is anywhere.
    pub(crate) fn place(self) -> Option<u64> {
        if let Self::At(place) = self { Some(place) } else { None }
    }

    /// The same for a chunk that is elsewhere.
    pub(crate) fn map_place(self, change: impl FnOnce(u64) -> u64) -> Self {
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

    fn bits(self) -> u64 {
        match self {
            Self::At(bits) | Self::Wrong(bits) => bits,
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
    /// As it counts in the frame; `None` if that is only known to the storage.
    committed: Option<Packed>,
    /// As it was packed last.
    packed: Packed,
    /// How often it has been packed.
    version: u64,
    /// The entries that have been changed since.
    changed: Range<usize>,
    /// Those that have been changed since somebody [took](Self::take_changes) them.
    changes: Changes,
    sum: WordSum,
    len: usize,
    entries: OnceLock<Entries>,
    /// How many entries may still be looked up before all are decoded.
    looks: AtomicUsize,
    packer: Packer,
    coding: Coding,
    limits: Limits,
}

impl Index {
    /// The index of a frame without chunks.
    pub(crate) fn new() -> Self {
        Self::with(Vec::new(), 0, OnceLock::from(Entries::default()), Coding::Current, Limits::new())
    }

    fn with(packed: Vec<u8>, len: usize, entries: OnceLock<Entries>, coding: Coding, limits: Limits) -> Self {
        let packed = Packed::new(packed);
        Self {
            committed: Some(packed.clone()),
            packed,
            version: 0,
            changed: 0..0,
            changes: Changes::default(),
            sum: WordSum::default(),
            len,
            entries,
            looks: AtomicUsize::new(0),
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
        limits.check_chunks(len as u64)?;
        let nblocks = chunk.header().nblocks();
        let index = Self::with(chunk.as_bytes().to_vec(), len, OnceLock::new(), coding, limits);
        Ok(Self { looks: AtomicUsize::new(nblocks.checked_div(BLOCKS_OF_A_LOOK).unwrap_or_default()), ..index })
    }

    /// The same, for somebody who only reads it: what both have in common is shared.
    pub(crate) fn share(&self) -> Self {
        Self {
            committed: self.committed.clone(),
            packed: self.packed.clone(),
            version: self.version,
            changed: 0..0,
            changes: Changes::default(),
            sum: WordSum::default(),
            len: self.len,
            entries: self.entries.clone(),
            looks: AtomicUsize::new(self.looks.load(Ordering::Relaxed)),
            packer: Packer::default(),
            coding: self.coding,
            limits: self.limits,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// As it counts in the frame; `None` if that is only known to the storage.
    pub(crate) fn committed(&self) -> Option<&[u8]> {
        self.committed.as_ref().map(Packed::bytes)
    }

    /// The index that is stored in these bytes, and counts in the frame.
    pub(crate) fn as_committed(&self, stored: &[u8]) -> Result<Self> {
        if stored.is_empty() {
            return Ok(Self::new());
        }
        Self::parse_as(self.coding, stored, self.limits)
    }

    /// Takes notice of what has come to count.
    pub(crate) fn set_committed(&mut self, packed: Option<Packed>) {
        self.committed = packed;
    }

    /// How often it has been packed: what has been written of the same version is the same.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    fn decoded(&self) -> Result<&Entries> {
        if let Some(entries) = self.entries.get() {
            return Ok(entries);
        }
        let entries = decode(self.packed.bytes(), self.coding, self.limits)?;
        Ok(self.entries.get_or_init(|| entries))
    }

    pub(crate) fn entries(&self) -> Result<impl ExactSizeIterator<Item = Entry> + '_> {
        self.entries_from(0)
    }

    /// The entries behind the first `first`.
    pub(crate) fn entries_from(&self, first: usize) -> Result<impl ExactSizeIterator<Item = Entry> + '_> {
        Ok(self.decoded()?.words(first).map(|word| self.coding.entry(word)))
    }

    /// Entries in a row that are the same, and how many, one row after the other.
    pub(crate) fn runs(&self) -> Result<impl Iterator<Item = (Range<usize>, Entry)> + '_> {
        Ok(self.decoded()?.runs(0).map(|(range, word)| (range, self.coding.entry(word))))
    }

    /// The places of chunks, in order; one that comes several times in a row comes once.
    pub(crate) fn places(&self) -> Result<impl Iterator<Item = u64> + '_> {
        Ok(self.runs()?.filter_map(|(_, entry)| entry.place()))
    }

    /// How many entries have a place.
    pub(crate) fn stored(&self) -> Result<usize> {
        Ok(self.runs()?.filter(|(_, entry)| entry.place().is_some()).map(|(range, _)| range.len()).sum())
    }

    /// An entry, which there must be and which must be one.
    pub(crate) fn entry(&self, index: usize) -> Result<Entry> {
        let word = match self.look(index)? {
            None => self.decoded()?.get(index),
            word => word,
        };
        self.known(index, word)
    }

    /// An entry of an index that has not been decoded, and need not be for it. Few of millions are
    /// wanted where a slice is read.
    fn look(&self, index: usize) -> Result<Option<u64>> {
        let may_look = index < self.len && self.coding.entry_len() == ENTRY_LEN && self.entries.get().is_none();
        let take = |left: usize| left.checked_sub(1);
        if !may_look || self.looks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return Ok(None);
        }
        let mut word = [0; ENTRY_LEN];
        let chunk = Chunk::parse(self.packed.bytes()).map_err(|error| error.within("frame index"))?;
        let from = index.saturating_mul(ENTRY_LEN);
        decompressor(self.limits).bytes_into(&chunk, from, &mut word).map_err(|error| error.within("frame index"))?;
        Ok(Some(u64::from_le_bytes(word)))
    }

    fn known(&self, index: usize, word: Option<u64>) -> Result<Entry> {
        match word.map(|word| self.coding.entry(word)) {
            Some(Entry::Wrong(bits)) => Err(self.coding.wrong(bits)),
            Some(entry) => Ok(entry),
            None => bail!(InvalidArgument, "chunk {index} is asked for, there are {}", self.len),
        }
    }

    /// The same, and where the row of the same entries ends that it is in.
    pub(crate) fn run(&self, index: usize) -> Result<(Entry, usize)> {
        let (word, end) = self.decoded()?.run(index).unzip();
        Ok((self.known(index, word)?, end.unwrap_or_default()))
    }

    /// Puts rows of entries in place of those at `range`.
    #[expect(clippy::expect_used, reason = "they have just been decoded")]
    pub(crate) fn splice(&mut self, range: Range<usize>, new: impl Iterator<Item = (Entry, usize)>) -> Result<()> {
        self.decoded()?;
        let new: Vec<(u64, usize)> = new.map(|(entry, count)| (entry.bits(), count)).collect();
        let entries = self.entries.get_mut().expect("decoded");
        let (before, old) = (entries.len(), entries.words(range.start));
        if new.iter().map(|(_, count)| count).sum::<usize>() == range.len() {
            let new = new.iter().flat_map(|&(word, count)| std::iter::repeat_n(word, count));
            self.sum.replace(range.start, old.take(range.len()), new);
        } else {
            self.sum.forget_from(range.start, old);
        }
        entries.splice(range.clone(), new.into_iter());
        self.len = entries.len();
        self.note_change(range.start..if self.len == before { range.end } else { usize::MAX });
        Ok(())
    }

    /// Puts entries that are the same in front of another, or at the end.
    pub(crate) fn insert_run(&mut self, index: usize, entry: Entry, count: usize) -> Result<()> {
        self.splice(index..index, std::iter::once((entry, count)))
    }

    /// Gives the chunks other places: `change` is told each of [`places`](Self::places), in order.
    pub(crate) fn move_places(&mut self, mut change: impl FnMut(u64) -> u64) -> Result<()> {
        let mut moved = Entries::default();
        let mut first = None;
        for (range, entry) in self.runs()? {
            let to = entry.map_place(&mut change);
            if to != entry {
                first.get_or_insert(range.start);
            }
            moved.push_run(to.bits(), range.len());
        }
        if let Some(first) = first {
            self.entries = OnceLock::from(moved);
            self.sum = WordSum::default();
            self.note_change(first..self.len);
        }
        Ok(())
    }

    fn note_change(&mut self, changed: Range<usize>) {
        self.changes.note(changed.clone());
        let start = if self.changed.is_empty() { changed.start } else { self.changed.start.min(changed.start) };
        self.changed = start..self.changed.end.max(changed.end);
    }

    /// The index as it is to be stored: nothing if there are no entries.
    pub(crate) fn pack(&mut self) -> Result<Packed> {
        if !self.changed.is_empty() {
            self.decoded()?;
            let old = (self.packed.bytes(), in_bytes(&self.changed));
            let packed = match self.entries.get() {
                Some(entries) => self.packer.pack(entries, Some(old))?,
                None => Vec::new(),
            };
            self.packed = Packed::new(packed);
            self.version = self.version.wrapping_add(1);
            self.changed = 0..0;
        }
        Ok(self.packed.clone())
    }
}

/// An index whose entries are stored as they are, so that a part of it can be written.
impl Index {
    /// The entries that have been changed since this was asked last.
    pub(crate) fn take_changes(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    /// What comes before the entries.
    pub(crate) fn stored_head(&mut self) -> Result<[u8; BLOSC2_LEN]> {
        check_count(self.len)?;
        self.packer.compressor()?.stored_head(self.len.saturating_mul(ENTRY_LEN))
    }

    /// What the fingerprint covers of it.
    pub(crate) fn stored_digest(&mut self) -> Result<u64> {
        let head = self.stored_head()?;
        self.decoded()?;
        let sum = match self.entries.get() {
            Some(entries) => self.sum.total(self.len, |first| entries.words(first)),
            None => 0,
        };
        Ok(digest_of(&head, sum))
    }

    /// Appends entries as they are stored.
    pub(crate) fn append_stored(&self, range: Range<usize>, bytes: &mut Vec<u8>) -> Result<()> {
        self.decoded()?.append_bytes(range, bytes);
        Ok(())
    }
}

fn digest_of(head: &[u8], sum: u64) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(head);
    hasher.update(&sum.to_le_bytes());
    hasher.digest()
}

/// What the fingerprint covers of an index that `bytes` start with and whose entries are stored as
/// they are; `None` if they are not.
pub(super) fn stored_digest(bytes: &[u8]) -> Option<u64> {
    let header = Header::parse(bytes).ok()?;
    let is_stored = header.is_memcpyed() && header.header_len() == BLOSC2_LEN;
    let (head, entries) = bytes.get(..header.cbytes())?.split_at_checked(BLOSC2_LEN)?;
    is_stored.then(|| digest_of(head, sum_of(0, words_from(entries, 0))))
}

fn in_bytes(entries: &Range<usize>) -> Range<usize> {
    entries.start.saturating_mul(ENTRY_LEN)..entries.end.saturating_mul(ENTRY_LEN)
}

/// The length that an index of `len` entries has at the most.
pub(crate) fn max_packed_len(len: usize) -> usize {
    len.saturating_mul(ENTRY_LEN).saturating_add(BLOSC2_LEN)
}

/// What decodes blocks of an index: a block is there before and after its filter, and perhaps the
/// first one too.
fn decompressor(limits: Limits) -> Decompressor {
    Decompressor::new().with_threads(Threads::serial()).with_limits(limits.share(3))
}

/// The entries of an index that is stored as `packed`, decoded block by block.
fn decode(packed: &[u8], coding: Coding, limits: Limits) -> Result<Entries> {
    let mut decompressor = decompressor(limits);
    let mut entries = Entries::default();
    let chunk = Chunk::parse(packed).map_err(|error| error.within("frame index"))?;
    // Parts of entries that are in one block and in the next.
    let mut rest = Vec::new();
    let decoded = decompressor.pieces(&chunk, BLOCKSIZE, |piece| {
        if rest.is_empty() && piece.len().is_multiple_of(coding.entry_len()) {
            coding.append(piece, &mut entries);
        } else {
            rest.extend_from_slice(piece);
            let whole = rest.len().checked_next_multiple_of(coding.entry_len()).unwrap_or_default();
            let whole = if whole == rest.len() { whole } else { whole.saturating_sub(coding.entry_len()) };
            let next = rest.split_off(whole);
            coding.append(&std::mem::replace(&mut rest, next), &mut entries);
        }
        limits.check("frame index", entries.memory())
    });
    decoded.map_err(|error| error.within("frame index"))?;
    Ok(entries)
}

/// A chunk of these entries.
#[cfg(test)]
fn pack(entries: impl Iterator<Item = Entry>) -> Result<Packed> {
    let mut words = Entries::default();
    append_words(entries.map(Entry::bits), &mut words);
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
    fn compressor(&mut self) -> Result<&mut Compressor> {
        Ok(match &mut self.0 {
            Some(compressor) => compressor,
            none => none.insert(Box::new(Compressor::new(options())?)),
        })
    }

    /// A chunk of these entries; `old` is an older one, and which bytes are not the same in it.
    fn pack(&mut self, entries: &Entries, old: Option<(&[u8], Range<usize>)>) -> Result<Vec<u8>> {
        if entries.len() == 0 {
            return Ok(Vec::new());
        }
        check_count(entries.len())?;
        let compressor = self.compressor()?;
        let old = old.and_then(|(packed, changed)| Some((Chunk::parse(packed).ok()?, changed)));
        if entries.len() > MAX_WHOLE
            && let Some(packed) = pack_by_blocks(compressor, entries, &old)?
        {
            return Ok(packed);
        }
        let mut words = Vec::with_capacity(entries.len().saturating_mul(ENTRY_LEN));
        entries.append_bytes(0..entries.len(), &mut words);
        match old {
            Some((old, changed)) => compressor.compress_changed(&words, &old, &changed),
            None => compressor.compress(&words),
        }
    }
}

/// The same without having all words side by side; `None` if that takes more room than the words.
fn pack_by_blocks(
    compressor: &mut Compressor,
    entries: &Entries,
    old: &Option<(Chunk<'_>, Range<usize>)>,
) -> Result<Option<Vec<u8>>> {
    let old = old.as_ref().map(|(old, changed)| (old, changed.clone()));
    compressor.compress_by_blocks(entries.len().saturating_mul(ENTRY_LEN), old, &mut |from, block| {
        let first = from.checked_div(ENTRY_LEN).unwrap_or_default();
        let (places, _) = block.as_chunks_mut();
        for (place, word) in places.iter_mut().zip(entries.words(first)) {
            *place = word.to_le_bytes();
        }
        let (word, end) = entries.run(first)?;
        (end.saturating_sub(first) >= places.len()).then_some(word)
    })
}

fn options() -> Options {
    Options::new(ENTRY_LEN).with_split(SplitMode::Never).with_blocksize(BLOCKSIZE).with_threads(Threads::serial())
}

#[cfg(test)]
mod tests;
