//! SSE2: one lane.

#[cfg(not(miri))]
use core::arch::asm;
use core::arch::x86_64::*;

use super::{Kernel, LANE, MAX_LANES, OneLane, Simd};

/// Proof that the processor has SSE2.
#[derive(Clone, Copy)]
pub(crate) struct Sse2(());

impl Sse2 {
    /// The token: every x86-64 processor has the instructions.
    pub(crate) fn always() -> Self {
        Self(())
    }

    /// The token, for uniformity with the other instruction sets.
    #[expect(clippy::unnecessary_wraps, reason = "the other instruction sets may be missing")]
    pub(crate) fn detect() -> Option<Self> {
        Some(Self::always())
    }
}

#[target_feature(enable = "sse2")]
fn run_compiled_for_it<K: Kernel>(simd: Sse2, kernel: K) -> K::Output {
    kernel.run(simd)
}

impl Simd for Sse2 {
    type Vector = __m128i;
    const LANES: usize = 1;
    const MANY_REGISTERS: bool = false;
    const FETCHES: bool = true;
    const DEALS_FROM: usize = 16;
    const JOINS_LANES: bool = false;
    const SPREADS_FROM: usize = 16;
    const PERMUTES: bool = false;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the token exists only where the instructions do.
        unsafe { run_compiled_for_it(self, kernel) }
    }

    #[inline(always)]
    fn zero(self) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm_setzero_si128() }
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    fn fetch(self, at: *const u8) {
        // SAFETY: a prefetch reads nothing a program can see, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> __m128i {
        // SAFETY: the caller's promise; the token exists only where the instructions do.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_lanes(self, at: [*const u8; MAX_LANES]) -> __m128i {
        // SAFETY: the caller's promise.
        unsafe { _mm_loadu_si128(at[0].cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, vector: __m128i) {
        // SAFETY: the caller's promise; the token exists only where the instructions do.
        unsafe { _mm_storeu_si128(to.cast(), vector) };
    }

    #[inline(always)]
    unsafe fn store_lane<const LANE_INDEX: usize>(self, to: *mut u8, vector: __m128i) {
        // SAFETY: the token exists only where the instructions do.
        let lane = unsafe { lane::<LANE_INDEX>(vector) };
        // SAFETY: the caller's promise.
        unsafe { _mm_storeu_si128(to.cast(), lane) };
    }

    #[inline(always)]
    fn zip_low<const GRANULE: usize>(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { zip_low::<GRANULE>(a, b) }
    }

    #[inline(always)]
    fn zip_high<const GRANULE: usize>(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { zip_high::<GRANULE>(a, b) }
    }

    #[inline(always)]
    fn opaque(self, vector: __m128i) -> __m128i {
        #[cfg(not(miri))]
        {
            let mut vector = vector;
            // SAFETY: it is no instruction at all.
            unsafe { asm!("/* {0} */", inout(xmm_reg) vector, options(pure, nomem, nostack, preserves_flags)) };
            vector
        }
        #[cfg(miri)]
        vector
    }

    #[inline(always)]
    fn permute(self, vector: __m128i, table: &[u8; LANE]) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { permute(vector, table) }
    }

    #[inline(always)]
    fn xor(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm_xor_si128(a, b) }
    }

    #[inline(always)]
    fn or(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm_or_si128(a, b) }
    }

    #[inline(always)]
    fn is_zero(self, vector: __m128i) -> bool {
        // SAFETY: the token exists only where the instructions do.
        unsafe { is_zero(vector) }
    }

    #[inline(always)]
    fn exchange_bits<const DISTANCE: u32>(self, a: __m128i, b: __m128i, mask: u8) -> (__m128i, __m128i) {
        // SAFETY: the token exists only where the instructions do.
        unsafe { exchange_bits::<DISTANCE>(a, b, mask) }
    }
}

impl OneLane for Sse2 {
    #[inline(always)]
    fn move_up<const BYTES: usize>(self, vector: __m128i) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { move_up::<BYTES>(vector) }
    }

    #[inline(always)]
    fn splat_last<const UNIT: usize>(self, vector: __m128i) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { splat_last::<UNIT>(vector) }
    }

    #[inline(always)]
    fn add(self, a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm_add_epi8(a, b) }
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn lane<const LANE_INDEX: usize>(vector: __m128i) -> __m128i {
    vector
}

#[target_feature(enable = "sse2")]
#[inline]
fn zip_low<const GRANULE: usize>(a: __m128i, b: __m128i) -> __m128i {
    match GRANULE {
        1 => _mm_unpacklo_epi8(a, b),
        2 => _mm_unpacklo_epi16(a, b),
        4 => _mm_unpacklo_epi32(a, b),
        _ => _mm_unpacklo_epi64(a, b),
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn zip_high<const GRANULE: usize>(a: __m128i, b: __m128i) -> __m128i {
    match GRANULE {
        1 => _mm_unpackhi_epi8(a, b),
        2 => _mm_unpackhi_epi16(a, b),
        4 => _mm_unpackhi_epi32(a, b),
        _ => _mm_unpackhi_epi64(a, b),
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn permute(vector: __m128i, table: &[u8; LANE]) -> __m128i {
    let mut bytes = [0_u8; LANE];
    // SAFETY: an array of 16 bytes is writable.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), vector) };
    let permuted = table.map(|at| bytes[usize::from(at & 15)]);
    // SAFETY: an array of 16 bytes is readable.
    unsafe { _mm_loadu_si128(permuted.as_ptr().cast()) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn exchange_bits<const DISTANCE: u32>(a: __m128i, b: __m128i, mask: u8) -> (__m128i, __m128i) {
    let mask = _mm_set1_epi8(mask.cast_signed());
    let changed = _mm_and_si128(_mm_xor_si128(shift_down::<DISTANCE>(a), b), mask);
    (_mm_xor_si128(a, shift_up::<DISTANCE>(changed)), _mm_xor_si128(b, changed))
}

#[target_feature(enable = "sse2")]
#[inline]
fn shift_down<const DISTANCE: u32>(vector: __m128i) -> __m128i {
    match DISTANCE {
        1 => _mm_srli_epi64::<1>(vector),
        2 => _mm_srli_epi64::<2>(vector),
        _ => _mm_srli_epi64::<4>(vector),
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn shift_up<const DISTANCE: u32>(vector: __m128i) -> __m128i {
    match DISTANCE {
        1 => _mm_slli_epi64::<1>(vector),
        2 => _mm_slli_epi64::<2>(vector),
        _ => _mm_slli_epi64::<4>(vector),
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn is_zero(vector: __m128i) -> bool {
    _mm_movemask_epi8(_mm_cmpeq_epi8(vector, _mm_setzero_si128())) == 0xFFFF
}

#[target_feature(enable = "sse2")]
#[inline]
fn move_up<const BYTES: usize>(vector: __m128i) -> __m128i {
    match BYTES {
        1 => _mm_slli_si128::<1>(vector),
        2 => _mm_slli_si128::<2>(vector),
        4 => _mm_slli_si128::<4>(vector),
        _ => _mm_slli_si128::<8>(vector),
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn splat_last<const UNIT: usize>(vector: __m128i) -> __m128i {
    match UNIT {
        1 => splat_last::<2>(_mm_unpackhi_epi8(vector, vector)),
        2 => splat_last::<4>(_mm_shufflehi_epi16::<0b11_11_11_11>(vector)),
        4 => _mm_shuffle_epi32::<0b11_11_11_11>(vector),
        _ => _mm_unpackhi_epi64(vector, vector),
    }
}
