//! What super-chunks and frames take and refuse: metalayers, chunks of all sizes, special ones,
//! single blocks.

use blosc_oxide::{
    Codec, ErrorKind, Format, Frame, FrameEdit, FrameOptions, FrameVersion, Location, Options, Special, SuperChunk,
    Threads,
    storage::{Durability, MemoryDirectory, MemoryStorage},
};
use testkit::Rng;

fn frame(options: FrameOptions) -> FrameEdit {
    Frame::create(MemoryStorage::default(), options.with_durability(Durability::None)).unwrap()
}

#[test]
fn sixteen_metalayers_fit() {
    let mut sc = SuperChunk::new(Options::new(1)).unwrap();
    for number in 0..16 {
        sc.metalayers_mut().add(&format!("{number:031}"), vec![number; 5]).unwrap();
    }
    assert_eq!(sc.metalayers_mut().add("one more", "x").unwrap_err().kind(), ErrorKind::InvalidArgument);
    sc.metalayers_mut().remove(&format!("{:031}", 3)).unwrap();
    assert!(sc.metalayers_mut().add("", "x").is_err());
    assert!(sc.metalayers_mut().add(&"x".repeat(32), "x").is_err());
    assert!(sc.metalayers_mut().add(&format!("{:031}", 4), "x").is_err());
    assert!(sc.metalayers_mut().update("not there", "x").is_err());
    sc.metalayers_mut().add("one more", "x").unwrap();
    assert_eq!(sc.metalayers().len(), 16);
}

/// The reference refuses to write a trailer with more than 16, and the checksums are one of them.
#[test]
fn checksums_count_as_a_metalayer() {
    for (checksums, most) in [(true, 15), (false, 16)] {
        let mut frame = frame(FrameOptions::new(Options::new(1)).with_checksums(checksums));
        for number in 0..most {
            frame.vlmetalayers_mut().add(&number.to_string(), b"content").unwrap();
        }
        assert!(frame.vlmetalayers_mut().add("too many", b"").is_err());
        let mut frame = Frame::open(frame.checkpoint().unwrap().to_bytes().unwrap()).unwrap().edit().unwrap();
        assert_eq!(frame.vlmetalayers().len(), most);
        assert!(frame.vlmetalayers_mut().add("too many", b"").is_err());
        assert!(frame.vlmetalayers_mut().add("_xxh3", b"").is_err());
        frame.vlmetalayers_mut().allow_many();
        frame.vlmetalayers_mut().add("not too many", b"").unwrap();
        let mut frame = Frame::open(frame.checkpoint().unwrap().to_bytes().unwrap()).unwrap().edit().unwrap();
        frame.vlmetalayers_mut().add("one more", b"").unwrap();
    }
}

/// The length of their list does not fit into its 16 bits, and is not to be trusted.
#[test]
fn thousands_of_metalayers_are_read_back() {
    for (checksums, most) in [(true, 8191_usize), (false, 8192)] {
        let mut frame = frame(FrameOptions::new(Options::new(1)).with_checksums(checksums));
        frame.append(b"data").unwrap();
        frame.vlmetalayers_mut().allow_many();
        for number in 0..most {
            frame
                .vlmetalayers_mut()
                .add(&format!("metalayer {number}"), &[(number as u64).to_le_bytes()[0]; 3])
                .unwrap();
        }
        assert!(frame.vlmetalayers_mut().add("too many", b"").is_err());
        let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
        let mut read = Frame::open(bytes).unwrap().edit().unwrap();
        assert_eq!(read.vlmetalayers().len(), most);
        assert_eq!(read.vlmetalayers().get("metalayer 8190").unwrap(), Some(vec![8190_i32.to_le_bytes()[0]; 3]));
        assert!(read.verify().unwrap().is_good());
        read.vlmetalayers_mut().remove("metalayer 0").unwrap();
        read.vlmetalayers_mut().add("another", b"").unwrap();
        assert_eq!(Frame::open(read.checkpoint().unwrap().to_bytes().unwrap()).unwrap().vlmetalayers().len(), most);
    }
}

#[test]
fn what_is_refused_changes_nothing() {
    let mut frame = frame(FrameOptions::new(Options::new(4)));
    frame.append(&[1; 400]).unwrap();
    frame.append(&[2; 40]).unwrap();
    let short =
        blosc_oxide::compress(&[7; 4], &Options::new(4).with_format(Format::Blosc1).with_threads(Threads::serial()));
    let vlblocks = blosc_oxide::Compressor::new(Options::new(4)).unwrap().compress_vlblocks(&[b"a", b"bc"]).unwrap();
    let empty = blosc_oxide::compress(&[], &Options::new(4)).unwrap();
    for chunk in [&short.unwrap(), &vlblocks, &empty, &Vec::from(b"no chunk")] {
        assert!(frame.append_chunk(chunk).is_err());
        assert!(frame.insert_chunk(0, chunk).is_err());
        assert!(frame.update_chunk(1, chunk).is_err());
    }
    assert!(frame.append(&[]).is_err());
    assert!(frame.insert(3, &[1; 400]).is_err());
    assert!(frame.update(2, &[1; 400]).is_err());
    assert!(frame.delete(2).is_err());
    assert!(frame.reorder(&[0, 0]).is_err());
    assert!(frame.reorder(&[0]).is_err());
    assert!(frame.write(1, &[0; 440]).is_err());
    assert!(frame.fill(Special::Zeros, 400, 0).is_err());
    assert!(frame.fill(Special::Zeros, 401, 4).is_err());
    let largest = usize::MAX / 4 * 4;
    assert!(frame.fill(Special::Zeros, 1 << 63, largest).is_err());
    assert!(frame.fill(Special::Value, 400, 400).is_err());
    assert!(frame.fill_value(&[1; 3], 400, 400).is_err());
    assert_eq!((frame.nchunks(), frame.nbytes(), frame.chunksize()), (2, 440, Some(400)));
    assert!(!frame.has_vlblocks());
    assert!(frame.verify().unwrap().is_good());
}

#[test]
fn what_can_only_be_read_cannot_be_edited() {
    let bytes = frame(FrameOptions::new(Options::new(1))).checkpoint().unwrap().to_bytes().unwrap();
    let frame = Frame::open(Location::source(MemoryStorage::new(bytes))).unwrap();
    assert_eq!(frame.edit().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(frame.clone().edit().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!((frame.has_vlblocks(), frame.chunksize(), frame.is_changed()), (false, None, false));
}

#[test]
fn a_chunk_that_is_the_only_one_sets_the_size_of_all() {
    let mut frame = frame(FrameOptions::new(Options::new(1)));
    frame.append(&[1; 100]).unwrap();
    frame.update(0, &[2; 200]).unwrap();
    assert_eq!(frame.chunksize(), Some(200));
    frame.append(&[3; 200]).unwrap();
    frame.append(&[4; 50]).unwrap();
    assert_eq!(frame.chunksize(), Some(200));
    frame.append(&[5; 200]).unwrap();
    assert_eq!(frame.chunksize(), None);
    let frame = Frame::open(frame.checkpoint().unwrap().to_bytes().unwrap()).unwrap();
    assert_eq!((frame.chunksize(), frame.nbytes()), (None, 650));
    assert_eq!(frame.decompress(2).unwrap(), [4; 50]);
}

#[test]
fn the_version_of_a_frame_is_that_of_its_last_commit() {
    let mut contiguous = frame(FrameOptions::new(Options::new(1)));
    let mut sparse = Frame::create(MemoryDirectory::new(), Options::new(1)).unwrap();
    for edit in [&mut contiguous, &mut sparse] {
        assert_eq!(edit.checkpoint().unwrap().version(), FrameVersion::Current(2));
        edit.append(&[1; 10]).unwrap();
        edit.append(&[2; 20]).unwrap();
        assert_eq!(edit.checkpoint().unwrap().version(), FrameVersion::Current(3));
    }
}

#[test]
fn a_copy_keeps_special_chunks_special() {
    let mut sc = SuperChunk::new(Options::new(8)).unwrap();
    for special in [Special::Zeros, Special::NaN, Special::Uninit] {
        sc.fill(special, 1 << 40, 1 << 30).unwrap();
    }
    sc.fill_value(&[1, 2, 3, 4, 5, 6, 7, 8], 1 << 31, 1 << 30).unwrap();
    let copy = sc.copy(Options::new(8).with_codec(Codec::Zstd)).unwrap();
    assert_eq!(copy.nbytes(), (3 << 40) + (1 << 31));
    assert_eq!(copy.chunk_special(1024).unwrap(), Some(Special::NaN));
    assert_eq!(copy.cbytes(), 80);
    assert_eq!(copy.items((3 << 37) + 5..(3 << 37) + 6).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_block_is_read_alone() {
    let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut frame = frame(FrameOptions::new(Options::new(4).with_blocksize(40_000)));
    frame.append(&data).unwrap();
    for (block, part) in data.chunks(40_000).enumerate() {
        assert!(frame.block(0, block).unwrap() == part, "block {block}");
    }
    assert_eq!(frame.block(0, 10).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

#[test]
fn edits_of_chunks_of_all_sizes_keep_their_places() {
    let mut sc = SuperChunk::new(Options::new(1)).unwrap();
    let mut model: Vec<Vec<u8>> = Vec::new();
    let mut rng = Rng::new(5);
    for step in 0..400_u32 {
        let data = vec![step.to_le_bytes()[0]; 1 + rng.below(90)];
        let at = rng.below(model.len() + 1);
        match rng.below(4) {
            0 if at < model.len() => {
                sc.update(at, &data).unwrap();
                model[at] = data;
            }
            1 if at < model.len() && model.len() > 20 => {
                sc.delete(at).unwrap();
                model.remove(at);
            }
            _ => {
                sc.insert(at, &data).unwrap();
                model.insert(at, data);
            }
        }
        let all = model.concat();
        let from = rng.below(all.len());
        let to = from + rng.below(all.len() - from + 1);
        assert_eq!(sc.bytes(from as u64..to as u64).unwrap(), all[from..to]);
    }
}

/// Data that does not compress to the same length twice.
fn noisy(seed: u32) -> Vec<u8> {
    (0..20_000_u32)
        .flat_map(|item| (item.wrapping_mul(seed).wrapping_mul(2_654_435_761) >> (seed % 13)).to_le_bytes())
        .collect()
}

#[test]
fn chunks_that_are_replaced_before_they_are_committed_leave_no_dead_bytes() {
    let bytes_after = |replaced: u32| {
        let mut frame = Frame::create(MemoryStorage::default(), FrameOptions::new(Options::new(4))).unwrap();
        frame.append(&noisy(1)).unwrap();
        frame.checkpoint().unwrap();
        frame.append(&noisy(2)).unwrap();
        frame.append(&noisy(3)).unwrap();
        for seed in 0..replaced {
            frame.update(1, &noisy(100 + seed % 5)).unwrap();
            assert_eq!(frame.decompress(1).unwrap(), noisy(100 + seed % 5));
            assert_eq!(frame.decompress(2).unwrap(), noisy(3));
        }
        frame.update(1, &noisy(7)).unwrap();
        frame.delete(2).unwrap();
        frame.append(&noisy(4)).unwrap();
        frame.checkpoint().unwrap();
        assert_eq!(frame.decompress(0).unwrap(), noisy(1));
        assert_eq!(frame.decompress(1).unwrap(), noisy(7));
        assert_eq!(frame.decompress(2).unwrap(), noisy(4));
        assert!(frame.verify().unwrap().damage.is_empty());
        frame.checkpoint().unwrap().to_bytes().unwrap().len()
    };
    let (once, often) = (bytes_after(0), bytes_after(40));
    assert!(often < once + 2 * noisy(1).len(), "{once} bytes became {often}");
}

#[test]
fn a_copy_counts_special_chunks_and_does_not_go_through_them() {
    const COUNT: usize = 50_000_000;
    let options = || FrameOptions::new(Options::new(4).with_threads(Threads::serial())).with_checksums(false);
    let mut hollow = frame(options());
    hollow.append(&[1; 1000]).unwrap();
    hollow.fill(Special::Zeros, 1000 * COUNT as u64 + 400, 1000).unwrap();
    let mut copy = frame(options());
    let start = std::time::Instant::now();
    hollow.copy_to(&mut copy).unwrap();
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    assert_eq!((copy.nchunks(), copy.nbytes(), copy.chunksize()), (COUNT + 2, hollow.nbytes(), Some(1000)));
    assert_eq!(copy.bytes(0..1400).unwrap(), hollow.bytes(0..1400).unwrap());
    assert_eq!(copy.decompress(COUNT + 1).unwrap(), [0; 400]);
}
