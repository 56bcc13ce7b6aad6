//! The bit shuffle in vectors.
//!
//! Eight elements in a row are a group. A byte shuffle of the groups brings byte `j` of the `b`-th element of every
//! group into one row; the eight rows of the same `j` then hold, byte by byte, matrices of 8 by 8 bits, and a transpose
//! across those eight vectors makes them rows of bits. The rows in between stay in a tile of a few groups.

use core::mem::MaybeUninit;

use super::LINE;
use crate::shuffle::{columns, packed};
use crate::simd::{Kernel, LANE, Simd};

/// Bytes of an element that are gone through at a time.
const CHUNK: usize = 16;

/// Rows of groups that are in between bytes and bits. Aligned so that no row shares a cache line with another; not
/// cleared, which would take as long as shuffling a small block.
#[repr(align(64))]
struct Tile(MaybeUninit<[u8; 8 * CHUNK * LINE]>);

impl Tile {
    fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    fn row<const STEP: usize>(&self, row: usize) -> *const u8 {
        self.0.as_ptr().cast::<u8>().wrapping_add(row * STEP)
    }

    fn row_mut<const STEP: usize>(&mut self, row: usize) -> *mut u8 {
        self.0.as_mut_ptr().cast::<u8>().wrapping_add(row * STEP)
    }
}

/// Bit-shuffles at least `STEP` groups of elements.
pub(super) fn bitshuffle<S: Simd, const STEP: usize>(simd: S, typesize: usize, src: &[u8], dst: &mut [u8]) {
    simd.run(Bitshuffle::<STEP> { typesize, src, dst });
}

/// Undoes [`bitshuffle`].
pub(super) fn bitunshuffle<S: Simd, const STEP: usize>(simd: S, typesize: usize, src: &[u8], dst: &mut [u8]) {
    simd.run(Bitunshuffle::<STEP> { typesize, src, dst });
}

/// Bit-shuffles at least `STEP` groups of elements of `typesize` bytes.
struct Bitshuffle<'a, const STEP: usize> {
    typesize: usize,
    src: &'a [u8],
    dst: &'a mut [u8],
}

/// Undoes [`Bitshuffle`].
struct Bitunshuffle<'a, const STEP: usize> {
    typesize: usize,
    src: &'a [u8],
    dst: &'a mut [u8],
}

/// First groups of the steps: all multiples of `STEP`, and a last one that ends with the groups.
fn steps<const STEP: usize>(groups: usize) -> impl Iterator<Item = usize> {
    (0..groups).step_by(STEP).map(move |first| first.min(groups - STEP))
}

/// First bytes of the chunks of an element: all multiples of 16, and a last one that ends with the element.
fn chunks(typesize: usize) -> impl Iterator<Item = usize> {
    (0..typesize).step_by(CHUNK).map(move |byte| byte.min(typesize.saturating_sub(CHUNK)))
}

impl<const STEP: usize> Kernel for Bitshuffle<'_, STEP> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { typesize, src, dst } = self;
        let groups = src.len() / typesize / 8;
        assert!(src.len() == dst.len() && STEP <= groups);
        let mut tile = Tile::new();
        for first in steps::<STEP>(groups) {
            let from = src.as_ptr().wrapping_add(first * 8 * typesize);
            for byte in chunks(typesize) {
                let to = dst.as_mut_ptr().wrapping_add(8 * byte * groups + first);
                // SAFETY: `STEP` groups from `first` on are inside `src`, and so are the bytes of the chunk.
                unsafe { fill_from_groups::<S, STEP>(simd, &mut tile, from.wrapping_add(byte), typesize) };
                // SAFETY: the tile has just been filled; the rows of the chunk end at row `8 * typesize`, and
                // `first + STEP <= groups`.
                unsafe { store_bit_rows::<S, STEP>(simd, &tile, typesize.min(CHUNK), to, groups) };
            }
        }
        let whole = groups * 8 * typesize;
        dst[whole..].copy_from_slice(&src[whole..]);
    }
}

impl<const STEP: usize> Kernel for Bitunshuffle<'_, STEP> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { typesize, src, dst } = self;
        let groups = src.len() / typesize / 8;
        assert!(src.len() == dst.len() && STEP <= groups);
        let mut tile = Tile::new();
        for first in steps::<STEP>(groups) {
            let to = dst.as_mut_ptr().wrapping_add(first * 8 * typesize);
            for byte in chunks(typesize) {
                let from = src.as_ptr().wrapping_add(8 * byte * groups + first);
                // SAFETY: the rows of the chunk end at row `8 * typesize`, and `first + STEP <= groups`.
                unsafe { load_bit_rows::<S, STEP>(simd, &mut tile, typesize.min(CHUNK), from, groups) };
                // SAFETY: the tile has just been filled; `STEP` groups from `first` on are inside `dst`, and so are the
                // bytes of the chunk.
                unsafe { spread_to_groups::<S, STEP>(simd, &tile, to.wrapping_add(byte), typesize) };
            }
        }
        let whole = groups * 8 * typesize;
        dst[whole..].copy_from_slice(&src[whole..]);
    }
}

/// Where the columns of a chunk are within a group, 16 at a time, and the rows they have in the tile.
fn column_groups(typesize: usize) -> impl Iterator<Item = (usize, usize)> {
    let (count, stride) = if typesize < CHUNK { (typesize.div_ceil(2), LANE) } else { (8, typesize) };
    (0..count).map(move |i| {
        let column = (i * stride).min(8 * typesize - LANE);
        (column, if typesize < CHUNK { column } else { i * CHUNK })
    })
}

/// Byte-shuffles a chunk of `STEP` groups into the tile.
///
/// # Safety
/// `from` must be the start of the chunk in `STEP` readable groups of `8 * typesize` bytes.
#[inline(always)]
unsafe fn fill_from_groups<S: Simd, const STEP: usize>(simd: S, tile: &mut Tile, from: *const u8, typesize: usize) {
    if typesize == 1 {
        // SAFETY: `STEP` groups of 8 bytes are readable; the tile has 8 rows of `STEP` bytes.
        unsafe { packed::shuffle_step::<S, 8, 8, STEP>(simd, from, tile.row_mut::<STEP>(0), STEP) };
        return;
    }
    for (column, row) in column_groups(typesize) {
        let (from, to) = (from.wrapping_add(column), tile.row_mut::<STEP>(row));
        // SAFETY: the 16 columns are inside every group; the tile has rows `row` to `row + 16`, 128 being the most.
        unsafe { columns::shuffle_step::<S, STEP>(simd, from, 8 * typesize, to, STEP) };
    }
}

/// Byte-unshuffles a chunk of `STEP` groups from the tile.
///
/// # Safety
/// The tile must have been filled with the rows of the chunk, and `to` be the start of the chunk in `STEP` writable
/// groups of `8 * typesize` bytes.
#[inline(always)]
unsafe fn spread_to_groups<S: Simd, const STEP: usize>(simd: S, tile: &Tile, to: *mut u8, typesize: usize) {
    if typesize == 1 {
        // SAFETY: the tile has 8 rows of `STEP` bytes; `STEP` groups of 8 bytes are writable, and nothing hangs over.
        unsafe { packed::unshuffle_step::<S, 8, 8, STEP>(simd, tile.row::<STEP>(0), STEP, to) };
        return;
    }
    for (column, row) in column_groups(typesize) {
        let (from, to) = (tile.row::<STEP>(row), to.wrapping_add(column));
        // SAFETY: the 16 columns are inside every group; the tile has rows `row` to `row + 16`, 128 being the most.
        unsafe { columns::unshuffle_step::<S, STEP>(simd, from, STEP, to, 8 * typesize) };
    }
}

/// Transposes the bits of `width` bytes of an element and stores their rows.
///
/// # Safety
/// The tile must have been filled with the rows of `width` bytes. `STEP` bytes must be writable at each of the
/// `8 * width` places `to + i * row`, and `width` be at most 16.
#[inline(always)]
unsafe fn store_bit_rows<S: Simd, const STEP: usize>(simd: S, tile: &Tile, width: usize, to: *mut u8, row: usize) {
    for byte in 0..width {
        for part in 0..STEP / S::WIDTH {
            let from = tile.row::<STEP>(byte).wrapping_add(part * S::WIDTH);
            let to = to.wrapping_add(8 * byte * row + part * S::WIDTH);
            // SAFETY: the tile has `8 * width` rows; the caller promises those of the destination.
            unsafe { transpose_bits(simd, from, width * STEP, to, row) };
        }
    }
}

/// Loads the rows of `width` bytes of an element and transposes their bits.
///
/// # Safety
/// `STEP` bytes must be readable at each of the `8 * width` places `from + i * row`, and `width` be at most 16.
#[inline(always)]
unsafe fn load_bit_rows<S: Simd, const STEP: usize>(
    simd: S,
    tile: &mut Tile,
    width: usize,
    from: *const u8,
    row: usize,
) {
    for byte in 0..width {
        for part in 0..STEP / S::WIDTH {
            let from = from.wrapping_add(8 * byte * row + part * S::WIDTH);
            let to = tile.row_mut::<STEP>(byte).wrapping_add(part * S::WIDTH);
            // SAFETY: the caller promises the rows of the source; the tile has `8 * width` rows.
            unsafe { transpose_bits(simd, from, row, to, width * STEP) };
        }
    }
}

/// Transposes 8 rows of bytes as matrices of 8 by 8 bits: bit `k` of row `b` becomes bit `b` of row `k`.
///
/// # Safety
/// `WIDTH` bytes must be readable at each of the 8 places `from + i * from_row` and writable at `to + i * to_row`.
#[inline(always)]
unsafe fn transpose_bits<S: Simd>(simd: S, from: *const u8, from_row: usize, to: *mut u8, to_row: usize) {
    let mut x = [simd.zero(); 8];
    for (i, vector) in x.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *vector = unsafe { simd.load(from.wrapping_add(i * from_row)) };
    }
    for i in [0, 1, 2, 3] {
        (x[i], x[i + 4]) = simd.exchange_bits::<4>(x[i], x[i + 4], 0x0F);
    }
    for i in [0, 1, 4, 5] {
        (x[i], x[i + 2]) = simd.exchange_bits::<2>(x[i], x[i + 2], 0x33);
    }
    for i in [0, 2, 4, 6] {
        (x[i], x[i + 1]) = simd.exchange_bits::<1>(x[i], x[i + 1], 0x55);
    }
    for (i, &vector) in x.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { simd.store(to.wrapping_add(i * to_row), vector) };
    }
}
