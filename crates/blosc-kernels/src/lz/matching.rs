//! What the encoders share: reading and hashing words, and comparing what follows or precedes them.

/// How many bytes of long matches are compared at once.
const WIDE: usize = 64;

/// The `N` bytes at `at`.
///
/// # Safety
/// `at + N` must not be above `src.len()`.
#[inline(always)]
pub(crate) unsafe fn load<const N: usize>(src: &[u8], at: usize) -> [u8; N] {
    debug_assert!(at + N <= src.len());
    // SAFETY: `at` is inside of `src`, as the caller promises.
    let start = unsafe { src.as_ptr().add(at) };
    // SAFETY: `N` bytes follow `start`, as the caller promises, and an array of bytes needs no alignment.
    unsafe { start.cast::<[u8; N]>().read() }
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

/// A hash of `bits` bits of a whole word.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "at most `bits` bits are left after the shift")]
pub(crate) fn hash8(word: u64, bits: u32) -> usize {
    (word.wrapping_mul(0x9E37_79B1_85EB_CA87) >> (64 - bits)) as usize
}

/// The low four bytes of a word.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "the upper half is not wanted")]
pub(crate) fn low4(word: u64) -> u32 {
    word as u32
}

/// How many bytes from `near` on equal the bytes from `far` on, comparing no byte at or after `end`.
#[inline(always)]
pub(crate) fn common_length(src: &[u8], far: usize, near: usize, end: usize) -> usize {
    assert!(far <= near && near <= end && end <= src.len());
    if end - near < 16 {
        return (near..end).zip(far..).take_while(|&(b, a)| src[a] == src[b]).count();
    }
    // SAFETY: 16 bytes follow `near`, so they follow `far`, which is not above it.
    let a: [u8; 16] = unsafe { load(src, far) };
    // SAFETY: `end` is at least 16 above `near` and not above the length.
    let b: [u8; 16] = unsafe { load(src, near) };
    let equal = equal_in_16(&a, &b);
    if equal < 16 { equal } else { long_common_length(&src[far..][..end - near], &src[near..end]) }
}

/// [`common_length`] of two slices of one length that start with 16 equal bytes.
#[inline(never)]
fn long_common_length(a: &[u8], b: &[u8]) -> usize {
    let mut start = 16;
    for (x, y) in a[16..].as_chunks().0.iter().zip(b[16..].as_chunks().0) {
        if let Some(equal) = first_difference(x, y) {
            return start + equal;
        }
        start += WIDE;
    }
    while let (Some(x), Some(y)) = (a[start..].first_chunk(), b[start..].first_chunk()) {
        let equal = equal_in_16(x, y);
        start += equal;
        if equal < 16 {
            return start;
        }
    }
    start + a[start..].iter().zip(&b[start..]).take_while(|(x, y)| x == y).count()
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
fn part(bytes: &[u8; WIDE], at: usize) -> core::arch::x86_64::__m128i {
    let part = &bytes[at..at + 16];
    // SAFETY: `part` has the 16 bytes that are read.
    unsafe { core::arch::x86_64::_mm_loadu_si128(part.as_ptr().cast()) }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn first_difference_scalar(a: &[u8; WIDE], b: &[u8; WIDE]) -> Option<usize> {
    if a == b { None } else { a.iter().zip(b).position(|(x, y)| x != y) }
}

/// How many of 16 bytes are equal before the first that is not.
#[inline(always)]
fn equal_in_16(a: &[u8; 16], b: &[u8; 16]) -> usize {
    let low = half(a, 0) ^ half(b, 0);
    let high = half(a, 8) ^ half(b, 8);
    let equal = if low != 0 { low.trailing_zeros() } else { 64 + high.trailing_zeros() };
    (equal / 8) as usize
}

/// Eight of 16 bytes, from `at` on.
#[inline(always)]
fn half(bytes: &[u8; 16], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
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
    use super::{WIDE, common_length, common_length_before, first_difference, first_difference_scalar};
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
