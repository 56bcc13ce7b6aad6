//! An allocator that counts, for tests that promise how much a call allocates.
//!
//! ```
//! use testkit::alloc::CountingAllocator;
//!
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! let (buffer, used) = CountingAllocator::on_this_thread(|| vec![0u8; 1000]);
//! assert_eq!((used.allocations, used.bytes, buffer.len()), (1, 1000, 1000));
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What was allocated during a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// How many allocations and growing or shrinking reallocations there were.
    pub allocations: u64,
    /// The sum of the sizes they asked for.
    pub bytes: u64,
    /// The most that was held at one time, above what was held before the call.
    pub peak: u64,
    /// The largest size asked for at once.
    pub largest: u64,
}

/// The system's allocator with counters, one set for each thread and one for all threads together.
///
/// Install it with `#[global_allocator]`; without that, every count is zero.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingAllocator;

impl CountingAllocator {
    /// Runs `call` and says what it allocated on the calling thread.
    pub fn on_this_thread<T>(call: impl FnOnce() -> T) -> (T, Used) {
        let before = THREAD.with(ThreadCounters::start);
        let result = call();
        (result, THREAD.with(|counters| counters.since(&before)))
    }

    /// Runs `call` and says what all threads together allocated meanwhile.
    ///
    /// Other tests of the same program count too: keep such a test alone in its file, or hold a
    /// lock.
    pub fn on_all_threads<T>(call: impl FnOnce() -> T) -> (T, Used) {
        let before = ALL.start();
        let result = call();
        (result, ALL.since(&before))
    }
}

/// The counters at the beginning of a call.
struct Snapshot {
    allocations: u64,
    bytes: u64,
    held: u64,
}

struct ThreadCounters {
    allocations: Cell<u64>,
    bytes: Cell<u64>,
    /// What this thread allocated less what it freed; wraps when it frees what another thread
    /// allocated.
    held: Cell<u64>,
    peak: Cell<u64>,
    largest: Cell<u64>,
}

thread_local! {
    // Constant and without a destructor, so that touching it never allocates and is allowed at any
    // time.
    static THREAD: ThreadCounters = const {
        ThreadCounters {
            allocations: Cell::new(0),
            bytes: Cell::new(0),
            held: Cell::new(0),
            peak: Cell::new(0),
            largest: Cell::new(0),
        }
    };
}

impl ThreadCounters {
    fn start(&self) -> Snapshot {
        self.peak.set(self.held.get());
        self.largest.set(0);
        Snapshot { allocations: self.allocations.get(), bytes: self.bytes.get(), held: self.held.get() }
    }

    fn since(&self, before: &Snapshot) -> Used {
        Used {
            allocations: self.allocations.get() - before.allocations,
            bytes: self.bytes.get() - before.bytes,
            peak: self.peak.get().wrapping_sub(before.held),
            largest: self.largest.get(),
        }
    }

    fn took(&self, size: u64) {
        self.allocations.set(self.allocations.get() + 1);
        self.bytes.set(self.bytes.get() + size);
        let held = self.held.get().wrapping_add(size);
        self.held.set(held);
        // Signed, because a thread that frees another's memory is below zero.
        if held.cast_signed() > self.peak.get().cast_signed() {
            self.peak.set(held);
        }
        self.largest.set(self.largest.get().max(size));
    }

    fn gave_back(&self, size: u64) {
        self.held.set(self.held.get().wrapping_sub(size));
    }
}

struct AllCounters {
    allocations: AtomicU64,
    bytes: AtomicU64,
    held: AtomicU64,
    peak: AtomicU64,
    largest: AtomicU64,
}

static ALL: AllCounters = AllCounters {
    allocations: AtomicU64::new(0),
    bytes: AtomicU64::new(0),
    held: AtomicU64::new(0),
    peak: AtomicU64::new(0),
    largest: AtomicU64::new(0),
};

impl AllCounters {
    fn start(&self) -> Snapshot {
        let held = self.held.load(Relaxed);
        self.peak.store(held, Relaxed);
        self.largest.store(0, Relaxed);
        Snapshot { allocations: self.allocations.load(Relaxed), bytes: self.bytes.load(Relaxed), held }
    }

    fn since(&self, before: &Snapshot) -> Used {
        Used {
            allocations: self.allocations.load(Relaxed) - before.allocations,
            bytes: self.bytes.load(Relaxed) - before.bytes,
            peak: self.peak.load(Relaxed).wrapping_sub(before.held),
            largest: self.largest.load(Relaxed),
        }
    }

    fn took(&self, size: u64) {
        self.allocations.fetch_add(1, Relaxed);
        self.bytes.fetch_add(size, Relaxed);
        let held = self.held.fetch_add(size, Relaxed) + size;
        self.peak.fetch_max(held, Relaxed);
        self.largest.fetch_max(size, Relaxed);
    }

    fn gave_back(&self, size: u64) {
        self.held.fetch_sub(size, Relaxed);
    }
}

fn count_taken(size: usize) {
    THREAD.with(|counters| counters.took(size as u64));
    ALL.took(size as u64);
}

fn count_given_back(size: usize) {
    THREAD.with(|counters| counters.gave_back(size as u64));
    ALL.gave_back(size as u64);
}

// SAFETY: every method hands its arguments to `System` unchanged and returns what `System` returns;
// the counters neither allocate nor unwind.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_taken(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`, which is the one of
        // `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_taken(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_given_back(layout.size());
        // SAFETY: the caller got `pointer` from this allocator with `layout`, that is from
        // `System`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count_taken(new_size);
        count_given_back(layout.size());
        // SAFETY: the caller got `pointer` from this allocator with `layout`, that is from
        // `System`, and checked `new_size`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}
