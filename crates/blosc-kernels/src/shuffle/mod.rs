//! Byte shuffle: the bytes of equal significance of all elements brought together, and back.
//!
//! A block of `n` bytes holds `n / typesize` elements; byte `j` of element `i` moves to
//! `j * (n / typesize) + i`. The `n % typesize` bytes after the last whole element are copied as
//! they are.
#![cfg_attr(
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        target_feature = "simd128"
    )),
    allow(dead_code, unused_imports, reason = "nothing there to run the vector kernels on")
)]

pub(crate) mod columns;
pub(crate) mod packed;
mod scalar;
mod vector;

use crate::copy::copy;
use crate::isa::Isa;
use crate::simd::{LANE, Simd, dispatch, dispatch_baseline};

/// Elements that the vector kernels work on at a time: as many as fill a cache line of every row,
/// so that no line is come back to. Rows of blocks whose length is a power of two share a few
/// sets of the cache.
const LINE: usize = 64;

/// Bytes from which on it is worth fetching what will be written: less is likely to be in the
/// cache.
const WORTH_FETCHING: usize = 16 * 1024;

/// Rows at a distance that is a multiple of this share the few places of one set of the first level
/// cache, so that what is loaded of one pushes out what will be needed again of another.
const CROWDING: usize = 4096;

/// Space for a line of each of 16 rows.
const TILE_LEN: usize = LINE * LANE;

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
    let items = whole_elements(src.len(), typesize);
    let (elements, rest) = src.split_at(items * typesize);
    let (rows, rest_of_dst) = dst.split_at_mut(items * typesize);
    copy_rest(rest, rest_of_dst);
    if typesize == 1 {
        copy(elements, rows);
        return;
    }
    if items == 0 {
        return;
    }
    let mut rows = RowsMut { bytes: rows, stride: items };
    if items >= LINE {
        dispatch!(
            isa,
            simd => vector::shuffle::<_, LINE>(simd, typesize, elements, rows),
            scalar::shuffle(typesize, elements, &mut rows)
        );
    } else {
        dispatch_baseline!(
            isa,
            simd if items >= LANE => vector::shuffle::<_, LANE>(simd, typesize, elements, rows),
            scalar::shuffle(typesize, elements, &mut rows)
        );
    }
}

/// [`unshuffle`] with the kernel of one instruction set; the scalar one where the processor lacks
/// it.
///
/// # Panics
/// If the lengths differ or `typesize` is 0.
pub fn unshuffle_with(isa: Isa, typesize: usize, src: &[u8], dst: &mut [u8]) {
    check(typesize, src, dst);
    let items = whole_elements(src.len(), typesize);
    let (rows, rest) = src.split_at(items * typesize);
    let (elements, rest_of_dst) = dst.split_at_mut(items * typesize);
    copy_rest(rest, rest_of_dst);
    gather(isa, typesize, items, Rows { bytes: rows, stride: items }, elements);
}

/// How many whole elements are in `len` bytes. Most are of a power of two of bytes, and a division
/// takes longer than all else that is done once for a block.
#[inline]
fn whole_elements(len: usize, typesize: usize) -> usize {
    if typesize.is_power_of_two() { len >> typesize.trailing_zeros() } else { len / typesize }
}

/// Copies the bytes after the last whole element, which there hardly ever are.
#[inline]
fn copy_rest(rest: &[u8], rest_of_dst: &mut [u8]) {
    if !rest.is_empty() {
        rest_of_dst.copy_from_slice(rest);
    }
}

/// Gathers the elements from `first_item` on out of a shuffled block, as many as `dst` holds, and
/// nothing else.
///
/// # Panics
/// If `typesize` is 0, `dst` is not a whole number of elements, or the block does not have those
/// elements.
pub fn unshuffle_range(typesize: usize, block: &[u8], first_item: usize, dst: &mut [u8]) {
    assert!(typesize > 0, "the typesize is 0");
    assert!(dst.len().is_multiple_of(typesize), "{} bytes are not whole elements of {typesize}", dst.len());
    let items = block.len() / typesize;
    let wanted = dst.len() / typesize;
    assert!(
        first_item <= items && wanted <= items - first_item,
        "elements {first_item} and {wanted} on of a block of {items}"
    );
    gather(Isa::best(), typesize, wanted, Rows { bytes: &block[first_item..], stride: items }, dst);
}

/// Fills `elements`, which are `items`, from rows that hold at least as many.
fn gather(isa: Isa, typesize: usize, items: usize, rows: Rows<'_>, elements: &mut [u8]) {
    if typesize == 1 {
        copy(&rows.bytes[..elements.len()], elements);
        return;
    }
    if items == 0 {
        return;
    }
    if items >= LINE {
        dispatch!(
            isa,
            simd => vector::unshuffle::<_, LINE>(simd, typesize, rows, elements),
            scalar::unshuffle(typesize, rows, elements)
        );
    } else {
        dispatch_baseline!(
            isa,
            simd if items >= LANE => vector::unshuffle::<_, LANE>(simd, typesize, rows, elements),
            scalar::unshuffle(typesize, rows, elements)
        );
    }
}

/// Fetches what the stores to `count` rows will need a few steps after `to`.
#[inline(always)]
fn fetch_rows<S: Simd>(simd: S, to: *mut u8, stride: usize, count: usize) {
    for j in 0..count {
        simd.fetch(to.wrapping_add(j * stride + 2 * LINE));
    }
}

/// Copies `STEP` bytes of each of at most 16 rows to where they are close together.
///
/// # Safety
/// `STEP` bytes must be readable at each of the `count` places `from + j * stride`.
#[inline(always)]
unsafe fn copy_rows<S: Simd, const STEP: usize>(
    simd: S,
    from: *const u8,
    stride: usize,
    count: usize,
    tile: &mut [u8; TILE_LEN],
) {
    for (j, to) in tile.chunks_exact_mut(STEP).enumerate().take(count) {
        for (part, to) in to.chunks_exact_mut(S::WIDTH).enumerate() {
            // SAFETY: the caller promises `STEP` bytes of each row.
            let bytes = unsafe { simd.load(from.wrapping_add(j * stride + part * S::WIDTH)) };
            // SAFETY: the piece of the tile is as long as a vector.
            unsafe { simd.store(to.as_mut_ptr(), bytes) };
        }
    }
}

/// Writes `STEP` bytes of each of at most 16 rows from where they are close together, a cache line
/// at a time.
///
/// # Safety
/// `STEP` bytes must be writable at each of the `count` places `to + j * stride`.
#[inline(always)]
unsafe fn write_rows<S: Simd, const STEP: usize>(
    simd: S,
    tile: &[u8; TILE_LEN],
    to: *mut u8,
    stride: usize,
    count: usize,
) {
    for (j, from) in tile.chunks_exact(STEP).enumerate().take(count) {
        for (part, from) in from.chunks_exact(S::WIDTH).enumerate() {
            // SAFETY: the piece of the tile is as long as a vector.
            let bytes = unsafe { simd.load(from.as_ptr()) };
            // SAFETY: the caller promises `STEP` bytes of each row.
            unsafe { simd.store(to.wrapping_add(j * stride + part * S::WIDTH), bytes) };
        }
    }
}

/// The rows of a shuffled block: row `j` starts at byte `j * stride`.
#[derive(Clone, Copy)]
struct Rows<'a> {
    bytes: &'a [u8],
    stride: usize,
}

impl Rows<'_> {
    /// Whether there are `count` rows of `items` bytes.
    fn hold(&self, count: usize, items: usize) -> bool {
        hold(self.bytes.len(), self.stride, count, items)
    }

    /// Whether the same elements of all rows compete for a place in the cache.
    fn are_crowded(&self) -> bool {
        are_crowded(self.stride)
    }

    /// The place of the byte at `offset`.
    fn at(&self, offset: usize) -> *const u8 {
        self.bytes.as_ptr().wrapping_add(offset)
    }
}

/// The rows of a block to be shuffled into: row `j` starts at byte `j * stride`.
struct RowsMut<'a> {
    bytes: &'a mut [u8],
    stride: usize,
}

impl RowsMut<'_> {
    /// Whether there are `count` rows of `items` bytes.
    fn hold(&self, count: usize, items: usize) -> bool {
        hold(self.bytes.len(), self.stride, count, items)
    }

    /// Whether the same elements of all rows compete for a place in the cache.
    fn are_crowded(&self) -> bool {
        are_crowded(self.stride)
    }

    /// Whether `count` rows are worth fetching ahead of being written, and would not push each
    /// other out of the cache: rows whose distance is a multiple of many cache lines compete for
    /// the same few sets.
    fn can_be_fetched(&self, count: usize) -> bool {
        let far_apart = count <= 8 || !self.stride.is_multiple_of(8 * LINE);
        far_apart && self.bytes.len() >= WORTH_FETCHING
    }

    /// The place of the byte at `offset`.
    fn at(&mut self, offset: usize) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_add(offset)
    }
}

fn are_crowded(stride: usize) -> bool {
    stride.is_multiple_of(CROWDING)
}

fn hold(len: usize, stride: usize, count: usize, items: usize) -> bool {
    let end = (count - 1).checked_mul(stride).and_then(|last_row| last_row.checked_add(items));
    end.is_some_and(|end| end <= len)
}

fn check(typesize: usize, src: &[u8], dst: &[u8]) {
    assert!(typesize > 0, "the typesize is 0");
    assert_eq!(src.len(), dst.len(), "source and destination differ in length");
}
