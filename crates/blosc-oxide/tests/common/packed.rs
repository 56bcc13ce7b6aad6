//! What the tests of packed super-chunks share.

use blosc_oxide::{
    Result,
    legacy::{PackedRelease, PackedSuperChunk},
    storage::ReadAt,
};
use testkit::Rng;

pub const HEADER_LEN: usize = 96;
pub const RELEASES: [PackedRelease; 2] = [PackedRelease::Alpha2, PackedRelease::Alpha4];

/// The integers 0, step, 2 * step, ...
pub fn ramp(count: i32, step: i32) -> Vec<u8> {
    (0..count).flat_map(|i| (i * step).to_le_bytes()).collect()
}

pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| rng.byte()).collect()
}

pub fn contents<R: ReadAt>(packed: &PackedSuperChunk<R>) -> Result<Vec<Vec<u8>>> {
    packed.chunks().collect()
}

pub fn open(bytes: &[u8]) -> PackedSuperChunk<&[u8]> {
    PackedSuperChunk::open_in(bytes).unwrap()
}

pub fn int(bytes: &[u8], at: usize) -> usize {
    usize::try_from(i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
}

pub fn set_int(bytes: &mut [u8], at: usize, value: usize) {
    bytes[at..at + 8].copy_from_slice(&(value as u64).to_le_bytes());
}
