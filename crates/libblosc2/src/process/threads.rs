//! Where blocks are worked on: the threads of the library, or those that the program provides.

use crate::process::settings::{self, ProgramThreads};
use blosc_oxide::Threads;
use blosc_oxide::plugin::Executor;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The threads that a number stands for: one is the caller itself.
pub(crate) fn of(count: i16) -> Threads {
    match (usize::try_from(count), settings::program_threads()) {
        (Ok(count @ 2..), Some(program)) => Threads::custom(Arc::new(Program { program, count })),
        (Ok(count @ 2..), None) => Threads::at_most(count),
        _ => Threads::serial(),
    }
}

/// The program's threads, `count` of them.
struct Program {
    program: &'static ProgramThreads,
    count: usize,
}

// SAFETY: the program has said with blosc2_set_threads_callback that its function may be called
// from any thread.
unsafe impl Send for Program {}
// SAFETY: as above.
unsafe impl Sync for Program {}

/// One job of the program's, as its threads get it.
struct Job<'a> {
    worker: usize,
    run: &'a (dyn Fn(usize) + Sync),
    done: &'a AtomicUsize,
}

impl Executor for Program {
    fn threads(&self) -> usize {
        self.count
    }

    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        let done = AtomicUsize::new(0);
        let mut jobs: Vec<Job<'_>> = (0..workers).map(|worker| Job { worker, run: job, done: &done }).collect();
        let count = c_int::try_from(workers).unwrap_or(c_int::MAX);
        // SAFETY: `do_job` takes pointers to the elements of `jobs`, which live until all have been
        // called.
        unsafe { self.program.run(do_job, count, size_of::<Job<'_>>(), jobs.as_mut_ptr().cast()) };
        assert_eq!(done.load(Ordering::Acquire), workers, "the program's threads have not done all jobs");
    }
}

/// # Safety
/// `job` points to a [`Job`].
unsafe extern "C" fn do_job(job: *mut c_void) {
    // SAFETY: the caller promises it; jobs are not written to.
    let job = unsafe { &*job.cast::<Job<'_>>() };
    // A panic must not get into the program's threads. The job is not done then, which `run` finds
    // out.
    if catch_unwind(AssertUnwindSafe(|| (job.run)(job.worker))).is_ok() {
        job.done.fetch_add(1, Ordering::AcqRel);
    }
}
