//! Threads of `blosc-oxide`: jobs that a caller does, and that helpers join if they come in time.
//!
//! [`share`] runs a job on the calling thread, and gives others the chance to join it. When the
//! caller has nothing left to do it waits for those who have joined, and for nobody else: on a
//! machine that lets helpers come late, only their help is missing. [`Pool`] has helpers: threads
//! of this process, also after a fork.
//!
//! This is a part of `blosc-oxide`, and no interface for others.

mod ledger;
mod pool;
mod session;
mod share;
mod spin;
mod steps;
mod sync;

pub use pool::{Pool, is_forked};
pub use session::Invitation;
pub use share::{Helpers, share, tick};
