//! One job that a caller runs, and that helpers may join until the caller has nothing left to do.

use crate::spin::spin_until;
use crate::steps::Steps;
use crate::sync::{Arc, AtomicU32, Condvar, Mutex, Ordering, lock, thread_local, wait};
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::time::Duration;

/// What workers run, each with a number of its own.
pub(crate) type Job<'a> = dyn Fn(usize) + Sync + 'a;

/// How long a caller waits awake for its helpers: mostly they are about to end, and being woken up
/// takes 10 to 30 µs.
const AWAKE: Duration = Duration::from_micros(60);

/// The most helpers that a session has seats for.
const MAX_SEATS: usize = 0x7fff;
/// A helper that has joined, in the lower half of the state.
const JOINED: u32 = 1;
/// A helper that is at work, above that.
const AT_WORK: u32 = 1 << 16;
/// Nobody joins any more.
const CLOSED: u32 = 1 << 31;

/// A chance to join a session. It can be kept for as long as one likes, and be accepted by as many
/// threads as there are seats.
#[derive(Clone)]
pub struct Invitation(Arc<Session>);

impl Invitation {
    /// Opens a session with seats for `helpers`, and invites to it.
    ///
    /// # Safety
    /// `close` and `wait` are called before the job goes out of scope, whatever happens.
    pub(crate) unsafe fn new(helpers: usize, job: &Job<'_>) -> Self {
        // SAFETY: only the lifetime changes. Helpers use the job between `join` and `leave`, nobody
        // joins after `close`, and `wait` returns when all have left: by then the caller still has
        // it.
        let job = unsafe { std::mem::transmute::<NonNull<Job<'_>>, NonNull<Job<'static>>>(NonNull::from(job)) };
        Self(Arc::new(Session {
            job,
            seats: u32::try_from(helpers.min(MAX_SEATS)).unwrap_or(0),
            state: AtomicU32::new(0),
            ending: Mutex::new(Ending::default()),
            over: Condvar::new(),
        }))
    }

    /// Joins the session and works for it, unless it is over, has no seat left, or this thread
    /// works for some session already: one that waits within a job, and does what it finds
    /// meanwhile, could come to wait for itself.
    pub fn accept(&self) {
        if !IS_AT_WORK.with(Cell::get)
            && let Some(seat) = self.join()
        {
            seat.work();
        }
    }

    /// Takes a seat, which the caller waits for from now on.
    pub(crate) fn join(&self) -> Option<Seat> {
        let worker = self.0.join()?;
        Some(Seat { session: Arc::clone(&self.0), worker })
    }

    /// Whether somebody can still join.
    pub(crate) fn has_seat(&self) -> bool {
        self.0.has_seat(self.0.state.load(Ordering::Relaxed))
    }

    /// Whether all seats have been taken.
    pub(crate) fn has_been_full(&self) -> bool {
        self.0.state.load(Ordering::Relaxed) % AT_WORK >= self.0.seats
    }

    /// Whether the two are invitations to the same session.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Lets nobody join any more.
    pub(crate) fn close(&self) {
        self.0.state.fetch_or(CLOSED, Ordering::Relaxed);
    }

    /// Waits until nobody is at work. Nobody will be, after `close`.
    pub(crate) fn wait(&self) {
        self.0.wait();
    }

    /// What helpers have left, once they have been waited for.
    pub(crate) fn take_ending(&self) -> Ending {
        std::mem::take(&mut *lock(&self.0.ending))
    }
}

/// A place in a session, which its caller waits for.
pub(crate) struct Seat {
    session: Arc<Session>,
    worker: usize,
}

impl Seat {
    /// Runs the job.
    pub(crate) fn work(self) {
        // SAFETY: this seat counts as a helper at work until it is dropped, so that `wait` has not
        // returned.
        let job = unsafe { self.session.job.as_ref() };
        let (outcome, steps) = Steps::of(|| run(job, self.worker));
        let mut ending = lock(&self.session.ending);
        ending.steps += steps.taken();
        if let Err(panic) = outcome {
            ending.panic.get_or_insert(panic);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.session.leave();
    }
}

/// What caller and helpers share. Helpers may keep it longer than the caller keeps the job.
struct Session {
    /// Valid until the session is closed and nobody is at work.
    job: NonNull<Job<'static>>,
    seats: u32,
    /// `JOINED` and `AT_WORK` as often as there are such helpers, and `CLOSED`.
    state: AtomicU32,
    ending: Mutex<Ending>,
    over: Condvar,
}

/// What helpers leave.
#[derive(Default)]
pub(crate) struct Ending {
    /// How many steps they have taken, all together.
    pub(crate) steps: u32,
    /// The first panic of one of them.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
    /// Whether the caller sleeps until the last one leaves.
    is_awaited: bool,
}

// SAFETY: what is not `Send` is the pointer to the job, which is `Sync` and used by reference only.
unsafe impl Send for Session {}
// SAFETY: as above.
unsafe impl Sync for Session {}

impl Session {
    fn has_seat(&self, state: u32) -> bool {
        state & CLOSED == 0 && state % AT_WORK < self.seats
    }

    /// Counts another helper, if it is not too late; its number as a worker.
    fn join(&self) -> Option<usize> {
        let mut state = self.state.load(Ordering::Relaxed);
        while self.has_seat(state) {
            let joined = state + JOINED + AT_WORK;
            match self.state.compare_exchange_weak(state, joined, Ordering::Acquire, Ordering::Relaxed) {
                Ok(before) => return Some((before % AT_WORK) as usize + 1),
                Err(found) => state = found,
            }
        }
        None
    }

    fn leave(&self) {
        let before = self.state.fetch_sub(AT_WORK, Ordering::Release);
        let is_last = before & CLOSED != 0 && at_work(before) == 1;
        if is_last && lock(&self.ending).is_awaited {
            self.over.notify_one();
        }
    }

    fn wait(&self) {
        let is_over = || at_work(self.state.load(Ordering::Acquire)) == 0;
        if spin_until(AWAKE, is_over) {
            return;
        }
        let mut ending = lock(&self.ending);
        ending.is_awaited = true;
        while !is_over() {
            ending = wait(&self.over, ending);
        }
    }
}

fn at_work(state: u32) -> u32 {
    (state & !CLOSED) / AT_WORK
}

thread_local! {
    /// Whether this thread is a worker of some session.
    #[cfg_attr(not(loom), expect(clippy::missing_const_for_thread_local, reason = "the model checker has no `const` here"))]
    static IS_AT_WORK: Cell<bool> = Cell::new(false);
}

/// Runs one worker of a job; what it panics with.
pub(crate) fn run(job: &Job<'_>, worker: usize) -> Result<(), Box<dyn Any + Send>> {
    let before = IS_AT_WORK.with(|is_at_work| is_at_work.replace(true));
    let outcome = catch_unwind(AssertUnwindSafe(|| job(worker)));
    IS_AT_WORK.with(|is_at_work| is_at_work.set(before));
    outcome
}
