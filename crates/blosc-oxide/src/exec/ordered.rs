//! A sequence of jobs that several workers do at once, with results in the order of the jobs.

use super::{Threads, lock, tick};
use crate::error::{Error, Result, error};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

/// Does the jobs that `next` gives, up to `workers` of them at once, and hands the results to `put`
/// in the order of the jobs. No more than two jobs a worker are under way. After an error no job is
/// begun, and the first error is returned: all results before it have been put.
///
/// A worker waits only for a job that another has begun, never for one that nobody has begun: it
/// does not matter whether the workers run at the same time.
pub(crate) fn ordered<J, T: Send>(
    threads: &Threads,
    workers: usize,
    next: impl FnMut() -> Result<Option<J>> + Send,
    work: impl Fn(usize, J) -> Result<T> + Sync,
    put: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let row = Row {
        intake: Mutex::new(Intake { next, taken: 0, is_over: false }),
        results: Mutex::new(Results { waiting: BTreeMap::new(), due: 0, is_putting: false, failure: None }),
        put: Mutex::new(put),
        turn: Condvar::new(),
    };
    threads.run(workers, &|worker| row.run(worker, 2 * workers, &work));
    row.results.into_inner().unwrap_or_else(PoisonError::into_inner).failure.map_or(Ok(()), |(_, error)| Err(error))
}

struct Row<N, T, P> {
    intake: Mutex<Intake<N>>,
    results: Mutex<Results<T>>,
    /// Apart from the results, so that workers go on with the next job while one of them puts.
    put: Mutex<P>,
    turn: Condvar,
}

/// Where jobs come from.
struct Intake<N> {
    next: N,
    taken: usize,
    is_over: bool,
}

/// Results that have not been put.
struct Results<T> {
    waiting: BTreeMap<usize, T>,
    due: usize,
    /// Whether a worker is putting results: it goes on with all that are handed over meanwhile.
    is_putting: bool,
    failure: Option<(usize, Error)>,
}

impl<T> Results<T> {
    fn accept(&mut self, index: usize, result: Result<T>) {
        match result {
            Ok(result) => drop(self.waiting.insert(index, result)),
            Err(error) => self.fail(index, error),
        }
    }

    /// The next result to be put, if it is there and nothing before it has failed.
    fn take_due(&mut self) -> Option<T> {
        let has_failed = self.failure.as_ref().is_some_and(|(at, _)| *at <= self.due);
        if has_failed { None } else { self.waiting.remove(&self.due) }
    }

    fn fail(&mut self, index: usize, error: Error) {
        if self.failure.as_ref().is_none_or(|(before, _)| index < *before) {
            self.failure = Some((index, error));
        }
    }
}

/// Ends the sequence when a worker panics, so that the others do not wait for its job.
struct Alarm<'r, N, T, P>(&'r Row<N, T, P>);

impl<N, T, P> Drop for Alarm<'_, N, T, P> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.results).fail(0, error!(InvalidArgument, "a worker has panicked"));
            self.0.turn.notify_all();
        }
    }
}

impl<J, T, N: FnMut() -> Result<Option<J>>, P: FnMut(T) -> Result<()>> Row<N, T, P> {
    fn run(&self, worker: usize, window: usize, work: &impl Fn(usize, J) -> Result<T>) {
        let _alarm = Alarm(self);
        while let Some((index, job)) = self.take(window) {
            tick();
            let result = work(worker, job);
            self.hand_over(index, result);
        }
    }

    /// Hands a result over, and puts all that are next in order unless another worker does that.
    fn hand_over(&self, index: usize, result: Result<T>) {
        let mut results = lock(&self.results);
        results.accept(index, result);
        if !results.is_putting {
            results.is_putting = true;
            while let Some(result) = results.take_due() {
                drop(results);
                let outcome = lock(&self.put)(result);
                results = lock(&self.results);
                let due = results.due;
                match outcome {
                    Ok(()) => results.due += 1,
                    Err(error) => results.fail(due, error),
                }
                self.turn.notify_all();
            }
            results.is_putting = false;
        }
        drop(results);
        self.turn.notify_all();
    }

    /// The next job, when it is not too far ahead of the results.
    fn take(&self, window: usize) -> Option<(usize, J)> {
        let mut intake = lock(&self.intake);
        let mut results = lock(&self.results);
        while results.failure.is_none() && intake.taken >= results.due + window {
            results = self.turn.wait(results).unwrap_or_else(PoisonError::into_inner);
        }
        if results.failure.is_some() || intake.is_over {
            return None;
        }
        drop(results);
        let index = intake.taken;
        match (intake.next)() {
            Ok(Some(job)) => {
                intake.taken += 1;
                Some((index, job))
            }
            Ok(None) => {
                intake.is_over = true;
                None
            }
            Err(error) => {
                intake.is_over = true;
                lock(&self.results).fail(index, error);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(threads: &Threads, workers: usize, count: usize, bad: usize) -> (Vec<usize>, Result<()>) {
        let mut jobs = 0..count;
        let mut out = Vec::new();
        let work = |_, job: usize| {
            if job.is_multiple_of(7) {
                std::thread::yield_now();
            }
            if job == bad { Err(error!(Corrupt, "job {job}")) } else { Ok(job * job) }
        };
        let result = ordered(
            threads,
            workers,
            || Ok(jobs.next()),
            work,
            |square| {
                out.push(square);
                Ok(())
            },
        );
        (out, result)
    }

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        for (threads, workers) in [(Threads::serial(), 1), (Threads::serial(), 3), (Threads::at_most(0), 4)] {
            let (out, result) = squares(&threads, workers, 1000, usize::MAX);
            assert!(result.is_ok());
            assert_eq!(out, (0..1000).map(|job| job * job).collect::<Vec<_>>(), "{threads:?}");
        }
    }

    #[test]
    fn what_comes_before_an_error_is_put() {
        for (threads, workers) in [(Threads::serial(), 1), (Threads::at_most(0), 4)] {
            let (out, result) = squares(&threads, workers, 1000, 500);
            assert_eq!(result.unwrap_err().to_string(), "job 500");
            assert_eq!(out.len(), 500);
        }
    }

    #[test]
    fn an_error_of_the_source_ends_the_row() {
        let mut left = 5;
        let mut put = 0;
        let next = || {
            left -= 1;
            if left == 0 { Err(error!(Io, "no more")) } else { Ok(Some(left)) }
        };
        let result = ordered(
            &Threads::at_most(0),
            2,
            next,
            |_, job| Ok(job),
            |_| {
                put += 1;
                Ok(())
            },
        );
        assert_eq!(result.unwrap_err().to_string(), "no more");
        assert_eq!(put, 4);
    }

    #[test]
    fn the_others_go_on_while_one_puts() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (sender, receiver) = (Mutex::new(sender), Mutex::new(receiver));
        let mut jobs = 0..3;
        let result = ordered(
            &Threads::custom(std::sync::Arc::new(TwoThreads)),
            2,
            || Ok(jobs.next()),
            |_, job| {
                if job == 2 {
                    lock(&sender).send(job).unwrap();
                }
                Ok(job)
            },
            |job| {
                // Whoever does not put the first result hands over the second and does the third.
                if job == 0 {
                    assert_eq!(lock(&receiver).recv_timeout(std::time::Duration::from_secs(60)), Ok(2));
                }
                Ok(())
            },
        );
        assert!(result.is_ok());
    }

    struct TwoThreads;

    impl crate::exec::Executor for TwoThreads {
        fn threads(&self) -> usize {
            2
        }

        fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
            std::thread::scope(|scope| {
                for worker in 0..workers {
                    scope.spawn(move || job(worker));
                }
            });
        }
    }

    /// Both the source and the work of a sequence share work themselves, in the pool whose threads
    /// are the workers of the sequence.
    #[cfg(feature = "threads")]
    #[test]
    fn sources_and_jobs_may_use_the_pool_that_they_run_on() {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let threads = Threads::at_most(0);
            let share = || threads.run(threads.workers(8, usize::MAX), &|_| std::thread::yield_now());
            let mut jobs = 0..200;
            let next = || {
                share();
                rayon::join(std::thread::yield_now, share);
                Ok(jobs.next())
            };
            let work = |_, job: usize| {
                rayon::join(share, std::thread::yield_now);
                Ok(job)
            };
            let result = pool.install(|| ordered(&threads, 3, next, work, |_: usize| Ok(())));
            sender.send(result.is_ok()).unwrap();
        });
        assert_eq!(receiver.recv_timeout(std::time::Duration::from_secs(60)), Ok(true));
    }

    #[test]
    fn a_panic_of_one_worker_ends_the_others() {
        for panics_in_put in [false, true] {
            let mut jobs = 0..100;
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                ordered(
                    &Threads::custom(std::sync::Arc::new(TwoThreads)),
                    2,
                    || Ok(jobs.next()),
                    |_, job| {
                        assert!(panics_in_put || job != 3, "the worker's own");
                        Ok(job)
                    },
                    |job| {
                        assert!(!panics_in_put || job != 3, "the worker's own");
                        Ok(())
                    },
                )
            }));
            assert!(ended.is_err());
        }
    }
}
