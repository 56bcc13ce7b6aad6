//! Zstandard: the C library, or our own decoder and the encoder of a Rust library behind the same
//! four types.

#[cfg(not(any(feature = "zstd-pure", target_arch = "wasm32")))]
mod c;
#[cfg(any(feature = "zstd-pure", target_arch = "wasm32"))]
mod pure;

#[cfg(not(any(feature = "zstd-pure", target_arch = "wasm32")))]
pub(super) use c::{DecodeDict, Decoder, EncodeDict, Encoder, train};
#[cfg(any(feature = "zstd-pure", target_arch = "wasm32"))]
pub(super) use pure::{DecodeDict, Decoder, EncodeDict, Encoder, train};

use crate::error::{Error, Result, error};

/// Decompresses `src` into `dst`; returns how many bytes these are.
pub(super) fn decompress(
    decoder: &mut Decoder,
    src: &[u8],
    dict: Option<&DecodeDict>,
    dst: &mut [u8],
) -> Result<usize> {
    decoder.decompress(src, dict, dst).map_err(|error| old_release(src).unwrap_or(error))
}

/// Releases before 0.8 wrote streams that later ones do not read. The first four bytes identify
/// them.
fn old_release(src: &[u8]) -> Option<Error> {
    let minor = match *src.first_chunk()? {
        [0xFD, 0x2F, 0xB5, 0x1E] => 1,
        [last @ 0x22..=0x27, 0xB5, 0x2F, 0xFD] => last - 0x20,
        _ => return None,
    };
    Some(error!(Unsupported, "zstd: the stream was written by zstd 0.{minor}, streams of zstd 0.8 and later are read"))
}

/// The Zstandard level for a Blosc level from 1 to 9.
fn native_level(level: u8) -> i32 {
    const MAX: i32 = 22;
    if level >= 9 { MAX } else { i32::from(level.max(1)) * 2 - 1 }
}

#[cfg(test)]
mod tests {
    use super::old_release;
    use crate::error::ErrorKind;

    #[test]
    fn streams_of_old_releases_are_told_by_their_version() {
        let message = |bytes: [u8; 4]| old_release(&bytes).map(|error| (error.kind(), error.to_string()));
        assert_eq!(message(0xFD2F_B528_u32.to_le_bytes()), None);
        assert_eq!(message(0xFD2F_B521_u32.to_le_bytes()), None);
        assert!(old_release(&[0x25, 0xB5, 0x2F]).is_none());
        for minor in 2..=7_u8 {
            let (kind, text) = message([0x20 + minor, 0xB5, 0x2F, 0xFD]).unwrap();
            assert_eq!(kind, ErrorKind::Unsupported);
            assert!(text.contains(&format!("zstd 0.{minor},")), "{text}");
        }
        assert!(message([0xFD, 0x2F, 0xB5, 0x1E]).unwrap().1.contains("zstd 0.1,"));
    }

    #[test]
    fn levels_are_spread_over_those_of_zstandard() {
        let levels: Vec<i32> = (1..=9).map(super::native_level).collect();
        assert_eq!(levels, [1, 3, 5, 7, 9, 11, 13, 15, 22]);
    }
}
