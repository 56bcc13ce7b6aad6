//! Codecs and filters that are not built in.

use crate::codec::{CodecPlugin, CodecRegistry};
use crate::error::{Result, bail};
use crate::filter::{FilterPlugin, FilterRegistry, id as filter_id};
use std::sync::Arc;

/// The plug-in codecs and filters of a program: a value that belongs to the caller, cheap to clone.
///
/// Two values are equal if they have the same plug-ins (the same objects) under the same ids.
///
/// ```
/// use blosc_oxide::plugin::{FilterContext, FilterPlugin, Plugins};
/// use blosc_oxide::{Compressor, Decompressor, Filter, Options, Result};
/// use std::sync::Arc;
///
/// struct Invert;
/// impl FilterPlugin for Invert {
///     fn forward(&self, src: &[u8], dst: &mut [u8], _: FilterContext) -> Result<()> {
///         dst.iter_mut().zip(src).for_each(|(to, from)| *to = !from);
///         Ok(())
///     }
///     fn backward(&self, src: &[u8], dst: &mut [u8], context: FilterContext) -> Result<()> {
///         self.forward(src, dst, context)
///     }
/// }
///
/// let plugins = Plugins::new().with_filter(160, Arc::new(Invert))?;
/// let options = Options::new(1).with_filters([Filter::Plugin { id: 160, meta: 0 }]).with_plugins(plugins.clone());
/// let chunk = Compressor::new(options)?.compress(&[7; 1000])?;
/// assert_eq!(Decompressor::new().with_plugins(plugins).decompress(&chunk)?, [7; 1000]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plugins {
    pub(super) codecs: CodecRegistry,
    pub(super) filters: FilterRegistry,
}

impl Plugins {
    /// No plug-ins.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a codec under an id from 32 to 255. Those below 160 belong to codecs that all share
    /// (33 to 35 are zfp, 39 is JPEG 2000); it stands in for what this build has under such an id.
    ///
    /// # Errors
    /// `InvalidArgument` for a lower id.
    pub fn with_codec(mut self, id: u8, codec: Arc<dyn CodecPlugin>) -> Result<Self> {
        check_id("codec", id, FIRST_CODEC)?;
        self.codecs.insert(id, codec);
        Ok(self)
    }

    /// Adds a filter under an id from 160 to 255.
    ///
    /// # Errors
    /// `InvalidArgument` for a lower id.
    pub fn with_filter(mut self, id: u8, filter: Arc<dyn FilterPlugin>) -> Result<Self> {
        check_id("filter", id, filter_id::FIRST_USER)?;
        self.filters.insert(id, filter);
        Ok(self)
    }
}

impl Plugins {
    /// Adds a filter under any id, for layers that know more than a chunk does.
    pub(crate) fn insert_filter(&mut self, id: u8, filter: Arc<dyn FilterPlugin>) {
        self.filters.insert(id, filter);
    }
}

/// Codecs below are in the flags of chunks, and are the same everywhere.
const FIRST_CODEC: u8 = 32;

fn check_id(what: &str, id: u8, first: u8) -> Result<()> {
    if id < first {
        bail!(InvalidArgument, "{what} id {id} is reserved, one's own are {first} to 255");
    }
    Ok(())
}
