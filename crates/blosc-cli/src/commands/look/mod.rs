//! Commands that look into files and change nothing.

pub(crate) mod diff;
pub(crate) mod head;
pub(crate) mod info;
pub(crate) mod ls;
pub(crate) mod verify;
