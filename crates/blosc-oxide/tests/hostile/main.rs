//! Any input gives data or an error, soon, and allocates no more than the limits allow.

#[path = "../common/mod.rs"]
mod common;

mod corruption;
mod frames;
mod limits;
mod packed;
mod paths;
mod regressions;

use testkit::alloc::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
