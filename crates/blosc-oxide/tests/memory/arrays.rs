//! How much memory arrays take while they are read, copied and converted.

use crate::alone;
use blosc_oxide::{
    ArrayOptions, AxisSelection, Codec, Filter, ItemOrder, NdArray, NpyHeader, Options, Threads, storage::FileStorage,
};
use std::fs::File;
use std::io::{BufWriter, Write};
use testkit::alloc::CountingAllocator;

const SHAPE: [u64; 3] = [256, 256, 256];
const CHUNKS: [u64; 3] = [64, 64, 64];
const BLOCKS: [u64; 3] = [16, 32, 32];
const ITEM: u64 = 4;
const CHUNK: u64 = 64 * 64 * 64 * ITEM;
const BLOCK: u64 = 16 * 32 * 32 * ITEM;
const THREADS: u64 = 2;
/// Lists, queues and tables of codecs.
const BITS_AND_PIECES: u64 = 256 << 10;

fn items() -> Vec<u8> {
    (0..SHAPE.iter().product::<u64>())
        .flat_map(|item| u32::try_from((item / 3) ^ (item % 7)).unwrap().to_le_bytes())
        .collect()
}

fn peak<T>(what: &str, limit: u64, action: impl Fn() -> T) -> T {
    // The first time fills caches of the library that stay, such as the threads' own.
    drop(action());
    let (result, used) = CountingAllocator::on_all_threads(action);
    assert!(used.peak <= limit, "{what}: {} KiB were held, {} are allowed", used.peak >> 10, limit >> 10);
    result
}

#[test]
fn memory_is_bounded() {
    let _alone = alone();
    let scratch = crate::common::child::Scratch::new("nd-memory");
    let at = |name: &str| scratch.path().join(name);
    let compression =
        Options::new(4).with_codec(Codec::Lz4).with_filters([Filter::Shuffle]).with_threads(Threads::at_most(2));
    let options =
        ArrayOptions::new(&SHAPE, compression.clone()).with_dtype("<u4").with_chunks(&CHUNKS).with_blocks(&BLOCKS);
    let path = at("array.b2nd");
    drop(NdArray::create_with_data(&path, &options, &items()).unwrap());
    let array = NdArray::open(&path).unwrap();
    let nbytes = SHAPE.iter().product::<u64>() * ITEM;

    // A slice: itself and a few blocks a thread; what is compressed of a chunk counts as well,
    // since it is read.
    for axis in 0..3 {
        let selections: Vec<AxisSelection> =
            (0..3).map(|other| if other == axis { AxisSelection::Index(100) } else { AxisSelection::All }).collect();
        let slice = 256 * 256 * ITEM;
        let limit = slice + THREADS * (4 * BLOCK + CHUNK) + BITS_AND_PIECES;
        let taken = peak("a slice", limit, || array.slice(&selections).unwrap());
        assert_eq!(taken.len() as u64, slice);
    }
    let whole = peak("the whole", nbytes + THREADS * (4 * BLOCK + CHUNK) + BITS_AND_PIECES, || array.to_vec().unwrap());
    assert!(whole == items());
    drop(whole);

    // A copy with other chunks: for each thread a chunk as it is read, as it is stored and
    // compressed, and those that wait to be stored.
    let other = array.options().with_chunks(&[128, 32, 100]).with_blocks(&[32, 32, 20]);
    let other_chunk = 128 * 32 * 100 * ITEM;
    let limit = THREADS * (3 * other_chunk + 8 * other_chunk / 2 + 4 * BLOCK + CHUNK) + (1 << 20) + BITS_AND_PIECES;
    assert!(limit < nbytes / 2);
    peak("a copy", limit, || {
        let copy = at("copy.b2nd");
        drop(array.copy(&copy, &other).unwrap());
        std::fs::remove_file(copy).unwrap();
    });

    // .npy files both ways.
    let npy = at("array.npy");
    peak("writing .npy", (32 << 20) + THREADS * (4 * BLOCK + CHUNK) + BITS_AND_PIECES, || {
        array.to_npy(BufWriter::new(Sink)).unwrap()
    });
    let mut file = BufWriter::new(File::create(&npy).unwrap());
    NpyHeader::new("<u4", SHAPE, ItemOrder::Fortran).unwrap().write_npy_header(&mut file).unwrap();
    file.write_all(&items()).unwrap();
    drop(file);
    let source = FileStorage::open(&npy).unwrap();
    peak("reading .npy", limit, || {
        let from_npy = at("from-npy.b2nd");
        drop(NdArray::from_npy(&from_npy, &source, &options).unwrap());
        std::fs::remove_file(from_npy).unwrap();
    });
}

/// Takes everything.
struct Sink;

impl Write for Sink {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
