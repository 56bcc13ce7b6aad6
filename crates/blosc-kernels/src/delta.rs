//! The XOR delta filter. Elements are units of 1, 2, 4 or 8 bytes; what is left after the last
//! whole one is copied.

use crate::running::{Xor, accumulate};

/// Encodes a block against itself: the first element as it is, each other one XORed with the one
/// before it.
///
/// # Panics
/// If the lengths differ or `unit` is 0.
pub fn encode_first(unit: usize, src: &[u8], dst: &mut [u8]) {
    check(unit, src, dst);
    let whole = whole_units(unit, src.len());
    dst[whole..].copy_from_slice(&src[whole..]);
    let (first, rest) = dst[..whole].split_at_mut(unit.min(whole));
    first.copy_from_slice(&src[..first.len()]);
    for ((out, &byte), &before) in rest.iter_mut().zip(&src[first.len()..whole]).zip(src) {
        *out = byte ^ before;
    }
}

/// Undoes [`encode_first`] in place.
///
/// # Panics
/// If `unit` is 0.
pub fn decode_first(unit: usize, buf: &mut [u8]) {
    assert!(unit > 0, "the unit is 0");
    let whole = whole_units(unit, buf.len());
    let elements = &mut buf[..whole];
    match unit {
        1 => accumulate::<Xor, 1>(elements),
        2 => accumulate::<Xor, 2>(elements),
        4 => accumulate::<Xor, 4>(elements),
        8 => accumulate::<Xor, 8>(elements),
        _ => (unit..whole).for_each(|i| elements[i] ^= elements[i - unit]),
    }
}

/// Encodes a block against a reference: whole elements XORed with it, the rest copied.
///
/// # Panics
/// If `src` and `dst` differ in length, `reference` is shorter, or `unit` is 0.
pub fn encode_with_reference(unit: usize, reference: &[u8], src: &[u8], dst: &mut [u8]) {
    check(unit, src, dst);
    check_reference(reference, src.len());
    let whole = whole_units(unit, src.len());
    for ((out, &byte), &other) in dst[..whole].iter_mut().zip(src).zip(reference) {
        *out = byte ^ other;
    }
    dst[whole..].copy_from_slice(&src[whole..]);
}

/// Undoes [`encode_with_reference`] in place.
///
/// # Panics
/// If `reference` is shorter than `buf` or `unit` is 0.
pub fn decode_with_reference(unit: usize, reference: &[u8], buf: &mut [u8]) {
    assert!(unit > 0, "the unit is 0");
    check_reference(reference, buf.len());
    let whole = whole_units(unit, buf.len());
    for (byte, &other) in buf[..whole].iter_mut().zip(reference) {
        *byte ^= other;
    }
}

fn whole_units(unit: usize, len: usize) -> usize {
    len - len % unit
}

fn check(unit: usize, src: &[u8], dst: &[u8]) {
    assert!(unit > 0, "the unit is 0");
    assert_eq!(src.len(), dst.len(), "source and destination differ in length");
}

fn check_reference(reference: &[u8], len: usize) {
    assert!(reference.len() >= len, "a reference of {} bytes for a block of {len}", reference.len());
}
