//! XOR delta against the start of the chunk.
//!
//! The first block refers to itself one unit earlier; every other block refers to the unfiltered
//! first block. Bytes that are no whole unit are kept as they are, so that nothing is lost at
//! ragged ends.

use blosc_kernels::delta;

/// The position of a block in its chunk, for the filter that refers to another block.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BlockPlace<'a> {
    /// The first block, or one that refers to no other.
    First,
    /// A later block, with the unfiltered bytes of the first.
    After(&'a [u8]),
}

/// The width of the XOR for items of `typesize` bytes.
pub(super) fn unit(typesize: usize) -> usize {
    match typesize {
        1 | 2 | 4 | 8 => typesize,
        _ if typesize.is_multiple_of(8) => 8,
        _ => 1,
    }
}

pub(super) fn forward(unit: usize, place: BlockPlace<'_>, src: &[u8], dst: &mut [u8]) {
    match place {
        BlockPlace::First => delta::encode_first(unit, src, dst),
        BlockPlace::After(start) => delta::encode_with_reference(unit, start, src, dst),
    }
}

/// Undoes the delta in place.
pub(super) fn backward(unit: usize, place: BlockPlace<'_>, block: &mut [u8]) {
    match place {
        BlockPlace::First => delta::decode_first(unit, block),
        BlockPlace::After(start) => delta::decode_with_reference(unit, start, block),
    }
}
