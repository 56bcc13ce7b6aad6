//! Which instruction set kernels run on: the best of the processor, found out once, or one that was
//! chosen.

use core::sync::atomic::{AtomicU8, Ordering};

/// An instruction set that kernels are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Isa {
    /// Portable Rust, no intrinsics. Works everywhere.
    Scalar,
    /// SSE2, which every x86-64 processor has.
    Sse2,
    /// AVX2.
    Avx2,
    /// AVX-512 as Ice Lake and Zen 4 introduced it: F, DQ, BW, VL and VBMI.
    Avx512,
    /// The SIMD instructions every 64-bit Arm processor has.
    Neon,
    /// The 128-bit vectors of WebAssembly, where the program was compiled for them: a module that
    /// has them is refused as a whole by what does not know them.
    Simd128,
}

/// One more than the level that was chosen; 0 as long as none was. It is one that the processor
/// has.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

impl Isa {
    /// The instruction sets of the x86-64 architecture, each including the ones before it.
    #[cfg(target_arch = "x86_64")]
    const LEVELS: [Self; 4] = [Self::Scalar, Self::Sse2, Self::Avx2, Self::Avx512];

    /// The instruction sets of the 64-bit Arm architecture.
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    const LEVELS: [Self; 2] = [Self::Scalar, Self::Neon];

    /// WebAssembly with vectors.
    #[cfg(target_feature = "simd128")]
    const LEVELS: [Self; 2] = [Self::Scalar, Self::Simd128];

    /// No instruction set in particular.
    #[cfg(not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        target_feature = "simd128"
    )))]
    const LEVELS: [Self; 1] = [Self::Scalar];

    /// The instruction set that kernels run on: the fastest of this processor, which is detected on
    /// the first call, or the one that was [chosen](Self::choose).
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        let chosen = CHOSEN.load(Ordering::Relaxed);
        Self::LEVELS[if chosen == 0 { best_level() } else { usize::from(chosen - 1) }]
    }

    /// Makes all kernels of this process run on this instruction set from now on; returns whether
    /// the processor has it. If it does not, nothing changes.
    ///
    /// Kernels that are running go on as they are. Results are the same on every instruction set.
    #[must_use]
    pub fn choose(self) -> bool {
        let level = Self::LEVELS.iter().position(|&level| level == self).filter(|&level| level <= best_level());
        let chosen = level.and_then(|level| u8::try_from(level + 1).ok());
        if let Some(chosen) = chosen {
            CHOSEN.store(chosen, Ordering::Relaxed);
        }
        chosen.is_some()
    }

    /// The instruction set of this [name](Self::name), on whichever processor.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Scalar, Self::Sse2, Self::Avx2, Self::Avx512, Self::Neon, Self::Simd128]
            .into_iter()
            .find(|isa| isa.name() == name)
    }

    /// The instruction sets of this processor, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::LEVELS.into_iter().take(best_level() + 1)
    }

    /// Whether this processor has the instruction set.
    #[must_use]
    #[inline]
    pub fn is_available(self) -> bool {
        Self::LEVELS.iter().position(|&level| level == self).is_some_and(|level| level <= best_level())
    }

    /// The name in lower case, as in `avx2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Sse2 => "sse2",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
            Self::Simd128 => "simd128",
        }
    }
}

/// Whether this processor fetches by itself what is about to be written, and has space for more
/// than eight lines in a set of its first cache: those that have AVX-512 do, whichever instruction
/// set is asked for.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn foresees_stores() -> bool {
    Isa::Avx512.is_available()
}

/// Whether this processor fetches by itself what is about to be written; nothing is known of
/// others.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn foresees_stores() -> bool {
    false
}

/// Where the fastest instruction set of this processor is in [`Isa::LEVELS`].
#[cfg(target_arch = "x86_64")]
#[inline]
fn best_level() -> usize {
    /// One more than the level; 0 as long as nobody has looked.
    static DETECTED: AtomicU8 = AtomicU8::new(0);
    match DETECTED.load(Ordering::Relaxed) {
        0 => {
            // Two threads may both get here; they store the same number.
            let level = x86::best_level();
            DETECTED.store(level + 1, Ordering::Relaxed);
            usize::from(level)
        }
        known => usize::from(known - 1),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn best_level() -> usize {
    Isa::LEVELS.len() - 1
}

#[cfg(test)]
mod tests {
    use super::Isa;

    #[test]
    fn names_lead_back_to_their_instruction_sets() {
        for isa in [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon, Isa::Simd128] {
            assert_eq!(Isa::from_name(isa.name()), Some(isa));
        }
        assert_eq!(Isa::from_name("AVX2"), None);
    }

    #[test]
    fn what_the_processor_has_can_be_chosen_and_nothing_else() {
        let best = Isa::best();
        for isa in Isa::available() {
            assert!(isa.choose());
            assert_eq!(Isa::best(), isa);
            assert!(best.is_available(), "a choice does not change what there is");
        }
        assert!(best.choose());
        let foreign = if cfg!(target_arch = "aarch64") { Isa::Sse2 } else { Isa::Neon };
        assert!(!foreign.choose());
        assert_eq!(Isa::best(), best);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{__cpuid_count, _xgetbv, CpuidResult};

    /// Register state the operating system saves: bits of XCR0.
    const XCR0_AVX: u64 = 0b110;
    const XCR0_AVX512: u64 = 0b1110_0110;

    /// Where the fastest instruction set of this processor is among the x86-64 levels.
    #[cold]
    pub(super) fn best_level() -> u8 {
        if cfg!(miri) {
            // It has no `cpuid`, and knows what SSE2 does.
            return 1;
        }
        let saved_state = saved_state();
        let features = structured_features();
        let has = |register: u32, bits: &[u32]| bits.iter().all(|bit| register >> bit & 1 == 1);

        let avx2 = saved_state & XCR0_AVX == XCR0_AVX && has(features.ebx, &[3, 5, 8]) && has(features.ecx_1, &[28]);
        if !avx2 {
            return 1;
        }
        // F, DQ, BW, VL; then VBMI.
        let avx512 =
            saved_state & XCR0_AVX512 == XCR0_AVX512 && has(features.ebx, &[16, 17, 30, 31]) && has(features.ecx, &[1]);
        if avx512 { 3 } else { 2 }
    }

    struct Features {
        ecx_1: u32,
        ebx: u32,
        ecx: u32,
    }

    fn structured_features() -> Features {
        let leaf_1 = cpuid(1);
        if cpuid(0).eax < 7 {
            return Features { ecx_1: leaf_1.ecx, ebx: 0, ecx: 0 };
        }
        let leaf_7 = cpuid(7);
        Features { ecx_1: leaf_1.ecx, ebx: leaf_7.ebx, ecx: leaf_7.ecx }
    }

    fn cpuid(leaf: u32) -> CpuidResult {
        // SAFETY: every x86-64 processor has the instruction, and it does nothing but read and
        // write registers.
        #[allow(unused_unsafe, reason = "newer compilers have the function as a safe one")]
        unsafe {
            __cpuid_count(leaf, 0)
        }
    }

    fn saved_state() -> u64 {
        const XSAVE_ENABLED: u32 = 1 << 27;
        if cpuid(1).ecx & XSAVE_ENABLED == 0 {
            return 0;
        }
        // SAFETY: the operating system has enabled XSAVE, so the instruction is there and register
        // 0 exists.
        unsafe { _xgetbv(0) }
    }
}
