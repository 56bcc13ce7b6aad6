//! A process that has been forked compresses and decompresses as its parent does, on threads of its
//! own, whatever pool the parent has used.
#![cfg(all(unix, feature = "threads"))]

use blosc_oxide::{Codec, Decompressor, Options, Threads, compress};
use std::time::{Duration, Instant};

fn data() -> Vec<u8> {
    (0..1_u32 << 20).flat_map(|index| (index / 3 * 7).to_le_bytes()).collect()
}

fn chunk_of(data: &[u8]) -> Vec<u8> {
    compress(data, &Options::new(4).with_codec(Codec::Lz4Hc).with_threads(Threads::at_most(0))).unwrap()
}

/// Whether this process can do all that `parent` could, and with help where there is more than one
/// processor.
fn is_as_good_as(parent: &[u8], data: &[u8]) -> bool {
    let mut back = vec![0; data.len()];
    let mut has_help = false;
    let start = Instant::now();
    // Help may come late on a busy machine, but it comes.
    while !has_help && start.elapsed() < Duration::from_secs(20) {
        let mut decompressor = Decompressor::new().with_threads(Threads::at_most(0));
        let is_same = chunk_of(data) == parent
            && decompressor.decompress_into(parent, &mut back).is_ok_and(|len| len == data.len())
            && back == data;
        if !is_same {
            return false;
        }
        has_help = threads_of_this_process() > 1;
    }
    has_help || std::thread::available_parallelism().is_ok_and(|count| count.get() == 1)
}

/// How many threads this process has; more than one where that cannot be found out.
fn threads_of_this_process() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(usize::MAX, Iterator::count)
}

/// Runs `check` in a forked process and fails if it does.
fn in_a_child(check: impl FnOnce() -> bool) {
    // SAFETY: the child is a copy of this thread only. It allocates, which the C library allows
    // after a fork, takes no lock that another thread may have held, and ends without running
    // anything of its parent's.
    match unsafe { libc::fork() } {
        -1 => panic!("cannot fork: {}", std::io::Error::last_os_error()),
        0 => {
            let is_good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_or(false);
            // SAFETY: ends the process, whatever state it is in.
            unsafe { libc::_exit(i32::from(!is_good)) }
        }
        child => {
            let start = Instant::now();
            let mut status = 0;
            // SAFETY: `status` is an integer that can be written to.
            while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
                if start.elapsed() > Duration::from_secs(60) {
                    // SAFETY: the child has not been waited for, so that the number is still its
                    // own.
                    unsafe { libc::kill(child, libc::SIGKILL) };
                    panic!("the child hangs");
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(status, 0, "the child has failed");
        }
    }
}

#[test]
fn a_child_of_a_process_that_has_used_our_threads_has_threads_again() {
    let data = data();
    let chunk = chunk_of(&data);
    in_a_child(|| is_as_good_as(&chunk, &data));
}

#[test]
fn a_child_of_a_thread_of_a_rayon_pool_has_threads_again() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        let data = data();
        let chunk = chunk_of(&data);
        in_a_child(|| is_as_good_as(&chunk, &data));
    });
}

#[test]
fn a_rayon_pool_that_a_child_has_made_itself_helps_there() {
    let data = data();
    let chunk = chunk_of(&data);
    in_a_child(|| {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(2).build() else { return false };
        pool.install(|| is_as_good_as(&chunk, &data))
    });
}

#[test]
fn a_child_of_a_child_has_threads_again() {
    let data = data();
    let chunk = chunk_of(&data);
    in_a_child(|| {
        let is_good = is_as_good_as(&chunk, &data);
        in_a_child(|| is_as_good_as(&chunk, &data));
        is_good
    });
}
