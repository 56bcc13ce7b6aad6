//! What the process has set for the functions without `_ctx`: numbers, each changed by itself. A lock around them would be
//! held forever in a process that is forked while another thread has it.

use blosc_oxide::SplitMode;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// One setting.
pub(crate) struct Setting(AtomicI32);

impl Setting {
    pub(crate) fn get(&self) -> i32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Changes it, and returns what it was.
    pub(crate) fn set(&self, value: i32) -> i32 {
        self.0.swap(value, Ordering::Relaxed)
    }
}

/// The number of the codec; -1 after one was asked for that is not there.
pub(crate) static COMPRESSOR: Setting = Setting(AtomicI32::new(0));
/// How many threads, the caller among them.
pub(crate) static THREADS: Setting = Setting(AtomicI32::new(1));
/// The size of blocks; 0 lets the library choose.
pub(crate) static BLOCKSIZE: Setting = Setting(AtomicI32::new(0));
/// A split mode by its number. It holds for the `_ctx` functions as well, which have no argument for it.
pub(crate) static SPLIT_MODE: Setting = Setting(AtomicI32::new(FORWARD_COMPAT));
/// Whether the library counts as initialised.
pub(crate) static IS_INITIALISED: AtomicBool = AtomicBool::new(false);

const ALWAYS: i32 = 1;
const NEVER: i32 = 2;
const AUTO: i32 = 3;
const FORWARD_COMPAT: i32 = 4;

/// The number of a split mode by its name in the environment.
pub(crate) fn split_mode_by_name(name: &[u8]) -> Option<i32> {
    Some(match name {
        b"ALWAYS" => ALWAYS,
        b"NEVER" => NEVER,
        b"AUTO" => AUTO,
        b"FORWARD_COMPAT" => FORWARD_COMPAT,
        _ => return None,
    })
}

/// The split mode that is set; any number that is none stands for the default.
pub(crate) fn split_mode() -> SplitMode {
    match SPLIT_MODE.get() {
        ALWAYS => SplitMode::Always,
        NEVER => SplitMode::Never,
        AUTO => SplitMode::Auto,
        _ => SplitMode::ForwardCompat,
    }
}
