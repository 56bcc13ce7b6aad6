//! The bit shuffle in portable Rust, eight elements at a time.

/// Both slices have the same length and `typesize` is not 0.
pub(super) fn bitshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let groups = src.len() / typesize / 8;
    let whole = groups * 8 * typesize;
    dst[whole..].copy_from_slice(&src[whole..]);
    if groups == 0 {
        return;
    }
    for (group, items) in src[..whole].chunks_exact(8 * typesize).enumerate() {
        for j in 0..typesize {
            let mut matrix = [0; 8];
            for (i, byte) in matrix.iter_mut().enumerate() {
                *byte = items[i * typesize + j];
            }
            let planes = transpose_bits(u64::from_le_bytes(matrix)).to_le_bytes();
            for (k, &plane) in planes.iter().enumerate() {
                dst[(8 * j + k) * groups + group] = plane;
            }
        }
    }
}

/// Both slices have the same length and `typesize` is not 0.
pub(super) fn bitunshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let groups = src.len() / typesize / 8;
    let whole = groups * 8 * typesize;
    dst[whole..].copy_from_slice(&src[whole..]);
    if groups == 0 {
        return;
    }
    for (group, items) in dst[..whole].chunks_exact_mut(8 * typesize).enumerate() {
        for j in 0..typesize {
            let mut planes = [0; 8];
            for (k, plane) in planes.iter_mut().enumerate() {
                *plane = src[(8 * j + k) * groups + group];
            }
            let matrix = transpose_bits(u64::from_le_bytes(planes)).to_le_bytes();
            for (i, &byte) in matrix.iter().enumerate() {
                items[i * typesize + j] = byte;
            }
        }
    }
}

/// Transposes an 8 by 8 matrix of bits: bit `k` of byte `i` becomes bit `i` of byte `k`.
fn transpose_bits(matrix: u64) -> u64 {
    let swap = |x: u64, distance: u32, mask: u64| {
        let changed = (x ^ (x >> distance)) & mask;
        x ^ changed ^ (changed << distance)
    };
    let x = swap(matrix, 7, 0x00AA_00AA_00AA_00AA);
    let x = swap(x, 14, 0x0000_CCCC_0000_CCCC);
    swap(x, 28, 0x0000_0000_F0F0_F0F0)
}
