//! Lizard is read where it is found, and never written.

use blosc_oxide::{
    Codec, ErrorKind, Frame, FrameOptions, Options, Threads, compress, legacy::EarlyFrame, storage::MemoryStorage,
};
use std::io::Cursor;

/// Where a frame keeps its level and, of codes above 5, that the code is elsewhere; and where that
/// is.
const CODEC_FLAGS_AT: usize = 27;
const CODEC_AT: usize = 77;

fn frame_that_says_lizard() -> Vec<u8> {
    let options = FrameOptions::new(Options::new(4).with_codec(Codec::Lz4)).with_checksums(false);
    let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
    frame.append(&[7; 4000]).unwrap();
    frame.checkpoint().unwrap();
    let mut bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    bytes[CODEC_FLAGS_AT] = 0x56;
    bytes[CODEC_AT] = Codec::Lizard.code();
    bytes
}

#[test]
fn compressing_with_lizard_is_refused() {
    let error = compress(&[1; 1000], &Options::new(4).with_codec(Codec::Lizard)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("lizard is read, but not written"), "{error}");
}

#[test]
fn appending_to_a_frame_of_lizard_is_refused_and_changes_nothing() {
    let bytes = frame_that_says_lizard();
    let options = Options::new(4).with_threads(Threads::serial());
    let mut frame = Frame::open_with(MemoryStorage::new(bytes.clone()), &FrameOptions::from(&options).opening())
        .unwrap()
        .edit()
        .unwrap();
    assert_eq!(frame.codec(), Codec::Lizard);
    let error = frame.append(&[8; 4000]).unwrap_err();
    assert!(error.to_string().contains("lizard is read, but not written"), "{error}");
    assert_eq!((frame.nchunks(), frame.decompress(0).unwrap()), (1, vec![7; 4000]));
}

#[test]
fn an_early_frame_of_lizard_is_not_written() {
    let frame = Frame::open(frame_that_says_lizard()).unwrap();
    for format in [EarlyFrame::Beta1, EarlyFrame::Beta5] {
        let error = frame.write_early(format, &mut Cursor::new(Vec::new())).unwrap_err();
        assert_eq!(error.to_string(), "an early frame has no lizard", "{format:?}");
    }
}

#[cfg(not(feature = "lizard"))]
#[test]
fn without_the_feature_a_chunk_of_lizard_is_an_error_that_names_it() {
    let mut chunk =
        compress(&[7; 1000], &Options::new(4).with_format(blosc_oxide::Format::Blosc1).with_level(5)).unwrap();
    chunk[2] = chunk[2] & 0x1f | 5 << 5;
    let error = blosc_oxide::decompress(&chunk).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "lizard: this build is without it; turn the feature on");
}
