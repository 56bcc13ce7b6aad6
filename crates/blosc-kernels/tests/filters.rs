//! The delta, bytedelta, copy and run kernels, against their definitions.

use blosc_kernels::copy::copy;
use blosc_kernels::runs::{is_zero, repeated_byte, repeats_value};
use blosc_kernels::{bytedelta, delta};

fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()[6]
    };
    (0..len).map(|_| next()).collect()
}

fn lengths() -> impl Iterator<Item = usize> {
    (0..300).chain([1000, 4096, 4099, 70_001])
}

#[test]
fn delta_of_the_first_block_is_xor_with_the_element_before() {
    for unit in [1, 2, 4, 8] {
        for len in lengths() {
            let src = noise(len);
            let whole = len - len % unit;
            let expected: Vec<u8> =
                (0..len).map(|i| if i < unit || i >= whole { src[i] } else { src[i] ^ src[i - unit] }).collect();
            let mut dst = vec![0; len];
            delta::encode_first(unit, &src, &mut dst);
            assert_eq!(dst, expected, "unit {unit} length {len}");
            delta::decode_first(unit, &mut dst);
            assert_eq!(dst, src, "unit {unit} length {len}");
        }
    }
}

#[test]
fn delta_of_another_block_is_xor_with_the_reference() {
    for unit in [1, 2, 4, 8] {
        for len in lengths() {
            let src = noise(len);
            let reference: Vec<u8> = noise(len + 9).split_off(5);
            let whole = len - len % unit;
            let expected: Vec<u8> = (0..len).map(|i| if i < whole { src[i] ^ reference[i] } else { src[i] }).collect();
            let mut dst = vec![0; len];
            delta::encode_with_reference(unit, &reference, &src, &mut dst);
            assert_eq!(dst, expected, "unit {unit} length {len}");
            delta::decode_with_reference(unit, &reference, &mut dst);
            assert_eq!(dst, src, "unit {unit} length {len}");
        }
    }
}

#[test]
#[should_panic(expected = "a reference of 7 bytes for a block of 8")]
fn a_reference_that_is_too_short_is_refused() {
    delta::decode_with_reference(4, &[0; 7], &mut [0; 8]);
}

#[test]
fn bytedelta_restarts_with_every_channel() {
    for group in [1, 2, 3, 4, 5, 8, 16, 100] {
        for len in lengths() {
            let src = noise(len);
            let channel = len / group;
            let expected: Vec<u8> = (0..len)
                .map(|i| {
                    let copied = i >= channel * group;
                    let before = if copied || i % channel == 0 { 0 } else { src[i - 1] };
                    src[i].wrapping_sub(before)
                })
                .collect();
            let mut dst = vec![0; len];
            bytedelta::encode(group, &src, &mut dst);
            assert_eq!(dst, expected, "group {group} length {len}");
            let mut back = vec![0; len];
            bytedelta::decode(group, &dst, &mut back);
            assert_eq!(back, src, "group {group} length {len}");
        }
    }
}

#[test]
fn restarting_bytedelta_also_restarts_in_the_remainder_of_a_channel() {
    for group in [1, 2, 3, 4, 5, 8, 16, 100] {
        for len in lengths() {
            let src = noise(len);
            let channel = len / group;
            let expected: Vec<u8> = (0..len)
                .map(|i| {
                    let copied = i >= channel * group;
                    let restart =
                        copied || i % channel == 0 || (i % channel == channel - channel % 16 && channel % 16 > 0);
                    src[i].wrapping_sub(if restart { 0 } else { src[i - 1] })
                })
                .collect();
            let mut dst = vec![0; len];
            bytedelta::encode_restarting(group, &src, &mut dst);
            assert_eq!(dst, expected, "group {group} length {len}");
            let mut back = vec![0; len];
            bytedelta::decode_restarting(group, &dst, &mut back);
            assert_eq!(back, src, "group {group} length {len}");
        }
    }
}

#[test]
fn a_copy_is_the_source_at_every_length_and_alignment() {
    for len in lengths().chain([8191, 8192, 16_384, 65_537, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 1 << 20]) {
        for (from, to) in [(0, 0), (1, 0), (0, 1), (3, 40), (63, 17)] {
            let src = noise(len + from);
            let mut dst = vec![0xA5; len + to + 64];
            copy(&src[from..], &mut dst[to..to + len]);
            assert!(dst[to..to + len] == src[from..], "length {len} offsets {from} {to}");
            assert!(dst[..to].iter().chain(&dst[to + len..]).all(|&byte| byte == 0xA5), "length {len}");
        }
    }
}

#[test]
fn a_run_is_found_only_where_every_byte_is_the_same() {
    assert_eq!(repeated_byte(&[]), None);
    for len in lengths().skip(1) {
        for offset in [0, 1, 7] {
            let mut data = vec![0x5A; len + offset];
            assert_eq!(repeated_byte(&data[offset..]), Some(0x5A), "length {len}");
            for spoiled in [0, 1, len / 2, len - 1].into_iter().filter(|&at| at < len && len > 1) {
                data[offset + spoiled] ^= 1;
                assert_eq!(repeated_byte(&data[offset..]), None, "length {len} spoiled at {spoiled}");
                data[offset + spoiled] ^= 1;
            }
        }
    }
}

#[test]
fn zeros_are_zero_and_so_is_nothing() {
    assert!(is_zero(&[]));
    for len in lengths().skip(1) {
        let mut data = vec![0; len];
        assert!(is_zero(&data));
        data[len - 1] = 1;
        assert!(!is_zero(&data));
        assert!(!is_zero(&vec![1; len]));
    }
}

#[test]
fn a_value_repeats_until_one_byte_differs() {
    for width in [1, 2, 3, 4, 8, 12, 100] {
        let value = noise(width);
        for len in lengths() {
            let mut data: Vec<u8> = value.iter().copied().cycle().take(len).collect();
            assert!(repeats_value(&data, &value), "width {width} length {len}");
            if let Some(last) = data.last_mut() {
                *last ^= 1;
                assert!(!repeats_value(&data, &value), "width {width} length {len}");
            }
        }
    }
    assert!(repeats_value(&[], &[]));
    assert!(!repeats_value(&[1], &[]));
}
