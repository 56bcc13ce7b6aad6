//! Workers on rayon's current pool, the caller being one of them.

use super::ordered;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a thread waits awake: about twice as long as it takes to be woken up.
const LONGEST_SPIN: Duration = Duration::from_micros(60);

/// The process whose global rayon pool has been used: the threads of that pool do not exist in a forked child.
static POOL_OWNER: AtomicU32 = AtomicU32::new(0);

/// How many threads the current pool has; 1 when its threads are gone after a `fork()`, and on a thread of the pool that must
/// not wait for others.
pub(super) fn threads() -> usize {
    let inside_a_pool = rayon::current_thread_index().is_some();
    if inside_a_pool && ordered::is_worker() {
        return 1;
    }
    if inside_a_pool || owns_global_pool() { rayon::current_num_threads() } else { 1 }
}

/// Whether the global pool was, or may now be, started by this very process.
fn owns_global_pool() -> bool {
    let me = std::process::id();
    match POOL_OWNER.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => true,
        Err(owner) => owner == me,
    }
}

/// Runs worker 0 on the calling thread while the pool runs the others.
pub(super) fn run(workers: usize, job: &(dyn Fn(usize) + Sync)) {
    let running = AtomicUsize::new(workers - 1);
    rayon::in_place_scope(|scope| {
        for worker in 1..workers {
            let running = &running;
            scope.spawn(move |_| {
                job(worker);
                running.fetch_sub(1, Ordering::Release);
            });
        }
        job(0);
        // A thread of the pool has something better to do: run what nobody has taken.
        if rayon::current_thread_index().is_none() {
            wait_briefly(&running);
        }
    });
}

/// Waits for others, but not for long: mostly they are about to end, and being woken up takes longer than that. Whoever is not
/// done by then is waited for asleep.
fn wait_briefly(running: &AtomicUsize) {
    let mut start = None;
    while running.load(Ordering::Acquire) > 0 {
        std::thread::yield_now();
        if start.get_or_insert_with(Instant::now).elapsed() > LONGEST_SPIN {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs two workers that take `work`, `count` times, and returns how long that takes.
    fn time_of_pairs(count: u32, work: Duration) -> Duration {
        let start = Instant::now();
        for _ in 0..count {
            run(2, &|_| {
                let start = Instant::now();
                while start.elapsed() < work {
                    std::hint::spin_loop();
                }
            });
        }
        start.elapsed()
    }

    #[test]
    fn threads_of_a_pool_do_not_wait_for_what_they_could_run_themselves() {
        // One thread: nobody takes its second job but itself.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let count = 1000;
        let elapsed = pool.install(|| time_of_pairs(count, Duration::ZERO));
        assert!(elapsed < LONGEST_SPIN * count / 2, "{elapsed:?}");
    }

    #[test]
    fn a_panic_of_any_worker_is_passed_on() {
        for worker in [0, 1] {
            let panic = std::panic::catch_unwind(|| run(2, &|number| assert!(number != worker, "as planned")));
            assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"as planned"), "worker {worker}");
        }
    }
}
