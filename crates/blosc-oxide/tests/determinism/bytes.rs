//! The same bytes come out for any number of threads, on any run.

use blosc_oxide::plugin::Executor;
use blosc_oxide::{
    Chunk, Codec, Compressor, Decompressor, Error, ErrorKind, Filter, Format, Header, Options, Result, SplitMode,
    Threads,
    plugin::{CodecContext, CodecPlugin, Plugins},
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testkit::formula::generate;
use testkit::serde_json::json;

/// So many threads of its own, whatever the machine has.
struct Exactly(usize);

impl Executor for Exactly {
    fn threads(&self) -> usize {
        self.0
    }

    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for worker in 0..workers {
                scope.spawn(move || job(worker));
            }
        });
    }
}

/// The same, and how often they were asked to share something.
struct Counting {
    threads: usize,
    shared: AtomicUsize,
}

impl Executor for Counting {
    fn threads(&self) -> usize {
        self.threads
    }

    fn run(&self, workers: usize, job: &(dyn Fn(usize) + Sync)) {
        self.shared.fetch_add(1, Ordering::Relaxed);
        Exactly(self.threads).run(workers, job);
    }
}

fn exactly(threads: usize) -> Threads {
    Threads::custom(Arc::new(Exactly(threads)))
}

/// Some of it compresses well, some not at all, so that workers finish out of order.
fn data() -> Vec<u8> {
    generate(&json!([
        {"kind": "walk", "n": 60_000, "w": 4, "seed": 1},
        {"kind": "rand", "nbytes": 100_000, "seed": 2},
        {"kind": "zeros", "nbytes": 70_000},
        {"kind": "text", "nbytes": 80_003, "seed": 3},
    ]))
    .unwrap()
}

fn options() -> Vec<Options> {
    let mut all = Vec::new();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::Delta, Filter::BitShuffle]] {
            let base = Options::new(4).with_codec(codec).with_filters(filters.clone()).with_blocksize(8192);
            all.push(base.clone());
            if matches!(codec, Codec::Lz4 | Codec::Lz4Hc | Codec::Zstd) {
                all.push(base.clone().with_dict(true));
            }
            if filters.len() < 2 {
                all.push(base.with_format(Format::Blosc1));
            }
        }
    }
    all
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let data = data();
    for options in options() {
        let alone = blosc_oxide::compress(&data, &options.clone().with_threads(Threads::serial())).unwrap();
        for threads in [exactly(1), exactly(2), exactly(3), exactly(8), Threads::default()] {
            let label = format!("{options:?} on {threads:?}");
            let shared = blosc_oxide::compress(&data, &options.clone().with_threads(threads)).unwrap();
            assert!(shared == alone, "{label}");
        }
    }
}

#[test]
fn data_that_hardly_compresses_is_stored_or_not_whatever_the_number_of_threads() {
    let noise = generate(&json!({"kind": "rand", "nbytes": 300_000, "seed": 5})).unwrap();
    let mut stored = 0;
    let mut packed = 0;
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc] {
        for run in (0..=1200).step_by(20) {
            // The end compresses just well enough, or not quite, to make up for the sizes of all
            // streams.
            let mut data = noise.clone();
            let end = data.len();
            data[end - run..].fill(7);
            let options =
                Options::new(4).with_codec(codec).with_level(9).with_filters([Filter::Shuffle]).with_blocksize(8192);
            let one = Compressor::new(options.clone().with_threads(exactly(1))).unwrap().compress(&data).unwrap();
            let four = Compressor::new(options.with_threads(exactly(4))).unwrap().compress(&data).unwrap();
            assert_eq!(one, four, "{codec} {run}");
            assert_eq!(blosc_oxide::decompress(&one).unwrap(), data, "{codec} {run}");
            if one.len() < data.len() + 32 { packed += 1 } else { stored += 1 }
        }
    }
    assert!(stored > 20 && packed > 20, "{stored} {packed}");
}

#[test]
fn every_run_writes_the_same_bytes() {
    let data = data();
    for options in options() {
        let mut compressor = Compressor::new(options.clone().with_threads(exactly(8))).unwrap();
        let first = compressor.compress(&data).unwrap();
        for _ in 0..5 {
            assert!(compressor.compress(&data).unwrap() == first, "{options:?} with what it kept");
        }
        assert!(blosc_oxide::compress(&data, &options).unwrap() == first, "{options:?} anew");
    }
}

#[test]
fn what_was_compressed_before_does_not_matter() {
    let (data, other) = (data(), vec![7; 100_000]);
    for options in options() {
        let mut compressor = Compressor::new(options.clone()).unwrap();
        compressor.compress(&other).unwrap();
        let after = compressor.compress(&data).unwrap();
        assert!(after == blosc_oxide::compress(&data, &options).unwrap(), "{options:?}");
    }
}

#[test]
fn any_number_of_threads_reads_the_same_bytes() {
    let data = data();
    for options in options() {
        let chunk = blosc_oxide::compress(&data, &options).unwrap();
        for threads in [Threads::serial(), exactly(2), exactly(3), exactly(8), Threads::default()] {
            let label = format!("{options:?} on {threads:?}");
            let mut decompressor = Decompressor::new().with_threads(threads);
            assert!(decompressor.decompress(&chunk).unwrap() == data, "{label}");
        }
    }
}

/// Options that make one block of `len` bytes, in as many streams as an item has bytes.
fn options_of_one_block(len: usize) -> Vec<Options> {
    let mut all = Vec::new();
    for typesize in [2, 4, 8, 16] {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::Delta, Filter::Shuffle], vec![Filter::BitShuffle]] {
            let options = Options::new(typesize).with_codec(Codec::Zlib).with_filters(filters).with_blocksize(len);
            all.push(options.with_split(SplitMode::Always));
        }
    }
    all
}

/// Such chunks, and what they hold.
fn chunks_of_one_block() -> Vec<(Vec<u8>, Vec<u8>)> {
    let data = &data()[..16 * 30_000];
    let chunk = |options: Options| {
        let chunk = blosc_oxide::compress(data, &options.with_threads(Threads::serial())).unwrap();
        let header = Header::parse(&chunk).unwrap();
        assert!(header.nblocks() == 1 && header.is_split());
        (data.to_vec(), chunk)
    };
    options_of_one_block(data.len()).into_iter().map(chunk).collect()
}

#[test]
fn the_streams_of_one_block_are_compressed_by_any_number_of_threads() {
    let chunks = chunks_of_one_block();
    for ((data, chunk), options) in chunks.iter().zip(options_of_one_block(chunks[0].0.len())) {
        for threads in [2, 3, 8, 20] {
            let executor = Arc::new(Counting { threads, shared: AtomicUsize::new(0) });
            let mut compressor =
                Compressor::new(options.clone().with_threads(Threads::custom(executor.clone()))).unwrap();
            for _ in 0..2 {
                assert!(compressor.compress(data).unwrap() == *chunk, "{options:?} on {threads}");
            }
            assert_eq!(executor.shared.load(Ordering::Relaxed), 2, "{options:?}");
        }
    }
}

#[test]
fn noise_in_streams_of_one_block_is_stored_or_not_whatever_the_number_of_threads() {
    let noise = generate(&json!({"kind": "rand", "nbytes": 200_000, "seed": 5})).unwrap();
    let mut stored = 0;
    for run in (0..1200).step_by(20) {
        let mut data = noise.clone();
        data[200_000 - run..].fill(7);
        let options = Options::new(4)
            .with_codec(Codec::Lz4Hc)
            .with_filters([])
            .with_blocksize(data.len())
            .with_split(SplitMode::Always);
        let one = blosc_oxide::compress(&data, &options.clone().with_threads(exactly(1))).unwrap();
        assert!(blosc_oxide::compress(&data, &options.with_threads(exactly(3))).unwrap() == one, "{run}");
        stored += usize::from(Header::parse(&one).unwrap().is_memcpyed());
    }
    assert!((10..50).contains(&stored), "{stored}");
}

#[test]
fn the_streams_of_one_block_are_decoded_by_any_number_of_threads() {
    let mut shared = 0;
    for (data, chunk) in chunks_of_one_block() {
        for threads in [1, 2, 3, 8, 20] {
            let executor = Arc::new(Counting { threads, shared: AtomicUsize::new(0) });
            let mut decompressor = Decompressor::new().with_threads(Threads::custom(executor.clone()));
            for _ in 0..2 {
                assert!(decompressor.decompress(&chunk).unwrap() == data);
            }
            shared += executor.shared.load(Ordering::Relaxed);
        }
    }
    assert!(shared > 20, "{shared}");
}

#[test]
fn damage_is_reported_the_same_by_any_number_of_threads() {
    for (_, mut chunk) in chunks_of_one_block() {
        let starts_end = 36;
        for place in [starts_end, starts_end + 3, chunk.len() / 2, chunk.len() - 40] {
            let old = std::mem::replace(&mut chunk[place], 0xff);
            let results = [1, 2, 3, 8].map(|threads| {
                let result = Decompressor::new().with_threads(exactly(threads)).decompress(&chunk);
                result.map_err(|error| error.to_string())
            });
            assert!(results.iter().all(|result| *result == results[0]), "byte {place}");
            chunk[place] = old;
        }
    }
}

/// Stores every stream, but fails for one that starts with 2, panics at one that starts with 3, and
/// only after a while gives up on one that starts with 1.
struct Moody;

impl CodecPlugin for Moody {
    fn compress(&self, src: &[u8], _: &mut [u8], _: CodecContext<'_>) -> Result<Option<usize>> {
        match src[0] {
            1 => std::thread::sleep(Duration::from_millis(50)),
            2 => return Err(Error::new(ErrorKind::InvalidArgument, "moody")),
            3 => panic!("very moody"),
            _ => {}
        }
        Ok(None)
    }

    fn decompress(&self, _: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<usize> {
        Ok(dst.len())
    }
}

/// How that codec compresses blocks of `blocksize` bytes with a stream for each byte of an item.
fn moody(typesize: usize, blocksize: usize) -> Options {
    let plugins = Plugins::new().with_codec(200, Arc::new(Moody)).unwrap();
    let options = Options::new(typesize)
        .with_codec(Codec::Plugin(200))
        .with_filters([])
        .with_blocksize(blocksize)
        .with_plugins(plugins);
    options.with_split(SplitMode::Always)
}

/// Noise in which every stream of `stream_len` bytes starts with 9.
fn calm_noise(nbytes: usize, stream_len: usize) -> Vec<u8> {
    let mut data = generate(&json!({"kind": "rand", "nbytes": nbytes, "seed": 5})).unwrap();
    data.iter_mut().step_by(stream_len).for_each(|first| *first = 9);
    data
}

/// What one thread makes of it, and whether that is a chunk; any number of threads must make the
/// same.
fn the_same_on_any_number_of_threads(data: &[u8], options: &Options) -> bool {
    let compressed = |threads| {
        let chunk = blosc_oxide::compress(data, &options.clone().with_threads(threads));
        chunk.map_err(|error| error.to_string())
    };
    let serial = compressed(Threads::serial());
    for threads in [2, 3, 8] {
        assert!(compressed(exactly(threads)) == serial, "{threads} threads");
    }
    if let Ok(chunk) = &serial {
        assert!(Header::parse(chunk).unwrap().is_memcpyed());
    }
    serial.is_ok()
}

#[test]
fn a_chunk_that_gets_too_long_is_stored_whatever_a_later_block_reports() {
    let block = 1024_usize;
    for nblocks in [1024, 1031, 1048] {
        // The sizes of blocks, and an offset for each, make it as long as the data here; others
        // fail before this is known.
        let too_long_at = ((block - 4) * nblocks).div_ceil(block + 4) - 1;
        for (fails_at, is_stored) in [(too_long_at, false), (too_long_at + 1, true), (nblocks - 1, true)] {
            let mut data = calm_noise(block * nblocks, block);
            data[too_long_at * block] = 1;
            data[fails_at * block] = 2;
            let was_stored = the_same_on_any_number_of_threads(&data, &moody(1, block));
            assert_eq!(was_stored, is_stored, "{nblocks} blocks, block {fails_at} fails");
        }
    }
}

#[test]
fn a_block_that_gets_too_long_is_stored_whatever_a_later_stream_of_it_reports() {
    let (stream_len, nstreams, nblocks) = (1024, 16, 64);
    let block = stream_len * nstreams;
    for (stream, is_stored) in [(10, false), (11, false), (12, true), (15, true)] {
        let mut data = calm_noise(block * nblocks, stream_len);
        data[(nblocks - 1) * block + stream * stream_len] = 2;
        let was_stored = the_same_on_any_number_of_threads(&data, &moody(nstreams, block));
        assert_eq!(was_stored, is_stored, "stream {stream} of the last block fails");
    }
}

#[test]
fn streams_of_one_block_that_get_too_long_are_stored_whatever_a_later_one_reports() {
    // A size before each stream, and one offset: from a length on, 0 to 7 bytes are left for the
    // last stream.
    for stream_len in [16_000, 16_001, 16_002, 16_003] {
        for fails_at in 0..4 {
            let mut data = calm_noise(4 * stream_len, stream_len);
            data[fails_at * stream_len] = 2;
            the_same_on_any_number_of_threads(&data, &moody(4, 4 * stream_len));
        }
    }
}

#[test]
fn a_codec_that_panics_ends_the_call_and_nothing_else() {
    let calm = calm_noise(1 << 20, 1024);
    let mut data = calm.clone();
    data[500 * 1024] = 3;
    let mut compressor = Compressor::new(moody(1, 1024).with_threads(Threads::at_most(2))).unwrap();
    let before = compressor.compress(&calm).unwrap();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compressor.compress(&data)));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"very moody"));
    assert!(compressor.compress(&calm).unwrap() == before);
}

#[test]
fn some_blocks_of_many_are_read_by_any_number_of_threads() {
    let data = data();
    let chunk = blosc_oxide::compress(&data, &Options::new(4).with_codec(Codec::Zlib).with_blocksize(8192)).unwrap();
    let chunk = Chunk::parse(&chunk).unwrap();
    let nblocks = chunk.header().nblocks();
    for wanted in [vec![0], vec![nblocks - 1], (5..30).collect(), (0..nblocks).step_by(2).collect::<Vec<_>>()] {
        for threads in [1, 2, 3, 8] {
            let mut out = vec![0; data.len()];
            Decompressor::new().with_threads(exactly(threads)).blocks_into(&chunk, &wanted, &mut out).unwrap();
            for &index in &wanted {
                let range = chunk.block_range(index).unwrap();
                assert!(out[range.clone()] == data[range], "block {index}, {threads} threads");
            }
        }
    }
}

#[test]
fn damage_to_one_of_many_blocks_is_reported_the_same_by_any_number_of_threads() {
    let data = data();
    let mut chunk =
        blosc_oxide::compress(&data, &Options::new(4).with_codec(Codec::Zlib).with_blocksize(8192)).unwrap();
    for place in (32..chunk.len()).step_by(chunk.len() / 40) {
        let old = std::mem::replace(&mut chunk[place], 0xa5);
        let results = [1, 2, 3, 8].map(|threads| {
            let result = Decompressor::new().with_threads(exactly(threads)).decompress(&chunk);
            result.map_err(|error| error.to_string())
        });
        assert!(results.iter().all(|result| *result == results[0]), "byte {place}");
        chunk[place] = old;
    }
}

/// Keeps only the first byte of what it compresses, which says how it is to be decompressed.
struct Reluctant;

impl CodecPlugin for Reluctant {
    fn compress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<Option<usize>> {
        dst[0] = src[0];
        Ok(Some(1))
    }

    fn decompress(&self, src: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<usize> {
        match src[0] {
            1 => std::thread::sleep(Duration::from_millis(50)),
            2 => return Err(Error::new(ErrorKind::Corrupt, "reluctant")),
            _ => {}
        }
        Ok(dst.len())
    }
}

#[test]
fn of_several_blocks_that_fail_the_first_is_reported_by_any_number_of_threads() {
    let (block, nblocks) = (4096, 200);
    let plugins = Plugins::new().with_codec(200, Arc::new(Reluctant)).unwrap();
    let options = Options::new(1)
        .with_codec(Codec::Plugin(200))
        .with_filters([])
        .with_blocksize(block)
        .with_plugins(plugins.clone());
    // Whoever starts at the end is done with what fails there long before the first block is.
    for fails_at in [1, 2, nblocks / 2, nblocks - 2] {
        let mut data = calm_noise(block * nblocks, block);
        data[0] = 1;
        data[fails_at * block] = 2;
        data[(nblocks - 1) * block] = 2;
        let chunk = blosc_oxide::compress(&data, &options).unwrap();
        for threads in [1, 2, 3, 8] {
            let mut decompressor = Decompressor::new().with_threads(exactly(threads)).with_plugins(plugins.clone());
            let error = decompressor.decompress(&chunk).unwrap_err().to_string();
            assert!(error.contains(&format!("block {fails_at}:")), "{threads} threads: {error}");
        }
    }
}

#[test]
fn an_output_of_any_length_gets_the_same_chunk_or_none() {
    let data = data();
    for format in [Format::Blosc1, Format::Blosc2] {
        for threads in [Threads::serial(), exactly(3)] {
            let options = Options::new(4).with_codec(Codec::BloscLz).with_format(format).with_threads(threads);
            let mut compressor = Compressor::new(options).unwrap();
            let whole = compressor.compress(&data).unwrap();
            for room in
                [0, 15, 16, 40, 1000, whole.len() / 2, whole.len() - 1, whole.len(), whole.len() + 1, data.len()]
            {
                let mut out = vec![0xAA; room];
                match compressor.compress_into(&data, &mut out) {
                    Ok(len) => assert_eq!(out[..len], whole, "{room}"),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::OutputTooSmall);
                        assert!(room < whole.len(), "{room}");
                    }
                }
            }
        }
    }
}

#[test]
fn other_options_leave_no_trace_of_those_before() {
    let data = data();
    let all = [
        Options::new(4).with_codec(Codec::Zstd).with_level(7).with_threads(exactly(3)),
        Options::new(8).with_codec(Codec::Lz4).with_format(Format::Blosc1).with_blocksize(4096),
        Options::new(1).with_filters([Filter::BitShuffle]).with_split(SplitMode::Never),
    ];
    let mut compressor = Compressor::new(Options::new(2)).unwrap();
    for options in all.iter().cycle().take(6) {
        compressor.set_options(options.clone()).unwrap();
        assert!(compressor.set_options(Options::new(0)).is_err());
        assert_eq!(
            compressor.compress(&data).unwrap(),
            Compressor::new(options.clone()).unwrap().compress(&data).unwrap()
        );
    }
}
