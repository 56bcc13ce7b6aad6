//! Bit shuffle, by two rules.

use blosc_kernels::{bitshuffle, copy};

const ITEMS_PER_BYTE: usize = 8;

/// Which blocks bitshuffle transposes. The two rules differ for blocks whose number of items is no
/// multiple of eight.
///
/// Most chunks say which rule their writer had. Those of version 4 do not: it may have been a beta
/// of C-Blosc2 before 2.0.0.beta.5 (the old rule) or a later release (the current one). They are
/// read by the current rule unless the caller chooses, with
/// [`Decompressor::with_bitshuffle`](crate::Decompressor::with_bitshuffle) or
/// [`OpenOptions::with_bitshuffle`](crate::OpenOptions::with_bitshuffle).
///
/// ```
/// use blosc_oxide::{BitshuffleRule, OpenOptions};
/// // For a frame of an early beta, which does not say it.
/// let options = OpenOptions::new().with_bitshuffle(BitshuffleRule::Old);
/// assert_eq!(options.bitshuffle(), BitshuffleRule::Old);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BitshuffleRule {
    /// A block is transposed if its number of items is a multiple of eight, and copied otherwise:
    /// C-Blosc 1.x, and C-Blosc2 up to 2.0.0-beta.4.
    Old,
    /// As many items are transposed as make a multiple of eight, and the rest is copied: C-Blosc2
    /// since 2.0.0.beta.5.
    #[default]
    Current,
}

impl BitshuffleRule {
    /// Whether a block of `len` bytes is copied as it is.
    fn copies(self, typesize: usize, len: usize) -> bool {
        self == Self::Old && !(len / typesize).is_multiple_of(ITEMS_PER_BYTE)
    }
}

/// Whether the two rules make different bytes of a block of `len` bytes.
pub(crate) fn is_ragged(typesize: usize, len: usize) -> bool {
    let items = len.checked_div(typesize).unwrap_or_default();
    items > ITEMS_PER_BYTE && !items.is_multiple_of(ITEMS_PER_BYTE)
}

pub(super) fn forward(typesize: usize, rule: BitshuffleRule, src: &[u8], dst: &mut [u8]) {
    if rule.copies(typesize, src.len()) {
        copy::copy(src, dst);
    } else {
        bitshuffle::bitshuffle(typesize, src, dst);
    }
}

pub(super) fn backward(typesize: usize, rule: BitshuffleRule, src: &[u8], dst: &mut [u8]) {
    if rule.copies(typesize, src.len()) {
        copy::copy(src, dst);
    } else {
        bitshuffle::bitunshuffle(typesize, src, dst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_less_than_eight_items_or_of_whole_eights_are_the_same_by_both_rules() {
        let data: Vec<u8> = (0..200).collect();
        for len in 0..data.len() {
            let encode = |rule| {
                let mut out = vec![0; len];
                forward(3, rule, &data[..len], &mut out);
                out
            };
            let differs = encode(BitshuffleRule::Old) != encode(BitshuffleRule::Current);
            assert_eq!(differs, is_ragged(3, len), "{len} bytes");
        }
    }
}
