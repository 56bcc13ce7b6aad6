//! Ceilings on what a declared size may make us allocate.

use crate::error::{Result, bail};

/// What decoding may use at the most, whatever the input declares.
///
/// ```
/// use blosc_oxide::{Decompressor, ErrorKind, Limits};
/// let chunk = blosc_oxide::compress(&[0; 1000], &blosc_oxide::Options::new(1))?;
/// let mut careful = Decompressor::new().with_limits(Limits::new().max_allocation(999));
/// assert_eq!(careful.decompress(&chunk).unwrap_err().kind(), ErrorKind::LimitExceeded);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    max_allocation: usize,
}

impl Limits {
    /// The default: 1 GiB for one allocation.
    #[must_use]
    pub const fn new() -> Self {
        Self { max_allocation: 1 << 30 }
    }

    /// The most bytes one allocation may have.
    #[must_use]
    pub const fn max_allocation(mut self, bytes: usize) -> Self {
        self.max_allocation = bytes;
        self
    }

    /// Refuses an allocation of `bytes` for `what` when it is above the ceiling.
    ///
    /// # Errors
    /// `LimitExceeded`.
    pub fn check(self, what: &str, bytes: usize) -> Result<()> {
        if bytes > self.max_allocation {
            bail!(LimitExceeded, "{what} asks for {bytes} bytes, the limit is {}", self.max_allocation);
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
