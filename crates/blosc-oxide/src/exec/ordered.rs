//! A row of jobs that several workers do at once, and whose results come out in the order of the jobs.

use super::{Threads, lock};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

/// Does the jobs that `next` gives, up to `workers` of them at once, and hands the results to `put` in the order of
/// the jobs. No more than two jobs a worker are under way. After an error nothing is begun, and the first one counts:
/// what came before it has been put.
///
/// A worker that waits does so for a job that another is at, never for one that nobody has begun: it does not matter
/// whether the workers run at the same time.
pub(crate) fn ordered<J, T: Send>(
    threads: &Threads,
    workers: usize,
    next: impl FnMut() -> Result<Option<J>> + Send,
    work: impl Fn(usize, J) -> Result<T> + Sync,
    put: impl FnMut(T) -> Result<()> + Send,
) -> Result<()> {
    let row = Row {
        intake: Mutex::new(Intake { next, taken: 0, is_over: false }),
        results: Mutex::new(Results::new(put)),
        turn: Condvar::new(),
    };
    threads.run(workers, &|worker| row.run(worker, 2 * workers, &work));
    row.results.into_inner().unwrap_or_else(PoisonError::into_inner).failure.map_or(Ok(()), |(_, error)| Err(error))
}

struct Row<N, T, P> {
    intake: Mutex<Intake<N>>,
    results: Mutex<Results<T, P>>,
    turn: Condvar,
}

/// Where jobs come from.
struct Intake<N> {
    next: N,
    taken: usize,
    is_over: bool,
}

/// Results that are not yet due.
struct Results<T, P> {
    put: P,
    waiting: BTreeMap<usize, T>,
    due: usize,
    failure: Option<(usize, Error)>,
}

impl<T, P: FnMut(T) -> Result<()>> Results<T, P> {
    fn new(put: P) -> Self {
        Self { put, waiting: BTreeMap::new(), due: 0, failure: None }
    }

    /// Puts all that is due.
    fn accept(&mut self, index: usize, result: Result<T>) {
        match result {
            Ok(result) => drop(self.waiting.insert(index, result)),
            Err(error) => self.fail(index, error),
        }
        while let Some(result) = self.waiting.remove(&self.due) {
            if self.failure.as_ref().is_some_and(|(at, _)| *at <= self.due) {
                return;
            }
            if let Err(error) = (self.put)(result) {
                return self.fail(self.due, error);
            }
            self.due += 1;
        }
    }

    fn fail(&mut self, index: usize, error: Error) {
        if self.failure.as_ref().is_none_or(|(before, _)| index < *before) {
            self.failure = Some((index, error));
        }
    }
}

impl<J, T, N: FnMut() -> Result<Option<J>>, P: FnMut(T) -> Result<()>> Row<N, T, P> {
    fn run(&self, worker: usize, window: usize, work: &impl Fn(usize, J) -> Result<T>) {
        while let Some((index, job)) = self.take(window) {
            let result = work(worker, job);
            lock(&self.results).accept(index, result);
            self.turn.notify_all();
        }
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
    use crate::error::error;

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
}
