//! The functions that C calls; include/blosc2.h and include/b2nd.h say what each is for.
//!
//! All that take pointers have the same contract: a pointer is NULL or points to what the headers
//! say, of the length that is given beside it or that its own fields say, and nobody else uses it
//! during the call. What each block relies on is this contract; where a function needs more, it
//! says so.

mod b2nd;
pub(crate) mod chunks;
pub(crate) mod contexts;
mod defaults;
mod filters;
pub(crate) mod global;
mod meta;
mod registration;
mod schunk;
mod storage;
mod utilities;
