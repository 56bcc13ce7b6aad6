//! What a process has set for functions without a context: numbers, each changed by itself. A lock
//! around them would be held forever in a process that is forked while another thread has it.

use std::sync::atomic::{AtomicI32, Ordering};

/// One setting.
pub struct Setting(AtomicI32);

impl Setting {
    /// With this value at first.
    #[must_use]
    pub const fn new(value: i32) -> Self {
        Self(AtomicI32::new(value))
    }

    /// Its value.
    pub fn get(&self) -> i32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Changes it, and returns what it was.
    pub fn set(&self, value: i32) -> i32 {
        self.0.swap(value, Ordering::Relaxed)
    }
}

/// The numbers that C has for the ways to split blocks.
pub mod split {
    /// Wherever the format allows it.
    pub const ALWAYS: i32 = 1;
    /// Never.
    pub const NEVER: i32 = 2;
    /// Where it pays off.
    pub const AUTO: i32 = 3;
    /// As earlier releases did.
    pub const FORWARD_COMPAT: i32 = 4;

    /// The number of a way by its name in the environment.
    #[must_use]
    pub fn by_name(name: &[u8]) -> Option<i32> {
        Some(match name {
            b"ALWAYS" => ALWAYS,
            b"NEVER" => NEVER,
            b"AUTO" => AUTO,
            b"FORWARD_COMPAT" => FORWARD_COMPAT,
            _ => return None,
        })
    }
}
