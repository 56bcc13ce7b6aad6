//! Memory stays bounded, whatever the size of the data.

#[path = "../common/mod.rs"]
mod common;

mod arrays;
mod decoding;

use std::sync::{Mutex, MutexGuard, PoisonError};
use testkit::alloc::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What other tests allocate would count.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
