//! What is made of the description of the command line.

pub(crate) mod completions;
pub(crate) mod man;
