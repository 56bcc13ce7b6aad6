//! The byte shuffle in portable Rust.

use super::{Rows, RowsMut};

/// Shuffles elements of `typesize` bytes into rows that hold them.
pub(super) fn shuffle(typesize: usize, elements: &[u8], rows: &mut RowsMut<'_>) {
    for (j, row) in rows.bytes.chunks_mut(rows.stride).take(typesize).enumerate() {
        for (byte, element) in row.iter_mut().zip(elements.chunks_exact(typesize)) {
            *byte = element[j];
        }
    }
}

/// Unshuffles elements of `typesize` bytes from rows that hold them.
pub(super) fn unshuffle(typesize: usize, rows: Rows<'_>, elements: &mut [u8]) {
    for (j, row) in rows.bytes.chunks(rows.stride).take(typesize).enumerate() {
        for (element, &byte) in elements.chunks_exact_mut(typesize).zip(row) {
            element[j] = byte;
        }
    }
}
