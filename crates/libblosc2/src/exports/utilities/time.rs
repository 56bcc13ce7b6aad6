//! Clocks, for programs that measure.

use c_boundary::memory;
use libc::timespec;

const NANOSECONDS: f64 = 1e9;

#[unsafe(no_mangle)]
unsafe extern "C" fn blosc_set_timestamp(timestamp: *mut timespec) {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` can be written to.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    // SAFETY: the contract of this function.
    unsafe { memory::store(timestamp, now) };
}

#[unsafe(no_mangle)]
extern "C" fn blosc_elapsed_nsecs(start_time: timespec, end_time: timespec) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "the result is a floating-point number in C")]
    let difference = |end: i64, start: i64| end.wrapping_sub(start) as f64;
    difference(end_time.tv_sec, start_time.tv_sec) * NANOSECONDS + difference(end_time.tv_nsec, start_time.tv_nsec)
}

#[unsafe(no_mangle)]
extern "C" fn blosc_elapsed_secs(start_time: timespec, end_time: timespec) -> f64 {
    blosc_elapsed_nsecs(start_time, end_time) / NANOSECONDS
}
