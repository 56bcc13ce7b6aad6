//! The steps that a worker takes, and how long they take.
//!
//! By the clock of the wall: asking for the time that a thread was on its processor makes the
//! system look whether it has been there for too long, and it is taken off sooner.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// What a worker has done.
#[derive(Clone, Copy, Default)]
pub(crate) struct Steps {
    /// How many steps it has begun.
    begun: u32,
    last: Option<Instant>,
    longest: Duration,
}

thread_local! {
    /// Those of the job that this thread is at.
    static STEPS: Cell<Steps> = const { Cell::new(Steps { begun: 0, last: None, longest: Duration::ZERO }) };
}

impl Steps {
    /// Runs `work` and returns which steps it took.
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let outer = STEPS.replace(Self::default());
        let result = work();
        (result, STEPS.replace(outer))
    }

    /// Another step begins.
    pub(crate) fn begin(now: Instant) {
        let Self { begun, last, longest } = STEPS.get();
        let longest = last.map_or(longest, |last| longest.max(now.saturating_duration_since(last)));
        STEPS.set(Self { begun: begun + 1, last: Some(now), longest });
    }

    /// How many it has taken: when it began the last one, there was nothing left.
    pub(crate) fn taken(&self) -> u32 {
        self.begun.saturating_sub(1)
    }

    /// How long the longest took.
    pub(crate) fn longest(&self) -> Duration {
        self.longest
    }
}
