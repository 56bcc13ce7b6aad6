//! The vector operations kernels are written in, so that one kernel serves every instruction set.
//!
//! An instruction set is a token type that exists only where the processor has the instructions; a
//! kernel is generic over the token and runs inside [`Simd::run`], a function compiled for those
//! instructions. Vectors are one or more lanes of 16 bytes, and every operation that rearranges
//! bytes works within each lane.
#![cfg_attr(
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        target_feature = "simd128"
    )),
    allow(dead_code, reason = "nothing there to run the vector kernels on")
)]

pub(crate) mod network;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;
#[cfg(target_feature = "simd128")]
mod wasm;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) use self::neon::Neon;
#[cfg(target_feature = "simd128")]
pub(crate) use self::wasm::Simd128;
#[cfg(target_arch = "x86_64")]
pub(crate) use self::{avx2::Avx2, avx512::Avx512, sse2::Sse2};

/// Runs an expression with the token of an instruction set, or another if it is the scalar one or
/// the processor lacks it.
macro_rules! dispatch {
    ($isa:expr, $simd:ident => $vectors:expr, $scalar:expr) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Isa::Sse2 => match $crate::simd::Sse2::detect() {
                Some($simd) => $vectors,
                None => $scalar,
            },
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Isa::Avx2 => match $crate::simd::Avx2::detect() {
                Some($simd) => $vectors,
                None => $scalar,
            },
            #[cfg(target_arch = "x86_64")]
            $crate::isa::Isa::Avx512 => match $crate::simd::Avx512::detect() {
                Some($simd) => $vectors,
                None => $scalar,
            },
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            $crate::isa::Isa::Neon => match $crate::simd::Neon::detect() {
                Some($simd) => $vectors,
                None => $scalar,
            },
            #[cfg(target_feature = "simd128")]
            $crate::isa::Isa::Simd128 => match $crate::simd::Simd128::detect() {
                Some($simd) => $vectors,
                None => $scalar,
            },
            _ => $scalar,
        }
    };
}
pub(crate) use dispatch;

/// Runs an expression with the token of [`Baseline`] if the condition holds and an instruction set
/// other than the scalar one is asked for that the processor has; else another.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"), target_feature = "simd128"))]
macro_rules! dispatch_baseline {
    ($isa:expr, $simd:ident if $condition:expr => $vectors:expr, $scalar:expr) => {{
        let isa: $crate::isa::Isa = $isa;
        if $condition && isa != $crate::isa::Isa::Scalar && isa.is_available() {
            let $simd = $crate::simd::Baseline::always();
            $vectors
        } else {
            $scalar
        }
    }};
}

/// Runs the second expression: there are no vectors.
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little"),
    target_feature = "simd128"
)))]
macro_rules! dispatch_baseline {
    ($isa:expr, $simd:ident if $condition:expr => $vectors:expr, $scalar:expr) => {
        $scalar
    };
}
pub(crate) use dispatch_baseline;

/// The instruction set that every processor of the architecture has.
#[cfg(target_arch = "x86_64")]
pub(crate) type Baseline = Sse2;
/// The instruction set that every processor of the architecture has.
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
pub(crate) type Baseline = Neon;
/// The instruction set that the program was compiled for.
#[cfg(target_feature = "simd128")]
pub(crate) type Baseline = Simd128;

/// Bytes in a lane.
pub(crate) const LANE: usize = 16;

/// Lanes of the widest vector.
pub(crate) const MAX_LANES: usize = 4;

/// An index as an entry of a permutation table.
#[expect(clippy::cast_possible_truncation, reason = "checked, when the table is compiled")]
pub(crate) const fn entry(index: usize) -> u8 {
    assert!(index < MAX_LANES * LANE);
    index as u8
}

/// The places `from`, `from + stride` and so on, one for each lane.
#[inline(always)]
pub(crate) fn strided(from: *const u8, stride: usize) -> [*const u8; MAX_LANES] {
    [from, from.wrapping_add(stride), from.wrapping_add(2 * stride), from.wrapping_add(3 * stride)]
}

/// Code that runs on whatever instruction set it is handed. `run` must be `#[inline(always)]`.
pub(crate) trait Kernel {
    /// What the kernel returns.
    type Output;
    /// The work, in terms of the operations of `S`.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// The operations of one instruction set.
pub(crate) trait Simd: Copy {
    /// A vector.
    type Vector: Copy;
    /// Lanes of a vector.
    const LANES: usize;
    /// Bytes of a vector.
    const WIDTH: usize = LANE * Self::LANES;
    /// Whether all 16 vectors of a transpose fit the registers.
    const MANY_REGISTERS: bool;
    /// Whether it pays off to fetch what will be written, on processors that do not [foresee
    /// it](crate::isa::foresees_stores).
    const FETCHES: bool;
    /// The smallest chunk from which on [`Simd::deal`] is one instruction and the best way from
    /// rows to elements; `LANE` if there is none.
    const DEALS_FROM: usize;
    /// Whether vectors have two lanes, and [`Simd::join_lanes`] is cheaper than any other way
    /// across them for elements below [`SPREADS_FROM`](Self::SPREADS_FROM).
    const JOINS_LANES: bool;
    /// The smallest power of two of bytes from which the rows of an element are better spread over
    /// the lanes than the elements, not below `LANES`; `2 * LANE` if there is none.
    const SPREADS_FROM: usize;
    /// Whether [`Simd::permute`] is an instruction, and not worth avoiding.
    const PERMUTES: bool;

    /// Runs a kernel in a function compiled for this instruction set.
    fn run<K: Kernel>(self, kernel: K) -> K::Output;

    /// A vector of zeros.
    fn zero(self) -> Self::Vector;

    /// A vector of one byte over and over.
    fn splat(self, byte: u8) -> Self::Vector;

    /// Starts fetching the cache line of a place that will be written soon. The place may be
    /// anywhere.
    #[inline(always)]
    fn fetch(self, _at: *const u8) {}

    /// Loads a whole vector.
    ///
    /// # Safety
    /// `WIDTH` bytes from `from` on must be readable.
    unsafe fn load(self, from: *const u8) -> Self::Vector;

    /// Loads lane `l` from `at[l]`; places after the last lane are not looked at.
    ///
    /// # Safety
    /// 16 bytes must be readable from the place of each lane on.
    unsafe fn load_lanes(self, at: [*const u8; MAX_LANES]) -> Self::Vector;

    /// Stores a whole vector.
    ///
    /// # Safety
    /// `WIDTH` bytes from `to` on must be writable.
    unsafe fn store(self, to: *mut u8, vector: Self::Vector);

    /// Stores lane `LANE_INDEX`.
    ///
    /// # Safety
    /// 16 bytes from `to` on must be writable.
    unsafe fn store_lane<const LANE_INDEX: usize>(self, to: *mut u8, vector: Self::Vector);

    /// The lower halves of the lanes of `a` and `b`, alternating in granules of `GRANULE` bytes (1,
    /// 2, 4 or 8).
    fn zip_low<const GRANULE: usize>(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// The upper halves of the lanes of `a` and `b`, alternating in granules of `GRANULE` bytes (1,
    /// 2, 4 or 8).
    fn zip_high<const GRANULE: usize>(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// The vector, as something that the compiler knows nothing of: what is done to it before and
    /// after is not put together to other instructions.
    #[inline(always)]
    fn opaque(self, vector: Self::Vector) -> Self::Vector {
        vector
    }

    /// In each lane, byte `i` of the result is byte `table[i]` of the lane; `table[i]` is below 16.
    fn permute(self, vector: Self::Vector, table: &[u8; LANE]) -> Self::Vector;

    /// Deals chunks of `CHUNK` bytes out to the lanes in turn: chunk `c` of lane `l` of the result
    /// is chunk `c * LANES + l` of the vector. Only for chunks from `DEALS_FROM` on, and for chunks
    /// of 8 bytes where `JOINS_LANES`.
    fn deal<const CHUNK: usize>(self, vector: Self::Vector) -> Self::Vector {
        vector
    }

    /// The first lanes of `a` and `b`, and their second lanes. Only where `JOINS_LANES`.
    fn join_lanes(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector) {
        (a, b)
    }

    /// Puts the `WIDTH / P` elements together whose bytes lie across the lanes, `P / LANES` bytes
    /// of each element in each lane, and cuts them to their first `T` bytes. They come one after
    /// the other; what comes after them is arbitrary. Only for elements from `SPREADS_FROM` on, and
    /// where `JOINS_LANES` only for `T` equal to `P`.
    fn assemble<const T: usize, const P: usize>(self, vector: Self::Vector) -> Self::Vector {
        vector
    }

    /// The bits in which `a` and `b` differ.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// The bits set in `a` or `b`.
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Whether no bit is set.
    fn is_zero(self, vector: Self::Vector) -> bool;

    /// Exchanges the bits of `a` that are `DISTANCE` above those of `mask` with the bits of `b`
    /// under `mask`. `mask` is the same in every byte and no bit of it moves into another byte.
    fn exchange_bits<const DISTANCE: u32>(
        self,
        a: Self::Vector,
        b: Self::Vector,
        mask: u8,
    ) -> (Self::Vector, Self::Vector);
}

/// What an instruction set with a single lane has besides: sums that run from byte to byte. Those
/// of WebAssembly are made without vectors.
#[cfg(not(target_feature = "simd128"))]
pub(crate) trait OneLane: Simd {
    /// Moves every byte up by `BYTES` (1, 2, 4 or 8) and fills with zeros.
    fn move_up<const BYTES: usize>(self, vector: Self::Vector) -> Self::Vector;

    /// The last `UNIT` bytes (1, 2, 4 or 8) over and over.
    fn splat_last<const UNIT: usize>(self, vector: Self::Vector) -> Self::Vector;

    /// Sums of bytes, modulo 256.
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
}
