//! Codecs: what makes a filtered stream shorter.

mod blosclz;
#[cfg(feature = "lizard")]
mod lizard;
#[cfg(feature = "lz4")]
mod lz4;
mod ndlz;
mod plugin;
#[cfg(feature = "snappy")]
mod snappy;
mod state;
#[cfg(feature = "zfp")]
mod zfp;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(any(feature = "zstd", feature = "zstd-pure"))]
mod zstd;

pub(crate) use blosclz::Variant as BloscLzVariant;
pub(crate) use plugin::CodecRegistry;
pub use plugin::{CodecContext, CodecPlugin};
pub(crate) use state::{DecodeDict, DecodeState, Decoding, EncodeDict, EncodeState, Encoding, missing, train};

use crate::error::{Error, Result, error};
use std::fmt;
use std::str::FromStr;

/// A codec.
///
/// ```
/// use blosc_oxide::Codec;
/// assert_eq!("lz4hc".parse::<Codec>()?, Codec::Lz4Hc);
/// assert_eq!((Codec::Zstd.to_string(), Codec::Zstd.code()), ("zstd".to_owned(), 5));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// The codec that is Blosc's own: very fast, light compression.
    BloscLz,
    /// LZ4: very fast both ways.
    Lz4,
    /// LZ4 that compresses harder and decompresses as fast.
    Lz4Hc,
    /// Snappy; in Blosc1 chunks only.
    Snappy,
    /// zlib.
    Zlib,
    /// Zstandard: strong compression, fast decompression.
    Zstd,
    /// Lizard, found in files of the Blosc2 betas only: it is read, not written.
    Lizard,
    /// Any other codec by its id: a plug-in (160 to 255), or one known only by number.
    Plugin(u8),
}

/// The id of a codec for matrices, which is only read.
pub(crate) const NDLZ: u8 = 32;

/// The code of codecs that are named in the extended header instead of the flags.
pub(crate) const FORMAT_IN_HEADER: u8 = 6;

impl Codec {
    /// zfp with a bound for the error: ten to the power of the meta byte, read as a signed number.
    /// For arrays of floats of 1 to 4 dimensions, with a loss, as the other two.
    pub const ZFP_ACCURACY: Self = Self::Plugin(33);
    /// zfp that keeps as many bits of each number as the meta byte says.
    pub const ZFP_PRECISION: Self = Self::Plugin(34);
    /// zfp that makes blocks as small as the meta byte says, in percent of their data.
    pub const ZFP_RATE: Self = Self::Plugin(35);

    /// The codec with this compressor code, as bytes 22 of a chunk and 27 of a frame store it.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        match code {
            0 => Self::BloscLz,
            1 => Self::Lz4,
            2 => Self::Lz4Hc,
            3 => Self::Snappy,
            4 => Self::Zlib,
            5 => Self::Zstd,
            6 => Self::Lizard,
            other => Self::Plugin(other),
        }
    }

    /// The compressor code of this codec.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 => 1,
            Self::Lz4Hc => 2,
            Self::Snappy => 3,
            Self::Zlib => 4,
            Self::Zstd => 5,
            Self::Lizard => 6,
            Self::Plugin(id) => id,
        }
    }

    /// The code of this codec's stream format in the top three bits of a chunk's flags; LZ4 and
    /// LZ4HC share one.
    #[must_use]
    pub fn format_code(self) -> u8 {
        match self {
            Self::BloscLz => 0,
            Self::Lz4 | Self::Lz4Hc => 1,
            Self::Snappy => 2,
            Self::Zlib => 3,
            Self::Zstd => 4,
            Self::Lizard => 5,
            Self::Plugin(_) => FORMAT_IN_HEADER,
        }
    }

    /// The codec by the name that other Blosc libraries use, such as `lz4hc`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let usual = [Self::BloscLz, Self::Lz4, Self::Lz4Hc, Self::Snappy, Self::Zlib, Self::Zstd, Self::Lizard];
        let zfp = [Self::ZFP_ACCURACY, Self::ZFP_PRECISION, Self::ZFP_RATE];
        usual.into_iter().chain(zfp).find(|codec| codec.name() == Some(name))
    }

    /// The name of this codec, if it has one.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::BloscLz => "blosclz",
            Self::Lz4 => "lz4",
            Self::Lz4Hc => "lz4hc",
            Self::Snappy => "snappy",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
            Self::Lizard => "lizard",
            Self::Plugin(NDLZ) => "ndlz",
            Self::ZFP_ACCURACY => "zfp_acc",
            Self::ZFP_PRECISION => "zfp_prec",
            Self::ZFP_RATE => "zfp_rate",
            Self::Plugin(36) => "openhtj2k",
            Self::Plugin(37) => "grok",
            Self::Plugin(38) => "openzl",
            Self::Plugin(39) => "j2k",
            Self::Plugin(40) => "htj2k",
            Self::Plugin(_) => return None,
        })
    }

    /// Reads a name, and behind a colon what a form of zfp is told: the exponent of the largest
    /// error, how many bits are kept, or a percentage. All others have the meta byte 0.
    ///
    /// ```
    /// use blosc_oxide::Codec;
    /// assert_eq!(Codec::parse_with_meta("lz4")?, (Codec::Lz4, 0));
    /// assert_eq!(Codec::parse_with_meta("zfp_rate:25")?, (Codec::ZFP_RATE, 25));
    /// assert_eq!(Codec::parse_with_meta("zfp_acc:-3")?, (Codec::ZFP_ACCURACY, -3_i8 as u8));
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such codec, or if the number is missing, too many or beyond
    /// what it can be.
    pub fn parse_with_meta(text: &str) -> Result<(Self, u8)> {
        let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
        let codec = Self::from_name(name);
        let codec = codec.ok_or_else(|| error!(InvalidArgument, "there is no codec {name:?}"))?;
        let (example, meta) = match codec {
            Self::ZFP_ACCURACY => (-3, number.and_then(|number| Some(number.parse::<i8>().ok()?.cast_unsigned()))),
            Self::ZFP_PRECISION => (20, number.and_then(|number| number.parse().ok())),
            Self::ZFP_RATE => {
                (25, number.and_then(|number| number.parse().ok().filter(|rate| (1..=100).contains(rate))))
            }
            codec if number.is_none() => return Ok((codec, 0)),
            codec => return Err(error!(InvalidArgument, "{codec} takes no number: {text:?}")),
        };
        let meta = meta.ok_or_else(|| error!(InvalidArgument, "{codec} needs a number, such as {codec}:{example}"))?;
        Ok((codec, meta))
    }

    /// Whether this build can compress and decompress with it (plug-ins apart).
    #[must_use]
    pub fn is_built_in(self) -> bool {
        match self {
            Self::BloscLz => true,
            Self::Lz4 | Self::Lz4Hc => cfg!(feature = "lz4"),
            Self::Snappy => cfg!(feature = "snappy"),
            Self::Zlib => cfg!(feature = "zlib"),
            Self::Zstd => cfg!(any(feature = "zstd", feature = "zstd-pure")),
            Self::ZFP_ACCURACY | Self::ZFP_PRECISION | Self::ZFP_RATE => cfg!(feature = "zfp"),
            Self::Lizard | Self::Plugin(_) => false,
        }
    }

    /// Whether it is one of the three forms of zfp, which are for arrays of floats, with a loss.
    #[must_use]
    pub fn is_zfp(self) -> bool {
        matches!(self, Self::ZFP_ACCURACY | Self::ZFP_PRECISION | Self::ZFP_RATE)
    }

    /// Whether this build can decompress it (plug-ins apart): what it can write, lizard and ndlz.
    pub(crate) fn can_be_read(self) -> bool {
        match self {
            Self::Lizard => cfg!(feature = "lizard"),
            _ => self.is_built_in() || self == Self::Plugin(NDLZ),
        }
    }

    /// Whether it can use a dictionary.
    pub(crate) fn takes_dictionary(self) -> bool {
        matches!(self, Self::Lz4 | Self::Lz4Hc | Self::Zstd)
    }

    /// Whether it trades speed for ratio, and so gets larger blocks.
    pub(crate) fn is_high_ratio(self) -> bool {
        matches!(self, Self::Lz4Hc | Self::Zlib | Self::Zstd)
    }
}

impl FromStr for Codec {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes: a name such as `lz4hc`, or `codec` and an id.
    ///
    /// ```
    /// use blosc_oxide::Codec;
    /// assert_eq!("zstd".parse::<Codec>()?, Codec::Zstd);
    /// assert_eq!(Codec::Plugin(200).to_string().parse::<Codec>()?, Codec::Plugin(200));
    /// assert!("zip".parse::<Codec>().is_err());
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        let by_id = || text.strip_prefix("codec ").and_then(|id| id.parse().ok()).map(Self::from_code);
        let codec = (0..=u8::MAX).map(Self::from_code).find(|codec| codec.name() == Some(text)).or_else(by_id);
        codec.ok_or_else(|| error!(InvalidArgument, "{text:?} is no codec: a name such as lz4 or zstd is needed"))
    }
}

impl From<u8> for Codec {
    /// As [`Codec::from_code`].
    fn from(code: u8) -> Self {
        Self::from_code(code)
    }
}

impl From<Codec> for u8 {
    /// As [`Codec::code`].
    fn from(codec: Codec) -> Self {
        codec.code()
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "codec {}", self.code()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_come_back() {
        for code in 0..=255 {
            assert_eq!(Codec::from_code(code).code(), code);
            assert_eq!(Codec::from(code).to_string().parse::<Codec>().unwrap(), Codec::from_code(code));
        }
        for name in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd", "lizard", "zfp_acc", "zfp_prec", "zfp_rate"] {
            assert_eq!(Codec::from_name(name).unwrap().to_string(), name);
        }
        assert_eq!(Codec::from_name("ndlz"), None);
    }
}
