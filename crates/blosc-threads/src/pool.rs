//! The threads of a process that help whoever asks.

use crate::ledger::Ledger;
use crate::session::{Invitation, Seat};
use crate::share::{Helpers, share};
use crate::spin::spin_until;
use crate::sync::{AtomicUsize, Condvar, Mutex, Ordering, lock, wait};
use std::cell::Cell;
use std::sync::atomic::AtomicPtr;
use std::time::Duration;

/// How long a thread looks for work before it sleeps: waking it up takes 10 to 30 µs.
const AWAKE: Duration = Duration::from_micros(60);

/// Threads that wait for invitations. They are started when they are first asked, and live as long
/// as the process.
pub struct Pool {
    /// The process that its threads are in.
    process: u32,
    /// How many threads it may start.
    limit: usize,
    board: Mutex<Board>,
    /// How many invitations are on the board, for those who look without a lock.
    posted: AtomicUsize,
    /// How many threads look without sleeping.
    looking: AtomicUsize,
    posting: Condvar,
    ledger: Ledger,
}

/// Invitations that threads of the pool may accept.
#[derive(Default)]
struct Board {
    invitations: Vec<Invitation>,
    started: usize,
    asleep: usize,
}

impl Board {
    /// A seat in the newest session that there is one in: it has most left to do. Invitations
    /// without a seat are taken off.
    fn take_seat(&mut self) -> Option<Seat> {
        for index in (0..self.invitations.len()).rev() {
            let invitation = &self.invitations[index];
            let seat = invitation.join();
            if !invitation.has_seat() {
                self.invitations.remove(index);
            }
            if seat.is_some() {
                return seat;
            }
        }
        None
    }
}

/// The pool of the process that has made it; of the parent, after a fork.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(std::ptr::null_mut());

impl Pool {
    /// The pool of this process. After a fork it is a new one, since threads do not come along; the
    /// old one is left alone, as one of those threads may have held its lock.
    pub fn of_process() -> &'static Self {
        let process = process();
        loop {
            let pool = POOL.load(Ordering::Acquire);
            // SAFETY: what is stored there is never freed, and changed by its locks and atomics
            // only.
            if let Some(pool) = unsafe { pool.as_ref() }
                && pool.process == process
            {
                return pool;
            }
            let new = Box::into_raw(Box::new(Self::new(process, processors() - 1)));
            if POOL.compare_exchange(pool, new, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                // SAFETY: it has not been stored, so that nobody else has it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }

    fn new(process: u32, limit: usize) -> Self {
        Self {
            process,
            limit,
            board: Mutex::new(Board::default()),
            posted: AtomicUsize::new(0),
            looking: AtomicUsize::new(0),
            posting: Condvar::new(),
            ledger: Ledger::default(),
        }
    }

    /// How many threads can work at the same time, the caller's among them: as many as the process
    /// may use processors.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.limit + 1
    }

    /// [Shares](share) a job with up to `helpers` threads of the pool.
    pub fn share(&'static self, helpers: usize, job: &(dyn Fn(usize) + Sync)) {
        share(self, helpers.min(self.limit), job);
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Puts an invitation on the board; how many threads have to be woken, and started, for it.
    fn post(&self, helpers: usize, invitation: &Invitation) -> (usize, usize) {
        let mut board = lock(&self.board);
        board.invitations.push(invitation.clone());
        self.posted.store(board.invitations.len(), Ordering::Relaxed);
        let wanted = helpers.saturating_sub(self.looking.load(Ordering::Relaxed));
        let woken = wanted.min(board.asleep);
        let started = (wanted - woken).min(self.limit - board.started);
        board.started += started;
        (woken, started)
    }

    /// Waits for something to do.
    fn next(&self) -> Seat {
        self.looking.fetch_add(1, Ordering::Relaxed);
        spin_until(AWAKE, || self.posted.load(Ordering::Relaxed) > 0);
        let mut board = lock(&self.board);
        self.looking.fetch_sub(1, Ordering::Relaxed);
        loop {
            let seat = board.take_seat();
            self.posted.store(board.invitations.len(), Ordering::Relaxed);
            if let Some(seat) = seat {
                return seat;
            }
            board.asleep += 1;
            board = wait(&self.posting, board);
            board.asleep -= 1;
        }
    }

    /// Starts a thread; if the system has none, there is less help.
    fn start(&'static self) {
        let thread = std::thread::Builder::new().name("blosc".to_owned());
        let serve = || {
            loop {
                self.next().work();
            }
        };
        if thread.spawn(serve).is_err() {
            lock(&self.board).started -= 1;
        }
    }
}

impl Helpers for Pool {
    fn ask(&'static self, count: usize, invitation: &Invitation) {
        let (woken, started) = self.post(count, invitation);
        (0..woken).for_each(|_| self.posting.notify_one());
        (0..started).for_each(|_| self.start());
    }

    fn withdraw(&self, invitation: &Invitation) {
        // One whose seats have all been taken is off the board already.
        if invitation.has_been_full() {
            return;
        }
        let mut board = lock(&self.board);
        board.invitations.retain(|other| !other.is_same(invitation));
        self.posted.store(board.invitations.len(), Ordering::Relaxed);
    }
}

/// This process. Where there are none, there is no fork either.
fn process() -> u32 {
    if cfg!(unix) { std::process::id() } else { 0 }
}

/// How many processors the process may use, by its affinity and the quota of its control group; of
/// part of a processor, one.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

thread_local! {
    /// The process in which this thread was first seen.
    static HOME: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Whether this thread has been here before, but in another process: a fork has left it, and the
/// threads beside it have gone.
#[must_use]
pub fn is_forked() -> bool {
    let process = process();
    let home = HOME.get().unwrap_or(process);
    HOME.set(Some(home));
    home != process
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::Arc;

    #[test]
    fn a_thread_that_goes_to_sleep_sees_what_is_posted_meanwhile() {
        loom::model(|| {
            let pool = Arc::new(Pool::new(0, 0));
            let helper = {
                let pool = Arc::clone(&pool);
                loom::thread::spawn(move || pool.next().work())
            };
            let job = |worker| assert_eq!(worker, 1);
            // SAFETY: it is closed and waited for below, and nothing before that panics but a
            // failed test.
            let invitation = unsafe { Invitation::new(1, &job) };
            let (woken, _) = pool.post(1, &invitation);
            (0..woken).for_each(|_| pool.posting.notify_one());
            helper.join().unwrap();
            invitation.close();
            invitation.wait();
        });
    }
}
