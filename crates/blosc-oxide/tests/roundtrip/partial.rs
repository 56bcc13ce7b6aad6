//! Any part of a chunk can be read alone, and costs no more than the blocks that it touches.

use blosc_oxide::{
    Chunk, Codec, Compressor, Decompressor, Filter, Format, Frame, FrameOptions, Options, SplitMode,
    storage::MemoryStorage,
};
use testkit::Rng;
use testkit::golden::Golden;

fn ramp(items: u32) -> Vec<u8> {
    (0..items).flat_map(|i| (i * 7 / 3).to_le_bytes()).collect()
}

fn check_parts(name: &str, bytes: &[u8], rng: &mut Rng) {
    let chunk = Chunk::parse(bytes).unwrap();
    let plain = chunk.decompress().unwrap();
    let mut decompressor = Decompressor::new();
    for _ in 0..10 {
        let (a, b) = (rng.below(plain.len() + 1), rng.below(plain.len() + 1));
        let range = a.min(b)..a.max(b);
        let part = decompressor.bytes(&chunk, range.clone()).unwrap();
        assert!(part == plain[range.clone()], "{name}: bytes {range:?}");

        let typesize = chunk.header().typesize();
        let items = range.start / typesize..range.end / typesize;
        let part = decompressor.items(&chunk, items.clone()).unwrap();
        assert!(part == plain[items.start * typesize..items.end * typesize], "{name}: items {items:?}");
    }
    if chunk.header().nblocks() > 0 {
        check_block_set(name, &chunk, &plain, rng);
    }
}

/// Only the blocks that were asked for are written, each where it belongs.
fn check_block_set(name: &str, chunk: &Chunk<'_>, plain: &[u8], rng: &mut Rng) {
    let mut wanted: Vec<usize> = (0..chunk.header().nblocks()).filter(|_| rng.below(3) == 0).collect();
    wanted.push(chunk.header().nblocks() - 1);
    wanted.dedup();
    let mut out: Vec<u8> = plain.iter().map(|byte| !byte).collect();
    Decompressor::new().blocks_into(chunk, &wanted, &mut out).unwrap();
    for index in 0..chunk.header().nblocks() {
        let range = chunk.block_range(index).unwrap();
        let is_there = out[range.clone()] == plain[range.clone()];
        assert_eq!(is_there, wanted.contains(&index), "{name}: block {index} of {wanted:?}");
    }
}

#[test]
fn any_part_of_any_chunk_of_others_is_the_same_part_of_the_whole() {
    let golden = Golden::repository();
    let mut rng = Rng::new(3);
    for entry in golden.chunks() {
        if entry.kind != "lazychunk" {
            check_parts(&entry.file, &entry.read(), &mut rng);
        }
    }
}

#[test]
fn any_part_of_our_own_chunks_is_the_same_part_of_the_whole() {
    let data = ramp(20_000);
    let mut rng = Rng::new(4);
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle], vec![Filter::Delta, Filter::Shuffle]] {
            for split in [SplitMode::Always, SplitMode::Never] {
                let options = Options::new(4)
                    .with_codec(codec)
                    .with_filters(filters.clone())
                    .with_split(split)
                    .with_blocksize(3000);
                let name = format!("{options:?}");
                check_parts(&name, &blosc_oxide::compress(&data[..79_999], &options).unwrap(), &mut rng);
                if filters.len() < 2 {
                    let blosc1 = blosc_oxide::compress(&data, &options.with_format(Format::Blosc1)).unwrap();
                    check_parts(&name, &blosc1, &mut rng);
                }
            }
        }
        let blocks: Vec<&[u8]> = data.chunks(1234).collect();
        let chunk = Compressor::new(Options::new(4).with_codec(codec)).unwrap().compress_vlblocks(&blocks).unwrap();
        check_parts("variable-length blocks", &chunk, &mut rng);
    }
}

/// A chunk of ten blocks of 4000 bytes in which every block but those of `intact` is noise.
fn damaged_but_for(intact: &[usize], filters: Vec<Filter>) -> Vec<u8> {
    let options =
        Options::new(4).with_codec(Codec::Lz4).with_filters(filters).with_blocksize(4000).with_split(SplitMode::Never);
    let mut bytes = blosc_oxide::compress(&ramp(10_000), &options).unwrap();
    assert!(!Chunk::parse(&bytes).unwrap().header().is_memcpyed(), "there are no streams to damage");
    let start = |bytes: &[u8], index: usize| {
        let at = 32 + 4 * index;
        usize::try_from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())).unwrap()
    };
    for index in (0..10).filter(|index| !intact.contains(index)) {
        let end = if index < 9 { start(&bytes, index + 1) } else { bytes.len() };
        let from = start(&bytes, index);
        bytes[from..end].fill(0xee);
    }
    bytes
}

#[test]
fn damage_elsewhere_does_not_matter() {
    let bytes = damaged_but_for(&[4, 5], vec![Filter::Shuffle]);
    let (chunk, data) = (Chunk::parse(&bytes).unwrap(), ramp(10_000));
    assert!(chunk.decompress().is_err());
    assert_eq!(chunk.block(4).unwrap(), data[16_000..20_000]);
    assert_eq!(chunk.bytes(16_001..23_999).unwrap(), data[16_001..23_999]);
    assert_eq!(chunk.items(4000..4001).unwrap(), data[16_000..16_004]);
    assert!(chunk.bytes(15_999..16_001).is_err());
    let mut out = vec![0; data.len()];
    Decompressor::new().blocks_into(&chunk, &[5, 4], &mut out).unwrap();
    assert_eq!(out[16_000..24_000], data[16_000..24_000]);
}

#[test]
fn delta_needs_its_own_block_and_the_first() {
    let bytes = damaged_but_for(&[0, 7], vec![Filter::Delta, Filter::Shuffle]);
    let (chunk, data) = (Chunk::parse(&bytes).unwrap(), ramp(10_000));
    assert_eq!(chunk.block(7).unwrap(), data[28_000..32_000]);
    assert_eq!(chunk.bytes(30_001..30_007).unwrap(), data[30_001..30_007]);
    assert!(chunk.block(6).is_err());
    let bytes = damaged_but_for(&[7], vec![Filter::Delta, Filter::Shuffle]);
    assert!(Chunk::parse(&bytes).unwrap().block(7).is_err(), "the first block is gone");
}

#[test]
fn an_empty_part_is_empty() {
    let bytes = damaged_but_for(&[], vec![Filter::Shuffle]);
    let chunk = Chunk::parse(&bytes).unwrap();
    assert!(chunk.bytes(500..500).unwrap().is_empty());
    assert!(chunk.items(10_000..10_000).unwrap().is_empty());
}

#[test]
fn a_block_is_read_to_its_end_though_another_seems_to_start_inside_it() {
    const BLOCK: usize = 64 << 10;
    let mut rng = Rng::new(7);
    let mut data: Vec<u8> = (0..4 * BLOCK).map(|_| rng.byte()).collect();
    // Else there would be no blocks: the chunk would be stored as it is.
    data[2 * BLOCK..3 * BLOCK].fill(3);
    let options = Options::new(1).with_codec(Codec::Lz4).with_filters([]).with_blocksize(BLOCK);
    let options = FrameOptions::new(options).with_checksums(false);
    let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
    frame.append(&data).unwrap();
    let start = usize::try_from(frame.chunk_position(0).unwrap().unwrap()).unwrap() + 32 + 4;
    let mut bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    assert_eq!(bytes[start..start + 4], (32 + 16 + 4 + (64_u32 << 10)).to_le_bytes());
    bytes[start + 2] ^= 1;
    let frame = Frame::open(bytes).unwrap();
    frame.decompress(0).unwrap_err();
    assert!(frame.bytes(0..60_000).unwrap() == data[..60_000]);
    assert!(frame.bytes(3 * BLOCK as u64..4 * BLOCK as u64).unwrap() == data[3 * BLOCK..]);
}
