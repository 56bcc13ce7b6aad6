//! The kernels of the filters: there and back, and each instruction set against portable code.

use crate::input::Input;
use blosc_kernels::isa::Isa;
use blosc_kernels::runs::{is_zero, repeated_byte, repeats_value};
use blosc_kernels::{bitshuffle, bytedelta, copy, delta, shuffle};

type Kernel = fn(Isa, usize, &[u8], &mut [u8]);

const KERNELS: [Kernel; 4] =
    [shuffle::shuffle_with, shuffle::unshuffle_with, bitshuffle::bitshuffle_with, bitshuffle::bitunshuffle_with];

fn typesize(input: &mut Input<'_>) -> usize {
    if input.byte() < 230 { 1 + input.below(40) } else { 1 + input.below(10_000) }
}

/// Data of the input, repeated to some length, at any alignment.
fn data(input: &mut Input<'_>) -> (Vec<u8>, usize) {
    let (skip, copies) = (input.below(64), 1 + input.below(40));
    let bytes = input.rest().repeat(copies);
    let skip = skip.min(bytes.len());
    (bytes, skip)
}

/// Every instruction set does what portable code does.
pub fn isa(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (kernel, typesize) = (input.choose(&KERNELS), typesize(&mut input));
    let (bytes, skip) = data(&mut input);
    let src = &bytes[skip..];
    let mut expected = vec![0; src.len()];
    kernel(Isa::Scalar, typesize, src, &mut expected);
    for isa in Isa::available() {
        let mut got = vec![0x5a; src.len() + skip];
        kernel(isa, typesize, src, &mut got[skip..]);
        assert!(got[skip..] == expected, "{} typesize {typesize} length {}", isa.name(), src.len());
    }
}

/// What a filter does is undone by its opposite.
pub fn filters(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (which, typesize) = (input.below(6), typesize(&mut input));
    let unit = input.choose(&[1, 2, 4, 8]);
    let (bytes, skip) = data(&mut input);
    let src = &bytes[skip..];
    let (mut there, mut back) = (vec![0x5a; src.len()], vec![0xa5; src.len()]);
    match which {
        0 => {
            shuffle::shuffle(typesize, src, &mut there);
            shuffle::unshuffle(typesize, &there, &mut back);
            let items = src.len() / typesize;
            let mut part = vec![0; items / 3 * typesize];
            shuffle::unshuffle_range(typesize, &there, items / 2, &mut part);
            assert!(part == src[items / 2 * typesize..][..part.len()], "a range has other items");
        }
        1 => {
            bitshuffle::bitshuffle(typesize, src, &mut there);
            bitshuffle::bitunshuffle(typesize, &there, &mut back);
        }
        2 => {
            bytedelta::encode(typesize, src, &mut there);
            bytedelta::decode(typesize, &there, &mut back);
        }
        3 => {
            bytedelta::encode_restarting(typesize, src, &mut there);
            bytedelta::decode_restarting(typesize, &there, &mut back);
        }
        4 => {
            delta::encode_first(unit, src, &mut back);
            delta::decode_first(unit, &mut back);
        }
        _ => {
            let reference: Vec<u8> = src.iter().rev().copied().collect();
            delta::encode_with_reference(unit, &reference, src, &mut back);
            delta::decode_with_reference(unit, &reference, &mut back);
        }
    }
    assert!(back == src, "filter {which}, typesize {typesize}, unit {unit}, length {}", src.len());
    copy::copy(src, &mut there);
    assert!(there == src);
    runs(src, typesize);
}

fn runs(data: &[u8], width: usize) {
    assert_eq!(is_zero(data), data.iter().all(|&byte| byte == 0));
    let repeated = data.first().copied().filter(|first| data.iter().all(|byte| byte == first));
    assert_eq!(repeated_byte(data), repeated);
    if let Some(value) = data.get(..width) {
        assert_eq!(repeats_value(data, value), data.iter().zip(value.iter().cycle()).all(|(one, two)| one == two));
    }
}
