//! What the formats allow at most, and ceilings on what a declared size may make us allocate.

use crate::error::{Result, bail};

/// The most bytes that one Blosc2 chunk can hold.
pub const MAX_NBYTES: usize = i32::MAX as usize - 32;
/// The longest block of a chunk.
pub const MAX_BLOCKSIZE: usize = 536_866_816;
/// The most filters a chunk can have.
pub const MAX_FILTERS: usize = 6;
/// The most metalayers a super-chunk can have.
pub const MAX_METALAYERS: usize = 16;
/// The most variable-length metalayers a super-chunk can have.
pub const MAX_VLMETALAYERS: usize = 8192;
/// The most dimensions an array can have.
pub const MAX_DIMS: usize = 16;

/// The most that decoding may use, whatever the input declares.
///
/// ```
/// use blosc_oxide::{Decompressor, ErrorKind, Limits};
/// let chunk = blosc_oxide::compress(&[0; 1000], &blosc_oxide::Options::new(1))?;
/// let mut careful = Decompressor::new().with_limits(Limits::new().with_max_allocation(999));
/// assert_eq!(careful.decompress(&chunk).unwrap_err().kind(), ErrorKind::LimitExceeded);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
///
/// Decoding a chunk takes memory for its data, for two blocks on each thread, and up to 1 MiB
/// besides; a part of a chunk with the delta filter takes one block more. Opening a file takes
/// memory for its header, index and trailer. The limit is for each allocation by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    max_allocation: usize,
    max_chunks: u64,
}

impl Limits {
    /// The default: 1 GiB for one allocation, and any number of chunks.
    #[must_use]
    pub const fn new() -> Self {
        Self { max_allocation: 1 << 30, max_chunks: u64::MAX }
    }

    /// Sets the most bytes that one allocation may have.
    #[must_use]
    pub const fn with_max_allocation(mut self, bytes: usize) -> Self {
        self.max_allocation = bytes;
        self
    }

    /// Sets the most chunks that a frame, a packed super-chunk or a Bloscpack file may have. A
    /// chunk of zeros takes no space in a frame, so that a small file can have millions.
    #[must_use]
    pub const fn with_max_chunks(mut self, chunks: u64) -> Self {
        self.max_chunks = chunks;
        self
    }

    /// The most bytes that one allocation may have.
    #[must_use]
    pub const fn max_allocation(self) -> usize {
        self.max_allocation
    }

    /// The most chunks that a file may have.
    #[must_use]
    pub const fn max_chunks(self) -> u64 {
        self.max_chunks
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

    /// The limits for one of several allocations that exist at the same time.
    pub(crate) fn share(mut self, allocations: usize) -> Self {
        self.max_allocation = self.max_allocation.checked_div(allocations).unwrap_or(self.max_allocation);
        self
    }

    /// The limits after something else has taken `bytes`.
    pub(crate) fn besides(mut self, bytes: usize) -> Self {
        self.max_allocation = self.max_allocation.saturating_sub(bytes);
        self
    }

    /// `bytes`, or the most that one allocation may have.
    pub(crate) fn at_most(self, bytes: u64) -> u64 {
        bytes.min(self.max_allocation as u64)
    }

    /// Refuses a list of `count` values of a type when it is above the ceiling.
    pub(crate) fn check_list<T>(self, what: &str, count: u64) -> Result<()> {
        let bytes = count.saturating_mul(size_of::<T>() as u64);
        self.check(what, usize::try_from(bytes).unwrap_or(usize::MAX))
    }

    /// Refuses a file of more chunks than the ceiling.
    pub(crate) fn check_chunks(self, chunks: u64) -> Result<()> {
        if chunks > self.max_chunks {
            bail!(LimitExceeded, "there are {chunks} chunks, the limit is {}", self.max_chunks);
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
