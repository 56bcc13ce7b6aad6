//! The byte shuffle for elements of 2 to 16 bytes, `STEP` elements a step.
//!
//! `P` is the typesize rounded up to a power of two. Elements are widened to `P` bytes on the way
//! in, or narrowed on the way out, by letting neighbouring loads or stores overlap.

use super::{LINE, Rows, RowsMut, TILE_LEN, WORTH_FETCHING, copy_rows, fetch_rows, write_rows};
use crate::isa::foresees_stores;
use crate::simd::network::{gather_rows, split_elements, transpose, transpose_half};
use crate::simd::{Kernel, LANE, MAX_LANES, Simd, entry, strided};

/// Enough for the elements of any step, and the bytes that loads and stores reach beyond it.
const STEP_ROOM: usize = LINE * LANE + MAX_LANES * LANE;

/// How far ahead of the stores elements are fetched.
const ELEMENTS_AHEAD: usize = 512;

/// Shuffles at least `STEP` elements of `T` bytes.
pub(super) struct Shuffle<'a, const T: usize, const P: usize, const STEP: usize> {
    pub(super) elements: &'a [u8],
    pub(super) rows: RowsMut<'a>,
}

/// Unshuffles at least `STEP` elements of `T` bytes.
pub(super) struct Unshuffle<'a, const T: usize, const P: usize, const STEP: usize> {
    pub(super) rows: Rows<'a>,
    pub(super) elements: &'a mut [u8],
}

impl<const T: usize, const P: usize, const STEP: usize> Kernel for Shuffle<'_, T, P, STEP> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        if P == LANE && !S::MANY_REGISTERS && self.rows.are_crowded() {
            self.shuffle::<S, true>(simd);
        } else {
            self.shuffle::<S, false>(simd);
        }
    }
}

impl<const T: usize, const P: usize, const STEP: usize> Shuffle<'_, T, P, STEP> {
    #[inline(always)]
    fn shuffle<S: Simd, const CROWDED: bool>(self, simd: S) {
        let Self { elements, mut rows } = self;
        let items = elements.len() / T;
        assert!(STEP <= items && rows.hold(T, items));
        let overhang = LANE - LANE / P * T;
        // Two rows are streams that every processor foresees by itself.
        let fetching = S::FETCHES && T > 2 && rows.can_be_fetched(T) && !foresees_stores();
        let whole = elements.len().saturating_sub(overhang) / T / STEP * STEP;
        let mut tile = [0; TILE_LEN];
        let mut first = 0;
        while first < whole {
            let from = elements.as_ptr().wrapping_add(first * T);
            let (to, stride) = (rows.at(first), rows.stride);
            if fetching {
                fetch_rows(simd, to, stride, T);
            }
            if CROWDED {
                // SAFETY: the step and the overhang are inside `elements`, and the tile has space
                // for a line of 16 rows.
                unsafe { shuffle_step::<S, T, P, STEP>(simd, from, tile.as_mut_ptr(), STEP) };
                // SAFETY: `T` rows hold the elements up to `items`.
                unsafe { write_rows::<S, STEP>(simd, &tile, to, stride, T) };
            } else {
                // SAFETY: the step and the overhang are inside `elements`, and `T` rows hold the
                // elements up to `items`.
                unsafe { shuffle_step::<S, T, P, STEP>(simd, from, to, stride) };
            }
            first += STEP;
        }
        // What loads must not reach beyond goes through a buffer, together with elements already
        // done if need be.
        while first < items {
            let start = first.min(items - STEP);
            first = start + STEP;
            let mut padded = [0_u8; STEP_ROOM];
            padded[..STEP * T].copy_from_slice(&elements[start * T..first * T]);
            // SAFETY: `padded` has space for the widest step and its overhang; the rows are as
            // above.
            unsafe { shuffle_step::<S, T, P, STEP>(simd, padded.as_ptr(), rows.at(start), rows.stride) };
        }
    }
}

impl<const T: usize, const P: usize, const STEP: usize> Kernel for Unshuffle<'_, T, P, STEP> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        // Two parts of a line are close enough for the caches of later processors.
        let coming_back = S::LANES == 1 || !foresees_stores();
        if P == LANE && !S::MANY_REGISTERS && coming_back && self.rows.are_crowded() {
            self.unshuffle::<S, true>(simd);
        } else {
            self.unshuffle::<S, false>(simd);
        }
    }
}

impl<const T: usize, const P: usize, const STEP: usize> Unshuffle<'_, T, P, STEP> {
    #[inline(always)]
    fn unshuffle<S: Simd, const CROWDED: bool>(self, simd: S) {
        let Self { rows, elements } = self;
        let items = elements.len() / T;
        assert!(STEP <= items && rows.hold(T, items));
        let overhang = if T == P { 0 } else { S::WIDTH };
        // Of elements of more bytes there are so many loads that more of them do not help.
        let fetching = S::FETCHES && elements.len() >= WORTH_FETCHING && P < LANE && !foresees_stores();
        let mut tile = [0; TILE_LEN];
        let whole = elements.len().saturating_sub(overhang) / T / STEP * STEP;
        let mut first = 0;
        while first < whole {
            let to = elements.as_mut_ptr().wrapping_add(first * T);
            if fetching {
                fetch_elements(simd, to, T);
            }
            let (mut from, mut stride) = (rows.at(first), rows.stride);
            if CROWDED {
                // SAFETY: `T` rows hold the elements up to `items`.
                unsafe { copy_rows::<S, STEP>(simd, from, stride, T, &mut tile) };
                (from, stride) = (tile.as_ptr(), STEP);
            }
            // SAFETY: `T` rows hold the elements up to `items`; the step and the overhang are
            // inside `elements`.
            unsafe { unshuffle_step::<S, T, P, STEP>(simd, from, stride, to) };
            first += STEP;
        }
        // What stores must not reach beyond goes through a buffer, together with elements already
        // done if need be.
        while first < items {
            let start = first.min(items - STEP);
            first = start + STEP;
            let mut padded = [0_u8; STEP_ROOM];
            // SAFETY: the rows are as above; `padded` has space for the widest step and its
            // overhang.
            unsafe { unshuffle_step::<S, T, P, STEP>(simd, rows.at(start), rows.stride, padded.as_mut_ptr()) };
            elements[start * T..first * T].copy_from_slice(&padded[..STEP * T]);
        }
    }
}

/// Shuffles `STEP` elements, at most 64.
///
/// # Safety
/// `STEP * T` bytes and the overhang must be readable at `from`, and `STEP` bytes writable at each
/// of the `T` places `to + j * row`.
#[inline(always)]
pub(crate) unsafe fn shuffle_step<S: Simd, const T: usize, const P: usize, const STEP: usize>(
    simd: S,
    from: *const u8,
    to: *mut u8,
    row: usize,
) {
    if P == LANE && !S::MANY_REGISTERS && S::LANES == 1 {
        // SAFETY: the caller's promise.
        unsafe { shuffle_step_in_halves::<S, T, STEP>(simd, from, to, row) };
        return;
    }
    if !S::MANY_REGISTERS {
        // There is no space for the rows of several parts.
        for part in 0..STEP / S::WIDTH {
            // SAFETY: the part is inside what the caller promises.
            let rows = unsafe { load_rows::<S, T, P>(simd, from.wrapping_add(part * S::WIDTH * T)) };
            for (j, &bytes) in rows.iter().enumerate().take(T) {
                // SAFETY: the caller promises space for `STEP` bytes of each row.
                unsafe { simd.store(to.wrapping_add(j * row + part * S::WIDTH), bytes) };
            }
        }
        return;
    }
    let mut parts = [[simd.zero(); LANE]; LINE / LANE];
    for (part, rows) in parts.iter_mut().enumerate().take(STEP / S::WIDTH) {
        // SAFETY: the part is inside what the caller promises.
        *rows = unsafe { load_rows::<S, T, P>(simd, from.wrapping_add(part * S::WIDTH * T)) };
    }
    for j in 0..T {
        for (part, rows) in parts.iter().enumerate().take(STEP / S::WIDTH) {
            // SAFETY: the caller promises space for `STEP` bytes of each row.
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
    if T == 2 && S::JOINS_LANES {
        // SAFETY: the caller's promise.
        return unsafe { load_two_rows(simd, from) };
    }
    let mut x = [simd.zero(); LANE];
    for (v, vector) in x.iter_mut().enumerate().take(P) {
        let at = from.wrapping_add(v * (LANE / P) * T);
        // SAFETY: the last load starts `LANE / P` elements before the end of the last lane's and so
        // ends with the overhang, inside what the caller promises.
        *vector = unsafe { simd.load_lanes(strided(at, LANE * T)) };
    }
    if P == LANE {
        return transpose(simd, x, LANE);
    }
    if !S::PERMUTES {
        return split_elements(simd, x, P);
    }
    for vector in x.iter_mut().take(P) {
        // Opaque, because the compiler would permute every vector once for each row instead of
        // once.
        *vector = simd.opaque(simd.permute(*vector, &const { group_table::<T, P>() }));
    }
    gather_rows(simd, x, P)
}

/// [`load_rows`] for elements of 2 bytes: whole vectors are loaded, and the lanes put right
/// afterwards.
///
/// # Safety
/// Two vectors must be readable at `from`.
#[inline(always)]
unsafe fn load_two_rows<S: Simd>(simd: S, from: *const u8) -> [S::Vector; LANE] {
    let mut x = [simd.zero(); LANE];
    for (v, vector) in x.iter_mut().enumerate().take(2) {
        // SAFETY: the caller promises two vectors.
        let elements = unsafe { simd.load(from.wrapping_add(v * S::WIDTH)) };
        *vector = simd.opaque(simd.permute(elements, &const { group_table::<2, 2>() }));
    }
    let mut rows = gather_rows(simd, x, 2);
    for row in rows.iter_mut().take(2) {
        *row = simd.deal::<8>(*row);
    }
    rows
}

/// [`shuffle_step`] for elements of more than 8 bytes.
///
/// # Safety
/// As for [`shuffle_step`], with `P` 16.
#[inline(always)]
unsafe fn shuffle_step_in_halves<S: Simd, const T: usize, const STEP: usize>(
    simd: S,
    from: *const u8,
    to: *mut u8,
    row: usize,
) {
    // SAFETY: the caller's promise.
    unsafe { shuffle_half::<S, T, STEP, false>(simd, from, to, row) };
    // SAFETY: the caller's promise.
    unsafe { shuffle_half::<S, T, STEP, true>(simd, from, to.wrapping_add(8 * row), row) };
}

/// Rows 0 to 7 of a step, or 8 to `T` if `HIGH`; `to` is where the first of them goes.
///
/// # Safety
/// As for [`shuffle_step`], with `P` 16.
#[inline(always)]
unsafe fn shuffle_half<S: Simd, const T: usize, const STEP: usize, const HIGH: bool>(
    simd: S,
    from: *const u8,
    to: *mut u8,
    row: usize,
) {
    for part in 0..STEP / S::WIDTH {
        let mut x = [simd.zero(); LANE];
        for (i, vector) in x.iter_mut().enumerate() {
            let at = from.wrapping_add((part * S::WIDTH + i) * T);
            // SAFETY: the last load is of the last element and the overhang.
            *vector = unsafe { simd.load_lanes(strided(at, LANE * T)) };
        }
        let rows = transpose_half::<S, HIGH>(simd, x);
        let rows_of_half = if HIGH { T.saturating_sub(8) } else { T.min(8) };
        for (j, &bytes) in rows.iter().enumerate().take(rows_of_half) {
            // SAFETY: the caller promises space for `STEP` bytes of each row.
            unsafe { simd.store(to.wrapping_add(j * row + part * S::WIDTH), bytes) };
        }
    }
}

/// Fetches what the stores of a later step need, a step being `lines` cache lines of elements.
#[inline(always)]
fn fetch_elements<S: Simd>(simd: S, to: *mut u8, lines: usize) {
    for line in 0..lines {
        simd.fetch(to.wrapping_add(ELEMENTS_AHEAD + line * LINE));
    }
}

/// Unshuffles `STEP` elements, at most 64.
///
/// # Safety
/// `STEP` bytes must be readable at each of the `T` places `from + j * row`, and `STEP * T` bytes
/// writable at `to`; if `T` is not `P`, another `WIDTH` bytes after them.
#[inline(always)]
pub(crate) unsafe fn unshuffle_step<S: Simd, const T: usize, const P: usize, const STEP: usize>(
    simd: S,
    from: *const u8,
    row: usize,
    to: *mut u8,
) {
    let joining = T == P && S::JOINS_LANES && P < S::SPREADS_FROM;
    let halving = P == LANE && !S::MANY_REGISTERS && (S::LANES == 1 || T != P);
    let dealing = T == P && LANE / P >= S::DEALS_FROM;
    let spreading = !halving && !dealing && P >= S::SPREADS_FROM && (T == P || !S::JOINS_LANES);
    let width = if spreading { LANE } else { S::WIDTH };
    for first in (0..STEP).step_by(width) {
        let from = from.wrapping_add(first);
        let to = to.wrapping_add(first * T);
        if joining {
            // SAFETY: the caller promises the bytes of `WIDTH` elements from `first` on.
            unsafe { unshuffle_joining_lanes::<S, P>(simd, from, row, to) };
        } else if halving {
            // SAFETY: the caller promises the bytes of `WIDTH` elements from `first` on, and what
            // may be written after.
            unsafe { unshuffle_in_halves::<S, T>(simd, from, row, to) };
        } else if dealing {
            // SAFETY: the caller promises the bytes of `WIDTH` elements from `first` on.
            unsafe { unshuffle_whole_vectors::<S, P>(simd, from, row, to) };
        } else if spreading {
            // SAFETY: the caller promises the bytes of 16 elements from `first` on, and what may be
            // written after.
            unsafe { unshuffle_across_lanes::<S, T, P>(simd, from, row, to) };
        } else {
            // SAFETY: the caller promises the bytes of `WIDTH` elements from `first` on, and what
            // may be written after.
            unsafe { unshuffle_by_lanes::<S, T, P>(simd, from, row, to) };
        }
    }
}

/// Unshuffles 16 elements, with the rows spread over the lanes.
///
/// # Safety
/// 16 bytes must be readable at each of the `T` places `from + j * row`, and `16 * T` bytes
/// writable at `to`; if `T` is not `P`, another `WIDTH` bytes after them.
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
        // SAFETY: the store starts at an element of the 16 and so ends before what the caller
        // promises.
        unsafe { simd.store(at, simd.assemble::<T, P>(vector)) };
    }
}

/// Unshuffles `WIDTH` elements in at most two lanes, 16 elements a lane.
///
/// # Safety
/// `WIDTH` bytes must be readable at each of the `T` places `from + j * row`, and `WIDTH * T` bytes
/// writable at `to`; if `T` is not `P`, another 16 bytes after them.
#[inline(always)]
unsafe fn unshuffle_by_lanes<S: Simd, const T: usize, const P: usize>(
    simd: S,
    from: *const u8,
    row: usize,
    to: *mut u8,
) {
    let mut x = [simd.zero(); LANE];
    for (j, vector) in x.iter_mut().enumerate().take(T) {
        // SAFETY: the caller promises `WIDTH` bytes of each row.
        *vector = unsafe { simd.load(from.wrapping_add(j * row)) };
    }
    let mut elements = transpose(simd, x, P);
    if T < P {
        for vector in elements.iter_mut().take(P) {
            *vector = simd.permute(*vector, &const { narrow_table::<T, P>() });
        }
    }
    // Lane after lane, so that what a store writes after its elements is overwritten by the next.
    for (v, &vector) in elements.iter().enumerate().take(P) {
        // SAFETY: the store starts at an element and so ends before what the caller promises.
        unsafe { simd.store_lane::<0>(to.wrapping_add(v * (LANE / P) * T), vector) };
    }
    for (v, &vector) in elements.iter().enumerate().take(if S::LANES > 1 { P } else { 0 }) {
        // SAFETY: as above, for the elements of the second lane.
        unsafe { simd.store_lane::<1>(to.wrapping_add((LANE + v * (LANE / P)) * T), vector) };
    }
}

/// Unshuffles `WIDTH` elements of `P` bytes, below 16, in two lanes and stores them in whole
/// vectors.
///
/// # Safety
/// `WIDTH` bytes must be readable at each of the `P` places `from + j * row`, and `WIDTH * P` bytes
/// writable at `to`.
#[inline(always)]
unsafe fn unshuffle_joining_lanes<S: Simd, const P: usize>(simd: S, from: *const u8, row: usize, to: *mut u8) {
    let mut x = [simd.zero(); LANE];
    for (j, vector) in x.iter_mut().enumerate().take(P) {
        // SAFETY: the caller promises `WIDTH` bytes of each row.
        *vector = unsafe { simd.load(from.wrapping_add(j * row)) };
    }
    let x = transpose(simd, x, P);
    let second_half = to.wrapping_add(P / 2 * S::WIDTH);
    let mut pairs = [(simd.zero(), simd.zero()); LANE / 2];
    for (k, pair) in pairs.iter_mut().enumerate().take(P / 2) {
        *pair = simd.join_lanes(x[2 * k], x[2 * k + 1]);
    }
    for (k, &(low, _)) in pairs.iter().enumerate().take(P / 2) {
        // SAFETY: the caller promises space for `P` vectors; this is in the first half of them.
        unsafe { simd.store(to.wrapping_add(k * S::WIDTH), low) };
    }
    for (k, &(_, high)) in pairs.iter().enumerate().take(P / 2) {
        // SAFETY: and this in the second.
        unsafe { simd.store(second_half.wrapping_add(k * S::WIDTH), high) };
    }
}

/// Unshuffles 32 elements of 9 to 16 bytes, in two lanes of 16.
///
/// # Safety
/// 32 bytes must be readable at each of the `T` places `from + j * row`, and `32 * T` bytes
/// writable at `to`; if `T` is not 16, another `WIDTH` bytes after them.
#[inline(always)]
unsafe fn unshuffle_in_halves<S: Simd, const T: usize>(simd: S, from: *const u8, row: usize, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { unshuffle_half::<S, T, false>(simd, from, row, to) };
    // SAFETY: the caller's promise.
    unsafe { unshuffle_half::<S, T, true>(simd, from, row, to) };
}

/// The first eight elements of both lanes, or the last eight if `HIGH`, which come after the first.
///
/// # Safety
/// As for [`unshuffle_in_halves`].
#[inline(always)]
unsafe fn unshuffle_half<S: Simd, const T: usize, const HIGH: bool>(simd: S, from: *const u8, row: usize, to: *mut u8) {
    let mut x = [simd.zero(); LANE];
    for (j, vector) in x.iter_mut().enumerate().take(T) {
        // SAFETY: the caller promises `WIDTH` bytes of each row.
        *vector = unsafe { simd.load(from.wrapping_add(j * row)) };
    }
    let x = transpose_half::<S, HIGH>(simd, x);
    let to = to.wrapping_add(if HIGH { 8 * T } else { 0 });
    let second_lane = to.wrapping_add(LANE * T);
    if S::LANES == 1 {
        // What a store writes after its element is overwritten by the next.
        for (v, &vector) in x.iter().enumerate().take(8) {
            // SAFETY: the store starts at an element and so ends before what the caller promises.
            unsafe { simd.store(to.wrapping_add(v * T), vector) };
        }
        return;
    }
    if T == LANE {
        for pair in 0..4 {
            let (low, high) = simd.join_lanes(x[2 * pair], x[2 * pair + 1]);
            // SAFETY: the caller promises space for 32 elements; these are two of the first 16.
            unsafe { simd.store(to.wrapping_add(pair * S::WIDTH), low) };
            // SAFETY: and these two of the last 16.
            unsafe { simd.store(second_lane.wrapping_add(pair * S::WIDTH), high) };
        }
        return;
    }
    // The last store of the first lane reaches into the second lane's elements of the first half.
    let behind_lane = to.wrapping_add(8 * T);
    // SAFETY: the caller promises space there; in the second half it has been written, else nothing
    // is made of it.
    let behind = unsafe { simd.load_lanes([behind_lane; MAX_LANES]) };
    for (v, &vector) in x.iter().enumerate().take(8) {
        // SAFETY: the store starts at an element and so ends before what the caller promises.
        unsafe { simd.store_lane::<0>(to.wrapping_add(v * T), vector) };
    }
    if HIGH {
        // SAFETY: the caller promises space there.
        unsafe { simd.store_lane::<0>(behind_lane, behind) };
    }
    for (v, &vector) in x.iter().enumerate().take(8) {
        // SAFETY: as above, for the elements of the second lane.
        unsafe { simd.store_lane::<1>(second_lane.wrapping_add(v * T), vector) };
    }
}

/// Unshuffles `WIDTH` elements of `P` bytes and stores them in whole vectors.
///
/// # Safety
/// `WIDTH` bytes must be readable at each of the `P` places `from + j * row`, and `WIDTH * P` bytes
/// writable at `to`.
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
        // SAFETY: the caller promises space for `P` vectors.
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

/// Drops what fills elements of `T` bytes up to `P`, within a lane.
const fn narrow_table<const T: usize, const P: usize>() -> [u8; LANE] {
    let mut table = [0; LANE];
    let mut i = 0;
    while i < LANE / P * T {
        table[i] = entry(i / T * P + i % T);
        i += 1;
    }
    table
}
