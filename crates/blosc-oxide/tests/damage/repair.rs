//! What is left of a damaged frame is found again, and what cannot be known is told.

use blosc_oxide::{
    Codec, ErrorKind, Frame, FrameEdit, FrameOptions, Limits, Options, Special, SuperChunk, Threads, fill_chunk,
    legacy::EarlyFrame,
    repair::{Repair, RepairUnknown, RepairedBy},
    special_chunk,
    storage::{Directory as _, Durability, MemoryDirectory, MemoryStorage},
};
use std::time::{Duration, Instant};
use testkit::Rng;
use testkit::golden::Golden;
use testkit::mutate::{prefixes, random_bytes};

fn options() -> FrameOptions {
    FrameOptions::new(Options::new(4).with_codec(Codec::Lz4).with_threads(Threads::serial()))
        .with_durability(Durability::None)
}

/// A buffer that differs from all others.
fn buffer(number: u32) -> Vec<u8> {
    (0..500_u32).flat_map(|i| (i * (number + 1) % 1000).to_le_bytes()).collect()
}

/// A frame on a storage that can be looked at.
struct Case {
    frame: FrameEdit,
    directory: MemoryDirectory,
}

impl Case {
    fn new(options: FrameOptions) -> Self {
        let directory = MemoryDirectory::new();
        let mut frame = Frame::create(directory.create("frame").unwrap(), options).unwrap();
        frame.checkpoint().unwrap();
        Self { frame, directory }
    }

    fn bytes(&mut self) -> Vec<u8> {
        self.frame.checkpoint().unwrap();
        let storage = self.directory.open("frame").unwrap();
        let mut bytes = vec![0; usize::try_from(storage.len().unwrap()).unwrap()];
        storage.read_at(0, &mut bytes).unwrap();
        bytes
    }
}

/// Ten chunks in two commits, with metalayers of both kinds.
fn example(options: FrameOptions) -> Case {
    let mut case = Case::new(options.with_metalayer("unit", "kelvin"));
    for number in 0..6 {
        case.frame.append(&buffer(number)).unwrap();
    }
    case.frame.vlmetalayers_mut().add("note", b"first").unwrap();
    case.frame.checkpoint().unwrap();
    for number in 6..10 {
        case.frame.append(&buffer(number)).unwrap();
    }
    case.frame.vlmetalayers_mut().update("note", b"second").unwrap();
    case
}

fn repair(bytes: &[u8]) -> Repair {
    Frame::repair(MemoryStorage::new(bytes.to_vec()), options()).unwrap()
}

fn repaired(repair: &Repair) -> SuperChunk {
    let mut sc = SuperChunk::new(repair.options()).unwrap();
    repair.write_to(&mut sc).unwrap();
    sc
}

fn chunks(sc: &SuperChunk) -> Vec<Vec<u8>> {
    sc.chunks().map(Result::unwrap).collect()
}

fn buffers(numbers: impl IntoIterator<Item = u32>) -> Vec<Vec<u8>> {
    numbers.into_iter().map(buffer).collect()
}

/// Where header, chunks and index of a frame without dead bytes are.
fn section(bytes: &[u8]) -> (usize, usize) {
    let header_len = u32::from_be_bytes(bytes[11..15].try_into().unwrap());
    let section_len = u64::from_be_bytes(bytes[39..47].try_into().unwrap());
    let start = usize::try_from(header_len).unwrap();
    (start, start + usize::try_from(section_len).unwrap())
}

#[test]
fn a_frame_without_damage_is_whole() {
    for checksums in [true, false] {
        let bytes = example(options().with_checksums(checksums)).bytes();
        let repair = repair(&bytes);
        let report = repair.report();
        assert!(report.is_whole(), "{report}");
        assert_eq!((report.by, report.nchunks), (RepairedBy::Header, 10));
        assert_eq!(report.checksums, if checksums { 10 } else { 0 });
        assert!(report.loose.is_empty(), "{report}");
        let sc = repaired(&repair);
        assert!(chunks(&sc) == buffers(0..10));
        assert_eq!(sc.metalayers().get("unit"), Some(&b"kelvin"[..]));
        assert_eq!(sc.vlmetalayers().get("note").unwrap().unwrap(), b"second");
        assert_eq!((sc.codec(), sc.typesize(), sc.chunksize()), (Codec::Lz4, 4, Some(2000)));
    }
}

/// A copy of the header is behind the frame.
#[test]
fn a_frame_without_its_header_is_found_by_the_copy() {
    let mut bytes = example(options()).bytes();
    bytes[..80].fill(0xaa);
    let repair = repair(&bytes);
    assert!(repair.report().by <= RepairedBy::HeaderCopy, "{}", repair.report());
    assert!(repair.report().is_whole(), "{}", repair.report());
    let sc = repaired(&repair);
    assert!(chunks(&sc) == buffers(0..10));
    assert_eq!(sc.metalayers().get("unit"), Some(&b"kelvin"[..]));
}

#[test]
fn a_frame_of_others_without_its_header_is_found_by_its_index() {
    for checksums in [true, false] {
        let mut case = example(options().with_checksums(checksums));
        // What other programs leave: no copy of the header.
        let mut bytes = case.frame.checkpoint().unwrap().to_bytes().unwrap();
        case.frame.compact().unwrap();
        let mut compacted = case.frame.checkpoint().unwrap().to_bytes().unwrap();
        for bytes in [&mut bytes, &mut compacted] {
            let header_len = section(bytes).0;
            for lost in [80, header_len] {
                bytes[..lost].fill(0);
                let repair = repair(bytes);
                let report = repair.report();
                if report.by == RepairedBy::HeaderCopy {
                    // The copy of the first commit is still there.
                    assert_eq!(report.nchunks, 6);
                    continue;
                }
                assert_eq!((report.by, report.nchunks), (RepairedBy::Index, 10), "{report}");
                assert_eq!(report.checksums, if checksums { 10 } else { 0 });
                assert!(report.unknown.contains(&RepairUnknown::Options), "{report}");
                assert_eq!(report.unknown.contains(&RepairUnknown::Metalayers), lost == header_len, "{report}");
                let sc = repaired(&repair);
                assert!(chunks(&sc) == buffers(0..10));
                assert_eq!(sc.vlmetalayers().get("note").unwrap().unwrap(), b"second");
                assert_eq!((sc.codec(), sc.typesize()), (Codec::Lz4, 4));
                assert_eq!(sc.metalayers().is_empty(), lost == header_len);
            }
        }
    }
}

#[test]
fn an_older_index_wins_over_none() {
    let bytes = example(options()).bytes();
    let (_, index_at) = section(&bytes);
    let frame_len = usize::try_from(u64::from_be_bytes(bytes[16..24].try_into().unwrap())).unwrap();
    for lost in [index_at..index_at + 40, index_at..frame_len, frame_len - 10..frame_len, index_at..bytes.len()] {
        let mut bytes = bytes.clone();
        bytes[lost.clone()].fill(0xee);
        assert!(Frame::open(bytes.clone()).is_err());
        let repair = repair(&bytes);
        let report = repair.report();
        if report.nchunks == 10 {
            // Only the fingerprint is damaged.
            assert_eq!(lost.len(), 10, "{report}");
            continue;
        }
        assert_eq!((report.by, report.nchunks), (RepairedBy::HeaderCopy, 6), "{lost:?}: {report}");
        assert_eq!(report.unknown, [RepairUnknown::IsNewest], "{report}");
        let uncommitted: Vec<_> = report.loose.iter().filter(|chunk| chunk.is_uncommitted).collect();
        let data: Vec<_> = uncommitted.iter().map(|chunk| repair.decompress_loose(chunk).unwrap()).collect();
        assert!(data[..4] == buffers(6..10)[..], "{report}");
        let sc = repaired(&repair);
        assert!(chunks(&sc) == buffers(0..6));
        assert_eq!(sc.vlmetalayers().get("note").unwrap().unwrap(), b"first");
    }
}

#[test]
fn chunks_are_found_without_any_index() {
    let mut case = Case::new(options().with_checksums(false).with_metalayer("unit", "kelvin"));
    case.frame.extend(&buffers(0..8).concat(), 2000).unwrap();
    case.frame.append(&buffer(8)[..400]).unwrap();
    case.frame.vlmetalayers_mut().add("note", b"lost").unwrap();
    let bytes = case.frame.checkpoint().unwrap().to_bytes().unwrap();
    let (header_len, index_at) = section(&bytes);
    let expected = [buffers(0..8), vec![buffer(8)[..400].to_vec()]].concat();
    for has_header in [true, false] {
        let mut bytes = bytes[..index_at].to_vec();
        if !has_header {
            bytes[..header_len].fill(0);
        }
        let repair = repair(&bytes);
        let report = repair.report();
        assert_eq!((report.by, report.nchunks), (RepairedBy::Chunks, 9), "{report}");
        for unknown in [RepairUnknown::Order, RepairUnknown::Deleted, RepairUnknown::SpecialChunks] {
            assert!(report.unknown.contains(&unknown), "{report}");
        }
        assert_eq!(report.unknown.contains(&RepairUnknown::Options), !has_header, "{report}");
        let sc = repaired(&repair);
        assert!(chunks(&sc) == expected);
        assert_eq!(sc.metalayers().get("unit").is_some(), has_header);
    }
}

/// A piece of the middle overwritten: the chunks in it are damaged, and hold zeros; all others are
/// as they were.
#[test]
fn damaged_chunks_are_named_and_hold_zeros() {
    for checksums in [true, false] {
        let bytes = example(options().with_checksums(checksums)).bytes();
        let (header_len, _) = section(&bytes);
        let mut rng = Rng::new(5);
        for lost in [10, 100, 700] {
            let at = header_len + 50 + rng.below(700);
            let mut bytes = bytes.clone();
            bytes[at..at + lost].fill_with(|| rng.byte());
            let repair = repair(&bytes);
            let report = repair.report();
            assert_eq!((report.by, report.nchunks), (RepairedBy::Header, 10), "{report}");
            let sc = repaired(&repair);
            let damaged: Vec<usize> = report.damage.iter().map(|damage| damage.chunk.unwrap()).collect();
            assert!(!checksums || !damaged.is_empty());
            for (index, chunk) in chunks(&sc).into_iter().enumerate() {
                if damaged.contains(&index) {
                    assert_eq!(chunk, vec![0; 2000]);
                } else if checksums {
                    assert!(chunk == buffer(u32::try_from(index).unwrap()), "chunk {index}");
                }
            }
            assert_eq!(sc.nbytes(), 20_000);
        }
    }
}

#[test]
fn chunks_around_damage_are_found_without_index_and_header() {
    let mut case = Case::new(options().with_checksums(false));
    case.frame.extend(&buffers(0..10).concat(), 2000).unwrap();
    let bytes = case.frame.checkpoint().unwrap().to_bytes().unwrap();
    let (header_len, index_at) = section(&bytes);
    let start_of = |index: usize| {
        let chunk = case.frame.chunk(index).unwrap();
        bytes.windows(chunk.len()).position(|window| window == chunk).unwrap()
    };
    let starts: Vec<usize> = (0..10).map(start_of).collect();
    let mut bytes = bytes[..index_at].to_vec();
    bytes[..header_len].fill(0);
    // Two headers of chunks gone, and the rest of one.
    bytes[starts[3]..starts[3] + 32].fill(0xff);
    bytes[starts[6]..starts[6] + 20].fill(0);
    bytes[starts[8] + 40..starts[9]].fill(0x55);
    let repair = repair(&bytes);
    let report = repair.report();
    let found = chunks(&repaired(&repair));
    let expected: Vec<Vec<u8>> = [0, 1, 2, 4, 5, 7].into_iter().map(buffer).collect();
    assert!(found[..6] == expected[..], "{report}");
    assert!(found.last() == Some(&buffer(9)), "{report}");
    assert!(report.unrecognised > 0);
}

#[test]
fn every_truncation_gives_the_chunks_that_are_left() {
    let bytes = example(options()).bytes();
    let mut most = 0;
    for prefix in prefixes(&bytes) {
        let repair = repair(prefix);
        let mut found = chunks(&repaired(&repair));
        // The header tells how many there were: those that nothing is left of are zeros, and are
        // named.
        let lost = found.split_off(found.len() - repair.report().damaged_chunks);
        assert!(lost.iter().all(|chunk| *chunk == [0; 2000]), "{} bytes", prefix.len());
        for (index, chunk) in found.iter().enumerate() {
            assert!(*chunk == buffer(u32::try_from(index).unwrap()), "{} bytes, chunk {index}", prefix.len());
        }
        let loose = repair.report().loose.iter().filter(|chunk| chunk.nbytes == 2000).count();
        assert!(found.len() + loose >= most, "{} bytes: {}", prefix.len(), repair.report());
        most = found.len() + loose;
    }
    assert_eq!(most, 10);
}

#[test]
fn special_chunks_and_other_sizes_come_back() {
    let mut case = Case::new(options());
    case.frame.append(&buffer(0)).unwrap();
    case.frame.fill(Special::Zeros, 4000, 2000).unwrap();
    case.frame.fill(Special::NaN, 2000, 2000).unwrap();
    case.frame.append(&buffer(1)).unwrap();
    case.frame.fill(Special::Uninit, 400, 400).unwrap();
    let expected = chunks(&case.frame);
    let mut bytes = case.bytes();
    bytes[..80].fill(0);
    let by_copy = repair(&bytes);
    assert!(by_copy.report().by <= RepairedBy::HeaderCopy);
    assert!(chunks(&repaired(&by_copy)) == expected);
    let mut bytes = case.frame.checkpoint().unwrap().to_bytes().unwrap();
    let header_len = section(&bytes).0;
    bytes[..header_len].fill(0);
    let by_index = repair(&bytes);
    let report = by_index.report();
    assert_eq!((report.by, report.nchunks), (RepairedBy::Index, 6), "{report}");
    assert!(report.unknown.contains(&RepairUnknown::LastLength), "{report}");
    let found = chunks(&repaired(&by_index));
    assert!(found[..5] == expected[..5]);
    assert_eq!(found[5], vec![0; 2000]);

    let mut case = Case::new(options());
    let sizes = [400, 2000, 40, 1200];
    for (number, size) in (0..).zip(sizes) {
        case.frame.append(&buffer(number)[..size]).unwrap();
    }
    let mut bytes = case.frame.checkpoint().unwrap().to_bytes().unwrap();
    let header_len = section(&bytes).0;
    bytes[..header_len].fill(0);
    let found = chunks(&repaired(&repair(&bytes)));
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), sizes);
}

#[test]
fn variable_length_blocks_come_back() {
    let mut case = Case::new(options());
    for number in 0..5 {
        let blocks: Vec<Vec<u8>> = (0..4).map(|block| buffer(number)[..100 + 30 * block].to_vec()).collect();
        case.frame.append_vlblocks(&blocks.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    }
    let expected = chunks(&case.frame);
    let mut bytes = case.frame.checkpoint().unwrap().to_bytes().unwrap();
    let header_len = section(&bytes).0;
    bytes[..header_len].fill(0);
    let repair = repair(&bytes);
    let sc = repaired(&repair);
    assert!(sc.has_vlblocks());
    assert!(chunks(&sc) == expected, "{}", repair.report());
}

/// Data of 8-byte items looks more like an index than other data does.
#[test]
fn data_is_not_taken_for_an_index() {
    let wide = FrameOptions::new(Options::new(8).with_threads(Threads::serial())).with_durability(Durability::None);
    let mut case = Case::new(wide.with_checksums(false));
    for number in 0..20_u64 {
        let data: Vec<u8> = (0..50).flat_map(|i| (i * number).to_le_bytes()).collect();
        case.frame.append(&data).unwrap();
    }
    let expected = chunks(&case.frame);
    let bytes = case.frame.checkpoint().unwrap().to_bytes().unwrap();
    let (header_len, index_at) = section(&bytes);
    let mut headless = bytes.clone();
    headless[..header_len].fill(0);
    let found = repair(&headless);
    assert_eq!((found.report().by, found.report().nchunks), (RepairedBy::Index, 20), "{}", found.report());
    assert!(chunks(&repaired(&found)) == expected);
    let found = repair(&headless[..index_at]);
    assert_eq!(found.report().by, RepairedBy::Chunks, "{}", found.report());
    // The first chunk is of zeros, which are not stored.
    assert!(chunks(&repaired(&found)) == expected[1..]);
}

#[test]
fn early_frames_are_repaired() {
    let mut sc = SuperChunk::new(Options::new(4).with_codec(Codec::Zlib).with_threads(Threads::serial())).unwrap();
    sc.extend(&buffers(0..6).concat(), 2000).unwrap();
    for format in [EarlyFrame::Beta1, EarlyFrame::Beta5] {
        let mut bytes = Vec::new();
        sc.write_early(format, std::io::Cursor::new(&mut bytes)).unwrap();
        assert!(repair(&bytes).report().is_whole(), "{format:?}");
        bytes[..50].fill(0);
        let found = repair(&bytes);
        assert_eq!(
            (found.report().by, found.report().nchunks),
            (RepairedBy::Index, 6),
            "{format:?}: {}",
            found.report()
        );
        assert!(chunks(&repaired(&found)) == buffers(0..6), "{format:?}");
    }
}

/// A sparse frame with eight chunks in a directory.
fn sparse() -> MemoryDirectory {
    let directory = MemoryDirectory::new();
    let mut frame = Frame::create(directory.clone(), options()).unwrap();
    for number in 0..8 {
        frame.append(&buffer(number)).unwrap();
    }
    frame.reorder(&[0, 1, 3, 2, 4, 5, 6, 7]).unwrap();
    frame.vlmetalayers_mut().add("note", b"sparse").unwrap();
    frame.commit().unwrap();
    directory
}

fn overwrite(directory: &MemoryDirectory, name: &str, range: std::ops::Range<usize>) {
    directory.open_writable(name).unwrap().write_at(range.start as u64, &vec![0x77; range.len()]).unwrap();
}

#[test]
fn sparse_frames_are_repaired() {
    let order = [0, 1, 3, 2, 4, 5, 6, 7];
    let directory = sparse();
    let whole = Frame::repair_directory(directory.clone(), options()).unwrap();
    assert!(whole.report().is_whole(), "{}", whole.report());
    assert!(chunks(&repaired(&whole)) == buffers(order));

    overwrite(&directory, "00000004.chunk", 40..90);
    let removed = directory.clone();
    removed.remove("00000001.chunk").unwrap();
    let damaged = Frame::repair_directory(directory.clone(), options()).unwrap();
    let names: Vec<_> = damaged.report().damage.iter().map(|damage| damage.chunk).collect();
    assert_eq!(names, [Some(1), Some(4)], "{}", damaged.report());
    assert_eq!(repaired(&damaged).nbytes(), 16_000);

    let directory = sparse();
    overwrite(&directory, "chunks.b2frame", 0..90);
    let headless = Frame::repair_directory(directory.clone(), options()).unwrap();
    assert_eq!((headless.report().by, headless.report().nchunks), (RepairedBy::Index, 8), "{}", headless.report());
    assert!(chunks(&repaired(&headless)) == buffers(order));
    let without = directory;
    without.remove("chunks.b2frame").unwrap();
    let alone = Frame::repair_directory(without, options()).unwrap();
    assert_eq!((alone.report().by, alone.report().nchunks), (RepairedBy::Chunks, 8), "{}", alone.report());
    assert!(chunks(&repaired(&alone)) == buffers(0..8));
    assert!(alone.report().unknown.contains(&RepairUnknown::Order));
}

#[test]
fn golden_frames_without_headers_are_repaired() {
    let mut entries = Golden::repository().entries("blosc2");
    entries.retain(|entry| entry.kind == "cframe");
    let mut by_index = 0;
    for entry in &entries {
        let bytes = entry.read();
        let original = chunks(&Frame::open(bytes.clone()).unwrap());
        let whole = repair(&bytes);
        assert!(whole.report().is_whole(), "{}: {}", entry.file, whole.report());
        assert!(chunks(&repaired(&whole)) == original, "{}", entry.file);
        let mut headless = bytes.clone();
        headless[..87].fill(0);
        let found = repair(&headless);
        if found.report().by == RepairedBy::Index && !found.report().unknown.contains(&RepairUnknown::LastLength) {
            assert!(chunks(&repaired(&found)) == original, "{}: {}", entry.file, found.report());
            by_index += 1;
        }
    }
    assert!(by_index >= 18, "only {by_index} of {} frames had an index that was found", entries.len());
}

#[test]
fn damage_of_any_kind_gives_a_report_in_time() {
    let bytes = example(options()).bytes();
    let mut rng = Rng::new(9);
    let noise: Vec<u8> = (0..200_000).map(|_| rng.byte()).collect();
    // Headers of chunks in headers of chunks, each of which claims the rest.
    let nested: Vec<u8> = bytes[section(&bytes).0..][..32].repeat(3000);
    for case in [&noise[..], &nested, &[], &[0; 100_000], &[0x94, 1, 0x93, 0xcd].repeat(30_000)] {
        let start = Instant::now();
        let repair = repair(case);
        repaired(&repair);
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}: {}", start.elapsed(), repair.report());
    }
    for mutant in random_bytes(&bytes, 300, 11) {
        let repair = repair(&mutant.bytes);
        repaired(&repair);
        assert!(!repair.report().to_string().is_empty());
    }
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let error = Frame::repair_path("/not/there", options()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}

/// A frame in which every one of `count` entries names the same chunk.
fn copies_of_one_chunk(count: usize) -> Vec<u8> {
    const TRAILER_LEN_FROM_END: usize = 22;
    let (nbytes, options) = (500, options().with_checksums(false));
    let mut case = Case::new(options.clone());
    case.frame.fill(Special::Zeros, (count * nbytes) as u64, nbytes).unwrap();
    let bytes = case.frame.checkpoint().unwrap().to_bytes().unwrap();
    let u32_at = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let (header_len, trailer_len) = (u32_at(11), u32_at(bytes.len() - TRAILER_LEN_FROM_END));
    let chunk = fill_chunk(b"same", nbytes, &Options::new(4)).unwrap();
    // All offsets are zero.
    let index = special_chunk(Special::Zeros, 8 * count, &Options::new(8)).unwrap();
    let (mut header, trailer) = (bytes[..header_len].to_vec(), &bytes[bytes.len() - trailer_len..]);
    let frame_len = (header_len + chunk.len() + index.len() + trailer_len) as u64;
    header[16..24].copy_from_slice(&frame_len.to_be_bytes());
    header[39..47].copy_from_slice(&(chunk.len() as u64).to_be_bytes());
    let mut trailer = trailer.to_vec();
    // No fingerprint.
    let end = trailer.len();
    trailer[end - 17..].fill(0);
    [&header[..], &chunk, &index, &trailer].concat()
}

#[test]
fn copies_of_a_chunk_are_held_to_the_limits() {
    const COUNT: usize = 100_000;
    let bytes = copies_of_one_chunk(COUNT);
    let repaired = |limits: Limits| {
        let repair = Frame::repair(MemoryStorage::new(bytes.clone()), options().with_limits(limits)).unwrap();
        let mut target = Frame::create(MemoryStorage::default(), repair.frame_options()).unwrap();
        repair.write_to(&mut target).map(|()| target)
    };
    let error = repaired(Limits::new().with_max_allocation(1 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.to_string().contains("the list of copies of a chunk asks for"), "{error}");
    let whole = repaired(Limits::new()).unwrap();
    assert_eq!((whole.nchunks(), whole.decompress(COUNT - 1).unwrap()), (COUNT, b"same".repeat(125)));
}
