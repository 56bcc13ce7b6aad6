//! Filters that the caller provides.

use crate::error::Result;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What a [`FilterPlugin`] knows about the block it works on.
///
/// ```
/// use blosc_oxide::plugin::FilterContext;
/// /// How far apart equal bytes of neighbouring items are: called from a filter's `forward`.
/// fn distance(context: FilterContext) -> usize {
///     if context.meta == 0 { context.typesize } else { context.meta.into() }
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FilterContext {
    /// The meta byte of the filter's slot.
    pub meta: u8,
    /// The typesize of the chunk, as its header stores it: 1 for items of more than 255 bytes.
    pub typesize: usize,
}

/// A filter of one's own, for the ids 160 to 255.
///
/// ```
/// use blosc_oxide::{Decompressor, Filter, Options, Result, plugin::{FilterContext, FilterPlugin, Plugins}};
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
/// let plugins = Plugins::new().with_filter(200, Arc::new(Invert))?;
/// let options = Options::new(1).with_filters([Filter::Plugin { id: 200, meta: 0 }]).with_plugins(plugins.clone());
/// let chunk = blosc_oxide::compress(&[7; 1000], &options)?;
/// assert_eq!(Decompressor::new().with_plugins(plugins).decompress(&chunk)?, [7; 1000]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub trait FilterPlugin: Send + Sync {
    /// Transforms `src` into `dst` of the same length, before compression.
    ///
    /// # Errors
    /// Any error ends the compression with it.
    fn forward(&self, src: &[u8], dst: &mut [u8], context: FilterContext) -> Result<()>;

    /// Undoes [`forward`](Self::forward).
    ///
    /// # Errors
    /// Any error ends the decompression with it.
    fn backward(&self, src: &[u8], dst: &mut [u8], context: FilterContext) -> Result<()>;
}

/// The filters that are not built in, by id.
#[derive(Clone, Default)]
pub(crate) struct FilterRegistry(BTreeMap<u8, Arc<dyn FilterPlugin>>);

impl FilterRegistry {
    pub(crate) fn insert(&mut self, id: u8, filter: Arc<dyn FilterPlugin>) {
        self.0.insert(id, filter);
    }

    pub(crate) fn get(&self, id: u8) -> Option<&dyn FilterPlugin> {
        self.0.get(&id).map(|filter| &**filter)
    }
}

impl PartialEq for FilterRegistry {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, other): (&Arc<dyn FilterPlugin>, &Arc<dyn FilterPlugin>)| Arc::ptr_eq(one, other);
        self.0.keys().eq(other.0.keys()) && self.0.values().zip(other.0.values()).all(same)
    }
}

impl Eq for FilterRegistry {}

impl fmt::Debug for FilterRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
