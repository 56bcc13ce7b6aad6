//! A declared size allocates nothing before it has been checked.

use blosc_oxide::{
    ArrayOptions, AxisSelection, Chunk, Codec, Decompressor, ErrorKind, Fill, Frame, FrameOptions, ItemOrder,
    LazyChunk, Limits, Location, NdArray, NpyHeader, OpenOptions, Options, Result, Special, SuperChunk, Threads,
    legacy::{PackedOptions, PackedSuperChunk},
    storage::MemoryStorage,
};
use testkit::alloc::CountingAllocator;

/// What an error message and a handful of counters may take.
const LITTLE: u64 = 16 << 10;

/// A compressed chunk of 100,000 bytes in 64 of its own and less, with other sizes in its header.
fn claiming(nbytes: i32, blocksize: i32) -> Vec<u8> {
    let options = Options::new(4).with_codec(Codec::Lz4);
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
        let (result, used) = CountingAllocator::on_this_thread(|| Decompressor::new().decompress(&chunk));
        let error = result.unwrap_err();
        assert_eq!(error.kind(), kind, "nbytes {nbytes}, blocksize {blocksize}: {error}");
        assert!(used.peak < LITTLE, "nbytes {nbytes}, blocksize {blocksize}: {used:?}");
    }
}

#[test]
fn what_compress_can_take_is_within_the_limit_of_decompress() {
    let nbytes = (1 << 30) + 8;
    let chunk = blosc_oxide::special_chunk(Special::Zeros, nbytes, &Options::new(8)).unwrap();
    assert_eq!(blosc_oxide::decompress(&chunk).unwrap().len(), nbytes);
    assert_eq!(blosc_oxide::decompress_items::<f64>(&chunk).unwrap().len(), nbytes / 8);
    assert_eq!(Decompressor::new().decompress(&chunk).unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn numbers_of_a_frame_are_held_to_the_limit() {
    let mut edit = Frame::create(MemoryStorage::default(), Options::new(4)).unwrap();
    edit.append_items(&[7_u32; 1000]).unwrap();
    let bytes = edit.commit().unwrap().to_bytes().unwrap();
    let limited = |limit| {
        let options = OpenOptions::new().with_limits(Limits::new().with_max_allocation(limit));
        Frame::open_with(bytes.clone(), &options)?.read_items::<u32>(0..1000)
    };
    assert_eq!(limited(4000).unwrap(), [7; 1000]);
    assert_eq!(limited(3999).unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn the_limit_is_kept_to_the_byte() {
    let chunk = blosc_oxide::compress(&[1; 5000], &Options::new(1)).unwrap();
    let limited = |bytes| Decompressor::new().with_limits(Limits::new().with_max_allocation(bytes)).decompress(&chunk);
    assert_eq!(limited(5000).unwrap(), [1; 5000]);
    let error = limited(4999).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.to_string().contains("5000") && error.to_string().contains("4999"), "{error}");
}

#[test]
fn a_special_value_is_held_to_the_limit_too() {
    let chunk = blosc_oxide::special_chunk(Special::Zeros, 2_000_000_000, &Options::new(8)).unwrap();
    let (result, used) = CountingAllocator::on_this_thread(|| Decompressor::new().decompress(&chunk));
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
    let options = Options::new(4).with_codec(Codec::Lz4).with_blocksize(8 << 10);
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
    let limits = Limits::new().with_max_allocation(1 << 20);
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

/// Small files that claim terabytes.
mod bombs {
    use super::*;

    const TERABYTE: u64 = 1 << 40;
    const LIMIT: usize = 1 << 20;

    fn serial() -> Options {
        Options::new(4).with_threads(Threads::serial())
    }

    fn within(limits: Limits) -> FrameOptions {
        FrameOptions::new(serial()).with_limits(limits)
    }

    fn limited() -> Limits {
        Limits::new().with_max_allocation(LIMIT)
    }

    /// A frame of zeros, all of them special chunks.
    fn zeros(nbytes: u64, chunk: usize) -> Vec<u8> {
        let options = FrameOptions::new(serial()).with_checksums(false);
        let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
        frame.checkpoint().unwrap();
        frame.fill(Special::Zeros, nbytes, chunk).unwrap();
        let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
        assert!(bytes.len() < 50_000, "{}", bytes.len());
        bytes
    }

    /// The same frame with another index.
    fn with_index(bytes: &[u8], new: &[u8]) -> Vec<u8> {
        let header_len = usize::try_from(u32::from_be_bytes(bytes[11..15].try_into().unwrap())).unwrap();
        let section = usize::try_from(u64::from_be_bytes(bytes[39..47].try_into().unwrap())).unwrap();
        let trailer_end = usize::try_from(u64::from_be_bytes(bytes[16..24].try_into().unwrap())).unwrap();
        let index = header_len + section;
        let len = Chunk::parse(&bytes[index..]).unwrap().as_bytes().len();
        let mut bytes = bytes[..trailer_end].to_vec();
        bytes.splice(index..index + len, new.iter().copied());
        let frame_len = bytes.len() as u64;
        bytes[16..24].copy_from_slice(&frame_len.to_be_bytes());
        bytes
    }

    fn open(bytes: &[u8], limits: Limits) -> Result<Frame> {
        Frame::open_with(Location::source(MemoryStorage::new(bytes.to_vec())), &within(limits).opening())
    }

    /// The error of `action`, which has not taken more than the limit.
    #[track_caller]
    fn refused<T: std::fmt::Debug>(action: impl FnOnce() -> Result<T>) -> ErrorKind {
        let (result, used) = CountingAllocator::on_this_thread(action);
        assert!(used.peak <= LIMIT as u64, "{used:?}");
        result.unwrap_err().kind()
    }

    #[test]
    fn a_frame_of_terabytes_is_read_in_parts_only() {
        let frame = open(&zeros(TERABYTE, 1 << 30), limited()).unwrap();
        assert_eq!(frame.nbytes(), TERABYTE);
        assert_eq!(refused(|| frame.decompress(0)), ErrorKind::LimitExceeded);
        assert_eq!(refused(|| frame.bytes(0..TERABYTE)), ErrorKind::LimitExceeded);
        assert_eq!(frame.bytes(TERABYTE - 10..TERABYTE).unwrap(), [0; 10]);
    }

    #[test]
    fn a_frame_of_more_chunks_than_allowed_is_not_opened() {
        let bytes = zeros(4 * 100_000, 4);
        let limits = limited().with_max_chunks(99_999);
        assert_eq!(refused(|| open(&bytes, limits).map(drop)), ErrorKind::LimitExceeded);
        assert_eq!(open(&bytes, limited().with_max_chunks(100_000)).unwrap().nchunks(), 100_000);
    }

    #[test]
    fn an_index_of_runs_takes_no_more_memory_than_its_runs() {
        // Eight megabytes of index in a few kilobytes.
        let bytes = zeros(4 << 20, 4);
        let (special, used) = CountingAllocator::on_this_thread(|| {
            let frame = open(&bytes, limited()).unwrap();
            assert!(frame.verify().unwrap().is_good());
            frame.chunk_special(1_000_000).unwrap()
        });
        assert_eq!(special, Some(Special::Zeros));
        assert!(used.peak <= LIMIT as u64, "{used:?}");
    }

    #[test]
    fn an_index_of_more_places_than_the_limit_allows_is_not_decoded() {
        // 1.6 megabytes of offsets that go up evenly.
        let offsets: Vec<u8> = (0..200_000_u64).flat_map(|at| (at * 32).to_le_bytes()).collect();
        let index =
            blosc_oxide::compress(&offsets, &Options::new(8).with_blocksize(16 << 10).with_threads(Threads::serial()))
                .unwrap();
        let bytes = with_index(&zeros(4 * 200_000, 4), &index);
        let frame = open(&bytes, limited()).unwrap();
        assert_eq!(frame.nchunks(), 200_000);
        // A few entries are looked up in their blocks, and are of chunks that are not there; for
        // many, all are needed.
        let (last, used) = CountingAllocator::on_this_thread(|| {
            let kinds = (0..200_000).step_by(2000).map(|index| frame.chunk_header(index).unwrap_err().kind());
            kinds.fold(None, |_, kind| Some(kind))
        });
        assert_eq!(last, Some(ErrorKind::LimitExceeded));
        // A block of the index more than the limit, and the block before and after its filter.
        assert!(used.peak <= LIMIT as u64 + (64 << 10), "{used:?}");
    }

    /// The index is a chunk of one value: all chunks are at the same place.
    #[test]
    fn an_index_that_is_wrong_everywhere_is_an_error_when_a_chunk_is_asked_for() {
        let wrong = blosc_oxide::fill_chunk(&123_456_789_u64.to_le_bytes(), 8000, &Options::new(8)).unwrap();
        let bytes = with_index(&zeros(4 * 1000, 4), &wrong);
        let frame = open(&bytes, limited()).unwrap();
        assert_eq!(frame.nchunks(), 1000);
        for index in [0, 500, 999] {
            assert!(matches!(refused(|| frame.decompress(index)), ErrorKind::Corrupt | ErrorKind::Truncated));
        }
    }

    #[test]
    fn an_array_of_terabytes_is_read_in_parts_only() {
        let side = 1 << 20;
        let options =
            ArrayOptions::new(&[side, side], serial()).with_chunks(&[1 << 12, 1 << 12]).with_blocks(&[64, 64]);
        let array = NdArray::create(Location::Memory, &options, &Fill::Zeros).unwrap();
        let mut frame = Frame::create(MemoryStorage::default(), FrameOptions::new(serial())).unwrap();
        array.super_chunk().copy_to(&mut frame).unwrap();
        let array =
            NdArray::from_frame(open(&frame.checkpoint().unwrap().to_bytes().unwrap(), limited()).unwrap()).unwrap();
        assert_eq!(refused(|| array.to_vec()), ErrorKind::LimitExceeded);
        assert_eq!(array.slice(&[AxisSelection::from(side - 1), AxisSelection::from(side - 2..side)]).unwrap(), [0; 8]);
    }

    #[test]
    fn an_array_of_more_chunks_than_can_be_listed_is_not_made() {
        let side = 1 << 61;
        let limited = |options: ArrayOptions| options.with_frame(within(limited()));
        let options = limited(ArrayOptions::new(&[side], Options::new(1)));
        let place = || Location::storage(MemoryStorage::default());
        for fill in [Fill::Zeros, Fill::Uninit, Fill::Value(vec![7])] {
            assert_eq!(refused(|| NdArray::create(place(), &options, &fill)), ErrorKind::LimitExceeded);
            assert_eq!(refused(|| NdArray::new(&options, &fill)), ErrorKind::LimitExceeded);
        }
        let mut npy = Vec::new();
        NpyHeader::new("|u1", [side], ItemOrder::C).unwrap().write_npy_header(&mut npy).unwrap();
        npy.push(0);
        let any = limited(ArrayOptions::new(&[], Options::new(1)));
        let kind = refused(|| NdArray::from_npy(place(), &MemoryStorage::new(npy.clone()), &any));
        assert_eq!(kind, ErrorKind::Truncated);
        assert_eq!(refused(|| NdArray::from_npy_stream(place(), &npy[..], &any)), ErrorKind::LimitExceeded);
    }

    #[test]
    fn an_array_does_not_grow_to_more_chunks_than_can_be_listed() {
        let options = ArrayOptions::new(&[10, 10], serial()).with_frame(within(limited()));
        let mut array = NdArray::create(Location::storage(MemoryStorage::default()), &options, &Fill::Zeros).unwrap();
        for shape in [[1 << 40, 10], [10, 1 << 40], [1 << 20, 1 << 20]] {
            assert_eq!(refused(|| array.resize(&shape)), ErrorKind::LimitExceeded, "{shape:?}");
        }
        assert_eq!(array.shape(), [10, 10]);
    }

    #[test]
    fn blocks_of_one_item_are_not_listed_beyond_the_limit() {
        let side = 1 << 9;
        let options = ArrayOptions::new(&[side, side], Options::new(1).with_threads(Threads::serial()))
            .with_chunks(&[side, side])
            .with_blocks(&[1, 1])
            .with_frame(within(limited()));
        let mut array = NdArray::create(Location::storage(MemoryStorage::default()), &options, &Fill::Zeros).unwrap();
        assert_eq!(refused(|| array.to_vec()), ErrorKind::LimitExceeded);
        assert_eq!(
            refused(|| array.write(&[AxisSelection::Index(1), AxisSelection::Index(1)], &[1])),
            ErrorKind::LimitExceeded
        );
        assert_eq!(array.slice(&[AxisSelection::Index(3), AxisSelection::from(2..4)]).unwrap(), [0; 2]);
    }

    #[test]
    fn a_packed_super_chunk_that_claims_too_many_chunks_is_refused() {
        let mut bytes = PackedOptions::new(4).with_threads(Threads::serial()).pack([[7; 400], [8; 400]]).unwrap();
        let limits = limited().with_max_chunks(1);
        assert_eq!(refused(|| PackedSuperChunk::open_with_limits(&bytes[..], limits)), ErrorKind::LimitExceeded);
        for claim in [1 << 20, 1 << 40, i64::MAX] {
            bytes[16..24].copy_from_slice(&i64::to_le_bytes(claim));
            assert_eq!(refused(|| PackedSuperChunk::open_with_limits(&bytes[..], limited())), ErrorKind::Corrupt);
        }
    }

    #[cfg(feature = "bloscpack")]
    #[test]
    fn a_bloscpack_file_of_more_chunks_than_allowed_is_refused() {
        use blosc_oxide::bloscpack::{self, Bloscpack, BloscpackOptions, ReadOptions};
        let open = |bytes: &[u8], limits: Limits| {
            let options = ReadOptions::new().with_threads(Threads::serial()).with_limits(limits);
            Bloscpack::with_options(MemoryStorage::new(bytes.to_vec()), options)
        };
        let options = BloscpackOptions::new(serial()).with_chunk_size(4);
        let bytes = bloscpack::pack_slice(&[7; 400], &options).unwrap();
        assert_eq!(refused(|| open(&bytes, limited().with_max_chunks(99)).map(drop)), ErrorKind::LimitExceeded);
        assert_eq!(open(&bytes, limited().with_max_chunks(100)).unwrap().nchunks().unwrap(), 100);
        // A stream does not say how many there are.
        let mut stream = Vec::new();
        bloscpack::pack(&[7; 400][..], &mut stream, &options.with_offsets(false)).unwrap();
        let file = open(&stream, limited().with_max_chunks(99)).unwrap();
        assert_eq!(refused(|| file.copy_to(Vec::new())), ErrorKind::LimitExceeded);
        let options = ReadOptions::new().with_threads(Threads::serial()).with_limits(limited().with_max_chunks(99));
        assert_eq!(refused(|| bloscpack::unpack(&stream[..], Vec::new(), &options)), ErrorKind::LimitExceeded);
    }

    #[cfg(feature = "bloscpack")]
    #[test]
    fn a_bloscpack_file_that_claims_too_many_chunks_is_refused() {
        use blosc_oxide::bloscpack::{self, Bloscpack, BloscpackOptions};
        for offsets in [false, true] {
            let options = BloscpackOptions::new(serial()).with_chunk_size(400).with_offsets(offsets);
            let mut bytes = bloscpack::pack_slice(&[7; 800], &options).unwrap();
            bytes[16..24].copy_from_slice(&(1_i64 << 40).to_le_bytes());
            let kind = refused(|| {
                let file = Bloscpack::from_storage(MemoryStorage::new(bytes.clone()))?;
                file.copy_to(Vec::new())
            });
            assert!(matches!(kind, ErrorKind::Truncated | ErrorKind::Corrupt), "{kind:?}");
        }
    }
}

#[test]
fn zeros_in_place_of_damaged_chunks_are_held_to_the_limit() {
    let bytes = include_bytes!("../findings/zeros_for_damaged_chunks.b2frame");
    let options = FrameOptions::new(Options::new(1).with_threads(Threads::serial()));
    let options = options.with_limits(Limits::new().with_max_allocation(64 << 10));
    let (result, used) = CountingAllocator::on_this_thread(|| {
        let repair = Frame::repair(MemoryStorage::new(bytes.to_vec()), options)?;
        repair.write_to(&mut SuperChunk::new(repair.options())?)
    });
    assert_eq!(result.unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert!(used.peak < 1 << 20, "{used:?}");
}

#[test]
fn sizes_of_chunks_that_contradict_the_header_are_read_once() {
    let bytes = include_bytes!("../findings/sizes_that_contradict_the_header.b2frame");
    let options = FrameOptions::new(Options::new(1).with_threads(Threads::serial()));
    let frame = Frame::open_with(Location::source(MemoryStorage::new(bytes.to_vec())), &options.opening()).unwrap();
    assert_eq!(frame.nchunks(), 2500);
    let (result, used) = CountingAllocator::on_this_thread(|| frame.verify());
    let found = result.unwrap();
    assert_eq!(found.damaged, 1, "each chunk is good by itself");
    assert!(found.damage[0].error.to_string().contains("are announced"), "{}", found.damage[0].error);
    // Every header that is read is put somewhere: for each chunk all of them would be six million.
    assert!(used.allocations < 100_000, "{used:?}");
}

#[test]
fn however_many_chunks_are_damaged_only_the_first_are_described() {
    const CHUNKS: usize = 20_000;
    let options = FrameOptions::new(Options::new(1).with_level(0).with_threads(Threads::serial()));
    let mut frame = Frame::create(MemoryStorage::default(), options.clone()).unwrap();
    for index in 0..CHUNKS as u64 {
        frame.append(&index.to_le_bytes()).unwrap();
    }
    let mut bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    for index in 0..CHUNKS {
        let last = frame.chunk_position(index).unwrap().unwrap() + 39;
        bytes[usize::try_from(last).unwrap()] ^= 1;
    }
    let frame =
        Frame::open_with(Location::source(MemoryStorage::new(bytes.clone())), &options.clone().opening()).unwrap();
    let (found, used) = CountingAllocator::on_this_thread(|| frame.verify());
    let found = found.unwrap();
    assert_eq!((found.chunks, found.damaged, found.is_good()), (CHUNKS, CHUNKS, false));
    assert!(found.damage.iter().map(|damage| damage.chunk).eq((0..1000).map(Some)));
    // The checksums themselves take 160 kB.
    assert!(used.peak < 1 << 20, "{used:?}");
    let repair = Frame::repair(MemoryStorage::new(bytes), options).unwrap();
    let report = repair.report();
    assert_eq!((report.nchunks, report.damaged_chunks, report.damage.len()), (CHUNKS, CHUNKS, 1000));
    assert!(report.to_string().contains("20000 of them damaged"));
    assert!(report.to_string().contains("\ndamaged: 19000 more\n"));
}
