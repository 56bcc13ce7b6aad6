//! The bit shuffle in vectors.
//!
//! Eight elements in a row are a group. A byte shuffle of the groups brings byte `j` of the `b`-th
//! element of every group into one row; the eight rows of the same `j` then hold, byte by byte,
//! matrices of 8 by 8 bits, and a transpose across those eight vectors makes them rows of bits. The
//! rows in between stay in a tile of a few groups.
//!
//! Rows of bits are far apart, and where the length of a block is a power of two they compete for
//! the same few sets of the cache. So some steps go through the tile together, and eight rows at
//! a time get or give several lines.

use core::mem::MaybeUninit;

use super::LINE;
use crate::shuffle::{columns, packed};
use crate::simd::{Kernel, LANE, Simd};

/// Bytes of an element that are gone through at a time.
const CHUNK: usize = 16;

/// The most steps that go through the tile together.
const MAX_STEPS: usize = 8;
/// Blocks up to this length are in the first cache as a whole. A tile that takes as much of it
/// again does more harm there than rows that compete.
const SHORT_BLOCK: usize = 32 * 1024;
/// Up to so many bytes of an element the tile takes half of that, and does not.
const SMALL_WIDTH: usize = 4;
/// Space for the rows of four steps of 16 bytes, or of more steps of fewer.
const TILE_LEN: usize = 4 * 8 * CHUNK * LINE;

/// Rows of groups that are in between bytes and bits. Aligned, so that no row of a whole line is in
/// two; not cleared, which would take as long as shuffling a small block.
#[repr(align(64))]
struct Tile(MaybeUninit<[u8; TILE_LEN]>);

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

/// Steps that go through the tile together: their number in there, and their first groups. All of
/// these are multiples of `STEP` but for the last one of a block, which ends with the groups.
#[derive(Clone, Copy)]
struct Steps<const STEP: usize> {
    start: usize,
    end: usize,
    groups: usize,
}

impl<const STEP: usize> Steps<STEP> {
    /// All steps of a block of `len` bytes and `groups` groups of elements, of which `width` bytes
    /// are gone through at a time.
    fn of(len: usize, groups: usize, width: usize) -> impl Iterator<Item = Self> {
        let together =
            if len <= SHORT_BLOCK && width > SMALL_WIDTH { 1 } else { MAX_STEPS.min(TILE_LEN / (8 * width * STEP)) };
        let together = together * STEP;
        (0..groups).step_by(together).map(move |start| Self { start, end: groups.min(start + together), groups })
    }

    fn each(self) -> impl Iterator<Item = (usize, usize)> {
        (self.start..self.end).step_by(STEP).map(move |first| first.min(self.groups - STEP)).enumerate()
    }
}

/// First bytes of the chunks of an element: all multiples of 16, and a last one that ends with the
/// element.
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
        let width = typesize.min(CHUNK);
        for steps in Steps::<STEP>::of(src.len(), groups, width) {
            for chunk in chunks(typesize) {
                for (step, first) in steps.each() {
                    let from = src.as_ptr().wrapping_add(first * 8 * typesize + chunk);
                    let to = tile.row_mut::<STEP>(step * 8 * width);
                    // SAFETY: `STEP` groups from `first` on are inside `src`, and so are the bytes
                    // of the chunk. The tile has `8 * width` rows for each step.
                    unsafe { fill_from_groups::<S, STEP>(simd, from, typesize, to) };
                }
                for byte in 0..width {
                    for (step, first) in steps.each() {
                        let from = tile.row::<STEP>(step * 8 * width + byte);
                        let to = dst.as_mut_ptr().wrapping_add(8 * (chunk + byte) * groups + first);
                        // SAFETY: the rows of the step are in the tile, and every `width`th from
                        // `byte` on is of this byte; it has eight rows of bits in `dst`, and
                        // `first + STEP <= groups`.
                        unsafe { transpose_rows::<S, STEP>(simd, from, width * STEP, to, groups) };
                    }
                }
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
        let width = typesize.min(CHUNK);
        for steps in Steps::<STEP>::of(src.len(), groups, width) {
            for chunk in chunks(typesize) {
                for byte in 0..width {
                    for (step, first) in steps.each() {
                        let from = src.as_ptr().wrapping_add(8 * (chunk + byte) * groups + first);
                        let to = tile.row_mut::<STEP>(step * 8 * width + byte);
                        // SAFETY: the byte has eight rows of bits in `src`, and
                        // `first + STEP <= groups`; the tile has `8 * width` rows for each step, of
                        // which every `width`th from `byte` on is of this byte.
                        unsafe { transpose_rows::<S, STEP>(simd, from, groups, to, width * STEP) };
                    }
                }
                for (step, first) in steps.each() {
                    let from = tile.row::<STEP>(step * 8 * width);
                    let to = dst.as_mut_ptr().wrapping_add(first * 8 * typesize + chunk);
                    // SAFETY: the rows of the step are in the tile; `STEP` groups from `first` on
                    // are inside `dst`, and so are the bytes of the chunk.
                    unsafe { spread_to_groups::<S, STEP>(simd, from, to, typesize) };
                }
            }
        }
        let whole = groups * 8 * typesize;
        dst[whole..].copy_from_slice(&src[whole..]);
    }
}

/// Where the columns of a chunk are within a group, 16 at a time, and the rows they have in the
/// tile.
fn column_groups(typesize: usize) -> impl Iterator<Item = (usize, usize)> {
    let (count, stride) = if typesize < CHUNK { (typesize.div_ceil(2), LANE) } else { (8, typesize) };
    (0..count).map(move |i| {
        let column = (i * stride).min(8 * typesize - LANE);
        (column, if typesize < CHUNK { column } else { i * CHUNK })
    })
}

/// Byte-shuffles a chunk of `STEP` groups into rows of the tile.
///
/// # Safety
/// `from` must be the start of the chunk in `STEP` readable groups of `8 * typesize` bytes, and
/// `to` a place of the tile with space for the rows of `8 * typesize` bytes, or of 128 if that is
/// less.
#[inline(always)]
unsafe fn fill_from_groups<S: Simd, const STEP: usize>(simd: S, from: *const u8, typesize: usize, to: *mut u8) {
    if typesize == 1 {
        // SAFETY: `STEP` groups of 8 bytes are readable; there is space for 8 rows of `STEP` bytes.
        unsafe { packed::shuffle_step::<S, 8, 8, STEP>(simd, from, to, STEP) };
        return;
    }
    for (column, row) in column_groups(typesize) {
        let (from, to) = (from.wrapping_add(column), to.wrapping_add(row * STEP));
        // SAFETY: the 16 columns are inside every group, and rows `row` to `row + 16` inside the
        // tile.
        unsafe { columns::shuffle_step::<S, STEP>(simd, from, 8 * typesize, to, STEP) };
    }
}

/// Byte-unshuffles a chunk of `STEP` groups from rows of the tile.
///
/// # Safety
/// `from` must be the place of the tile with the rows of the chunk, and `to` the start of the chunk
/// in `STEP` writable groups of `8 * typesize` bytes.
#[inline(always)]
unsafe fn spread_to_groups<S: Simd, const STEP: usize>(simd: S, from: *const u8, to: *mut u8, typesize: usize) {
    if typesize == 1 {
        // SAFETY: there are 8 rows of `STEP` bytes; `STEP` groups of 8 bytes are writable, and
        // nothing hangs over.
        unsafe { packed::unshuffle_step::<S, 8, 8, STEP>(simd, from, STEP, to) };
        return;
    }
    for (column, row) in column_groups(typesize) {
        let (from, to) = (from.wrapping_add(row * STEP), to.wrapping_add(column));
        // SAFETY: the 16 columns are inside every group, and rows `row` to `row + 16` inside the
        // tile.
        unsafe { columns::unshuffle_step::<S, STEP>(simd, from, STEP, to, 8 * typesize) };
    }
}

/// [`transpose_bits`] of `STEP` bytes of each row.
///
/// # Safety
/// `STEP` bytes must be readable at each of the 8 places `from + i * from_row` and writable at
/// `to + i * to_row`.
#[inline(always)]
unsafe fn transpose_rows<S: Simd, const STEP: usize>(
    simd: S,
    from: *const u8,
    from_row: usize,
    to: *mut u8,
    to_row: usize,
) {
    const { assert!(STEP.is_multiple_of(S::WIDTH)) };
    for part in (0..STEP).step_by(S::WIDTH) {
        // SAFETY: the caller's promise, for `WIDTH` of the bytes.
        unsafe { transpose_bits(simd, from.wrapping_add(part), from_row, to.wrapping_add(part), to_row) };
    }
}

/// Transposes 8 rows of bytes as matrices of 8 by 8 bits: bit `k` of row `b` becomes bit `b` of row
/// `k`.
///
/// # Safety
/// `WIDTH` bytes must be readable at each of the 8 places `from + i * from_row` and writable at
/// `to + i * to_row`.
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
