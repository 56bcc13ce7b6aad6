//! The frame that doc/format/frame.md shows byte by byte.

use blosc_oxide::{Frame, FrameOptions, Options, Special, storage::MemoryStorage};

const HEADER: &[&[u8]] = &[
    b"\x9e\xa8b2frame\0",
    b"\xd2\0\0\0\x72",
    b"\xcf\0\0\0\0\0\0\x01\x0d",
    b"\xa4\x12\0\x50\x03",
    b"\xd3\0\0\0\0\0\0\0\x50",
    b"\xd3\0\0\0\0\0\0\0\x48",
    b"\xd2\0\0\0\x04",
    b"\xd2\0\0\0\0",
    b"\xd2\0\0\0\x28",
    b"\xd1\0\x01\xd1\0\x01",
    b"\xc2",
    b"\xd8\x06\0\0\0\0\0\x01",
    b"\0\0\0\0\0\0\0\0\0\0",
    b"\x93\xcd\0\x11\xde\0\x01",
    b"\xa4unit\xd2\0\0\0\x6b",
    b"\xdc\0\x01",
    b"\xc6\0\0\0\x02\xa1m",
];
const INDEX: [u8; 16] = *b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x81";
const TRAILER: &[&[u8]] = &[b"\x94\x01\x93\xcd\0\x06\xde\0\0\xdc\0\0", b"\xce\0\0\0\x23\xd8\0", &[0; 16]];

#[test]
fn the_frame_of_the_documentation_has_the_bytes_that_are_shown() {
    let options = FrameOptions::new(Options::new(4)).with_checksums(false).with_metalayer("unit", b"\xa1m");
    let mut frame = Frame::create(MemoryStorage::default(), options).unwrap();
    let data: Vec<u8> = (0..40).map(|at: u8| at.wrapping_mul(113)).collect();
    frame.append(&data).unwrap();
    frame.fill(Special::Zeros, 40, 40).unwrap();
    frame.compact().unwrap();
    let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    assert_eq!(bytes[..114], HEADER.concat());
    assert_eq!(bytes[114 + 32..186], data);
    assert_eq!(bytes[186 + 32..234], INDEX);
    assert_eq!(bytes[234..], TRAILER.concat());
}
