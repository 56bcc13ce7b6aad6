//! A declared size allocates nothing before it has been checked.

use blosc_oxide::{Chunk, Codec, Decompressor, ErrorKind, LazyChunk, Limits, Options, Special, Threads};
use testkit::alloc::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What an error message and a handful of counters may take.
const LITTLE: u64 = 16 << 10;

/// A compressed chunk of 100,000 bytes in 64 of its own and less, with other sizes in its header.
fn claiming(nbytes: i32, blocksize: i32) -> Vec<u8> {
    let options = Options::new(4).codec(Codec::Lz4);
    let mut chunk = blosc_oxide::compress(&[7; 100_000], &options).unwrap();
    assert!(chunk.len() < 200, "{}", chunk.len());
    chunk[4..8].copy_from_slice(&nbytes.to_le_bytes());
    chunk[8..12].copy_from_slice(&blocksize.to_le_bytes());
    chunk
}

#[test]
fn a_chunk_that_claims_too_much_is_refused_before_it_allocates() {
    for (nbytes, blocksize, kind) in [
        (i32::MAX - 32, 500_000_000, ErrorKind::LimitExceeded),
        ((1 << 30) + 1, 1 << 29, ErrorKind::Corrupt),
        (1 << 30, 1, ErrorKind::Corrupt),
        (i32::MAX, 1 << 20, ErrorKind::Corrupt),
        (i32::MAX, i32::MAX, ErrorKind::Corrupt),
    ] {
        let chunk = claiming(nbytes, blocksize);
        let (result, used) = CountingAllocator::on_this_thread(|| blosc_oxide::decompress(&chunk));
        let error = result.unwrap_err();
        assert_eq!(error.kind(), kind, "nbytes {nbytes}, blocksize {blocksize}: {error}");
        assert!(used.peak < LITTLE, "nbytes {nbytes}, blocksize {blocksize}: {used:?}");
    }
}

#[test]
fn the_limit_is_kept_to_the_byte() {
    let chunk = blosc_oxide::compress(&[1; 5000], &Options::new(1)).unwrap();
    let limited = |bytes| Decompressor::new().with_limits(Limits::new().max_allocation(bytes)).decompress(&chunk);
    assert_eq!(limited(5000).unwrap(), [1; 5000]);
    let error = limited(4999).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.to_string().contains("5000") && error.to_string().contains("4999"), "{error}");
}

#[test]
fn a_special_value_is_held_to_the_limit_too() {
    let chunk = blosc_oxide::special_chunk(Special::Zeros, 2_000_000_000, &Options::new(8)).unwrap();
    let (result, used) = CountingAllocator::on_this_thread(|| blosc_oxide::decompress(&chunk));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert!(used.peak < LITTLE, "{used:?}");
}

#[test]
fn a_part_needs_memory_for_the_part_only() {
    let chunk = blosc_oxide::special_chunk(Special::Zeros, 2_000_000_000, &Options::new(8)).unwrap();
    let (part, used) = CountingAllocator::on_this_thread(|| {
        Chunk::parse(&chunk).unwrap().bytes(1_999_000_000..1_999_000_100).unwrap()
    });
    assert_eq!(part, [0; 100]);
    assert!(used.peak < LITTLE, "{used:?}");
}

#[test]
fn a_part_of_a_compressed_chunk_needs_memory_for_its_blocks_only() {
    let data: Vec<u8> = (0..500_000_u32).flat_map(|i| (i / 9).to_le_bytes()).collect();
    let options = Options::new(4).codec(Codec::Lz4).blocksize(8 << 10);
    let bytes = blosc_oxide::compress(&data, &options).unwrap();
    let (part, used) = CountingAllocator::on_this_thread(|| {
        let mut decompressor = Decompressor::new().with_threads(Threads::serial());
        decompressor.bytes(&Chunk::parse(&bytes).unwrap(), 1_000_003..1_000_050).unwrap()
    });
    assert_eq!(part, data[1_000_003..1_000_050]);
    assert!(used.peak < 100 << 10, "{used:?}");
}

#[test]
fn a_block_that_claims_too_much_is_refused_with_scratch_in_mind() {
    // One byte of data is asked for, but the block around it would need half a gigabyte.
    let chunk = claiming(400_000_000, 400_000_000);
    let limits = Limits::new().max_allocation(1 << 20);
    let (result, used) = CountingAllocator::on_this_thread(|| {
        let mut decompressor = Decompressor::new().with_threads(Threads::serial()).with_limits(limits);
        decompressor.bytes(&Chunk::parse(&chunk).unwrap(), 0..1)
    });
    assert_eq!(result.unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert!(used.peak < LITTLE, "{used:?}");
}

#[test]
fn a_lazy_chunk_that_claims_too_many_blocks_is_refused_before_it_allocates() {
    let mut chunk = claiming(1 << 30, 1024);
    chunk[12..16].copy_from_slice(&(1_i32 << 30).to_le_bytes());
    chunk[31] |= 0x08;
    let (result, used) = CountingAllocator::on_this_thread(|| LazyChunk::parse(&chunk));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Truncated);
    assert!(used.peak < LITTLE, "{used:?}");
}
