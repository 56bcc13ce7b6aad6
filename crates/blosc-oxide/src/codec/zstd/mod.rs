//! Zstandard: the C library, or a pure Rust one behind the same four types.

#[cfg(not(any(feature = "zstd-pure", target_arch = "wasm32")))]
mod c;
#[cfg(any(feature = "zstd-pure", target_arch = "wasm32"))]
mod noise;
#[cfg(any(feature = "zstd-pure", target_arch = "wasm32"))]
mod pure;

#[cfg(not(any(feature = "zstd-pure", target_arch = "wasm32")))]
pub(super) use c::{DecodeDict, Decoder, EncodeDict, Encoder, train};
#[cfg(any(feature = "zstd-pure", target_arch = "wasm32"))]
pub(super) use pure::{DecodeDict, Decoder, EncodeDict, Encoder, train};

/// The Zstandard level that a Blosc level from 1 to 9 stands for.
fn native_level(level: u8) -> i32 {
    const MAX: i32 = 22;
    if level >= 9 { MAX } else { i32::from(level.max(1)) * 2 - 1 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn levels_are_spread_over_those_of_zstandard() {
        let levels: Vec<i32> = (1..=9).map(super::native_level).collect();
        assert_eq!(levels, [1, 3, 5, 7, 9, 11, 13, 15, 22]);
    }
}
