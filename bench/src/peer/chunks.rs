//! Chunks of C-Blosc2 and of C-Blosc, in one configuration.

use super::{Params, Peer, PeerContext};
use crate::grid::Case;
use crate::rows::chunks::{ChunkLibrary, codec, filter};
use blosc_oxide::Filter;

/// Contexts of C-Blosc2 for both ways.
pub(crate) struct Contexts<'p> {
    compressor: PeerContext<'p>,
    decompressor: PeerContext<'p>,
}

impl Peer {
    /// Contexts for a configuration.
    pub(crate) fn contexts(&self, case: Case, typesize: usize) -> Contexts<'_> {
        let params = Params {
            codec: codec(case.codec).code(),
            level: case.level,
            filter: filter(case.filter).map_or(0, Filter::id),
            typesize,
            threads: case.threads.into(),
        };
        Contexts { compressor: self.compressor(params), decompressor: self.decompressor(case.threads.into()) }
    }
}

impl ChunkLibrary for Contexts<'_> {
    fn compress(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        self.compressor.compress(src, dst)
    }

    fn decompress(&mut self, src: &[u8], dst: &mut [u8]) {
        self.decompressor.decompress(src, dst);
    }
}
