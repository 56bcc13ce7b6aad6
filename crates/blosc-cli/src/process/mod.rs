//! The process and its terminal: colours, progress, signals.

pub(crate) mod instructions;
pub(crate) mod progress;
pub(crate) mod signals;
pub(crate) mod summary;
pub(crate) mod terminal;
