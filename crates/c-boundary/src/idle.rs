//! What works on chunks, between two calls: its memory is kept, as that of C's global context is.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// As many calls at a time find what an earlier one has left.
const PLACES: usize = 64;

/// Places for things that nobody is using. Nobody ever waits for a place: one whose lock is taken,
/// by another thread or by one that a fork has not taken along, is passed over. So a forked process
/// goes on at once.
pub struct Idle<T> {
    places: [Mutex<Option<Box<T>>>; PLACES],
}

impl<T> Idle<T> {
    /// All places are free.
    #[must_use]
    pub const fn new() -> Self {
        Self { places: [const { Mutex::new(None) }; PLACES] }
    }

    /// Something that was left here, if possible by the same thread.
    #[must_use]
    pub fn take(&self) -> Option<Box<T>> {
        self.in_turn().find_map(|place| try_lock(place)?.take())
    }

    /// Leaves something; drops it if there is no free place.
    pub fn leave(&self, thing: Box<T>) {
        let free = self.in_turn().find_map(|place| try_lock(place).filter(|place| place.is_none()));
        if let Some(mut place) = free {
            *place = Some(thing);
        }
    }

    /// Drops all that is here.
    pub fn clear(&self) {
        self.places.iter().for_each(|place| drop(try_lock(place).and_then(|mut place| place.take())));
    }

    /// All places, from that of this thread on.
    fn in_turn(&self) -> impl Iterator<Item = &Mutex<Option<Box<T>>>> {
        let (before, after) = self.places.split_at(own_place());
        after.iter().chain(before)
    }
}

impl<T> Default for Idle<T> {
    fn default() -> Self {
        Self::new()
    }
}

fn try_lock<T>(place: &Mutex<Option<Box<T>>>) -> Option<MutexGuard<'_, Option<Box<T>>>> {
    match place.try_lock() {
        Ok(place) => Some(place),
        Err(TryLockError::Poisoned(place)) => Some(place.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Where this thread looks first.
fn own_place() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<Option<usize>> = const { Cell::new(None) };
    }
    let place = OWN.get().unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed) % PLACES);
    OWN.set(Some(place));
    place
}
