//! Memory that is kept for the next chunk.

/// The first `len` bytes of `buffer`, whatever they are, which grows to that if need be.
pub(crate) fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        // What it held is not wanted, nor kept while there is new memory. New zeros of the system
        // are made when they are first touched, where `resize` would write them all.
        *buffer = Vec::new();
        *buffer = vec![0; len];
    }
    &mut buffer[..len]
}
