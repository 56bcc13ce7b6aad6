//! Codecs and filters that are not built in.

use crate::codec::{CodecPlugin, CodecRegistry};
use crate::error::{Result, bail};
use crate::filter::{FilterPlugin, FilterRegistry, id as filter_id};
use std::sync::Arc;

/// The plug-in codecs and filters of a program: a value that belongs to the caller, cheap to clone.
///
/// Two values are equal if they have the same plug-ins (the same objects) under the same ids.
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

    /// Adds a codec under an id from 160 to 255.
    ///
    /// # Errors
    /// `InvalidArgument` for a lower id.
    pub fn with_codec(mut self, id: u8, codec: Arc<dyn CodecPlugin>) -> Result<Self> {
        check_id("codec", id)?;
        self.codecs.insert(id, codec);
        Ok(self)
    }

    /// Adds a filter under an id from 160 to 255.
    ///
    /// # Errors
    /// `InvalidArgument` for a lower id.
    pub fn with_filter(mut self, id: u8, filter: Arc<dyn FilterPlugin>) -> Result<Self> {
        check_id("filter", id)?;
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

fn check_id(what: &str, id: u8) -> Result<()> {
    if id < filter_id::FIRST_USER {
        bail!(InvalidArgument, "{what} id {id} is reserved, one's own are {} to 255", filter_id::FIRST_USER);
    }
    Ok(())
}
