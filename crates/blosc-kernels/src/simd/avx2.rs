//! AVX2: two lanes.

#[cfg(not(miri))]
use core::arch::asm;
use core::arch::x86_64::*;

use super::{Kernel, LANE, MAX_LANES, Simd};
use crate::isa::Isa;

/// Proof that the processor has AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The token, if this processor has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        Isa::Avx2.is_available().then_some(Self(()))
    }
}

#[target_feature(enable = "avx2")]
fn run_compiled_for_it<K: Kernel>(simd: Avx2, kernel: K) -> K::Output {
    kernel.run(simd)
}

impl Simd for Avx2 {
    type Vector = __m256i;
    const LANES: usize = 2;
    const MANY_REGISTERS: bool = false;
    const FETCHES: bool = true;
    const DEALS_FROM: usize = LANE;
    const JOINS_LANES: bool = true;
    const SPREADS_FROM: usize = 8;
    const PERMUTES: bool = true;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the token exists only where the instructions do.
        unsafe { run_compiled_for_it(self, kernel) }
    }

    #[inline(always)]
    fn zero(self) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm256_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    fn fetch(self, at: *const u8) {
        // SAFETY: a prefetch reads nothing a program can see, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> __m256i {
        // SAFETY: the caller's promise; the token exists only where the instructions do.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_lanes(self, at: [*const u8; MAX_LANES]) -> __m256i {
        // SAFETY: the caller's promise for lane 0.
        let low = unsafe { _mm_loadu_si128(at[0].cast()) };
        // SAFETY: the caller's promise for lane 1.
        let high = unsafe { _mm_loadu_si128(at[1].cast()) };
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm256_set_m128i(high, low) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, vector: __m256i) {
        // SAFETY: the caller's promise; the token exists only where the instructions do.
        unsafe { _mm256_storeu_si256(to.cast(), vector) };
    }

    #[inline(always)]
    unsafe fn store_lane<const LANE_INDEX: usize>(self, to: *mut u8, vector: __m256i) {
        // SAFETY: the token exists only where the instructions do.
        let lane = unsafe { lane::<LANE_INDEX>(vector) };
        // SAFETY: the caller's promise.
        unsafe { _mm_storeu_si128(to.cast(), lane) };
    }

    #[inline(always)]
    fn zip_low<const GRANULE: usize>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { zip_low::<GRANULE>(a, b) }
    }

    #[inline(always)]
    fn zip_high<const GRANULE: usize>(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { zip_high::<GRANULE>(a, b) }
    }

    #[inline(always)]
    fn opaque(self, vector: __m256i) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { opaque(vector) }
    }

    #[inline(always)]
    fn permute(self, vector: __m256i, table: &[u8; LANE]) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { permute(vector, table) }
    }

    #[inline(always)]
    fn deal<const CHUNK: usize>(self, vector: __m256i) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { deal_halves(vector) }
    }

    #[inline(always)]
    fn join_lanes(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        // SAFETY: the token exists only where the instructions do.
        unsafe { join_lanes(a, b) }
    }

    #[inline(always)]
    fn assemble<const T: usize, const P: usize>(self, vector: __m256i) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { assemble::<P>(vector) }
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm256_xor_si256(a, b) }
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm256_or_si256(a, b) }
    }

    #[inline(always)]
    fn is_zero(self, vector: __m256i) -> bool {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm256_testz_si256(vector, vector) == 1 }
    }

    #[inline(always)]
    fn exchange_bits<const DISTANCE: u32>(self, a: __m256i, b: __m256i, mask: u8) -> (__m256i, __m256i) {
        // SAFETY: the token exists only where the instructions do.
        unsafe { exchange_bits::<DISTANCE>(a, b, mask) }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn lane<const LANE_INDEX: usize>(vector: __m256i) -> __m128i {
    if LANE_INDEX == 0 { _mm256_castsi256_si128(vector) } else { _mm256_extracti128_si256::<1>(vector) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn zip_low<const GRANULE: usize>(a: __m256i, b: __m256i) -> __m256i {
    match GRANULE {
        1 => _mm256_unpacklo_epi8(a, b),
        2 => _mm256_unpacklo_epi16(a, b),
        4 => _mm256_unpacklo_epi32(a, b),
        _ => _mm256_unpacklo_epi64(a, b),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn zip_high<const GRANULE: usize>(a: __m256i, b: __m256i) -> __m256i {
    match GRANULE {
        1 => _mm256_unpackhi_epi8(a, b),
        2 => _mm256_unpackhi_epi16(a, b),
        4 => _mm256_unpackhi_epi32(a, b),
        _ => _mm256_unpackhi_epi64(a, b),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn opaque(vector: __m256i) -> __m256i {
    #[cfg(not(miri))]
    {
        let mut vector = vector;
        // SAFETY: it is no instruction at all.
        unsafe { asm!("/* {0} */", inout(ymm_reg) vector, options(pure, nomem, nostack, preserves_flags)) };
        vector
    }
    #[cfg(miri)]
    vector
}

#[target_feature(enable = "avx2")]
#[inline]
fn deal_halves(vector: __m256i) -> __m256i {
    _mm256_permute4x64_epi64::<0b11_01_10_00>(vector)
}

#[target_feature(enable = "avx2")]
#[inline]
fn assemble<const P: usize>(vector: __m256i) -> __m256i {
    if P == LANE {
        _mm256_permute4x64_epi64::<0b11_01_10_00>(vector)
    } else {
        _mm256_permutevar8x32_epi32(vector, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn permute(vector: __m256i, table: &[u8; LANE]) -> __m256i {
    // SAFETY: an array of 16 bytes is readable.
    let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
    _mm256_shuffle_epi8(vector, _mm256_broadcastsi128_si256(table))
}

#[target_feature(enable = "avx2")]
#[inline]
fn exchange_bits<const DISTANCE: u32>(a: __m256i, b: __m256i, mask: u8) -> (__m256i, __m256i) {
    let mask = _mm256_set1_epi8(mask.cast_signed());
    let changed = _mm256_and_si256(_mm256_xor_si256(shift_down::<DISTANCE>(a), b), mask);
    (_mm256_xor_si256(a, shift_up::<DISTANCE>(changed)), _mm256_xor_si256(b, changed))
}

#[target_feature(enable = "avx2")]
#[inline]
fn shift_down<const DISTANCE: u32>(vector: __m256i) -> __m256i {
    match DISTANCE {
        1 => _mm256_srli_epi64::<1>(vector),
        2 => _mm256_srli_epi64::<2>(vector),
        _ => _mm256_srli_epi64::<4>(vector),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn shift_up<const DISTANCE: u32>(vector: __m256i) -> __m256i {
    match DISTANCE {
        1 => _mm256_slli_epi64::<1>(vector),
        2 => _mm256_slli_epi64::<2>(vector),
        _ => _mm256_slli_epi64::<4>(vector),
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn join_lanes(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    (_mm256_permute2x128_si256::<0x20>(a, b), _mm256_permute2x128_si256::<0x31>(a, b))
}
