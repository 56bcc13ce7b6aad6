//! What the tests of the decoders share: every stream is decoded on every instruction set, between
//! guard bytes, and compared with a decoder that is so simple that it can be trusted.

use crate::isa::Isa;
use crate::lz::LzError;
use crate::lz::samples::Random;
use alloc::vec;
use alloc::vec::Vec;

/// A format, its decoder under test, and its trusted decoder.
pub(crate) trait Format {
    /// Decodes on `isa`.
    fn decode(isa: Isa, prefix: bool, src: &[u8], dict: &[u8], dst: &mut [u8]) -> Result<usize, LzError>;

    /// What decoding into `room` bytes results in.
    fn expected(prefix: bool, src: &[u8], dict: &[u8], room: usize) -> Result<Vec<u8>, LzError>;

    /// A stream of random operations, and how many bytes it makes after a dictionary of `dict`
    /// bytes.
    fn random_stream(random: &mut Random, dict: usize) -> (Vec<u8>, usize);
}

const GUARD: usize = 80;
const GUARD_BYTE: u8 = 0xa5;

/// Decodes `src` into `room` bytes and compares with the trusted decoder, on every instruction set.
pub(crate) fn check<F: Format>(prefix: bool, src: &[u8], dict: &[u8], room: usize) {
    let expected = F::expected(prefix, src, dict, room);
    for isa in Isa::available() {
        let mut buffer = vec![GUARD_BYTE; GUARD + room + GUARD];
        let (before, rest) = buffer.split_at_mut(GUARD);
        let (dst, after) = rest.split_at_mut(room);
        let result = F::decode(isa, prefix, src, dict, dst);
        let result = result.map(|written| dst[..written].to_vec());
        assert!(result == expected, "{} prefix {prefix} room {room} of {src:?}", isa.name());
        let guards = before.iter().chain(after.iter());
        assert!(guards.copied().all(|byte| byte == GUARD_BYTE), "{} room {room} of {src:?}", isa.name());
    }
}

/// Checks a whole stream that makes `len` bytes: in exactly enough space, in more, and in less.
pub(crate) fn check_rooms<F: Format>(src: &[u8], dict: &[u8], len: usize) {
    assert_eq!(F::expected(false, src, dict, len).map(|bytes| bytes.len()), Ok(len));
    for room in [len, len + 1, len + 15, len + 33, len + 100] {
        check::<F>(false, src, dict, room);
        check::<F>(true, src, dict, room);
    }
    for room in [len / 3, len / 2, len.saturating_sub(40), len.saturating_sub(1)] {
        check::<F>(false, src, dict, room);
        check::<F>(true, src, dict, room);
    }
}

/// Checks that every prefix of the output, decoded alone, is the prefix of the output.
pub(crate) fn check_every_prefix<F: Format>(src: &[u8], dict: &[u8], len: usize) {
    let whole = F::expected(false, src, dict, len).expect("a good stream");
    for room in 0..=len {
        assert!(F::expected(true, src, dict, room).as_deref() == Ok(&whole[..room]));
        check::<F>(true, src, dict, room);
    }
}

/// Checks every truncation of a stream.
pub(crate) fn check_truncations<F: Format>(src: &[u8], dict: &[u8], len: usize) {
    for end in 0..src.len() {
        check::<F>(false, &src[..end], dict, len);
        check::<F>(true, &src[..end], dict, len);
    }
}

/// Checks streams with some bytes changed, inserted or removed.
pub(crate) fn check_mutations<F: Format>(random: &mut Random, src: &[u8], dict: &[u8], len: usize, count: usize) {
    for _ in 0..count {
        let mut mutated = src.to_vec();
        for _ in 0..1 + random.below(3) {
            let at = random.below(mutated.len());
            match random.below(4) {
                0 => mutated[at] = random.byte(),
                1 => mutated[at] = 255,
                2 => mutated.insert(at, random.byte()),
                _ => drop(mutated.remove(at)),
            }
            if mutated.is_empty() {
                return;
            }
        }
        check::<F>(false, &mutated, dict, len);
        check::<F>(true, &mutated, dict, len / 2);
    }
}

/// Checks random streams in all these ways.
pub(crate) fn check_random_streams<F: Format>(seed: u64, dict: &[u8], count: usize) {
    let mut random = Random(seed);
    for _ in 0..count {
        let (src, len) = F::random_stream(&mut random, dict.len());
        check_rooms::<F>(&src, dict, len);
        check_mutations::<F>(&mut random, &src, dict, len, 8);
    }
}

/// Checks bytes that are no stream at all.
pub(crate) fn check_noise<F: Format>(seed: u64, count: usize) {
    let mut random = Random(seed);
    for _ in 0..count {
        let mut src: Vec<u8> = (0..random.below(300)).map(|_| random.byte()).collect();
        // Zeros make short distances, and with them streams that go on for longer.
        let zeros = random.below(8);
        src.iter_mut().for_each(|byte| *byte *= u8::from(random.below(8) >= zeros));
        let room = random.below(1000);
        check::<F>(false, &src, &[], room);
        check::<F>(true, &src, &[], room);
    }
}
