//! Checked little-endian reads and writes: the only place that turns file bytes into integers.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

pub(crate) mod msgpack;

/// The `N` bytes at `at`, if they are there.
pub(crate) fn array_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// The little-endian `i32` at `at`.
pub(crate) fn le_i32(bytes: &[u8], at: usize) -> Option<i32> {
    array_at(bytes, at).map(i32::from_le_bytes)
}

/// The little-endian `u32` at `at`.
#[cfg(feature = "bloscpack")]
pub(crate) fn le_u32(bytes: &[u8], at: usize) -> Option<u32> {
    array_at(bytes, at).map(u32::from_le_bytes)
}

/// The little-endian `u64` at `at`.
#[cfg(feature = "bloscpack")]
pub(crate) fn le_u64(bytes: &[u8], at: usize) -> Option<u64> {
    array_at(bytes, at).map(u64::from_le_bytes)
}

/// The little-endian `i64` at `at`.
pub(crate) fn le_i64(bytes: &[u8], at: usize) -> Option<i64> {
    array_at(bytes, at).map(i64::from_le_bytes)
}

/// Writes `value` little-endian at `at`; `false` if there is no room.
#[must_use]
pub(crate) fn put_le_i32(bytes: &mut [u8], at: usize, value: i32) -> bool {
    let Some(room) = at.checked_add(4).and_then(|end| bytes.get_mut(at..end)) else {
        return false;
    };
    room.copy_from_slice(&value.to_le_bytes());
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stop_at_the_end() {
        let bytes = [1, 2, 3, 4, 5];
        assert_eq!(le_i32(&bytes, 1), Some(0x0504_0302));
        assert_eq!(le_i32(&bytes, 2), None);
        assert_eq!(le_i32(&bytes, usize::MAX), None);
    }

    #[test]
    fn writes_stop_at_the_end() {
        let mut bytes = [0; 5];
        assert!(put_le_i32(&mut bytes, 1, -2));
        assert_eq!(bytes, [0, 0xfe, 0xff, 0xff, 0xff]);
        assert!(!put_le_i32(&mut bytes, 2, 0));
    }
}
