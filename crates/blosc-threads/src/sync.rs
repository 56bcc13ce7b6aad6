//! The primitives that all else is made of; the model checker has its own.

#[cfg(not(loom))]
pub(crate) use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    thread_local,
};

#[cfg(loom)]
pub(crate) use loom::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    thread_local,
};

use std::sync::PoisonError;

/// Locks `mutex`, also after a panic elsewhere: what is guarded here is whole at every step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a notification, also after a panic elsewhere.
pub(crate) fn wait<'g, T>(condition: &Condvar, guard: MutexGuard<'g, T>) -> MutexGuard<'g, T> {
    condition.wait(guard).unwrap_or_else(PoisonError::into_inner)
}
