//! What we add to frames so that damage is noticed; the reference ignores all of it.
//!
//! The fingerprint in the trailer is two XXH3 hashes of 64 bits: one of the fixed header, the index and the trailer,
//! one of the metalayers, because the reference changes those without writing a new trailer. A variable-length
//! metalayer holds one hash for each chunk.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::header::FIXED_LEN;
use super::trailer::FINGERPRINT_LEN;
use crate::bytes::msgpack::{Reader, Writer, marker};
use crate::chunk::{Compressor, Decompressor, Options};
use crate::error::{Result, bail};
use crate::exec::Threads;
use crate::limits::Limits;
use std::ops::Range;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The metalayer of the hashes of chunks.
pub(crate) const LAYER_NAME: &str = crate::schunk::RESERVED_NAME;
const LAYER_VERSION: u8 = 1;
const ARRAY_3: u8 = marker::FIXARRAY | 3;
const ALGORITHM: &str = "xxh3_64";
const HASH_LEN: usize = 8;
/// What a metalayer has before the hashes.
const LAYER_START: usize = 15;
/// Where the numbers of threads stand in the header.
const THREADS: Range<usize> = 62..68;

/// The hash of a chunk that is not known, or that is not stored.
pub(crate) const UNKNOWN: u64 = 0;

/// What comparing a fingerprint tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is as it was written.
    Good,
    /// Only the metalayers are not.
    MetalayersChanged,
    /// Header, index or trailer is damaged.
    Bad,
}

/// The fingerprint of a frame. The last 16 bytes of `trailer`, its own place, do not count.
pub(super) fn fingerprint(header: &[u8], index: &[u8], trailer: &[u8]) -> [u8; FINGERPRINT_LEN] {
    let (fixed, metalayers) = header.split_at_checked(FIXED_LEN).unwrap_or((header, &[]));
    let mut hasher = Xxh3::new();
    // The reference writes its own numbers of threads into the header whenever it touches it.
    let (before, after) = (fixed.get(..THREADS.start), fixed.get(THREADS.end..));
    hasher.update(before.unwrap_or(fixed));
    hasher.update(after.unwrap_or_default());
    hasher.update(index);
    hasher.update(trailer.get(..trailer.len().saturating_sub(FINGERPRINT_LEN)).unwrap_or_default());
    let mut fingerprint = [0; FINGERPRINT_LEN];
    let hashes = [hasher.digest(), xxh3_64(metalayers)].map(u64::to_le_bytes);
    for (place, byte) in fingerprint.iter_mut().zip(hashes.as_flattened()) {
        *place = *byte;
    }
    fingerprint
}

/// Compares two fingerprints.
pub(super) fn compare(stored: &[u8; FINGERPRINT_LEN], computed: &[u8; FINGERPRINT_LEN]) -> Verdict {
    match (stored.first_chunk::<HASH_LEN>() == computed.first_chunk(), stored == computed) {
        (_, true) => Verdict::Good,
        (true, false) => Verdict::MetalayersChanged,
        (false, false) => Verdict::Bad,
    }
}

/// The hash of a chunk; never [`UNKNOWN`].
pub(crate) fn of_chunk(bytes: &[u8]) -> u64 {
    xxh3_64(bytes).max(1)
}

/// The hashes of all chunks.
#[derive(Debug, Default)]
pub(super) struct Hashes {
    /// As they are stored.
    bytes: Vec<u8>,
    /// The metalayer of them, if they have not been changed since it was made.
    layer: Option<Vec<u8>>,
}

impl Hashes {
    /// The hashes of `nchunks` chunks that nobody knows.
    pub(super) fn unknown(nchunks: usize) -> Self {
        let mut hashes = Self::default();
        hashes.bytes.extend((0..nchunks).flat_map(|_| UNKNOWN.to_le_bytes()));
        hashes
    }

    /// The hashes that a metalayer holds, which is given as the chunk that it is stored as.
    pub(super) fn read(layer: &[u8], nchunks: usize, limits: Limits) -> Result<Self> {
        let mut decompressor = Decompressor::new().with_threads(Threads::serial()).with_limits(limits);
        let content = decompressor.decompress(layer).map_err(|error| error.within("checksums"))?;
        let mut reader = Reader::new("checksums", &content, 0);
        reader.expect(ARRAY_3)?;
        reader.expect(LAYER_VERSION)?;
        let algorithm = reader.short_str()?;
        if algorithm != ALGORITHM {
            bail!(Unsupported, "checksums: {algorithm:?} is not known");
        }
        let bytes = reader.long(marker::BIN32)?.to_vec();
        if bytes.len() != nchunks.saturating_mul(HASH_LEN) {
            bail!(Corrupt, "checksums: there are {} bytes for {nchunks} chunks", bytes.len());
        }
        Ok(Self { bytes, layer: None })
    }

    /// The metalayer, as the chunk that it is stored as.
    pub(super) fn layer(&mut self) -> Result<&[u8]> {
        if self.layer.is_none() {
            self.layer = Some(write_layer(&self.bytes)?);
        }
        Ok(self.layer.as_deref().unwrap_or_default())
    }

    /// The hash of a chunk, if it is known.
    pub(super) fn get(&self, index: usize) -> Option<u64> {
        let (hashes, _) = self.bytes.as_chunks::<HASH_LEN>();
        hashes.get(index).map(|&hash| u64::from_le_bytes(hash)).filter(|&hash| hash != UNKNOWN)
    }

    /// Puts hashes in place of those at `range`.
    fn splice(&mut self, range: Range<usize>, hashes: &[u64]) {
        self.layer = None;
        let range = range.start.saturating_mul(HASH_LEN)..range.end.saturating_mul(HASH_LEN);
        self.bytes.splice(range, hashes.iter().flat_map(|hash| hash.to_le_bytes()));
    }

    /// Puts a hash in front of another, or at the end.
    pub(super) fn insert(&mut self, index: usize, hash: u64) {
        self.splice(index..index, &[hash]);
    }

    /// Puts a hash in place of another, which there must be.
    pub(super) fn replace(&mut self, index: usize, hash: u64) {
        self.splice(index..index.saturating_add(1), &[hash]);
    }

    /// Takes a hash away, which there must be.
    pub(super) fn remove(&mut self, index: usize) {
        self.splice(index..index.saturating_add(1), &[]);
    }

    /// Makes the hashes others.
    pub(super) fn set(&mut self, hashes: &[u64]) {
        self.splice(0..self.bytes.len() / HASH_LEN, hashes);
    }
}

fn write_layer(hashes: &[u8]) -> Result<Vec<u8>> {
    let mut writer = Writer(Vec::with_capacity(hashes.len().saturating_add(LAYER_START)));
    writer.byte(ARRAY_3);
    writer.byte(LAYER_VERSION);
    writer.short_str(ALGORITHM);
    writer.long(marker::BIN32, hashes);
    // Hashes do not compress.
    Compressor::new(Options::new(1).level(0).threads(Threads::serial()))?.compress(&writer.0)
}
