//! From buffers to the chunks of a packed super-chunk.

use super::delta::{self, Reference};
use super::options::PackedOptions;
use crate::chunk::{Compressor, Header, raw_chunk};
use crate::error::Result;

/// Makes data chunks and special chunks.
#[derive(Debug)]
pub(super) struct Encoder {
    options: PackedOptions,
    compressor: Compressor,
    reference: Option<Reference>,
    differences: Vec<u8>,
}

impl Encoder {
    /// Checks the options.
    pub(super) fn new(options: PackedOptions) -> Result<Self> {
        options.packed_filters()?;
        let compressor = options.compressor()?;
        Ok(Self { options, compressor, reference: None, differences: Vec::new() })
    }

    /// Whether data can only be encoded once there is a reference.
    pub(super) fn lacks_reference(&self) -> bool {
        self.options.has_delta() && self.reference.is_none()
    }

    /// Takes `data` as the reference from now on.
    pub(super) fn set_reference(&mut self, data: Vec<u8>) {
        self.reference = Some(Reference::new(data));
    }

    /// There is no reference any more.
    pub(super) fn forget_reference(&mut self) {
        self.reference = None;
    }

    /// The chunk of a reference.
    pub(super) fn reference_chunk(&self, data: &[u8]) -> Result<Vec<u8>> {
        self.options.reference_compressor()?.compress(data)
    }

    /// A chunk that the delta does not concern.
    pub(super) fn special_chunk(&mut self, data: &[u8]) -> Result<Vec<u8>> {
        self.compressor.compress(data)
    }

    /// A data chunk.
    pub(super) fn data_chunk(&mut self, data: &[u8]) -> Result<Vec<u8>> {
        let Some(reference) = &self.reference else { return self.compressor.compress(data) };
        self.differences.clear();
        self.differences.extend_from_slice(data);
        reference.subtract_from(&mut self.differences);
        let chunk = self.compressor.compress(&self.differences)?;
        if delta::covers(&Header::parse(&chunk)?) {
            return Ok(chunk);
        }
        // Readers do not agree on whether the delta covers copies: there must be none.
        raw_chunk(&self.differences, self.options.is_alpha())
    }
}
