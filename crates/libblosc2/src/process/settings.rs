//! What the process has set for functions without a context.

use crate::defaults;
use crate::structs::{Cparams, DoJob, ThreadsFn};
use c_boundary::{Setting, split};
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The number of the codec; -1 after one was asked for that is not there.
pub(crate) static COMPRESSOR: Setting = Setting::new(0);
/// How many threads, the caller among them.
pub(crate) static THREADS: Setting = Setting::new(1);
/// The size of blocks; 0 lets the library choose.
pub(crate) static BLOCKSIZE: Setting = Setting::new(0);
/// A split mode by its number.
pub(crate) static SPLIT_MODE: Setting = Setting::new(split::FORWARD_COMPAT);
/// Whether delta is the first filter.
pub(crate) static DELTA: Setting = Setting::new(0);
/// Whether the library counts as initialised.
pub(crate) static IS_INITIALISED: AtomicBool = AtomicBool::new(false);

const FILTER_DELTA: u8 = 3;
const BITSHUFFLE: u8 = 2;

/// What the settings and these arguments stand for.
pub(crate) fn cparams(level: c_int, shuffle: c_int, typesize: i32) -> Cparams {
    let mut cparams = defaults::CPARAMS;
    // Whatever is no level and no codec is refused later.
    cparams.clevel = u8::try_from(level).unwrap_or(u8::MAX);
    cparams.compcode = u8::try_from(COMPRESSOR.get()).unwrap_or(u8::MAX);
    cparams.typesize = typesize;
    cparams.blocksize = BLOCKSIZE.get();
    cparams.splitmode = SPLIT_MODE.get();
    cparams.nthreads = i16::try_from(THREADS.get()).unwrap_or(1);
    cparams.filters = [0; 6];
    if DELTA.get() != 0 {
        cparams.filters[4] = FILTER_DELTA;
    }
    // Any number that is neither of the two transposes means none.
    cparams.filters[5] = u8::try_from(shuffle).ok().filter(|&shuffle| shuffle <= BITSHUFFLE).unwrap_or(0);
    cparams
}

/// Threads that the program provides.
pub(crate) struct ProgramThreads {
    callback: ThreadsFn,
    data: *mut c_void,
}

/// What the program has said about its threads. What it has said before may be in use, and is kept:
/// a program does this once or twice.
struct Said {
    threads: Option<ProgramThreads>,
    _before: *mut Said,
}

static SAID: AtomicPtr<Said> = AtomicPtr::new(null_mut());

/// Takes the program's threads from now on, or those of the library again.
pub(crate) fn set_program_threads(callback: Option<ThreadsFn>, data: *mut c_void) {
    let threads = callback.map(|callback| ProgramThreads { callback, data });
    let said = Said { threads, _before: SAID.load(Ordering::Acquire) };
    SAID.store(Box::into_raw(Box::new(said)), Ordering::Release);
}

pub(crate) fn program_threads() -> Option<&'static ProgramThreads> {
    // SAFETY: it is NULL, or was made of a box above and is never freed or changed.
    unsafe { SAID.load(Ordering::Acquire).as_ref() }?.threads.as_ref()
}

impl ProgramThreads {
    /// Calls `job` once for each of `count` elements of `size` bytes from `elements` on.
    ///
    /// # Safety
    /// `job` can be called with each of the elements, from any thread.
    pub(crate) unsafe fn run(&self, job: DoJob, count: c_int, size: usize, elements: *mut c_void) {
        // SAFETY: the program has given the function for this; the caller promises the rest.
        unsafe { (self.callback)(self.data, job, count, size, elements) };
    }
}
