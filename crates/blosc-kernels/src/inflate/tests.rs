//! Streams put together bit by bit, with codes of every shape.

use alloc::vec;
use alloc::vec::Vec;

use super::{Bits, InflateError, Inflated, Inflater, Output, Stream};
use crate::isa::Isa;
use crate::lz::vectors::dispatch_on;

/// Numbers that look random.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// What a block is made of.
#[derive(Clone, Copy)]
enum Item {
    Literal(u8),
    Match { len: usize, distance: usize },
}

/// Bits, the lowest of a byte first.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    free: usize,
}

impl Writer {
    fn bits(&mut self, value: usize, count: usize) {
        for at in 0..count {
            if self.free == 0 {
                self.bytes.push(0);
                self.free = 8;
            }
            *self.bytes.last_mut().unwrap() |= u8::from(value >> at & 1 == 1) << (8 - self.free);
            self.free -= 1;
        }
    }

    fn zeros(&mut self, count: usize) {
        (0..count).for_each(|_| self.bits(0, 1));
    }

    fn code(&mut self, code: &[Option<(usize, usize)>], symbol: usize) {
        let (value, len) = code[symbol].expect("the symbol has a code");
        (0..len).rev().for_each(|at| self.bits(value >> at & 1, 1));
    }

    fn items(&mut self, literals: &[u8], distances: &[u8], items: &[Item]) {
        let (literals, distances) = (canonical(literals), canonical(distances));
        for &item in items {
            match item {
                Item::Literal(byte) => self.code(&literals, usize::from(byte)),
                Item::Match { len, distance } => {
                    let (symbol, extra, bits) = length_symbol(len);
                    self.code(&literals, symbol);
                    self.bits(extra, bits);
                    let (symbol, extra, bits) = distance_symbol(distance);
                    self.code(&distances, symbol);
                    self.bits(extra, bits);
                }
            }
        }
        self.code(&literals, 256);
    }

    fn fixed(&mut self, is_last: bool, items: &[Item]) {
        self.bits(usize::from(is_last), 1);
        self.bits(1, 2);
        let mut literals = [8; 288];
        literals[144..256].fill(9);
        literals[256..280].fill(7);
        self.items(&literals, &[5; 32], items);
    }

    fn dynamic(&mut self, is_last: bool, literals: &[u8], distances: &[u8], items: &[Item]) {
        self.dynamic_header(is_last, literals, distances);
        self.items(literals, distances, items);
    }

    /// All lengths of codes get codes of four bits, and repeats none.
    fn dynamic_header(&mut self, is_last: bool, literals: &[u8], distances: &[u8]) {
        self.bits(usize::from(is_last), 1);
        self.bits(2, 2);
        self.bits(literals.len() - 257, 5);
        self.bits(distances.len() - 1, 5);
        self.bits(15, 4);
        (0..19).for_each(|at| self.bits(if at < 3 { 0 } else { 4 }, 3));
        for &len in literals.iter().chain(distances) {
            (0..4).rev().for_each(|at| self.bits(usize::from(len) >> at & 1, 1));
        }
    }

    fn stored(&mut self, is_last: bool, content: &[u8]) {
        self.bits(usize::from(is_last), 3);
        self.free = 0;
        let len = u16::try_from(content.len()).unwrap();
        self.bytes.extend_from_slice(&len.to_le_bytes());
        self.bytes.extend_from_slice(&(!len).to_le_bytes());
        self.bytes.extend_from_slice(content);
    }
}

/// The codes of symbols that have codes of these lengths.
fn canonical(lens: &[u8]) -> Vec<Option<(usize, usize)>> {
    let mut codes = vec![None; lens.len()];
    let mut next = 0;
    for len in 1..=15 {
        next <<= 1;
        for symbol in (0..lens.len()).filter(|&symbol| usize::from(lens[symbol]) == len) {
            codes[symbol] = Some((next, len));
            next += 1;
        }
    }
    codes
}

/// The symbol of a length, the bits behind it, and how many.
fn length_symbol(len: usize) -> (usize, usize, usize) {
    if len == 258 {
        return (285, 0, 0);
    }
    let mut base = 3;
    for symbol in 257..285 {
        let extra = if symbol < 265 { 0 } else { (symbol - 261) / 4 };
        if len < base + (1 << extra) {
            return (symbol, len - base, extra);
        }
        base += 1 << extra;
    }
    unreachable!("lengths are from 3 to 258")
}

fn distance_symbol(distance: usize) -> (usize, usize, usize) {
    let mut base = 1;
    for symbol in 0..30 {
        let extra = if symbol < 4 { 0 } else { symbol / 2 - 1 };
        if distance < base + (1 << extra) {
            return (symbol, distance - base, extra);
        }
        base += 1 << extra;
    }
    unreachable!("distances are from 1 to 32768")
}

/// Lengths of a complete code for `count` symbols, some of them long.
fn random_lens(rng: &mut Rng, count: usize) -> Vec<u8> {
    let mut lens = vec![1_u8, 1];
    while lens.len() < count {
        let deep = lens.iter().enumerate().filter(|(_, len)| **len < 15).max_by_key(|(_, len)| **len).unwrap().0;
        let any = rng.below(lens.len());
        let split = if rng.below(3) == 0 || lens[any] == 15 { deep } else { any };
        lens[split] += 1;
        lens.push(lens[split]);
    }
    for at in 0..count {
        lens.swap(at, rng.below(count));
    }
    lens
}

fn random_items(rng: &mut Rng, count: usize, written: &mut usize) -> Vec<Item> {
    let mut items = Vec::new();
    for _ in 0..count {
        if *written == 0 || rng.below(2) == 0 {
            items.push(Item::Literal(u8::try_from(rng.below(256)).unwrap()));
            *written += 1;
        } else {
            let near = [4, 40, 400, 40_000][rng.below(4)];
            let distance = 1 + rng.below((*written).min(near).min(32_768));
            let len = if rng.below(4) == 0 { 258 } else { 3 + rng.below(256) };
            items.push(Item::Match { len, distance });
            *written += len;
        }
    }
    items
}

fn bytes_of(items: &[Item], bytes: &mut Vec<u8>) {
    for &item in items {
        match item {
            Item::Literal(byte) => bytes.push(byte),
            Item::Match { len, distance } => (0..len).for_each(|_| bytes.push(bytes[bytes.len() - distance])),
        }
    }
}

fn decompress(isa: Isa, src: &[u8], dst: &mut [u8]) -> Result<Inflated, InflateError> {
    let mut inflater = Inflater::new();
    dispatch_on(isa, Stream { inflater: &mut inflater, bits: Bits::new(src), output: Output::new(dst) })
}

/// Decodes a stream with every instruction set, with more and with just enough space, and whatever
/// follows it.
fn assert_decodes(stream: &[u8], expected: &[u8]) {
    for isa in Isa::available() {
        for (room, behind) in [(0, 0), (1, 1), (40, 7), (700, 20)] {
            let mut dst = vec![0; expected.len() + room];
            let src = [stream, &vec![0xFF; behind]].concat();
            let inflated = decompress(isa, &src, &mut dst);
            assert_eq!(inflated, Ok(Inflated { read: stream.len(), written: expected.len() }));
            assert!(dst[..expected.len()] == *expected, "{isa:?}");
        }
        if let Some(room) = expected.len().checked_sub(1) {
            let refused = decompress(isa, stream, &mut vec![0; room]);
            assert!(matches!(refused, Err(InflateError::OutputFull { .. })), "{refused:?}");
        }
    }
}

fn refusal(stream: &[u8]) -> InflateError {
    decompress(Isa::best(), stream, &mut [0; 2000]).unwrap_err()
}

#[test]
fn blocks_of_every_kind_come_one_after_the_other() {
    let mut rng = Rng(3);
    for count in [0, 1, 5, 50, 500] {
        let mut writer = Writer::default();
        let (mut expected, mut written) = (Vec::new(), 0);
        for turn in 0..12 {
            let items = random_items(&mut rng, count, &mut written);
            bytes_of(&items, &mut expected);
            if turn % 2 == 0 {
                writer.fixed(false, &items);
            } else {
                writer.dynamic(false, &random_lens(&mut rng, 286), &random_lens(&mut rng, 30), &items);
            }
            if turn % 3 == 0 {
                writer.stored(false, b"as it is");
                expected.extend_from_slice(b"as it is");
                written = expected.len();
            }
        }
        writer.stored(true, &[]);
        assert_decodes(&writer.bytes, &expected);
    }
}

#[test]
fn codes_of_every_shape_are_read() {
    let mut rng = Rng(4);
    for seed in 0..200 {
        let mut written = 0;
        let items = random_items(&mut rng, 40 + seed, &mut written);
        let mut writer = Writer::default();
        writer.dynamic(true, &random_lens(&mut rng, 286), &random_lens(&mut rng, 30), &items);
        let mut expected = Vec::new();
        bytes_of(&items, &mut expected);
        assert_decodes(&writer.bytes, &expected);
    }
}

#[test]
fn every_length_and_distance_is_read() {
    let mut items: Vec<Item> = (0..40_000_u32).map(|at| Item::Literal(((at * at) >> 5).to_le_bytes()[0])).collect();
    items.extend((3..=258).map(|len| Item::Match { len, distance: len * 7 % 100 + 1 }));
    items.extend((1..=32_768).step_by(9).chain([32_768]).map(|distance| Item::Match { len: 3, distance }));
    let mut expected = Vec::new();
    bytes_of(&items, &mut expected);
    let mut writer = Writer::default();
    writer.fixed(true, &items);
    assert_decodes(&writer.bytes, &expected);
}

#[test]
fn a_code_of_one_symbol_has_one_bit() {
    let mut literals = [0; 257];
    literals[256] = 1;
    let mut writer = Writer::default();
    writer.dynamic(true, &literals, &[0], &[]);
    assert_decodes(&writer.bytes, &[]);

    literals[65] = 1;
    let mut lens = [0; 286];
    lens[..257].copy_from_slice(&literals);
    (lens[65], lens[256], lens[285]) = (1, 2, 2);
    let mut writer = Writer::default();
    writer.dynamic(true, &lens, &[1], &[Item::Literal(65), Item::Match { len: 258, distance: 1 }]);
    assert_decodes(&writer.bytes, &[65; 259]);
}

#[test]
fn a_stream_that_is_cut_anywhere_is_refused() {
    let mut rng = Rng(5);
    let mut written = 0;
    let items = random_items(&mut rng, 20, &mut written);
    let mut writer = Writer::default();
    writer.dynamic(false, &random_lens(&mut rng, 286), &random_lens(&mut rng, 30), &items);
    writer.stored(true, b"the end");
    for len in 0..writer.bytes.len() {
        let mut dst = vec![0; written + 7];
        assert!(decompress(Isa::best(), &writer.bytes[..len], &mut dst).is_err(), "{len}");
    }
}

#[test]
fn a_match_before_the_start_is_refused() {
    let mut writer = Writer::default();
    writer.fixed(true, &[Item::Literal(1), Item::Match { len: 3, distance: 2 }]);
    assert_eq!(refusal(&writer.bytes), InflateError::DistanceTooFar { distance: 2, available: 1 });
    let near_end = decompress(Isa::best(), &writer.bytes, &mut [0; 4]);
    assert_eq!(near_end, Err(InflateError::DistanceTooFar { distance: 2, available: 1 }));
}

#[test]
fn blocks_of_the_fourth_kind_are_refused() {
    assert_eq!(refusal(&[0b111, 0, 0]), InflateError::BadBlock);
}

#[test]
fn a_stored_length_that_contradicts_itself_is_refused() {
    assert_eq!(refusal(&[1, 1, 0, 0, 0, 7]), InflateError::BadBlock);
}

#[test]
fn lengths_that_make_no_code_are_refused() {
    let complete = |lens: &[u8], count: usize| [lens, &vec![0; count - lens.len()]].concat();
    let mut too_many = complete(&[1, 1], 257);
    too_many[256] = 1;
    let mut too_few = complete(&[2, 2], 257);
    too_few[256] = 2;
    let without_end = complete(&[1, 1], 257);
    for literals in [too_many, too_few, without_end] {
        let mut writer = Writer::default();
        writer.dynamic_header(true, &literals, &[1, 1]);
        assert_eq!(refusal(&writer.bytes), InflateError::BadLengths);
    }
    let mut literals = complete(&[1], 257);
    literals[256] = 1;
    for distances in [[2, 2], [2, 0]] {
        let mut writer = Writer::default();
        writer.dynamic_header(true, &literals, &distances);
        assert_eq!(refusal(&writer.bytes), InflateError::BadLengths);
    }
}

#[test]
fn more_codes_than_there_are_symbols_are_refused() {
    for (nliterals, ndistances) in [(287, 30), (286, 31)] {
        let mut writer = Writer::default();
        writer.dynamic_header(true, &random_lens(&mut Rng(6), nliterals), &random_lens(&mut Rng(6), ndistances));
        assert_eq!(refusal(&writer.bytes), InflateError::BadLengths);
    }
}

#[test]
fn symbols_without_a_meaning_are_refused() {
    let mut writer = Writer::default();
    writer.bits(0b011, 3);
    // Of the fixed codes, 286 has the eight bits 11000110.
    (0..8).rev().for_each(|at| writer.bits(0b1100_0110 >> at & 1, 1));
    writer.zeros(60);
    assert_eq!(refusal(&writer.bytes), InflateError::BadSymbol);

    let mut lens = [0; 258];
    (lens[65], lens[256], lens[257]) = (1, 2, 2);
    let mut writer = Writer::default();
    // A distance, where there is no code for any.
    writer.dynamic_header(true, &lens, &[0]);
    let codes = canonical(&lens);
    writer.code(&codes, 65);
    writer.code(&codes, 257);
    writer.zeros(60);
    assert_eq!(refusal(&writer.bytes), InflateError::BadSymbol);
}

#[test]
fn noise_ends_in_an_error_or_in_data() {
    let mut rng = Rng(9);
    let mut inflater = Inflater::new();
    for len in 0..3000 {
        let noise: Vec<u8> = (0..len % 300).map(|_| u8::try_from(rng.below(256)).unwrap()).collect();
        let mut dst = vec![0; rng.below(2000)];
        if let Ok(inflated) = inflater.decompress(&noise, &mut dst) {
            assert!(inflated.read <= noise.len() && inflated.written <= dst.len());
        }
    }
}
