//! What the encoders share: reading and hashing words, and comparing what follows or precedes them.

/// How many bytes are compared first.
const SHORT: usize = 32;
/// How many bytes of long matches are compared at once.
const WIDE: usize = 64;

/// The `N` bytes at `at`.
///
/// # Safety
/// `at + N` must not be above `src.len()`.
#[inline(always)]
pub(crate) unsafe fn load<const N: usize>(src: &[u8], at: usize) -> [u8; N] {
    // SAFETY: the caller promises the same.
    *unsafe { view(src, at) }
}

/// The `N` bytes at `at`, where they are.
///
/// # Safety
/// `at + N` must not be above `src.len()`.
#[inline(always)]
unsafe fn view<const N: usize>(src: &[u8], at: usize) -> &[u8; N] {
    debug_assert!(at + N <= src.len());
    // SAFETY: `at` is inside of `src`, as the caller promises.
    let start = unsafe { src.as_ptr().add(at) };
    // SAFETY: `N` bytes of `src` follow `start`, as the caller promises, and an array of bytes
    // needs no alignment.
    unsafe { &*start.cast::<[u8; N]>() }
}

/// A hash of `bits` bits of a four-byte word.
#[inline(always)]
pub(crate) fn hash4(word: u32, bits: u32) -> usize {
    (word.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

/// A hash of `bits` bits of the low five bytes of a word.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "at most `bits` bits are left after the shift")]
pub(crate) fn hash5(word: u64, bits: u32) -> usize {
    ((word << 24).wrapping_mul(889_523_592_379) >> (64 - bits)) as usize
}

/// A hash of `bits` bits of the low seven bytes of a word.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "at most `bits` bits are left after the shift")]
pub(crate) fn hash7(word: u64, bits: u32) -> usize {
    ((word << 8).wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - bits)) as usize
}

/// The low four bytes of a word.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the upper half is not wanted")]
pub(crate) fn low4(word: u64) -> u32 {
    word as u32
}

/// How many bytes from `near` on equal the bytes from `far` on, comparing no byte at or after
/// `end`.
#[inline(always)]
pub(crate) fn common_length(src: &[u8], far: usize, near: usize, end: usize) -> usize {
    assert!(far <= near && near <= end && end <= src.len());
    if end - near < SHORT {
        return few_common(src, far, near, end);
    }
    // SAFETY: `SHORT` bytes follow `near`, so they follow `far`, which is not above it.
    let a: &[u8; SHORT] = unsafe { view(src, far) };
    // SAFETY: `end` is at least `SHORT` above `near` and not above the length.
    let b: &[u8; SHORT] = unsafe { view(src, near) };
    let different = first_word(a) ^ first_word(b);
    if different != 0 {
        return (different.trailing_zeros() / 8) as usize;
    }
    let equal = equal_in_short(a, b);
    if equal < SHORT { equal } else { long_common(src, far, near, end) }
}

/// The first eight bytes.
#[inline(always)]
fn first_word(bytes: &[u8; SHORT]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("eight of SHORT bytes"))
}

/// [`common_length`] near the end of the input.
#[inline(never)]
fn few_common(src: &[u8], far: usize, near: usize, end: usize) -> usize {
    src[far..].iter().zip(&src[near..end]).take_while(|(a, b)| a == b).count()
}

/// [`common_length`] where the first [`SHORT`] bytes are equal.
#[inline(never)]
fn long_common(src: &[u8], far: usize, near: usize, end: usize) -> usize {
    let (a, b) = (&src[far..][..end - near], &src[near..end]);
    let mut start = SHORT;
    for (x, y) in a[SHORT..].as_chunks().0.iter().zip(b[SHORT..].as_chunks().0) {
        if let Some(equal) = first_difference(x, y) {
            return start + equal;
        }
        start += WIDE;
    }
    while let (Some(x), Some(y)) = (a[start..].first_chunk(), b[start..].first_chunk()) {
        let equal = equal_in_short(x, y);
        start += equal;
        if equal < SHORT {
            return start;
        }
    }
    start + few_common(src, far + start, near + start, end)
}

/// Where the first bytes are that differ.
#[inline(always)]
fn first_difference(a: &[u8; WIDE], b: &[u8; WIDE]) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    return unsafe { first_difference_sse2(a, b) };
    #[cfg(not(target_arch = "x86_64"))]
    first_difference_scalar(a, b)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn first_difference_sse2(a: &[u8; WIDE], b: &[u8; WIDE]) -> Option<usize> {
    use core::arch::x86_64::{_mm_and_si128, _mm_cmpeq_epi8, _mm_movemask_epi8};
    let p = _mm_cmpeq_epi8(part(a, 0), part(b, 0));
    let q = _mm_cmpeq_epi8(part(a, 16), part(b, 16));
    let r = _mm_cmpeq_epi8(part(a, 32), part(b, 32));
    let s = _mm_cmpeq_epi8(part(a, 48), part(b, 48));
    let all = _mm_and_si128(_mm_and_si128(p, q), _mm_and_si128(r, s));
    if _mm_movemask_epi8(all) == 0xFFFF {
        return None;
    }
    let low = _mm_movemask_epi8(p) | _mm_movemask_epi8(q) << 16;
    let high = _mm_movemask_epi8(r) | _mm_movemask_epi8(s) << 16;
    let equal = u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32;
    Some((!equal).trailing_zeros() as usize)
}

/// 16 bytes, from `at` on.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn part(bytes: &[u8], at: usize) -> core::arch::x86_64::__m128i {
    let part = &bytes[at..at + 16];
    // SAFETY: `part` has the 16 bytes that are read.
    unsafe { core::arch::x86_64::_mm_loadu_si128(part.as_ptr().cast()) }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn first_difference_scalar(a: &[u8; WIDE], b: &[u8; WIDE]) -> Option<usize> {
    if a == b { None } else { a.iter().zip(b).position(|(x, y)| x != y) }
}

/// How many bytes are equal before the first that is not. Without a branch, since it is anyone's
/// guess.
#[inline(always)]
fn equal_in_short(a: &[u8; SHORT], b: &[u8; SHORT]) -> usize {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86-64.
    return unsafe { equal_in_short_sse2(a, b) };
    #[cfg(not(target_arch = "x86_64"))]
    equal_in_short_scalar(a, b)
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn equal_in_short_sse2(a: &[u8; SHORT], b: &[u8; SHORT]) -> usize {
    use core::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8};
    let low = _mm_movemask_epi8(_mm_cmpeq_epi8(part(a, 0), part(b, 0)));
    let high = _mm_movemask_epi8(_mm_cmpeq_epi8(part(a, 16), part(b, 16)));
    (!(low | high << 16)).trailing_zeros() as usize
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn equal_in_short_scalar(a: &[u8; SHORT], b: &[u8; SHORT]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

/// How many bytes right before `near` equal the bytes right before `far`, at most `limit`.
#[inline(always)]
pub(crate) fn common_length_before(src: &[u8], far: usize, near: usize, limit: usize) -> usize {
    assert!(far <= near && near <= src.len());
    if far < 8 {
        return few_common_before(&src[..far], &src[..near], limit);
    }
    // SAFETY: `far` is at least 8 and, through `near`, was compared with the length.
    let a = u64::from_le_bytes(unsafe { load(src, far - 8) });
    // SAFETY: `near` is at least `far` and was compared with the length.
    let b = u64::from_le_bytes(unsafe { load(src, near - 8) });
    let equal = ((a ^ b).leading_zeros() / 8) as usize;
    if equal == 8 && limit > 8 {
        return 8 + few_common_before(&src[..far - 8], &src[..near - 8], limit - 8);
    }
    equal.min(limit)
}

/// How many bytes at the ends of two slices are equal, at most `limit`.
#[inline(never)]
fn few_common_before(a: &[u8], b: &[u8], limit: usize) -> usize {
    a.iter().rev().zip(b.iter().rev()).take(limit).take_while(|(x, y)| x == y).count()
}

#[cfg(test)]
mod tests {
    use super::{
        SHORT, WIDE, common_length, common_length_before, equal_in_short, equal_in_short_scalar, first_difference,
        first_difference_scalar,
    };
    use crate::lz::samples::Random;

    #[test]
    fn long_stretches_are_compared_as_the_scalar_code_does() {
        let mut random = Random(7);
        for _ in 0..1000 {
            let a: [u8; WIDE] = core::array::from_fn(|_| random.byte());
            let mut b = a;
            assert_eq!(first_difference(&a, &b), None);
            b[random.below(WIDE)] ^= 1;
            b[random.below(WIDE)] ^= 2;
            assert_eq!(first_difference(&a, &b), first_difference_scalar(&a, &b));
        }
    }

    #[test]
    fn short_stretches_are_compared_as_the_scalar_code_does() {
        let mut random = Random(8);
        for _ in 0..1000 {
            let a: [u8; SHORT] = core::array::from_fn(|_| random.byte());
            let mut b = a;
            assert_eq!(equal_in_short(&a, &b), SHORT);
            b[random.below(SHORT)] ^= 1;
            b[random.below(SHORT)] ^= 2;
            assert_eq!(equal_in_short(&a, &b), equal_in_short_scalar(&a, &b));
        }
    }

    #[test]
    fn common_lengths_are_found_wherever_they_end() {
        for length in 0..300 {
            for after in [0, 1, 20, 100] {
                let mut src = [1_u8; 900];
                src[400 + length] = 2;
                assert_eq!(common_length(&src, 0, 400, 400 + length + after), length);
                let mut src = [1_u8; 900];
                src[800 - length - 1] = 2;
                assert_eq!(common_length_before(&src, 400, 800, length + after), length);
                assert_eq!(common_length_before(&src, 400, 800, length / 2), length / 2);
            }
        }
    }

    #[test]
    fn nothing_before_the_start_is_compared() {
        let src = [1_u8; 100];
        for far in 0..30 {
            assert_eq!(common_length_before(&src, far, 60, 50), far);
        }
    }
}
