//! Every order in which a caller and its helpers can meet, by the model checker: `RUSTFLAGS="--cfg
//! loom" cargo test -p blosc-threads --release --lib --test loom`.
#![cfg(loom)]

use blosc_threads::{Helpers, Invitation, share};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};

/// Starts a thread for each helper. Nobody waits for these threads but the model itself.
struct Started;

impl Helpers for Started {
    fn ask(&'static self, count: usize, invitation: &Invitation) {
        for _ in 0..count {
            let invitation = invitation.clone();
            loom::thread::spawn(move || invitation.accept());
        }
    }
}

/// Something that each worker writes to without a lock, and that is the caller's own again when all
/// is over.
struct Notes(Vec<UnsafeCell<usize>>);

// SAFETY: every worker writes to a note of its own, which the model checks.
unsafe impl Sync for Notes {}
// SAFETY: as above.
unsafe impl Send for Notes {}

impl Notes {
    fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| UnsafeCell::new(0)).collect())
    }

    fn add(&self, worker: usize, count: usize) {
        // SAFETY: the model fails if anybody else is at it.
        self.0[worker].with_mut(|note| unsafe { *note += count });
    }

    fn sum(&self) -> usize {
        // SAFETY: the model fails if anybody else writes to it.
        self.0.iter().map(|note| note.with(|note| unsafe { *note })).sum()
    }
}

/// Workers take `steps` steps from a common counter; afterwards all of them have been done once,
/// and the caller can look.
fn take_all_steps(helpers: usize, steps: usize) {
    let (notes, next) = (Notes::new(helpers + 1), AtomicUsize::new(0));
    share(&Started, helpers, &|worker| {
        while next.fetch_add(1, Ordering::Relaxed) < steps {
            notes.add(worker, 1);
        }
    });
    assert_eq!(notes.sum(), steps);
}

/// Checks the orders in which threads are interrupted twice at the most: with three threads, all
/// would take hours.
fn with_few_interruptions(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

#[test]
fn with_one_helper_no_order_loses_a_step_or_a_wakeup() {
    loom::model(|| take_all_steps(1, 2));
}

#[test]
fn with_two_helpers_no_order_loses_a_step_or_a_wakeup() {
    with_few_interruptions(|| take_all_steps(2, 2));
}

#[test]
fn a_panic_of_a_helper_reaches_the_caller_in_every_order() {
    loom::model(|| {
        let has_joined = Arc::new(AtomicUsize::new(0));
        let inner = Arc::clone(&has_joined);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            share(&Started, 1, &|worker| {
                if worker == 1 {
                    inner.store(1, Ordering::Relaxed);
                    std::panic::resume_unwind(Box::new("as planned"));
                }
            });
        }));
        assert_eq!(outcome.is_err(), has_joined.load(Ordering::Relaxed) == 1);
    });
}

#[test]
fn a_helper_that_is_not_asked_again_leaves_nothing_behind() {
    // An invitation that is accepted after its session, while another one runs.
    with_few_interruptions(|| {
        take_all_steps(1, 1);
        take_all_steps(1, 1);
    });
}
