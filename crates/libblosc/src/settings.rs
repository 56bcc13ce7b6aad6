//! What the process has set for the functions without `_ctx`.

use blosc_oxide::SplitMode;
use c_boundary::{Setting, split};
use std::sync::atomic::AtomicBool;

/// The number of the codec; -1 after one was asked for that is not there.
pub(crate) static COMPRESSOR: Setting = Setting::new(0);
/// How many threads, the caller among them.
pub(crate) static THREADS: Setting = Setting::new(1);
/// The size of blocks; 0 lets the library choose.
pub(crate) static BLOCKSIZE: Setting = Setting::new(0);
/// A split mode by its number. It holds for the `_ctx` functions as well, which have no argument
/// for it.
pub(crate) static SPLIT_MODE: Setting = Setting::new(split::FORWARD_COMPAT);
/// Whether the library counts as initialised.
pub(crate) static IS_INITIALISED: AtomicBool = AtomicBool::new(false);

/// The split mode that is set; any number that is none stands for the default.
pub(crate) fn split_mode() -> SplitMode {
    match SPLIT_MODE.get() {
        split::ALWAYS => SplitMode::Always,
        split::NEVER => SplitMode::Never,
        split::AUTO => SplitMode::Auto,
        _ => SplitMode::ForwardCompat,
    }
}
