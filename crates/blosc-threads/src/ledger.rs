//! Whether helpers are worth asking for short jobs: what their callers have gained by them, and
//! lost.
//!
//! A helper that has joined and is then taken off its processor, because other programs want it
//! too, makes its caller wait for as long as the system lets the others run: milliseconds, for a
//! job of microseconds. So does a caller that sleeps until its helper is done, and then has to wait
//! for its own processor. On a machine where that happens all the time, short jobs are faster on
//! one thread.

use crate::share::LONG;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How many nanoseconds of good work are remembered.
const MOST: i64 = 10_000_000;
/// How many may be lost before nobody is asked for a while.
const LEAST: i64 = -200_000;
/// For how long nobody is asked, the first time. What is lost with one helper is some milliseconds:
/// a twentieth of that.
const FIRST_PAUSE: Duration = Duration::from_millis(64);
/// How often it doubles if those who are asked after it are no better.
const MAX_DOUBLINGS: u32 = 3;
/// Up to how long the wait for a helper at work takes longer than its last step.
const SLACK: Duration = Duration::from_micros(300);
/// How many times as long as the longest of the caller's steps one of a helper may be.
const UNEVENNESS: u32 = 3;

/// What a caller knows of a session that has ended.
pub(crate) struct Session {
    /// How long it took to ask for help.
    pub(crate) asking: Duration,
    /// How long there was something to do for the caller.
    pub(crate) working: Duration,
    /// How long it has waited for others after that.
    pub(crate) waiting: Duration,
    pub(crate) longest_step: Duration,
    pub(crate) steps: u32,
    pub(crate) steps_of_helpers: u32,
}

impl Session {
    /// How long it would have taken without help.
    pub(crate) fn alone(&self) -> Duration {
        self.working + self.saved()
    }

    /// How long the caller would have taken for the steps of its helpers.
    fn saved(&self) -> Duration {
        self.working * self.steps_of_helpers / self.steps.max(1)
    }

    /// How long it has waited for somebody who was not at work: longer than any step can take.
    fn wasted(&self) -> Duration {
        let is_waste = self.waiting > SLACK + UNEVENNESS * self.longest_step;
        if is_waste { self.waiting } else { Duration::ZERO }
    }
}

/// The account of all helpers of a process. It is an estimate: sessions that end at the same time
/// may overwrite each other's.
#[derive(Default)]
pub(crate) struct Ledger {
    /// When it was first used.
    start: OnceLock<Instant>,
    /// Nanoseconds gained less those lost.
    balance: AtomicI64,
    doublings: AtomicU32,
    /// Nanoseconds after the start until which nobody is asked.
    pause_end: AtomicU64,
}

impl Ledger {
    /// Whether helpers are to be asked at this time.
    pub(crate) fn is_in_favour(&self, now: Instant) -> bool {
        self.at(now) >= self.pause_end.load(Ordering::Relaxed)
    }

    /// Counts what a session has come to. Long ones do not count, nor those that took long because
    /// the caller was interrupted: what they have gained is not known.
    pub(crate) fn enter(&self, now: Instant, session: &Session) {
        if session.working >= LONG {
            return;
        }
        let lost = session.asking + session.wasted();
        let change = signed(session.saved()).saturating_sub(signed(lost));
        let balance = self.balance.load(Ordering::Relaxed).saturating_add(change).min(MOST);
        if balance < LEAST {
            return self.pause(now);
        }
        self.balance.store(balance, Ordering::Relaxed);
        if balance == MOST {
            self.doublings.store(0, Ordering::Relaxed);
        }
    }

    fn pause(&self, now: Instant) {
        let doublings = self.doublings.load(Ordering::Relaxed);
        self.doublings.store((doublings + 1).min(MAX_DOUBLINGS), Ordering::Relaxed);
        self.balance.store(0, Ordering::Relaxed);
        self.pause_end.store(self.at(now + FIRST_PAUSE * (1 << doublings)), Ordering::Relaxed);
    }

    fn at(&self, time: Instant) -> u64 {
        let start = *self.start.get_or_init(|| time);
        u64::try_from(time.saturating_duration_since(start).as_nanos()).unwrap_or(u64::MAX)
    }
}

fn signed(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    /// Ten steps of 10 µs, so many of them by a helper, and how long the caller waited for that.
    fn session(steps_of_helpers: u32, waiting: Duration) -> Session {
        let steps = 10 - steps_of_helpers;
        Session { asking: us(2), working: steps * us(10), waiting, longest_step: us(10), steps, steps_of_helpers }
    }

    fn ledger(start: Instant) -> Ledger {
        let ledger = Ledger::default();
        assert!(ledger.is_in_favour(start));
        ledger
    }

    #[test]
    fn helpers_that_help_are_always_asked() {
        let start = Instant::now();
        let ledger = ledger(start);
        for step in 0..1000 {
            let now = start + step * us(100);
            assert!(ledger.is_in_favour(now));
            // Half of the steps, and once in a while one that takes longer than the others.
            ledger.enter(now, &session(5, if step % 10 == 0 { us(200) } else { us(10) }));
        }
    }

    #[test]
    fn a_rare_loss_does_not_outweigh_much_help() {
        let start = Instant::now();
        let ledger = ledger(start);
        (0..1000).for_each(|_| ledger.enter(start, &session(5, us(10))));
        ledger.enter(start, &session(1, us(8000)));
        assert!(ledger.is_in_favour(start));
    }

    #[test]
    fn little_is_lost_with_helpers_that_are_always_late() {
        let (start, stall) = (Instant::now(), us(4000));
        let ledger = ledger(start);
        let mut lost = Duration::ZERO;
        for step in 0..10_000 {
            let now = start + step * us(1000);
            if ledger.is_in_favour(now) {
                ledger.enter(now, &session(1, stall));
                lost += stall;
            }
        }
        assert!(lost > Duration::ZERO && lost < us(10_000_000) / 50, "{lost:?} of 10 s");
    }

    #[test]
    fn helpers_that_never_come_are_not_asked_for_ever() {
        let start = Instant::now();
        let ledger = ledger(start);
        (0..200).for_each(|_| ledger.enter(start, &session(0, Duration::ZERO)));
        assert!(!ledger.is_in_favour(start));
    }

    #[test]
    fn helpers_are_asked_again_half_a_second_later() {
        let start = Instant::now();
        let ledger = ledger(start);
        (0..10).for_each(|_| ledger.enter(start, &session(1, us(4000))));
        assert!(!ledger.is_in_favour(start + us(500_000)));
        assert!(ledger.is_in_favour(start + us(512_000)));
    }
}
