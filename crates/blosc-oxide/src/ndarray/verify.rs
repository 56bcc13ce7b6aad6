//! Looking for damage.

use super::array::NdArray;
use crate::error::Result;
use crate::frame::{Verification, verify};

impl NdArray {
    /// Decodes all chunks and metalayers and compares all checksums, as [`Frame::verify`](crate::Frame::verify) does; the
    /// filters that only arrays have are known here.
    ///
    /// # Errors
    /// `Io` if the array cannot be read; damage is not an error but found.
    pub fn verify(&mut self) -> Result<Verification> {
        verify(self.super_chunk_mut())
    }
}
