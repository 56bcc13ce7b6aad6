//! The byte shuffle for elements of more than 16 bytes: 16 columns at a time, the last group
//! overlapping the one before it where the typesize is not a multiple of 16.

use super::{LINE, Rows, RowsMut, TILE_LEN, copy_rows, fetch_rows};
use crate::isa::foresees_stores;
use crate::simd::network::{transpose, transpose_half};
use crate::simd::{Kernel, LANE, Simd, strided};

/// Bytes of elements that are gone through for one group of columns before the next: they should
/// stay in the first level cache.
const TILE: usize = 16 * 1024;

/// Shuffles at least `STEP` elements of `typesize >= 16` bytes.
pub(super) struct Shuffle<'a, const STEP: usize> {
    pub(super) typesize: usize,
    pub(super) elements: &'a [u8],
    pub(super) rows: RowsMut<'a>,
}

/// Unshuffles at least `STEP` elements of `typesize >= 16` bytes.
pub(super) struct Unshuffle<'a, const STEP: usize> {
    pub(super) typesize: usize,
    pub(super) rows: Rows<'a>,
    pub(super) elements: &'a mut [u8],
}

/// First elements of the tiles, and one past their last.
fn tiles<const STEP: usize>(typesize: usize, items: usize) -> impl Iterator<Item = (usize, usize)> {
    let length = (TILE / (typesize * STEP)).max(2) * STEP;
    (0..items).step_by(length).map(move |start| (start, items.min(start + length)))
}

/// First columns of the groups of 16: all multiples of 16, and a last one that ends with the
/// element.
fn column_groups(typesize: usize) -> impl Iterator<Item = usize> {
    (0..typesize).step_by(LANE).map(move |column| column.min(typesize - LANE))
}

/// First elements of the steps of a tile: every `STEP`th, and a last one that ends with all
/// elements.
fn steps<const STEP: usize>((start, end): (usize, usize), items: usize) -> impl Iterator<Item = usize> {
    (start..end).step_by(STEP).map(move |first| first.min(items - STEP))
}

impl<const STEP: usize> Kernel for Shuffle<'_, STEP> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { typesize, elements, mut rows } = self;
        let items = elements.len() / typesize;
        assert!(STEP <= items && LANE <= typesize && rows.hold(typesize, items));
        let fetching = S::FETCHES && rows.can_be_fetched(LANE) && !foresees_stores();
        for tile in tiles::<STEP>(typesize, items) {
            for column in column_groups(typesize) {
                for first in steps::<STEP>(tile, items) {
                    let from = elements.as_ptr().wrapping_add(first * typesize + column);
                    let to = rows.at(column * rows.stride + first);
                    if fetching {
                        fetch_rows(simd, to, rows.stride, LANE);
                    }
                    // SAFETY: `first + STEP <= items` and `column + 16 <= typesize`, and both sides
                    // hold as many.
                    unsafe { shuffle_step::<S, STEP>(simd, from, typesize, to, rows.stride) };
                }
            }
        }
    }
}

impl<const STEP: usize> Kernel for Unshuffle<'_, STEP> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { typesize, rows, elements } = self;
        let items = elements.len() / typesize;
        assert!(STEP <= items && LANE <= typesize && rows.hold(typesize, items));
        let crowded = !S::MANY_REGISTERS && rows.are_crowded();
        let mut close = [0; TILE_LEN];
        for tile in tiles::<STEP>(typesize, items) {
            for column in column_groups(typesize) {
                for first in steps::<STEP>(tile, items) {
                    let (mut from, mut stride) = (rows.at(column * rows.stride + first), rows.stride);
                    let to = elements.as_mut_ptr().wrapping_add(first * typesize + column);
                    if crowded {
                        // SAFETY: `first + STEP <= items` and `column + 16 <= typesize`, and the
                        // rows hold as many.
                        unsafe { copy_rows::<S, STEP>(simd, from, stride, LANE, &mut close) };
                        (from, stride) = (close.as_ptr(), STEP);
                    }
                    // SAFETY: `first + STEP <= items` and `column + 16 <= typesize`, and both sides
                    // hold as many.
                    unsafe { unshuffle_step::<S, STEP>(simd, from, stride, to, typesize) };
                }
            }
        }
    }
}

/// Brings 16 columns of `STEP` elements, at most 64, into rows.
///
/// # Safety
/// 16 bytes must be readable at each of the `STEP` places `from + i * element`, and `STEP` bytes
/// writable at each of the 16 places `to + j * row`.
#[inline(always)]
pub(crate) unsafe fn shuffle_step<S: Simd, const STEP: usize>(
    simd: S,
    from: *const u8,
    element: usize,
    to: *mut u8,
    row: usize,
) {
    if S::MANY_REGISTERS {
        let mut x = [[simd.zero(); LANE]; LINE / LANE];
        for (part, x) in x.iter_mut().enumerate().take(STEP / S::WIDTH) {
            // SAFETY: the caller promises 16 bytes of each of `STEP` elements.
            let columns = unsafe { load_columns(simd, from.wrapping_add(part * S::WIDTH * element), element) };
            *x = transpose(simd, columns, LANE);
        }
        // SAFETY: the caller promises `STEP` bytes of each of 16 rows.
        unsafe { store_rows::<S, STEP>(simd, &x, LANE, to, row) };
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { shuffle_half::<S, STEP, false>(simd, from, element, to, row) };
    // SAFETY: the caller's promise.
    unsafe { shuffle_half::<S, STEP, true>(simd, from, element, to.wrapping_add(8 * row), row) };
}

/// The first half of [`shuffle_step`]'s rows, or the second if `HIGH`; `to` is where the first of
/// them goes.
///
/// # Safety
/// As for [`shuffle_step`], but only 8 rows are written.
#[inline(always)]
unsafe fn shuffle_half<S: Simd, const STEP: usize, const HIGH: bool>(
    simd: S,
    from: *const u8,
    element: usize,
    to: *mut u8,
    row: usize,
) {
    let mut x = [[simd.zero(); LANE]; LINE / LANE];
    for (part, x) in x.iter_mut().enumerate().take(STEP / S::WIDTH) {
        // SAFETY: the caller promises 16 bytes of each of `STEP` elements.
        let columns = unsafe { load_columns(simd, from.wrapping_add(part * S::WIDTH * element), element) };
        *x = transpose_half::<S, HIGH>(simd, columns);
    }
    // SAFETY: the caller promises `STEP` bytes of each of 8 rows.
    unsafe { store_rows::<S, STEP>(simd, &x, 8, to, row) };
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

/// Stores the first `count` rows, all parts of a row together so that no cache line is come back
/// to.
///
/// # Safety
/// `STEP` bytes must be writable at each of the `count` places `to + j * row`.
#[inline(always)]
unsafe fn store_rows<S: Simd, const STEP: usize>(
    simd: S,
    parts: &[[S::Vector; LANE]; LINE / LANE],
    count: usize,
    to: *mut u8,
    row: usize,
) {
    for j in 0..count {
        for (part, rows) in parts.iter().enumerate().take(STEP / S::WIDTH) {
            // SAFETY: the caller promises `STEP` bytes of each row.
            unsafe { simd.store(to.wrapping_add(j * row + part * S::WIDTH), rows[j]) };
        }
    }
}

/// Brings 16 rows of `STEP` elements, at most 64, into columns.
///
/// # Safety
/// `STEP` bytes must be readable at each of the 16 places `from + j * row`, and 16 bytes writable
/// at each of the `STEP` places `to + i * element`.
#[inline(always)]
pub(crate) unsafe fn unshuffle_step<S: Simd, const STEP: usize>(
    simd: S,
    from: *const u8,
    row: usize,
    to: *mut u8,
    element: usize,
) {
    if S::JOINS_LANES {
        for first in (0..STEP).step_by(S::WIDTH) {
            let (from, to) = (from.wrapping_add(first), to.wrapping_add(first * element));
            // SAFETY: the caller's promise, for `WIDTH` of the elements.
            unsafe { unshuffle_half::<S, false>(simd, from, row, to, element) };
            // SAFETY: the caller's promise, for `WIDTH` of the elements.
            unsafe { unshuffle_half::<S, true>(simd, from, row, to, element) };
        }
        return;
    }
    let vectors = LANE / S::LANES;
    for part in 0..STEP / LANE {
        let mut x = [simd.zero(); LANE];
        for (v, vector) in x.iter_mut().enumerate().take(vectors) {
            let rows = strided(from.wrapping_add(v * row + part * LANE), vectors * row);
            // SAFETY: the caller promises `STEP` bytes of each of 16 rows.
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

/// Of `WIDTH` elements in two lanes, the first eight of both lanes, or the last eight if `HIGH`.
///
/// # Safety
/// As for [`unshuffle_step`], with `WIDTH` in place of `STEP`.
#[inline(always)]
unsafe fn unshuffle_half<S: Simd, const HIGH: bool>(simd: S, from: *const u8, row: usize, to: *mut u8, element: usize) {
    let mut x = [simd.zero(); LANE];
    for (j, vector) in x.iter_mut().enumerate() {
        // SAFETY: the caller promises `WIDTH` bytes of each of 16 rows.
        *vector = unsafe { simd.load(from.wrapping_add(j * row)) };
    }
    let to = to.wrapping_add(if HIGH { 8 * element } else { 0 });
    for (v, &vector) in transpose_half::<S, HIGH>(simd, x).iter().enumerate().take(8) {
        // SAFETY: the caller promises 16 bytes of elements `v` and `v + 16` of the half.
        unsafe { store_lanes(simd, to.wrapping_add(v * element), LANE * element, vector) };
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
