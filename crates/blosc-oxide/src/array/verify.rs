//! Looking for damage.

use super::nd_array::NdArray;
use crate::error::Result;
use crate::frame::{Verification, verify, verify_when_read};

impl NdArray {
    /// Decodes all chunks and metalayers and compares all checksums, as [`Frame::verify`](crate::Frame::verify) does; the
    /// filters that only arrays have are known here.
    ///
    /// # Errors
    /// `Io` if the array cannot be read; damage is not an error but found.
    pub fn verify(&mut self) -> Result<Verification> {
        verify(self.super_chunk_mut())
    }

    /// From now on no item is given out of a chunk that has not been compared with its checksum, as
    /// [`Frame::verify_when_read`](crate::Frame::verify_when_read) says.
    ///
    /// # Errors
    /// As there.
    pub fn verify_when_read(&mut self) -> Result<()> {
        verify_when_read(self.super_chunk_mut())
    }
}
