//! The index of a frame: for each chunk where it is, or what it is if it is nowhere.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod changes;
mod entries;
mod entry;
mod packer;
mod word_sum;

pub(in crate::frame) use changes::Changes;
pub(crate) use entries::ENTRY_LEN;
pub(in crate::frame) use entry::{Coding, Entry, OffsetWidth};
pub(in crate::frame) use packer::MAX_CHUNKS;
pub(in crate::frame) use word_sum::{WordSum, sum_of, words_from};

use self::entries::Entries;
use self::packer::{BLOCKSIZE, Packer, check_count};
use crate::chunk::{BLOSC2_LEN, Chunk, Decompressor, Header};
use crate::error::{Result, bail};
use crate::exec::Threads;
use crate::limits::Limits;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Single entries are looked up by decoding their blocks alone until that has been done for each of
/// so many blocks: all looks together take a part of the time of decoding everything.
const BLOCKS_OF_A_LOOK: usize = 4;

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

    /// The same, read-only; what both have in common is shared.
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

    /// Notes what has been committed.
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
    pub(crate) fn offsets(&self) -> Result<impl Iterator<Item = u64> + '_> {
        Ok(self.runs()?.filter_map(|(_, entry)| entry.offset()))
    }

    /// How many entries have a place.
    pub(crate) fn stored(&self) -> Result<usize> {
        Ok(self.runs()?.filter(|(_, entry)| entry.offset().is_some()).map(|(range, _)| range.len()).sum())
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

    /// Relocates chunks: `change` maps each of [`offsets`](Self::offsets), in order.
    pub(crate) fn relocate(&mut self, mut change: impl FnMut(u64) -> u64) -> Result<()> {
        let mut moved = Entries::default();
        let mut first = None;
        for (range, entry) in self.runs()? {
            let to = entry.map_offset(&mut change);
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
pub(in crate::frame) fn stored_digest(bytes: &[u8]) -> Option<u64> {
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
    entry::append_words(entries.map(Entry::bits), &mut words);
    Packer::default().pack(&words, None).map(Packed::new)
}

#[cfg(test)]
mod tests;
