//! Every kernel of every instruction set this processor has, against the definition of the filter.

mod common;

use blosc_kernels::bitshuffle::{bitshuffle_with, bitunshuffle_with};
use blosc_kernels::isa::Isa;
use blosc_kernels::shuffle::{shuffle_with, unshuffle_range, unshuffle_with};
use common::{bitshuffled, noise, shuffled};

type Kernel = fn(Isa, usize, &[u8], &mut [u8]);
type Model = fn(usize, &[u8]) -> Vec<u8>;

const TYPESIZES: [usize; 8] = [64, 100, 255, 256, 1000, 4096, 4097, 9000];
/// Bytes before and after the output that a kernel must leave alone.
const GUARD: usize = 64;

fn typesizes() -> impl Iterator<Item = usize> {
    (1..=33).chain(TYPESIZES)
}

/// Runs a kernel on buffers at the given offsets from a 64-byte boundary and checks output and
/// surroundings.
fn run(kernel: Kernel, isa: Isa, typesize: usize, src: &[u8], offsets: (usize, usize)) -> Vec<u8> {
    let mut source = vec![0; src.len() + 128];
    let from = source.as_ptr().align_offset(64) + offsets.0;
    source[from..from + src.len()].copy_from_slice(src);

    let mut output = vec![0xA5; src.len() + 128 + 2 * GUARD];
    let to = output.as_ptr().align_offset(64) + GUARD + offsets.1;
    kernel(isa, typesize, &source[from..from + src.len()], &mut output[to..to + src.len()]);
    let result = output[to..to + src.len()].to_vec();
    output[to..to + src.len()].fill(0xA5);
    assert!(output.iter().all(|&byte| byte == 0xA5), "{} wrote outside its output, typesize {typesize}", isa.name());
    result
}

fn assert_both_ways(kernels: (Kernel, Kernel), model: Model, typesize: usize, len: usize, offsets: (usize, usize)) {
    let plain = noise(len);
    let expected = model(typesize, &plain);
    for isa in Isa::available() {
        let what = format!("{} typesize {typesize} length {len} offsets {offsets:?}", isa.name());
        assert!(run(kernels.0, isa, typesize, &plain, offsets) == expected, "forward {what}");
        assert!(run(kernels.1, isa, typesize, &expected, offsets) == plain, "backward {what}");
    }
}

fn assert_all_short_lengths(kernels: (Kernel, Kernel), model: Model, items: usize) {
    for typesize in 1..=33 {
        for len in 0..=items * typesize + 1 {
            // All lengths are too many for the longer elements: all remainders near the item
            // boundaries will do.
            let near_boundary = len % typesize <= 1 || len % typesize == typesize - 1;
            if typesize <= 4 || near_boundary {
                assert_both_ways(kernels, model, typesize, len, (len % 7, len % 5));
            }
        }
    }
}

fn assert_all_offsets(kernels: (Kernel, Kernel), model: Model, items: usize) {
    for typesize in (1..=17).chain([24, 32, 33]) {
        for offset in 0..64 {
            let len = items * typesize + typesize / 2;
            assert_both_ways(kernels, model, typesize, len, (offset, 0));
            assert_both_ways(kernels, model, typesize, len, (0, offset));
            assert_both_ways(kernels, model, typesize, len, (offset, 63 - offset));
        }
    }
}

fn assert_all_typesizes(kernels: (Kernel, Kernel), model: Model, item_counts: &[usize]) {
    for typesize in typesizes() {
        // A few hundred kilobytes are enough to go through everything a kernel does with elements
        // of that size.
        for &items in item_counts.iter().filter(|&&items| items < 64 || items * typesize < 200_000) {
            for extra in [0, 1, typesize - 1] {
                assert_both_ways(kernels, model, typesize, items * typesize + extra, (1, 3));
            }
        }
    }
}

const SHUFFLE: (Kernel, Kernel) = (shuffle_with, unshuffle_with);
const BITSHUFFLE: (Kernel, Kernel) = (bitshuffle_with, bitunshuffle_with);

#[test]
fn shuffle_is_right_for_every_short_length() {
    assert_all_short_lengths(SHUFFLE, shuffled, 260);
}

#[test]
fn shuffle_is_right_at_every_alignment() {
    assert_all_offsets(SHUFFLE, shuffled, 133);
}

#[test]
fn shuffle_is_right_for_every_typesize() {
    assert_all_typesizes(SHUFFLE, shuffled, &[1, 7, 31, 64, 129, 300, 1111]);
}

#[test]
fn bitshuffle_is_right_for_every_short_length() {
    assert_all_short_lengths(BITSHUFFLE, bitshuffled, 270);
}

#[test]
fn bitshuffle_is_right_at_every_alignment() {
    assert_all_offsets(BITSHUFFLE, bitshuffled, 521);
}

#[test]
fn bitshuffle_is_right_for_every_typesize() {
    assert_all_typesizes(BITSHUFFLE, bitshuffled, &[1, 8, 135, 256, 511, 1160]);
}

#[test]
fn a_range_of_a_shuffled_block_is_the_same_range_of_the_plain_one() {
    for typesize in typesizes() {
        let items = 300;
        let plain = noise(items * typesize + typesize - 1);
        let block = shuffled(typesize, &plain);
        for (first, count) in [(0, 0), (0, 1), (7, 1), (299, 1), (300, 0), (3, 64), (41, 97), (0, 300), (1, 299)] {
            let mut got = vec![0; count * typesize];
            unshuffle_range(typesize, &block, first, &mut got);
            assert!(got == plain[first * typesize..][..got.len()], "typesize {typesize} items {first} + {count}");
        }
    }
}

#[test]
#[should_panic(expected = "elements 2 and 9 on of a block of 10")]
fn a_range_beyond_the_block_is_refused() {
    unshuffle_range(4, &[0; 43], 2, &mut [0; 36]);
}

#[test]
#[should_panic(expected = "differ in length")]
fn lengths_that_differ_are_refused() {
    shuffle_with(Isa::best(), 4, &[0; 8], &mut [0; 9]);
}

#[test]
fn a_typesize_larger_than_the_block_leaves_a_copy() {
    let plain = noise(1000);
    for typesize in [1001, usize::MAX / 8, usize::MAX / 2, usize::MAX] {
        for isa in Isa::available() {
            for kernel in [SHUFFLE.0, SHUFFLE.1, BITSHUFFLE.0, BITSHUFFLE.1] {
                assert_eq!(run(kernel, isa, typesize, &plain, (0, 0)), plain, "{} typesize {typesize}", isa.name());
            }
        }
    }
}

#[test]
#[should_panic(expected = "the typesize is 0")]
fn a_typesize_of_zero_is_refused() {
    bitshuffle_with(Isa::best(), 0, &[0; 8], &mut [0; 8]);
}

#[test]
fn an_instruction_set_the_processor_lacks_falls_back_to_the_scalar_kernel() {
    for isa in [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon, Isa::Simd128] {
        let plain = noise(1000);
        let mut got = vec![0; 1000];
        shuffle_with(isa, 4, &plain, &mut got);
        assert_eq!(got, shuffled(4, &plain), "{}", isa.name());
    }
}

#[test]
fn the_best_instruction_set_is_the_last_available_one() {
    assert_eq!(Isa::available().last(), Some(Isa::best()));
    assert_eq!(Isa::available().next(), Some(Isa::Scalar));
    assert!(Isa::best().is_available());
}
