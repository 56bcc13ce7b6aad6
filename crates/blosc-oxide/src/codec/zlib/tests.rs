//! Our decoder against that of zlib-rs, which decodes the same streams, whole and damaged.

use super::{Decoder, Encoder, Model};
use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Inflate, InflateFlush, Status, Strategy};

/// Numbers that look random.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next()).unwrap() % end
    }
}

/// Bytes of every kind: noise, few symbols, repeats near and far, and all of them in turn.
fn inputs() -> Vec<Vec<u8>> {
    let mut rng = Rng(7);
    let mut inputs = vec![Vec::new(), vec![3], vec![9; 70_000]];
    for len in [2, 30, 257, 258, 259, 325, 326, 1000, 9000, 80_000] {
        inputs.push((0..len).map(|_| rng.byte()).collect());
        inputs.push((0..len).map(|_| b"etaoin shrdlu"[rng.below(13)]).collect());
        inputs.push((0..len).map(|_| rng.byte() & rng.byte() & rng.byte()).collect());
        inputs.push(mixture(&mut rng, len));
    }
    inputs
}

fn mixture(rng: &mut Rng, len: usize) -> Vec<u8> {
    let mut bytes = vec![1];
    while bytes.len() < len {
        if rng.below(3) == 0 {
            let count = rng.below(40);
            bytes.extend((0..count).map(|_| rng.byte()));
        } else {
            let distance = 1 + rng.below(bytes.len().min(40_000));
            for _ in 0..rng.below(400) {
                bytes.push(bytes[bytes.len() - distance]);
            }
        }
    }
    bytes.truncate(len);
    bytes
}

fn streams_of(input: &[u8]) -> Vec<Vec<u8>> {
    let levels = (0..=9).map(|level| Deflate::new(level, true, 15));
    let strategies = [Strategy::Fixed, Strategy::HuffmanOnly, Strategy::Rle, Strategy::Filtered]
        .map(|strategy| Deflate::new_with_config(DeflateConfig { strategy, ..DeflateConfig::default() }));
    levels.chain(strategies).map(|deflate| stream(deflate, input)).collect()
}

fn stream(mut deflate: Deflate, input: &[u8]) -> Vec<u8> {
    let mut out = vec![0; input.len() + input.len() / 8 + 100];
    assert_eq!(deflate.compress(input, &mut out, DeflateFlush::Finish), Ok(Status::StreamEnd));
    out.truncate(usize::try_from(deflate.total_out()).unwrap());
    out
}

/// What zlib-rs makes of a stream.
fn expected(stream: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut inflate = Inflate::new(true, 15);
    let mut out = vec![0; room];
    match inflate.decompress(stream, &mut out, InflateFlush::Finish) {
        Ok(Status::StreamEnd) => {
            out.truncate(usize::try_from(inflate.total_out()).unwrap());
            Some(out)
        }
        _ => None,
    }
}

fn found(decoder: &mut Decoder, stream: &[u8], room: usize) -> Option<Vec<u8>> {
    let mut out = vec![0xA5; room];
    let len = decoder.decompress(stream, &mut out).ok()?;
    out.truncate(len);
    Some(out)
}

#[test]
fn every_stream_of_every_level_and_strategy_comes_back() {
    let mut decoder = Decoder::new();
    for input in inputs() {
        for stream in streams_of(&input) {
            for more in [0, 1, 64, 400] {
                assert_eq!(found(&mut decoder, &stream, input.len() + more).as_deref(), Some(&input[..]));
            }
        }
    }
}

fn all_settings() -> impl Iterator<Item = (u8, Model)> {
    (1..=9).flat_map(|level| [Model::Zlib, Model::ZlibNg].map(|model| (level, model)))
}

/// Three bytes out of a few that are there, then three that are random, over and over.
fn repeated_threes() -> Vec<u8> {
    let mut rng = Rng(7);
    let threes: [[u8; 3]; 32] = std::array::from_fn(|_| [(); 3].map(|()| rng.byte()));
    let mut bytes = Vec::new();
    for _ in 0..20_000 {
        bytes.extend(threes[usize::from(rng.byte() % 32)]);
        bytes.extend([(); 3].map(|()| rng.byte()));
    }
    bytes
}

#[test]
fn three_bytes_are_a_match_as_in_zlib() {
    let input = repeated_threes();
    for level in 1..=8 {
        let [zlib, zlib_ng] = [Model::Zlib, Model::ZlibNg].map(|model| {
            let mut stream = vec![0; 2 * input.len()];
            Encoder::new().compress(&input, &mut stream, level, model).unwrap()
        });
        assert!(zlib * 20 < zlib_ng * 19, "level {level}: {zlib} and {zlib_ng}");
    }
}

#[test]
fn both_decoders_read_what_the_encoder_writes() {
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
    for input in inputs() {
        for (level, model) in all_settings() {
            let mut stream = vec![0; input.len() + input.len() / 8 + 100];
            let len = encoder.compress(&input, &mut stream, level, model).unwrap();
            assert_eq!(found(&mut decoder, &stream[..len], input.len()).as_deref(), Some(&input[..]));
            assert_eq!(expected(&stream[..len], input.len() + 1).as_deref(), Some(&input[..]), "level {level}");
        }
    }
}

#[test]
fn streams_fit_exactly_or_are_refused() {
    let mut encoder = Encoder::new();
    for input in inputs().iter().filter(|input| input.len() <= 1000) {
        for (level, model) in all_settings().filter(|&(level, _)| level <= 5) {
            let mut stream = vec![0; 2000];
            let len = encoder.compress(input, &mut stream, level, model).unwrap();
            for room in 0..=len + 8 {
                let found = encoder.compress(input, &mut vec![0; room], level, model);
                assert_eq!(found, (room >= len).then_some(len));
            }
        }
    }
}

#[test]
fn one_byte_too_little_room_is_refused() {
    let mut decoder = Decoder::new();
    for input in inputs().iter().filter(|input| !input.is_empty()) {
        for stream in streams_of(input) {
            assert_eq!(found(&mut decoder, &stream, input.len() - 1), None);
        }
    }
}

#[test]
fn a_stream_that_is_cut_anywhere_is_refused() {
    let mut decoder = Decoder::new();
    for input in inputs().iter().filter(|input| input.len() <= 1000) {
        for stream in streams_of(input) {
            for len in 0..stream.len() {
                assert_eq!(found(&mut decoder, &stream[..len], input.len()), None);
            }
        }
    }
}

#[test]
fn damaged_streams_are_taken_as_zlib_takes_them() {
    let mut decoder = Decoder::new();
    let mut rng = Rng(11);
    let mut taken = 0;
    for input in inputs().iter().filter(|input| input.len() <= 1000) {
        for stream in streams_of(input) {
            for _ in 0..200 {
                let mut damaged = stream.clone();
                for _ in 0..=rng.below(3) {
                    let at = rng.below(damaged.len());
                    damaged[at] ^= 1 << rng.below(8);
                }
                // Without its checksum damage would always be found.
                let room = 2000;
                mend_checksum(&mut damaged, room);
                let expected = expected(&damaged, room);
                taken += usize::from(expected.is_some());
                assert_eq!(found(&mut decoder, &damaged, room), expected, "{damaged:02x?}");
            }
        }
    }
    assert!(taken > 10_000, "{taken}");
}

/// Gives a damaged stream the checksum of what it decodes to now, if it decodes at all.
fn mend_checksum(stream: &mut [u8], room: usize) {
    let mut inflate = Inflate::new(false, 15);
    let mut out = vec![0; room];
    let (header, rest) = stream.split_at_mut(2.min(stream.len()));
    if header.len() == 2 && inflate.decompress(rest, &mut out, InflateFlush::Finish) == Ok(Status::StreamEnd) {
        let [read, written] = [inflate.total_in(), inflate.total_out()].map(|count| usize::try_from(count).unwrap());
        if let Some(place) = rest[read..].first_chunk_mut() {
            *place = zlib_rs::adler32::adler32(1, &out[..written]).to_be_bytes();
        }
    }
}

#[test]
fn a_wrong_checksum_is_found() {
    let mut whole = stream(Deflate::new(6, true, 15), b"some bytes");
    *whole.last_mut().unwrap() ^= 1;
    let error = Decoder::new().decompress(&whole, &mut [0; 10]).unwrap_err().to_string();
    assert!(error.contains("checksum"), "{error}");
}

#[test]
fn headers_that_are_none_are_refused() {
    for header in [[0x78, 0x9D], [0x79, 0x9C], [0x88, 0x1C], [0x78, 0xBB]] {
        let mut stream = stream(Deflate::new(6, true, 15), b"some bytes");
        stream[..2].copy_from_slice(&header);
        let error = Decoder::new().decompress(&stream, &mut [0; 10]).unwrap_err().to_string();
        assert!(error.contains("no stream starts with"), "{header:02x?}: {error}");
    }
}

#[test]
fn a_stream_that_did_not_fit_leaves_nothing_behind() {
    let input: Vec<u8> = (0..50_000_u32).flat_map(|i| (i * i % 1009).to_le_bytes()).collect();
    for (level, model) in all_settings() {
        let mut encoder = Encoder::new();
        let mut whole = vec![0; 300_000];
        let len = encoder.compress(&input, &mut whole, level, model).unwrap();
        assert_eq!(encoder.compress(&input, &mut vec![0; len / 2], level, model), None);
        let mut again = vec![0; 300_000];
        assert_eq!(encoder.compress(&input, &mut again, level, model), Some(len));
        assert_eq!(again, whole);
    }
}
