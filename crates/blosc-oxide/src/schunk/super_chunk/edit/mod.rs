//! Changing chunks: all of a call happens, or nothing of it.

mod chunks;
mod rollback;
mod stage;
