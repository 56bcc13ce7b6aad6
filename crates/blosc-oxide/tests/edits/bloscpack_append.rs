//! Data appended to files: of every version, with and without offsets, of one's own and of others.
#![cfg(feature = "bloscpack")]

use blosc_oxide::bloscpack::{
    self, AppendOptions, Bloscpack, BloscpackOptions, Checksum, Offsets, ReadOptions, Recovery, Summary, Version,
};
use blosc_oxide::{Codec, ErrorKind, Limits, Options, storage::MemoryStorage};
use std::path::{Path, PathBuf};
use testkit::formula::generate;
use testkit::golden::Golden;
use testkit::serde_json::json;

fn data(nbytes: usize, seed: u64) -> Vec<u8> {
    let mut data = generate(&json!({"kind": "walk", "n": nbytes / 8 + 1, "w": 8, "seed": seed})).unwrap();
    data.truncate(nbytes);
    data
}

fn options() -> BloscpackOptions {
    BloscpackOptions::new(Options::new(8)).with_chunk_size(4096)
}

fn packed(data: &[u8], options: &BloscpackOptions) -> MemoryStorage {
    MemoryStorage::new(bloscpack::pack_slice(data, options).unwrap())
}

fn streamed(data: &[u8], options: &BloscpackOptions) -> MemoryStorage {
    let mut stream = Vec::new();
    bloscpack::pack(data, &mut stream, options).unwrap();
    MemoryStorage::new(stream)
}

fn append(storage: &mut MemoryStorage, data: &[u8]) -> Summary {
    bloscpack::append(storage, data, &AppendOptions::new()).unwrap()
}

/// The file holds `expected`, by offsets, by walking and as a stream, and nothing else.
fn check(storage: &MemoryStorage, expected: &[u8], label: &str) -> Bloscpack<MemoryStorage> {
    let file = Bloscpack::from_storage(storage.clone()).unwrap_or_else(|error| panic!("{label}: {error}"));
    let verified = file.verify().unwrap_or_else(|error| panic!("{label}: {error}"));
    assert_eq!((verified.nbytes, verified.trailing), (expected.len() as u64, 0), "{label}");
    assert!(file.read_range(0..expected.len() as u64).unwrap() == expected, "{label}");
    assert!(!file.has_journal(), "{label}");
    let has_table = file.header().has_offsets();
    assert_eq!(verified.offsets, if has_table { Offsets::Sane } else { Offsets::Absent }, "{label}");
    let mut walked = Vec::new();
    bloscpack::unpack(&storage.to_bytes()[..], &mut walked, &ReadOptions::new()).unwrap();
    assert!(walked == expected, "{label}: as a stream");
    file
}

#[test]
fn any_length_is_appended_to_any_length() {
    for first in [0, 1, 4000, 4096, 4097, 8192, 10_000] {
        for second in [1, 95, 96, 97, 4096, 20_000] {
            let label = format!("{second} bytes to {first}");
            let (old, new) = (data(first, 1), data(second, 2));
            let mut storage = packed(&old, &options());
            let summary = append(&mut storage, &new);
            let file = check(&storage, &[old, new].concat(), &label);
            assert_eq!((summary.nbytes, summary.len), (first as u64 + second as u64, storage.to_bytes().len() as u64));
            assert_eq!(&summary.header, file.header(), "{label}");
            assert_eq!(summary.nchunks, file.nchunks().unwrap(), "{label}");
        }
    }
}

#[test]
fn appending_is_the_same_as_writing_at_once() {
    let (old, new) = (data(10_000, 1), data(20_000, 2));
    let mut storage = packed(&old, &options().with_room(20));
    append(&mut storage, &new);
    // 3 chunks and 20, of which 5 are taken; the file written at once gets as many.
    let at_once = packed(&[old, new].concat(), &options().with_room(15));
    assert!(storage.to_bytes() == at_once.to_bytes());
}

#[test]
fn every_version_checksum_and_kind_of_file_is_appended_to() {
    let (old, new) = (data(10_000, 1), data(9_000, 2));
    let expected = [old.clone(), new.clone()].concat();
    for version in [Version::V1, Version::V2, Version::V3] {
        for checksum in Checksum::ALL {
            if version == Version::V1 && checksum != Checksum::None {
                continue;
            }
            let label = format!("version {version}, {checksum}");
            let options = options().with_version(version).with_checksum(checksum);
            let mut without_offsets = packed(&old, &options.clone().with_offsets(false));
            append(&mut without_offsets, &new);
            check(&without_offsets, &expected, &format!("{label}, no offsets"));
            let mut stream = streamed(&old, &options);
            append(&mut stream, &new);
            let file = check(&stream, &expected, &format!("{label}, a stream"));
            assert!(file.is_length_known(), "{label}");
            if version == Version::V3 {
                let mut with_offsets = packed(&old, &options);
                append(&mut with_offsets, &new);
                check(&with_offsets, &expected, &label);
            }
        }
    }
}

#[test]
fn many_appends_with_other_codecs_add_up() {
    let mut expected = data(5_000, 1);
    let mut storage = packed(&expected, &options().with_room(50).with_checksum(Checksum::Sha256));
    let codecs = [Codec::Lz4, Codec::Zstd, Codec::Zlib, Codec::Lz4Hc, Codec::BloscLz, Codec::Snappy];
    for (round, codec) in codecs.into_iter().cycle().take(18).enumerate() {
        let new = data(1 + 531 * round, round as u64);
        let how = AppendOptions::new().with_chunk(Options::new(4).with_codec(codec).with_level(9));
        bloscpack::append(&mut storage, &new[..], &how).unwrap();
        expected.extend(new);
        check(&storage, &expected, &format!("round {round}"));
    }
}

#[test]
fn a_last_chunk_that_shrinks_leaves_nothing_behind() {
    // Stored as it is at first, compressed well when it is filled up: the file gets shorter.
    let old = vec![7; 10_000];
    let mut storage = packed(&old, &BloscpackOptions::new(Options::new(8).with_level(0)).with_chunk_size(16_384));
    let before = storage.to_bytes().len();
    let how = AppendOptions::new().with_chunk(Options::new(8).with_codec(Codec::Zstd).with_level(9));
    for added in [vec![7; 1], vec![7; 100_000]] {
        let mut storage = MemoryStorage::new(storage.to_bytes());
        bloscpack::append(&mut storage, &added[..], &how).unwrap();
        check(&storage, &[old.clone(), added].concat(), "shrinking");
        assert!(storage.to_bytes().len() < before);
    }
    append(&mut storage, &[]);
    assert_eq!(storage.to_bytes().len(), before, "nothing to append changes nothing");
}

#[test]
fn new_chunks_are_compressed_as_the_last_one_is() {
    let chunk = Options::new(4).with_codec(Codec::Zstd).with_filters([blosc_oxide::Filter::BitShuffle]);
    let mut storage = packed(&data(10_000, 1), &BloscpackOptions::new(chunk).with_chunk_size(4096));
    append(&mut storage, &data(10_000, 2));
    let file = Bloscpack::from_storage(storage).unwrap();
    let (first, last) = (file.chunk_header(0).unwrap(), file.chunk_header(4).unwrap());
    assert_eq!((first.codec(), first.pipeline(), first.typesize()), (last.codec(), last.pipeline(), last.typesize()));
}

#[test]
fn without_room_the_error_says_how_much_still_fits() {
    let old = data(10_000, 1);
    for (room, added, fits) in [(0, 2288, true), (0, 2289, false), (2, 2288 + 8192, true), (2, 2289 + 8192, false)] {
        let mut storage = packed(&old, &options().with_room(room));
        let before = storage.to_bytes();
        let new = data(added, 2);
        let result = bloscpack::append(&mut storage, &new[..], &AppendOptions::new());
        if fits {
            check(&storage, &[old.clone(), new].concat(), "it fits");
            continue;
        }
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        let bytes = room * 4096;
        let message = format!(
            "the offsets have room for {room} more chunks, that is {bytes} bytes, and the last chunk for 2288 more; \
             the data has more than that: rewrite the file"
        );
        assert_eq!(error.to_string(), message);
        assert!(storage.to_bytes() == before, "a refused append changes nothing");
    }
}

#[test]
fn without_room_the_file_can_be_written_anew() {
    let (old, new) = (data(10_000, 1), data(50_000, 2));
    let expected = [old.clone(), new.clone()].concat();
    for version in [Version::V2, Version::V3] {
        for added in [3_000, 50_000] {
            let metadata = if version == Version::V3 { Some("{\"kept\":true}") } else { None };
            let mut options = options().with_version(version).with_checksum(Checksum::Md5);
            if let Some(metadata) = metadata {
                options = options.with_metadata(metadata).with_room(0);
            }
            let mut storage = packed(&old, &options);
            let before = storage.to_bytes();
            let mut spare = MemoryStorage::new(vec![1; 100_000]);
            let how = AppendOptions::new().with_room(3);
            let (summary, is_rewritten) =
                bloscpack::append_or_rewrite(&mut storage, &mut spare, &new[..added], &how).unwrap();
            assert!(is_rewritten);
            let file = check(&spare, &expected[..10_000 + added], &format!("version {version}, {added}"));
            assert_eq!(file.header(), &summary.header);
            assert_eq!(file.metadata().map(|metadata| metadata.text()), metadata);
            assert!(version == Version::V2 || file.header().max_app_chunks() >= 3);
            assert!(storage.to_bytes() == before, "the old file is as it was");
        }
    }
}

#[test]
fn a_file_on_disk_is_written_anew_in_its_place() {
    let directory = std::env::temp_dir().join(format!("blosc-oxide-append-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("data.blp");
    let (old, new) = (data(10_000, 1), data(50_000, 2));
    bloscpack::pack_to_file(&old[..], &path, &options().with_nbytes(10_000).with_room(0)).unwrap();
    let refused = bloscpack::append_to_file(&path, &new[..], &AppendOptions::new()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    let other = std::fs::File::open(&path).unwrap();
    other.lock().unwrap();
    let locked = bloscpack::append_to_file(&path, &new[..], &AppendOptions::new()).unwrap_err();
    assert_eq!(locked.kind(), ErrorKind::Locked);
    drop(other);
    bloscpack::append_to_file(&path, &new[..], &AppendOptions::new().with_rewrite(true)).unwrap();
    let file = Bloscpack::open(&path).unwrap();
    assert_eq!(file.read_range(0..60_000).unwrap(), [old, new].concat());
    assert_eq!(file.header().max_app_chunks(), 40);
    bloscpack::append_to_file(&path, &[1; 100][..], &AppendOptions::new().with_rewrite(true)).unwrap();
    let names: Vec<_> = std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["data.blp"], "nothing is left beside it");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn metadata_changes_with_the_data() {
    let (old, new) = (data(10_000, 1), data(5_000, 2));
    let mut storage = packed(&old, &options().with_metadata("{\"n\":10000,\"note\":\"long enough\"}"));
    let how = AppendOptions::new().with_metadata("{\"n\":15000}");
    bloscpack::append(&mut storage, &new[..], &how).unwrap();
    let file = check(&storage, &[old.clone(), new].concat(), "with metadata");
    assert_eq!(file.metadata().unwrap().text(), "{\"n\":15000}");
    bloscpack::append(&mut storage, &[][..], &AppendOptions::new().with_metadata("[]")).unwrap();
    assert_eq!(Bloscpack::from_storage(storage.clone()).unwrap().metadata().unwrap().text(), "[]");
    // What does not fit is refused before anything is appended.
    let before = storage.to_bytes();
    let noise: Vec<String> = (0..200_u64).map(|i| (i * i * 7919 % 10_007).to_string()).collect();
    let how = AppendOptions::new().with_metadata(format!("[{}]", noise.join(",")));
    assert!(bloscpack::append(&mut storage, &[1][..], &how).is_err());
    assert!(storage.to_bytes() == before);
}

#[test]
fn a_short_file_is_not_stuck_with_its_chunk_size() {
    // The reference cuts the chunk size to the length of the input; one byte would only ever take
    // bytes as chunks.
    let golden = Golden::repository().entries("bloscpack");
    for name in ["onebyte.blp", "empty.blp"] {
        let entry = golden.iter().find(|entry| entry.file == name).unwrap();
        let mut storage = MemoryStorage::new(entry.read());
        let new = data(5 << 20, 2);
        append(&mut storage, &new);
        let old = entry.original().unwrap();
        let file = check(&storage, &[old, new].concat(), name);
        assert_eq!(file.header().chunk_size(), Some(1 << 20));
    }
}

#[test]
fn files_of_the_reference_are_appended_to() {
    for golden in Golden::all() {
        for entry in golden.entries("bloscpack") {
            let mut storage = MemoryStorage::new(entry.read());
            let file = Bloscpack::from_storage(storage.clone()).unwrap();
            let mut expected = Vec::new();
            file.copy_to(&mut expected).unwrap();
            let header = file.header();
            let room = usize::try_from(header.max_app_chunks().min(3)).unwrap();
            let added = if header.has_offsets() { room * header.chunk_size().unwrap() } else { 40_000 };
            if added > 0 {
                let new = data(added, 9);
                append(&mut storage, &new);
                expected.extend(new);
                check(&storage, &expected, &entry.file);
            }
        }
    }
}

#[test]
fn damage_in_the_last_chunk_is_found_before_it_is_overwritten() {
    let mut bytes = packed(&data(10_000, 1), &options()).into_bytes();
    let end = bytes.len();
    bytes[end - 10] ^= 1;
    let mut storage = MemoryStorage::new(bytes.clone());
    let error = bloscpack::append(&mut storage, &[1; 10][..], &AppendOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ChecksumMismatch);
    assert_eq!(storage.to_bytes(), bytes);
}

#[test]
fn a_chunk_size_that_cannot_be_is_refused() {
    let mut storage = packed(&data(10_000, 1), &options());
    let how = AppendOptions::new().with_chunk_size(1 << 20);
    let error = bloscpack::append(&mut storage, &[1; 10][..], &how).unwrap_err();
    assert_eq!(error.to_string(), "the chunks of the file have 4096 bytes, new ones cannot have 1048576");
    let mut storage = packed(&data(1_000, 1), &options().with_room(50));
    bloscpack::append(&mut storage, &data(9_000, 2)[..], &AppendOptions::new().with_chunk_size(512)).unwrap();
    let file = check(&storage, &[data(1_000, 1), data(9_000, 2)].concat(), "smaller chunks");
    assert_eq!(file.header().chunk_size(), Some(512));
}

#[test]
fn a_file_is_rewritten_around_its_chunks() {
    let golden = Golden::shared().unwrap_or_else(Golden::repository);
    for entry in golden.entries("bloscpack") {
        let file = Bloscpack::from_storage(MemoryStorage::new(entry.read())).unwrap();
        let mut expected = Vec::new();
        file.copy_to(&mut expected).unwrap();
        for version in [Version::V1, Version::V2, Version::V3] {
            let mut storage = MemoryStorage::default();
            let mut how = BloscpackOptions::new(Options::new(1)).with_version(version);
            if version == Version::V3 {
                how = how.with_checksum(Checksum::Sha1).with_room(3).with_metadata("{\"new\":1}");
            }
            let summary = bloscpack::rewrite(&file, &mut storage, &how).unwrap();
            let label = format!("{} as version {version}", entry.file);
            let new = check(&storage, &expected, &label);
            assert_eq!((&summary.header, summary.nbytes), (new.header(), expected.len() as u64), "{label}");
            for index in 0..summary.nchunks {
                let chunks = (new.compressed_chunk(index).unwrap(), file.compressed_chunk(index).unwrap());
                assert!(chunks.0 == chunks.1, "{label}: chunk {index}");
            }
        }
    }
}

#[test]
fn chunks_of_many_sizes_are_rewritten_too() {
    // A short chunk in the middle, as version 1 allows: the new header does not promise a size.
    let mut storage = packed(&data(1_000, 1), &options().with_version(Version::V1));
    bloscpack::append(&mut storage, &data(9_000, 2)[..], &AppendOptions::new().with_chunk_size(4096)).unwrap();
    append(&mut storage, &data(500, 3));
    let expected = [data(1_000, 1), data(9_000, 2), data(500, 3)].concat();
    let file = check(&storage, &expected, "version 1");
    let sizes: Vec<_> = (0..5).map(|index| file.chunk_header(index).unwrap().nbytes()).collect();
    assert_eq!(sizes, [1000, 4096, 4096, 808, 500]);
    for version in [Version::V2, Version::V3] {
        let mut new = MemoryStorage::default();
        bloscpack::rewrite(&file, &mut new, &options().with_version(version)).unwrap();
        let file = check(&new, &expected, "rewritten");
        assert_eq!((file.header().chunk_size(), file.header().last_chunk()), (None, None));
        assert_eq!(file.read_range(900..1_100).unwrap(), expected[900..1_100]);
    }
}

#[test]
fn an_append_whose_journal_could_not_be_read_within_the_limits_is_refused() {
    let (old, new) = (data(10_000, 1), data(1_000 * 4096, 2));
    let mut storage = packed(&old, &options().with_room(2_000));
    let before = storage.to_bytes();
    let within = |bytes| AppendOptions::new().with_limits(Limits::new().with_max_allocation(bytes));
    let error = bloscpack::append(&mut storage, &new[..], &within(9_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
    assert!(storage.to_bytes() == before);
    bloscpack::append(&mut storage, &new[..], &within(40_000)).unwrap();
    check(&storage, &[old, new].concat(), "with a higher limit");
}

fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("blosc-oxide-append-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// A file without any room, so that an append has to write it anew.
fn full_file(path: &Path) -> Vec<u8> {
    let old = data(10_000, 1);
    bloscpack::pack_to_file(&old[..], path, &options().with_nbytes(10_000).with_room(0)).unwrap();
    old
}

#[cfg(unix)]
#[test]
fn a_link_stays_one_and_the_file_that_it_leads_to_is_written_anew() {
    let directory = directory("link");
    std::fs::create_dir_all(directory.join("far")).unwrap();
    let (file, link) = (directory.join("far/data.blp"), directory.join("link.blp"));
    let old = full_file(&file);
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let new = data(50_000, 2);
    bloscpack::append_to_file(&link, &new[..], &AppendOptions::new().with_rewrite(true)).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(Bloscpack::open(&file).unwrap().read_range(0..60_000).unwrap(), [old, new].concat());
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_file_is_not_written_anew_on_top_of_itself() {
    let directory = directory("spare");
    let path = directory.join("data.blp");
    let old = full_file(&path);
    for spare in [path.clone(), directory.join(".").join("data.blp")] {
        let how = AppendOptions::new().with_rewrite(true).with_spare(spare);
        let error = bloscpack::append_to_file(&path, &data(50_000, 2)[..], &how).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!(Bloscpack::open(&path).unwrap().read_range(0..10_000).unwrap(), old);
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn bytes_that_belong_to_nothing_are_cut_off_only_behind_good_chunks() {
    let old = data(10_000, 1);
    let whole = packed(&old, &options());
    let mut trailing = MemoryStorage::new([whole.to_bytes(), data(500, 3)].concat());
    assert_eq!(bloscpack::recover(&mut trailing, Limits::new()).unwrap(), Recovery::TakenBack);
    assert!(trailing.to_bytes() == whole.to_bytes());
    assert_eq!(bloscpack::recover(&mut trailing, Limits::new()).unwrap(), Recovery::NotNeeded);
    let mut damaged = [whole.to_bytes(), data(500, 3)].concat();
    let last = whole.to_bytes().len() - 20;
    damaged[last] ^= 1;
    let mut storage = MemoryStorage::new(damaged.clone());
    assert_eq!(bloscpack::recover(&mut storage, Limits::new()).unwrap_err().kind(), ErrorKind::ChecksumMismatch);
    assert!(storage.to_bytes() == damaged);
}
