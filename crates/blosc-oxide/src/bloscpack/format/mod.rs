//! What the bytes of a Bloscpack file mean, and where they are.

pub(in crate::bloscpack) mod checksum;
pub(in crate::bloscpack) mod header;
pub(in crate::bloscpack) mod journal;
pub(in crate::bloscpack) mod layout;
pub(in crate::bloscpack) mod metadata;
pub(in crate::bloscpack) mod numpy;
pub(in crate::bloscpack) mod offsets;
