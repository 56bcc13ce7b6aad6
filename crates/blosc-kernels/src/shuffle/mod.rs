//! Byte shuffle: the bytes of equal significance of all elements brought together, and back.
//!
//! A block of `n` bytes holds `n / typesize` elements; byte `j` of element `i` moves to `j * (n / typesize) + i`.
//! The `n % typesize` bytes after the last whole element are copied as they are.

pub(crate) mod columns;
pub(crate) mod packed;
mod scalar;
mod vector;

use crate::isa::Isa;
use crate::simd::dispatch;

/// Shuffles `src` into `dst` with the fastest kernel of this processor.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn shuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    shuffle_with(Isa::best(), typesize, src, dst);
}

/// Undoes [`shuffle`].
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn unshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    unshuffle_with(Isa::best(), typesize, src, dst);
}

/// [`shuffle`] with the kernel of one instruction set; the scalar one where the processor lacks it.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn shuffle_with(isa: Isa, typesize: usize, src: &[u8], dst: &mut [u8]) {
    check(typesize, src, dst);
    if !dispatch!(isa, simd => vector::shuffle(simd, typesize, src, dst)) {
        scalar::shuffle(typesize, src, dst);
    }
}

/// [`unshuffle`] with the kernel of one instruction set; the scalar one where the processor lacks it.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn unshuffle_with(isa: Isa, typesize: usize, src: &[u8], dst: &mut [u8]) {
    check(typesize, src, dst);
    if !dispatch!(isa, simd => vector::unshuffle(simd, typesize, src, dst)) {
        scalar::unshuffle(typesize, src, dst);
    }
}

/// Gathers the elements from `first_item` on out of a shuffled block, as many as `dst` holds, and nothing else.
///
/// # Panics
/// If `typesize` is 0, `dst` is not a whole number of elements, or the block does not have those elements.
pub fn unshuffle_range(typesize: usize, block: &[u8], first_item: usize, dst: &mut [u8]) {
    assert!(typesize > 0, "the typesize is 0");
    assert!(dst.len().is_multiple_of(typesize), "{} bytes are not whole elements of {typesize}", dst.len());
    let items = block.len() / typesize;
    let wanted = dst.len() / typesize;
    assert!(
        first_item <= items && wanted <= items - first_item,
        "elements {first_item} and {wanted} on of a block of {items}"
    );
    if wanted == 0 {
        return;
    }
    for (j, row) in block.chunks_exact(items).take(typesize).enumerate() {
        for (item, &byte) in dst.chunks_exact_mut(typesize).zip(&row[first_item..]) {
            item[j] = byte;
        }
    }
}

fn check(typesize: usize, src: &[u8], dst: &[u8]) {
    assert!(typesize > 0, "the typesize is 0");
    assert_eq!(src.len(), dst.len(), "source and destination differ in length");
}
