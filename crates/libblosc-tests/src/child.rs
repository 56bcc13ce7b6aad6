//! Calls that may crash: in a process of their own.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Whether `check` returns, and with `true`, in a forked process; `None` if that ended by a signal.
///
/// # Panics
/// If there can be no process.
pub fn in_a_child(check: impl FnOnce() -> bool) -> Option<bool> {
    // SAFETY: the child is a copy of this thread only; it calls `check`, and ends without running
    // anything of its parent's.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "cannot fork: {}", std::io::Error::last_os_error());
    if child == 0 {
        // SAFETY: takes a number. A child that hangs is ended by this.
        unsafe { libc::alarm(60) };
        let is_good = catch_unwind(AssertUnwindSafe(check)).unwrap_or(false);
        // SAFETY: ends the process, whatever state it is in.
        unsafe { libc::_exit(i32::from(!is_good)) }
    }
    let mut status = 0;
    // SAFETY: `status` is an integer that can be written to, and `child` has not been waited for.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child, "{}", std::io::Error::last_os_error());
    libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status) == 0)
}
