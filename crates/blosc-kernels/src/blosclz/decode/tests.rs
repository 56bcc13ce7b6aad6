use super::{Decoder, EXTENDED, FAR};
use crate::blosclz;
use crate::isa::Isa;
use crate::lz::LzError;
use crate::lz::decoding::{self, Format};
use crate::lz::samples::{Random, noise};
use crate::lz::vectors::dispatch_on;
use alloc::vec;
use alloc::vec::Vec;

struct BloscLz;

impl Format for BloscLz {
    fn decode(isa: Isa, prefix: bool, src: &[u8], dict: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
        assert!(dict.is_empty(), "there are no dictionaries");
        if prefix {
            dispatch_on(isa, Decoder::<true> { src, dst, read: 0, written: 0 })
        } else {
            dispatch_on(isa, Decoder::<false> { src, dst, read: 0, written: 0 })
        }
    }

    fn expected(prefix: bool, src: &[u8], _dict: &[u8], room: usize) -> Result<Vec<u8>, LzError> {
        Simple { src, read: 0, out: vec![], room, prefix }.decode()
    }

    fn random_stream(random: &mut Random, _dict: usize) -> (Vec<u8>, usize) {
        let mut stream = Stream::new();
        stream.literals(&noise(1 + length(random, 0), random.next()));
        for _ in 0..random.below(60) {
            if random.below(2) == 0 {
                stream.literals(&noise(length(random, 0), random.next()));
            }
            stream.matching(distance(random, stream.len), length(random, 3));
        }
        stream.literals(&noise(1 + random.below(40), random.next()));
        (stream.finish(), stream.len)
    }
}

/// Mostly short, sometimes long.
fn length(random: &mut Random, least: usize) -> usize {
    let spread = [4, 8, 20, 70, 300, 900][random.below(6)];
    least + random.below(spread)
}

/// Mostly short, always one to `available`.
fn distance(random: &mut Random, available: usize) -> usize {
    let spread = [4, 20, 70, 600, 73_727][random.below(5)];
    1 + random.below(available.min(spread))
}

/// The decoder that goes byte by byte.
struct Simple<'a> {
    src: &'a [u8],
    read: usize,
    out: Vec<u8>,
    room: usize,
    prefix: bool,
}

impl Simple<'_> {
    fn decode(mut self) -> Result<Vec<u8>, LzError> {
        let mut after_match = false;
        while self.read < self.src.len() && !self.is_full() {
            let mask = if self.read == 0 { 31 } else { 255 };
            let opcode = usize::from(self.byte()? & mask);
            after_match = opcode >= 32;
            if after_match {
                self.matching(opcode)?;
            } else {
                for _ in 0..self.fitting(opcode + 1)? {
                    let literal = self.byte()?;
                    self.out.push(literal);
                }
            }
        }
        if after_match && !self.is_full() {
            return Err(LzError::BadEnd { read: self.read });
        }
        Ok(self.out)
    }

    fn matching(&mut self, opcode: usize) -> Result<(), LzError> {
        let mut len = opcode / 32 + 2;
        let mut more = if len == EXTENDED { 255 } else { 0 };
        while more == 255 {
            more = self.byte()?;
            len += usize::from(more);
        }
        let mut distance = opcode % 32 * 256 + usize::from(self.byte()?) + 1;
        if distance == FAR {
            distance += usize::from(self.byte()?) * 256 + usize::from(self.byte()?);
        }
        if distance > self.out.len() {
            return Err(LzError::DistanceTooFar { distance, available: self.out.len() });
        }
        for _ in 0..self.fitting(len)? {
            self.out.push(self.out[self.out.len() - distance]);
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.prefix && self.out.len() == self.room
    }

    fn byte(&mut self) -> Result<u8, LzError> {
        let byte = *self.src.get(self.read).ok_or(LzError::InputEnded { input: self.src.len() })?;
        self.read += 1;
        Ok(byte)
    }

    fn fitting(&self, len: usize) -> Result<usize, LzError> {
        let left = self.room - self.out.len();
        if len > left && !self.prefix {
            return Err(LzError::OutputFull { written: self.out.len(), room: self.room });
        }
        Ok(len.min(left))
    }
}

/// Writes a stream as it is told to.
struct Stream {
    bytes: Vec<u8>,
    len: usize,
}

impl Stream {
    fn new() -> Self {
        Self { bytes: vec![], len: 0 }
    }

    fn literals(&mut self, literals: &[u8]) {
        for run in literals.chunks(32) {
            self.bytes.push(u8::try_from(run.len() - 1).expect("at most 31"));
            self.bytes.extend_from_slice(run);
        }
        self.len += literals.len();
    }

    fn matching(&mut self, distance: usize, len: usize) {
        assert!(distance <= self.len);
        let near = distance.min(FAR) - 1;
        let opcode = (len.min(EXTENDED) - 2) << 5 | near >> 8;
        self.bytes.push(u8::try_from(opcode).expect("three and five bits"));
        if let Some(more) = len.checked_sub(EXTENDED) {
            self.bytes.resize(self.bytes.len() + more / 255, 255);
            self.bytes.push(u8::try_from(more % 255).expect("less than 255"));
        }
        self.bytes.push((near as u64).to_le_bytes()[0]);
        if let Some(far) = distance.checked_sub(FAR) {
            self.bytes.extend_from_slice(&u16::try_from(far).expect("at most 73727").to_be_bytes());
        }
        self.len += len;
    }

    /// The stream, with the mark in its first byte.
    fn finish(&mut self) -> Vec<u8> {
        self.bytes[0] |= 0x20;
        core::mem::take(&mut self.bytes)
    }
}

fn decode_and_compare(src: &[u8], len: usize) {
    assert_eq!(BloscLz::expected(false, src, &[], len).map(|bytes| bytes.len()), Ok(len));
    decoding::check::<BloscLz>(false, src, &[], len);
    decoding::check::<BloscLz>(false, src, &[], len + 200);
}

fn one_match(before: usize, distance: usize, len: usize, after: usize) -> (Vec<u8>, usize) {
    let mut stream = Stream::new();
    stream.literals(&noise(before, 3));
    stream.matching(distance, len);
    stream.literals(&noise(after, 4));
    (stream.finish(), stream.len)
}

#[test]
fn matches_of_every_distance_are_copied() {
    let far = [1000, 4096, 8190, 8191, 8192, 8193, 8447, 8448, 65_535, 65_536, 73_726, 73_727];
    for distance in (1..=600).chain(far) {
        let mut stream = Stream::new();
        stream.literals(&noise(distance, 7));
        for (count, len) in (3..20).chain([31, 32, 33, 64, 66, 130, 263, 264, 265, 600]).enumerate() {
            stream.matching(distance, len);
            stream.literals(&noise(count * 7 % 40, len as u64));
        }
        stream.literals(&[1, 2, 3]);
        let src = stream.finish();
        decode_and_compare(&src, stream.len);
    }
}

#[test]
fn matches_of_every_length_are_copied() {
    for len in (3..=600).chain([1023, 1024, 5000, 70_000]) {
        for distance in [1, 2, 3, 7, 8, 11, 16, 17, 31, 32, 33, 50, 100] {
            let (src, made) = one_match(distance, distance, len, 1 + len % 70);
            decode_and_compare(&src, made);
        }
    }
}

#[test]
fn matches_may_end_anywhere_near_the_end() {
    for after in 1..40 {
        for len in (3..40).chain([63, 64, 65, 100, 127, 128, 129, 200, 400]) {
            for distance in [1, 2, 3, 5, 8, 13, 16, 24, 31, 32, 40, 70] {
                let (src, made) = one_match(70, distance, len, after);
                decode_and_compare(&src, made);
            }
        }
    }
}

#[test]
fn random_streams_and_their_mutations_decode_as_expected() {
    decoding::check_random_streams::<BloscLz>(1, &[], 600);
}

#[test]
fn noise_is_refused_or_decoded_as_expected() {
    decoding::check_noise::<BloscLz>(11, 4000);
}

#[test]
fn every_prefix_is_the_prefix_of_the_whole() {
    let mut random = Random(21);
    for _ in 0..4 {
        let (src, len) = BloscLz::random_stream(&mut random, 0);
        decoding::check_every_prefix::<BloscLz>(&src, &[], len);
    }
}

#[test]
fn every_truncation_is_noticed_or_decoded_as_expected() {
    let mut random = Random(31);
    for _ in 0..4 {
        let (src, len) = BloscLz::random_stream(&mut random, 0);
        decoding::check_truncations::<BloscLz>(&src, &[], len);
    }
}

#[test]
fn an_empty_stream_makes_nothing() {
    assert_eq!(blosclz::decompress(&[], &mut []), Ok(0));
    assert_eq!(blosclz::decompress(&[], &mut [1, 2, 3]), Ok(0));
}

#[test]
fn nothing_is_read_for_an_empty_prefix() {
    assert_eq!(blosclz::decompress_prefix(&[31], &mut []), Ok(0));
}

#[test]
fn the_upper_bits_of_the_first_opcode_mean_nothing() {
    for mark in [0x00, 0x20, 0x40, 0xe0] {
        let mut dst = [0; 3];
        assert_eq!(blosclz::decompress(&[mark | 2, 7, 8, 9], &mut dst), Ok(3));
        assert_eq!(dst, [7, 8, 9]);
    }
}

#[test]
fn a_stream_does_not_end_with_a_match() {
    let mut dst = [0; 100];
    assert_eq!(blosclz::decompress(&[0x20, 7, 0x20, 0], &mut dst), Err(LzError::BadEnd { read: 4 }));
    assert_eq!(blosclz::decompress_prefix(&[0x20, 7, 0x20, 0], &mut dst), Err(LzError::BadEnd { read: 4 }));
    assert_eq!(blosclz::decompress_prefix(&[0x20, 7, 0x20, 0], &mut dst[..4]), Ok(4));
}

#[test]
fn lengths_beyond_all_memory_are_refused() {
    let mut dst = [0; 1000];
    for tail in 0..40 {
        let mut src = vec![255; 100_000];
        src[..3].copy_from_slice(&[0x20, 1, 0xe0]);
        src.resize(src.len() + tail, 0);
        assert!(blosclz::decompress(&src, &mut dst).is_err());
        assert_eq!(blosclz::decompress_prefix(&src, &mut dst).is_ok(), tail >= 2);
    }
}
