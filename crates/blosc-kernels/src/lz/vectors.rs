//! The registers that copies of matches go through, for each instruction set.

use crate::isa::Isa;

/// The widest register of an instruction set. A value is proof that the processor has it.
///
/// All methods are inlined into the caller, which [`Vectors::outline`] compiles for the instruction
/// set.
pub(crate) trait Vectors: Copy {
    /// What a register holds.
    type Register: Copy;
    /// Bytes of a register: 16 or 32.
    const WIDTH: usize;

    /// # Safety
    /// `at + WIDTH` is at most `from.len()`.
    unsafe fn load(self, from: &[u8], at: usize) -> Self::Register;

    /// # Safety
    /// `at + WIDTH` is at most `to.len()`.
    unsafe fn store(self, to: &mut [u8], at: usize, value: Self::Register);

    /// The `period` bytes from `at` on, repeated as often as they fit. `period` is from 1 to
    /// `WIDTH`.
    ///
    /// # Safety
    /// `at + WIDTH` is at most `from.len()`.
    unsafe fn load_repeated(self, from: &[u8], at: usize, period: usize) -> Self::Register;

    /// Copies 32 bytes within `bytes`: loads that are short, so that few of them have to wait for
    /// the latest stores, and a store that is long, so that loads that come soon are inside of it.
    ///
    /// # Safety
    /// `from + 32` is at most `to`, and `to + 32` at most `bytes.len()`.
    unsafe fn join_within(self, bytes: &mut [u8], from: usize, to: usize);

    /// Runs `job` in a function of its own, compiled for the instruction set.
    fn outline<J: Job>(self, job: J) -> J::Output;
}

/// Something to do with the registers of an instruction set that is chosen at run time.
pub(crate) trait Job {
    /// What it results in.
    type Output;

    /// Does it. Must be `#[inline(always)]`, so that it is compiled for the instruction set.
    fn run<V: Vectors>(self, vectors: V) -> Self::Output;
}

/// Runs `job` with the fastest registers of the processor.
#[inline]
pub(crate) fn dispatch<J: Job>(job: J) -> J::Output {
    // SAFETY: the processor has what is best of it.
    unsafe { dispatch_unchecked(Isa::best(), job) }
}

/// Runs `job` with the registers of `isa`.
///
/// # Panics
/// If the processor does not have them.
#[cfg(test)]
pub(crate) fn dispatch_on<J: Job>(isa: Isa, job: J) -> J::Output {
    assert!(isa.is_available());
    // SAFETY: the assertion.
    unsafe { dispatch_unchecked(isa, job) }
}

/// # Safety
/// The processor has `isa`.
#[inline]
unsafe fn dispatch_unchecked<J: Job>(isa: Isa, job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    if matches!(isa, Isa::Avx2 | Isa::Avx512) {
        // SAFETY: both sets include AVX2, BMI1 and BMI2.
        return unsafe { avx2::Avx2::new() }.outline(job);
    }
    let _ = isa;
    Portable.outline(job)
}

/// How far to go on after a store of [`Vectors::load_repeated`], so that the next store continues
/// the pattern: the whole periods in a register. `period` is from 1 to `WIDTH`.
#[inline(always)]
pub(crate) fn stride<V: Vectors>(period: usize) -> usize {
    static OF_16: [u8; 33] = strides(16);
    static OF_32: [u8; 33] = strides(32);
    usize::from(if V::WIDTH == 32 { OF_32[period] } else { OF_16[period] })
}

const fn strides(width: u8) -> [u8; 33] {
    let mut table = [0; 33];
    let mut period = 1;
    while period <= width {
        table[period as usize] = width - width % period;
        period += 1;
    }
    table
}

/// Plain Rust integers.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Vectors for Portable {
    type Register = u128;
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn load(self, from: &[u8], at: usize) -> u128 {
        debug_assert!(at + Self::WIDTH <= from.len());
        // SAFETY: the caller has `at` inside `from`.
        let start = unsafe { from.as_ptr().add(at) };
        // SAFETY: 16 bytes from there are inside `from`, says the caller.
        unsafe { start.cast::<u128>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: &mut [u8], at: usize, value: u128) {
        debug_assert!(at + Self::WIDTH <= to.len());
        // SAFETY: the caller has `at` inside `to`.
        let start = unsafe { to.as_mut_ptr().add(at) };
        // SAFETY: 16 bytes from there are inside `to`, says the caller.
        unsafe { start.cast::<u128>().write_unaligned(value) };
    }

    #[inline(always)]
    unsafe fn load_repeated(self, from: &[u8], at: usize, period: usize) -> u128 {
        // SAFETY: the same contract.
        let bytes = unsafe { self.load(from, at) };
        // The usual periods without a loop.
        let every = match period {
            1 => u128::MAX / 0xff,
            2 => u128::MAX / 0xffff,
            4 => u128::MAX / 0xffff_ffff,
            8 => u128::MAX / 0xffff_ffff_ffff_ffff,
            16 => return bytes,
            _ => 0,
        };
        if every != 0 {
            let one = u128::from_le(bytes) & ((1 << (8 * period)) - 1);
            return one.wrapping_mul(every).to_le();
        }
        let mut filled = 8 * period;
        let mut pattern = u128::from_le(bytes) & ((1 << filled) - 1);
        while filled < 8 * Self::WIDTH {
            pattern |= pattern << filled;
            filled *= 2;
        }
        pattern.to_le()
    }

    #[inline(always)]
    unsafe fn join_within(self, bytes: &mut [u8], from: usize, to: usize) {
        for at in [0, 16] {
            // SAFETY: the caller has both places inside.
            let half = unsafe { self.load(bytes, from + at) };
            // SAFETY: as above.
            unsafe { self.store(bytes, to + at, half) };
        }
    }

    #[inline]
    fn outline<J: Job>(self, job: J) -> J::Output {
        job.run(self)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Job, Vectors};
    use core::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_set_m128i,
        _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_storeu_si256,
    };

    /// Proof that the processor has AVX2, BMI1 and BMI2.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(());

    impl Avx2 {
        /// # Safety
        /// The processor has AVX2, BMI1 and BMI2.
        pub(super) unsafe fn new() -> Self {
            Self(())
        }
    }

    /// `PHASES[p][i]` is `i % p`: shuffles the `p` bytes at the start of both halves of a register
    /// into a repeated pattern.
    static PHASES: [[u8; 32]; 17] = phases();

    const fn phases() -> [[u8; 32]; 17] {
        let mut table = [[0; 32]; 17];
        let mut period = 1;
        while period <= 16 {
            let mut at = 0;
            while at < 32 {
                table[period as usize][at as usize] = at % period;
                at += 1;
            }
            period += 1;
        }
        table
    }

    impl Vectors for Avx2 {
        type Register = __m256i;
        const WIDTH: usize = 32;

        #[inline(always)]
        unsafe fn load(self, from: &[u8], at: usize) -> __m256i {
            debug_assert!(at + Self::WIDTH <= from.len());
            // SAFETY: the caller has `at` inside `from`.
            let start = unsafe { from.as_ptr().add(at) };
            // SAFETY: 32 bytes from there are inside `from`, says the caller; `self` is proof of
            // AVX2.
            unsafe { _mm256_loadu_si256(start.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: &mut [u8], at: usize, value: __m256i) {
            debug_assert!(at + Self::WIDTH <= to.len());
            // SAFETY: the caller has `at` inside `to`.
            let start = unsafe { to.as_mut_ptr().add(at) };
            // SAFETY: 32 bytes from there are inside `to`, says the caller; `self` is proof of
            // AVX2.
            unsafe { _mm256_storeu_si256(start.cast(), value) };
        }

        // A load that is not inside one of the latest stores has to wait for them; so none is
        // longer than it must be.
        #[inline(always)]
        unsafe fn load_repeated(self, from: &[u8], at: usize, period: usize) -> __m256i {
            if period > 16 {
                // SAFETY: the same contract.
                return unsafe { self.load(from, at) };
            }
            debug_assert!(at + Self::WIDTH <= from.len());
            // SAFETY: the caller has `at` inside `from`.
            let start = unsafe { from.as_ptr().add(at) };
            let bytes = if period <= 8 {
                // SAFETY: 8 bytes from there are inside `from`, says the caller.
                let word = unsafe { start.cast::<i64>().read_unaligned() };
                // SAFETY: `self` is proof of AVX2.
                unsafe { _mm256_set1_epi64x(word) }
            } else {
                // SAFETY: 16 bytes from there are inside `from`, says the caller.
                let half = unsafe { _mm_loadu_si128(start.cast()) };
                // SAFETY: `self` is proof of AVX2.
                unsafe { _mm256_broadcastsi128_si256(half) }
            };
            // SAFETY: a row of the table has 32 bytes.
            let phases = unsafe { self.load(&PHASES[period], 0) };
            // SAFETY: `self` is proof of AVX2.
            unsafe { _mm256_shuffle_epi8(bytes, phases) }
        }

        #[inline(always)]
        unsafe fn join_within(self, bytes: &mut [u8], from: usize, to: usize) {
            debug_assert!(from + 32 <= to && to + 32 <= bytes.len());
            // SAFETY: the caller has `from` inside `bytes`.
            let start = unsafe { bytes.as_ptr().add(from) };
            // SAFETY: 32 bytes from there are inside `bytes`, says the caller; `self` is proof of
            // AVX2.
            let low = unsafe { _mm_loadu_si128(start.cast()) };
            // SAFETY: the caller has 32 bytes inside.
            let middle = unsafe { start.add(16) };
            // SAFETY: as above.
            let high = unsafe { _mm_loadu_si128(middle.cast()) };
            // SAFETY: `self` is proof of AVX2.
            let both = unsafe { _mm256_set_m128i(high, low) };
            // SAFETY: the caller has both places inside.
            unsafe { self.store(bytes, to, both) };
        }

        #[inline]
        fn outline<J: Job>(self, job: J) -> J::Output {
            // SAFETY: `self` is proof of the features.
            unsafe { outline(self, job) }
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    #[inline(never)]
    fn outline<J: Job>(vectors: Avx2, job: J) -> J::Output {
        job.run(vectors)
    }
}
