//! From a file or a stream to its data.

pub(in crate::bloscpack) mod decode;
pub(in crate::bloscpack) mod index;
pub(in crate::bloscpack) mod ranges;
pub(in crate::bloscpack) mod reader;
pub(in crate::bloscpack) mod stream;
