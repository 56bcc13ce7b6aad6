//! What the pool of a process promises to those who ask it for help.
#![cfg(not(loom))]

use blosc_threads::{Helpers, Invitation, Pool, share, tick};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Tests that count on the helpers of the pool take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn helpers() -> usize {
    Pool::of_process().threads() - 1
}

/// Waits, and asks for help if that has not been done at the start.
fn wait_for(is_so: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !is_so() && start.elapsed() < Duration::from_secs(20) {
        tick();
        std::thread::yield_now();
    }
    is_so()
}

/// Takes `steps` steps and returns how many each worker took.
fn take_steps(helpers: usize, steps: usize, work: impl Fn() + Sync) -> Vec<usize> {
    let next = AtomicUsize::new(0);
    let taken: Vec<AtomicUsize> = (0..=helpers).map(|_| AtomicUsize::new(0)).collect();
    Pool::of_process().share(helpers, &|worker| {
        while next.fetch_add(1, Ordering::Relaxed) < steps {
            tick();
            work();
            taken[worker].fetch_add(1, Ordering::Relaxed);
        }
    });
    taken.into_iter().map(AtomicUsize::into_inner).collect()
}

#[test]
fn a_pool_whose_other_threads_are_stuck_does_not_delay_the_caller() {
    let _turn = turn();
    let stuck = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            Pool::of_process().share(helpers(), &|worker| {
                stuck.fetch_add(usize::from(worker > 0), Ordering::Relaxed);
                wait_for(|| is_over.load(Ordering::Relaxed));
            });
        });
        let is_stuck = wait_for(|| stuck.load(Ordering::Relaxed) == helpers());
        let start = Instant::now();
        let taken = take_steps(helpers(), 1000, || {});
        let elapsed = start.elapsed();
        is_over.store(true, Ordering::Relaxed);
        assert!(is_stuck && taken[0] == 1000, "{taken:?}");
        assert!(elapsed < Duration::from_secs(10), "{elapsed:?}");
    });
}

#[test]
fn helpers_help() {
    let _turn = turn();
    let taken = take_steps(helpers(), 100, || std::thread::sleep(Duration::from_millis(2)));
    assert_eq!(taken.iter().sum::<usize>(), 100);
    assert!(taken.iter().all(|&count| count > 0), "{taken:?}");
}

#[test]
fn sixty_four_threads_that_call_at_once_all_get_their_work_done() {
    let _turn = turn();
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert_eq!(take_steps(3, 20, || {}).iter().sum::<usize>(), 20);
                }
            });
        }
    });
}

#[test]
fn jobs_may_share_work_themselves() {
    let _turn = turn();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for _ in 0..200 {
            let outer = take_steps(helpers(), 8, || {
                assert_eq!(take_steps(helpers(), 8, std::thread::yield_now).iter().sum::<usize>(), 8);
            });
            assert_eq!(outer.iter().sum::<usize>(), 8);
        }
        sender.send(()).unwrap();
    });
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(()));
}

#[test]
fn the_panic_of_a_helper_is_passed_on_and_the_pool_lives_on() {
    let _turn = turn();
    if helpers() == 0 {
        return;
    }
    for _ in 0..3 {
        let has_joined = AtomicBool::new(false);
        let outcome = std::panic::catch_unwind(|| {
            Pool::of_process().share(1, &|worker| {
                has_joined.fetch_or(worker == 1, Ordering::Relaxed);
                assert!(worker == 0, "as planned");
                wait_for(|| has_joined.load(Ordering::Relaxed));
            });
        });
        assert_eq!(outcome.unwrap_err().downcast_ref(), Some(&"as planned"));
    }
    assert!(take_steps(1, 50, || std::thread::sleep(Duration::from_millis(2))).iter().all(|&count| count > 0));
}

/// Keeps invitations instead of accepting them.
struct Shelf(Mutex<Vec<Invitation>>);

impl Helpers for Shelf {
    fn ask(&'static self, count: usize, invitation: &Invitation) {
        assert_eq!(count, 2);
        self.0.lock().unwrap().push(invitation.clone());
    }
}

#[test]
fn an_invitation_to_what_is_over_does_nothing() {
    static SHELF: Shelf = Shelf(Mutex::new(Vec::new()));
    let runs = AtomicUsize::new(0);
    share(&SHELF, 2, &|_| {
        runs.fetch_add(1, Ordering::Relaxed);
    });
    for invitation in SHELF.0.lock().unwrap().drain(..) {
        invitation.accept();
    }
    assert_eq!(runs.into_inner(), 1);
}

#[test]
fn an_invitation_has_no_more_seats_than_were_asked_for() {
    static SHELF: Shelf = Shelf(Mutex::new(Vec::new()));
    let seen = Mutex::new(Vec::new());
    share(&SHELF, 2, &|worker| {
        seen.lock().unwrap().push(worker);
        if worker == 0 {
            assert!(wait_for(|| !SHELF.0.lock().unwrap().is_empty()));
            let invitation = SHELF.0.lock().unwrap()[0].clone();
            std::thread::scope(|scope| {
                for _ in 0..5 {
                    scope.spawn(|| invitation.accept());
                }
            });
        }
    });
    let mut seen = seen.into_inner().unwrap();
    seen.sort_unstable();
    assert_eq!(seen, [0, 1, 2]);
}
