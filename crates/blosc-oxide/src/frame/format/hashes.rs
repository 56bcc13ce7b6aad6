//! The hashes of the chunks, in a variable-length metalayer of ours; the reference ignores them.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::index::{Changes, WordSum, sum_of, words_from};
use crate::bytes::msgpack::{Reader, Writer, marker};
use crate::chunk::{BLOSC2_LEN, Compressor, Header, Options};
use crate::error::{Result, bail};
use crate::exec::Threads;
use crate::limits::Limits;
use crate::storage::{ReadAt, read_exact};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The metalayer of the hashes of chunks.
pub(crate) const LAYER_NAME: &str = crate::schunk::RESERVED_NAME;
const ARRAY_4: u8 = marker::FIXARRAY | 4;
const ALGORITHM: &str = "xxh3_64";
const HASH_LEN: usize = 8;
/// What a metalayer has before the hashes.
const LAYER_START: usize = 24;
/// Spare capacity for hashes that are appended to those that were read.
const SPARE: usize = 4 << 10;

/// How an index and hashes are stored, and so which hash of them the fingerprint covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Written as a whole: XXH3 of the bytes.
    Whole,
    /// Written in parts, as words: the sum of the hashes of the words.
    Words,
}

impl Form {
    /// The version of the metalayer of hashes.
    fn layer_version(self) -> u8 {
        match self {
            Self::Whole => 1,
            Self::Words => 2,
        }
    }

    fn of_layer_version(version: u8) -> Option<Self> {
        [Self::Whole, Self::Words].into_iter().find(|form| form.layer_version() == version)
    }

    /// The hash of the hashes of chunks.
    fn digest(self, hashes: &[u8]) -> u64 {
        match self {
            Self::Whole => xxh3_64(hashes),
            Self::Words => sum_of(0, words_from(hashes, 0)),
        }
    }
}

/// The hash of a chunk that is not known, or that is not stored.
pub(crate) const UNKNOWN: u64 = 0;

/// Where the hashes of chunks are in a trailer.
#[derive(Debug, Clone, Copy)]
pub(in crate::frame) struct HashesAt {
    start: usize,
    len: usize,
    form: Form,
    /// The hash of all of them.
    digest: u64,
}

impl HashesAt {
    /// Reads what comes before them in the metalayer, which starts at `at` of `bytes`.
    pub(in crate::frame) fn parse(bytes: &[u8], at: usize) -> Option<Self> {
        let header = Header::parse(bytes.get(at..at.checked_add(BLOSC2_LEN)?)?).ok()?;
        let content_at = at.checked_add(BLOSC2_LEN)?;
        let mut reader = Reader::new("checksums", bytes, content_at);
        reader.expect(ARRAY_4).ok()?;
        let form = Form::of_layer_version(reader.byte().ok()?)?;
        let algorithm = reader.short_str().ok()?;
        let digest = reader.uint64().ok()?;
        let len = reader.long_len(marker::BIN32).ok()?;
        let is_stored = header.is_memcpyed() && header.header_len() == BLOSC2_LEN;
        let is_whole = header.nbytes() == len.checked_add(LAYER_START)? && algorithm == ALGORITHM;
        let start = content_at.checked_add(LAYER_START)?;
        start.checked_add(len)?;
        (is_stored && is_whole).then_some(Self { start, len, form, digest })
    }

    /// Their bytes in the trailer.
    pub(in crate::frame) fn range(self) -> Range<usize> {
        self.start..self.start.saturating_add(self.len)
    }

    /// They have been read already.
    pub(in crate::frame) fn with_bytes(self, bytes: Vec<u8>) -> StoredHashes {
        StoredHashes { form: self.form, digest: self.digest, position: 0, len: self.len, bytes: Some(bytes) }
    }

    /// They are in the frame from `position` on.
    pub(in crate::frame) fn at(self, position: u64) -> StoredHashes {
        StoredHashes { form: self.form, digest: self.digest, position, len: self.len, bytes: None }
    }
}

/// The hashes of chunks as a frame holds them.
#[derive(Debug, Clone)]
pub(crate) struct StoredHashes {
    form: Form,
    digest: u64,
    /// Where they are in the frame.
    position: u64,
    len: usize,
    /// `None` if they have not been read.
    bytes: Option<Vec<u8>>,
}

impl StoredHashes {
    /// Whether they are as they were written, if they have been read.
    pub(in crate::frame) fn is_good(&self) -> bool {
        self.bytes.as_ref().is_none_or(|bytes| self.form.digest(bytes) == self.digest)
    }

    /// The hashes of `nchunks` chunks, read from the frame at `base` if they have not been.
    pub(in crate::frame) fn load(
        &self,
        source: &dyn ReadAt,
        base: u64,
        nchunks: usize,
        limits: Limits,
    ) -> Result<Hashes> {
        if self.len != nchunks.saturating_mul(HASH_LEN) {
            bail!(Corrupt, "checksums: there are {} bytes for {nchunks} chunks", self.len);
        }
        let bytes = match &self.bytes {
            Some(bytes) => bytes.clone(),
            None => {
                limits.check("checksums", self.len)?;
                // Those who change them mostly append some.
                let mut bytes = Vec::with_capacity(self.len.saturating_add(SPARE));
                bytes.resize(self.len, 0);
                read_exact(source, base.saturating_add(self.position), &mut bytes, "checksums")?;
                bytes
            }
        };
        if self.form.digest(&bytes) != self.digest {
            bail!(ChecksumMismatch, "checksums: those of the chunks are not as they were written");
        }
        Ok(Hashes { bytes, ..Hashes::default() })
    }
}

/// The hashes of all chunks.
#[derive(Debug, Default)]
pub(in crate::frame) struct Hashes {
    /// As they are stored.
    bytes: Vec<u8>,
    /// What comes before them in their metalayer if that is written as a whole, and they have not
    /// been changed since.
    head: Option<Vec<u8>>,
    /// How often they have been changed.
    version: u64,
    /// Those that have been changed since somebody [took](Self::take_changes) them.
    changes: Changes,
    sum: WordSum,
    compressor: Option<Box<Compressor>>,
}

impl Hashes {
    /// The hashes of `nchunks` chunks that nobody knows.
    pub(in crate::frame) fn unknown(nchunks: usize) -> Self {
        // Zeros that are never written to take no memory.
        Self { bytes: vec![0; nchunks.saturating_mul(HASH_LEN)], ..Self::default() }
    }

    /// The same where only writers need them.
    pub(in crate::frame) fn unknown_to(can_write: bool, nchunks: usize) -> Self {
        Self::unknown(if can_write { nchunks } else { 0 })
    }

    /// The same, read-only.
    pub(in crate::frame) fn copy(&self) -> Self {
        Self { bytes: self.bytes.clone(), ..Self::default() }
    }

    /// As they are stored.
    pub(in crate::frame) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How often they have been changed since they were loaded.
    pub(in crate::frame) fn version(&self) -> u64 {
        self.version
    }

    /// The hashes that have been changed since this was asked last.
    pub(in crate::frame) fn take_changes(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    /// What comes before them in the chunk that their metalayer is stored as.
    pub(in crate::frame) fn layer_head(&mut self, form: Form) -> Result<Vec<u8>> {
        if form == Form::Words {
            let bytes = &self.bytes;
            let digest = self.sum.total(words_from(bytes, 0).len(), |first| words_from(bytes, first));
            return self.write_layer_head(form, digest);
        }
        if let Some(head) = &self.head {
            return Ok(head.clone());
        }
        let head = self.write_layer_head(form, form.digest(&self.bytes))?;
        Ok(self.head.insert(head).clone())
    }

    fn write_layer_head(&mut self, form: Form, digest: u64) -> Result<Vec<u8>> {
        let compressor = match &mut self.compressor {
            Some(compressor) => compressor,
            // Hashes do not compress.
            none => {
                none.insert(Box::new(Compressor::new(Options::new(1).with_level(0).with_threads(Threads::serial()))?))
            }
        };
        let mut writer = Writer(compressor.stored_head(self.bytes.len().saturating_add(LAYER_START))?.to_vec());
        writer.byte(ARRAY_4);
        writer.byte(form.layer_version());
        writer.short_str(ALGORITHM);
        writer.uint64(digest);
        writer.long_len(marker::BIN32, self.bytes.len());
        Ok(writer.0)
    }

    /// The hash of a chunk, if it is known.
    pub(in crate::frame) fn get(&self, index: usize) -> Option<u64> {
        let (hashes, _) = self.bytes.as_chunks::<HASH_LEN>();
        hashes.get(index).map(|&hash| u64::from_le_bytes(hash)).filter(|&hash| hash != UNKNOWN)
    }

    /// Puts hashes in place of those at `range`.
    pub(in crate::frame) fn splice(&mut self, range: Range<usize>, hashes: &[u64]) {
        self.head = None;
        self.version = self.version.wrapping_add(1);
        let old = words_from(&self.bytes, range.start);
        if hashes.len() == range.len() {
            self.sum.replace(range.start, old.take(range.len()), hashes.iter().copied());
            self.changes.note(range.clone());
        } else {
            self.sum.forget_from(range.start, old);
            self.changes.note(range.start..usize::MAX);
        }
        let range = range.start.saturating_mul(HASH_LEN)..range.end.saturating_mul(HASH_LEN);
        self.bytes.splice(range, hashes.iter().flat_map(|hash| hash.to_le_bytes()));
    }

    /// Puts several that nobody knows in front of another, or at the end.
    pub(in crate::frame) fn insert_unknown(&mut self, index: usize, count: usize) {
        self.splice(index..index, &[]);
        self.sum.forget_from(index, words_from(&self.bytes, index));
        self.changes.note(index..usize::MAX);
        let at = index.saturating_mul(HASH_LEN);
        self.bytes.splice(at..at, std::iter::repeat_n(0, count.saturating_mul(HASH_LEN)));
    }
}
