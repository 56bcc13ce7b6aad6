//! Every kernel at every length up to four vectors and at every alignment, against its definition,
//! in memory that ends where the data ends. `.ci/kernels` runs this under valgrind and
//! AddressSanitizer, and every tenth length or so under Miri.

mod common;

use blosc_kernels::bitshuffle::{bitshuffle_with, bitunshuffle_with};
use blosc_kernels::boxes::{Source, copy_box};
use blosc_kernels::copy::copy;
use blosc_kernels::isa::Isa;
use blosc_kernels::lz::LzError;
use blosc_kernels::runs::{is_zero, repeated_byte, repeats_value};
use blosc_kernels::shuffle::{shuffle_with, unshuffle_range, unshuffle_with};
use blosc_kernels::{blosclz, bytedelta, delta, lz4};
use common::{Exact, bitshuffled, noise, shuffled};

/// The widest vector there is.
const VECTOR: usize = 64;
const FOUR: usize = 4 * VECTOR;

/// How far one length is from the next, and one alignment from the next. Miri interprets at about a
/// thousandth of the speed of a processor; what it is there for, borrows and uninitialised bytes,
/// does not depend on every length.
const LENGTH_STEP: usize = if cfg!(miri) { 53 } else { 1 };
const OFFSET_STEP: usize = if cfg!(miri) { 37 } else { 1 };

/// Every length up to four vectors and one byte more, with every alignment of source and target.
fn places() -> impl Iterator<Item = (usize, usize, usize)> {
    let offsets = || (0..VECTOR).step_by(OFFSET_STEP);
    (0..=FOUR + 1)
        .step_by(LENGTH_STEP)
        .flat_map(move |len| offsets().map(move |offset| (len, offset, (7 * offset + len) % VECTOR)))
}

/// Runs a kernel from a source into a target of the same length.
fn through(kernel: impl Fn(&[u8], &mut [u8]), src: &[u8], from: usize, to: usize) -> Exact {
    let src = Exact::of(src, from);
    let mut dst = Exact::zeros(src.len(), to);
    kernel(&src, &mut dst);
    dst
}

type Kernel = fn(Isa, usize, &[u8], &mut [u8]);

/// A filter: there, back, and what it is.
struct Transpose {
    forward: Kernel,
    backward: Kernel,
    model: fn(usize, &[u8]) -> Vec<u8>,
}

impl Transpose {
    /// Memory is made once for all instruction sets: valgrind takes longer for that than for a
    /// kernel.
    fn check(&self, typesize: usize, plain: &[u8], expected: &[u8], (from, to): (usize, usize)) {
        let (plain, expected) = (Exact::of(plain, from), Exact::of(expected, from));
        let mut dst = Exact::zeros(plain.len(), to);
        for isa in Isa::available() {
            let what = format_args!("{} typesize {typesize} length {} at {from} to {to}", isa.name(), plain.len());
            (self.forward)(isa, typesize, &plain, &mut dst);
            assert!(*dst == *expected, "forward {what}");
            (self.backward)(isa, typesize, &expected, &mut dst);
            assert!(*dst == *plain, "backward {what}");
        }
    }

    fn check_bytes(&self) {
        for typesize in [1, 2, 3, 4, 7, 8, 12, 16] {
            let (mut plain, mut expected) = (Vec::new(), Vec::new());
            for (len, from, to) in places() {
                if from == 0 {
                    plain = noise(len);
                    expected = (self.model)(typesize, &plain);
                }
                self.check(typesize, &plain, &expected, (from, to));
            }
        }
    }

    /// A vector of items is as many vectors of bytes as an item has bytes.
    fn check_items(&self) {
        for typesize in [2, 3, 4, 7, 8, 16, 32] {
            for items in (0..=FOUR + 1).step_by(LENGTH_STEP) {
                self.check_some(typesize, items);
            }
        }
    }

    /// Every typesize that has a kernel of its own, with enough items for the widest vectors.
    fn check_typesizes(&self) {
        for typesize in (2..=17).chain([24, 31, 32, 33]) {
            for items in [129, 63, 64, 65, 127, 128].into_iter().step_by(if cfg!(miri) { 6 } else { 1 }) {
                self.check_some(typesize, items);
            }
        }
    }

    /// Rows at a distance for which those that share a set of the cache are brought together first.
    fn check_crowded(&self) {
        for typesize in [9, 12, 15, 16, 17, 33] {
            for items in [4096, 4097] {
                self.check_some(typesize, items);
            }
        }
    }

    /// Enough groups of eight items for several steps of whole cache lines, and for more of them
    /// than go through a tile together; and some items that make no group.
    fn check_steps(&self) {
        for typesize in [1, 2, 3, 4, 5, 8, 12, 16, 17, 33, 255] {
            for groups in [63, 64, 65, 255, 256, 257, 319, 320, 321, 511, 512, 513, 1025] {
                self.check_some(typesize, 8 * groups + groups % 8);
            }
        }
    }

    fn check_some(&self, typesize: usize, items: usize) {
        let plain = noise(items * typesize + items % typesize);
        let expected = (self.model)(typesize, &plain);
        self.check(typesize, &plain, &expected, (items % VECTOR, 7 * items % VECTOR));
    }
}

#[test]
fn shuffle_is_its_definition() {
    let shuffle = Transpose { forward: shuffle_with, backward: unshuffle_with, model: shuffled };
    shuffle.check_bytes();
    shuffle.check_items();
    shuffle.check_typesizes();
    if !cfg!(miri) {
        shuffle.check_crowded();
    }
}

#[test]
fn bitshuffle_is_its_definition() {
    let bitshuffle = Transpose { forward: bitshuffle_with, backward: bitunshuffle_with, model: bitshuffled };
    bitshuffle.check_bytes();
    bitshuffle.check_items();
    if !cfg!(miri) {
        bitshuffle.check_steps();
    }
}

#[test]
fn a_range_of_a_shuffled_block_is_that_of_the_plain_one() {
    for typesize in [2, 3, 4, 8, 16] {
        for items in (1..=FOUR / 2 + 1).step_by(LENGTH_STEP) {
            let plain = noise(items * typesize);
            let block = Exact::of(&shuffled(typesize, &plain), items % VECTOR);
            for first in [0, 1, items / 3, items - 1] {
                let mut got = Exact::zeros((items - first) * typesize, (5 * items) % VECTOR);
                unshuffle_range(typesize, &block, first, &mut got);
                assert!(*got == plain[first * typesize..], "typesize {typesize}, items {first} to {items}");
            }
        }
    }
}

#[test]
fn delta_is_its_definition() {
    for (len, from, to) in places() {
        let plain = noise(len);
        let reference = Exact::of(&noise(len + 1)[..len], to);
        for unit in [1, 2, 4, 8] {
            let what = format_args!("unit {unit} length {len} at {from} to {to}");
            let whole = len - len % unit;
            let before = |i: usize| if i < unit || i >= whole { 0 } else { plain[i - unit] };
            let mut first = through(|src, dst| delta::encode_first(unit, src, dst), &plain, from, to);
            assert!(first.iter().enumerate().all(|(i, &byte)| byte == plain[i] ^ before(i)), "first, {what}");
            delta::decode_first(unit, &mut first);
            assert!(*first == plain, "first, {what}");
            let encode = |src: &[u8], dst: &mut [u8]| delta::encode_with_reference(unit, &reference, src, dst);
            let mut other = through(encode, &plain, from, to);
            let with = |i: usize| if i < whole { reference[i] } else { 0 };
            assert!(other.iter().enumerate().all(|(i, &byte)| byte == plain[i] ^ with(i)), "other, {what}");
            delta::decode_with_reference(unit, &reference, &mut other);
            assert!(*other == plain, "other, {what}");
        }
    }
}

#[test]
fn bytedelta_is_its_definition() {
    for (len, from, to) in places() {
        let plain = noise(len);
        for group in [1, 2, 4, 8] {
            let what = format_args!("group {group} length {len} at {from} to {to}");
            let channel = len / group;
            let restarts = |i: usize| i >= channel * group || i.is_multiple_of(channel);
            let coded = through(|src, dst| bytedelta::encode(group, src, dst), &plain, from, to);
            let before = |i: usize| if restarts(i) { 0 } else { plain[i - 1] };
            assert!(coded.iter().enumerate().all(|(i, &byte)| byte == plain[i].wrapping_sub(before(i))), "{what}");
            assert!(*through(|src, dst| bytedelta::decode(group, src, dst), &coded, from, to) == plain, "{what}");
            let coded = through(|src, dst| bytedelta::encode_restarting(group, src, dst), &plain, from, to);
            let back = through(|src, dst| bytedelta::decode_restarting(group, src, dst), &coded, from, to);
            assert!(*back == plain, "restarting, {what}");
        }
    }
}

/// The vectors of this kernel are for blocks from two kilobytes on, and for some distances.
#[test]
fn a_copy_is_the_source() {
    for (len, from, to) in places() {
        let plain = noise(len);
        assert!(*through(copy, &plain, from, to) == plain, "length {len} at {from} to {to}");
    }
    for (more, from, distance) in places() {
        let (page, len) = (4096, 2048 + more);
        let plain = noise(len);
        let mut memory = Exact::zeros(page + distance + len, from);
        let (src, dst) = memory.split_at_mut(page + distance);
        src[..len].copy_from_slice(&plain);
        copy(&src[..len], dst);
        assert!(*dst == plain, "length {len} at {from}, {distance} ahead");
    }
}

#[test]
fn runs_are_found_and_nothing_else_is() {
    // Shorter ones than this are looked at without vectors.
    let (shortest, value) = (272, [1, 2, 3]);
    for (more, from, spoiled) in places() {
        for len in [more, shortest + more] {
            let what = format_args!("length {len} at {from}");
            let mut run = Exact::of(&vec![0; len], from);
            assert!(is_zero(&run), "{what}");
            run.fill(9);
            assert_eq!(repeated_byte(&run), (len > 0).then_some(9), "{what}");
            let repeated: Vec<u8> = value.into_iter().cycle().take(len).collect();
            let mut repeated = Exact::of(&repeated, from);
            assert!(repeats_value(&repeated, &value), "{what}");
            if len > 1 {
                let at = len - 1 - spoiled % len;
                run[at] ^= 1;
                assert_eq!(repeated_byte(&run), None, "{what}, another byte at {at}");
                run.fill(0);
                run[at] = 1;
                assert!(!is_zero(&run), "{what}, another byte at {at}");
                repeated[at] ^= 4;
                assert!(!repeats_value(&repeated, &value), "{what}, another byte at {at}");
            }
        }
    }
}

#[test]
fn boxes_are_copied_item_by_item() {
    for (len, from, to) in places() {
        let plain = noise(len);
        for typesize in [1, 3, 4, 8] {
            let items = len / typesize;
            let shape = [items / 5, 5_usize.min(items)];
            let row = shape[1] * typesize;
            let used = shape[0] * row;
            let strides = [row.cast_signed(), typesize.cast_signed()];
            let turned = [typesize.cast_signed(), (shape[0] * typesize).cast_signed()];
            let src = Exact::of(&plain[..used], from);
            let mut dst = Exact::zeros(used, to);
            copy_box(typesize, &shape, Source { bytes: &src, start: 0, strides: &strides }, &mut dst, 0, &turned);
            for (index, item) in plain[..used].chunks_exact(typesize).enumerate() {
                let at = (index % shape[1] * shape[0] + index / shape[1]) * typesize;
                assert!(dst[at..at + typesize] == *item, "typesize {typesize} length {len} at {from} to {to}");
            }
        }
    }
}

/// Literals and matches of several distances.
fn compressible(len: usize) -> Vec<u8> {
    let noise = noise(len);
    (0..len).map(|i| if i / 23 % 2 == 0 { noise[i % 7] } else { noise[i % 40] }).collect()
}

type Decode<'a> = &'a dyn Fn(&[u8], &mut [u8]) -> Result<usize, LzError>;

/// Decodes into exactly the space that is needed, and into too little.
fn assert_decodes(
    what: &str,
    stream: &[u8],
    plain: &[u8],
    places: (usize, usize),
    decode: Decode<'_>,
    prefix: Decode<'_>,
) {
    let stream = Exact::of(stream, places.0);
    let mut whole = Exact::zeros(plain.len(), places.1);
    assert_eq!(decode(&stream, &mut whole), Ok(plain.len()), "{what} length {}", plain.len());
    assert!(*whole == *plain, "{what} length {}", plain.len());
    for less in [1, 17, 40].into_iter().filter(|&less| less < plain.len()) {
        let mut part = Exact::zeros(plain.len() - less, places.1);
        assert!(decode(&stream, &mut part).is_err(), "{what} length {} into {less} less", plain.len());
        assert_eq!(prefix(&stream, &mut part), Ok(part.len()), "{what} length {}", plain.len());
        assert!(*part == plain[..part.len()], "{what} length {}", plain.len());
    }
    for cut in [1, 5].into_iter().filter(|&cut| cut < stream.len()) {
        let cut = Exact::of(&stream[..stream.len() - cut], places.0);
        assert_ne!(decode(&cut, &mut whole), Ok(plain.len()), "{what} length {} cut", plain.len());
    }
}

#[test]
fn streams_are_decoded_into_exactly_their_room() {
    let (mut fast, mut high, mut blosclz) = (lz4::Encoder::new(), lz4::HcEncoder::new(), blosclz::Encoder::new());
    let dict = compressible(300);
    for (len, from, to) in places().filter(|(len, ..)| *len > 0) {
        let plain = compressible(len);
        let src = Exact::of(&plain, from);
        let mut room = vec![0; 2 * len + 64];
        let places = (from, to);
        let written = fast.compress(&src, &mut room, 1).unwrap();
        assert_decodes("lz4", &room[..written], &plain, places, &lz4::decompress, &lz4::decompress_prefix);
        if from % 8 == 0 {
            let written = high.compress(&src, &mut room, 9).unwrap();
            assert_decodes("lz4hc", &room[..written], &plain, places, &lz4::decompress, &lz4::decompress_prefix);
            let dict = Exact::of(&dict, to);
            let written = fast.compress_with_dict(&src, &dict, &mut room, 1).unwrap();
            let whole = |src: &[u8], dst: &mut [u8]| lz4::decompress_with_dict(src, &dict, dst);
            let prefix = |src: &[u8], dst: &mut [u8]| lz4::decompress_prefix_with_dict(src, &dict, dst);
            assert_decodes("lz4 with a dictionary", &room[..written], &plain, places, &whole, &prefix);
        }
        for variant in [blosclz::Variant::Blosc2, blosclz::Variant::Blosc1 { is_split: false }] {
            if let Some(written) = blosclz.compress(&src, &mut room, 5, variant) {
                let (whole, prefix) = (&blosclz::decompress, &blosclz::decompress_prefix);
                assert_decodes("blosclz", &room[..written], &plain, places, whole, prefix);
            }
        }
    }
}
