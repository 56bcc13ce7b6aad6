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

/// To be called right before a loop: lets it start at a cache line.
///
/// A branch that lies across two cache lines can make a tight loop a fifth slower; so it was for
/// the one that decodes LZ4, in every other build. What is given is what has to be ready before the
/// loop, so that nothing gets in between.
#[inline(always)]
pub(crate) fn align_loop(from: &[u8], to: &[u8], limit: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: at most a few instructions that do nothing.
    unsafe {
        core::arch::asm!(
            "/* {0} {1} {2} */", ".p2align 6",
            in(reg) from.as_ptr(), in(reg) to.as_ptr(), in(reg) limit,
            options(readonly, nostack, preserves_flags)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (from, to, limit);
}
