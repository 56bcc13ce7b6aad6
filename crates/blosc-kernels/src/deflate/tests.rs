//! Streams that come back through our own decoder.

use super::Deflater;
use crate::inflate::{Inflated, Inflater};
use crate::lz::samples::{inputs, mixture, noise, periodic, ramp, shuffled_ramp, text};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Compresses at a level and decodes again; the length of the stream. The same as zlib does, at the
/// level and at the one above what we have ourselves, with matches of three bytes and without.
fn round_trip(deflater: &mut Deflater, inflater: &mut Inflater, src: &[u8], level: u8) -> usize {
    let mut stream = vec![0; src.len() + src.len() / 8 + 64];
    for (level, is_short) in [(level, true), (level, false), (level + 4, true)] {
        let len = deflater.compress_as_zlib(src, &mut stream, level, is_short).expect("there is room enough");
        check_stream(inflater, &stream[..len], src, level);
    }
    let len = deflater.compress(src, &mut stream, level).expect("there is room enough");
    check_stream(inflater, &stream[..len], src, level);
    len
}

fn check_stream(inflater: &mut Inflater, stream: &[u8], src: &[u8], level: u8) {
    let mut back = vec![0; src.len()];
    let (inflated, read) = (inflater.decompress(stream, &mut back), stream.len());
    assert_eq!(inflated, Ok(Inflated { read, written: src.len() }), "{} bytes at level {level}", src.len());
    assert!(back == src, "{} bytes at level {level}", src.len());
}

fn at_all_levels(src: &[u8]) -> Vec<usize> {
    let (mut deflater, mut inflater) = (Deflater::new(), Box::new(Inflater::new()));
    (1..=5).map(|level| round_trip(&mut deflater, &mut inflater, src, level)).collect()
}

#[test]
fn inputs_of_every_kind_come_back() {
    let (mut deflater, mut inflater) = (Deflater::new(), Box::new(Inflater::new()));
    for input in inputs() {
        for level in 1..=5 {
            round_trip(&mut deflater, &mut inflater, &input, level);
        }
    }
}

#[test]
fn inputs_of_every_length_come_back() {
    let kinds =
        [noise(600, 5), periodic(600, 1), periodic(600, 2), periodic(600, 7), text(600), mixture(600, 3), ramp(600)];
    let (mut deflater, mut inflater) = (Deflater::new(), Box::new(Inflater::new()));
    for kind in &kinds {
        for len in 0..=kind.len() {
            for level in [1, 2, 5] {
                round_trip(&mut deflater, &mut inflater, &kind[..len], level);
            }
        }
    }
}

#[test]
fn inputs_at_every_place_come_back() {
    let (mut deflater, mut inflater) = (Deflater::new(), Box::new(Inflater::new()));
    let bytes = mixture(2000, 12);
    for start in 0..64 {
        for level in [1, 5] {
            round_trip(&mut deflater, &mut inflater, &bytes[start..1900 + start], level);
        }
    }
}

#[test]
fn matches_reach_back_32768_bytes_and_no_farther() {
    for (distance, is_reached) in [(32_767, true), (32_768, true), (32_769, false)] {
        let word = noise(1000, 8);
        let mut input = word.clone();
        input.resize(distance, 0);
        input.extend(&word);
        input.extend([0; 20]);
        for len in at_all_levels(&input) {
            assert_eq!(len < 1700, is_reached, "{distance}: {len}");
        }
    }
}

#[test]
fn runs_end_where_they_end() {
    for len in [3, 4, 5, 257, 258, 259, 260, 516, 517, 1000, 100_000] {
        for period in [1, 2, 3, 4, 8, 300] {
            let mut input = noise(20, 3);
            input.extend(periodic(len, period));
            input.extend(noise(20, 4));
            at_all_levels(&input);
        }
    }
}

#[test]
fn blocks_end_where_the_data_changes() {
    let mut input = Vec::new();
    for round in 0..6 {
        input.extend(text(40_000));
        input.extend(noise(30_000 + round, round as u64));
        input.extend(shuffled_ramp(50_000));
        input.extend(periodic(20_000, 1));
    }
    let lens = at_all_levels(&input);
    assert!(lens[4] < lens[1] && lens[1] < lens[0], "{lens:?}");
}

#[test]
fn noise_is_stored_from_level_2_on() {
    let input = noise(200_000, 6);
    for len in &at_all_levels(&input)[1..] {
        assert!(*len < input.len() + 100, "{len}");
    }
}

#[test]
fn a_stream_is_complete_or_refused_whatever_the_room() {
    let mut deflater = Deflater::new();
    for src in [text(300), mixture(300, 2), noise(300, 2), periodic(300, 1), noise(3, 1), Vec::new()] {
        for level in [1, 2, 5] {
            let mut whole = vec![0; 1000];
            let len = deflater.compress(&src, &mut whole, level).unwrap();
            for room in 0..=len + 20 {
                let mut dst = vec![0xA5; room];
                let found = deflater.compress(&src, &mut dst, level);
                assert_eq!(found, (room >= len).then_some(len), "{room} bytes of room");
                assert!(room < len || dst[..len] == whole[..len]);
            }
        }
    }
}

#[test]
fn what_was_compressed_before_changes_nothing() {
    let src = mixture(70_000, 21);
    for level in 1..=5 {
        let (mut new, mut again) = (vec![0; 80_000], vec![0; 80_000]);
        let len = Deflater::new().compress(&src, &mut new, level).unwrap();
        let mut used = Deflater::new();
        used.compress(&text(150_000), &mut vec![0; 150_000], level).unwrap();
        assert_eq!(used.compress(&text(150_000), &mut [0; 100], level), None);
        assert_eq!(used.compress(&src, &mut again, level), Some(len));
        assert_eq!(again[..len], new[..len]);
    }
}
