//! Test support of blosc-oxide, not published.
//!
//! - [`golden`]: a typed index of files that other implementations wrote, with what they decode to.
//! - [`formula`]: makes the plain bytes of those files from the formula in their manifest.
//! - [`mutate`]: damaged copies of a file, and the seeded [`Rng`] behind them.
//! - [`storage`]: a disk that crashes and fails, to see what is left.
//! - [`patience`]: a second for what must not take long.
//! - [`alloc`]: an allocator that counts, for tests that promise to allocate little or nothing.

pub mod alloc;
pub mod formula;
pub mod golden;
pub mod mutate;
pub mod patience;
mod rng;
pub mod storage;

pub use rng::Rng;
pub use serde_json;

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The SHA-256 of `bytes` in lower-case hexadecimal, as the manifests write it.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn sha256_of_nothing_is_the_published_value() {
        assert_eq!(crate::sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
