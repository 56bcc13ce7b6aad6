//! Workers on the threads of the rayon pool that the caller is in, or on those of our own; the
//! caller is one of them.

use blosc_threads::{Helpers, Invitation, Pool, is_forked, share};
use std::cell::RefCell;
use std::sync::Arc;

/// How many unread invitations a thread may have for each helper that it asks for.
const UNREAD: usize = 4;

/// How many threads there are, the caller's among them.
pub(super) fn threads() -> usize {
    if is_in_rayon_pool() { rayon_core::current_num_threads() } else { Pool::of_process().threads() }
}

/// Runs worker 0 on the calling thread, and others if there are threads for them in time.
pub(super) fn run(workers: usize, job: &(dyn Fn(usize) + Sync)) {
    if is_in_rayon_pool() { share(&RayonPool, workers - 1, job) } else { Pool::of_process().share(workers - 1, job) }
}

/// Whether this thread belongs to a rayon pool, and the other threads of that pool have not been
/// lost in a fork.
fn is_in_rayon_pool() -> bool {
    rayon_core::current_thread_index().is_some() && !is_forked()
}

/// The threads of the pool that the caller is in.
struct RayonPool;

impl Helpers for RayonPool {
    /// Jobs given to rayon cannot be withdrawn. If all threads of the pool are busy for long,
    /// invitations to sessions that have ended stay in its queue. Their number is limited: a long
    /// job that calls us a million times would otherwise fill the memory with them.
    fn ask(&'static self, count: usize, invitation: &Invitation) {
        let marker = INVITED.with_borrow(Arc::clone);
        let unread = Arc::strong_count(&marker) - 2;
        for _ in unread.min(UNREAD * count)..(UNREAD * count).min(unread + count) {
            let (invitation, marker) = (invitation.clone(), Arc::clone(&marker));
            rayon_core::spawn(move || {
                drop(marker);
                invitation.accept();
            });
        }
    }
}

thread_local! {
    /// Has a clone in every invitation of this thread that nobody has read.
    static INVITED: RefCell<Arc<()>> = RefCell::default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use blosc_threads::tick;
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, mpsc};
    use std::time::{Duration, Instant};

    fn rayon_pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    /// Runs `workers` that take `steps` of `work` each, and returns which of them took how many.
    fn take_steps(workers: usize, steps: usize, work: impl Fn() + Sync) -> Vec<usize> {
        let next = AtomicUsize::new(0);
        let taken: Vec<AtomicUsize> = (0..workers).map(|_| AtomicUsize::new(0)).collect();
        run(workers, &|worker| {
            while next.fetch_add(1, Ordering::Relaxed) < steps {
                tick();
                work();
                taken[worker].fetch_add(1, Ordering::Relaxed);
            }
        });
        taken.into_iter().map(AtomicUsize::into_inner).collect()
    }

    fn pause() {
        std::thread::sleep(Duration::from_millis(5));
    }

    #[test]
    fn a_rayon_pool_whose_only_other_thread_is_stuck_does_not_delay_the_caller() {
        let pool = rayon_pool(2);
        let (release, stuck) = mpsc::channel::<()>();
        let (sender, done) = mpsc::channel();
        pool.spawn(move || assert!(stuck.recv().is_err()));
        pool.spawn(move || sender.send(take_steps(2, 100, || {})).unwrap());
        assert_eq!(done.recv_timeout(Duration::from_secs(60)), Ok(vec![100, 0]));
        drop(release);
    }

    /// A scope of rayon would: a thread that waits there runs any job it finds.
    #[test]
    fn a_caller_that_waits_for_a_helper_does_no_other_work_of_its_pool() {
        let pool = rayon_pool(2);
        let (release, stuck) = mpsc::channel::<()>();
        let stuck = Arc::new(Mutex::new(stuck));
        let (sender, done) = mpsc::channel();
        pool.spawn(move || {
            let (has_joined, start) = (AtomicUsize::new(0), Instant::now());
            run(2, &|worker| {
                if worker == 1 {
                    has_joined.store(1, Ordering::Relaxed);
                    let stuck = Arc::clone(&stuck);
                    rayon::spawn(move || assert!(stuck.lock().unwrap().recv().is_err()));
                    std::thread::sleep(Duration::from_millis(300));
                }
                while worker == 0 && has_joined.load(Ordering::Relaxed) == 0 && start.elapsed().as_secs() < 20 {
                    tick();
                    std::thread::yield_now();
                }
            });
            sender.send(has_joined.into_inner()).unwrap();
        });
        assert_eq!(done.recv_timeout(Duration::from_secs(60)), Ok(1));
        drop(release);
    }

    #[test]
    fn threads_of_the_callers_pool_help() {
        let taken = rayon_pool(3).install(|| take_steps(3, 40, pause));
        assert_eq!(taken.iter().sum::<usize>(), 40);
        assert!(taken.iter().all(|&count| count > 0), "{taken:?}");
    }

    #[test]
    fn a_job_that_waits_in_its_pool_is_not_given_another_worker_of_the_same_job() {
        // A thread that waits in `join` runs any job it finds, here the invitation that it has sent
        // itself.
        let pool = rayon_pool(1);
        let taken = pool.install(|| {
            take_steps(2, 10, || {
                rayon::join(|| (), || ());
            })
        });
        assert_eq!(taken, [10, 0]);
    }

    #[test]
    fn invitations_that_nobody_reads_do_not_add_up() {
        let pool = rayon_pool(1);
        let unread = pool.install(|| {
            (0..1000).for_each(|_| drop(take_steps(2, 1, || {})));
            INVITED.with_borrow(Arc::strong_count) - 1
        });
        assert!(unread <= UNREAD, "{unread}");
    }

    #[test]
    fn a_panic_of_any_worker_is_passed_on() {
        for pool in [None, Some(rayon_pool(2))] {
            for panicking in [0, 1] {
                let job = || {
                    let has_joined = AtomicUsize::new(0);
                    let start = Instant::now();
                    run(2, &|worker| {
                        has_joined.fetch_max(worker, Ordering::Relaxed);
                        assert!(worker != panicking, "as planned");
                        // The helper is given time to join.
                        while worker == 0 && has_joined.load(Ordering::Relaxed) == 0 && start.elapsed().as_secs() < 20 {
                            tick();
                            std::thread::yield_now();
                        }
                    });
                };
                let panic = std::panic::catch_unwind(AssertUnwindSafe(|| match &pool {
                    Some(pool) => pool.install(job),
                    None => job(),
                }));
                let has_helpers = pool.is_some() || Pool::of_process().threads() > 1;
                if panicking == 0 || has_helpers {
                    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"as planned"), "worker {panicking}");
                }
            }
        }
    }
}
