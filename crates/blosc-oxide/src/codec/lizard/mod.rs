//! Lizard, from our own kernel. It is read, not written: no reader of today's files has it.

use crate::error::{Result, error};

pub(super) use blosc_kernels::lizard::Decoder;

pub(super) fn decompress(decoder: &mut Decoder, src: &[u8], dst: &mut [u8]) -> Result<usize> {
    decoder.decompress(src, dst).map_err(|error| error!(Corrupt, "lizard: {error}"))
}
