//! AVX-512: four lanes.

use core::arch::x86_64::*;

use super::{Kernel, LANE, MAX_LANES, Simd, entry};
use crate::isa::Isa;

/// Proof that the processor has the AVX-512 of [`Isa::Avx512`].
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The token, if this processor has the instructions.
    pub(crate) fn detect() -> Option<Self> {
        Isa::Avx512.is_available().then_some(Self(()))
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
fn run_compiled_for_it<K: Kernel>(simd: Avx512, kernel: K) -> K::Output {
    kernel.run(simd)
}

impl Simd for Avx512 {
    type Vector = __m512i;
    const LANES: usize = 4;
    const MANY_REGISTERS: bool = true;
    const FETCHES: bool = false;
    const DEALS_FROM: usize = 1;
    const JOINS_LANES: bool = false;
    const SPREADS_FROM: usize = 4;
    const PERMUTES: bool = true;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the token exists only where the instructions do.
        unsafe { run_compiled_for_it(self, kernel) }
    }

    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> __m512i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm512_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    fn fetch(self, at: *const u8) {
        // SAFETY: a prefetch reads nothing a program can see, and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> __m512i {
        // SAFETY: the caller's promise; the token exists only where the instructions do.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_lanes(self, at: [*const u8; MAX_LANES]) -> __m512i {
        // SAFETY: the caller's promise for lane 0.
        let lane_0 = unsafe { _mm_loadu_si128(at[0].cast()) };
        // SAFETY: the caller's promise for lane 1.
        let lane_1 = unsafe { _mm_loadu_si128(at[1].cast()) };
        // SAFETY: the caller's promise for lane 2.
        let lane_2 = unsafe { _mm_loadu_si128(at[2].cast()) };
        // SAFETY: the caller's promise for lane 3.
        let lane_3 = unsafe { _mm_loadu_si128(at[3].cast()) };
        // SAFETY: the token exists only where the instructions do.
        unsafe { join_lanes(lane_0, lane_1, lane_2, lane_3) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, vector: __m512i) {
        // SAFETY: the caller's promise; the token exists only where the instructions do.
        unsafe { _mm512_storeu_si512(to.cast(), vector) };
    }

    #[inline(always)]
    unsafe fn store_lane<const LANE_INDEX: usize>(self, to: *mut u8, vector: __m512i) {
        // SAFETY: the token exists only where the instructions do.
        let lane = unsafe { lane::<LANE_INDEX>(vector) };
        // SAFETY: the caller's promise.
        unsafe { _mm_storeu_si128(to.cast(), lane) };
    }

    #[inline(always)]
    fn zip_low<const GRANULE: usize>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { zip_low::<GRANULE>(a, b) }
    }

    #[inline(always)]
    fn zip_high<const GRANULE: usize>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { zip_high::<GRANULE>(a, b) }
    }

    #[inline(always)]
    fn permute(self, vector: __m512i, table: &[u8; LANE]) -> __m512i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { permute(vector, table) }
    }

    #[inline(always)]
    fn deal<const CHUNK: usize>(self, vector: __m512i) -> __m512i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { deal::<CHUNK>(vector) }
    }

    #[inline(always)]
    fn assemble<const T: usize, const P: usize>(self, vector: __m512i) -> __m512i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { assemble::<T, P>(vector) }
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm512_xor_si512(a, b) }
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm512_or_si512(a, b) }
    }

    #[inline(always)]
    fn is_zero(self, vector: __m512i) -> bool {
        // SAFETY: the token exists only where the instructions do.
        unsafe { _mm512_test_epi64_mask(vector, vector) == 0 }
    }

    #[inline(always)]
    fn exchange_bits<const DISTANCE: u32>(self, a: __m512i, b: __m512i, mask: u8) -> (__m512i, __m512i) {
        // SAFETY: the token exists only where the instructions do.
        unsafe { exchange_bits::<DISTANCE>(a, b, mask) }
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn join_lanes(lane_0: __m128i, lane_1: __m128i, lane_2: __m128i, lane_3: __m128i) -> __m512i {
    let low = _mm256_set_m128i(lane_1, lane_0);
    let high = _mm256_set_m128i(lane_3, lane_2);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn lane<const LANE_INDEX: usize>(vector: __m512i) -> __m128i {
    match LANE_INDEX {
        0 => _mm512_castsi512_si128(vector),
        1 => _mm512_extracti32x4_epi32::<1>(vector),
        2 => _mm512_extracti32x4_epi32::<2>(vector),
        _ => _mm512_extracti32x4_epi32::<3>(vector),
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn zip_low<const GRANULE: usize>(a: __m512i, b: __m512i) -> __m512i {
    match GRANULE {
        1 => _mm512_unpacklo_epi8(a, b),
        2 => _mm512_unpacklo_epi16(a, b),
        4 => _mm512_unpacklo_epi32(a, b),
        _ => _mm512_unpacklo_epi64(a, b),
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn zip_high<const GRANULE: usize>(a: __m512i, b: __m512i) -> __m512i {
    match GRANULE {
        1 => _mm512_unpackhi_epi8(a, b),
        2 => _mm512_unpackhi_epi16(a, b),
        4 => _mm512_unpackhi_epi32(a, b),
        _ => _mm512_unpackhi_epi64(a, b),
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn permute(vector: __m512i, table: &[u8; LANE]) -> __m512i {
    // SAFETY: an array of 16 bytes is readable.
    let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
    _mm512_shuffle_epi8(vector, _mm512_broadcast_i32x4(table))
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn deal<const CHUNK: usize>(vector: __m512i) -> __m512i {
    let table = const { deal_table(CHUNK) };
    // SAFETY: an array of 64 bytes is readable.
    let table = unsafe { _mm512_loadu_si512(table.as_ptr().cast()) };
    _mm512_permutexvar_epi8(table, vector)
}

const fn deal_table(chunk: usize) -> [u8; 4 * LANE] {
    let mut table = [0; 4 * LANE];
    let mut i = 0;
    while i < table.len() {
        let (lane, in_lane) = (i / LANE, i % LANE);
        table[i] = entry((in_lane / chunk * 4 + lane) * chunk + i % chunk);
        i += 1;
    }
    table
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn exchange_bits<const DISTANCE: u32>(a: __m512i, b: __m512i, mask: u8) -> (__m512i, __m512i) {
    /// Truth table of "the second operand where the third is set, else the first".
    const SELECT: i32 = 0b1101_1000;
    let low = _mm512_set1_epi8(mask.cast_signed());
    let high = _mm512_set1_epi8((mask << DISTANCE).cast_signed());
    (
        _mm512_ternarylogic_epi64::<SELECT>(a, shift_up::<DISTANCE>(b), high),
        _mm512_ternarylogic_epi64::<SELECT>(b, shift_down::<DISTANCE>(a), low),
    )
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn shift_down<const DISTANCE: u32>(vector: __m512i) -> __m512i {
    match DISTANCE {
        1 => _mm512_srli_epi64::<1>(vector),
        2 => _mm512_srli_epi64::<2>(vector),
        _ => _mm512_srli_epi64::<4>(vector),
    }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn shift_up<const DISTANCE: u32>(vector: __m512i) -> __m512i {
    match DISTANCE {
        1 => _mm512_slli_epi64::<1>(vector),
        2 => _mm512_slli_epi64::<2>(vector),
        _ => _mm512_slli_epi64::<4>(vector),
    }
}

/// Brings the four pieces of each element together and cuts the elements to `T` bytes.
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
#[inline]
fn assemble<const T: usize, const P: usize>(vector: __m512i) -> __m512i {
    let table = const { assembly_table(T, P) };
    // SAFETY: an array of 64 bytes is readable.
    let table = unsafe { _mm512_loadu_si512(table.as_ptr().cast()) };
    _mm512_permutexvar_epi8(table, vector)
}

const fn assembly_table(t: usize, p: usize) -> [u8; 4 * LANE] {
    let mut table = [0; 4 * LANE];
    let piece = p.div_ceil(4);
    let mut i = 0;
    while i < 4 * LANE / p * t {
        let (element, byte) = (i / t, i % t);
        table[i] = entry(byte / piece * LANE + element * piece + byte % piece);
        i += 1;
    }
    table
}
