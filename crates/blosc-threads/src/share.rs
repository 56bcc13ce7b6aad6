//! A job shared with whoever comes in time.

use crate::ledger::Session;
use crate::pool::Pool;
use crate::session::{Invitation, Job, run};
use crate::steps::Steps;
use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

/// A job that takes as long as this alone, or longer, is worth asking for help on any machine: it
/// takes longer than a helper has to wait for a processor.
pub(crate) const LONG: Duration = Duration::from_millis(4);

/// Threads that can be asked for help.
pub trait Helpers: Sync {
    /// Has up to `count` threads accept the invitation, if they have nothing better to do.
    fn ask(&'static self, count: usize, invitation: &Invitation);

    /// Nobody can accept it any more.
    fn withdraw(&self, _invitation: &Invitation) {}
}

/// Runs `job(0)` on the calling thread, and returns when that has returned, and so have the helpers
/// that have joined by then. These run `job(1)` to `job(count)`, as many of them as come in time.
///
/// Nobody is waited for who has not started. So the job must not count on any worker but the first:
/// workers take what there is to do from a common place, step by step until nothing is left, and
/// call [`tick`] at each step.
///
/// # Panics
/// With the panic of a worker, the caller's own first.
pub fn share(helpers: &'static dyn Helpers, count: usize, job: &Job<'_>) {
    if count == 0 {
        return job(0);
    }
    let (ledger, start) = (Pool::of_process().ledger(), Instant::now());
    // SAFETY: `open` closes the session and waits, at the latest when it is dropped, and `job`
    // outlives it.
    let invitation = unsafe { Invitation::new(count, job) };
    let open = Open(&invitation);
    let is_asked = cfg!(loom) || is_long_expected() || ledger.is_in_favour(start);
    let late = if is_asked {
        helpers.ask(count, &invitation);
        None
    } else {
        Some(Late { due: start + LONG, helpers, count, invitation: invitation.clone() })
    };
    let asked = Instant::now();
    let outer = ASKED_LATE.replace(late);
    let (own, steps) = Steps::of(|| run(job, 0));
    let never_asked = ASKED_LATE.replace(outer);
    invitation.close();
    if never_asked.is_none() {
        helpers.withdraw(&invitation);
    }
    let idle = Instant::now();
    drop(open);
    let (ending, now) = (invitation.take_ending(), Instant::now());
    let session = Session {
        asking: asked - start,
        working: idle - asked,
        waiting: now - idle,
        longest_step: steps.longest(),
        steps: steps.taken(),
        steps_of_helpers: ending.steps,
    };
    expect_like(session.alone());
    if is_asked {
        ledger.enter(now, &session);
    }
    if let Some(panic) = own.err().or(ending.panic) {
        resume_unwind(panic);
    }
}

/// A session that has not ended: closes it and waits for the helpers at work.
struct Open<'s>(&'s Invitation);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.0.wait();
    }
}

/// Help that is asked for when a job has turned out to be long.
struct Late {
    due: Instant,
    helpers: &'static dyn Helpers,
    count: usize,
    invitation: Invitation,
}

thread_local! {
    /// That of the innermost session that this thread is the caller of.
    static ASKED_LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    /// How long the last two jobs that this thread has shared would have taken alone.
    static LAST: Cell<[Duration; 2]> = const { Cell::new([Duration::ZERO; 2]) };
}

/// Whether the next job is expected to be a long one. A single one may have been short, and
/// interrupted.
fn is_long_expected() -> bool {
    LAST.get().iter().all(|&alone| alone >= LONG)
}

fn expect_like(alone: Duration) {
    LAST.set([LAST.get()[1], alone]);
}

/// Tells that another step of a job begins. If short jobs have lately lost more by helpers than
/// they have gained, these are not asked at the start, but when a job turns out to be long.
pub fn tick() {
    let now = Instant::now();
    Steps::begin(now);
    let late = ASKED_LATE.with_borrow_mut(|late| late.take_if(|late| late.due <= now));
    if let Some(late) = late {
        late.helpers.ask(late.count, &late.invitation);
    }
}
