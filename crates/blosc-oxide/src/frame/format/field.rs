//! Integers of a frame: checked on their way in and out.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::error::{Result, bail};

/// A size that is stored as `i32`.
pub(in crate::frame) fn size(name: &str, value: i32) -> Result<usize> {
    match usize::try_from(value) {
        Ok(size) => Ok(size),
        Err(_) => bail!(Corrupt, "frame header: {name} is {value}"),
    }
}

/// A size that is stored as `i64`.
pub(in crate::frame) fn long(name: &str, value: i64) -> Result<u64> {
    match u64::try_from(value) {
        Ok(size) => Ok(size),
        Err(_) => bail!(Corrupt, "frame header: {name} is {value}"),
    }
}

/// A size in the type that it is stored in.
pub(crate) fn checked<T: TryFrom<U>, U: Copy + std::fmt::Display>(size: U) -> Result<T> {
    match T::try_from(size) {
        Ok(size) => Ok(size),
        Err(_) => bail!(InvalidArgument, "frame: {size} is too large for its field"),
    }
}
