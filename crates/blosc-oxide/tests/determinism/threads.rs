//! Threads change neither the data nor whether a call comes to its end, wherever it comes from.
#![cfg(feature = "threads")]

use blosc_oxide::{Codec, Decompressor, Options, Threads, compress};
use std::sync::mpsc;
use std::time::Duration;

const CODECS: [Codec; 3] = [Codec::BloscLz, Codec::Lz4Hc, Codec::Zlib];

fn data(len: u32) -> Vec<u8> {
    (0..len / 4).flat_map(|index| (index / 3 * 7 + index % 5).to_le_bytes()).collect()
}

fn options(codec: Codec, threads: Threads) -> Options {
    Options::new(4).with_codec(codec).with_level(3).with_threads(threads)
}

/// Compresses and decompresses on as many threads as there are, and compares with what one does.
fn check(data: &[u8]) {
    for codec in CODECS {
        let chunk = compress(data, &options(codec, Threads::at_most(0))).unwrap();
        assert!(chunk == compress(data, &options(codec, Threads::serial())).unwrap(), "{codec}");
        let mut decompressor = Decompressor::new().with_threads(Threads::at_most(0));
        assert!(decompressor.decompress(&chunk).unwrap() == data, "{codec}");
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn pools_of_any_size_give_the_same_bytes() {
    let data = data(3 << 20);
    for threads in [1, 2, 8, 33] {
        pool(threads).install(|| check(&data));
    }
}

#[test]
fn every_thread_of_a_pool_can_call_at_the_same_time() {
    let data = data(1 << 20);
    pool(8).install(|| rayon::scope(|scope| (0..24).for_each(|_| scope.spawn(|_| check(&data)))));
}

#[test]
fn sixty_four_threads_can_call_at_the_same_time() {
    let data = data(1 << 20);
    std::thread::scope(|scope| (0..64).for_each(|_| drop(scope.spawn(|| check(&data)))));
}

#[test]
fn a_pool_whose_only_other_thread_is_stuck_does_not_delay_a_call() {
    let pool = pool(2);
    let (release, stuck) = mpsc::channel::<()>();
    let (sender, done) = mpsc::channel();
    pool.spawn(move || assert!(stuck.recv().is_err()));
    pool.spawn(move || {
        check(&data(3 << 20));
        sender.send(()).unwrap();
    });
    assert_eq!(done.recv_timeout(Duration::from_secs(60)), Ok(()));
    drop(release);
}

#[test]
fn stuck_threads_of_the_global_pool_do_not_delay_a_call() {
    let (release, stuck) = mpsc::channel::<()>();
    let stuck = std::sync::Arc::new(std::sync::Mutex::new(stuck));
    for _ in 0..rayon::current_num_threads() {
        let stuck = std::sync::Arc::clone(&stuck);
        rayon::spawn(move || assert!(stuck.lock().unwrap().recv().is_err()));
    }
    let (sender, done) = mpsc::channel();
    std::thread::spawn(move || {
        check(&data(3 << 20));
        sender.send(()).unwrap();
    });
    assert_eq!(done.recv_timeout(Duration::from_secs(60)), Ok(()));
    drop(release);
}
