//! Bitshuffled chunks follow the rule that the readers of their format have, and are read by the
//! rule of their writer.

use blosc_oxide::{
    BitshuffleRule, Chunk, Codec, Compressor, Decompressor, Filter, Frame, Options, SuperChunk,
    legacy::{EarlyFrame, PackedOptions, PackedRelease, PackedSuperChunk},
    storage::MemoryStorage,
};
use std::io::Cursor;

const TYPESIZE: usize = 4;
/// No multiple of eight items in the last block, nor in the one that is left of a chunk.
const SIZES: [usize; 6] = [9, 15, 1003, 1004, 40_001, 40_008];
const BLOCKSIZE: usize = 1 << 14;
/// Where the filters of a chunk with 32 bytes of header are.
const FILTERS: std::ops::Range<usize> = 16..22;
const BITSHUFFLE_FLAG: u8 = 0x04;
const VERSION: usize = 0;

fn data(items: usize) -> Vec<u8> {
    (0..u32::try_from(items).unwrap()).flat_map(|item| (item * 7 + (item >> 3)).to_le_bytes()).collect()
}

fn options() -> Options {
    Options::new(TYPESIZE).with_codec(Codec::Lz4).with_filters([Filter::BitShuffle]).with_blocksize(BLOCKSIZE)
}

/// Bit `k` of byte `j` of item `i` is bit `i % 8` of byte `i / 8` of row `8 * j + k`, written down
/// as it is defined.
fn untransposed(block: &[u8]) -> Vec<u8> {
    let items = block.len() / TYPESIZE;
    let mut out = vec![0; block.len()];
    for (item, byte, bit) in (0..items).flat_map(|i| (0..TYPESIZE).flat_map(move |j| (0..8).map(move |k| (i, j, k)))) {
        let row = (8 * byte + bit) * (items / 8);
        let set = block[row + item / 8] >> (item % 8) & 1;
        out[item * TYPESIZE + byte] |= set << bit;
    }
    out
}

/// What a reader with this rule makes of a filtered block.
fn unfiltered(block: &[u8], rule: BitshuffleRule) -> Vec<u8> {
    let items = block.len() / TYPESIZE;
    let transposed = match rule {
        BitshuffleRule::Old if items.is_multiple_of(8) => items,
        BitshuffleRule::Old => 0,
        BitshuffleRule::Current => items - items % 8,
    };
    let (head, tail) = block.split_at(transposed * TYPESIZE);
    [untransposed(head), tail.to_vec()].concat()
}

/// What a reader with this rule makes of a chunk.
fn read_by(chunk: &[u8], rule: BitshuffleRule) -> Vec<u8> {
    let mut bare = chunk.to_vec();
    let header = *Chunk::parse(chunk).unwrap().header();
    if header.is_memcpyed() {
        return blosc_oxide::decompress(chunk).unwrap();
    }
    if header.is_extended() {
        bare[FILTERS].fill(0);
    } else {
        bare[2] &= !BITSHUFFLE_FLAG;
    }
    let filtered = blosc_oxide::decompress(&bare).unwrap();
    filtered.chunks(header.blocksize()).flat_map(|block| unfiltered(block, rule)).collect()
}

fn early(format: EarlyFrame, data: &[u8]) -> Frame {
    let mut sc = SuperChunk::new(options()).unwrap();
    sc.append(data).unwrap();
    let mut bytes = Cursor::new(Vec::new());
    sc.write_early(format, &mut bytes).unwrap();
    Frame::open(bytes.into_inner()).unwrap()
}

/// The bytes of the first chunk as they are in the frame.
fn stored(frame: &Frame) -> Vec<u8> {
    let position = usize::try_from(frame.chunk_position(0).unwrap().unwrap()).unwrap();
    let bytes = frame.to_bytes().unwrap();
    Chunk::parse(&bytes[position..]).unwrap().as_bytes().to_vec()
}

#[test]
fn early_frames_are_right_for_the_release_they_are_written_for() {
    let mut ragged = 0;
    for items in SIZES {
        let data = data(items);
        let rules = [(EarlyFrame::Beta1, BitshuffleRule::Old), (EarlyFrame::Beta5, BitshuffleRule::Current)];
        for (format, rule) in rules {
            let frame = early(format, &data);
            let chunk = stored(&frame);
            assert_eq!(read_by(&chunk, rule), data, "{items} items as {format:?}");
            assert_eq!(frame.bytes(0..data.len() as u64).unwrap(), data, "{items} items as {format:?}");
            ragged += usize::from(Chunk::parse(&chunk).unwrap().header().has_ragged_bitshuffle());
        }
    }
    assert!(ragged >= 4, "{ragged} chunks of which the rules make different data");
}

#[test]
fn packed_super_chunks_are_right_for_the_release_they_are_written_for() {
    for (items, release) in
        SIZES.into_iter().flat_map(|items| [(items, PackedRelease::Alpha2), (items, PackedRelease::Alpha4)])
    {
        let data = data(items);
        let options = PackedOptions::new(TYPESIZE)
            .with_codec(Codec::Lz4)
            .with_filters([Filter::BitShuffle])
            .with_release(release);
        let bytes = options.pack([&data]).unwrap();
        let packed = PackedSuperChunk::open_in(&bytes[..]).unwrap();
        assert_eq!(read_by(&packed.chunk(0).unwrap(), BitshuffleRule::Old), data, "{items} items for {release:?}");
        assert_eq!(packed.decompress(0).unwrap(), data);
    }
}

#[test]
fn today_s_chunks_follow_the_current_rule() {
    for items in SIZES {
        let data = data(items);
        let chunk = Compressor::new(options()).unwrap().compress(&data).unwrap();
        assert_eq!(read_by(&chunk, BitshuffleRule::Current), data);
        let by_old = Decompressor::new().with_bitshuffle(BitshuffleRule::Old).decompress(&chunk).unwrap();
        assert_eq!(by_old, data, "a chunk that tells its rule is read by it, whatever the caller chooses");
    }
}

#[test]
fn a_chunk_taken_out_of_an_early_frame_is_the_same_data() {
    let data = data(1003);
    let frame = early(EarlyFrame::Beta1, &data);
    assert_eq!(blosc_oxide::decompress(&frame.chunk(0).unwrap()).unwrap(), data);
    let mut copy = Frame::create(MemoryStorage::default(), frame.options().clone()).unwrap();
    frame.copy_to(&mut copy).unwrap();
    assert_eq!(copy.bytes(0..data.len() as u64).unwrap(), data);
    assert_eq!(
        read_by(&stored(&copy.commit().unwrap()), BitshuffleRule::Current),
        data,
        "the copy follows the current rule"
    );
}

#[test]
fn a_chunk_of_the_alphas_that_is_put_into_a_frame_follows_the_current_rule_there() {
    let data = data(1003);
    // The bytes of a beta.1 chunk with the version and the slots of an alpha.
    let mut chunk = stored(&early(EarlyFrame::Beta1, &data));
    chunk[VERSION] = 3;
    chunk[FILTERS].copy_from_slice(&[0, 0, 0, 0, 2, 0]);
    assert_eq!(blosc_oxide::decompress(&chunk).unwrap(), data);
    let mut frame = Frame::create(MemoryStorage::default(), options()).unwrap();
    frame.append_chunk(&chunk).unwrap();
    assert_eq!(frame.bytes(0..data.len() as u64).unwrap(), data);
    assert_eq!(read_by(&stored(&frame.commit().unwrap()), BitshuffleRule::Current), data);
}

#[test]
fn blocks_of_a_chunk_with_another_rule_are_not_taken_over() {
    let data = data(40_001);
    let chunk = stored(&early(EarlyFrame::Beta5, &data));
    let mut frame = Frame::create(MemoryStorage::default(), options()).unwrap();
    frame.append_chunk(&chunk).unwrap();
    frame.write_items(0, &7_u32.to_le_bytes()).unwrap();
    let mut expected = data.clone();
    expected[..4].copy_from_slice(&7_u32.to_le_bytes());
    assert_eq!(frame.bytes(0..data.len() as u64).unwrap(), expected);
    assert_eq!(read_by(&stored(&frame.commit().unwrap()), BitshuffleRule::Current), expected);
}

#[test]
fn bytes_that_the_alphas_did_not_set_do_not_matter() {
    let data = data(1000);
    let mut chunk = stored(&early(EarlyFrame::Beta1, &data));
    chunk[VERSION] = 3;
    chunk[FILTERS].copy_from_slice(&[0, 0, 0, 0, 2, 0]);
    for byte in [21, 22, 23, 29, 30] {
        for garbage in [1, 0x7f, 0xff] {
            let mut chunk = chunk.clone();
            chunk[byte] = garbage;
            assert_eq!(blosc_oxide::decompress(&chunk).unwrap(), data, "byte {byte} is {garbage:#04x}");
        }
    }
}
