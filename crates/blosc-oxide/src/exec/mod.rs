//! "Run this job on n workers": serially, on the threads of this process or of the caller's rayon
//! pool, or on threads that the caller provides.

mod ordered;
mod parts;
#[cfg(feature = "threads")]
mod pool;

pub(crate) use ordered::ordered;
pub(crate) use parts::fill_parts;

#[cfg(feature = "threads")]
pub(crate) use blosc_threads::tick;

/// Records that a worker begins another step.
#[cfg(not(feature = "threads"))]
pub(crate) fn tick() {}

use crate::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// With less than this many bytes, the work is done before a second thread has woken up.
const MIN_BYTES_TO_SHARE: usize = 64 << 10;

/// In how many turns a worker takes its share of the work.
const PARTS_OF_A_WORKER: usize = 8;
/// The most bytes that it takes in a turn.
const MAX_PART: usize = 128 << 10;

/// Threads that the caller provides, for programs that have a pool of their own.
///
/// ```
/// use blosc_oxide::{Threads, plugin::Executor};
/// use std::sync::Arc;
///
/// struct TwoScopedThreads;
/// impl Executor for TwoScopedThreads {
///     fn threads(&self) -> usize {
///         2
///     }
///     fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
///         std::thread::scope(|scope| {
///             for worker in 0..workers {
///                 scope.spawn(move || job(worker));
///             }
///         });
///     }
/// }
/// let threads = Threads::custom(Arc::new(TwoScopedThreads));
/// ```
pub trait Executor: Send + Sync {
    /// How many workers can run at the same time.
    fn threads(&self) -> usize;

    /// Calls `job(0)` to `job(workers - 1)`, in any order and on any threads, and returns when all
    /// have returned. A panic of one is passed on: if a job has not returned, the call that asked
    /// for it panics.
    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync));
}

/// Where the blocks of a chunk are worked on. The result is the same bytes for every choice.
///
/// ```
/// use blosc_oxide::{Options, Threads, compress};
/// let data = vec![7; 1 << 20];
/// let alone = compress(&data, &Options::new(4).with_threads(Threads::serial()))?;
/// let helped = compress(&data, &Options::new(4).with_threads(Threads::at_most(8)))?;
/// assert_eq!(alone, helped);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Clone)]
pub struct Threads(Kind);

#[derive(Clone)]
enum Kind {
    Serial,
    #[cfg(feature = "threads")]
    Pool {
        at_most: usize,
    },
    Custom(Arc<dyn Executor>),
}

/// Two values are equal if they use the same threads in the same number; executors are the same if
/// they are one object.
impl PartialEq for Threads {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Serial, Kind::Serial) => true,
            #[cfg(feature = "threads")]
            (Kind::Pool { at_most }, Kind::Pool { at_most: other }) => at_most == other,
            (Kind::Custom(executor), Kind::Custom(other)) => Arc::ptr_eq(executor, other),
            _ => false,
        }
    }
}

impl Eq for Threads {}

impl Threads {
    /// All on the calling thread.
    #[must_use]
    pub fn serial() -> Self {
        Self(Kind::Serial)
    }

    /// The calling thread and others that help it, `count` in all at the most; 0 means as many as
    /// there are. Without the feature `threads` this is [`serial`](Self::serial).
    ///
    /// A call from a thread of a rayon pool is helped by the others of that pool. All others are
    /// helped by threads of our own, one less than the process may use processors, which all
    /// callers share; they are started when they are first needed, and again in a process that has
    /// been forked. Helpers that come when nothing is left to do are not waited for. While other
    /// programs keep the processors so busy that helpers make short calls slower, the calling
    /// thread does these alone.
    #[must_use]
    pub fn at_most(count: usize) -> Self {
        #[cfg(feature = "threads")]
        return Self(Kind::Pool { at_most: if count == 0 { usize::MAX } else { count } });
        #[cfg(not(feature = "threads"))]
        {
            let _ = count;
            Self::serial()
        }
    }

    /// The caller's own threads.
    #[must_use]
    pub fn custom(executor: Arc<dyn Executor>) -> Self {
        Self(Kind::Custom(executor))
    }

    /// How many workers `jobs` independent jobs over `bytes` bytes are worth; 1 means that sharing
    /// does not pay off.
    pub(crate) fn workers(&self, jobs: usize, bytes: usize) -> usize {
        if jobs < 2 || bytes < MIN_BYTES_TO_SHARE {
            return 1;
        }
        let threads = match &self.0 {
            Kind::Serial => 1,
            #[cfg(feature = "threads")]
            Kind::Pool { at_most } => pool::threads().min(*at_most),
            Kind::Custom(executor) => executor.threads(),
        };
        threads.clamp(1, jobs)
    }

    /// Runs `job` for worker 0 and, as far as there are threads for them in time, for the workers
    /// up to `workers`; returns when all that have started are done. So workers have to take their
    /// work from a common queue until it is empty, and to call [`tick`] whenever they do.
    pub(crate) fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        match &self.0 {
            _ if workers == 1 => job(0),
            Kind::Serial => job(0),
            #[cfg(feature = "threads")]
            Kind::Pool { .. } => pool::run(workers, job),
            Kind::Custom(executor) => run_all(&**executor, workers, job),
        }
    }
}

/// How many of `nbytes` bytes a worker takes at a time: so few that all workers are done at about
/// the same time and that it stays in a cache, but not so few that they wait for each other to take
/// the next.
pub(crate) fn part_len(nbytes: usize, workers: usize) -> usize {
    (nbytes / (workers * PARTS_OF_A_WORKER)).min(MAX_PART)
}

/// Runs all workers, and panics unless all have returned: what one of them has not done would be
/// missing from the result without an error.
fn run_all(executor: &dyn Executor, workers: usize, job: &(dyn Fn(usize) + Sync)) {
    let finished = AtomicUsize::new(0);
    executor.run(workers, &|worker| {
        job(worker);
        finished.fetch_add(1, Ordering::Relaxed);
    });
    let finished = finished.into_inner();
    assert!(finished == workers, "an executor has run {finished} of {workers} jobs to their end");
}

impl Default for Threads {
    /// As many threads as there are, see [`at_most`](Self::at_most).
    fn default() -> Self {
        Self::at_most(0)
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Serial => f.write_str("serial"),
            #[cfg(feature = "threads")]
            Kind::Pool { at_most: usize::MAX } => f.write_str("pool"),
            #[cfg(feature = "threads")]
            Kind::Pool { at_most } => write!(f, "pool, at most {at_most}"),
            Kind::Custom(executor) => write!(f, "custom, {}", executor.threads()),
        }
    }
}

/// Locks `mutex`, also after a panic elsewhere: what it guards here is scratch or a queue, which
/// are consistent after every step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the error of the lowest job, so that the result does not depend on timing: all jobs below
/// one that fails are tried.
pub(crate) fn keep_first(kept: &mut Option<(usize, Error)>, found: (usize, Error)) {
    if kept.as_ref().is_none_or(|(index, _)| found.0 < *index) {
        *kept = Some(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_worker_runs_once_and_the_others_at_most_once() {
        for threads in [Threads::serial(), Threads::at_most(0), Threads::at_most(3)] {
            let seen: Vec<AtomicUsize> = (0..5).map(|_| AtomicUsize::new(0)).collect();
            threads.run(5, &|worker| {
                seen[worker].fetch_add(1, Ordering::Relaxed);
            });
            let seen: Vec<usize> = seen.into_iter().map(AtomicUsize::into_inner).collect();
            assert!(seen[0] == 1 && seen.iter().all(|&count| count <= 1), "{threads:?}: {seen:?}");
        }
    }

    /// Catches panics, as many pools of threads do.
    struct Discreet;

    impl Executor for Discreet {
        fn threads(&self) -> usize {
            2
        }

        fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
            for worker in 0..workers {
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job(worker)));
            }
        }
    }

    #[test]
    #[should_panic(expected = "an executor has run 1 of 2 jobs to their end")]
    fn an_executor_that_keeps_a_panic_to_itself_is_found_out() {
        Threads::custom(Arc::new(Discreet)).run(2, &|worker| assert!(worker == 0));
    }

    #[test]
    fn little_work_is_not_shared() {
        let threads = Threads::at_most(8);
        assert_eq!(threads.workers(1, usize::MAX), 1);
        assert_eq!(threads.workers(8, MIN_BYTES_TO_SHARE - 1), 1);
        assert_eq!(Threads::serial().workers(8, usize::MAX), 1);
    }
}
