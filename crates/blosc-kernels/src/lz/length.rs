//! Lengths that go on in extension bytes, which LZ4 and BloscLZ share.

/// What lengths are cut to: more than any output has, and small enough that sums of a few of them
/// do not overflow.
const LIMIT: usize = usize::MAX / 8;

/// Sums up the extension bytes from `at` on, up to and including the first that is not 255.
///
/// Returns the sum and where the next field starts, or nothing if the input ends before.
#[inline(always)]
pub(crate) fn extension(src: &[u8], at: usize) -> Option<(usize, usize)> {
    match *src.get(at)? {
        255 => long_extension(src, at + 1),
        byte => Some((usize::from(byte), at + 1)),
    }
}

/// [`extension`] where the first byte is known to be inside.
///
/// # Safety
/// `at` is less than `src.len()`.
#[inline(always)]
pub(crate) unsafe fn extension_inside(src: &[u8], at: usize) -> Option<(usize, usize)> {
    debug_assert!(at < src.len());
    // SAFETY: the caller has `at` inside `src`.
    match unsafe { *src.get_unchecked(at) } {
        255 => long_extension(src, at + 1),
        byte => Some((usize::from(byte), at + 1)),
    }
}

/// [`extension`] after a first byte of 255. Long runs have many of these, so it takes eight in a
/// step.
#[cold]
#[inline(never)]
fn long_extension(src: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = src.get(at..)?;
    let mut next = 0;
    while let Some(word) = rest[next..].first_chunk() {
        let full = (!u64::from_le_bytes(*word)).trailing_zeros() as usize / 8;
        next += full;
        if full < 8 {
            return Some((summed(next, rest[next]), at + next + 1));
        }
    }
    while *rest.get(next)? == 255 {
        next += 1;
    }
    Some((summed(next, rest[next]), at + next + 1))
}

/// What a first 255, so many more and a last byte stand for.
#[inline(always)]
fn summed(more: usize, last: u8) -> usize {
    (more + 1).saturating_mul(255).saturating_add(usize::from(last)).min(LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn an_extension_is_the_sum_up_to_the_first_byte_below_255() {
        for full in 0..40 {
            let mut src = vec![255; full + 2];
            src[0] = 7;
            src.extend([3, 255, 9]);
            src[1 + full] = 42;
            assert_eq!(extension(&src, 1), Some((255 * full + 42, full + 2)));
            assert_eq!(extension(&src[..full + 1], 1), None);
        }
    }
}
