//! The counting allocator counts what it says.

use testkit::alloc::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn a_call_that_allocates_nothing_counts_nothing() {
    let (sum, used) = CountingAllocator::on_this_thread(|| (0..10).sum::<i32>());
    assert_eq!((sum, used.allocations, used.bytes, used.peak, used.largest), (45, 0, 0, 0, 0));
}

#[test]
fn the_peak_is_what_was_held_at_one_time() {
    let ((), used) = CountingAllocator::on_this_thread(|| {
        for _ in 0..3 {
            drop(std::hint::black_box(vec![1u8; 1000]));
        }
        drop(std::hint::black_box((vec![1u8; 600], vec![1u8; 700])));
    });
    assert_eq!((used.allocations, used.bytes, used.peak, used.largest), (5, 4300, 1300, 1000));
}

#[test]
fn another_threads_allocation_counts_for_all_threads_only() {
    let size = 1 << 20;
    let allocate_elsewhere = || std::thread::spawn(move || vec![1u8; size].len()).join();
    let ((joined, all), this) =
        CountingAllocator::on_this_thread(|| CountingAllocator::on_all_threads(allocate_elsewhere));
    assert_eq!(joined.unwrap(), size);
    assert!(all.bytes >= 1 << 20, "{all:?}");
    assert!(this.bytes < 1 << 20, "{this:?}");
}
