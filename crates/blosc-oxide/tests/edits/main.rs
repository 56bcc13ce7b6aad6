//! A call that fails changes nothing, and a change that is given up was never made.

#[path = "../common/mod.rs"]
mod common;

mod bloscpack_append;
mod commits;
mod creation;
mod drops;
mod failed_calls;
mod rollback;
mod storage_faults;
mod transactions;
