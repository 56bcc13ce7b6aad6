//! What belongs to the whole process: settings, what was registered, threads, and variables of the
//! environment.

pub(crate) mod environment;
pub(crate) mod registry;
pub(crate) mod settings;
pub(crate) mod threads;
