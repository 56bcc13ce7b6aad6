use super::{Decoder, EXTENDED, MIN_MATCH};
use crate::isa::Isa;
use crate::lz::LzError;
use crate::lz::decoding::{self, Format};
use crate::lz::samples::{Random, noise};
use crate::lz::vectors::dispatch_on;
use crate::lz4;
use alloc::vec;
use alloc::vec::Vec;

struct Lz4;

impl Format for Lz4 {
    fn decode(isa: Isa, prefix: bool, src: &[u8], dict: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
        let (read, written) = (0, 0);
        match (prefix, dict.is_empty()) {
            (true, true) => dispatch_on(isa, Decoder::<true, false> { src, dict, dst, read, written }),
            (true, false) => dispatch_on(isa, Decoder::<true, true> { src, dict, dst, read, written }),
            (false, true) => dispatch_on(isa, Decoder::<false, false> { src, dict, dst, read, written }),
            (false, false) => dispatch_on(isa, Decoder::<false, true> { src, dict, dst, read, written }),
        }
    }

    fn expected(prefix: bool, src: &[u8], dict: &[u8], room: usize) -> Result<Vec<u8>, LzError> {
        Simple { src, read: 0, out: dict.to_vec(), dict: dict.len(), room, prefix }.decode()
    }

    fn random_stream(random: &mut Random, dict: usize) -> (Vec<u8>, usize) {
        let mut stream = Stream::new(dict);
        for _ in 0..random.below(40) {
            let literals = length(random, 0);
            stream.literals(&noise(literals, random.next()));
            let available = dict + stream.len;
            if available > 0 {
                stream.matching(distance(random, available.min(65_535)), length(random, MIN_MATCH));
            }
        }
        stream.literals(&noise(random.below(30), random.next()));
        (stream.finish(), stream.len)
    }
}

/// Mostly short, sometimes long.
fn length(random: &mut Random, least: usize) -> usize {
    let spread = [4, 16, 20, 70, 300, 900][random.below(6)];
    least + random.below(spread)
}

/// Mostly short, always one to `available`.
fn distance(random: &mut Random, available: usize) -> usize {
    let spread = [4, 20, 70, 600, 70_000][random.below(5)];
    1 + random.below(available.min(spread))
}

/// The decoder that goes byte by byte, with the dictionary at the start of its output.
struct Simple<'a> {
    src: &'a [u8],
    read: usize,
    out: Vec<u8>,
    dict: usize,
    room: usize,
    prefix: bool,
}

impl Simple<'_> {
    fn decode(mut self) -> Result<Vec<u8>, LzError> {
        while !self.is_full() {
            if self.read == self.src.len() && self.read > 0 {
                return Err(LzError::BadEnd { read: self.read });
            }
            let token = usize::from(self.byte()?);
            for _ in 0..self.length(token >> 4)? {
                if self.is_full() {
                    break;
                }
                let literal = self.byte()?;
                self.out.push(literal);
            }
            if self.read == self.src.len() || self.is_full() {
                break;
            }
            let distance = usize::from(self.byte()?) + 256 * usize::from(self.byte()?);
            let len = self.length_at_match(token & 15)?;
            if distance == 0 || distance > self.out.len() {
                return Err(LzError::DistanceTooFar { distance, available: self.out.len() });
            }
            for _ in 0..self.fitting(len + MIN_MATCH)? {
                self.out.push(self.out[self.out.len() - distance]);
            }
        }
        Ok(self.out.split_off(self.dict))
    }

    fn is_full(&self) -> bool {
        self.prefix && self.out.len() - self.dict == self.room
    }

    fn byte(&mut self) -> Result<u8, LzError> {
        let byte = *self.src.get(self.read).ok_or(LzError::InputEnded { input: self.src.len() })?;
        self.read += 1;
        Ok(byte)
    }

    fn length(&mut self, bits: usize) -> Result<usize, LzError> {
        let len = self.length_at_match(bits)?;
        self.fitting(len)
    }

    fn length_at_match(&mut self, bits: usize) -> Result<usize, LzError> {
        let mut len = bits;
        let mut more = if bits == EXTENDED { 255 } else { 0 };
        while more == 255 {
            more = self.byte()?;
            len += usize::from(more);
        }
        Ok(len)
    }

    fn fitting(&self, len: usize) -> Result<usize, LzError> {
        let written = self.out.len() - self.dict;
        let left = self.room - written;
        if len > left && !self.prefix {
            return Err(LzError::OutputFull { written, room: self.room });
        }
        Ok(len.min(left))
    }
}

/// Writes a stream as it is told to.
struct Stream {
    bytes: Vec<u8>,
    pending: Vec<u8>,
    len: usize,
    dict: usize,
}

impl Stream {
    fn new(dict: usize) -> Self {
        Self { bytes: vec![], pending: vec![], len: 0, dict }
    }

    fn literals(&mut self, literals: &[u8]) {
        self.pending.extend_from_slice(literals);
        self.len += literals.len();
    }

    fn matching(&mut self, distance: usize, len: usize) {
        assert!(distance <= self.len + self.dict);
        self.sequence(len - MIN_MATCH);
        let distance = u16::try_from(distance).expect("at most 65535");
        self.bytes.extend_from_slice(&distance.to_le_bytes());
        self.extension(len - MIN_MATCH);
        self.len += len;
    }

    /// Token and literals.
    fn sequence(&mut self, match_bits: usize) {
        let literals = core::mem::take(&mut self.pending);
        let token = literals.len().min(EXTENDED) << 4 | match_bits.min(EXTENDED);
        self.bytes.push(u8::try_from(token).expect("two times four bits"));
        self.extension(literals.len());
        self.bytes.extend_from_slice(&literals);
    }

    fn extension(&mut self, len: usize) {
        if let Some(more) = len.checked_sub(EXTENDED) {
            self.bytes.resize(self.bytes.len() + more / 255, 255);
            self.bytes.push(u8::try_from(more % 255).expect("less than 255"));
        }
    }

    fn finish(&mut self) -> Vec<u8> {
        self.sequence(0);
        core::mem::take(&mut self.bytes)
    }
}

fn one_match(before: usize, distance: usize, len: usize, after: usize) -> (Vec<u8>, usize) {
    let mut stream = Stream::new(0);
    stream.literals(&noise(before, 3));
    stream.matching(distance, len);
    stream.literals(&noise(after, 4));
    (stream.finish(), stream.len)
}

#[test]
fn matches_of_every_distance_are_copied() {
    let far = [1000, 4095, 4096, 4097, 32_768, 65_534, 65_535];
    for distance in (1..=600).chain(far) {
        let mut stream = Stream::new(0);
        stream.literals(&noise(distance, 7));
        for (count, len) in (4..20).chain([31, 32, 33, 64, 66, 130, 273, 274, 275, 600]).enumerate() {
            stream.matching(distance, len);
            stream.literals(&noise(count % 18, len as u64));
        }
        let src = stream.finish();
        Lz4::decode_and_compare(&src, stream.len);
    }
}

#[test]
fn matches_of_every_length_are_copied() {
    for len in (4..=600).chain([1023, 1024, 5000, 70_000]) {
        for distance in [1, 2, 3, 7, 8, 11, 16, 17, 31, 32, 33, 50, 100] {
            let (src, made) = one_match(distance, distance, len, 5 + len % 70);
            Lz4::decode_and_compare(&src, made);
        }
    }
}

#[test]
fn literal_runs_of_every_length_are_copied() {
    for literals in (1..=600).chain([1000, 5000, 70_000]) {
        let (src, made) = one_match(literals, literals.min(9), 20, literals % 37);
        Lz4::decode_and_compare(&src, made);
    }
}

#[test]
fn matches_may_end_anywhere_near_the_end() {
    for after in 0..20 {
        for len in (4..40).chain([63, 64, 65, 100, 127, 128, 129, 200, 400]) {
            for distance in [1, 2, 3, 5, 8, 13, 16, 24, 31, 32, 40, 70] {
                let (src, made) = one_match(70, distance, len, after);
                Lz4::decode_and_compare(&src, made);
            }
        }
    }
}

impl Lz4 {
    fn decode_and_compare(src: &[u8], len: usize) {
        assert_eq!(Self::expected(false, src, &[], len).map(|bytes| bytes.len()), Ok(len));
        decoding::check::<Self>(false, src, &[], len);
        decoding::check::<Self>(false, src, &[], len + 200);
    }
}

#[test]
fn random_streams_and_their_mutations_decode_as_expected() {
    decoding::check_random_streams::<Lz4>(1, &[], 600);
}

#[test]
fn random_streams_with_a_dictionary_decode_as_expected() {
    for len in [1, 3, 20, 31, 32, 33, 100, 1000, 32_768] {
        decoding::check_random_streams::<Lz4>(len as u64, &noise(len, 5), 30);
    }
}

#[test]
fn noise_is_refused_or_decoded_as_expected() {
    decoding::check_noise::<Lz4>(11, 4000);
}

#[test]
fn every_prefix_is_the_prefix_of_the_whole() {
    let mut random = Random(21);
    for dict in [0, 0, 0, 50, 3000] {
        let (src, len) = Lz4::random_stream(&mut random, dict);
        decoding::check_every_prefix::<Lz4>(&src, &noise(dict, 5), len);
    }
}

#[test]
fn every_truncation_is_noticed_or_decoded_as_expected() {
    let mut random = Random(31);
    for dict in [0, 0, 0, 50, 3000] {
        let (src, len) = Lz4::random_stream(&mut random, dict);
        decoding::check_truncations::<Lz4>(&src, &noise(dict, 5), len);
    }
}

#[test]
fn only_the_last_64_kib_of_a_dictionary_can_be_referred_to() {
    let dict = noise(70_000, 9);
    let mut stream = Stream::new(dict.len());
    stream.matching(65_535, 100);
    stream.literals(&[1, 2, 3, 4, 5]);
    let src = stream.finish();
    let mut dst = vec![0; stream.len];
    assert_eq!(lz4::decompress_with_dict(&src, &dict, &mut dst), Ok(105));
    assert_eq!(dst[..100], dict[70_000 - 65_535..][..100]);
    let mut start = [0; 7];
    assert_eq!(lz4::decompress_prefix_with_dict(&src, &dict, &mut start), Ok(7));
    assert_eq!(start, dst[..7]);
}

#[test]
fn an_empty_block_is_one_zero_token() {
    assert_eq!(lz4::decompress(&[0], &mut []), Ok(0));
    assert_eq!(lz4::decompress(&[0], &mut [1, 2, 3]), Ok(0));
    assert_eq!(lz4::decompress(&[], &mut []), Err(LzError::InputEnded { input: 0 }));
    assert_eq!(lz4::decompress(&[0, 0], &mut []), Err(LzError::InputEnded { input: 2 }));
}

#[test]
fn nothing_is_read_for_an_empty_prefix() {
    assert_eq!(lz4::decompress_prefix(&[], &mut []), Ok(0));
    assert_eq!(lz4::decompress_prefix(&[255, 255], &mut []), Ok(0));
}

#[test]
fn a_stream_does_not_end_with_a_match() {
    let mut dst = [0; 100];
    assert_eq!(lz4::decompress(&[0x10, 7, 1, 0], &mut dst), Err(LzError::BadEnd { read: 4 }));
    let mut long = noise(60, 1);
    long.splice(0..0, [0xf0, 45]);
    long.extend_from_slice(&[1, 0]);
    assert_eq!(lz4::decompress(&long, &mut dst), Err(LzError::BadEnd { read: 64 }));
}

#[test]
fn a_distance_of_zero_is_refused() {
    let mut dst = [0; 100];
    let expected = Err(LzError::DistanceTooFar { distance: 0, available: 1 });
    assert_eq!(lz4::decompress(&[0x10, 7, 0, 0, 0], &mut dst), expected);
    let mut long = noise(90, 1);
    long[..4].copy_from_slice(&[0x10, 7, 0, 0]);
    assert_eq!(lz4::decompress(&long, &mut dst), expected);
    long[0] = 0x1f;
    assert_eq!(lz4::decompress(&long, &mut dst), expected);
}

#[test]
fn lengths_beyond_all_memory_are_refused() {
    let mut dst = [0; 1000];
    for start in [&[0xf0][..], &[0x0f, 1, 0], &[0x1f, 7, 1, 0]] {
        let mut src = start.to_vec();
        src.resize(100_000, 255);
        let cut = Err(LzError::InputEnded { input: src.len() });
        assert_eq!(lz4::decompress(&src, &mut dst), cut);
        assert_eq!(lz4::decompress_prefix(&src, &mut dst), cut);
        for tail in 1..40 {
            src.push(0);
            assert!(lz4::decompress(&src, &mut dst).is_err());
            let fills = start[0] == 0x1f;
            assert_eq!(lz4::decompress_prefix(&src, &mut dst).is_ok(), fills, "{start:?} and {tail} bytes");
        }
    }
}
