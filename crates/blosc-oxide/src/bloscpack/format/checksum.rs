//! The nine checksums. Each covers compressed bytes and stands right after them.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::error::{Result, bail};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};
use std::fmt;

/// A checksum over compressed bytes; the default is the reference's.
///
/// ```
/// use blosc_oxide::bloscpack::Checksum;
/// assert_eq!(Checksum::from_name("sha256"), Some(Checksum::Sha256));
/// assert_eq!(Checksum::Sha256.len(), 32);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Checksum {
    /// None: damage may go unnoticed.
    None,
    /// Adler-32, 4 bytes.
    #[default]
    Adler32,
    /// CRC-32 as in zlib, 4 bytes.
    Crc32,
    /// MD5, 16 bytes.
    Md5,
    /// SHA-1, 20 bytes.
    Sha1,
    /// SHA-224, 28 bytes.
    Sha224,
    /// SHA-256, 32 bytes.
    Sha256,
    /// SHA-384, 48 bytes.
    Sha384,
    /// SHA-512, 64 bytes.
    Sha512,
}

impl Checksum {
    /// All of them, in the order of their ids.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Adler32,
        Self::Crc32,
        Self::Md5,
        Self::Sha1,
        Self::Sha224,
        Self::Sha256,
        Self::Sha384,
        Self::Sha512,
    ];

    /// The checksum with this id.
    #[must_use]
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// The id of this checksum in a file.
    #[must_use]
    pub fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Adler32 => 1,
            Self::Crc32 => 2,
            Self::Md5 => 3,
            Self::Sha1 => 4,
            Self::Sha224 => 5,
            Self::Sha256 => 6,
            Self::Sha384 => 7,
            Self::Sha512 => 8,
        }
    }

    /// The checksum by the name that Bloscpack gives it, such as `adler32`; `none` in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|checksum| checksum.name().eq_ignore_ascii_case(name))
    }

    /// The name that Bloscpack gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Adler32 => "adler32",
            Self::Crc32 => "crc32",
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// How many bytes it takes.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a checksum is no collection")]
    pub fn len(self) -> usize {
        match self {
            Self::None => 0,
            Self::Adler32 | Self::Crc32 => 4,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// Puts the checksum of `bytes` after them.
    pub(in crate::bloscpack) fn append_to(self, bytes: &mut Vec<u8>) {
        let digest = self.of(bytes);
        bytes.extend_from_slice(digest.as_bytes());
    }

    /// The checksum of `bytes`.
    pub(in crate::bloscpack) fn of(self, bytes: &[u8]) -> Digest {
        match self {
            Self::None => Digest::new(&[]),
            Self::Adler32 => Digest::new(&simd_adler32::adler32(&bytes).to_le_bytes()),
            Self::Crc32 => Digest::new(&crc32fast::hash(bytes).to_le_bytes()),
            Self::Md5 => Digest::new(&Md5::digest(bytes)),
            Self::Sha1 => Digest::new(&Sha1::digest(bytes)),
            Self::Sha224 => Digest::new(&Sha224::digest(bytes)),
            Self::Sha256 => Digest::new(&Sha256::digest(bytes)),
            Self::Sha384 => Digest::new(&Sha384::digest(bytes)),
            Self::Sha512 => Digest::new(&Sha512::digest(bytes)),
        }
    }

    /// Compares what is stored with what `covered` gives.
    pub(in crate::bloscpack) fn check(self, covered: &[u8], stored: &[u8]) -> Result<()> {
        let computed = self.of(covered);
        if computed.as_bytes() == stored {
            return Ok(());
        }
        let stored = Digest::new(stored);
        bail!(ChecksumMismatch, "{self} of {} bytes is {computed}, but {stored} is stored", covered.len());
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The value of a checksum.
#[derive(Clone, Copy)]
pub(in crate::bloscpack) struct Digest {
    bytes: [u8; 64],
    len: usize,
}

impl Digest {
    fn new(value: &[u8]) -> Self {
        let mut bytes = [0; 64];
        bytes.iter_mut().zip(value).for_each(|(to, &from)| *to = from);
        Self { bytes, len: value.len() }
    }

    pub(in crate::bloscpack) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_names_and_lengths_fit_together() {
        for (id, checksum) in Checksum::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(checksum.id()), id);
            assert_eq!(Checksum::from_id(checksum.id()), Some(checksum));
            assert_eq!(Checksum::from_name(checksum.name()), Some(checksum));
            assert_eq!(checksum.of(b"abc").as_bytes().len(), checksum.len());
        }
        assert_eq!(Checksum::from_id(9), None);
        assert_eq!(Checksum::from_name("none"), Some(Checksum::None));
    }

    #[test]
    fn known_values_come_out() {
        let hex = |checksum: Checksum| checksum.of(b"abc").to_string();
        // The two short ones are little-endian numbers: 0x024d0127 and 0x352441c2.
        assert_eq!(hex(Checksum::Adler32), "27014d02");
        assert_eq!(hex(Checksum::Crc32), "c2412435");
        assert_eq!(hex(Checksum::Md5), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hex(Checksum::Sha1), "a9993e364706816aba3e25717850c26c9cd0d89d");
    }

    #[test]
    fn a_mismatch_shows_both_values() {
        let error = Checksum::Crc32.check(b"abc", &[1, 2, 3, 4]).unwrap_err();
        assert_eq!(error.to_string(), "crc32 of 3 bytes is c2412435, but 01020304 is stored");
    }
}
