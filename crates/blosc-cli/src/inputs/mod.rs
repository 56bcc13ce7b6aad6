//! What is read: files, members of stores and streams, and which format they have.

pub(crate) mod behind;
pub(crate) mod foreign;
pub(crate) mod format;
pub(crate) mod input;
pub(crate) mod reading;
pub(crate) mod source;
pub(crate) mod steady;
pub(crate) mod values;
