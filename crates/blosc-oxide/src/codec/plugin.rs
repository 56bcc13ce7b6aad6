//! Codecs that the caller provides.

use crate::error::Result;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a [`CodecPlugin`] knows about the stream it works on.
///
/// ```
/// use blosc_oxide::plugin::CodecContext;
/// /// How hard a codec tries: called from its `compress`.
/// fn rounds(context: CodecContext) -> u32 {
///     if context.level < 5 { 1 } else { 4 }
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct CodecContext<'a> {
    /// The codec's meta byte in the chunk's header.
    pub meta: u8,
    /// The compression level, 1 to 9; 0 when decompressing, since chunks do not store it.
    pub level: u8,
    /// The typesize of the chunk, as its header stores it: 1 for items of more than 255 bytes.
    pub typesize: usize,
    /// The shape of blocks in items, if the chunk is one of an array, or if the caller has said it
    /// ([`Options::with_block_shape`](crate::Options::with_block_shape),
    /// [`Decompressor::with_block_shape`](crate::Decompressor::with_block_shape)).
    pub block_shape: Option<&'a [usize]>,
}

/// A codec of one's own. The ids from 160 on are for users; those from 32 to 159 belong to codecs
/// that all share, and a plug-in stands in for what this build may have under such an id.
///
/// ```
/// use blosc_oxide::plugin::{CodecContext, CodecPlugin, Plugins};
/// use blosc_oxide::{Codec, Compressor, Decompressor, Options, Result};
/// use std::sync::Arc;
///
/// /// Keeps one byte of a block in which all are equal.
/// struct Constant;
/// impl CodecPlugin for Constant {
///     fn compress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<Option<usize>> {
///         if dst.is_empty() || src.iter().any(|byte| *byte != src[0]) {
///             return Ok(None);
///         }
///         dst[0] = src[0];
///         Ok(Some(1))
///     }
///     fn decompress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<usize> {
///         dst.fill(src[0]);
///         Ok(dst.len())
///     }
/// }
///
/// let plugins = Plugins::new().with_codec(200, Arc::new(Constant))?;
/// let options = Options::new(1).with_codec(Codec::Plugin(200)).with_plugins(plugins.clone());
/// let chunk = Compressor::new(options)?.compress(&[7; 1000])?;
/// assert_eq!(Decompressor::new().with_plugins(plugins).decompress(&chunk)?, [7; 1000]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub trait CodecPlugin: Send + Sync {
    /// Compresses `src` into `dst` and returns the length, or `None` when the result is longer than
    /// `dst`.
    ///
    /// # Errors
    /// Any error ends the compression of the chunk with it.
    fn compress(&self, src: &[u8], dst: &mut [u8], context: CodecContext<'_>) -> Result<Option<usize>>;

    /// Decompresses `src` into `dst` and returns how many bytes it wrote: all of `dst`, or the
    /// chunk is corrupt.
    ///
    /// # Errors
    /// Any error ends the decompression of the chunk with it.
    fn decompress(&self, src: &[u8], dst: &mut [u8], context: CodecContext<'_>) -> Result<usize>;

    /// The version of the stream format, kept in byte 1 of the chunk.
    fn version(&self) -> u8 {
        1
    }
}

/// The codecs that are not built in, by id.
#[derive(Clone, Default)]
pub(crate) struct CodecRegistry(BTreeMap<u8, Arc<dyn CodecPlugin>>);

impl CodecRegistry {
    pub(crate) fn insert(&mut self, id: u8, codec: Arc<dyn CodecPlugin>) {
        self.0.insert(id, codec);
    }

    pub(crate) fn get(&self, id: u8) -> Option<&dyn CodecPlugin> {
        self.0.get(&id).map(|codec| &**codec)
    }
}

impl PartialEq for CodecRegistry {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, other): (&Arc<dyn CodecPlugin>, &Arc<dyn CodecPlugin>)| Arc::ptr_eq(one, other);
        self.0.keys().eq(other.0.keys()) && self.0.values().zip(other.0.values()).all(same)
    }
}

impl Eq for CodecRegistry {}

impl fmt::Debug for CodecRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
