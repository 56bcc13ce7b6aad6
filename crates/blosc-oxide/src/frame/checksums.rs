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
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The metalayer of the hashes of chunks.
pub(crate) const LAYER_NAME: &str = crate::schunk::RESERVED_NAME;
const LAYER_VERSION: u8 = 1;
const ARRAY_3: u8 = marker::FIXARRAY | 3;
const ALGORITHM: &str = "xxh3_64";
const HASH_LEN: usize = 8;
/// Where the numbers of threads stand in the header.
const THREADS: std::ops::Range<usize> = 62..68;

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

/// The content of the metalayer, as the chunk that it is stored as.
pub(super) fn write_layer(hashes: &[u64]) -> Result<Vec<u8>> {
    let mut writer = Writer::default();
    writer.byte(ARRAY_3);
    writer.byte(LAYER_VERSION);
    writer.short_str(ALGORITHM);
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    writer.long(marker::BIN32, &bytes);
    // Hashes do not compress.
    Compressor::new(Options::new(1).level(0).threads(Threads::serial()))?.compress(&writer.0)
}

/// The hashes that a metalayer holds.
pub(super) fn read_layer(chunk: &[u8], nchunks: usize, limits: Limits) -> Result<Vec<u64>> {
    let mut decompressor = Decompressor::new().with_threads(Threads::serial()).with_limits(limits);
    let content = decompressor.decompress(chunk).map_err(|error| error.within("checksums"))?;
    let mut reader = Reader::new("checksums", &content, 0);
    reader.expect(ARRAY_3)?;
    reader.expect(LAYER_VERSION)?;
    let algorithm = reader.short_str()?;
    if algorithm != ALGORITHM {
        bail!(Unsupported, "checksums: {algorithm:?} is not known");
    }
    let hashes: Vec<u64> = reader
        .long(marker::BIN32)?
        .chunks_exact(HASH_LEN)
        .filter_map(|hash| hash.try_into().ok().map(u64::from_le_bytes))
        .collect();
    if hashes.len() != nchunks {
        bail!(Corrupt, "checksums: there are {} for {nchunks} chunks", hashes.len());
    }
    Ok(hashes)
}
