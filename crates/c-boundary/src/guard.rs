//! Panics end here: C cannot be unwound through.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `call` returns, or `failed` if it panics. Nothing that outlives a call can be left half
/// changed by that: settings are single numbers, and what works on a chunk is given up with the
/// call.
pub fn guarded<T>(failed: T, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(failed)
}
