//! Which blocks of Blosc1 chunks are split into streams.

const MAX_SPLITS: usize = 16;
const MIN_STREAM: usize = 128;

/// Whether readers will take a block of this size to be split when the flag does not forbid it.
pub(in crate::chunk) fn can_split(typesize: usize, blocksize: usize) -> bool {
    typesize <= MAX_SPLITS && blocksize / typesize >= MIN_STREAM
}
