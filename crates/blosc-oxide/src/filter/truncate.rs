//! The lossy filters: low bits of each item set to zero. There is nothing to undo.

use super::Filter;
use crate::error::{Result, bail};

const F32_MANTISSA_BITS: u32 = 23;
const F64_MANTISSA_BITS: u32 = 52;

/// How many low bits of a float `bits` zeroes.
pub(super) fn zeroed_mantissa_bits(bits: i8, typesize: usize) -> Result<u32> {
    let mantissa = match typesize {
        4 => F32_MANTISSA_BITS,
        8 => F64_MANTISSA_BITS,
        _ => bail!(InvalidArgument, "{} needs items of 4 or 8 bytes, not {typesize}", Filter::TruncPrec(bits)),
    };
    zeroed_bits(Filter::TruncPrec(bits), bits, mantissa)
}

/// How many low bits of an integer `bits` zeroes.
pub(super) fn zeroed_integer_bits(bits: i8, typesize: usize) -> Result<u32> {
    let width = match typesize {
        1 => 8,
        2 => 16,
        4 => 32,
        8 => 64,
        _ => bail!(InvalidArgument, "{} needs items of 1, 2, 4 or 8 bytes, not {typesize}", Filter::IntTrunc(bits)),
    };
    zeroed_bits(Filter::IntTrunc(bits), bits, width)
}

fn zeroed_bits(filter: Filter, bits: i8, width: u32) -> Result<u32> {
    let given = u32::from(bits.unsigned_abs());
    let zeroed = if bits >= 0 { width.checked_sub(given) } else { Some(given) };
    match zeroed {
        Some(zeroed) if zeroed < width => Ok(zeroed),
        _ => bail!(InvalidArgument, "{filter} leaves no bit, or more than there are, of the {width}"),
    }
}

/// Copies `src` to `dst` with the `zeroed` low bits of each item cleared; a ragged tail is copied
/// as it is.
pub(super) fn forward(typesize: usize, zeroed: u32, src: &[u8], dst: &mut [u8]) {
    let mask = (u64::MAX << zeroed).to_le_bytes();
    let items = src.len() / typesize * typesize;
    let (whole, tail) = src.split_at(items);
    for (to, from) in dst.chunks_exact_mut(typesize).zip(whole.chunks_exact(typesize)) {
        for ((to, from), mask) in to.iter_mut().zip(from).zip(mask) {
            *to = from & mask;
        }
    }
    dst[items..].copy_from_slice(tail);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ragged_tail_is_kept() {
        let src = [0xff; 11];
        let mut dst = [0; 11];
        forward(4, 12, &src, &mut dst);
        assert_eq!(dst, [0, 0xf0, 0xff, 0xff, 0, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff]);
    }

    #[test]
    fn the_number_of_bits_is_checked() {
        assert_eq!(zeroed_mantissa_bits(10, 4).unwrap(), 13);
        assert_eq!(zeroed_mantissa_bits(-10, 8).unwrap(), 10);
        assert!(zeroed_mantissa_bits(24, 4).is_err());
        assert!(zeroed_mantissa_bits(0, 4).is_err());
        assert!(zeroed_mantissa_bits(-23, 4).is_err());
        assert!(zeroed_mantissa_bits(3, 2).is_err());
        assert_eq!(zeroed_integer_bits(-8, 2).unwrap(), 8);
        assert!(zeroed_integer_bits(-128, 8).is_err());
    }
}
