//! Packed super-chunks: those of others are read, ours come back, and neither damage nor a crash does harm.

use blosc_oxide::{
    Codec, Container, Decompressor, Durability, ErrorKind, Filter, Limits, MemoryStorage, PackedOptions, PackedRelease,
    PackedSpecial, PackedSuperChunk, PackedWriter, ReadAt, Result, Threads,
};
use testkit::Rng;
use testkit::alloc::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const HEADER_LEN: usize = 96;
const CODECS: [Codec; 6] = [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Snappy, Codec::Zlib, Codec::Zstd];
const RELEASES: [PackedRelease; 2] = [PackedRelease::Alpha2, PackedRelease::Alpha4];

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

/// The integers 0, step, 2 * step, ...
fn ramp(count: i32, step: i32) -> Vec<u8> {
    (0..count).flat_map(|i| (i * step).to_le_bytes()).collect()
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| rng.byte()).collect()
}

/// Buffers of every awkward size, compressible and not.
fn awkward_buffers() -> Vec<Vec<u8>> {
    let mut buffers: Vec<Vec<u8>> =
        [0, 1, 3, 127, 128, 129, 1001, 40_003].map(|len| ramp(10_001, 3)[..len].to_vec()).into();
    buffers.extend([1, 127, 128, 5000].map(|len| noise(len, len as u64)));
    buffers.push(ramp(20_000, -7));
    buffers
}

fn contents<R: ReadAt>(packed: &PackedSuperChunk<R>) -> Result<Vec<Vec<u8>>> {
    packed.chunks().collect()
}

fn open(bytes: &[u8]) -> PackedSuperChunk<&[u8]> {
    PackedSuperChunk::open_in(bytes).unwrap()
}

fn int(bytes: &[u8], at: usize) -> usize {
    usize::try_from(i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
}

fn set_int(bytes: &mut [u8], at: usize, value: usize) {
    bytes[at..at + 8].copy_from_slice(&(value as u64).to_le_bytes());
}

/// The layout of the first writers: header, special chunks, data chunks, offset table, and nothing between them.
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
            let mut memory = MemoryStorage::new(bytes);
            let mut writer = PackedWriter::open_in(&mut memory, 4).unwrap();
            writer.append(&ramp(4999, 4)).unwrap();
            writer.append(&ramp(6001, 5)).unwrap();
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
            let options = PackedOptions::new(4).codec(codec).filters(filters).release(release);
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
                        let options = PackedOptions::new(4).codec(codec).filters(filters.clone()).level(level);
                        let bytes = options.release(release).pack(&buffers).unwrap();
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
                    let options = PackedOptions::new(typesize).filters(filters.clone()).release(release);
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
        let bytes = PackedOptions::new(4).filters([Filter::Delta, Filter::Shuffle]).pack(&buffers).unwrap();
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
        let bytes = PackedOptions::new(4).filters([Filter::Delta]).pack([ramp(50, 1), ramp(100, 2)]).unwrap();
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
                let options = PackedOptions::new(4).filters([Filter::Delta, Filter::Shuffle]).release(release);
                let bytes = options.reference(reference.clone()).pack(&buffers).unwrap();
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
            .special(PackedSpecial::UserData, "user")
            .special(PackedSpecial::Codec, "codec")
            .special(PackedSpecial::Metadata, vec![5; 500]);
        for buffers in [vec![], vec![noise(10, 1), noise(1000, 2)]] {
            for filters in [vec![Filter::Shuffle], vec![Filter::Delta]] {
                let bytes = options.clone().filters(filters.clone()).pack(&buffers).unwrap();
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
                let options = PackedOptions::new(4).filters([Filter::Delta, Filter::Shuffle]).level(level);
                let bytes = options.release(release).pack(awkward_buffers()).unwrap();
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
                let options = PackedOptions::new(4).filters(filters.clone()).release(release);
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
            let options = PackedOptions::new(4).codec(codec).release(PackedRelease::Alpha2);
            let bytes = options.pack([ramp(5000, 1), ramp(100, 1)]).unwrap();
            let packed = open(&bytes);
            assert!(packed.chunk_header(0).unwrap().is_split(), "{codec}");
            assert!(!packed.chunk_header(1).unwrap().is_split(), "{codec}");
        }
    }

    #[test]
    fn bad_options_are_refused() {
        let bad = [
            PackedOptions::new(4).filters([Filter::Shuffle, Filter::Delta]),
            PackedOptions::new(4).filters([Filter::TruncPrec(3)]),
            PackedOptions::new(4).reference([1, 2, 3]),
            PackedOptions::new(4).level(10),
            PackedOptions::new(0),
            PackedOptions::new(4).codec(Codec::Plugin(200)),
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
        let bytes = PackedOptions::new(4).filters([Filter::Delta, Filter::BitShuffle]).pack(&buffers).unwrap();
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
        let bytes = PackedOptions::new(4).filters([Filter::Delta, Filter::Shuffle]).pack(&buffers).unwrap();
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
        let mut memory = MemoryStorage::new(moved);
        PackedWriter::open_in(&mut memory, 4).unwrap().append(&noise(700, 4)).unwrap();
        let packed = PackedSuperChunk::open_in(&memory).unwrap();
        assert_eq!(contents(&packed).unwrap(), [&buffers[..], &[noise(700, 4)]].concat());
        let mut copy = MemoryStorage::default();
        packed.copy_to(&mut copy).unwrap();
        assert_strict_layout(copy.as_bytes());
    }

    #[test]
    fn a_copy_after_a_delta_holds_data_and_not_differences() {
        let data = noise(300, 1);
        let mut bytes = PackedOptions::new(1).filters([]).pack([&data]).unwrap();
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
        let mut bytes = PackedOptions::new(4).filters([Filter::Delta, Filter::Shuffle]).pack(&buffers).unwrap();
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
                let options = PackedOptions::new(4).codec(Codec::Lz4).filters(filters.clone()).release(release);
                let mut memory = MemoryStorage::new(options.pack(&buffers[2..5]).unwrap());
                for (count, buffer) in buffers.iter().enumerate() {
                    let mut writer = PackedWriter::open_in(&mut memory, 4).unwrap();
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
                let mut copy = MemoryStorage::default();
                packed.copy_to(&mut copy).unwrap();
                assert_strict_layout(copy.as_bytes());
                assert!(copy.as_bytes() == options.pack(&all).unwrap(), "the copy is what was written at once");
            }
        }
    }

    #[test]
    fn an_empty_super_chunk_grows() {
        let buffers = awkward_buffers();
        for filters in all_filters() {
            let options = PackedOptions::new(4).filters(filters);
            let empty = options.pack([[0; 0]; 0]).unwrap();
            assert_eq!(empty.len(), HEADER_LEN);
            assert_eq!(open(&empty).nbytes().unwrap(), 0);
            let mut memory = MemoryStorage::new(empty);
            let mut writer = PackedWriter::open_in(&mut memory, 4).unwrap();
            buffers.iter().for_each(|buffer| writer.append(buffer).unwrap());
            drop(writer);
            assert!(memory.as_bytes() == options.pack(&buffers).unwrap());
        }
    }

    #[test]
    fn what_is_not_committed_is_not_there() {
        let mut memory = MemoryStorage::new(PackedOptions::new(4).pack([ramp(1000, 1)]).unwrap());
        let mut writer = PackedWriter::open_in(&mut memory, 4).unwrap();
        writer.append(&ramp(1000, 2)).unwrap();
        std::mem::forget(writer);
        assert_eq!(contents(&PackedSuperChunk::open_in(&memory).unwrap()).unwrap(), [ramp(1000, 1)]);
    }

    #[test]
    fn what_a_panic_has_interrupted_is_not_committed() {
        let mut memory = MemoryStorage::new(PackedOptions::new(4).pack([ramp(1000, 1)]).unwrap());
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut writer = PackedWriter::open_in(&mut memory, 4).unwrap();
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
        let mut memory = MemoryStorage::new(bytes);
        drop(PackedWriter::open_in(&mut memory, 4).unwrap());
        assert!(memory.as_bytes().len() > 10_000, "opening alone changes nothing");
        PackedWriter::open_in(&mut memory, 4).unwrap().append(&ramp(1000, 2)).unwrap();
        let packed = PackedSuperChunk::open_in(&memory).unwrap();
        assert_eq!(contents(&packed).unwrap(), [ramp(1000, 1), ramp(1000, 2)]);
        assert_eq!(packed.header().cbytes(), memory.as_bytes().len() as u64);
    }

    #[test]
    fn a_codec_that_is_not_known_is_read_but_not_appended_to() {
        let mut bytes = PackedOptions::new(4).pack([ramp(1000, 1)]).unwrap();
        bytes[4] = 99;
        assert_eq!(contents(&open(&bytes)).unwrap(), [ramp(1000, 1)]);
        assert!(PackedWriter::open_in(MemoryStorage::new(bytes), 4).is_err());
    }
}

mod damage {
    use super::*;
    use testkit::mutate::{prefixes, random_bytes, single_byte};

    /// What one read may allocate at once; no good file here has anything near it.
    const LIMIT: usize = 1 << 20;

    fn limits() -> Limits {
        Limits::new().max_allocation(LIMIT)
    }

    /// Small super-chunks with everything in them.
    fn samples() -> Vec<Vec<u8>> {
        let buffers = [ramp(40, 3), noise(20, 1), vec![], ramp(60, 3)];
        let mut samples = Vec::new();
        for release in RELEASES {
            for filters in [vec![Filter::Shuffle], vec![Filter::Delta, Filter::BitShuffle]] {
                let options = PackedOptions::new(4).filters(filters).release(release);
                samples.push(options.special(PackedSpecial::UserData, "user").pack(&buffers).unwrap());
            }
        }
        samples
    }

    /// Reads all there is, in every way there is.
    fn read_all(bytes: &[u8]) -> Result<()> {
        let packed = PackedSuperChunk::open_with_limits(bytes, limits())?.with_threads(Threads::serial());
        for index in 0..packed.nchunks() {
            let _ = packed.chunk(index);
            let _ = packed.decompress(index);
        }
        for kind in PackedSpecial::ALL {
            let _ = packed.special(kind);
        }
        let _ = contents(&packed);
        let _ = packed.bytes(0..packed.nbytes()?);
        let _ = packed.copy_to(MemoryStorage::default());
        let mut out = [0; 100];
        packed.bytes_into(packed.nbytes()? / 2, &mut out)?;
        Ok(())
    }

    fn append(bytes: &[u8]) -> Result<()> {
        let mut writer = PackedWriter::open_with_limits(MemoryStorage::new(bytes.to_vec()), 4, limits())?;
        writer.append(&[1; 500])?;
        writer.commit()
    }

    fn check(bytes: &[u8], what: &str) {
        let (_, used) = CountingAllocator::on_this_thread(|| (read_all(bytes), append(bytes)));
        assert!(used.largest <= 2 * LIMIT as u64, "{what}: {} bytes at once", used.largest);
    }

    #[test]
    fn every_truncation_is_an_error() {
        for sample in samples() {
            for prefix in prefixes(&sample) {
                check(prefix, "truncation");
                let error = PackedSuperChunk::open_in(prefix).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Truncated, "{} of {}: {error}", prefix.len(), sample.len());
            }
        }
    }

    #[test]
    fn every_changed_byte_gives_data_or_an_error() {
        for sample in samples() {
            for mutant in single_byte(&sample, 0..sample.len()) {
                check(&mutant.bytes, &mutant.what);
            }
        }
    }

    #[test]
    fn many_changed_bytes_give_data_or_an_error() {
        for (sample, seed) in samples().iter().zip(0..) {
            for mutant in random_bytes(sample, 5000, seed) {
                check(&mutant.bytes, &mutant.what);
            }
            // Changes to the header alone, which decides about everything else.
            for mutant in random_bytes(&sample[..HEADER_LEN], 5000, seed) {
                check(&[&mutant.bytes, &sample[HEADER_LEN..]].concat(), &mutant.what);
            }
        }
    }

    #[test]
    fn a_chunk_that_is_listed_often_is_read_within_the_limits() {
        let mut bytes = PackedOptions::new(1).filters([]).pack([vec![7; 200_000]]).unwrap();
        let (table, chunk) = (int(&bytes, 72), int(&bytes, int(&bytes, 72)));
        bytes.truncate(table);
        (0..1000).for_each(|_| bytes.extend((chunk as u64).to_le_bytes()));
        set_int(&mut bytes, 16, 1000);
        let len = bytes.len();
        set_int(&mut bytes, 32, len);
        check(&bytes, "one chunk a thousand times");
        let packed = PackedSuperChunk::open_with_limits(&bytes[..], limits()).unwrap();
        assert_eq!(packed.nbytes().unwrap(), 200_000_000);
        assert_eq!(packed.bytes(0..200_000_000).unwrap_err().kind(), ErrorKind::LimitExceeded);
        assert_eq!(packed.bytes(199_999_990..200_000_000).unwrap(), [7; 10]);
    }

    #[test]
    fn limits_are_kept() {
        let bytes = PackedOptions::new(4)
            .filters([Filter::Delta, Filter::Shuffle])
            .pack([ramp(1000, 1), ramp(1000, 2)])
            .unwrap();
        let with = |limit| PackedSuperChunk::open_with_limits(&bytes[..], Limits::new().max_allocation(limit));
        assert_eq!(with(15).unwrap_err().kind(), ErrorKind::LimitExceeded);
        let packed = with(3999).unwrap();
        assert_eq!(packed.decompress(0).unwrap_err().kind(), ErrorKind::LimitExceeded);
        assert_eq!(with(4000).unwrap().decompress(1).unwrap(), ramp(1000, 2));
    }

    #[test]
    fn errors_say_where() {
        let mut bytes = PackedOptions::new(4).pack([ramp(1000, 1), ramp(1000, 2)]).unwrap();
        let second = int(&bytes, int(&bytes, 72) + 8);
        bytes[second + 12] = 255;
        let error = open(&bytes).decompress(1).unwrap_err();
        assert!(error.to_string().starts_with("chunk 1: cbytes is "), "{error}");
        let table = int(&bytes, 72);
        set_int(&mut bytes, table, 95);
        let error = PackedSuperChunk::open_in(&bytes[..]).unwrap_err();
        assert!(error.to_string().starts_with("chunk 0: starts at 95, chunks can be from 96 to "), "{error}");
    }
}

mod crashes {
    use super::*;
    use std::io;

    const SECTOR: usize = 512;

    #[derive(Debug, Clone)]
    enum Call {
        Write(u64, Vec<u8>),
        SetLen(u64),
        Sync,
    }

    /// Storage that keeps a log of all calls, and fails at one of them.
    #[derive(Debug, Clone, Default)]
    struct Logged {
        memory: MemoryStorage,
        calls: Vec<Call>,
        fails_at: Option<usize>,
    }

    impl Logged {
        fn new(bytes: &[u8]) -> Self {
            Self { memory: MemoryStorage::new(bytes.to_vec()), ..Self::default() }
        }

        fn log(&mut self, call: Call) -> io::Result<()> {
            self.calls.push(call);
            if self.fails_at == Some(self.calls.len() - 1) { Err(io::Error::other("no luck")) } else { Ok(()) }
        }
    }

    impl ReadAt for Logged {
        fn len(&self) -> io::Result<u64> {
            self.memory.len()
        }

        fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
            self.memory.read_at(position, buffer)
        }
    }

    impl blosc_oxide::Storage for Logged {
        fn write_at(&mut self, position: u64, bytes: &[u8]) -> io::Result<()> {
            if let Err(error) = self.log(Call::Write(position, bytes.to_vec())) {
                // A write that fails has done half of its work.
                self.memory.write_at(position, &bytes[..bytes.len() / 2])?;
                return Err(error);
            }
            self.memory.write_at(position, bytes)
        }

        fn set_len(&mut self, len: u64) -> io::Result<()> {
            self.log(Call::SetLen(len))?;
            self.memory.set_len(len)
        }

        fn sync(&mut self) -> io::Result<()> {
            self.log(Call::Sync)
        }
    }

    /// What becomes of a call that was not synced.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Fate {
        Lost,
        Kept,
        /// Only some sectors of it are written.
        Torn,
    }

    const FATES: [Fate; 3] = [Fate::Lost, Fate::Kept, Fate::Torn];

    fn apply(call: &Call, fate: Fate, rng: &mut Rng, disk: &mut MemoryStorage) {
        use blosc_oxide::Storage as _;
        match (call, fate) {
            (_, Fate::Lost) | (Call::Sync, _) => {}
            (Call::SetLen(len), _) => disk.set_len(*len).unwrap(),
            (Call::Write(position, bytes), Fate::Kept) => disk.write_at(*position, bytes).unwrap(),
            (Call::Write(position, bytes), Fate::Torn) => {
                let (mut at, mut rest) = (*position, &bytes[..]);
                while !rest.is_empty() {
                    let in_sector = SECTOR - usize::try_from(at % SECTOR as u64).unwrap();
                    let (piece, after) = rest.split_at(in_sector.min(rest.len()));
                    if rng.below(2) == 0 {
                        disk.write_at(at, piece).unwrap();
                    }
                    (at, rest) = (at + piece.len() as u64, after);
                }
            }
        }
    }

    /// Every disk that a loss of power after `count` calls can leave: what was synced is there, and each call after
    /// that has any fate.
    fn disks(before: &[u8], calls: &[Call], count: usize, each: &mut dyn FnMut(&[u8], &str)) {
        let synced = calls[..count].iter().rposition(|call| matches!(call, Call::Sync)).map_or(0, |at| at + 1);
        let open = count - synced;
        assert!(open <= 8, "{open} calls without a sync are too many to try everything");
        let mut rng = Rng::new(1);
        for choice in 0..FATES.len().pow(u32::try_from(open).unwrap()) {
            let fates: Vec<Fate> =
                (0..open).map(|at| FATES[choice / 3_usize.pow(u32::try_from(at).unwrap()) % 3]).collect();
            let repeats = if fates.contains(&Fate::Torn) { 8 } else { 1 };
            for _ in 0..repeats {
                let mut disk = MemoryStorage::new(before.to_vec());
                calls[..synced].iter().for_each(|call| apply(call, Fate::Kept, &mut rng, &mut disk));
                calls[synced..count]
                    .iter()
                    .zip(&fates)
                    .for_each(|(call, &fate)| apply(call, fate, &mut rng, &mut disk));
                each(disk.as_bytes(), &format!("after {count} calls, {fates:?}"));
            }
        }
    }

    fn append_all(storage: &mut Logged, buffers: &[Vec<u8>]) -> Result<()> {
        let mut writer = PackedWriter::open_in(storage, 4)?;
        buffers.iter().try_for_each(|buffer| writer.append(buffer))?;
        writer.commit()
    }

    /// Super-chunks to append to, with what they hold: with and without a delta, with what an earlier crash left, and
    /// so small that a sector has the header and live bytes.
    fn starts() -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
        let mut starts = Vec::new();
        for filters in [vec![Filter::Shuffle], vec![Filter::Delta, Filter::Shuffle]] {
            let options = PackedOptions::new(4).filters(filters);
            for buffers in [vec![], vec![ramp(30, 1)], vec![noise(3000, 1), ramp(5000, 1), noise(700, 2)]] {
                let bytes = options.pack(&buffers).unwrap();
                starts.push(([&bytes[..], &noise(5000, 3)].concat(), buffers.clone()));
                starts.push((bytes, buffers));
            }
        }
        starts
    }

    fn added() -> Vec<Vec<u8>> {
        vec![ramp(2000, 9), noise(2500, 4)]
    }

    #[test]
    fn after_a_loss_of_power_the_super_chunk_is_as_before_or_as_after() {
        for (bytes, before) in starts() {
            let after = [&before[..], &added()].concat();
            let mut storage = Logged::new(&bytes);
            append_all(&mut storage, &added()).unwrap();
            for count in 0..=storage.calls.len() {
                disks(&bytes, &storage.calls, count, &mut |disk, what| {
                    let packed = PackedSuperChunk::open_in(disk).unwrap_or_else(|error| panic!("{what}: {error}"));
                    let found = contents(&packed).unwrap_or_else(|error| panic!("{what}: {error}"));
                    assert!(found == before || found == after, "{what}");
                    assert!(found == after || count < storage.calls.len(), "{what}: what was committed is lost");
                    let mut storage = Logged::new(disk);
                    append_all(&mut storage, &[ramp(100, 5)]).unwrap();
                    let packed = PackedSuperChunk::open_in(&storage).unwrap();
                    assert!(contents(&packed).unwrap() == [&found[..], &[ramp(100, 5)]].concat(), "{what}, then more");
                });
            }
        }
    }

    #[test]
    fn a_kill_between_any_two_calls_leaves_it_as_before_or_as_after_without_syncs_too() {
        for (bytes, before) in starts() {
            let after = [&before[..], &added()].concat();
            let mut storage = Logged::new(&bytes);
            let mut writer = PackedWriter::open_in(&mut storage, 4).unwrap().with_durability(Durability::None);
            added().iter().for_each(|buffer| writer.append(buffer).unwrap());
            writer.commit().unwrap();
            drop(writer);
            assert!(!storage.calls.iter().any(|call| matches!(call, Call::Sync)));
            for count in 0..=storage.calls.len() {
                let mut disk = MemoryStorage::new(bytes.clone());
                storage.calls[..count].iter().for_each(|call| apply(call, Fate::Kept, &mut Rng::new(0), &mut disk));
                let found = contents(&PackedSuperChunk::open_in(&disk).unwrap()).unwrap();
                assert!(found == before || found == after, "after {count} calls");
                assert_eq!(Container::of(&disk, 0).unwrap(), Some(Container::Packed), "after {count} calls");
                assert!(found == after || count < storage.calls.len(), "what was committed is lost");
            }
        }
    }

    #[test]
    fn a_crash_while_creating_leaves_nothing_or_an_empty_or_the_whole_super_chunk() {
        let options = PackedOptions::new(4).filters([Filter::Delta, Filter::Shuffle]);
        let mut storage = Logged::new(&[]);
        let mut writer = PackedWriter::create_in(&mut storage, options).unwrap();
        added().iter().for_each(|buffer| writer.append(buffer).unwrap());
        writer.commit().unwrap();
        drop(writer);
        let mut seen = [0; 3];
        for count in 0..=storage.calls.len() {
            disks(&[], &storage.calls, count, &mut |disk, what| match PackedSuperChunk::open_in(disk) {
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::Truncated | ErrorKind::Corrupt), "{what}: {error}");
                    seen[0] += 1;
                }
                Ok(packed) if packed.nchunks() == 0 => seen[1] += 1,
                Ok(packed) => {
                    assert_eq!(contents(&packed).unwrap(), added(), "{what}");
                    seen[2] += 1;
                }
            });
        }
        assert!(seen.iter().all(|&times| times > 0), "{seen:?}");
    }

    #[test]
    fn an_error_at_any_call_is_reported_and_keeps_the_former_state() {
        for (bytes, before) in starts() {
            let mut storage = Logged::new(&bytes);
            append_all(&mut storage, &added()).unwrap();
            let (calls, after) = (storage.calls.len(), [&before[..], &added()].concat());
            for fails_at in 0..calls {
                let mut storage = Logged { fails_at: Some(fails_at), ..Logged::new(&bytes) };
                let mut writer = PackedWriter::open_in(&mut storage, 4).unwrap();
                let result = added().iter().try_for_each(|buffer| writer.append(buffer)).and_then(|()| writer.commit());
                assert_eq!(result.unwrap_err().kind(), ErrorKind::Io);
                assert_eq!(writer.append(&[1]).unwrap_err().kind(), ErrorKind::Poisoned);
                assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
                drop(writer);
                let header_failed = matches!(storage.calls[fails_at], Call::Write(0, _));
                let put_back = usize::from(header_failed);
                assert_eq!(storage.calls.len(), fails_at + 1 + put_back, "nothing else is written after a failure");
                let found = contents(&PackedSuperChunk::open_in(&storage).unwrap()).unwrap();
                assert!(found == before || found == after && !header_failed, "call {fails_at}");
            }
        }
    }
}

#[test]
fn a_chunk_of_the_second_alpha_is_a_chunk_of_blosc1() {
    let bytes = PackedOptions::new(4).release(PackedRelease::Alpha2).pack([ramp(5000, 1)]).unwrap();
    let chunk = open(&bytes).chunk(0).unwrap();
    assert_eq!(Decompressor::new().decompress(&chunk).unwrap(), ramp(5000, 1));
    assert_eq!(chunk[0], 2);
}
