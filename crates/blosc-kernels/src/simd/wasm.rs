//! The vectors of WebAssembly: one lane.
//!
//! A module with these instructions is checked when it is loaded, so that calling them is always
//! safe; only memory is not.

use core::arch::wasm32::*;

use super::{Kernel, LANE, MAX_LANES, Simd};

/// Proof that the program was compiled for vectors.
#[derive(Clone, Copy)]
pub(crate) struct Simd128(());

impl Simd128 {
    /// The token: this file is compiled where the instructions are.
    pub(crate) fn always() -> Self {
        Self(())
    }

    /// The token, for uniformity with the other instruction sets.
    #[expect(clippy::unnecessary_wraps, reason = "the other instruction sets may be missing")]
    pub(crate) fn detect() -> Option<Self> {
        Some(Self::always())
    }
}

impl Simd for Simd128 {
    type Vector = v128;
    const LANES: usize = 1;
    /// Whoever compiles the module decides, mostly for 16.
    const MANY_REGISTERS: bool = false;
    const FETCHES: bool = false;
    const DEALS_FROM: usize = 16;
    const JOINS_LANES: bool = false;
    const SPREADS_FROM: usize = 16;
    const PERMUTES: bool = true;

    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn zero(self) -> v128 {
        self.splat(0)
    }

    #[inline(always)]
    fn splat(self, byte: u8) -> v128 {
        u8x16_splat(byte)
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> v128 {
        // SAFETY: the caller's promise; no alignment is needed.
        unsafe { v128_load(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_lanes(self, at: [*const u8; MAX_LANES]) -> v128 {
        // SAFETY: the caller's promise.
        unsafe { self.load(at[0]) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, vector: v128) {
        // SAFETY: the caller's promise; no alignment is needed.
        unsafe { v128_store(to.cast(), vector) };
    }

    #[inline(always)]
    unsafe fn store_lane<const LANE_INDEX: usize>(self, to: *mut u8, vector: v128) {
        // SAFETY: the caller's promise; there is no other lane.
        unsafe { self.store(to, vector) };
    }

    #[inline(always)]
    fn zip_low<const GRANULE: usize>(self, a: v128, b: v128) -> v128 {
        match GRANULE {
            1 => u8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b),
            2 => u16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a, b),
            4 => u32x4_shuffle::<0, 4, 1, 5>(a, b),
            _ => u64x2_shuffle::<0, 2>(a, b),
        }
    }

    #[inline(always)]
    fn zip_high<const GRANULE: usize>(self, a: v128, b: v128) -> v128 {
        match GRANULE {
            1 => u8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b),
            2 => u16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a, b),
            4 => u32x4_shuffle::<2, 6, 3, 7>(a, b),
            _ => u64x2_shuffle::<1, 3>(a, b),
        }
    }

    #[inline(always)]
    fn permute(self, vector: v128, table: &[u8; LANE]) -> v128 {
        // SAFETY: an array of 16 bytes is readable.
        let table = unsafe { self.load(table.as_ptr()) };
        u8x16_swizzle(vector, table)
    }

    #[inline(always)]
    fn xor(self, a: v128, b: v128) -> v128 {
        v128_xor(a, b)
    }

    #[inline(always)]
    fn or(self, a: v128, b: v128) -> v128 {
        v128_or(a, b)
    }

    #[inline(always)]
    fn is_zero(self, vector: v128) -> bool {
        !v128_any_true(vector)
    }

    #[inline(always)]
    fn exchange_bits<const DISTANCE: u32>(self, a: v128, b: v128, mask: u8) -> (v128, v128) {
        // Words are shifted, which is one instruction everywhere, and bytes are not: what comes
        // from a neighbour is not under the mask.
        let (low, high) = (u8x16_splat(mask), u8x16_splat(mask << DISTANCE));
        let (up, down) = (u16x8_shl(b, DISTANCE), u16x8_shr(a, DISTANCE));
        (v128_bitselect(up, a, high), v128_bitselect(down, b, low))
    }
}
