//! The decoder of Zstandard does what the C library does: with good streams of every kind, and with
//! damaged ones.
#![cfg(not(target_arch = "wasm32"))]

use blosc_kernels::shuffle::shuffle;
use blosc_kernels::zstd::{Decoder, Dictionary, ZstdError};
use testkit::formula::generate;
use testkit::mutate;
use testkit::serde_json::json;
use zstd_safe::{CCtx, CParameter, DCtx, InBuffer, OutBuffer, zstd_sys::ZSTD_EndDirective};

/// How a stream is made.
#[derive(Debug, Clone, Copy)]
struct Writer<'a> {
    level: i32,
    has_checksum: bool,
    has_content_size: bool,
    window_log: Option<u32>,
    /// Bytes that are given to the compressor before it is told to end a block.
    piece: usize,
    dict: &'a [u8],
}

impl Writer<'static> {
    fn new(level: i32) -> Self {
        Self { level, has_checksum: false, has_content_size: true, window_log: None, piece: usize::MAX, dict: &[] }
    }
}

impl Writer<'_> {
    fn write(&self, data: &[u8]) -> Vec<u8> {
        let mut context = CCtx::create();
        let mut set = |parameter| {
            context.set_parameter(parameter).expect("a parameter");
        };
        set(CParameter::CompressionLevel(self.level));
        set(CParameter::ChecksumFlag(self.has_checksum));
        set(CParameter::ContentSizeFlag(self.has_content_size));
        if let Some(log) = self.window_log {
            set(CParameter::WindowLog(log));
            set(CParameter::EnableLongDistanceMatching(true));
        }
        if !self.dict.is_empty() {
            context.load_dictionary(self.dict).expect("a dictionary");
        }
        let mut stream = vec![0; zstd_safe::compress_bound(data.len()) + 100 + data.len() / 10];
        if self.piece >= data.len() {
            let len = context.compress2(&mut stream[..], data).expect("room for the stream");
            stream.truncate(len);
            return stream;
        }
        let mut out = OutBuffer::around(&mut stream[..]);
        for piece in data.chunks(self.piece) {
            let mut input = InBuffer::around(piece);
            let left = context.compress_stream2(&mut out, &mut input, ZSTD_EndDirective::ZSTD_e_flush);
            assert_eq!((left, input.pos), (Ok(0), piece.len()));
        }
        let end = context.compress_stream2(&mut out, &mut InBuffer::around(&[]), ZSTD_EndDirective::ZSTD_e_end);
        assert_eq!(end, Ok(0));
        let len = out.pos();
        stream.truncate(len);
        stream
    }
}

/// Data of many kinds, of about `nbytes` bytes each.
fn samples(nbytes: usize) -> Vec<Vec<u8>> {
    let noise = generate(&json!({"kind": "rand", "nbytes": nbytes, "seed": 7})).expect("random bytes");
    let few: Vec<u8> = noise.iter().map(|byte| (byte.leading_zeros() * 3).to_le_bytes()[0]).collect();
    let text: Vec<u8> = noise.iter().flat_map(|byte| WORDS[usize::from(byte % 16)].bytes()).take(nbytes).collect();
    let mut sum = 0_u32;
    let walk: Vec<u8> = noise
        .iter()
        .take(nbytes / 4)
        .flat_map(|&byte| {
            sum = sum.wrapping_add(u32::from(byte % 37));
            sum.to_le_bytes()
        })
        .collect();
    let mut shuffled = vec![0; walk.len()];
    shuffle(4, &walk, &mut shuffled);
    let mut far = noise.clone();
    far.copy_within(..nbytes / 3, nbytes - nbytes / 3);
    let mut periods = noise.clone();
    for at in (80..nbytes).step_by(61) {
        let (len, period) = (usize::from(noise[at]) % 300, 1 + usize::from(noise[at - 1]) % 40);
        (at..nbytes.min(at + len)).for_each(|to| periods[to] = periods[to - period]);
    }
    vec![noise, few, text, walk, shuffled, far, periods, vec![9; nbytes]]
}

const WORDS: [&str; 16] = [
    "the ", "chunk ", "of ", "a block", "s, ", "frame ", "and ", "is ", "stream", ". ", "0x", "length ", "in ", "to ",
    "\n", "8",
];

/// What C makes of a stream, in `room` bytes.
fn by_c(stream: &[u8], dict: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut out = vec![0; room];
    let mut context = DCtx::create();
    let len = if dict.is_empty() {
        context.decompress(&mut out[..], stream)
    } else {
        let dict = zstd_safe::DDict::try_create(dict)?;
        context.decompress_using_ddict(&mut out[..], stream, &dict)
    };
    out.truncate(len.ok()?);
    Some(out)
}

/// What our decoder makes of it, which has decoded others before, into an output that was not
/// empty.
fn by_us(decoder: &mut Decoder, stream: &[u8], dict: Option<&Dictionary>, room: usize) -> Result<Vec<u8>, ZstdError> {
    let mut out = vec![0xa5; room];
    let len = decoder.decompress(stream, dict, &mut out)?;
    out.truncate(len);
    Ok(out)
}

fn assert_decodes(decoder: &mut Decoder, writer: &Writer<'_>, data: &[u8]) {
    let stream = writer.write(data);
    let dict = (!writer.dict.is_empty()).then(|| Dictionary::new(writer.dict).expect("a dictionary"));
    for room in [data.len(), data.len() + 1, data.len() + 1000] {
        let made = by_us(decoder, &stream, dict.as_ref(), room);
        assert!(made.as_deref() == Ok(data), "{writer:?}, {} bytes: {:?}", data.len(), made.map(|made| made.len()));
    }
    if let Some(less) = data.len().checked_sub(1) {
        assert!(by_us(decoder, &stream, dict.as_ref(), less).is_err(), "{writer:?}, {} bytes", data.len());
    }
}

/// Whether both decoders do the same; with what C takes and we do not, how we call it.
fn compare(decoder: &mut Decoder, stream: &[u8], dict: &[u8], room: usize) -> Option<ZstdError> {
    let prepared = (!dict.is_empty()).then(|| Dictionary::new(dict).expect("a dictionary"));
    let ours = by_us(decoder, stream, prepared.as_ref(), room);
    match (ours, by_c(stream, dict, room)) {
        (Ok(ours), Some(theirs)) => assert!(ours == theirs, "other bytes from {stream:?}"),
        (Ok(ours), None) => panic!("{} bytes from what C refuses: {stream:?}", ours.len()),
        (Err(error), Some(_)) => return Some(error),
        (Err(_), None) => {}
    }
    None
}

#[test]
fn streams_of_every_level_decode_to_what_was_compressed() {
    let mut decoder = Decoder::new();
    for level in (-7..=22).chain([-100]) {
        for nbytes in [5000, 140_000] {
            for data in samples(nbytes) {
                assert_decodes(&mut decoder, &Writer::new(level), &data);
            }
        }
    }
}

#[test]
fn streams_of_any_length_decode_to_what_was_compressed() {
    let mut decoder = Decoder::new();
    let lengths = (0..300).step_by(7).chain([1, 2, 3, 255, 256, 257, 1023, 1024, 65_791, 65_792, 131_072, 131_073]);
    for nbytes in lengths.chain([1 << 20, 3 << 20]) {
        for data in samples(nbytes) {
            for level in [1, 3, 9] {
                let is_large = nbytes > 1 << 18;
                if !is_large || level == 1 {
                    assert_decodes(&mut decoder, &Writer::new(level), &data);
                }
            }
        }
    }
}

#[test]
fn frames_of_every_form_decode_to_what_was_compressed() {
    let mut decoder = Decoder::new();
    for has_checksum in [false, true] {
        for has_content_size in [false, true] {
            for (piece, window_log) in [(usize::MAX, None), (700, None), (9000, Some(12)), (100_000, Some(27))] {
                for data in samples(200_000) {
                    let writer = Writer { has_checksum, has_content_size, piece, window_log, ..Writer::new(3) };
                    assert_decodes(&mut decoder, &writer, &data);
                }
            }
        }
    }
}

/// A dictionary made of parts of the samples, and one that is trained on them.
fn dictionaries() -> (Vec<u8>, Vec<u8>) {
    let samples = samples(60_000);
    let raw: Vec<u8> = samples.iter().flat_map(|sample| &sample[1000..4000]).copied().collect();
    let all = [&samples[2][..], &samples[3], &samples[6]].concat();
    let mut trained = vec![0; 8000];
    let len = zstd_safe::train_from_buffer(&mut trained[..], &all, &vec![600; all.len() / 600]).expect("a dictionary");
    trained.truncate(len);
    (raw, trained)
}

#[test]
fn streams_with_dictionaries_decode_to_what_was_compressed() {
    let (raw, trained) = dictionaries();
    let mut decoder = Decoder::new();
    for dict in [&raw[..], &trained] {
        for nbytes in [40, 3000, 150_000] {
            for data in samples(nbytes) {
                for level in [-3, 1, 4, 13, 19] {
                    assert_decodes(&mut decoder, &Writer { dict, ..Writer::new(level) }, &data);
                }
            }
        }
    }
}

#[test]
fn the_wrong_dictionary_is_refused() {
    let (raw, trained) = dictionaries();
    let data = &samples(3000)[2];
    let stream = Writer { dict: &trained, ..Writer::new(3) }.write(data);
    let mut decoder = Decoder::new();
    for dict in [None, Some(Dictionary::new(&raw).unwrap())] {
        let made = by_us(&mut decoder, &stream, dict.as_ref(), data.len());
        assert!(matches!(made, Err(ZstdError::OtherDictionary { .. })), "{made:?}");
    }
}

#[test]
fn damaged_dictionaries_are_refused_as_c_does() {
    let (_, trained) = dictionaries();
    let start = &trained[..400.min(trained.len())];
    for mutant in mutate::single_byte(start, 0..start.len()) {
        let dict = [&mutant.bytes[..], &trained[start.len()..]].concat();
        let theirs = zstd_safe::DDict::try_create(&dict).is_some();
        assert_eq!(Dictionary::new(&dict).is_ok(), theirs, "{}", mutant.what);
    }
}

#[test]
fn damaged_streams_end_as_with_c() {
    let (_, trained) = dictionaries();
    let mut decoder = Decoder::new();
    let (mut count, mut refused) = (0, 0);
    for nbytes in [300, 2500, 20_000] {
        for (index, data) in samples(nbytes).iter().enumerate() {
            for (level, dict) in [(1, &[][..]), (7, &[]), (19, &[]), (3, &trained)] {
                let stream = Writer { dict, ..Writer::new(level) }.write(data);
                for mutant in mutate::random_bytes(&stream, 150, index as u64 + 1) {
                    count += 1;
                    if let Some(error) = compare(&mut decoder, &mutant.bytes, dict, data.len() + 50) {
                        assert_eq!(error, ZstdError::BadBits, "of {:?}", mutant.bytes);
                        refused += 1;
                    }
                }
            }
        }
    }
    // C does not look whether four Huffman streams end where their bytes do, if they are long.
    assert!(count > 10_000 && refused * 8 < count, "{refused} of {count}");
}

#[test]
fn every_prefix_of_a_stream_ends_as_with_c() {
    let mut decoder = Decoder::new();
    for data in samples(3000) {
        let stream = Writer { has_checksum: true, piece: 900, ..Writer::new(5) }.write(&data);
        for prefix in mutate::prefixes(&stream) {
            assert_eq!(compare(&mut decoder, prefix, &[], data.len()), None);
        }
    }
}

#[test]
fn every_header_of_a_frame_is_read_as_c_does() {
    let mut decoder = Decoder::new();
    for descriptor in 0..=255 {
        for fields in [[0; 14], [1; 14], [0xff; 14], [0x30, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]] {
            for len in 0..=14 {
                // An empty block that is the last one, and one with a byte.
                for block in [&[1, 0, 0][..], &[9, 0, 0, 77], &[7, 0, 0, 0]] {
                    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, descriptor][..], &fields[..len], block].concat();
                    assert_eq!(compare(&mut decoder, &frame, &[], 1000), None);
                }
            }
        }
    }
}

#[test]
fn frames_follow_one_another_and_are_skipped_as_with_c() {
    let data = &samples(3000)[2];
    let frame = Writer::new(3).write(data);
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let mut decoder = Decoder::new();
    let whole = [&skipped[..], &frame, &skipped, &frame].concat();
    assert_eq!(by_us(&mut decoder, &whole, None, 2 * data.len()).unwrap(), [&data[..], data].concat());
    for streams in [
        vec![],
        vec![0],
        skipped.clone(),
        skipped[..9].to_vec(),
        [&frame[..], &[0; 4]].concat(),
        [&frame[..], &[0; 9]].concat(),
        [&skipped[..], &[1]].concat(),
        whole,
    ] {
        for room in [0, data.len(), 3 * data.len()] {
            assert_eq!(compare(&mut decoder, &streams, &[], room), None);
        }
    }
}

#[test]
fn a_wrong_checksum_is_told() {
    let data = &samples(3000)[2];
    let mut stream = Writer { has_checksum: true, ..Writer::new(3) }.write(data);
    *stream.last_mut().unwrap() ^= 1;
    let made = by_us(&mut Decoder::new(), &stream, None, data.len());
    assert!(matches!(made, Err(ZstdError::BadChecksum { .. })), "{made:?}");
}
