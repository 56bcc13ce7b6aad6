//! Frames in the formats of the betas: what we write is what those releases wrote, and is read
//! back.

use blosc_oxide::{
    BitshuffleRule, Chunk, Codec, ErrorKind, Filter, Frame, Options, Special, SuperChunk, Threads, legacy::EarlyFrame,
};
use std::io::Cursor;
use testkit::Rng;
use testkit::golden::Golden;

const FORMATS: [EarlyFrame; 2] = [EarlyFrame::Beta1, EarlyFrame::Beta5];

fn options(typesize: usize) -> Options {
    Options::new(typesize).with_threads(Threads::serial())
}

fn written(sc: &SuperChunk, format: EarlyFrame) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    sc.write_early(format, &mut bytes).unwrap();
    bytes.into_inner()
}

/// Every chunk is of version 4 and has nothing that came later; returns how long they are together.
fn check_chunks(bytes: &[u8], header_len: usize, nchunks: usize) -> usize {
    let mut at = header_len;
    for index in 0..=nchunks {
        let chunk = Chunk::parse(&bytes[at..]).unwrap_or_else(|error| panic!("chunk {index}: {error}"));
        let header = chunk.header();
        assert_eq!((header.version(), header.special(), header.has_dict()), (4, None, false), "chunk {index}");
        assert_eq!(chunk.as_bytes()[22..31], [0; 9], "chunk {index}");
        assert_eq!(chunk.as_bytes()[31] & !BIG_ENDIAN, 0, "chunk {index}");
        if !header.is_memcpyed() {
            check_streams(&chunk);
        }
        if index < nchunks {
            at += header.cbytes();
        }
    }
    at - header_len
}

/// What hosts of that kind set in the last byte of a chunk's header.
const BIG_ENDIAN: u8 = 0x02;

/// No stream has the short form of repeated bytes.
fn check_streams(chunk: &Chunk<'_>) {
    let (header, bytes) = (chunk.header(), chunk.as_bytes());
    let int = |at: usize| i32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    for block in 0..header.nblocks() {
        let range = chunk.block_range(block).unwrap();
        let nstreams = if header.is_split() && range.len() == header.blocksize() { header.typesize() } else { 1 };
        let mut at = usize::try_from(int(32 + 4 * block)).unwrap();
        for _ in 0..nstreams {
            assert!(int(at) > 0, "block {block}: a stream of {}", int(at));
            at += 4 + usize::try_from(int(at)).unwrap();
        }
    }
}

#[test]
fn all_kinds_of_data_come_back() {
    let mut rng = Rng::new(3);
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Lz4Hc, Codec::Zlib, Codec::Zstd] {
        for filters in [vec![], vec![Filter::Shuffle], vec![Filter::BitShuffle], vec![Filter::Delta, Filter::Shuffle]] {
            for size in [1, 31, 100, 5000, 100_000] {
                let mut sc = SuperChunk::new(options(4).with_codec(codec).with_filters(filters.clone())).unwrap();
                let noise: Vec<u8> = (0..size).map(|_| rng.byte()).collect();
                let ramp: Vec<u8> = (0..size).map(|at: usize| u8::try_from(at / 5 % 256).unwrap()).collect();
                for data in [&noise, &ramp, &vec![0; size], &vec![9; size], &ramp[..size.div_ceil(2)].to_vec()] {
                    sc.append(data).unwrap();
                }
                for format in FORMATS {
                    let bytes = written(&sc, format);
                    let header_len = usize::try_from(u32::from_be_bytes(bytes[11..15].try_into().unwrap())).unwrap();
                    check_chunks(&bytes, header_len, 5);
                    let frame = Frame::open(bytes).unwrap();
                    assert!(frame.chunks().map(Result::unwrap).eq(sc.chunks().map(Result::unwrap)), "{codec} {size}");
                    assert_eq!((frame.codec(), frame.level(), frame.typesize()), (codec, 5, 4));
                    assert_eq!(frame.chunksize(), Some(size));
                }
            }
        }
    }
}

#[test]
fn metadata_comes_back() {
    let mut sc = SuperChunk::new(options(8).with_filters([Filter::TruncPrec(20), Filter::BitShuffle])).unwrap();
    for number in 0..16 {
        sc.metalayers_mut().add(&format!("layer {number}"), vec![number; usize::from(number)]).unwrap();
    }
    sc.fill(Special::NaN, 800, 80).unwrap();
    for format in FORMATS {
        let frame = Frame::open(written(&sc, format)).unwrap();
        assert_eq!(frame.metalayers(), sc.metalayers(), "{format:?}");
        assert_eq!(frame.bytes(0..800).unwrap(), sc.bytes(0..800).unwrap());
    }
    sc.vlmetalayers_mut().add("usermeta", b"written by a user").unwrap();
    let frame = Frame::open(written(&sc, EarlyFrame::Beta5)).unwrap();
    assert_eq!(frame.vlmetalayers().get("usermeta").unwrap().unwrap(), b"written by a user");
    assert_eq!(frame.pipeline().filters().collect::<Vec<_>>(), [Filter::TruncPrec(20), Filter::BitShuffle]);
    // What was read can be written again.
    assert_eq!(written(&frame, EarlyFrame::Beta5), written(&sc, EarlyFrame::Beta5));
}

#[test]
fn an_empty_frame_comes_back() {
    let mut sc = SuperChunk::new(options(4)).unwrap();
    for format in FORMATS {
        let frame = Frame::open(written(&sc, format)).unwrap();
        assert_eq!((frame.nchunks(), frame.nbytes()), (0, 0), "{format:?}");
    }
    assert_eq!(written(&sc, EarlyFrame::Beta1).len(), 64);
    sc.metalayers_mut().add("a", "b").unwrap();
    for format in FORMATS {
        let frame = Frame::open(written(&sc, format)).unwrap();
        assert_eq!(frame.metalayers().get("a"), Some(&b"b"[..]), "{format:?}");
    }
}

#[test]
fn what_had_no_place_in_early_frames_is_refused() {
    let mut cases = Vec::new();
    let mut variable = SuperChunk::new(options(1)).unwrap();
    variable.append(b"short").unwrap();
    variable.append(b"longer").unwrap();
    cases.push(variable);
    let mut vlblocks = SuperChunk::new(options(1)).unwrap();
    vlblocks.append_vlblocks(&[b"a", b"bc"]).unwrap();
    cases.push(vlblocks);
    cases.push(SuperChunk::new(options(4).with_filters([Filter::ByteDelta(4)])).unwrap());
    cases.push(SuperChunk::new(options(4).with_filters([Filter::ShuffleGroups(2)])).unwrap());
    let mut vlmetalayer = SuperChunk::new(options(1)).unwrap();
    vlmetalayer.vlmetalayers_mut().add("other", b"").unwrap();
    cases.push(vlmetalayer);
    for sc in cases {
        for format in FORMATS {
            let error = sc.write_early(format, Cursor::new(Vec::new())).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        }
    }
}

/// Fields whose values follow from what the codec made of the data, which need not be what it made
/// then.
fn without_lengths(header: &[u8]) -> Vec<u8> {
    let mut header = header.to_vec();
    header[16..24].fill(0);
    header[39..47].fill(0);
    header
}

#[test]
fn headers_are_those_of_the_releases() {
    let cases = [
        ("v2.0.0-beta.1-nometa", EarlyFrame::Beta1, Codec::Lz4),
        ("v2.0.0-beta.1-meta", EarlyFrame::Beta1, Codec::Zlib),
        ("v2.0.0.beta.5-nometa", EarlyFrame::Beta5, Codec::Lz4),
        ("v2.0.0.beta.5-meta", EarlyFrame::Beta5, Codec::Zlib),
    ];
    for (name, format, codec) in cases {
        let path = Golden::repository().root().join(format!("early/frame-{name}.b2frame"));
        let theirs = std::fs::read(&path).unwrap();
        let read = Frame::open(&path).unwrap();
        let mut sc = SuperChunk::new(options(4).with_codec(codec)).unwrap();
        read.copy_to(&mut sc).unwrap();
        let ours = written(&sc, format);
        let header_len = usize::try_from(u32::from_be_bytes(theirs[11..15].try_into().unwrap())).unwrap();
        let mut expected = without_lengths(&theirs[..header_len]);
        if name == "v2.0.0.beta.5-meta" {
            // They forgot to say that there is user metadata when it came after the header.
            expected[63] = 0xc3;
        }
        assert_eq!(without_lengths(&ours[..header_len]), expected, "{name}");
        let sections = [&theirs, &ours].map(|bytes| check_chunks(bytes, header_len, 3));
        assert_eq!(sections[1], usize::try_from(u64::from_be_bytes(ours[39..47].try_into().unwrap())).unwrap());
        let tail = |bytes: &[u8], section: usize| bytes[header_len + section..].to_vec();
        let (theirs, ours) = (tail(&theirs, sections[0]), tail(&ours, sections[1]));
        assert_eq!(theirs.len(), ours.len(), "{name}");
        // The index has other offsets, but the same header; they stored it after trying, which a
        // flag tells.
        assert_eq!((&theirs[..2], &theirs[3..31]), (&ours[..2], &ours[3..31]), "{name}");
        let of_host = if cfg!(target_endian = "big") { BIG_ENDIAN } else { 0 };
        assert_eq!((theirs[31], ours[31]), (0, of_host), "{name}");
        if format == EarlyFrame::Beta5 {
            let end = theirs.len() - 23;
            assert_eq!((&theirs[56..63], &theirs[end..]), (&ours[56..63], &ours[end..]), "{name}: another trailer");
        }
    }
}

/// Where the general flags of a frame are, and its length.
const FLAGS: usize = 25;
const FRAME_LEN: std::ops::Range<usize> = 16..24;
/// The bits of the flags that tell how wide offsets are.
const WIDTH: u8 = 0x30;

/// A frame of three chunks whose index has other entries, of another width.
fn with_index(format: EarlyFrame, width_flags: u8, entry: impl Fn(u64) -> Vec<u8>) -> Vec<u8> {
    let mut sc = SuperChunk::new(Options::new(4).with_filters([Filter::BitShuffle])).unwrap();
    (0..3).for_each(|seed| sc.append(&numbers(seed)).unwrap());
    let bytes = written(&sc, format);
    let number = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
    let header_len = u32::from_be_bytes(bytes[11..15].try_into().unwrap());
    let section_end = usize::try_from(u64::from(header_len) + number(39)).unwrap();
    let index = Chunk::parse(&bytes[section_end..]).unwrap();
    let offsets = index.decompress().unwrap();
    let offsets = offsets.chunks_exact(8).map(|offset| u64::from_le_bytes(offset.try_into().unwrap()));
    let entries: Vec<u8> = offsets.flat_map(entry).collect();
    let index_end = section_end + index.as_bytes().len();
    let new_index = blosc_oxide::compress(&entries, &Options::new(1)).unwrap();
    let mut frame = [&bytes[..section_end], &new_index, &bytes[index_end..]].concat();
    frame[FLAGS] = frame[FLAGS] & !WIDTH | width_flags;
    let len = frame.len() as u64;
    frame[FRAME_LEN].copy_from_slice(&len.to_be_bytes());
    frame
}

fn numbers(seed: u32) -> Vec<u8> {
    (0..1001).flat_map(|item: u32| (item * (seed + 3)).to_le_bytes()).collect()
}

#[test]
fn offsets_of_16_32_and_64_bits_are_read() {
    for format in FORMATS {
        for (flags, len) in [(0x00, 2), (0x10, 4), (0x20, 8)] {
            let bytes = with_index(format, flags, |offset| offset.to_le_bytes()[..len].to_vec());
            let frame = Frame::open(bytes).unwrap();
            for chunk in 0..3 {
                assert_eq!(
                    frame.decompress(chunk).unwrap(),
                    numbers(u32::try_from(chunk).unwrap()),
                    "{format:?}, {len}"
                );
            }
        }
    }
}

#[test]
fn the_reserved_width_and_unknown_versions_are_refused_by_name() {
    for (format, unknown) in [(EarlyFrame::Beta1, 0x27), (EarlyFrame::Beta5, 0x22)] {
        let good = with_index(format, 0x20, |offset| offset.to_le_bytes().to_vec());
        let mut bytes = good.clone();
        bytes[FLAGS] |= WIDTH;
        let error = Frame::open(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("width of offsets is 3"), "{error}");
        let mut bytes = good;
        bytes[FLAGS] = unknown;
        let error = Frame::open(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("format version"), "{error}");
    }
}

#[test]
fn an_unknown_version_of_a_trailer_is_refused_by_name() {
    /// A trailer without user metadata.
    const TRAILER_LEN: usize = 30;
    let mut bytes = with_index(EarlyFrame::Beta5, 0x20, |offset| offset.to_le_bytes().to_vec());
    let version = bytes.len() - TRAILER_LEN + 1;
    assert_eq!(bytes[version], 1);
    bytes[version] = 0;
    assert_eq!(Frame::open(bytes.clone()).unwrap().bitshuffle_rule(), BitshuffleRule::Old);
    bytes[version] = 2;
    let error = Frame::open(bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("frame trailer: version 2 is not known"), "{error}");
}

#[test]
fn a_negative_offset_is_corrupt_and_no_special_value() {
    for (format, bits) in FORMATS.into_iter().flat_map(|format| [(format, 1 << 63 | 1 << 56), (format, u64::MAX)]) {
        let bytes = with_index(format, 0x20, |offset| if offset == 0 { bits } else { offset }.to_le_bytes().to_vec());
        let error = Frame::open(bytes).and_then(|frame| frame.decompress(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("negative"), "{error}");
    }
}

#[test]
fn the_filters_of_a_header_of_64_bytes_are_those_of_its_chunks() {
    let bytes = with_index(EarlyFrame::Beta1, 0x20, |offset| offset.to_le_bytes().to_vec());
    let frame = Frame::open(bytes).unwrap();
    assert_eq!(frame.pipeline().filters().collect::<Vec<_>>(), [Filter::BitShuffle]);
}
