//! Copies of literals and matches.
//!
//! Copies that "run over" write whole registers and so up to [`OVER`] bytes too many, which later
//! copies overwrite: they need that much space. Those "inside" need none, and are for the end of an
//! output; they too may write behind what they copy, but not behind the output. The "exact" ones
//! write what they copy and nothing else.
//!
//! A match may overlap itself: its distance is the period of what it makes. Periods shorter than a
//! register are stored from one register that holds the pattern, without ever loading what was just
//! stored.

use super::hint::{likely, unlikely};
use super::vectors::{Job, Vectors, stride};

/// How many bytes behind its end a copy that runs over may read and write.
pub(crate) const OVER: usize = 64;

/// What matches are copied in that are not long.
const PIECE: usize = 16;

/// The distance of a match at which what it loads was stored long enough ago.
const SETTLED: usize = 512;

/// Copies `N` bytes from `src` to `dst`.
///
/// # Safety
/// `from + N` is at most `src.len()` and `to + N` at most `dst.len()`.
#[inline(always)]
pub(crate) unsafe fn chunk<const N: usize>(src: &[u8], from: usize, dst: &mut [u8], to: usize) {
    debug_assert!(from + N <= src.len() && to + N <= dst.len());
    // SAFETY: the caller has `from` inside `src`.
    let from = unsafe { src.as_ptr().add(from) };
    // SAFETY: N bytes from there are inside `src`, says the caller.
    let bytes = unsafe { from.cast::<[u8; N]>().read() };
    // SAFETY: the caller has `to` inside `dst`.
    let to = unsafe { dst.as_mut_ptr().add(to) };
    // SAFETY: N bytes from there are inside `dst`, says the caller.
    unsafe { to.cast::<[u8; N]>().write(bytes) };
}

/// Copies `N` bytes within `dst`.
///
/// # Safety
/// `from + N` is at most `to`, and `to + N` at most `dst.len()`.
#[inline(always)]
pub(crate) unsafe fn chunk_within<const N: usize>(dst: &mut [u8], from: usize, to: usize) {
    debug_assert!(from + N <= to && to + N <= dst.len());
    // SAFETY: the caller has `from` inside `dst`.
    let from = unsafe { dst.as_ptr().add(from) };
    // SAFETY: N bytes from there are inside `dst`, says the caller.
    let bytes = unsafe { from.cast::<[u8; N]>().read() };
    // SAFETY: the caller has `to` inside `dst`.
    let to = unsafe { dst.as_mut_ptr().add(to) };
    // SAFETY: N bytes from there are inside `dst`, says the caller.
    unsafe { to.cast::<[u8; N]>().write(bytes) };
}

/// Copies the first 18 bytes or more of a match that repeats less than 16 bytes; writes up to 32.
///
/// # Safety
/// `distance` is from 1 to the lesser of 16 and `to`, and `to + 32` is at most `dst.len()`.
#[inline(always)]
pub(crate) unsafe fn short_period<V: Vectors>(vectors: V, dst: &mut [u8], to: usize, distance: usize) {
    // SAFETY: `to - distance + WIDTH` is less than `to + 32`.
    let pattern = unsafe { vectors.load_repeated(dst, to - distance, distance) };
    // SAFETY: WIDTH is at most 32.
    unsafe { vectors.store(dst, to, pattern) };
    if V::WIDTH < 32 {
        // SAFETY: a stride is at most WIDTH, so both together are at most 32.
        unsafe { vectors.store(dst, to + stride::<V>(distance), pattern) };
    }
}

/// Copies `len` literals, running over.
///
/// # Safety
/// `from + len + OVER` is at most `src.len()` and `to + len + OVER` at most `dst.len()`.
#[inline(always)]
pub(crate) unsafe fn literals_over<V: Vectors>(
    vectors: V,
    src: &[u8],
    from: usize,
    dst: &mut [u8],
    to: usize,
    len: usize,
) {
    let mut done = 0;
    // Two registers a turn: of a loop with one, the compiler would make a call of memcpy.
    loop {
        // SAFETY: `done` is at most `len`, and OVER is two registers or more.
        let first = unsafe { vectors.load(src, from + done) };
        // SAFETY: as above.
        let second = unsafe { vectors.load(src, from + done + V::WIDTH) };
        // SAFETY: as above.
        unsafe { vectors.store(dst, to + done, first) };
        // SAFETY: as above.
        unsafe { vectors.store(dst, to + done + V::WIDTH, second) };
        done += 2 * V::WIDTH;
        if likely(done >= len) {
            break;
        }
    }
}

/// Copies a match of `len` bytes, running over.
///
/// # Safety
/// `distance` is from 1 to `to`, and `to + len + OVER` is at most `dst.len()`.
#[inline(always)]
pub(crate) unsafe fn match_over<V: Vectors>(vectors: V, dst: &mut [u8], to: usize, distance: usize, len: usize) {
    if distance >= PIECE {
        // SAFETY: the same contract, and the distance was compared.
        return unsafe { pieces_over(dst, to, distance, len) };
    }
    // SAFETY: `to - distance + WIDTH` is less than `to + OVER`.
    let pattern = unsafe { vectors.load_repeated(dst, to - distance, distance) };
    // SAFETY: the same contract, and the distance was compared.
    unsafe { period_over(vectors, dst, to, distance, len, pattern) };
}

/// [`match_over`] of a match that does not overlap itself within a piece: a load that is not inside
/// one of the latest stores has to wait for them, and the more of it are short, the fewer do.
///
/// # Safety
/// `distance` is from [`PIECE`] to `to`, and `to + len + OVER` is at most `dst.len()`.
#[inline(always)]
unsafe fn pieces_over(dst: &mut [u8], to: usize, distance: usize, len: usize) {
    let from = to - distance;
    // SAFETY: OVER is more than two pieces.
    unsafe { chunk_within::<PIECE>(dst, from, to) };
    // SAFETY: as above.
    unsafe { chunk_within::<PIECE>(dst, from + PIECE, to + PIECE) };
    // Most are no longer, and a loop from the start would be one that the compiler unrolls.
    let mut done = 2 * PIECE;
    while unlikely(done < len) {
        // SAFETY: `done` is less than `len`, and OVER is more than two pieces.
        unsafe { chunk_within::<PIECE>(dst, from + done, to + done) };
        // SAFETY: as above.
        unsafe { chunk_within::<PIECE>(dst, from + done + PIECE, to + done + PIECE) };
        done += 2 * PIECE;
    }
}

/// [`match_over`] of a match that does not overlap itself within a register.
///
/// # Safety
/// `distance` is from `WIDTH` to `to`, and `to + len + OVER` is at most `dst.len()`.
#[inline(always)]
pub(crate) unsafe fn far_match_over<V: Vectors>(vectors: V, dst: &mut [u8], to: usize, distance: usize, len: usize) {
    let from = to - distance;
    let mut done = 0;
    loop {
        // SAFETY: `done` is at most `len`, and OVER is two registers or more.
        unsafe { register_within(vectors, dst, from + done, to + done) };
        // SAFETY: as above.
        unsafe { register_within(vectors, dst, from + done + V::WIDTH, to + done + V::WIDTH) };
        done += 2 * V::WIDTH;
        if likely(done >= len) {
            break;
        }
    }
}

/// Copies a match of `len` bytes that repeats `distance` bytes, with `pattern` made of them by
/// [`Vectors::load_repeated`], running over.
///
/// # Safety
/// `distance` is from 1 to the lesser of `WIDTH` and `to`, and `to + len + OVER` is at most
/// `dst.len()`.
#[inline(always)]
pub(crate) unsafe fn period_over<V: Vectors>(
    vectors: V,
    dst: &mut [u8],
    to: usize,
    distance: usize,
    len: usize,
    pattern: V::Register,
) {
    let stride = stride::<V>(distance);
    let mut done = 0;
    loop {
        // SAFETY: `done` is at most `len`, and OVER is two registers or more.
        unsafe { vectors.store(dst, to + done, pattern) };
        // SAFETY: as above, a stride is at most a register.
        unsafe { vectors.store(dst, to + done + stride, pattern) };
        done += 2 * stride;
        if likely(done >= len) {
            break;
        }
    }
}

/// Copies a match of `len` bytes, running over: what [`match_over`] does, with more care for what
/// makes many bytes fast and out of the way of loops over short ones.
///
/// # Safety
/// As [`match_over`].
#[inline(always)]
pub(crate) unsafe fn long_match_over<V: Vectors>(vectors: V, dst: &mut [u8], to: usize, distance: usize, len: usize) {
    // SAFETY: the same contract.
    vectors.outline(unsafe { LongMatch::new(dst, to, distance, len) });
}

/// A match of which [`match_over`] may be done.
struct LongMatch<'a> {
    dst: &'a mut [u8],
    to: usize,
    distance: usize,
    len: usize,
}

impl<'a> LongMatch<'a> {
    /// # Safety
    /// As [`match_over`].
    #[inline(always)]
    unsafe fn new(dst: &'a mut [u8], to: usize, distance: usize, len: usize) -> Self {
        Self { dst, to, distance, len }
    }
}

impl Job for LongMatch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self, vectors: V) {
        let Self { dst, mut to, mut distance, mut len } = self;
        if distance == 1 {
            return run_exact(dst, to, len);
        }
        // A load has to wait for stores right before it. But what the match makes repeats, so it
        // can as well be copied from twice, four times, ... the distance, as soon as that is there.
        while V::WIDTH <= distance && distance < SETTLED && distance < len {
            // SAFETY: promised by who made this. Then there are `distance` bytes more to refer to.
            unsafe { far_match_over(vectors, dst, to, distance, distance) };
            to += distance;
            len -= distance;
            distance *= 2;
        }
        if distance >= V::WIDTH {
            // SAFETY: promised by who made this, and the distance was compared.
            unsafe { far_match_over(vectors, dst, to, distance, len) };
        } else {
            // SAFETY: promised by who made this.
            unsafe { match_over(vectors, dst, to, distance, len) };
        }
    }
}

/// Copies one register within `dst`.
///
/// # Safety
/// `from + WIDTH` is at most `to`, and `to + WIDTH` at most `dst.len()`.
#[inline(always)]
pub(crate) unsafe fn register_within<V: Vectors>(vectors: V, dst: &mut [u8], from: usize, to: usize) {
    // SAFETY: the caller has both places inside `dst`.
    let value = unsafe { vectors.load(dst, from) };
    // SAFETY: as above.
    unsafe { vectors.store(dst, to, value) };
}

/// Repeats the byte before `to` exactly `len` times. Unlike stores, `memset` may fill cache lines
/// without fetching them.
#[inline(always)]
fn run_exact(dst: &mut [u8], to: usize, len: usize) {
    let byte = dst[to - 1];
    dst[to..to + len].fill(byte);
}

/// Copies `len` literals from anywhere in `src` to anywhere in `dst`.
///
/// # Panics
/// If `src` has fewer than `len` bytes from `from` on, or `dst` from `to` on.
#[inline(always)]
pub(crate) fn literals_inside<V: Vectors>(vectors: V, src: &[u8], from: usize, dst: &mut [u8], to: usize, len: usize) {
    assert!(from <= src.len() && len <= src.len() - from && to <= dst.len() && len <= dst.len() - to);
    if len <= 16 && src.len() - from >= 16 && dst.len() - to >= 16 {
        // SAFETY: the assertion and the comparisons.
        unsafe { chunk::<16>(src, from, dst, to) };
    } else {
        literals_exact(vectors, &src[from..from + len], &mut dst[to..to + len]);
    }
}

/// Copies a match of `len` bytes to anywhere in `dst`.
///
/// # Panics
/// If `distance` is not from 1 to `to`, or `dst` has fewer than `len` bytes from `to` on.
#[inline(always)]
pub(crate) fn match_inside<V: Vectors>(vectors: V, dst: &mut [u8], to: usize, distance: usize, len: usize) {
    assert!(distance != 0 && distance <= to && to <= dst.len() && len <= dst.len() - to);
    if len <= 16 && distance >= 8 && dst.len() - to >= 16 {
        // SAFETY: the assertion and the comparisons.
        unsafe { chunk_within::<8>(dst, to - distance, to) };
        // SAFETY: as above.
        unsafe { chunk_within::<8>(dst, to - distance + 8, to + 8) };
        return;
    }
    if distance >= len {
        return separate_match(vectors, dst, to, distance, len);
    }
    if distance == 1 {
        return run_exact(dst, to, len);
    }
    let over = len.min((dst.len() - to).saturating_sub(OVER));
    if over > 0 {
        // SAFETY: the assertion, and OVER bytes are behind what is copied here.
        unsafe { long_match_over(vectors, dst, to, distance, over) };
    }
    if over < len {
        rest_of_match(vectors, dst, to + over, distance, len - over);
    }
}

/// Copies a match that does not overlap itself.
#[inline(always)]
fn separate_match<V: Vectors>(vectors: V, dst: &mut [u8], to: usize, distance: usize, len: usize) {
    let (before, after) = dst.split_at_mut(to);
    let start = to - distance;
    literals_exact(vectors, &before[start..start + len], &mut after[..len]);
}

/// Copies a match of a few registers at most, near the end of `dst`.
#[inline(always)]
fn rest_of_match<V: Vectors>(vectors: V, dst: &mut [u8], mut to: usize, distance: usize, len: usize) {
    assert!(distance != 0 && distance <= to && to <= dst.len() && len <= dst.len() - to);
    let end = to + len;
    if distance >= V::WIDTH {
        while end - to > V::WIDTH {
            // SAFETY: the distance is from WIDTH to `to`, and `end` is inside.
            unsafe { register_within(vectors, dst, to - distance, to) };
            to += V::WIDTH;
        }
        separate_match(vectors, dst, to, distance, end - to);
    } else if to - distance + V::WIDTH <= dst.len() {
        // SAFETY: the comparison above.
        let pattern = unsafe { vectors.load_repeated(dst, to - distance, distance) };
        let stride = stride::<V>(distance);
        while end - to > stride && dst.len() - to >= V::WIDTH {
            // SAFETY: the comparison above.
            unsafe { vectors.store(dst, to, pattern) };
            to += stride;
        }
        let mut buffer = [0; 32];
        // SAFETY: a register is at most 32 bytes.
        unsafe { vectors.store(&mut buffer, 0, pattern) };
        while to < end {
            let part = stride.min(end - to);
            literals_exact(vectors, &buffer[..part], &mut dst[to..to + part]);
            to += part;
        }
    } else {
        for at in to..end {
            dst[at] = dst[at - distance];
        }
    }
}

/// Copies `src` to `dst`.
///
/// # Panics
/// If their lengths differ.
#[inline(always)]
pub(crate) fn literals_exact<V: Vectors>(vectors: V, src: &[u8], dst: &mut [u8]) {
    assert_eq!(src.len(), dst.len());
    match src.len() {
        0..4 => {
            for (to, from) in dst.iter_mut().zip(src) {
                *to = *from;
            }
        }
        4..8 => ends_exact::<4>(src, dst),
        8..16 => ends_exact::<8>(src, dst),
        16..32 => ends_exact::<16>(src, dst),
        32..=OVER => ends_exact::<32>(src, dst),
        len => {
            // SAFETY: OVER bytes are left for what it runs over.
            unsafe { literals_over(vectors, src, 0, dst, 0, len - OVER) };
            last_exact::<OVER>(src, dst);
        }
    }
}

/// Copies the first `N` and the last `N` bytes: all, if there are from `N` to `2 * N`.
#[inline(always)]
fn ends_exact<const N: usize>(src: &[u8], dst: &mut [u8]) {
    if let (Some(to), Some(from)) = (dst.first_chunk_mut::<N>(), src.first_chunk::<N>()) {
        *to = *from;
    }
    last_exact::<N>(src, dst);
}

/// Copies the last `N` bytes.
#[inline(always)]
fn last_exact<const N: usize>(src: &[u8], dst: &mut [u8]) {
    if let (Some(to), Some(from)) = (dst.last_chunk_mut::<N>(), src.last_chunk::<N>()) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Isa;
    use crate::lz::samples::noise;
    use crate::lz::vectors::dispatch_on;
    use alloc::format;

    struct Inside<'a> {
        dst: &'a mut [u8],
        to: usize,
        distance: usize,
        len: usize,
    }

    impl Job for Inside<'_> {
        type Output = ();

        #[inline(always)]
        fn run<V: Vectors>(self, vectors: V) {
            match_inside(vectors, self.dst, self.to, self.distance, self.len);
        }
    }

    fn bytewise(bytes: &mut [u8], to: usize, distance: usize, len: usize) {
        for at in to..to + len {
            bytes[at] = bytes[at - distance];
        }
    }

    #[test]
    fn a_match_of_any_distance_and_length_near_the_end_stays_inside() {
        for isa in Isa::available() {
            for distance in (1..70).chain([100, 127, 128, 129, 200, 300]) {
                for len in (0..200).chain([1023, 1024, 1025, 3000]) {
                    for room in [0, 1, 15, 16, 33, 63, 64, 70] {
                        let to = distance + len % 3;
                        let start = noise(to + len + room + 9, 1 + distance as u64);
                        let mut expected = start.clone();
                        bytewise(&mut expected, to, distance, len);
                        let mut bytes = start;
                        let (dst, guard) = bytes.split_at_mut(to + len + room);
                        dispatch_on(isa, Inside { dst, to, distance, len });
                        let case = || format!("{} distance {distance} length {len} room {room}", isa.name());
                        assert!(dst[..to + len] == expected[..to + len], "{}", case());
                        assert!(*guard == expected[to + len + room..], "{}", case());
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "distance")]
    fn a_match_from_before_the_start_panics() {
        dispatch_on(Isa::best(), Inside { dst: &mut [0; 100], to: 10, distance: 11, len: 5 });
    }

    #[test]
    #[should_panic(expected = "distance")]
    fn a_match_behind_the_end_panics() {
        dispatch_on(Isa::best(), Inside { dst: &mut [0; 100], to: 10, distance: 1, len: 91 });
    }
}
