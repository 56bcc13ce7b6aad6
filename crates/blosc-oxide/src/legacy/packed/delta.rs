//! The delta of the alphas: bytes minus the bytes of a reference, not the XOR of today.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::chunk::Header;

/// What all data of a super-chunk is stored as the difference to. Data beyond its length is stored
/// as it is.
#[derive(Debug, Clone)]
pub(super) struct Reference(Vec<u8>);

impl Reference {
    pub(super) fn new(data: Vec<u8>) -> Self {
        Self(data)
    }

    /// Turns differences from byte `start` of a chunk on into data.
    pub(super) fn add_to(&self, start: usize, data: &mut [u8]) {
        for (byte, &base) in data.iter_mut().zip(self.from(start)) {
            *byte = byte.wrapping_add(base);
        }
    }

    /// Turns the data of a chunk into differences.
    pub(super) fn subtract_from(&self, data: &mut [u8]) {
        for (byte, &base) in data.iter_mut().zip(self.from(0)) {
            *byte = byte.wrapping_sub(base);
        }
    }

    fn from(&self, start: usize) -> &[u8] {
        self.0.get(start..).unwrap_or_default()
    }
}

/// Whether the delta was applied to the data of this chunk. The alphas worked block by block, and a
/// chunk that was stored as one copy went past that, both when it was written and when it was read.
pub(super) fn covers(header: &Header) -> bool {
    !header.is_memcpyed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_reaches_as_far_as_it_does() {
        let reference = Reference::new(vec![1, 2, 3]);
        let mut data = [0, 2, 7, 9, 9];
        reference.subtract_from(&mut data);
        assert_eq!(data, [255, 0, 4, 9, 9]);
        reference.add_to(0, &mut data);
        assert_eq!(data, [0, 2, 7, 9, 9]);
        let mut part = [4, 9];
        reference.add_to(2, &mut part);
        reference.add_to(3, &mut part);
        assert_eq!(part, [7, 9]);
    }
}
