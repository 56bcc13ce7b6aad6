//! Things that must not take long.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Runs things that must not take longer than it waits, and knows which one took longest.
#[derive(Debug)]
pub struct Patience {
    most: Duration,
    slowest: Mutex<(Duration, String)>,
}

impl Patience {
    /// Waits this long for each thing.
    #[must_use]
    pub const fn new(most: Duration) -> Self {
        Self { most, slowest: Mutex::new((Duration::ZERO, String::new())) }
    }

    /// Runs `action`, and once more if that took too long: on a busy machine the first try says
    /// little.
    ///
    /// # Panics
    /// When both take too long.
    pub fn run<T>(&self, name: &str, action: impl Fn() -> T) -> T {
        let (mut result, mut taken) = timed(&action);
        if taken >= self.most {
            let first = taken;
            (result, taken) = timed(&action);
            assert!(taken < self.most, "{name}: took {first:?} and {taken:?}");
        }
        let mut slowest = self.slowest.lock().unwrap_or_else(PoisonError::into_inner);
        if taken > slowest.0 {
            *slowest = (taken, name.to_owned());
        }
        result
    }
}

fn timed<T>(action: impl Fn() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = action();
    (result, start.elapsed())
}

/// What took longest, and how long.
impl fmt::Display for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slowest = self.slowest.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "the slowest took {:.3} s: {}", slowest.0.as_secs_f64(), slowest.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::thread::sleep;

    #[test]
    fn the_slowest_is_named() {
        let patience = Patience::new(Duration::from_secs(60));
        patience.run("quick", || ());
        patience.run("slow", || sleep(Duration::from_millis(20)));
        patience.run("quick again", || ());
        assert!(patience.to_string().ends_with(" s: slow"), "{patience}");
    }

    #[test]
    fn what_is_slow_once_has_another_try() {
        let tries = Cell::new(0);
        Patience::new(Duration::from_millis(200)).run("a busy machine", || {
            tries.set(tries.get() + 1);
            sleep(Duration::from_millis(if tries.get() == 1 { 250 } else { 0 }));
        });
        assert_eq!(tries.get(), 2);
    }

    #[test]
    #[should_panic(expected = "a hang: took")]
    fn what_is_slow_twice_fails() {
        Patience::new(Duration::from_millis(10)).run("a hang", || sleep(Duration::from_millis(15)));
    }
}
