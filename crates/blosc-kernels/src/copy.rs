//! Copies of blocks.

/// Copies `src` into `dst`.
///
/// # Panics
/// If the lengths differ.
pub fn copy(src: &[u8], dst: &mut [u8]) {
    dst.copy_from_slice(src);
}
