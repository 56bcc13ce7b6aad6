//! The byte shuffle in portable Rust.

/// Both slices have the same length and `typesize` is not 0.
pub(super) fn shuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let items = src.len() / typesize;
    let whole = items * typesize;
    dst[whole..].copy_from_slice(&src[whole..]);
    if items == 0 {
        return;
    }
    for (j, row) in dst[..whole].chunks_exact_mut(items).enumerate() {
        for (byte, item) in row.iter_mut().zip(src.chunks_exact(typesize)) {
            *byte = item[j];
        }
    }
}

/// Both slices have the same length and `typesize` is not 0.
pub(super) fn unshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let items = src.len() / typesize;
    let whole = items * typesize;
    dst[whole..].copy_from_slice(&src[whole..]);
    if items == 0 {
        return;
    }
    for (j, row) in src[..whole].chunks_exact(items).enumerate() {
        for (item, &byte) in dst.chunks_exact_mut(typesize).zip(row) {
            item[j] = byte;
        }
    }
}
