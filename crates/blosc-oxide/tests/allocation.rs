//! After the first call of a size, compressing and decompressing allocate nothing; growing an array
//! allocates for its new chunks only.

use blosc_oxide::{
    ArrayOptions, Codec, Compressor, Decompressor, Fill, Filter, Format, FrameOptions, Header, Location, NdArray,
    Options, Threads, storage::MemoryStorage,
};
use testkit::alloc::CountingAllocator;
use testkit::formula::generate;
#[cfg(feature = "lizard")]
use testkit::golden::Golden;
use testkit::serde_json::json;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn data() -> Vec<u8> {
    generate(&json!([
        {"kind": "walk", "n": 50_000, "w": 4, "seed": 1},
        {"kind": "rand", "nbytes": 10_001, "seed": 2},
    ]))
    .unwrap()
}

fn all_options() -> Vec<(Codec, Options)> {
    let mut all = Vec::new();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filters in [
            vec![],
            vec![Filter::Shuffle],
            vec![Filter::BitShuffle],
            vec![Filter::Delta, Filter::Shuffle, Filter::ByteDelta(4)],
            vec![Filter::TruncPrec(10), Filter::BitShuffle],
        ] {
            let options = Options::new(4).with_codec(codec).with_filters(filters.clone()).with_blocksize(16 << 10);
            all.push((codec, options.with_threads(Threads::serial())));
        }
    }
    for codec in [Codec::BloscLz, Codec::Snappy, Codec::Zstd] {
        all.push((
            codec,
            Options::new(4).with_codec(codec).with_format(Format::Blosc1).with_threads(Threads::serial()),
        ));
    }
    all
}

/// The allocations that a codec's library makes for every stream, whatever it is given to keep.
fn of_the_library(codec: Codec, chunk: &[u8]) -> u64 {
    let header = Header::parse(chunk).unwrap();
    let max_streams = (header.nblocks() * header.typesize()) as u64;
    if codec == Codec::Zstd && cfg!(feature = "zstd-pure") { 2 * max_streams } else { 0 }
}

#[test]
fn a_second_call_of_the_same_size_allocates_nothing() {
    let data = data();
    let mut chunk = vec![0; data.len() + 4096];
    let mut back = vec![0; data.len()];
    for (codec, options) in all_options() {
        let mut compressor = Compressor::new(options.clone()).unwrap();
        let mut decompressor = Decompressor::new().with_threads(Threads::serial());
        let first = compressor.compress_into(&data, &mut chunk).unwrap();
        decompressor.decompress_into(&chunk[..first], &mut back).unwrap();

        let (len, used) = CountingAllocator::on_this_thread(|| compressor.compress_into(&data, &mut chunk));
        assert_eq!(len.unwrap(), first);
        assert!(used.allocations <= of_the_library(codec, &chunk), "compressing with {options:?}: {used:?}");
        let (read, used) =
            CountingAllocator::on_this_thread(|| decompressor.decompress_into(&chunk[..first], &mut back));
        assert!(used.allocations <= of_the_library(codec, &chunk), "decompressing {options:?}: {used:?}");
        assert_eq!(read.unwrap(), data.len());
    }
}

#[cfg(feature = "lizard")]
#[test]
fn a_second_chunk_of_lizard_allocates_nothing() {
    let entries = Golden::repository().entries("old-writers");
    let chunks: Vec<_> =
        entries.iter().filter(|entry| entry.kind == "chunk" && entry.how["cname"] == "lizard").collect();
    assert!(chunks.len() >= 8, "{} chunks", chunks.len());
    for entry in chunks {
        let chunk = entry.read();
        let mut back = vec![0; entry.plain_nbytes.expect("its length is known")];
        let mut decompressor = Decompressor::new().with_threads(Threads::serial());
        decompressor.decompress_into(&chunk, &mut back).unwrap();
        let (read, used) = CountingAllocator::on_this_thread(|| decompressor.decompress_into(&chunk, &mut back));
        assert_eq!((read.unwrap(), used.allocations), (back.len(), 0), "{}", entry.file);
    }
}

#[test]
fn a_smaller_buffer_after_a_larger_one_allocates_nothing() {
    let data = data();
    let mut chunk = vec![0; data.len() + 4096];
    for (codec, options) in all_options() {
        let mut compressor = Compressor::new(options.clone()).unwrap();
        compressor.compress_into(&data, &mut chunk).unwrap();
        let half = &data[..data.len() / 2];
        let (len, used) = CountingAllocator::on_this_thread(|| compressor.compress_into(half, &mut chunk));
        len.unwrap();
        assert!(used.allocations <= of_the_library(codec, &chunk), "{options:?}: {used:?}");
    }
}

#[test]
fn growing_along_the_first_axis_costs_the_new_chunks_only() {
    let frame = FrameOptions::new(Options::new(1)).with_checksums(false);
    let options = ArrayOptions::new(&[300_000, 4], Options::new(1).with_threads(Threads::serial()));
    let options = options.with_chunks(&[1, 4]).with_blocks(&[1, 4]).with_frame(frame);
    for place in [Location::Memory, Location::storage(MemoryStorage::default())] {
        let mut array = NdArray::create(place, &options, &Fill::Zeros).unwrap();
        // The first time lists get room to grow.
        array.append(0, &[1; 4]).unwrap();
        let (grown, used) = CountingAllocator::on_this_thread(|| {
            array.append(0, &[2; 8]).and_then(|()| array.resize(&[300_005, 4])).map(|()| array.shape()[0])
        });
        assert_eq!(grown.unwrap(), 300_005);
        assert!(used.bytes < 300_000, "{used:?}");
    }
}
