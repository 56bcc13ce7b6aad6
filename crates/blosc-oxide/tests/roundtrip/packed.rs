//! Packed super-chunks: those of others are read, ours come back, and both grow.

use crate::common::packed::{HEADER_LEN, RELEASES, contents, int, noise, open, ramp, set_int};
use blosc_oxide::{
    Codec, Decompressor, ErrorKind, Filter,
    legacy::{PackedOptions, PackedRelease, PackedSpecial, PackedSuperChunk, PackedWriter},
    storage::MemoryStorage,
};
use testkit::Rng;

const CODECS: [Codec; 6] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Snappy, Codec::Zlib, Codec::Zstd];

/// Every pipeline that the format has.
fn all_filters() -> [Vec<Filter>; 6] {
    [
        vec![],
        vec![Filter::Shuffle],
        vec![Filter::BitShuffle],
        vec![Filter::Delta],
        vec![Filter::Delta, Filter::Shuffle],
        vec![Filter::Delta, Filter::BitShuffle],
    ]
}

/// Buffers of every awkward size, compressible and not.
fn awkward_buffers() -> Vec<Vec<u8>> {
    let mut buffers: Vec<Vec<u8>> =
        [0, 1, 3, 127, 128, 129, 1001, 40_003].map(|len| ramp(10_001, 3)[..len].to_vec()).into();
    buffers.extend([1, 127, 128, 5000].map(|len| noise(len, len as u64)));
    buffers.push(ramp(20_000, -7));
    buffers
}

/// The layout of the first writers: header, special chunks, data chunks, offset table, and nothing
/// between them.
fn assert_strict_layout(bytes: &[u8]) {
    let packed = open(bytes);
    let (mut at, mut nbytes) = (HEADER_LEN, HEADER_LEN);
    for kind in PackedSpecial::ALL {
        if let Some(offset) = packed.header().special_offset(kind) {
            assert_eq!(offset, at as u64, "{kind}");
            at += packed.special_chunk(kind).unwrap().unwrap().len();
            nbytes += packed.special(kind).unwrap().unwrap().len();
        }
    }
    let table = int(bytes, 72);
    for index in 0..packed.nchunks() {
        assert_eq!(int(bytes, table + 8 * index), at, "chunk {index}");
        let header = packed.chunk_header(index).unwrap();
        at += header.cbytes();
        nbytes += header.nbytes() + 8;
    }
    assert_eq!(table, at);
    assert_eq!(int(bytes, 16), packed.nchunks());
    assert_eq!(int(bytes, 24), nbytes);
    assert_eq!(int(bytes, 32), bytes.len());
    assert_eq!(bytes.len(), table + 8 * packed.nchunks());
    assert_eq!(bytes[80..96], [0; 16]);
}

/// Appends a buffer and commits it.
fn append(memory: &MemoryStorage, buffer: &[u8]) {
    let mut writer = PackedWriter::open_in(memory, 4).unwrap();
    writer.append(buffer).unwrap();
    writer.commit().unwrap();
}

mod files_of_others {
    use super::*;
    use std::fs;
    use testkit::golden::Compat;

    struct File {
        name: String,
        bytes: Vec<u8>,
        codec: Codec,
        filters: Vec<Filter>,
        chunk_version: u8,
    }

    /// What the second and the fourth alpha wrote.
    fn files() -> Vec<File> {
        let variants = [
            (Codec::BloscLz, vec![Filter::Shuffle]),
            (Codec::Lz4, vec![Filter::Delta, Filter::BitShuffle]),
            (Codec::Zlib, vec![Filter::Delta, Filter::Shuffle]),
        ];
        let Some(compat) = Compat::shared() else { return Vec::new() };
        let mut files = Vec::new();
        for (release, chunk_version) in [("a2", 2), ("a4", 3)] {
            for (number, (codec, filters)) in variants.clone().into_iter().enumerate() {
                let name = format!("packed-v2.0.0{release}-{number}.b2packed");
                let bytes = fs::read(compat.directory("legacy").join(&name)).unwrap();
                files.push(File { name, bytes, codec, filters, chunk_version });
            }
        }
        files
    }

    fn expected() -> Vec<Vec<u8>> {
        (1..=3).map(|step| ramp(5000, step)).collect()
    }

    #[test]
    fn they_are_read() {
        for File { name, bytes, codec, filters, chunk_version } in files() {
            let packed = open(&bytes);
            assert_eq!(contents(&packed).unwrap(), expected(), "{name}");
            assert_eq!(packed.nbytes().unwrap(), 60_000, "{name}");
            assert_eq!(packed.bytes(19_998..40_003).unwrap(), expected().concat()[19_998..40_003], "{name}");
            let header = packed.header();
            assert_eq!((header.codec(), header.level()), (codec, 5), "{name}");
            assert_eq!(header.filters().iter().collect::<Vec<_>>(), filters, "{name}");
            assert_eq!(packed.chunk_header(2).unwrap().version(), chunk_version, "{name}");
            let reference = header.filters().has_delta().then(|| ramp(5000, 1));
            assert_eq!(packed.special(PackedSpecial::Filters).unwrap(), reference, "{name}");
            assert_strict_layout(&bytes);
        }
    }

    #[test]
    fn they_are_appended_to_in_their_own_way() {
        for File { name, bytes, chunk_version, .. } in files() {
            let memory = MemoryStorage::new(bytes);
            let mut writer = PackedWriter::open_in(&memory, 4).unwrap();
            writer.append(&ramp(4999, 4)).unwrap();
            writer.append(&ramp(6001, 5)).unwrap();
            writer.commit().unwrap();
            drop(writer);
            let packed = PackedSuperChunk::open_in(&memory).unwrap();
            let all = [expected(), vec![ramp(4999, 4), ramp(6001, 5)]].concat();
            assert_eq!(contents(&packed).unwrap(), all, "{name}");
            assert_eq!(packed.chunk_header(4).unwrap().version(), chunk_version, "{name}");
        }
    }

    #[test]
    fn what_we_write_in_their_place_has_the_same_header() {
        for File { name, bytes, codec, filters, chunk_version } in files() {
            let release = if chunk_version == 2 { PackedRelease::Alpha2 } else { PackedRelease::Alpha4 };
            let options = PackedOptions::new(4).with_codec(codec).with_filters(filters).with_release(release);
            let ours = options.pack(expected()).unwrap();
            assert_eq!(ours[..32], bytes[..32], "{name}: everything up to cbytes");
            assert_eq!(ours[40..72], bytes[40..72], "{name}: the special chunks");
        }
    }
}

mod writing {
    use super::*;

    #[test]
    fn every_variant_comes_back() {
        let buffers = awkward_buffers();
        let whole = buffers.concat();
        for release in RELEASES {
            for codec in CODECS {
                for filters in all_filters() {
                    for level in [0, 1, 5, 9] {
                        let what = format!("{release:?} {codec} {filters:?} level {level}");
                        let options =
                            PackedOptions::new(4).with_codec(codec).with_filters(filters.clone()).with_level(level);
                        let bytes = options.with_release(release).pack(&buffers).unwrap();
                        let packed = open(&bytes);
                        assert!(contents(&packed).unwrap() == buffers, "{what}");
                        assert!(packed.bytes(0..whole.len() as u64).unwrap() == whole, "{what}");
                        assert_strict_layout(&bytes);
                    }
                }
            }
        }
    }

    #[test]
    fn every_typesize_comes_back() {
        let buffers = awkward_buffers();
        for release in RELEASES {
            for typesize in [1, 2, 3, 7, 8, 16, 17, 32, 255, 256, 1000] {
                for filters in all_filters() {
                    let options = PackedOptions::new(typesize).with_filters(filters.clone()).with_release(release);
                    let bytes = options.pack(&buffers).unwrap();
                    assert!(contents(&open(&bytes)).unwrap() == buffers, "{release:?} {filters:?} typesize {typesize}");
                }
            }
        }
    }

    #[test]
    fn any_range_is_read() {
        let buffers = awkward_buffers();
        let whole = buffers.concat();
        let bytes = PackedOptions::new(4).with_filters([Filter::Delta, Filter::Shuffle]).pack(&buffers).unwrap();
        let packed = open(&bytes);
        let mut rng = Rng::new(5);
        for _ in 0..500 {
            let (a, b) = (rng.below(whole.len() + 1), rng.below(whole.len() + 1));
            let range = a.min(b)..a.max(b);
            assert!(packed.bytes(range.start as u64..range.end as u64).unwrap() == whole[range.clone()], "{range:?}");
        }
        for range in [0..0, 0..1, 1..4, whole.len()..whole.len(), whole.len() - 1..whole.len()] {
            assert_eq!(packed.bytes(range.start as u64..range.end as u64).unwrap(), whole[range]);
        }
        let end = whole.len() as u64;
        for bad in [end..end + 1, end + 1..end + 1, u64::MAX - 1..u64::MAX, std::ops::Range { start: 5, end: 4 }] {
            assert_eq!(packed.bytes(bad).unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
        assert_eq!(packed.decompress(buffers.len()).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }

    #[test]
    fn a_chunk_is_decompressed_into_a_buffer() {
        let bytes = PackedOptions::new(4).with_filters([Filter::Delta]).pack([ramp(50, 1), ramp(100, 2)]).unwrap();
        let mut out = vec![77; 500];
        assert_eq!(open(&bytes).decompress_into(1, &mut out).unwrap(), 400);
        assert_eq!(out, [ramp(100, 2), vec![77; 100]].concat());
        let error = open(&bytes).decompress_into(1, &mut out[..399]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutputTooSmall);
    }

    #[test]
    fn a_reference_can_be_given() {
        let buffers = awkward_buffers();
        for release in RELEASES {
            for reference in [vec![], vec![9], ramp(200, 1), ramp(50_000, 2)] {
                let options =
                    PackedOptions::new(4).with_filters([Filter::Delta, Filter::Shuffle]).with_release(release);
                let bytes = options.with_reference(reference.clone()).pack(&buffers).unwrap();
                let packed = open(&bytes);
                assert!(contents(&packed).unwrap() == buffers);
                assert_eq!(packed.special(PackedSpecial::Filters).unwrap().unwrap(), reference);
                assert_strict_layout(&bytes);
            }
        }
    }

    #[test]
    fn special_chunks_are_kept() {
        let options = PackedOptions::new(1)
            .with_special(PackedSpecial::UserData, "user")
            .with_special(PackedSpecial::Codec, "codec")
            .with_special(PackedSpecial::Metadata, vec![5; 500]);
        for buffers in [vec![], vec![noise(10, 1), noise(1000, 2)]] {
            for filters in [vec![Filter::Shuffle], vec![Filter::Delta]] {
                let bytes = options.clone().with_filters(filters.clone()).pack(&buffers).unwrap();
                let packed = open(&bytes);
                assert_eq!(packed.special(PackedSpecial::UserData).unwrap().unwrap(), b"user");
                assert_eq!(packed.special(PackedSpecial::Codec).unwrap().unwrap(), b"codec");
                assert_eq!(packed.special(PackedSpecial::Metadata).unwrap().unwrap(), [5; 500]);
                assert_eq!(contents(&packed).unwrap(), buffers);
                assert_strict_layout(&bytes);
            }
        }
    }

    #[test]
    fn only_chunks_that_all_readers_agree_on_follow_a_delta() {
        for release in RELEASES {
            for level in [0, 5] {
                let options = PackedOptions::new(4).with_filters([Filter::Delta, Filter::Shuffle]).with_level(level);
                let bytes = options.with_release(release).pack(awkward_buffers()).unwrap();
                let packed = open(&bytes);
                for index in 0..packed.nchunks() {
                    let header = packed.chunk_header(index).unwrap();
                    assert!(!header.is_memcpyed(), "chunk {index} of {} bytes", header.nbytes());
                }
            }
        }
    }

    #[test]
    fn chunks_have_the_version_of_their_release() {
        for (release, version) in RELEASES.into_iter().zip([2, 3]) {
            for filters in all_filters() {
                let options = PackedOptions::new(4).with_filters(filters.clone()).with_release(release);
                let bytes = options.pack(awkward_buffers()).unwrap();
                let packed = open(&bytes);
                for index in 0..packed.nchunks() {
                    let header = packed.chunk_header(index).unwrap();
                    assert_eq!((header.version(), header.header_len()), (version, 16));
                }
            }
        }
    }

    #[test]
    fn the_second_alpha_splits_wherever_it_expects_split_blocks() {
        for codec in CODECS {
            let options = PackedOptions::new(4).with_codec(codec).with_release(PackedRelease::Alpha2);
            let bytes = options.pack([ramp(5000, 1), ramp(100, 1)]).unwrap();
            let packed = open(&bytes);
            assert!(packed.chunk_header(0).unwrap().is_split(), "{codec}");
            assert!(!packed.chunk_header(1).unwrap().is_split(), "{codec}");
        }
    }

    #[test]
    fn bad_options_are_refused() {
        let bad = [
            PackedOptions::new(4).with_filters([Filter::Shuffle, Filter::Delta]),
            PackedOptions::new(4).with_filters([Filter::TruncPrec(3)]),
            PackedOptions::new(4).with_reference([1, 2, 3]),
            PackedOptions::new(4).with_level(10),
            PackedOptions::new(0),
            PackedOptions::new(4).with_codec(Codec::Plugin(200)),
        ];
        for options in bad {
            assert_eq!(options.pack([[0]]).unwrap_err().kind(), ErrorKind::InvalidArgument, "{options:?}");
        }
        let full = MemoryStorage::new(vec![0]);
        let error = PackedWriter::create_in(full, PackedOptions::new(1)).unwrap_err();
        assert_eq!(error.to_string(), "a new super-chunk needs an empty storage, there are 1 bytes in it");
    }

    #[test]
    fn files_are_written_and_read() {
        let path = std::env::temp_dir().join(format!("blosc-oxide-{}.b2packed", std::process::id()));
        let mut writer = PackedWriter::create(&path, PackedOptions::new(4)).unwrap();
        writer.append(&ramp(5000, 1)).unwrap();
        writer.commit().unwrap();
        drop(writer);
        let mut writer = PackedWriter::open(&path, 4).unwrap();
        writer.append(&ramp(5000, 2)).unwrap();
        writer.commit().unwrap();
        let packed = PackedSuperChunk::open(&path).unwrap();
        assert_eq!(contents(&packed).unwrap(), [ramp(5000, 1), ramp(5000, 2)]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn many_threads_read_at_once() {
        let buffers: Vec<_> = (0..20).map(|step| ramp(3000, step)).collect();
        let bytes = PackedOptions::new(4).with_filters([Filter::Delta, Filter::BitShuffle]).pack(&buffers).unwrap();
        let packed = open(&bytes);
        std::thread::scope(|scope| {
            for first in 0..4 {
                let (packed, buffers) = (&packed, &buffers);
                scope.spawn(move || {
                    for index in (first..20).chain(0..first) {
                        assert_eq!(packed.decompress(index).unwrap(), buffers[index]);
                        let range = index as u64 * 12_000 + 5..index as u64 * 12_000 + 99;
                        assert_eq!(packed.bytes(range).unwrap(), buffers[index][5..99]);
                    }
                });
            }
        });
    }
}

mod layouts_of_others {
    use super::*;

    #[test]
    fn the_offset_table_can_stand_before_the_data() {
        let buffers = [ramp(3000, 1), ramp(3000, 2), noise(50, 3)];
        let bytes = PackedOptions::new(4).with_filters([Filter::Delta, Filter::Shuffle]).pack(&buffers).unwrap();
        let (table, first) = (int(&bytes, 72), int(&bytes, int(&bytes, 72)));
        let shift = bytes.len() - table;
        let mut moved = [&bytes[..first], &bytes[table..], &bytes[first..table]].concat();
        set_int(&mut moved, 72, first);
        for index in 0..buffers.len() {
            let at = first + 8 * index;
            let offset = int(&moved, at) + shift;
            set_int(&mut moved, at, offset);
        }
        assert_eq!(contents(&open(&moved)).unwrap(), buffers);
        let memory = MemoryStorage::new(moved);
        append(&memory, &noise(700, 4));
        let packed = PackedSuperChunk::open_in(&memory).unwrap();
        assert_eq!(contents(&packed).unwrap(), [&buffers[..], &[noise(700, 4)]].concat());
        let copy = MemoryStorage::default();
        packed.copy_to(&copy).unwrap();
        assert_strict_layout(&copy.to_bytes());
    }

    #[test]
    fn a_copy_after_a_delta_holds_data_and_not_differences() {
        let data = noise(300, 1);
        let mut bytes = PackedOptions::new(1).with_filters([]).pack([&data]).unwrap();
        let chunk = int(&bytes, int(&bytes, 72));
        assert_eq!(bytes[chunk + 2] & 2, 2, "the chunk is a copy");
        // The filter is delta, and the chunk refers to itself.
        bytes[8] = 3;
        set_int(&mut bytes, 40, chunk);
        assert_eq!(contents(&open(&bytes)).unwrap(), [data]);
    }

    #[test]
    fn blocks_without_the_flag_are_split_by_the_old_rule() {
        const NOT_SPLIT: u8 = 0x10;
        let buffers = [ramp(100, 1), ramp(127, 2)];
        let mut bytes = PackedOptions::new(4).pack(&buffers).unwrap();
        let table = int(&bytes, 72);
        for index in 0..buffers.len() {
            let flags = int(&bytes, table + 8 * index) + 2;
            assert_eq!(bytes[flags] & NOT_SPLIT, NOT_SPLIT);
            bytes[flags] &= !NOT_SPLIT;
        }
        assert_eq!(contents(&open(&bytes)).unwrap(), buffers, "the third alpha had version 3, but not yet the flag");
    }

    #[test]
    fn a_third_bit_of_a_filter_slot_is_shown_and_ignored() {
        let buffers = [ramp(1000, 1), ramp(1000, 2)];
        let mut bytes = PackedOptions::new(4).with_filters([Filter::Delta, Filter::Shuffle]).pack(&buffers).unwrap();
        bytes[8] |= 0b100;
        bytes[9] |= 0b0101_0000;
        let packed = open(&bytes);
        assert_eq!(packed.header().filters().slots(), [7, 1, 0, 0, 5]);
        assert_eq!(packed.header().filters().to_string(), "delta, shuffle");
        assert_eq!(contents(&packed).unwrap(), buffers);
    }

    #[test]
    fn what_follows_the_super_chunk_is_ignored() {
        let buffers = [ramp(1000, 1)];
        let mut bytes = PackedOptions::new(4).pack(&buffers).unwrap();
        bytes[80..96].copy_from_slice(&noise(16, 1));
        bytes.extend(noise(1000, 2));
        assert_eq!(contents(&open(&bytes)).unwrap(), buffers);
    }
}

mod appending {
    use super::*;

    #[test]
    fn every_variant_grows() {
        let buffers = awkward_buffers();
        for release in RELEASES {
            for filters in all_filters() {
                let options =
                    PackedOptions::new(4).with_codec(Codec::Lz4).with_filters(filters.clone()).with_release(release);
                let memory = MemoryStorage::new(options.pack(&buffers[2..5]).unwrap());
                for (count, buffer) in buffers.iter().enumerate() {
                    let mut writer = PackedWriter::open_in(&memory, 4).unwrap();
                    assert_eq!(writer.nchunks(), 3 + count);
                    writer.append(buffer).unwrap();
                    writer.commit().unwrap();
                    writer.commit().unwrap();
                }
                let all = [&buffers[2..5], &buffers[..]].concat();
                let packed = PackedSuperChunk::open_in(&memory).unwrap();
                assert!(contents(&packed).unwrap() == all, "{release:?} {filters:?}");
                let version = if release == PackedRelease::Alpha2 { 2 } else { 3 };
                assert_eq!(packed.chunk_header(all.len() - 1).unwrap().version(), version);
                let copy = MemoryStorage::default();
                packed.copy_to(&copy).unwrap();
                assert_strict_layout(&copy.to_bytes());
                assert!(copy.to_bytes() == options.pack(&all).unwrap(), "the copy is what was written at once");
            }
        }
    }

    #[test]
    fn an_empty_super_chunk_grows() {
        let buffers = awkward_buffers();
        for filters in all_filters() {
            let options = PackedOptions::new(4).with_filters(filters);
            let empty = options.pack([[0; 0]; 0]).unwrap();
            assert_eq!(empty.len(), HEADER_LEN);
            assert_eq!(open(&empty).nbytes().unwrap(), 0);
            let memory = MemoryStorage::new(empty);
            let mut writer = PackedWriter::open_in(&memory, 4).unwrap();
            buffers.iter().for_each(|buffer| writer.append(buffer).unwrap());
            writer.commit().unwrap();
            drop(writer);
            assert!(memory.to_bytes() == options.pack(&buffers).unwrap());
        }
    }

    #[test]
    fn what_is_not_committed_is_not_there() {
        let memory = MemoryStorage::new(PackedOptions::new(4).pack([ramp(1000, 1)]).unwrap());
        let mut writer = PackedWriter::open_in(&memory, 4).unwrap();
        writer.append(&ramp(1000, 2)).unwrap();
        std::mem::forget(writer);
        assert_eq!(contents(&PackedSuperChunk::open_in(&memory).unwrap()).unwrap(), [ramp(1000, 1)]);
        let before = memory.to_bytes();
        let mut writer = PackedWriter::open_in(&memory, 4).unwrap();
        writer.append(&ramp(1000, 2)).unwrap();
        drop(writer);
        assert!(memory.to_bytes()[..96] == before[..96], "dropping a writer writes no header");
        assert_eq!(contents(&PackedSuperChunk::open_in(&memory).unwrap()).unwrap(), [ramp(1000, 1)]);
    }

    #[test]
    fn what_a_panic_has_interrupted_is_not_committed() {
        let memory = MemoryStorage::new(PackedOptions::new(4).pack([ramp(1000, 1)]).unwrap());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut writer = PackedWriter::open_in(&memory, 4).unwrap();
            writer.append(&ramp(1000, 2)).unwrap();
            panic!("in the midst of an append");
        }));
        assert!(panicked.is_err());
        assert_eq!(contents(&PackedSuperChunk::open_in(&memory).unwrap()).unwrap(), [ramp(1000, 1)]);
    }

    #[test]
    fn what_a_crash_left_behind_is_cut_off() {
        let mut bytes = PackedOptions::new(4).pack([ramp(1000, 1)]).unwrap();
        bytes.extend(noise(10_000, 1));
        let memory = MemoryStorage::new(bytes);
        drop(PackedWriter::open_in(&memory, 4).unwrap());
        assert!(memory.to_bytes().len() > 10_000, "opening alone changes nothing");
        append(&memory, &ramp(1000, 2));
        let packed = PackedSuperChunk::open_in(&memory).unwrap();
        assert_eq!(contents(&packed).unwrap(), [ramp(1000, 1), ramp(1000, 2)]);
        assert_eq!(packed.header().cbytes(), memory.to_bytes().len() as u64);
    }

    #[test]
    fn a_codec_that_is_not_known_is_read_but_not_appended_to() {
        let mut bytes = PackedOptions::new(4).pack([ramp(1000, 1)]).unwrap();
        bytes[4] = 99;
        assert_eq!(contents(&open(&bytes)).unwrap(), [ramp(1000, 1)]);
        assert!(PackedWriter::open_in(MemoryStorage::new(bytes), 4).is_err());
    }
}

#[test]
fn a_chunk_of_the_second_alpha_is_a_chunk_of_blosc1() {
    let bytes = PackedOptions::new(4).with_release(PackedRelease::Alpha2).pack([ramp(5000, 1)]).unwrap();
    let chunk = open(&bytes).chunk(0).unwrap();
    assert_eq!(Decompressor::new().decompress(&chunk).unwrap(), ramp(5000, 1));
    assert_eq!(chunk[0], 2);
}
