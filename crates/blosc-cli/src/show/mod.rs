//! What `info` tells.

pub(crate) mod chunk_facts;
pub(crate) mod facts;
pub(crate) mod info_text;
pub(crate) mod json;
pub(crate) mod metadata;
pub(crate) mod rows;
pub(crate) mod values;
