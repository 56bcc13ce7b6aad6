//! What is written comes back: every version, checksum, codec, filter and chunk size, from slices,
//! readers and pipes.
#![cfg(feature = "bloscpack")]

use blosc_oxide::bloscpack::{
    self, Bloscpack, BloscpackOptions, BloscpackWriter, Checksum, ItemOrder, MetadataOptions, NpyHeader, Offsets,
    ReadOptions, Version,
};
use blosc_oxide::plugin::Executor;
use blosc_oxide::{Codec, ErrorKind, Filter, Limits, Options, Threads, storage::MemoryStorage};
use std::io::{Read, Write};
use std::sync::Arc;
use testkit::formula::generate;
use testkit::serde_json::json;

fn data(nbytes: usize) -> Vec<u8> {
    let mut data = generate(&json!([
        {"kind": "walk", "n": nbytes / 16 + 1, "w": 8, "seed": 1},
        {"kind": "rand", "nbytes": nbytes / 4, "seed": 2},
        {"kind": "zeros", "nbytes": nbytes},
    ]))
    .unwrap();
    data.truncate(nbytes);
    data
}

fn options() -> BloscpackOptions {
    BloscpackOptions::new(Options::new(8)).with_chunk_size(4096)
}

fn open(bytes: &[u8]) -> Bloscpack<MemoryStorage> {
    Bloscpack::from_storage(MemoryStorage::new(bytes.to_vec())).unwrap()
}

fn content(bytes: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    open(bytes).copy_to(&mut data).unwrap();
    data
}

fn streamed(bytes: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    bloscpack::unpack(bytes, &mut data, &ReadOptions::new()).unwrap();
    data
}

/// A reader that hands out little at a time, as pipes do.
struct Dribble<'a>(&'a [u8]);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = buffer.len().min(1000);
        self.0.read(&mut buffer[..len])
    }
}

/// The same content from a slice, from a reader to a storage, and from a reader to a stream.
fn check_everywhere(data: &[u8], options: &BloscpackOptions, label: &str) {
    let slice = bloscpack::pack_slice(data, options).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert!(content(&slice) == data && streamed(&slice) == data, "{label}: from a slice");

    let mut storage = MemoryStorage::default();
    let summary = bloscpack::pack_to_storage(Dribble(data), &mut storage, options).unwrap();
    let bytes = storage.into_bytes();
    assert_eq!((summary.nbytes, summary.len), (data.len() as u64, bytes.len() as u64), "{label}");
    assert!(content(&bytes) == data && streamed(&bytes) == data, "{label}: from a reader");
    let file = open(&bytes);
    assert_eq!(file.header(), &summary.header, "{label}");
    assert_eq!(file.verify().unwrap().trailing, 0, "{label}");
    assert_ne!(file.offsets().unwrap(), Offsets::Unset, "{label}: a finished file has its offsets");
    assert_ne!(file.offsets().unwrap(), Offsets::Wrong, "{label}");
}

fn check_stream(data: &[u8], options: &BloscpackOptions, label: &str) {
    let mut stream = Vec::new();
    bloscpack::pack(Dribble(data), &mut stream, options).unwrap_or_else(|error| panic!("{label}: {error}"));
    assert!(content(&stream) == data && streamed(&stream) == data, "{label}: a stream");
    assert!(!open(&stream).is_length_known(), "{label}");
}

#[test]
fn every_version_and_checksum_comes_back_with_and_without_offsets() {
    let data = data(20_000);
    for version in [Version::V1, Version::V2, Version::V3] {
        for checksum in Checksum::ALL {
            for offsets in [false, true] {
                let label = format!("version {version}, {checksum}, offsets {offsets}");
                let options = options().with_version(version).with_checksum(checksum).with_offsets(offsets);
                if version == Version::V1 && (offsets || checksum != Checksum::None) {
                    let error = bloscpack::pack_slice(&data, &options).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{label}");
                    continue;
                }
                check_everywhere(&data, &options, &label);
                if !offsets {
                    check_stream(&data, &options, &label);
                }
            }
        }
    }
}

#[test]
fn every_codec_and_filter_of_blosc1_comes_back() {
    let data = data(50_000);
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Snappy, Codec::Zlib, Codec::Zstd] {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle]] {
            for level in [0, 1, 5, 9] {
                let chunk = Options::new(8).with_codec(codec).with_filters(filters.clone()).with_level(level);
                let label = format!("{codec}, {filters:?}, level {level}");
                check_everywhere(&data, &BloscpackOptions::new(chunk).with_chunk_size(16_384), &label);
            }
        }
    }
    let chunk = Options::new(8).with_filters([Filter::Delta]);
    let refused = bloscpack::pack_slice(&data, &BloscpackOptions::new(chunk)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
}

#[test]
fn every_chunk_size_and_length_comes_back() {
    for chunk_size in [1, 7, 16, 4096, 1 << 20, 2_147_483_631] {
        for nbytes in [0, 1, 15, 16, 17, 4095, 4096, 4097] {
            let options = BloscpackOptions::new(Options::new(4)).with_chunk_size(chunk_size);
            let label = format!("{nbytes} bytes in chunks of {chunk_size}");
            check_everywhere(&data(nbytes), &options, &label);
            check_stream(&data(nbytes), &options, &label);
        }
    }
}

#[test]
fn every_typesize_comes_back_in_whole_items() {
    for typesize in [1, 2, 3, 12, 16, 17, 255, 256, 300, 5000] {
        let options = BloscpackOptions::new(Options::new(typesize)).with_chunk_size(4096);
        let data = data(30_001);
        check_everywhere(&data, &options, &format!("typesize {typesize}"));
        let file = open(&bloscpack::pack_slice(&data, &options).unwrap());
        assert_eq!(file.header().chunk_size().unwrap() % typesize, 0);
        assert_eq!(usize::from(file.header().typesize()), if typesize > 255 { 1 } else { typesize });
    }
}

#[test]
fn a_stream_leaves_open_what_it_cannot_know() {
    let mut stream = Vec::new();
    let summary = bloscpack::pack(&data(10_000)[..], &mut stream, &options()).unwrap();
    assert_eq!((summary.nchunks, summary.nbytes, summary.len), (3, 10_000, stream.len() as u64));
    assert_eq!(stream[12..24], [0xff; 12], "last_chunk and nchunks are -1");
    assert_eq!(stream[5], 0, "no offsets");
    let file = open(&stream);
    assert_eq!((file.header().nchunks(), file.header().last_chunk()), (None, None));
    assert_eq!(file.header().chunk_size(), Some(4096));
    assert_eq!((file.nchunks().unwrap(), file.nbytes().unwrap()), (3, 10_000));
}

#[test]
fn a_stream_of_announced_length_says_it() {
    let data = data(10_000);
    let mut stream = Vec::new();
    bloscpack::pack(&data[..], &mut stream, &options().with_nbytes(10_000)).unwrap();
    let file = open(&stream);
    assert_eq!((file.header().nchunks(), file.header().last_chunk()), (Some(3), Some(1808)));
    assert_eq!(content(&stream), data);
    let wrong = bloscpack::pack(&data[..], Vec::new(), &options().with_nbytes(9_999)).unwrap_err();
    assert_eq!(wrong.to_string(), "9999 bytes were announced, 10000 have come");
}

#[test]
fn a_wrong_announcement_does_not_harm_a_storage() {
    let data = data(100_000);
    for announced in [0, 1, 99_999, 1_000_000] {
        for version in [Version::V2, Version::V3] {
            let mut storage = MemoryStorage::default();
            let options = options().with_version(version).with_nbytes(announced);
            bloscpack::pack_to_storage(&data[..], &mut storage, &options).unwrap();
            assert_eq!(content(&storage.to_bytes()), data, "{announced}");
            let file = open(&storage.to_bytes());
            assert_eq!(file.offsets().unwrap(), Offsets::Sane);
            assert_eq!(file.verify().unwrap().trailing, 0);
        }
    }
}

#[test]
fn tables_of_offsets_grow_with_the_data() {
    let data = data(60_000);
    let mut storage = MemoryStorage::default();
    let options = BloscpackOptions::new(Options::new(1)).with_chunk_size(3).with_room(7);
    let summary = bloscpack::pack_to_storage(&data[..], &mut storage, &options).unwrap();
    assert_eq!(summary.nchunks, 20_000);
    assert!(summary.header.max_app_chunks() >= 7);
    let file = open(&storage.to_bytes());
    assert_eq!(file.offsets().unwrap(), Offsets::Sane);
    assert_eq!(file.read_range(59_990..60_000).unwrap(), data[59_990..]);
    assert_eq!(content(&storage.to_bytes()), data);
}

#[test]
fn room_for_appending_is_what_was_asked_for() {
    for (room, expected) in [(None, 30), (Some(0), 0), (Some(5), 5), (Some(1000), 1000)] {
        let mut options = options();
        if let Some(room) = room {
            options = options.with_room(room);
        }
        let file = open(&bloscpack::pack_slice(&data(10_000), &options).unwrap());
        assert_eq!(file.header().max_app_chunks(), expected);
        let positions: Vec<_> = (0..3).map(|index| file.chunk_position(index).unwrap().cast_signed()).collect();
        assert_eq!(file.stored_offsets().unwrap(), positions);
    }
}

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

#[test]
fn any_number_of_threads_writes_and_reads_the_same_bytes() {
    let data = data(3_000_000);
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Zstd] {
        for chunk_size in [10_000, 300_000, 5_000_000] {
            let pack = |threads: Threads| {
                let chunk = Options::new(8).with_codec(codec).with_level(3).with_threads(threads);
                let mut stream = Vec::new();
                bloscpack::pack(&data[..], &mut stream, &BloscpackOptions::new(chunk).with_chunk_size(chunk_size))
                    .unwrap();
                stream
            };
            let alone = pack(Threads::serial());
            for count in [1, 2, 3, 8] {
                let threads = Threads::custom(Arc::new(Exactly(count)));
                assert!(pack(threads.clone()) == alone, "{codec}, chunks of {chunk_size}, {count} threads");
                let mut back = Vec::new();
                let how = ReadOptions::new().with_threads(threads);
                bloscpack::unpack(&alone[..], &mut back, &how).unwrap();
                assert!(back == data);
                let file = Bloscpack::with_options(MemoryStorage::new(alone.clone()), how).unwrap();
                assert!(file.read_range(1..2_999_999).unwrap() == data[1..2_999_999]);
            }
        }
    }
}

#[test]
fn pieces_of_any_length_make_the_same_file() {
    let data = data(300_000);
    let whole = bloscpack::pack_slice(&data, &options()).unwrap();
    for piece in [1, 17, 4096, 5000, 299_999] {
        let mut storage = MemoryStorage::default();
        let options = options().with_nbytes(300_000);
        let mut writer = BloscpackWriter::to_storage(&mut storage, &options).unwrap();
        for part in data.chunks(piece) {
            writer.write_all(part).unwrap();
        }
        writer.finish().unwrap();
        assert!(storage.into_bytes() == whole, "pieces of {piece}");
    }
}

#[test]
fn metadata_comes_back_and_can_be_replaced() {
    let data = data(10_000);
    let long = format!("{{\"name\":\"{}\"}}", "long ".repeat(50));
    for checksum in Checksum::ALL {
        for level in [0, 6] {
            let how = MetadataOptions::new().with_checksum(checksum).with_level(level).with_room(1000);
            let options = options().with_metadata(&long).with_metadata_options(how);
            check_everywhere(&data, &options, "with metadata");
            check_stream(&data, &options, "with metadata");
            let mut storage = MemoryStorage::new(bloscpack::pack_slice(&data, &options).unwrap());
            let before = storage.to_bytes().len();
            bloscpack::replace_metadata(&mut storage, "{ \"new\": \"\u{2603}\" }", Limits::new()).unwrap();
            let file = open(&storage.to_bytes());
            let metadata = file.metadata().unwrap();
            assert_eq!(metadata.text(), "{\"new\":\"\\u2603\"}");
            assert_eq!((metadata.checksum(), metadata.room()), (checksum, 1000));
            assert_eq!(storage.to_bytes().len(), before);
            assert_eq!(content(&storage.to_bytes()), data);
        }
    }
}

#[test]
fn metadata_that_does_not_fit_is_refused_and_changes_nothing() {
    let bytes =
        bloscpack::pack_slice(&data(100), &options().with_metadata("[]").with_metadata_options(room(10))).unwrap();
    let mut storage = MemoryStorage::new(bytes.clone());
    let error = bloscpack::replace_metadata(&mut storage, "[1,2,3,4,5,6]", Limits::new()).unwrap_err();
    assert_eq!(error.to_string(), "metadata: 13 bytes do not fit into the room of 10");
    assert_eq!(storage.to_bytes(), bytes);
    let mut without = MemoryStorage::new(bloscpack::pack_slice(&data(100), &options()).unwrap());
    let error = bloscpack::replace_metadata(&mut without, "[]", Limits::new()).unwrap_err();
    assert_eq!(error.to_string(), "the file has no metadata section; rewrite it with one");
}

fn room(bytes: usize) -> MetadataOptions {
    MetadataOptions::new().with_room(bytes)
}

#[test]
fn metadata_of_a_stream_can_be_replaced_too() {
    let data = data(10_000);
    let mut stream = Vec::new();
    bloscpack::pack(&data[..], &mut stream, &options().with_metadata("{\"a\":1}")).unwrap();
    let mut storage = MemoryStorage::new(stream);
    bloscpack::replace_metadata(&mut storage, "{\"a\":2}", Limits::new()).unwrap();
    let file = open(&storage.to_bytes());
    assert_eq!(file.metadata().unwrap().text(), "{\"a\":2}");
    assert_eq!((file.header().nchunks(), file.header().last_chunk()), (Some(3), Some(1808)));
    assert_eq!(content(&storage.to_bytes()), data);
}

#[test]
fn a_writer_that_was_left_is_recognisably_unfinished() {
    let data = data(10_000);
    for known in [false, true] {
        for offsets in [false, true] {
            let mut storage = MemoryStorage::default();
            let options = options().with_offsets(offsets).with_nbytes(known.then_some(10_000));
            let mut writer = BloscpackWriter::to_storage(&mut storage, &options).unwrap();
            // More than is worked on at once, so that something has been written.
            for _ in 0..100 {
                writer.push(&data).unwrap();
            }
            drop(writer);
            let file = Bloscpack::from_storage(storage).unwrap();
            let state = file.offsets().unwrap();
            assert_eq!(state, if offsets { Offsets::Unset } else { Offsets::Absent });
            assert_eq!(file.is_length_known(), known);
        }
    }
}

#[test]
fn after_a_failed_write_a_writer_is_poisoned() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let noise = generate(&json!({"kind": "rand", "nbytes": 40_000_000, "seed": 1})).unwrap();
    let mut writer = BloscpackWriter::to_stream(Full, &options()).unwrap();
    assert_eq!(writer.push(&noise).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(writer.push(&noise).unwrap_err().kind(), ErrorKind::Poisoned);
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Poisoned);
}

#[test]
fn limits_hold_for_chunks_ranges_and_metadata() {
    let options = options().with_metadata(format!("\"{}\"", "x".repeat(3000)));
    let bytes = bloscpack::pack_slice(&data(50_000), &options).unwrap();
    let with_limit = |limit: usize| {
        let how = ReadOptions::new().with_limits(Limits::new().with_max_allocation(limit));
        Bloscpack::with_options(MemoryStorage::new(bytes.clone()), how)
    };
    assert_eq!(with_limit(3000).unwrap_err().kind(), ErrorKind::LimitExceeded);
    let file = with_limit(4095).unwrap();
    assert_eq!(file.chunk(0).unwrap_err().kind(), ErrorKind::LimitExceeded);
    let file = with_limit(5000).unwrap();
    assert_eq!(file.chunk(0).unwrap().len(), 4096);
    assert_eq!(file.read_range(0..5001).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(file.copy_to(std::io::sink()).unwrap(), 50_000);
}

#[test]
fn lists_of_chunks_are_bounded_too() {
    let bytes =
        bloscpack::pack_slice(&data(20_000), &BloscpackOptions::new(Options::new(1)).with_chunk_size(1)).unwrap();
    let how = ReadOptions::new().with_limits(Limits::new().with_max_allocation(50_000));
    let file = Bloscpack::with_options(MemoryStorage::new(bytes.clone()), how.clone()).unwrap();
    assert_eq!(file.stored_offsets().unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(file.read_range(19_999..20_000).unwrap().len(), 1, "offsets are read one by one");
    let mut without_offsets = MemoryStorage::default();
    bloscpack::rewrite(&file, &mut without_offsets, &options().with_offsets(false)).unwrap();
    let file = Bloscpack::with_options(without_offsets, how).unwrap();
    assert_eq!(file.read_range(19_999..20_000).unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn an_open_file_can_be_shared_between_threads() {
    let data = data(100_000);
    let file = open(&bloscpack::pack_slice(&data, &options()).unwrap());
    std::thread::scope(|scope| {
        for start in 0..8 {
            let (file, data) = (&file, &data);
            scope.spawn(move || {
                for at in (start * 1000..90_000).step_by(7777) {
                    assert!(file.read_range(at as u64..at as u64 + 5000).unwrap() == data[at..at + 5000]);
                }
            });
        }
    });
}

/// An .npy file as NumPy itself writes it.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend(data);
    npy
}

#[test]
fn npy_files_come_back_with_their_shape() {
    for (descr, shape, fortran) in [
        ("'<f8'", "(50, 25)", false),
        ("'>i4'", "(10, 10, 25)", true),
        ("'|b1'", "(10000,)", false),
        ("'<M8[ns]'", "()", false),
        ("'<U5'", "(0, 4)", false),
        ("[('a', '<i4'), ('b', '<f8'), ('c', '|S3')]", "(600,)", false),
        ("[('m', '<f8', (40, 5))]", "(7,)", false),
    ] {
        let order = if fortran { "True" } else { "False" };
        let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
        let header = format!("{header:<117}\n");
        let array = NpyHeader::read_npy_header(&mut &npy(&header, &[])[..]).unwrap();
        let data = data(usize::try_from(array.nbytes()).unwrap());
        let original = npy(&header, &data);

        let mut storage = MemoryStorage::default();
        bloscpack::pack_npy(&original[..], &mut storage, &options()).unwrap();
        let file = open(&storage.to_bytes());
        assert_eq!(file.numpy().unwrap().unwrap(), array);
        assert_eq!(array.order() == ItemOrder::Fortran, fortran);
        let mut back = Vec::new();
        file.copy_to_npy(&mut back).unwrap();
        assert_eq!(back, original, "{descr} {shape}");

        let (mut stream, mut back) = (Vec::new(), Vec::new());
        bloscpack::pack_npy_to_stream(&original[..], &mut stream, &options()).unwrap();
        bloscpack::unpack_npy(&stream[..], &mut back, &ReadOptions::new()).unwrap();
        assert_eq!(back, original, "{descr} {shape} as streams");
    }
}

#[test]
fn npy_files_that_are_cut_off_are_refused() {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }\n";
    let whole = npy(header, &data(96));
    for len in 0..whole.len() {
        let result = bloscpack::pack_npy(&whole[..len], &mut MemoryStorage::default(), &options());
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Truncated, "{len}");
    }
    let plain = bloscpack::pack_slice(&data(96), &options()).unwrap();
    let error = open(&plain).copy_to_npy(std::io::sink()).unwrap_err();
    assert_eq!(error.to_string(), "the file holds no NumPy array: its metadata does not describe one");
    let short = NpyHeader::new("<f8", [13], ItemOrder::C).unwrap().to_json();
    let packed = bloscpack::pack_slice(&data(96), &options().with_metadata(short)).unwrap();
    let error = open(&packed).copy_to_npy(std::io::sink()).unwrap_err();
    assert_eq!(error.to_string(), "the file holds 96 bytes, the array in its metadata has 104");
}

#[test]
fn files_on_disk_come_back() {
    let path = std::env::temp_dir().join(format!("blosc-oxide-roundtrip-{}.blp", std::process::id()));
    let data = data(100_000);
    bloscpack::pack_to_file(&data[..], &path, &options()).unwrap();
    let file = Bloscpack::open(&path).unwrap();
    assert_eq!(file.read_range(0..100_000).unwrap(), data);
    std::fs::remove_file(&path).unwrap();
    let error = Bloscpack::open(&path).unwrap_err();
    assert!(error.to_string().contains("roundtrip"), "{error}");
}

/// A writer of a stream does not know sizes when it starts, and may have had nothing to write.
#[test]
fn a_file_that_knows_no_size_and_has_no_chunk_is_empty() {
    let unknown = [0xff; 16];
    let headers = [
        [&b"blpk\x01\0\0\0"[..], &unknown[..8]].concat(),
        [&b"blpk\x02\0\0\x08"[..], &unknown, &[0; 8]].concat(),
        [&b"blpk\x03\0\0\x08"[..], &unknown, &[0; 8]].concat(),
        [&b"blpk\x03\0\0\x08"[..], &unknown, &unknown[..8]].concat(),
    ];
    for bytes in headers {
        let file = Bloscpack::from_storage(&bytes[..]).unwrap();
        assert_eq!((file.nchunks().unwrap(), file.nbytes().unwrap()), (0, 0), "{bytes:02x?}");
        let mut out = Vec::new();
        assert_eq!(file.copy_to(&mut out).unwrap(), 0);
        assert!(file.verify().is_ok());
    }
    let with_a_size = [&b"blpk\x03\0\0\x08\x10\0\0\0"[..], &[0xff; 12], &[0; 8]].concat();
    assert!(Bloscpack::from_storage(&with_a_size[..]).and_then(|file| file.nbytes()).is_err());
}
