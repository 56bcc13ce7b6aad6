//! Data of any length goes into and out of a super-chunk, the same for any number of threads.

mod io_traits;

use blosc_oxide::{
    Container, Frame, FrameLayout, FrameVersion, Options, Special, SuperChunk, Threads, storage::MemoryStorage,
};
use std::io::Read;

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| u8::try_from(i * i / 7 % 251).unwrap()).collect()
}

/// Gives bytes in small and uneven pieces, as a pipe does.
struct Dripping<'a>(&'a [u8]);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let len = buffer.len().min(self.0.len()).min(1 + self.0.len() % 1000);
        self.0.read(&mut buffer[..len])
    }
}

fn filled(threads: Threads, data: &[u8], chunk: usize) -> SuperChunk {
    let mut sc = SuperChunk::new(Options::new(4).with_threads(threads)).unwrap();
    assert_eq!(sc.extend_from(Dripping(data), chunk).unwrap(), data.len() as u64);
    sc
}

#[test]
fn what_goes_in_comes_out_for_any_number_of_threads() {
    for len in [0, 1, 1000, 99_999, 1_000_000] {
        let data = data(len);
        let alone = filled(Threads::serial(), &data, 40_000);
        let shared = filled(Threads::at_most(0), &data, 40_000);
        assert_eq!(alone.nchunks(), len.div_ceil(40_000));
        for index in 0..alone.nchunks() {
            assert_eq!(alone.chunk(index).unwrap(), shared.chunk(index).unwrap(), "{len}: chunk {index}");
        }
        let mut out = Vec::new();
        shared.write_to(0..len as u64, &mut out).unwrap();
        assert!(out == data, "{len}");
    }
}

#[test]
fn a_range_is_written_as_it_is_read() {
    let data = data(300_000);
    let mut sc = filled(Threads::at_most(0), &data, 70_000);
    sc.append(&data[..123]).unwrap();
    sc.fill(Special::Zeros, 4000, 4000).unwrap();
    for range in [0..0, 5..6, 69_999..70_001, 100_000..300_123, 0..304_123, 300_122..304_123] {
        let mut out = Vec::new();
        sc.write_to(range.clone(), &mut out).unwrap();
        assert!(out == sc.bytes(range.clone()).unwrap(), "{range:?}");
    }
    assert!(sc.write_to(5..304_124, std::io::sink()).is_err());
}

#[test]
fn a_short_last_chunk_is_filled_up() {
    let data = data(10_000);
    let mut sc = filled(Threads::serial(), &data[..5000], 2000);
    assert_eq!(sc.extend_from(&data[5000..], 2000).unwrap(), 5000);
    assert_eq!((sc.nchunks(), sc.chunksize()), (5, Some(2000)));
    assert_eq!(sc.bytes(0..10_000).unwrap(), data);
}

#[test]
fn an_error_of_the_source_is_reported() {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            if self.0 > 5 { Err(std::io::Error::other("the tape is torn")) } else { Ok(buffer.len()) }
        }
    }
    for threads in [Threads::serial(), Threads::at_most(0)] {
        let mut sc = SuperChunk::new(Options::new(1).with_threads(threads)).unwrap();
        let error = sc.extend_from(Failing(0), 1000).unwrap_err();
        assert_eq!(error.to_string(), "the tape is torn");
        assert_eq!((sc.nchunks(), sc.nbytes()), (0, 0));
    }
}

#[test]
fn a_chunk_without_size_is_refused() {
    let mut sc = SuperChunk::new(Options::new(1)).unwrap();
    assert!(sc.extend_from(&b"data"[..], 0).is_err());
}

#[test]
fn a_frame_tells_what_it_is() {
    let mut frame = Frame::create(MemoryStorage::default(), Options::new(4)).unwrap();
    frame.extend_from(&data(5000)[..], 2000).unwrap();
    frame.fill(Special::Zeros, 40, 40).unwrap();
    frame.checkpoint().unwrap();
    assert_eq!(
        (frame.checkpoint().unwrap().version(), frame.checkpoint().unwrap().layout()),
        (FrameVersion::Current(3), FrameLayout::Contiguous)
    );
    assert!(frame.checkpoint().unwrap().has_checksums());
    let bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    let position = usize::try_from(frame.chunk_position(1).unwrap().unwrap()).unwrap();
    assert!(bytes[position..].starts_with(&frame.chunk(1).unwrap()));
    assert_eq!(Container::detect(&bytes[..], 0).unwrap(), Some(Container::Frame));
}

#[test]
fn containers_are_told_apart_by_their_content() {
    let mut early = Vec::new();
    let sc = filled(Threads::serial(), &data(5000), 5000);
    sc.write_early(blosc_oxide::legacy::EarlyFrame::Beta1, std::io::Cursor::new(&mut early)).unwrap();
    let packed = blosc_oxide::legacy::PackedOptions::new(4).pack([data(500)]).unwrap();
    let cases = [
        (early, Some(Container::Frame)),
        (packed, Some(Container::Packed)),
        (sc.chunk(0).unwrap(), Some(Container::Chunk)),
        (vec![0; 1000], None),
        (b"plain text of some length, more than a header".to_vec(), None),
        (Vec::new(), None),
    ];
    for (bytes, expected) in cases {
        assert_eq!(Container::detect(&bytes[..], 0).unwrap(), expected);
        let shifted = [&[1; 13][..], &bytes].concat();
        assert_eq!(Container::detect(&shifted[..], 13).unwrap(), expected);
    }
    #[cfg(feature = "bloscpack")]
    {
        let options = blosc_oxide::bloscpack::BloscpackOptions::new(Options::new(4));
        let file = blosc_oxide::bloscpack::pack_slice(&data(500), &options).unwrap();
        assert_eq!(Container::detect(&file[..], 0).unwrap(), Some(Container::Bloscpack));
    }
}

#[test]
fn a_damaged_chunk_is_noticed_when_it_is_read_whole() {
    let mut frame = Frame::create(MemoryStorage::default(), Options::new(4).with_level(0)).unwrap();
    frame.extend_from(&data(5000)[..], 2000).unwrap();
    let mut bytes = frame.checkpoint().unwrap().to_bytes().unwrap();
    let position = usize::try_from(frame.chunk_position(1).unwrap().unwrap()).unwrap();
    bytes[position + 500] ^= 1;
    let mut frame = Frame::open(bytes).unwrap().edit().unwrap();
    assert!(frame.write_to(0..5000, std::io::sink()).is_ok(), "nothing is compared unless it is asked for");
    frame.check_on_read().unwrap();
    let error = frame.write_to(0..5000, std::io::sink()).unwrap_err();
    assert_eq!(error.kind(), blosc_oxide::ErrorKind::ChecksumMismatch);
    assert!(error.to_string().starts_with("chunk 1: its hash is "), "{error}");
    assert!(frame.decompress(1).is_err() && frame.decompress(2).is_ok());
    frame.update(1, &data(2000)).unwrap();
    assert!(frame.decompress(1).is_ok());
}
