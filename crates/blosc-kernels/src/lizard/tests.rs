mod forge;
mod simple;

use super::{Decoder, LizardError, Stream};
use crate::isa::Isa;
use crate::lz::samples::{Random, noise};
use crate::lz::vectors::dispatch_on;
use alloc::vec;
use alloc::vec::Vec;
use forge::{Forge, huffman_coded};

const GUARD: usize = 80;
const GUARD_BYTE: u8 = 0xa5;

/// Decodes `src` into `room` bytes on every instruction set, between guard bytes, and compares with
/// the simple decoder.
fn check(src: &[u8], room: usize) -> Result<Vec<u8>, LizardError> {
    let expected = simple::decode(src, room);
    let mut results = Isa::available().map(|isa| {
        let mut buffer = vec![GUARD_BYTE; GUARD + room + GUARD];
        let (before, rest) = buffer.split_at_mut(GUARD);
        let (dst, after) = rest.split_at_mut(room);
        let result = dispatch_on(isa, Stream { decoder: &mut Decoder::new(), src, dst });
        let result = result.map(|written| dst[..written].to_vec());
        assert!(result.as_ref().ok() == expected.as_ref(), "{}: {:?} of {src:?}", isa.name(), result.err());
        assert!(before.iter().chain(after.iter()).all(|&byte| byte == GUARD_BYTE), "{} {src:?}", isa.name());
        result
    });
    let first = results.next().expect("every machine has an instruction set");
    results.for_each(|other| assert_eq!(other, first));
    first
}

/// Every level that there is.
fn levels() -> impl Iterator<Item = u8> {
    10..=49
}

#[test]
fn random_streams_of_every_level_decode_as_by_the_simple_decoder() {
    let mut random = Random(0x11_2a4d);
    for round in 0..6 {
        for level in levels() {
            let forge = Forge::random(&mut random, level, round % 2 == 1);
            let (src, data) = (forge.stream(), &forge.data);
            assert_eq!(check(&src, data.len()).as_deref(), Ok(&data[..]), "level {level}");
            assert_eq!(check(&src, data.len() + 100).as_deref(), Ok(&data[..]), "level {level}");
            assert!(check(&src, data.len() - 1).is_err(), "level {level}");
        }
    }
}

#[test]
fn damaged_streams_decode_as_by_the_simple_decoder() {
    let mut random = Random(0xdeca);
    for round in 0..8 {
        for level in levels().step_by(3) {
            let forge = Forge::random(&mut random, level, round % 2 == 1);
            let src = forge.stream();
            for _ in 0..12 {
                let mut damaged = src.clone();
                for _ in 0..=random.below(3) {
                    let at = random.below(damaged.len());
                    match random.below(4) {
                        0 => damaged[at] ^= 1 << random.below(8),
                        1 => damaged[at] = random.byte(),
                        2 => damaged.insert(at, random.byte()),
                        _ => drop(damaged.remove(at)),
                    }
                }
                let _ = check(&damaged, forge.data.len());
            }
        }
    }
}

#[test]
fn no_prefix_of_a_stream_makes_all_its_data() {
    let mut random = Random(7);
    for level in [10, 20, 30, 41] {
        let forge = Forge::random(&mut random, level, level >= 30);
        let src = forge.stream();
        for end in 0..src.len() {
            let made = check(&src[..end], forge.data.len()).map_or(0, |data| data.len());
            assert!(made < forge.data.len(), "level {level}, {end} of {} bytes", src.len());
        }
    }
}

#[test]
fn levels_that_there_are_not_are_refused() {
    for level in (0..10).chain(50..=255) {
        assert_eq!(check(&[level, 0x80, 1, 0, 0, 5], 1), Err(LizardError::BadLevel { level }));
    }
    assert_eq!(check(&[10, 0x80, 1, 0, 0, 5], 1), Ok(vec![5]));
}

#[test]
fn unknown_flags_of_a_block_are_refused() {
    for flags in 0x10..=0xff {
        let mut src = Forge::of_literals(20, &noise(30, 1)).stream();
        src[1] = flags;
        if flags != 0x80 {
            assert_eq!(check(&src, 30), Err(LizardError::BadBlock { flags }));
        }
    }
}

#[test]
fn a_stream_without_data_is_refused() {
    assert_eq!(check(&[], 0), Err(LizardError::InputEnded { input: 0 }));
    assert_eq!(check(&[10], 0), Err(LizardError::EmptyBlock));
    assert_eq!(check(&[10, 0x80, 0, 0, 0], 0), Err(LizardError::EmptyBlock));
    assert_eq!(check(&Forge::of_literals(10, &[]).stream(), 0), Err(LizardError::EmptyBlock));
}

#[test]
fn offsets_below_eight_and_before_the_start_are_refused() {
    for level in [10, 20] {
        for offset in [0, 1, 7, 31, 1000] {
            let mut forge = Forge::of_literals(level, &noise(30, 2));
            forge.matching(offset, 20);
            let expected = LizardError::BadOffset { offset, available: 30 };
            assert_eq!(check(&forge.stream(), 50), Err(expected), "level {level} offset {offset}");
        }
        for offset in [8, 30] {
            let mut forge = Forge::of_literals(level, &noise(30, 2));
            forge.matching(offset, 20);
            assert_eq!(check(&forge.stream(), 50).as_deref(), Ok(&forge.data[..]));
        }
    }
}

#[test]
fn a_token_that_does_nothing_is_refused() {
    let mut forge = Forge::of_literals(20, &noise(30, 2));
    forge.token(0x80);
    assert_eq!(check(&forge.stream(), 30), Err(LizardError::IdleToken));
}

#[test]
fn a_match_may_reach_into_raw_blocks_and_blocks_before() {
    for level in [10, 20] {
        let mut forge = Forge::new(level);
        forge.raw(&noise(100, 1));
        forge.literals(&noise(40, 2));
        forge.matching(140, 90);
        forge.end_block();
        forge.literals(&noise(20, 3));
        forge.matching(250, 33);
        forge.matching(20, 10);
        assert_eq!(check(&forge.stream(), forge.data.len()).as_deref(), Ok(&forge.data[..]));
    }
}

#[test]
fn the_last_offset_is_forgotten_at_the_end_of_a_block() {
    let mut forge = Forge::of_literals(20, &noise(30, 2));
    forge.matching(10, 20);
    forge.end_block();
    forge.token(0x80 | 5 << 3);
    assert_eq!(check(&forge.stream(), 55), Err(LizardError::BadOffset { offset: 0, available: 50 }));
}

#[test]
fn parts_that_are_left_over_are_not_an_error() {
    let mut forge = Forge::of_literals(20, &noise(30, 2));
    forge.leave_over();
    assert_eq!(check(&forge.stream(), 30).as_deref(), Ok(&forge.data[..]));
}

#[test]
fn runs_of_offsets_that_no_token_takes_cost_nothing() {
    let mut src = vec![20];
    // Flags for coded offsets; lengths; 131072 bytes that are a run, twice; no tokens; one literal.
    src.extend([0x0c, 0, 0, 0, 0, 0, 2, 1, 0, 0, 9, 0, 0, 2, 1, 0, 0, 9, 0, 0, 0, 1, 0, 0, 77]);
    let mut decoder = Decoder::new();
    let mut dst = [0];
    assert_eq!(decoder.decompress(&src, &mut dst), Ok(1));
    assert_eq!((dst, decoder.scratch.len()), ([77], 0));
}

#[test]
fn scratch_memory_is_bounded_and_used_again() {
    let run = |flags: u8| [flags, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 9];
    let src: Vec<u8> = [20].into_iter().chain(run(1)).chain(run(1)).collect();
    let mut dst = vec![0; 1 << 18];
    let mut decoder = Decoder::new();
    assert_eq!(decoder.decompress(&src, &mut dst), Ok(1 << 18));
    assert!(dst.iter().all(|&byte| byte == 9));
    assert_eq!(decoder.scratch.len(), 1 << 17);
}

#[test]
fn a_huffman_code_may_have_from_one_to_twelve_bits() {
    for bits in 1..=12_u8 {
        // One code of each length, two of the longest. The shortest is that of the last byte, whose
        // weight is not written.
        let lengths: Vec<u8> = [bits].into_iter().chain((1..=bits).rev()).collect();
        let mut random = Random(u64::from(bits));
        let data: Vec<u8> =
            (0..5000).map(|_| bits.saturating_sub(random.byte().leading_ones().to_le_bytes()[0])).collect();
        let coded = huffman_coded(&data, &lengths);
        let src = forge::coded_literals(&data, &coded);
        assert_eq!(check(&src, data.len()).as_deref(), Ok(&data[..]), "{bits} bits");
    }
}

#[test]
fn weights_that_make_no_code_are_refused() {
    let literals = |table: &[u8]| {
        let coded = [table, &[1, 0, 1, 0, 1, 0, 3, 3, 3, 3]].concat();
        check(&forge::coded_literals(&[0; 40], &coded), 40)
    };
    // Two weights of 1: the third one is 2, and each stream has ten bytes.
    assert_eq!(literals(&[129, 0x11]), Err(LizardError::BadBits));
    // None at all; one of 12; a sum that lacks no power of two; no longest code.
    for table in [&[129, 0x00][..], &[129, 0xc1], &[129, 0x13], &[128, 0x20]] {
        assert_eq!(literals(table), Err(LizardError::BadWeights), "{table:?}");
    }
}
