//! The fingerprint in the trailer, by which damage is noticed; the reference ignores it.
//!
//! It is two XXH3 hashes of 64 bits: one of the fixed header, the index and the trailer, one of the
//! metalayers, because the reference changes those without writing a new trailer.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::header::FIXED_LEN;
use std::ops::Range;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The length of a fingerprint.
pub(crate) const FINGERPRINT_LEN: usize = 16;
const HASH_LEN: usize = 8;
/// Where the numbers of threads stand in the header.
const THREADS: Range<usize> = 62..68;

/// The result of comparing a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is as it was written.
    Good,
    /// Only the metalayers are not.
    MetalayersChanged,
    /// Header, index or trailer is damaged.
    Bad,
}

/// The fingerprint of a frame with this header, the index with this hash, and these bytes of the
/// trailer.
pub(in crate::frame) fn fingerprint(header: &[u8], index: u64, trailer: &[u8]) -> [u8; FINGERPRINT_LEN] {
    let (fixed, metalayers) = header.split_at_checked(FIXED_LEN).unwrap_or((header, &[]));
    let mut hasher = Xxh3::new();
    // The reference writes its own numbers of threads into the header whenever it touches it.
    let (before, after) = (fixed.get(..THREADS.start), fixed.get(THREADS.end..));
    hasher.update(before.unwrap_or(fixed));
    hasher.update(after.unwrap_or_default());
    hasher.update(&index.to_le_bytes());
    hasher.update(trailer);
    let mut fingerprint = [0; FINGERPRINT_LEN];
    let hashes = [hasher.digest(), xxh3_64(metalayers)].map(u64::to_le_bytes);
    for (place, byte) in fingerprint.iter_mut().zip(hashes.as_flattened()) {
        *place = *byte;
    }
    fingerprint
}

/// Compares two fingerprints.
pub(in crate::frame) fn compare(stored: &[u8; FINGERPRINT_LEN], computed: &[u8; FINGERPRINT_LEN]) -> Verdict {
    match (stored.first_chunk::<HASH_LEN>() == computed.first_chunk(), stored == computed) {
        (_, true) => Verdict::Good,
        (true, false) => Verdict::MetalayersChanged,
        (false, false) => Verdict::Bad,
    }
}
