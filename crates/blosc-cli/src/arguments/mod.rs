//! The command line: what is typed, and what it means.

pub(crate) mod array;
pub(crate) mod cli;
pub(crate) mod dtype;
pub(crate) mod habits;
pub(crate) mod inputs;
pub(crate) mod level;
pub(crate) mod names;
pub(crate) mod size;
pub(crate) mod slice;
pub(crate) mod words;
