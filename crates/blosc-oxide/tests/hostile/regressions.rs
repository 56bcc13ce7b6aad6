//! Every bug that was found, as the input that showed it.

use blosc_oxide::{
    ArrayOptions, AxisSelection, Chunk, Codec, Decompressor, ErrorKind, Fill, Filter, Format, Frame, FrameOptions,
    Limits, Location, NdArray, Options, Result, Special,
    plugin::{CodecContext, CodecPlugin, Plugins},
    storage::MemoryStorage,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A Blosc2 header of version 5 with these fields, and zeros elsewhere.
fn header(flags: u8, typesize: u8, nbytes: i32, blocksize: i32, cbytes: i32) -> Vec<u8> {
    let mut bytes = vec![5, 1, flags, typesize];
    for field in [nbytes, blocksize, cbytes] {
        bytes.extend_from_slice(&field.to_le_bytes());
    }
    bytes.extend_from_slice(&[0; 16]);
    bytes
}

#[test]
fn an_empty_chunk_with_delta_has_no_first_block_to_decode() {
    let mut chunk = header(0x0d, 1, 0, 1, 40);
    chunk[16] = Filter::Delta.id();
    chunk.extend_from_slice(&36_i32.to_le_bytes());
    chunk.extend_from_slice(&0_i32.to_le_bytes());
    assert!(blosc_oxide::decompress(&chunk).unwrap().is_empty());
}

/// A codec that compresses everything to nothing.
struct Vanish;

impl CodecPlugin for Vanish {
    fn compress(&self, _: &[u8], _: &mut [u8], _: CodecContext<'_>) -> Result<Option<usize>> {
        Ok(Some(0))
    }

    fn decompress(&self, _: &[u8], dst: &mut [u8], _: CodecContext<'_>) -> Result<usize> {
        dst.fill(7);
        Ok(dst.len())
    }
}

#[test]
fn an_empty_stream_of_a_plugin_is_not_taken_for_zeros() {
    let plugins = Plugins::new().with_codec(200, Arc::new(Vanish)).unwrap();
    let options = Options::new(1).with_codec(Codec::Plugin(200)).with_plugins(plugins.clone());
    let data: Vec<u8> = (0..1000_u16).map(|i| u8::try_from(i % 251).unwrap()).collect();
    let chunk = blosc_oxide::compress(&data, &options).unwrap();
    assert_eq!(Decompressor::new().with_plugins(plugins).decompress(&chunk).unwrap(), data);
}

#[test]
fn the_block_size_of_an_instrumented_chunk_is_not_rounded_to_items() {
    // One unsplit stream of typesize 12: sixteen bytes of measurements, which are no multiple of
    // twelve.
    let mut chunk = header(0x95, 12, 16, 16, 32 + 4 + 4 + 16);
    chunk[21] = Filter::Shuffle.id();
    chunk[22] = Codec::Zstd.code();
    chunk[31] = 0x80;
    chunk.extend_from_slice(&36_i32.to_le_bytes());
    chunk.extend_from_slice(&16_i32.to_le_bytes());
    chunk.extend(0..16_u8);
    assert_eq!(blosc_oxide::decompress(&chunk).unwrap(), (0..16).collect::<Vec<u8>>());
}

#[test]
fn blocks_of_a_byte_cannot_share_a_long_stream() {
    // A thousand blocks of one byte that all point at the same half megabyte.
    const BLOCKS: i32 = 1000;
    let stream = vec![0x78; 500_000];
    let stream_at = 16 + 4 * BLOCKS;
    let stream_len = i32::try_from(stream.len()).unwrap();
    let mut chunk = vec![2, 1, 0x70, 1];
    for field in [BLOCKS, 1, stream_at + 4 + stream_len] {
        chunk.extend_from_slice(&field.to_le_bytes());
    }
    for _ in 0..BLOCKS {
        chunk.extend_from_slice(&stream_at.to_le_bytes());
    }
    chunk.extend_from_slice(&stream_len.to_le_bytes());
    chunk.extend_from_slice(&stream);
    let start = Instant::now();
    let error = blosc_oxide::decompress(&chunk).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.to_string(), "block 0: stream: its size is 500000, it can be 1 to 33");
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_special_chunk_is_not_made_in_a_format_that_has_none() {
    let options = Options::new(4).with_format(Format::Blosc1);
    let error = blosc_oxide::special_chunk(Special::Zeros, 400, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(blosc_oxide::fill_chunk(&[1; 4], 400, &options).is_err());
}

#[test]
fn bytedelta_of_items_too_large_for_a_header_needs_its_number_of_planes() {
    let error = blosc_oxide::compress(&[1; 3000], &Options::new(300).with_filters([Filter::ByteDelta(0)])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let options = Options::new(300).with_filters([Filter::ByteDelta(100)]);
    let data: Vec<u8> = (0..3000_u32).map(|i| u8::try_from(i % 100).unwrap()).collect();
    assert_eq!(blosc_oxide::decompress(&blosc_oxide::compress(&data, &options).unwrap()).unwrap(), data);
}

#[cfg(feature = "zlib")]
#[test]
fn a_zlib_stream_after_one_that_did_not_fit_is_whole() {
    let mut rng = testkit::Rng::new(5);
    let random: Vec<u8> = (0..64_809).map(|_| rng.byte()).collect();
    for level in 1..=9 {
        let options =
            Options::new(1).with_codec(Codec::Zlib).with_level(level).with_filters([]).with_blocksize(random.len());
        for shift in 0..8 {
            let tail: Vec<u8> = (0..9_000_u32).map(|i| (i >> shift).to_le_bytes()[0]).collect();
            let data = [&random[..], &tail].concat();
            let options = options.clone().with_threads(blosc_oxide::Threads::serial());
            let chunk = blosc_oxide::compress(&data, &options).unwrap();
            assert!(blosc_oxide::decompress(&chunk).unwrap() == data, "level {level}, shift {shift}");
        }
    }
}

/// C-Blosc2 deletes the last chunk, and writes the trailer directly behind the header; the length
/// of the section stays.
#[test]
fn a_frame_whose_chunks_were_all_deleted_by_the_reference_is_opened() {
    let options = FrameOptions::new(Options::new(4)).with_checksums(false);
    let mut bytes = Frame::create(MemoryStorage::default(), options).unwrap().checkpoint().unwrap().to_bytes().unwrap();
    bytes[39..47].copy_from_slice(&768_i64.to_be_bytes());
    bytes[58..62].copy_from_slice(&2000_i32.to_be_bytes());
    let mut frame = Frame::open(bytes).unwrap().edit().unwrap();
    assert_eq!((frame.nchunks(), frame.nbytes(), frame.cbytes()), (0, 0, 0));
    frame.append(&[7; 2000]).unwrap();
    let frame = Frame::open(frame.checkpoint().unwrap().to_bytes().unwrap()).unwrap();
    assert_eq!(frame.bytes(0..2000).unwrap(), [7; 2000]);
}

/// Found by fuzzing: the list of chunks along the first axis was made before anybody saw that there
/// are no items.
#[test]
fn an_axis_of_any_length_is_fine_if_another_has_none() {
    let options = ArrayOptions::new(&[1 << 55, 0], Options::new(1)).with_chunks(&[1, 1]).with_blocks(&[1, 1]);
    let array = NdArray::new(&options, &Fill::Zeros).unwrap();
    assert!(array.to_vec().unwrap().is_empty());
    assert!(array.slice(&[AxisSelection::slice(0, None, 3), AxisSelection::All]).unwrap().is_empty());
}

/// An array of zeros in one chunk, in blocks of a single item.
fn zeros_in_tiny_blocks(items: u64, limits: Limits) -> NdArray {
    let options = ArrayOptions::new(&[items], Options::new(1)).with_chunks(&[items]).with_blocks(&[1]);
    let frame = FrameOptions::new(Options::new(1)).with_limits(limits);
    NdArray::create(Location::storage(MemoryStorage::default()), &options.with_frame(frame), &Fill::Zeros)
        .unwrap()
        .commit()
        .unwrap()
}

#[test]
fn what_is_known_about_each_block_of_a_slice_is_held_to_the_limit() {
    let array = zeros_in_tiny_blocks(4 << 20, Limits::new().with_max_allocation(8 << 20));
    assert_eq!(array.to_vec().unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(array.slice(&[AxisSelection::from(1000..1003)]).unwrap(), [0; 3]);
}

#[test]
fn blocks_between_two_items_are_not_looked_at() {
    let array = zeros_in_tiny_blocks(2_000_000_000, Limits::new());
    let start = Instant::now();
    assert_eq!(array.slice(&[AxisSelection::indices([0, 1_999_999_999])]).unwrap(), [0; 2]);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_variable_length_metalayer_is_held_to_the_limits_of_its_frame() {
    let mut frame = Frame::create(MemoryStorage::default(), Options::new(1)).unwrap();
    frame.vlmetalayers_mut().add("bomb", &vec![0; 1 << 20]).unwrap();
    let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    assert!(bytes.len() < 1000);
    let options = FrameOptions::new(Options::new(1)).with_limits(Limits::new().with_max_allocation(64 << 10));
    let frame = Frame::open_with(Location::source(MemoryStorage::new(bytes)), &options.opening()).unwrap();
    assert_eq!(frame.vlmetalayers().get("bomb").unwrap_err().kind(), ErrorKind::LimitExceeded);
}

/// Each of them is below the limit, and a file of 8 MB can have 8 GB in them.
#[test]
fn variable_length_metalayers_are_verified_as_far_as_the_limits_allow() {
    let mut frame = Frame::create(MemoryStorage::default(), Options::new(1)).unwrap();
    let content: Vec<u8> = (0_u8..7).cycle().take(400_000).collect();
    // What is one value only need not be decoded.
    frame.vlmetalayers_mut().add("zeros", &vec![0; 1 << 24]).unwrap();
    for name in ["a", "b", "c"] {
        frame.vlmetalayers_mut().add(name, &content).unwrap();
    }
    let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    let verified = |limit: usize| {
        let options = FrameOptions::new(Options::new(1)).with_limits(Limits::new().with_max_allocation(limit));
        Frame::open_with(Location::source(MemoryStorage::new(bytes.clone())), &options.opening())
            .unwrap()
            .verify()
            .unwrap()
    };
    assert!(verified(1_200_000).is_good());
    let found = verified(1_199_999);
    assert_eq!((found.damaged, found.unexamined), (0, 1));
    let why = found.obstacle.unwrap();
    assert_eq!(why.kind(), ErrorKind::LimitExceeded);
    let why = why.to_string();
    assert!(why.starts_with("metalayer \"c\": after 800000 bytes in others: "), "{why}");
    assert_eq!(verified(100_000).unexamined, 3);
}

/// C-Blosc2 asks the super-chunk for the size of items where the meta byte is 0, and refuses a
/// chunk that has none.
#[test]
fn a_chunk_with_bytedelta_says_how_many_planes_it_has() {
    let data: Vec<u8> = (0..4000_u32).flat_map(u32::to_le_bytes).collect();
    let options = Options::new(4).with_filters([Filter::Shuffle, Filter::ByteDelta(0)]);
    let chunk = blosc_oxide::compress(&data, &options).unwrap();
    let header = *Chunk::parse(&chunk).unwrap().header();
    assert_eq!(header.pipeline().filters().last(), Some(Filter::ByteDelta(4)));
    assert_eq!(blosc_oxide::decompress(&chunk).unwrap(), data);
}

/// A frame of items of `typesize` bytes, in chunks of 24 bytes that the index alone says are NaNs;
/// the last one has 18.
fn frame_of_nans(typesize: u32) -> Vec<u8> {
    let options = FrameOptions::new(Options::new(4)).with_checksums(false);
    let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
    frame.fill(Special::NaN, 72, 24).unwrap();
    let mut bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    bytes[48..52].copy_from_slice(&typesize.to_be_bytes());
    bytes[30..38].copy_from_slice(&66_u64.to_be_bytes());
    bytes
}

#[test]
fn nans_of_items_that_have_none_stay_what_they_are() {
    let nan = [0, 0, 0, 0, 0, 0, 0xf8, 0x7f];
    let mut expected: Vec<u8> = [nan; 9].concat();
    expected.truncate(66);
    for typesize in [1, 2, 3, 6, 16] {
        let mut frame = Frame::open(frame_of_nans(typesize)).unwrap().edit().unwrap();
        assert_eq!(frame.bytes(0..66).unwrap(), expected, "{typesize}");
        assert_eq!(
            blosc_oxide::decompress(&frame.chunk(2).unwrap()).unwrap(),
            expected[48..],
            "{typesize}: a chunk by itself"
        );
        assert_eq!(frame.copy(Options::new(1)).unwrap().bytes(0..66).unwrap(), expected, "{typesize}: a copy");
        // A chunk of another size, so that each has to carry its own.
        frame.append(&[7; 48]).unwrap();
        frame.checkpoint().unwrap();
        assert_eq!(frame.bytes(0..66).unwrap(), expected, "{typesize}: after an append");
        let again = Frame::open(frame.checkpoint().unwrap().to_bytes().unwrap()).unwrap();
        assert_eq!(again.bytes(0..66).unwrap(), expected, "{typesize}: opened again");
        assert_eq!(again.bytes(66..114).unwrap(), [7; 48]);
    }
}
