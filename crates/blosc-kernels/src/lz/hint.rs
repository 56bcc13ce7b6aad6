//! Hints for the compiler.

/// The condition, which mostly holds: what is done when it does not goes out of line.
#[inline(always)]
pub(crate) fn likely(condition: bool) -> bool {
    if !condition {
        cold();
    }
    condition
}

/// The condition, which mostly does not hold.
#[inline(always)]
pub(crate) fn unlikely(condition: bool) -> bool {
    if condition {
        cold();
    }
    condition
}

#[cold]
#[inline(always)]
fn cold() {}

/// The value, which the compiler then cannot merge with what is computed from it.
///
/// The position of the next sequence is the longest chain of dependent steps in a decoder. A
/// constant in the sum has to be added while the token is still being loaded; the compiler would
/// add it last.
#[inline(always)]
pub(crate) fn opaque(value: usize) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut value = value;
        // SAFETY: it is no instruction at all.
        unsafe { core::arch::asm!("/* {0} */", inout(reg) value, options(pure, nomem, nostack, preserves_flags)) };
        value
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    value
}

/// To be called right before a loop: lets it start so many bytes behind the start of a cache line,
/// but for what the compiler puts in between.
///
/// Where its branches lie in a cache line can make a tight loop a fifth slower, or half as fast: so
/// it was, in one build or another, for the loop that decodes LZ4, best at 0, and for the one that
/// looks for its matches, best at 32. What is given is what has to be ready before the loop, so
/// that little gets in between.
#[inline(always)]
pub(crate) fn align_loop<const OFFSET: usize>(from: *const u8, to: *const u8, limit: usize) {
    const { assert!(OFFSET == 0 || OFFSET == 32) };
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: at most a few instructions that do nothing.
    unsafe {
        core::arch::asm!(
            "/* {0} {1} {2} */", ".p2align 6",
            in(reg) from, in(reg) to, in(reg) limit,
            options(readonly, nostack, preserves_flags)
        );
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if OFFSET == 32 {
        // SAFETY: a few instructions that do nothing.
        unsafe { core::arch::asm!(".nops 32", options(readonly, nostack, preserves_flags)) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (from, to, limit);
}
