//! Sums and differences that run from element to element, in vectors where there is a fast way.
#![cfg_attr(
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))),
    allow(dead_code, reason = "nothing there to run the vector kernels on")
)]

#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
use crate::simd::{Baseline, LANE, OneLane, Simd};

/// How elements are combined.
pub(crate) trait Operation {
    /// Combines two elements, byte by byte.
    fn combine(a: u8, b: u8) -> u8;

    /// Combines vectors, byte by byte.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
    fn combine_vectors<S: OneLane>(simd: S, a: S::Vector, b: S::Vector) -> S::Vector;
}

/// Sums of bytes, modulo 256.
pub(crate) struct Sum;

/// Exclusive or.
pub(crate) struct Xor;

impl Operation for Sum {
    fn combine(a: u8, b: u8) -> u8 {
        a.wrapping_add(b)
    }

    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
    #[inline(always)]
    fn combine_vectors<S: OneLane>(simd: S, a: S::Vector, b: S::Vector) -> S::Vector {
        simd.add(a, b)
    }
}

impl Operation for Xor {
    fn combine(a: u8, b: u8) -> u8 {
        a ^ b
    }

    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
    #[inline(always)]
    fn combine_vectors<S: OneLane>(simd: S, a: S::Vector, b: S::Vector) -> S::Vector {
        simd.xor(a, b)
    }
}

/// Replaces each element of `UNIT` bytes (1, 2, 4 or 8) by the combination of all elements up to
/// it. What is left after the last whole element is combined as well, byte by byte.
pub(crate) fn accumulate<O: Operation, const UNIT: usize>(buf: &mut [u8]) {
    let done = accumulate_vectors::<O, UNIT>(buf);
    for i in done.max(UNIT)..buf.len() {
        buf[i] = O::combine(buf[i], buf[i - UNIT]);
    }
}

/// As [`accumulate`], from one slice into another of the same length, and of single bytes.
pub(crate) fn accumulate_into<O: Operation>(src: &[u8], dst: &mut [u8]) {
    let done = accumulate_vectors_into::<O>(src, dst);
    let mut sum = if done == 0 { 0 } else { dst[done - 1] };
    for (out, &byte) in dst[done..].iter_mut().zip(&src[done..]) {
        sum = O::combine(sum, byte);
        *out = sum;
    }
}

#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
fn accumulate_vectors<O: Operation, const UNIT: usize>(_buf: &mut [u8]) -> usize {
    0
}

#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
fn accumulate_vectors_into<O: Operation>(_src: &[u8], _dst: &mut [u8]) -> usize {
    0
}

/// Accumulates as many whole vectors as there are, and tells how many bytes that is.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
fn accumulate_vectors<O: Operation, const UNIT: usize>(buf: &mut [u8]) -> usize {
    let mut before = Baseline::always().zero();
    let (vectors, _) = buf.as_chunks_mut::<LANE>();
    for bytes in vectors.iter_mut() {
        let loaded = *bytes;
        accumulate_vector::<O, _, UNIT>(Baseline::always(), &mut before, &loaded, bytes);
    }
    vectors.len() * LANE
}

/// Accumulates as many whole vectors as there are, and tells how many bytes that is.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
fn accumulate_vectors_into<O: Operation>(src: &[u8], dst: &mut [u8]) -> usize {
    let mut before = Baseline::always().zero();
    let (vectors, _) = src.as_chunks::<LANE>();
    for (from, to) in vectors.iter().zip(dst.as_chunks_mut::<LANE>().0) {
        accumulate_vector::<O, _, 1>(Baseline::always(), &mut before, from, to);
    }
    vectors.len() * LANE
}

/// Accumulates a vector, given the total `before` it.
///
/// The total of a vector does not depend on what came before, so the only thing the next vector
/// waits for is a single combination.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
#[inline(always)]
fn accumulate_vector<O: Operation, S: OneLane, const UNIT: usize>(
    simd: S,
    before: &mut S::Vector,
    from: &[u8; LANE],
    to: &mut [u8; LANE],
) {
    // SAFETY: an array of 16 bytes is readable.
    let loaded = unsafe { simd.load(from.as_ptr()) };
    let within = accumulate_within::<O, S, UNIT>(simd, loaded);
    // SAFETY: an array of 16 bytes is writable.
    unsafe { simd.store(to.as_mut_ptr(), O::combine_vectors(simd, within, *before)) };
    *before = O::combine_vectors(simd, *before, simd.splat_last::<UNIT>(within));
}

/// Accumulates within a vector: what is moved up by one, two, four and eight elements adds up.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
#[inline(always)]
fn accumulate_within<O: Operation, S: OneLane, const UNIT: usize>(simd: S, vector: S::Vector) -> S::Vector {
    let mut sum = vector;
    if UNIT <= 1 {
        sum = O::combine_vectors(simd, sum, simd.move_up::<1>(sum));
    }
    if UNIT <= 2 {
        sum = O::combine_vectors(simd, sum, simd.move_up::<2>(sum));
    }
    if UNIT <= 4 {
        sum = O::combine_vectors(simd, sum, simd.move_up::<4>(sum));
    }
    O::combine_vectors(simd, sum, simd.move_up::<8>(sum))
}
