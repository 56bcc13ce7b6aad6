//! Waiting awake, where being woken up would take longer.

use std::time::{Duration, Instant};

/// How often is looked before the clock is.
const LOOKS: u32 = 64;

/// Waits for `is_so`, but not for longer than `limit`; whether it is so.
pub(crate) fn spin_until(limit: Duration, is_so: impl Fn() -> bool) -> bool {
    if is_so() {
        return true;
    }
    if cfg!(loom) {
        return false;
    }
    let start = Instant::now();
    while start.elapsed() < limit {
        for _ in 0..LOOKS {
            std::hint::spin_loop();
            if is_so() {
                return true;
            }
        }
    }
    false
}
