//! A journal at the end of a file: what is about to be overwritten, and with what.
//!
//! An append has to overwrite bytes that are in use: the last chunk, the offsets, the header.
//! Before the first of them is touched, all of these changes stand after the end of the data and
//! are synced. From then on the file has its new content, whoever opens it: [`Recovered`] puts the
//! changes over what is read, [`Journal::apply`] makes them for good and takes the journal away.
//! Other readers do not look at what comes after the last chunk.
//!
//! ```text
//! | patch | patch | ... | start u64 | len u64 | patches u32 | crc32 u32 | "blpkjrnl" |
//! patch: | at u64 | length u64 | old bytes | new bytes |
//! ```
//! `start` is where the first patch stands, `len` the length of the file without its journal; the
//! CRC-32 covers everything from `start` up to itself.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::bytes::{le_u32, le_u64};
use crate::error::Result;
use crate::limits::Limits;
use crate::storage::{ReadAt, Storage, read_exact};
use std::io;

/// What errors call it.
const WHAT: &str = "the journal of a change";
const MAGIC: &[u8; 8] = b"blpkjrnl";
/// The length of what comes after the patches.
pub(in crate::bloscpack) const FOOTER_LEN: usize = 32;
const CRC_FROM_END: usize = 12;
const PATCH_HEADER_LEN: usize = 16;

/// Bytes that take the place of others, as many as before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::bloscpack) struct Patch {
    at: u64,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl Patch {
    /// The change of what now stands at `at` to `new`.
    pub(in crate::bloscpack) fn over(source: &dyn ReadAt, at: u64, new: Vec<u8>) -> Result<Self> {
        let mut old = vec![0; new.len()];
        read_exact(source, at, &mut old, "what is to be overwritten")?;
        Ok(Self { at, old, new })
    }

    /// What will be read at `at`, for those who do not care what stands there now.
    pub(in crate::bloscpack) fn new(at: u64, new: Vec<u8>) -> Self {
        Self { at, old: Vec::new(), new }
    }

    pub(in crate::bloscpack) fn new_bytes(&self) -> &[u8] {
        &self.new
    }

    fn end(&self) -> u64 {
        self.at.saturating_add(self.new.len() as u64)
    }

    /// Whether every byte of what stands there now is the old or the new one, however far the
    /// change has come.
    fn is_under_way(&self, source: &dyn ReadAt) -> Result<bool> {
        let mut found = vec![0; self.new.len()];
        read_exact(source, self.at, &mut found, "what the journal covers")?;
        let mut bytes = found.iter().zip(&self.old).zip(&self.new);
        Ok(bytes.all(|((found, old), new)| found == old || found == new))
    }
}

/// All changes that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::bloscpack) struct Journal {
    patches: Vec<Patch>,
    /// The length of the file once it is done.
    len: u64,
}

impl Journal {
    pub(in crate::bloscpack) fn new(patches: Vec<Patch>, len: u64) -> Self {
        Self { patches, len }
    }

    /// The journal at the end of `source`, if there is a whole one and it belongs to what stands
    /// before it.
    pub(in crate::bloscpack) fn find(source: &dyn ReadAt, limits: Limits) -> Result<Option<Self>> {
        let file_len = source.len()?;
        let Some(footer_at) = file_len.checked_sub(FOOTER_LEN as u64) else { return Ok(None) };
        let mut footer = [0; FOOTER_LEN];
        read_exact(source, footer_at, &mut footer, "the end of the file")?;
        if !footer.ends_with(MAGIC) {
            return Ok(None);
        }
        let start = le_u64(&footer, 0).unwrap_or(u64::MAX);
        let Some(len) = file_len.checked_sub(start).and_then(|len| usize::try_from(len).ok()) else {
            return Ok(None);
        };
        limits.check(WHAT, len)?;
        let mut bytes = vec![0; len];
        read_exact(source, start, &mut bytes, WHAT)?;
        match Self::decode(&bytes, start) {
            Some(journal) if journal.belongs_to(source)? => Ok(Some(journal)),
            _ => Ok(None),
        }
    }

    /// Another program may have written to the file since; its changes must not be undone.
    fn belongs_to(&self, source: &dyn ReadAt) -> Result<bool> {
        for patch in &self.patches {
            if !patch.is_under_way(source)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether `tail`, the last bytes of a file of length `file_len` whose chunks end at
    /// `chunks_end`, may end with a journal that counts.
    pub(in crate::bloscpack) fn may_count(tail: &[u8], chunks_end: u64, file_len: u64) -> bool {
        let Some(footer) = tail.len().checked_sub(FOOTER_LEN).and_then(|at| tail.get(at..)) else { return false };
        if !footer.ends_with(MAGIC) {
            return false;
        }
        let start = le_u64(footer, 0).filter(|&start| start >= chunks_end).unwrap_or(u64::MAX);
        let len = file_len.checked_sub(start).and_then(|len| usize::try_from(len).ok());
        match len.map(|len| tail.len().checked_sub(len).and_then(|at| tail.get(at..))) {
            None => false,
            Some(Some(bytes)) => Self::decode(bytes, start).is_some(),
            // Too long to be looked at.
            Some(None) => true,
        }
    }

    fn decode(bytes: &[u8], start: u64) -> Option<Self> {
        let covered = bytes.len().checked_sub(CRC_FROM_END)?;
        if crc32fast::hash(bytes.get(..covered)?) != le_u32(bytes, covered)? {
            return None;
        }
        let footer = bytes.len().checked_sub(FOOTER_LEN)?;
        let len = le_u64(bytes, footer.checked_add(8)?)?;
        let count = le_u32(bytes, footer.checked_add(16)?)?;
        let mut rest = bytes.get(..footer)?;
        let mut patches = Vec::new();
        for _ in 0..count {
            let (patch, after) = decode_patch(rest)?;
            patches.push(patch);
            rest = after;
        }
        let fits = rest.is_empty() && len <= start && patches.iter().all(|patch| patch.end() <= len);
        fits.then_some(Self { patches, len })
    }

    /// The bytes of a journal that will stand at `start`.
    pub(in crate::bloscpack) fn encode(&self, start: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for patch in &self.patches {
            bytes.extend(patch.at.to_le_bytes());
            bytes.extend((patch.new.len() as u64).to_le_bytes());
            bytes.extend_from_slice(&patch.old);
            bytes.extend_from_slice(&patch.new);
        }
        bytes.extend(start.to_le_bytes());
        bytes.extend(self.len.to_le_bytes());
        bytes.extend(u32::try_from(self.patches.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }

    /// Puts the journal in place, which makes its changes valid. The data that they refer to must
    /// be synced already, and `start` be beyond everything that is in use before or after. Whoever
    /// reads it has the same `limits`.
    pub(in crate::bloscpack) fn write(&self, storage: &mut dyn Storage, start: u64, limits: Limits) -> Result<()> {
        let bytes = self.encode(start);
        limits.check(WHAT, bytes.len())?;
        let written = storage.write_at(start, &bytes).and_then(|()| storage.sync());
        written.map_err(|error| {
            // Whoever is told of an error will try again: the changes must not come true behind
            // their back, not after a loss of power either.
            let _ = storage.set_len(start).and_then(|()| storage.sync());
            error.into()
        })
    }

    /// Makes the changes of a journal that was just put in place.
    pub(in crate::bloscpack) fn finish(&self, storage: &mut dyn Storage) -> Result<()> {
        self.apply(storage)
            .map_err(|error| error.within("the change is made, but its journal could not be cleared away"))
    }

    /// Makes the changes of a journal that is in place, and takes it away. Doing it again does no
    /// harm.
    pub(in crate::bloscpack) fn apply(&self, storage: &mut dyn Storage) -> Result<()> {
        for patch in &self.patches {
            storage.write_at(patch.at, &patch.new)?;
        }
        storage.sync()?;
        storage.set_len(self.len)?;
        storage.sync()?;
        Ok(())
    }
}

fn decode_patch(bytes: &[u8]) -> Option<(Patch, &[u8])> {
    let at = le_u64(bytes, 0)?;
    let len = usize::try_from(le_u64(bytes, 8)?).ok()?;
    let (old, rest) = bytes.get(PATCH_HEADER_LEN..)?.split_at_checked(len)?;
    let (new, rest) = rest.split_at_checked(len)?;
    Some((Patch { at, old: old.to_vec(), new: new.to_vec() }, rest))
}

/// A file as its journal, if it has one, says that it is.
#[derive(Debug)]
pub(in crate::bloscpack) struct Recovered<S> {
    inner: S,
    patches: Vec<Patch>,
    len: u64,
    has_journal: bool,
}

impl<S: ReadAt> Recovered<S> {
    pub(in crate::bloscpack) fn new(inner: S, limits: Limits) -> Result<Self> {
        Ok(match Journal::find(&inner, limits)? {
            Some(journal) => Self { inner, patches: journal.patches, len: journal.len, has_journal: true },
            None => Self { len: inner.len()?, inner, patches: Vec::new(), has_journal: false },
        })
    }

    /// The file with `patches` made, and nothing beyond `len`.
    pub(in crate::bloscpack) fn with_patches(inner: S, patches: Vec<Patch>, len: u64) -> Self {
        Self { inner, patches, len, has_journal: false }
    }

    pub(in crate::bloscpack) fn has_journal(&self) -> bool {
        self.has_journal
    }
}

impl<S: ReadAt> ReadAt for Recovered<S> {
    fn len(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        let end = position.checked_add(buffer.len() as u64);
        if end.is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.inner.read_at(position, buffer)?;
        for patch in &self.patches {
            overlay(patch, position, buffer);
        }
        Ok(())
    }
}

/// Puts what `patch` and `buffer`, which starts at `position`, have in common into `buffer`.
fn overlay(patch: &Patch, position: u64, buffer: &mut [u8]) {
    let into = usize::try_from(patch.at.saturating_sub(position)).unwrap_or(usize::MAX);
    let from = usize::try_from(position.saturating_sub(patch.at)).unwrap_or(usize::MAX);
    if let (Some(to), Some(new)) = (buffer.get_mut(into..), patch.new.get(from..)) {
        to.iter_mut().zip(new).for_each(|(to, &new)| *to = new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStorage;

    fn journal(file: &[u8]) -> Journal {
        let source = MemoryStorage::new(file.to_vec());
        let patch = |at, new: &[u8]| Patch::over(&source, at, new.to_vec()).unwrap();
        Journal::new(vec![patch(2, b"XY"), patch(7, b"Z")], 9)
    }

    fn with_journal() -> Vec<u8> {
        let mut file = b"0123456789".to_vec();
        file.extend(journal(&file).encode(10));
        file
    }

    fn content(file: &[u8]) -> Vec<u8> {
        let recovered = Recovered::new(MemoryStorage::new(file.to_vec()), Limits::new()).unwrap();
        let mut content = vec![0; usize::try_from(recovered.len().unwrap()).unwrap()];
        recovered.read_at(0, &mut content).unwrap();
        content
    }

    #[test]
    fn a_whole_journal_is_the_new_content() {
        assert_eq!(content(&with_journal()), b"01XY456Z8");
        let mut storage = MemoryStorage::new(with_journal());
        Journal::find(&storage, Limits::new()).unwrap().unwrap().apply(&mut storage).unwrap();
        assert_eq!(storage.to_bytes(), b"01XY456Z8");
    }

    #[test]
    fn any_read_sees_the_changes_that_it_touches() {
        let recovered = Recovered::new(MemoryStorage::new(with_journal()), Limits::new()).unwrap();
        for start in 0..9 {
            for end in start..=9 {
                let mut found = vec![0; end - start];
                recovered.read_at(start as u64, &mut found).unwrap();
                assert_eq!(found, b"01XY456Z8"[start..end]);
            }
        }
        assert!(recovered.read_at(9, &mut [0]).is_err());
    }

    #[test]
    fn a_journal_that_is_cut_or_damaged_is_none() {
        let file = with_journal();
        for end in 10..file.len() {
            assert_eq!(content(&file[..end]), file[..end], "cut at {end}");
        }
        for at in 10..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert_eq!(content(&damaged), damaged, "byte {at}");
        }
    }

    #[test]
    fn a_journal_over_changes_that_are_half_made_still_counts() {
        let mut file = with_journal();
        file[3] = b'Y';
        assert_eq!(content(&file), b"01XY456Z8");
        file[7] = b'Z';
        assert_eq!(content(&file), b"01XY456Z8");
    }

    #[test]
    fn a_journal_of_a_file_that_was_changed_since_does_not_count() {
        let mut file = with_journal();
        file[7] = b'!';
        assert_eq!(content(&file), file);
    }
}
