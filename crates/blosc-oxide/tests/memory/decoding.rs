//! Decoding takes memory for the data, for two blocks on each thread, and up to 1 MiB besides; and
//! little stack.

use crate::alone;
use crate::common::specimen::{Kind, specimens};
use blosc_oxide::plugin::Executor;
use blosc_oxide::{
    ArrayOptions, Codec, Compressor, Decompressor, Filter, Frame, FrameOptions, Limits, Location, NdArray, Options,
    SuperChunk, Threads,
    legacy::EarlyFrame,
    storage::{Durability, MemoryStorage},
};
use std::sync::Arc;
use testkit::alloc::CountingAllocator;

/// Whatever a decoder needs besides data and blocks.
const BESIDES: u64 = 1 << 20;
const CODECS: [Codec; 5] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd];
const STACK: usize = 128 << 10;

/// Some threads of its own.
struct Scoped(usize);

impl Executor for Scoped {
    fn threads(&self) -> usize {
        self.0
    }

    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| (0..workers).for_each(|worker| drop(scope.spawn(move || job(worker)))));
    }
}

fn data(items: u32) -> Vec<u8> {
    (0..items).flat_map(|item| (item / 7 * 3).to_le_bytes()).collect()
}

fn pipelines() -> [Vec<Filter>; 5] {
    [
        vec![],
        vec![Filter::Shuffle],
        vec![Filter::BitShuffle],
        vec![Filter::Delta, Filter::Shuffle],
        vec![Filter::Delta, Filter::ShuffleGroups(2), Filter::BitShuffle, Filter::ByteDelta(4)],
    ]
}

#[track_caller]
fn assert_peak(what: &str, peak: u64, output: usize, blocks: usize) {
    let allowed = (output + blocks) as u64 + BESIDES;
    assert!(peak <= allowed, "{what}: {peak} bytes at the most, {allowed} are allowed");
}

#[test]
fn decoding_a_chunk_takes_its_data_and_two_blocks_a_thread() {
    let _alone = alone();
    let data = data(2 << 20);
    for codec in CODECS {
        for filters in pipelines() {
            for (threads, blocksize) in [(1, 1 << 20), (1, 8 << 20), (3, 1 << 20)] {
                let options = Options::new(4).with_codec(codec).with_filters(filters.clone()).with_blocksize(blocksize);
                let chunk = blosc_oxide::compress(&data, &options).unwrap();
                let what = format!("{codec} {filters:?} in blocks of {blocksize} on {threads}");
                let (plain, used) = CountingAllocator::on_all_threads(|| {
                    let threads = Threads::custom(Arc::new(Scoped(threads)));
                    Decompressor::new().with_threads(threads).decompress(&chunk).unwrap()
                });
                assert!(plain == data, "{what}");
                assert_peak(&what, used.peak, data.len(), 2 * threads * blocksize);
            }
        }
    }
}

#[test]
fn decoding_a_part_takes_the_part_and_two_blocks() {
    let _alone = alone();
    let data = data(2 << 20);
    let blocksize = 1 << 20;
    for codec in CODECS {
        for filters in pipelines() {
            let options = Options::new(4).with_codec(codec).with_filters(filters.clone()).with_blocksize(blocksize);
            let chunk = blosc_oxide::compress(&data, &options).unwrap();
            let chunk = blosc_oxide::Chunk::parse(&chunk).unwrap();
            let range = 3_000_001..3_000_101;
            let (part, used) = CountingAllocator::on_all_threads(|| chunk.bytes(range.clone()).unwrap());
            assert_eq!(part, data[range]);
            // The first block, which all others are the difference to, is not part of the output
            // here.
            let blocks = if filters.contains(&Filter::Delta) { 3 } else { 2 };
            assert_peak(&format!("{codec} {filters:?}"), used.peak, 100, blocks * blocksize);
        }
    }
}

#[test]
fn blocks_of_any_length_take_their_data_and_two_of_the_longest() {
    let _alone = alone();
    let data = data(1 << 20);
    let blocks: Vec<&[u8]> = data.chunks(700_000).collect();
    for codec in CODECS {
        let mut compressor = Compressor::new(Options::new(4).with_codec(codec)).unwrap();
        let chunk = compressor.compress_vlblocks(&blocks).unwrap();
        let (plain, used) = CountingAllocator::on_all_threads(|| {
            Decompressor::new().with_threads(Threads::serial()).decompress(&chunk).unwrap()
        });
        assert!(plain == data);
        assert_peak(&codec.to_string(), used.peak, data.len(), 2 * 700_000);
    }
}

#[test]
fn reading_a_chunk_of_a_frame_takes_its_bytes_as_well() {
    let _alone = alone();
    let data = data(1 << 20);
    let options = Options::new(4).with_codec(Codec::Lz4).with_blocksize(512 << 10).with_threads(Threads::serial());
    let mut frame = Frame::create(MemoryStorage::default(), FrameOptions::new(options)).unwrap();
    for _ in 0..4 {
        frame.append(&data).unwrap();
    }
    let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    let chunk_len = frame.chunk(0).unwrap().len();
    let options = FrameOptions::new(Options::new(1).with_threads(Threads::serial()));
    let frame = Frame::open_with(Location::source(MemoryStorage::new(bytes)), &options.opening()).unwrap();
    let (plain, used) = CountingAllocator::on_all_threads(|| frame.decompress(2).unwrap());
    assert!(plain == data);
    assert_peak("a frame", used.peak, data.len() + chunk_len, 2 * (512 << 10));
}

#[test]
fn a_slice_of_an_array_takes_the_slice_and_two_blocks() {
    let _alone = alone();
    let options = Options::new(4).with_codec(Codec::Lz4).with_threads(Threads::serial());
    let options = ArrayOptions::new(&[1024, 1024], options).with_chunks(&[512, 512]).with_blocks(&[256, 256]);
    let array = NdArray::from_data(&options, &data(1 << 20)).unwrap();
    let chunk_len = array.super_chunk().chunk(0).unwrap().len();
    let (plain, used) = CountingAllocator::on_all_threads(|| array.to_vec().unwrap());
    assert!(plain == data(1 << 20));
    assert_peak("an array", used.peak, plain.len() + chunk_len, 2 * 4 * 256 * 256);
}

/// On four threads, but with a limit that has room for two chunks: one at a time is worked on.
#[test]
fn chunks_under_way_are_held_to_the_limit() {
    const CHUNK: usize = 4 << 20;
    const BLOCK: usize = 64 << 10;
    let _alone = alone();
    let data = data(12 << 20);
    let threads = Threads::custom(Arc::new(Scoped(4)));
    let options = Options::new(4).with_codec(Codec::Lz4).with_blocksize(BLOCK).with_threads(threads);
    let limits = Limits::new().with_max_allocation(2 * CHUNK + 1000);
    let frame_options = FrameOptions::new(options.clone()).with_limits(limits).with_durability(Durability::None);
    let scratch = crate::common::child::Scratch::new("under-way");
    let path = scratch.path().join("flat.b2frame");
    // A chunk, as data and as it is made and stored, and blocks of each thread; four chunks at a
    // time would be twice that.
    let (chunks, blocks) = (4 * CHUNK, 4 * 2 * BLOCK);
    let mut frame = Frame::create(&path, frame_options.clone()).unwrap();
    let (taken, used) = CountingAllocator::on_all_threads(|| frame.extend_from(&data[..], CHUNK));
    assert_eq!(taken.unwrap(), data.len() as u64);
    assert_peak("appending", used.peak, chunks, blocks);
    frame.checkpoint().unwrap();
    let (written, used) = CountingAllocator::on_all_threads(|| frame.write_to(0..frame.nbytes(), std::io::sink()));
    written.unwrap();
    assert_peak("writing out", used.peak, chunks, blocks);
    let array = ArrayOptions::new(&[data.len() as u64 / 4], options).with_chunks(&[1 << 20]).with_blocks(&[16 << 10]);
    let array = array.with_frame(frame_options);
    let path = scratch.path().join("array.b2nd");
    let (made, used) = CountingAllocator::on_all_threads(|| NdArray::create_with_data(&path, &array, &data));
    assert_eq!(made.unwrap().nbytes(), data.len() as u64);
    assert_peak("an array", used.peak, chunks, blocks);
}

/// A Bloscpack file that leaves the size of its chunks open: chunks of zeros of these sizes.
#[cfg(feature = "bloscpack")]
fn bloscpack_of(sizes: &[usize]) -> Vec<u8> {
    use blosc_oxide::bloscpack::{BloscpackOptions, pack_slice};
    let packed = |size: usize| {
        let options = BloscpackOptions::new(Options::new(1)).with_chunk_size(size).with_offsets(false);
        pack_slice(&vec![0; size], &options).unwrap()
    };
    let mut file = packed(1)[..32].to_vec();
    file[8..24].fill(0xff);
    for &size in sizes {
        file.extend_from_slice(&packed(size)[32..]);
    }
    file
}

#[test]
#[cfg(feature = "bloscpack")]
fn a_bloscpack_file_takes_no_more_than_a_batch_whatever_its_first_chunk_is() {
    use blosc_oxide::bloscpack::{Bloscpack, ReadOptions, unpack};
    const BATCH: usize = 16 << 20;
    let _alone = alone();
    // The second makes each place of a batch hold a large chunk at some time.
    let after_a_small_one = [vec![1], vec![1 << 20; 200]].concat();
    let in_every_place = (0..40).flat_map(|small| [vec![100; small], vec![9 << 20]].concat()).collect();
    for sizes in [after_a_small_one, in_every_place] {
        let bytes = bloscpack_of(&sizes);
        for threads in [1, 3] {
            let largest = sizes.iter().max().unwrap();
            let options = ReadOptions::new().with_threads(Threads::custom(Arc::new(Scoped(threads))));
            let ((), used) = CountingAllocator::on_all_threads(|| {
                unpack(&bytes[..], std::io::sink(), &options).unwrap();
            });
            let allowed = 2 * BATCH + (2 * threads + 1) * largest;
            assert_peak("a stream", used.peak, allowed, 0);
            let file = Bloscpack::with_options(MemoryStorage::new(bytes.clone()), options).unwrap();
            let (nbytes, used) = CountingAllocator::on_all_threads(|| file.copy_to(std::io::sink()).unwrap());
            assert_eq!(nbytes, sizes.iter().sum::<usize>() as u64);
            assert_peak("a file", used.peak, allowed, 0);
        }
    }
}

/// Reads everything of every kind in a thread with little stack.
#[test]
fn every_decoder_runs_with_128_kib_of_stack() {
    use Kind::{Array, Bloscpack, Chunk, Early, Frame, Packed, Sparse, SparseArray};
    let _alone = alone();
    for kind in [Chunk, Frame, Sparse, Early, Packed, Array, SparseArray, Bloscpack] {
        let specimens = specimens(kind, 1 << 20);
        let thread = std::thread::Builder::new().stack_size(STACK);
        let reading = thread.spawn(move || specimens.iter().filter(|specimen| specimen.read().is_ok()).count());
        assert!(reading.unwrap().join().unwrap() > 0, "{kind:?}");
    }
}

#[test]
fn an_early_frame_is_written_chunk_by_chunk() {
    let _alone = alone();
    let mut sc = SuperChunk::new(Options::new(4).with_level(0).with_threads(Threads::serial())).unwrap();
    let chunk = data(1 << 18);
    (0..32).for_each(|_| sc.append(&chunk).unwrap());
    for format in [EarlyFrame::Beta1, EarlyFrame::Beta5] {
        let (result, used) = CountingAllocator::on_all_threads(|| sc.write_early(format, std::io::empty()));
        result.unwrap();
        assert_peak(&format!("{format:?}"), used.peak, 3 * chunk.len(), 2 * chunk.len());
    }
}
