//! Chunks whose items are all the same.

use super::header::{Header, Special};

const QUIET_NAN_F32: [u8; 4] = 0x7fc0_0000_u32.to_le_bytes();
const QUIET_NAN_F64: [u8; 8] = 0x7ff8_0000_0000_0000_u64.to_le_bytes();

/// Fills `out` with the data of a special chunk from byte `from` on.
pub(in crate::chunk) fn fill(header: &Header, special: Special, chunk: &[u8], from: usize, out: &mut [u8]) {
    match special {
        Special::Value => repeat(&chunk[header.header_len()..header.cbytes()], from, out),
        _ => fill_special(special, header.typesize(), from, out),
    }
}

/// After how many bytes a special value other than [`Special::Value`] is repeated.
pub(crate) fn special_width(special: Special, typesize: usize) -> usize {
    match special {
        Special::NaN if typesize == 4 => QUIET_NAN_F32.len(),
        // Only the index of a frame can ask for NaNs of another size: they are read as those of 8
        // bytes.
        Special::NaN => QUIET_NAN_F64.len(),
        Special::Zeros | Special::Uninit | Special::Value => typesize,
    }
}

/// Fills `out` with a special value other than [`Special::Value`], starting `from` bytes into the
/// repetition.
pub(crate) fn fill_special(special: Special, typesize: usize, from: usize, out: &mut [u8]) {
    match special {
        Special::NaN if typesize == 4 => repeat(&QUIET_NAN_F32, from, out),
        Special::NaN => repeat(&QUIET_NAN_F64, from, out),
        Special::Zeros | Special::Uninit | Special::Value => out.fill(0),
    }
}

/// Fills `out` with `value` over and over, starting `from` bytes into the repetition.
fn repeat(value: &[u8], from: usize, out: &mut [u8]) {
    let phase = from % value.len();
    let mut filled = 0;
    for piece in [&value[phase..], &value[..phase]] {
        let len = piece.len().min(out.len() - filled);
        out[filled..filled + len].copy_from_slice(&piece[..len]);
        filled += len;
    }
    // Doubling copies whole values, so the phase stays right.
    while filled < out.len() {
        let len = filled.min(out.len() - filled);
        out.copy_within(..len, filled);
        filled += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetition_starts_anywhere_in_the_value() {
        let value = [1, 2, 3];
        let whole: Vec<u8> = value.iter().copied().cycle().take(50).collect();
        for from in 0..20 {
            for len in 0..30 {
                let mut out = vec![0; len];
                repeat(&value, from, &mut out);
                assert_eq!(out, whole[from..from + len], "{from} {len}");
            }
        }
    }
}
