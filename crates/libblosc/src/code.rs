//! What functions return when they do not return a length.

/// The chunk does not fit into the output, or the data into a chunk.
pub(crate) const DOES_NOT_FIT: i32 = 0;
/// Anything that has no code of its own: damaged chunks above all.
pub(crate) const FAILED: i32 = -1;
/// The codec is not there.
pub(crate) const NO_CODEC: i32 = -5;
/// The version of the chunk, or of its streams, is not known.
pub(crate) const BAD_VERSION: i32 = -9;
/// Level, shuffle or typesize are out of their range.
pub(crate) const BAD_PARAMETER: i32 = -10;

/// A length that a chunk can have, as C wants it.
pub(crate) fn of_len(len: usize) -> i32 {
    i32::try_from(len).unwrap_or(FAILED)
}
