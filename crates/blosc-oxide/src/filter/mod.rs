//! Filters: reversible (or deliberately lossy) transforms of a block before it is compressed.

mod bitshuffle;
mod bytedelta;
mod delta;
mod pipeline;
mod plugin;
mod shuffle;
mod stage;
mod truncate;

pub use bitshuffle::BitshuffleRule;
pub(crate) use bitshuffle::is_ragged;
pub(crate) use delta::BlockPlace;
pub use pipeline::Pipeline;
pub(crate) use plugin::FilterRegistry;
pub use plugin::{FilterContext, FilterPlugin};
pub(crate) use stage::{Element, Stages};

use crate::error::{Error, Result, error};
use std::fmt;
use std::str::FromStr;

/// A filter with its parameter.
///
/// ```
/// use blosc_oxide::{Filter, Options};
/// let options = Options::new(4).with_filters([Filter::TruncPrec(10), Filter::BitShuffle]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Filter {
    /// Byte transpose: first bytes of all items, then second bytes, and so on.
    Shuffle,
    /// Byte transpose of groups of this many bytes, whatever the typesize.
    ShuffleGroups(u8),
    /// Bit transpose.
    BitShuffle,
    /// XOR with the first block, and of the first block with itself one item earlier. Must be the
    /// first filter.
    Delta,
    /// Lossy: keeps this many bits of the mantissa of 4- or 8-byte floats; a negative number zeroes
    /// that many instead.
    TruncPrec(i8),
    /// Difference of neighbouring bytes in each of the byte planes that a shuffle made. The number
    /// is how many planes there are; 0 means the typesize.
    ByteDelta(u8),
    /// Lossy: keeps this many bits of 1-, 2-, 4- or 8-byte integers; a negative number zeroes that
    /// many low bits.
    IntTrunc(i8),
    /// Any other filter by its id and meta byte: a plug-in (160 to 255), or one that needs an
    /// array's geometry.
    Plugin {
        /// The filter's id.
        id: u8,
        /// The byte that parameterises it.
        meta: u8,
    },
}

pub(crate) mod id {
    pub(crate) const NONE: u8 = 0;
    pub(crate) const SHUFFLE: u8 = 1;
    pub(crate) const BITSHUFFLE: u8 = 2;
    pub(crate) const DELTA: u8 = 3;
    pub(crate) const TRUNC_PREC: u8 = 4;
    pub(crate) const NDCELL: u8 = 32;
    pub(crate) const NDMEAN: u8 = 33;
    pub(crate) const BYTEDELTA_RESTARTING: u8 = 34;
    pub(crate) const BYTEDELTA: u8 = 35;
    pub(crate) const INT_TRUNC: u8 = 36;
    /// The first id that belongs to users.
    pub(crate) const FIRST_USER: u8 = 160;
}

impl Filter {
    /// The filter with this id and meta byte; `None` for id 0, an empty slot.
    #[must_use]
    pub fn from_id(id: u8, meta: u8) -> Option<Self> {
        Some(match (id, meta) {
            (id::NONE, _) => return None,
            (id::SHUFFLE, 0) => Self::Shuffle,
            (id::SHUFFLE, group) => Self::ShuffleGroups(group),
            (id::BITSHUFFLE, 0) => Self::BitShuffle,
            (id::DELTA, 0) => Self::Delta,
            (id::TRUNC_PREC, meta) => Self::TruncPrec(meta.cast_signed()),
            (id::BYTEDELTA, meta) => Self::ByteDelta(meta),
            (id::INT_TRUNC, meta) => Self::IntTrunc(meta.cast_signed()),
            (id, meta) => Self::Plugin { id, meta },
        })
    }

    /// The id as it is stored in a chunk's header.
    #[must_use]
    pub fn id(self) -> u8 {
        match self {
            Self::Shuffle | Self::ShuffleGroups(_) => id::SHUFFLE,
            Self::BitShuffle => id::BITSHUFFLE,
            Self::Delta => id::DELTA,
            Self::TruncPrec(_) => id::TRUNC_PREC,
            Self::ByteDelta(_) => id::BYTEDELTA,
            Self::IntTrunc(_) => id::INT_TRUNC,
            Self::Plugin { id, .. } => id,
        }
    }

    /// The meta byte as it is stored in a chunk's header.
    #[must_use]
    pub fn meta(self) -> u8 {
        match self {
            Self::Shuffle | Self::BitShuffle | Self::Delta => 0,
            Self::TruncPrec(bits) | Self::IntTrunc(bits) => bits.cast_unsigned(),
            Self::ShuffleGroups(meta) | Self::ByteDelta(meta) | Self::Plugin { meta, .. } => meta,
        }
    }

    /// The name of the filter with this id, if it has one.
    #[must_use]
    pub fn name_of(id: u8) -> Option<&'static str> {
        Some(match id {
            id::NONE => "none",
            id::SHUFFLE => "shuffle",
            id::BITSHUFFLE => "bitshuffle",
            id::DELTA => "delta",
            id::TRUNC_PREC => "trunc_prec",
            id::NDCELL => "ndcell",
            id::NDMEAN => "ndmean",
            id::BYTEDELTA_RESTARTING => "bytedelta_restarting",
            id::BYTEDELTA => "bytedelta",
            id::INT_TRUNC => "int_trunc",
            _ => return None,
        })
    }
}

impl FromStr for Filter {
    type Err = Error;

    /// Reads what [`Display`](fmt::Display) writes: a name or an id, and after a colon the
    /// parameter.
    ///
    /// ```
    /// use blosc_oxide::Filter;
    /// assert_eq!("trunc_prec:10".parse::<Filter>()?, Filter::TruncPrec(10));
    /// assert_eq!("shuffle".parse::<Filter>()?, Filter::Shuffle);
    /// assert!("blur".parse::<Filter>().is_err());
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        let (name, meta) = text.split_once(':').map_or((text, None), |(name, meta)| (name, Some(meta)));
        let number = name.strip_prefix("filter ").unwrap_or(name);
        let id = number.parse().ok().or_else(|| (1..=u8::MAX).find(|&id| Self::name_of(id) == Some(name)));
        let meta =
            meta.map_or(Some(0), |meta| meta.parse().ok().or_else(|| meta.parse::<i8>().ok().map(i8::cast_unsigned)));
        let filter = id.zip(meta).and_then(|(id, meta)| Self::from_id(id, meta));
        filter.ok_or_else(|| error!(InvalidArgument, "{text:?} is no filter: a name such as shuffle or trunc_prec:10"))
    }
}

impl TryFrom<u8> for Filter {
    type Error = Error;

    /// The filter with this id and meta byte 0. Id 0 is an empty slot and no filter.
    fn try_from(id: u8) -> Result<Self> {
        Self::from_id(id, 0)
            .ok_or_else(|| error!(InvalidArgument, "id 0 is an empty slot of a pipeline, and no filter"))
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::name_of(self.id()) {
            Some(name) => f.write_str(name)?,
            None => write!(f, "filter {}", self.id())?,
        }
        match *self {
            Self::TruncPrec(bits) | Self::IntTrunc(bits) => write!(f, ":{bits}"),
            _ if self.meta() != 0 => write!(f, ":{}", self.meta()),
            _ => Ok(()),
        }
    }
}
