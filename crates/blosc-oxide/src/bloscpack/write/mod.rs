//! From data to a file or a stream, and files that grow.

pub(in crate::bloscpack) mod append;
pub(in crate::bloscpack) mod edit;
pub(in crate::bloscpack) mod extend;
pub(in crate::bloscpack) mod packer;
pub(in crate::bloscpack) mod rewrite;
pub(in crate::bloscpack) mod target;
pub(in crate::bloscpack) mod writer;
