//! The byte shuffle for elements of more than 16 bytes: 16 columns at a time, the last group overlapping the one
//! before it where the typesize is not a multiple of 16.

use super::scalar;
use crate::simd::network::{transpose, transpose_half};
use crate::simd::{Kernel, LANE, Simd, strided};

/// Elements of a step: as many as fill a cache line of every row.
pub(crate) const STEP: usize = 64;

/// Bytes of elements that are gone through for one group of columns before the next: they should stay in the first
/// level cache.
const TILE: usize = 16 * 1024;

/// Shuffles elements of `typesize > 16` bytes.
pub(super) struct Shuffle<'a> {
    pub(super) typesize: usize,
    pub(super) src: &'a [u8],
    pub(super) dst: &'a mut [u8],
}

/// Unshuffles elements of `typesize > 16` bytes.
pub(super) struct Unshuffle<'a> {
    pub(super) typesize: usize,
    pub(super) src: &'a [u8],
    pub(super) dst: &'a mut [u8],
}

/// Steps of a tile.
fn steps_per_tile(typesize: usize, step: usize) -> usize {
    (TILE / (typesize * step)).max(2)
}

/// Where the groups of 16 columns start.
fn column_groups(typesize: usize) -> impl Iterator<Item = usize> {
    (0..typesize.div_ceil(LANE)).map(move |group| (group * LANE).min(typesize - LANE))
}

/// First elements of the steps of a tile: all multiples of `step`, and a last one that ends with the elements.
fn steps(tile: usize, per_tile: usize, step: usize, items: usize) -> impl Iterator<Item = usize> {
    (tile..items.min(tile + per_tile * step)).step_by(step).map(move |first| first.min(items - step))
}

impl Kernel for Shuffle<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { typesize, src, dst } = self;
        assert!(src.len() == dst.len() && typesize >= LANE);
        let step = STEP;
        let items = src.len() / typesize;
        if items < step {
            return scalar::shuffle(typesize, src, dst);
        }
        let per_tile = steps_per_tile(typesize, step);
        for tile in (0..items).step_by(per_tile * step) {
            for column in column_groups(typesize) {
                for first in steps(tile, per_tile, step, items) {
                    let from = src.as_ptr().wrapping_add(first * typesize + column);
                    let to = dst.as_mut_ptr().wrapping_add(column * items + first);
                    // SAFETY: `first + step <= items` and `column + 16 <= typesize`, so both stay inside the first
                    // `items * typesize` bytes.
                    unsafe { shuffle_step(simd, from, typesize, to, items) };
                }
            }
        }
        dst[items * typesize..].copy_from_slice(&src[items * typesize..]);
    }
}

impl Kernel for Unshuffle<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { typesize, src, dst } = self;
        assert!(src.len() == dst.len() && typesize >= LANE);
        let step = STEP;
        let items = src.len() / typesize;
        if items < step {
            return scalar::unshuffle(typesize, src, dst);
        }
        let per_tile = steps_per_tile(typesize, step);
        for tile in (0..items).step_by(per_tile * step) {
            for column in column_groups(typesize) {
                for first in steps(tile, per_tile, step, items) {
                    let from = src.as_ptr().wrapping_add(column * items + first);
                    let to = dst.as_mut_ptr().wrapping_add(first * typesize + column);
                    // SAFETY: `first + step <= items` and `column + 16 <= typesize`, so both stay inside the first
                    // `items * typesize` bytes.
                    unsafe { unshuffle_step(simd, from, items, to, typesize) };
                }
            }
        }
        dst[items * typesize..].copy_from_slice(&src[items * typesize..]);
    }
}

/// Brings 16 columns of 64 elements into rows.
///
/// # Safety
/// 16 bytes must be readable at each of the 64 places `from + i * element`, and 64 bytes writable at each of the 16
/// places `to + j * row`.
#[inline(always)]
pub(crate) unsafe fn shuffle_step<S: Simd>(simd: S, from: *const u8, element: usize, to: *mut u8, row: usize) {
    if S::MANY_REGISTERS {
        let mut x = [[simd.zero(); LANE]; STEP / LANE];
        for (part, x) in x.iter_mut().enumerate().take(STEP / S::WIDTH) {
            // SAFETY: the caller promises 16 bytes of each of 64 elements.
            let columns = unsafe { load_columns(simd, from.wrapping_add(part * S::WIDTH * element), element) };
            *x = transpose(simd, columns, LANE);
        }
        // SAFETY: the caller promises 64 bytes of each of 16 rows.
        unsafe { store_rows(simd, &x, LANE, to, row) };
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { shuffle_half::<S, false>(simd, from, element, to, row) };
    // SAFETY: the caller's promise.
    unsafe { shuffle_half::<S, true>(simd, from, element, to.wrapping_add(8 * row), row) };
}

/// The first half of [`shuffle_step`]'s rows, or the second if `HIGH`; `to` is where the first of them goes.
///
/// # Safety
/// As for [`shuffle_step`], but only 8 rows are written.
#[inline(always)]
unsafe fn shuffle_half<S: Simd, const HIGH: bool>(simd: S, from: *const u8, element: usize, to: *mut u8, row: usize) {
    let mut x = [[simd.zero(); LANE]; STEP / LANE];
    for (part, x) in x.iter_mut().enumerate().take(STEP / S::WIDTH) {
        // SAFETY: the caller promises 16 bytes of each of 64 elements.
        let columns = unsafe { load_columns(simd, from.wrapping_add(part * S::WIDTH * element), element) };
        *x = transpose_half::<S, HIGH>(simd, columns);
    }
    // SAFETY: the caller promises 64 bytes of each of 8 rows.
    unsafe { store_rows(simd, &x, 8, to, row) };
}

/// Loads 16 columns of `WIDTH` elements.
///
/// # Safety
/// 16 bytes must be readable at each of the `WIDTH` places `from + i * element`.
#[inline(always)]
unsafe fn load_columns<S: Simd>(simd: S, from: *const u8, element: usize) -> [S::Vector; LANE] {
    let mut x = [simd.zero(); LANE];
    for (i, vector) in x.iter_mut().enumerate() {
        // SAFETY: the caller promises 16 bytes of elements `i`, `i + 16` and so on.
        *vector = unsafe { simd.load_lanes(strided(from.wrapping_add(i * element), LANE * element)) };
    }
    x
}

/// Stores the first `count` rows, all parts of a row together so that no cache line is come back to.
///
/// # Safety
/// 64 bytes must be writable at each of the `count` places `to + j * row`.
#[inline(always)]
unsafe fn store_rows<S: Simd>(
    simd: S,
    parts: &[[S::Vector; LANE]; STEP / LANE],
    count: usize,
    to: *mut u8,
    row: usize,
) {
    for j in 0..count {
        for (part, rows) in parts.iter().enumerate().take(STEP / S::WIDTH) {
            // SAFETY: the caller promises 64 bytes of each row.
            unsafe { simd.store(to.wrapping_add(j * row + part * S::WIDTH), rows[j]) };
        }
    }
}

/// Brings 16 rows of 64 elements into columns.
///
/// # Safety
/// 64 bytes must be readable at each of the 16 places `from + j * row`, and 16 bytes writable at each of the 64 places
/// `to + i * element`.
#[inline(always)]
pub(crate) unsafe fn unshuffle_step<S: Simd>(simd: S, from: *const u8, row: usize, to: *mut u8, element: usize) {
    let vectors = LANE / S::LANES;
    for part in 0..STEP / LANE {
        let mut x = [simd.zero(); LANE];
        for (v, vector) in x.iter_mut().enumerate().take(vectors) {
            let rows = strided(from.wrapping_add(v * row + part * LANE), vectors * row);
            // SAFETY: the caller promises 64 bytes of each of 16 rows.
            *vector = unsafe { simd.load_lanes(rows) };
        }
        for (v, &vector) in transpose(simd, x, vectors).iter().enumerate().take(vectors) {
            let elements = simd.assemble::<LANE, LANE>(vector);
            let at = to.wrapping_add((part * LANE + v * S::LANES) * element);
            // SAFETY: the caller promises 16 bytes of every element.
            unsafe { store_lanes(simd, at, element, elements) };
        }
    }
}

/// Stores lane `l` at `to + l * stride`.
///
/// # Safety
/// 16 bytes must be writable at each of those places.
#[inline(always)]
unsafe fn store_lanes<S: Simd>(simd: S, to: *mut u8, stride: usize, vector: S::Vector) {
    // SAFETY: the caller's promise.
    unsafe { simd.store_lane::<0>(to, vector) };
    if S::LANES > 1 {
        // SAFETY: the caller's promise.
        unsafe { simd.store_lane::<1>(to.wrapping_add(stride), vector) };
    }
    if S::LANES > 2 {
        // SAFETY: the caller's promise.
        unsafe { simd.store_lane::<2>(to.wrapping_add(2 * stride), vector) };
        // SAFETY: the caller's promise.
        unsafe { simd.store_lane::<3>(to.wrapping_add(3 * stride), vector) };
    }
}
