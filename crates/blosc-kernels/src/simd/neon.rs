//! NEON, of 64-bit Arm: one lane.

use core::arch::aarch64::*;

use super::{Kernel, LANE, MAX_LANES, OneLane, Simd};

/// Proof that the processor has NEON.
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

impl Neon {
    /// The token: every 64-bit Arm processor this compiles for has the instructions.
    pub(crate) fn always() -> Self {
        Self(())
    }

    /// The token, for uniformity with the other instruction sets.
    #[expect(clippy::unnecessary_wraps, reason = "the other instruction sets may be missing")]
    pub(crate) fn detect() -> Option<Self> {
        Some(Self::always())
    }
}

#[target_feature(enable = "neon")]
fn run_compiled_for_it<K: Kernel>(simd: Neon, kernel: K) -> K::Output {
    kernel.run(simd)
}

impl Simd for Neon {
    type Vector = uint8x16_t;
    const LANES: usize = 1;
    const MANY_REGISTERS: bool = true;
    const FETCHES: bool = true;
    const DEALS_FROM: usize = 16;
    const JOINS_LANES: bool = false;
    const SPREADS_FROM: usize = 16;
    const PERMUTES: bool = true;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // SAFETY: the token exists only where the instructions do.
        unsafe { run_compiled_for_it(self, kernel) }
    }

    #[inline(always)]
    fn zero(self) -> uint8x16_t {
        self.splat(0)
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> uint8x16_t {
        // SAFETY: the token exists only where the instructions do.
        unsafe { vdupq_n_u8(byte) }
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> uint8x16_t {
        // SAFETY: the caller's promise; the token exists only where the instructions do.
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn load_lanes(self, at: [*const u8; MAX_LANES]) -> uint8x16_t {
        // SAFETY: the caller's promise.
        unsafe { self.load(at[0]) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, vector: uint8x16_t) {
        // SAFETY: the caller's promise; the token exists only where the instructions do.
        unsafe { vst1q_u8(to, vector) };
    }

    #[inline(always)]
    unsafe fn store_lane<const LANE_INDEX: usize>(self, to: *mut u8, vector: uint8x16_t) {
        // SAFETY: the caller's promise; there is no other lane.
        unsafe { self.store(to, vector) };
    }

    #[inline(always)]
    fn zip_low<const GRANULE: usize>(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token exists only where the instructions do.
        unsafe { zip_low::<GRANULE>(a, b) }
    }

    #[inline(always)]
    fn zip_high<const GRANULE: usize>(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token exists only where the instructions do.
        unsafe { zip_high::<GRANULE>(a, b) }
    }

    #[inline(always)]
    fn permute(self, vector: uint8x16_t, table: &[u8; LANE]) -> uint8x16_t {
        // SAFETY: an array of 16 bytes is readable.
        let table = unsafe { self.load(table.as_ptr()) };
        // SAFETY: the token exists only where the instructions do.
        unsafe { vqtbl1q_u8(vector, table) }
    }

    #[inline(always)]
    fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token exists only where the instructions do.
        unsafe { veorq_u8(a, b) }
    }

    #[inline(always)]
    fn or(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token exists only where the instructions do.
        unsafe { vorrq_u8(a, b) }
    }

    #[inline(always)]
    fn is_zero(self, vector: uint8x16_t) -> bool {
        // SAFETY: the token exists only where the instructions do.
        let largest = unsafe { vmaxvq_u8(vector) };
        largest == 0
    }

    #[inline(always)]
    fn exchange_bits<const DISTANCE: u32>(self, a: uint8x16_t, b: uint8x16_t, mask: u8) -> (uint8x16_t, uint8x16_t) {
        // SAFETY: the token exists only where the instructions do.
        unsafe { exchange_bits::<DISTANCE>(a, b, mask) }
    }
}

impl OneLane for Neon {
    #[inline(always)]
    fn move_up<const BYTES: usize>(self, vector: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token exists only where the instructions do.
        unsafe { move_up::<BYTES>(vector) }
    }

    #[inline(always)]
    fn splat_last<const UNIT: usize>(self, vector: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token exists only where the instructions do.
        unsafe { splat_last::<UNIT>(vector) }
    }

    #[inline(always)]
    fn add(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: the token exists only where the instructions do.
        unsafe { vaddq_u8(a, b) }
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn zip_low<const GRANULE: usize>(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    match GRANULE {
        1 => vzip1q_u8(a, b),
        2 => vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b))),
        4 => vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b))),
        _ => vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))),
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn zip_high<const GRANULE: usize>(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    match GRANULE {
        1 => vzip2q_u8(a, b),
        2 => vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b))),
        4 => vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b))),
        _ => vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))),
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn exchange_bits<const DISTANCE: u32>(a: uint8x16_t, b: uint8x16_t, mask: u8) -> (uint8x16_t, uint8x16_t) {
    let low = vdupq_n_u8(mask);
    let high = vdupq_n_u8(mask << DISTANCE);
    let (up, down) = match DISTANCE {
        1 => (vshlq_n_u8::<1>(b), vshrq_n_u8::<1>(a)),
        2 => (vshlq_n_u8::<2>(b), vshrq_n_u8::<2>(a)),
        _ => (vshlq_n_u8::<4>(b), vshrq_n_u8::<4>(a)),
    };
    (vbslq_u8(high, up, a), vbslq_u8(low, down, b))
}

#[target_feature(enable = "neon")]
#[inline]
fn move_up<const BYTES: usize>(vector: uint8x16_t) -> uint8x16_t {
    let zero = vdupq_n_u8(0);
    match BYTES {
        1 => vextq_u8::<15>(zero, vector),
        2 => vextq_u8::<14>(zero, vector),
        4 => vextq_u8::<12>(zero, vector),
        _ => vextq_u8::<8>(zero, vector),
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn splat_last<const UNIT: usize>(vector: uint8x16_t) -> uint8x16_t {
    match UNIT {
        1 => vdupq_laneq_u8::<15>(vector),
        2 => vreinterpretq_u8_u16(vdupq_laneq_u16::<7>(vreinterpretq_u16_u8(vector))),
        4 => vreinterpretq_u8_u32(vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(vector))),
        _ => vreinterpretq_u8_u64(vdupq_laneq_u64::<1>(vreinterpretq_u64_u8(vector))),
    }
}
