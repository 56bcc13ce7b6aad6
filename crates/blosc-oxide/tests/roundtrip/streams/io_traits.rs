//! Frames and super-chunks read and written through the traits of `std::io`.

use blosc_oxide::io::DataReader;
use blosc_oxide::storage::MemoryStorage;
use blosc_oxide::{ErrorKind, Frame, Options, SuperChunk};
use proptest::prelude::*;
use std::io::{BufRead, Cursor, Read, Seek, SeekFrom, Write};

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| u8::try_from(i / 3 % 251).unwrap()).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Read(usize),
    Seek(SeekFrom),
    Consume(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..600_000_usize).prop_map(Step::Read),
        (0..200_usize).prop_map(Step::Read),
        (0..900_000_u64).prop_map(|position| Step::Seek(SeekFrom::Start(position))),
        (-900_000..900_000_i64).prop_map(|offset| Step::Seek(SeekFrom::Current(offset))),
        (-900_000..100_i64).prop_map(|offset| Step::Seek(SeekFrom::End(offset))),
        (0..300_000_usize).prop_map(Step::Consume),
    ]
}

/// Reads `len` bytes, or as many as there are, in as many calls as it takes.
fn read_up_to(reader: &mut impl Read, len: usize) -> Vec<u8> {
    let mut out = Vec::new();
    reader.take(len as u64).read_to_end(&mut out).unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_reader_does_what_a_cursor_does(
        sizes in prop::collection::vec(1..300_000_usize, 0..6),
        steps in prop::collection::vec(step(), 1..20),
    ) {
        let mut sc = SuperChunk::new(Options::new(1)).unwrap();
        let plain = data(sizes.iter().sum());
        let mut rest = plain.as_slice();
        for size in sizes {
            let (chunk, others) = rest.split_at(size);
            sc.append(chunk).unwrap();
            rest = others;
        }
        let mut reader = sc.reader();
        let mut cursor = Cursor::new(&plain);
        for step in steps {
            match step {
                Step::Read(len) => prop_assert_eq!(read_up_to(&mut reader, len), read_up_to(&mut cursor, len)),
                Step::Seek(to) => match (reader.seek(to), cursor.seek(to)) {
                    (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
                    (ours, theirs) => prop_assert_eq!(ours.is_err(), theirs.is_err()),
                },
                Step::Consume(amount) => {
                    let ahead = reader.fill_buf().unwrap();
                    let amount = amount.min(ahead.len());
                    prop_assert_eq!(&ahead[..amount], &cursor.fill_buf().unwrap()[..amount]);
                    reader.consume(amount);
                    cursor.consume(amount);
                }
            }
        }
    }

    #[test]
    fn what_is_written_in_pieces_comes_back_in_chunks_of_one_size(
        pieces in prop::collection::vec((0..5000_usize, any::<bool>()), 0..30),
        chunk_nbytes in 1..4000_usize,
    ) {
        let plain = data(pieces.iter().map(|(len, _)| len).sum());
        let mut edit = Frame::create(MemoryStorage::default(), Options::new(1)).unwrap();
        let mut writer = edit.writer(chunk_nbytes).unwrap();
        let mut rest = plain.as_slice();
        for (len, is_flushed) in pieces {
            let (piece, others) = rest.split_at(len);
            writer.write_all(piece).unwrap();
            if is_flushed {
                writer.flush().unwrap();
            }
            rest = others;
        }
        writer.finish().unwrap();
        let frame = edit.commit().unwrap();
        prop_assert_eq!(frame.nchunks(), plain.len().div_ceil(chunk_nbytes));
        let mut read = Vec::new();
        DataReader::new(frame).read_to_end(&mut read).unwrap();
        prop_assert_eq!(read, plain);
    }
}

#[test]
fn a_writer_that_is_dropped_leaves_what_makes_no_chunk() {
    let mut sc = SuperChunk::new(Options::new(1)).unwrap();
    sc.writer(10).unwrap().write_all(&[7; 25]).unwrap();
    assert_eq!(sc.nbytes(), 20);
}

#[test]
fn chunks_of_no_size_are_refused() {
    let mut sc = SuperChunk::new(Options::new(1)).unwrap();
    for size in [0, usize::MAX] {
        assert_eq!(sc.writer(size).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn bytes_that_cannot_be_appended_are_not_written() {
    let mut sc = SuperChunk::new(Options::new(4)).unwrap();
    sc.append_vlblocks(&[b"blocks of", b"any length"]).unwrap();
    let mut writer = sc.writer(4).unwrap();
    assert!(writer.write(b"abc").is_ok());
    assert!(writer.write(b"defg").is_err());
    assert!(writer.finish().is_err());
    assert_eq!(sc.nchunks(), 1);
}

#[test]
fn a_reader_of_a_frame_can_go_to_another_thread() {
    let mut edit = Frame::create(MemoryStorage::default(), Options::new(1)).unwrap();
    edit.append(&data(100_000)).unwrap();
    let mut reader = DataReader::new(edit.commit().unwrap());
    let read = std::thread::spawn(move || read_up_to(&mut reader, usize::MAX)).join().unwrap();
    assert_eq!(read, data(100_000));
}
