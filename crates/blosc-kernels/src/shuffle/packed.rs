//! The byte shuffle for elements of 2 to 16 bytes, 64 elements a step: as many as fill a cache line of every row, so
//! that no line is come back to.
//!
//! `P` is the typesize rounded up to a power of two. Elements are widened to `P` bytes on the way in, or narrowed on
//! the way out, by letting neighbouring loads or stores overlap.

use super::scalar;
use crate::simd::network::{gather_rows, split_elements, transpose, transpose_half};
use crate::simd::{Kernel, LANE, MAX_LANES, Simd, entry, strided};

/// Elements of a step.
pub(crate) const STEP: usize = 64;

/// Enough for the elements of any step, and the bytes that loads and stores reach beyond it.
const STEP_ROOM: usize = STEP * LANE + MAX_LANES * LANE;

/// Shuffles elements of `T` bytes.
pub(super) struct Shuffle<'a, const T: usize, const P: usize> {
    pub(super) src: &'a [u8],
    pub(super) dst: &'a mut [u8],
}

/// Unshuffles elements of `T` bytes.
pub(super) struct Unshuffle<'a, const T: usize, const P: usize> {
    pub(super) src: &'a [u8],
    pub(super) dst: &'a mut [u8],
}

/// Bytes that loads and stores of a step reach beyond its elements.
const fn overhang<const T: usize, const P: usize>() -> usize {
    LANE - LANE / P * T
}

impl<const T: usize, const P: usize> Kernel for Shuffle<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { src, dst } = self;
        assert!(src.len() == dst.len() && T <= P && P <= LANE);
        let items = src.len() / T;
        if items < STEP {
            return scalar::shuffle(T, src, dst);
        }
        let mut first = 0;
        while first + STEP <= items && (first + STEP) * T + overhang::<T, P>() <= src.len() {
            let from = src.as_ptr().wrapping_add(first * T);
            let to = dst.as_mut_ptr().wrapping_add(first);
            // SAFETY: the step and the overhang are inside `src`; row `j < T` takes the bytes from
            // `j * items + first` to `j * items + first + STEP <= T * items <= dst.len()`.
            unsafe { shuffle_step::<S, T, P>(simd, from, to, items) };
            first += STEP;
        }
        // What loads must not reach beyond goes through a buffer, together with elements already done if need be.
        while first < items {
            let start = first.min(items - STEP);
            first = start + STEP;
            let mut padded = [0_u8; STEP_ROOM];
            padded[..STEP * T].copy_from_slice(&src[start * T..first * T]);
            let to = dst.as_mut_ptr().wrapping_add(start);
            // SAFETY: `padded` has room for the widest step and its overhang; the rows are as above.
            unsafe { shuffle_step::<S, T, P>(simd, padded.as_ptr(), to, items) };
        }
        dst[items * T..].copy_from_slice(&src[items * T..]);
    }
}

impl<const T: usize, const P: usize> Kernel for Unshuffle<'_, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { src, dst } = self;
        assert!(src.len() == dst.len() && T <= P && P <= LANE);
        let items = src.len() / T;
        if items < STEP {
            return scalar::unshuffle(T, src, dst);
        }
        let mut first = 0;
        while first + STEP <= items && (first + STEP) * T + S::WIDTH <= dst.len() {
            let from = src.as_ptr().wrapping_add(first);
            let to = dst.as_mut_ptr().wrapping_add(first * T);
            // SAFETY: row `j < T` is read from `j * items + first` to `j * items + first + STEP <= T * items`, which is
            // at most `src.len()`; the step and the overhang are inside `dst`.
            unsafe { unshuffle_step::<S, T, P>(simd, from, items, to) };
            first += STEP;
        }
        // What stores must not reach beyond goes through a buffer, together with elements already done if need be.
        while first < items {
            let start = first.min(items - STEP);
            first = start + STEP;
            let mut padded = [0_u8; STEP_ROOM];
            let from = src.as_ptr().wrapping_add(start);
            // SAFETY: the rows are as above; `padded` has room for the widest step and its overhang.
            unsafe { unshuffle_step::<S, T, P>(simd, from, items, padded.as_mut_ptr()) };
            dst[start * T..first * T].copy_from_slice(&padded[..STEP * T]);
        }
        // Last, since a step may have written its overhang here.
        dst[items * T..].copy_from_slice(&src[items * T..]);
    }
}

/// Shuffles 64 elements.
///
/// # Safety
/// `64 * T` bytes and the overhang must be readable at `from`, and 64 bytes writable at each of the `T` places
/// `to + j * row`.
#[inline(always)]
pub(crate) unsafe fn shuffle_step<S: Simd, const T: usize, const P: usize>(
    simd: S,
    from: *const u8,
    to: *mut u8,
    row: usize,
) {
    if P == LANE && !S::MANY_REGISTERS {
        // SAFETY: the caller's promise.
        unsafe { shuffle_step_in_halves::<S, T>(simd, from, to, row) };
        return;
    }
    let mut parts = [[simd.zero(); LANE]; STEP / LANE];
    for (part, rows) in parts.iter_mut().enumerate().take(STEP / S::WIDTH) {
        // SAFETY: the part is inside what the caller promises.
        *rows = unsafe { load_rows::<S, T, P>(simd, from.wrapping_add(part * S::WIDTH * T)) };
    }
    for j in 0..T {
        for (part, rows) in parts.iter().enumerate().take(STEP / S::WIDTH) {
            // SAFETY: the caller promises room for 64 bytes of each row.
            unsafe { simd.store(to.wrapping_add(j * row + part * S::WIDTH), rows[j]) };
        }
    }
}

/// Loads `WIDTH` elements and brings their equal bytes together.
///
/// # Safety
/// `WIDTH * T` bytes and the overhang must be readable at `from`.
#[inline(always)]
unsafe fn load_rows<S: Simd, const T: usize, const P: usize>(simd: S, from: *const u8) -> [S::Vector; LANE] {
    let mut x = [simd.zero(); LANE];
    for (v, vector) in x.iter_mut().enumerate().take(P) {
        let at = from.wrapping_add(v * (LANE / P) * T);
        // SAFETY: the last load starts `LANE / P` elements before the end of the last lane's and so ends with the
        // overhang, inside what the caller promises.
        *vector = unsafe { simd.load_lanes(strided(at, LANE * T)) };
    }
    if P == LANE {
        return transpose(simd, x, LANE);
    }
    if !S::PERMUTES {
        return split_elements(simd, x, P);
    }
    for vector in x.iter_mut().take(P) {
        *vector = simd.permute(*vector, &const { group_table::<T, P>() });
    }
    gather_rows(simd, x, P)
}

/// [`shuffle_step`] for elements of more than 8 bytes.
///
/// # Safety
/// As for [`shuffle_step`], with `P` 16.
#[inline(always)]
unsafe fn shuffle_step_in_halves<S: Simd, const T: usize>(simd: S, from: *const u8, to: *mut u8, row: usize) {
    // SAFETY: the caller's promise.
    unsafe { shuffle_half::<S, T, false>(simd, from, to, row) };
    // SAFETY: the caller's promise.
    unsafe { shuffle_half::<S, T, true>(simd, from, to.wrapping_add(8 * row), row) };
}

/// Rows 0 to 7 of a step, or 8 to `T` if `HIGH`; `to` is where the first of them goes.
///
/// # Safety
/// As for [`shuffle_step`], with `P` 16.
#[inline(always)]
unsafe fn shuffle_half<S: Simd, const T: usize, const HIGH: bool>(simd: S, from: *const u8, to: *mut u8, row: usize) {
    let mut parts = [[simd.zero(); LANE]; STEP / LANE];
    for (part, rows) in parts.iter_mut().enumerate().take(STEP / S::WIDTH) {
        let mut x = [simd.zero(); LANE];
        for (i, vector) in x.iter_mut().enumerate() {
            let at = from.wrapping_add((part * S::WIDTH + i) * T);
            // SAFETY: the last load is of the last element and the overhang.
            *vector = unsafe { simd.load_lanes(strided(at, LANE * T)) };
        }
        *rows = transpose_half::<S, HIGH>(simd, x);
    }
    let rows_of_half = if HIGH { T.saturating_sub(8) } else { T.min(8) };
    for j in 0..rows_of_half {
        for (part, rows) in parts.iter().enumerate().take(STEP / S::WIDTH) {
            // SAFETY: the caller promises room for 64 bytes of each row.
            unsafe { simd.store(to.wrapping_add(j * row + part * S::WIDTH), rows[j]) };
        }
    }
}

/// Unshuffles 64 elements.
///
/// # Safety
/// 64 bytes must be readable at each of the `T` places `from + j * row`, and `64 * T` bytes and the overhang writable
/// at `to`.
#[inline(always)]
pub(crate) unsafe fn unshuffle_step<S: Simd, const T: usize, const P: usize>(
    simd: S,
    from: *const u8,
    row: usize,
    to: *mut u8,
) {
    if T == P && LANE / P >= S::DEALS_FROM {
        for part in 0..STEP / S::WIDTH {
            let from = from.wrapping_add(part * S::WIDTH);
            let to = to.wrapping_add(part * S::WIDTH * T);
            // SAFETY: the part is inside what the caller promises.
            unsafe { unshuffle_whole_vectors::<S, P>(simd, from, row, to) };
        }
    } else {
        for part in 0..STEP / LANE {
            let from = from.wrapping_add(part * LANE);
            let to = to.wrapping_add(part * LANE * T);
            // SAFETY: the part is inside what the caller promises.
            unsafe { unshuffle_across_lanes::<S, T, P>(simd, from, row, to) };
        }
    }
}

/// Unshuffles 16 elements, with the rows spread over the lanes.
///
/// # Safety
/// 16 bytes must be readable at each of the `T` places `from + j * row`, and `16 * T` bytes and the overhang writable
/// at `to`.
#[inline(always)]
unsafe fn unshuffle_across_lanes<S: Simd, const T: usize, const P: usize>(
    simd: S,
    from: *const u8,
    row: usize,
    to: *mut u8,
) {
    let vectors = P / S::LANES;
    let mut x = [simd.zero(); LANE];
    for (v, vector) in x.iter_mut().enumerate().take(vectors) {
        // In place of a row that is not there any other will do.
        let row_of = |lane: usize| from.wrapping_add((lane * vectors + v).min(T - 1) * row);
        // SAFETY: the caller promises 16 bytes of each row.
        *vector = unsafe { simd.load_lanes([row_of(0), row_of(1), row_of(2), row_of(3)]) };
    }
    for (v, &vector) in transpose(simd, x, vectors).iter().enumerate().take(vectors) {
        let at = to.wrapping_add(v * (S::WIDTH / P) * T);
        let elements = simd.assemble::<T, P>(vector);
        if T == P || S::ASSEMBLES_ACROSS_LANES {
            // SAFETY: the last store starts `WIDTH / P` elements before the end and so ends with the overhang.
            unsafe { simd.store(at, elements) };
            continue;
        }
        // SAFETY: the elements of the first lane and what follows them are inside what the caller promises.
        unsafe { simd.store_lane::<0>(at, elements) };
        // SAFETY: as above, for the second lane.
        unsafe { simd.store_lane::<1>(at.wrapping_add(LANE / P * T), elements) };
    }
}

/// Unshuffles `WIDTH` elements of `P` bytes and stores them in whole vectors.
///
/// # Safety
/// `WIDTH` bytes must be readable at each of the `P` places `from + j * row`, and `WIDTH * P` bytes writable at `to`.
#[inline(always)]
unsafe fn unshuffle_whole_vectors<S: Simd, const P: usize>(simd: S, from: *const u8, row: usize, to: *mut u8) {
    let mut x = [simd.zero(); LANE];
    for (j, vector) in x.iter_mut().enumerate().take(P) {
        // SAFETY: the caller promises `WIDTH` bytes of each row.
        let bytes = unsafe { simd.load(from.wrapping_add(j * row)) };
        *vector = match P {
            2 => simd.deal::<8>(bytes),
            4 => simd.deal::<4>(bytes),
            8 => simd.deal::<2>(bytes),
            _ => simd.deal::<1>(bytes),
        };
    }
    for (v, &vector) in transpose(simd, x, P).iter().enumerate().take(P) {
        // SAFETY: the caller promises room for `P` vectors.
        unsafe { simd.store(to.wrapping_add(v * S::WIDTH), vector) };
    }
}

/// Brings the equal bytes of the 16 / `P` elements at the start of a lane together.
const fn group_table<const T: usize, const P: usize>() -> [u8; LANE] {
    let mut table = [0; LANE];
    let elements = LANE / P;
    let mut i = 0;
    while i < elements * T {
        table[i] = entry((i % elements) * T + i / elements);
        i += 1;
    }
    table
}
