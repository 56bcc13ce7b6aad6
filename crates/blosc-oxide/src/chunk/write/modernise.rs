//! Chunks of old releases, rewritten.

use super::encode::Compressor;
use crate::chunk::options::Options;
use crate::chunk::read::decode::Decompressor;
use crate::chunk::read::view::Chunk;
use crate::error::Result;

/// A chunk of today with the data of `bytes`, which every reader decodes by the same rule. A codec
/// that is only read is replaced by the default one.
pub(crate) fn modernised(bytes: &[u8], level: u8, decompressor: &mut Decompressor) -> Result<Vec<u8>> {
    let chunk = Chunk::parse(bytes)?;
    let data = decompressor.chunk(&chunk)?;
    let header = chunk.header();
    let blocksize = (header.nblocks() > 1).then_some(header.blocksize());
    let options =
        Options::new(header.typesize()).with_level(level).with_pipeline(header.pipeline()).with_blocksize(blocksize);
    let compressor = Compressor::new(options.clone().with_codec(header.codec()));
    compressor.or_else(|_| Compressor::new(options))?.compress(&data)
}
