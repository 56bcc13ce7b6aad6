//! Every operation of every instruction set this processor has, against what its description says.

use alloc::vec::Vec;

use super::{Kernel, LANE, MAX_LANES, Simd, dispatch, strided};
use crate::isa::Isa;

/// Space for the widest vector.
type Bytes = [u8; MAX_LANES * LANE];

fn sample(seed: u8) -> Bytes {
    core::array::from_fn(|i| u8::try_from(i).unwrap().wrapping_mul(167).wrapping_add(seed))
}

fn load<S: Simd>(simd: S, bytes: &Bytes) -> S::Vector {
    // SAFETY: there is space for the widest vector.
    unsafe { simd.load(bytes.as_ptr()) }
}

/// The bytes of a vector, as many as it has.
fn bytes_of<S: Simd>(simd: S, vector: S::Vector) -> Vec<u8> {
    let mut bytes: Bytes = [0; MAX_LANES * LANE];
    // SAFETY: there is space for the widest vector.
    unsafe { simd.store(bytes.as_mut_ptr(), vector) };
    bytes[..S::WIDTH].to_vec()
}

/// What `model` makes of the place of each byte of a vector: lane and index within it.
fn expected<S: Simd>(model: impl Fn(usize, usize) -> u8) -> Vec<u8> {
    (0..S::WIDTH).map(|i| model(i / LANE, i % LANE)).collect()
}

struct Operations;

impl Kernel for Operations {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        check_zip::<S, 1>(simd);
        check_zip::<S, 2>(simd);
        check_zip::<S, 4>(simd);
        check_zip::<S, 8>(simd);
        check_deal::<S, 1>(simd);
        check_deal::<S, 2>(simd);
        check_deal::<S, 4>(simd);
        check_deal::<S, 8>(simd);
        check_joining(simd);
        check_permute(simd);
        check_lanes(simd);
        check_bits::<S, 1>(simd, 0x55);
        check_bits::<S, 2>(simd, 0x33);
        check_bits::<S, 4>(simd, 0x0F);
        check_logic(simd);
    }
}

fn check_zip<S: Simd, const GRANULE: usize>(simd: S) {
    let (a, b) = (sample(1), sample(99));
    let model = |offset: usize| {
        expected::<S>(|lane, i| {
            let granule = i / GRANULE;
            let source = if granule.is_multiple_of(2) { &a } else { &b };
            source[lane * LANE + offset + granule / 2 * GRANULE + i % GRANULE]
        })
    };
    let (x, y) = (load(simd, &a), load(simd, &b));
    assert_eq!(bytes_of(simd, simd.zip_low::<GRANULE>(x, y)), model(0), "granule {GRANULE}");
    assert_eq!(bytes_of(simd, simd.zip_high::<GRANULE>(x, y)), model(LANE / 2), "granule {GRANULE}");
}

fn check_deal<S: Simd, const CHUNK: usize>(simd: S) {
    if CHUNK < S::DEALS_FROM && !(CHUNK == 8 && S::JOINS_LANES) {
        return;
    }
    let a = sample(7);
    let model = expected::<S>(|lane, i| a[(i / CHUNK * S::LANES + lane) * CHUNK + i % CHUNK]);
    assert_eq!(bytes_of(simd, simd.deal::<CHUNK>(load(simd, &a))), model, "chunk {CHUNK}");
}

fn check_joining<S: Simd>(simd: S) {
    if !S::JOINS_LANES {
        return;
    }
    let (a, b) = (sample(1), sample(99));
    let (low, high) = simd.join_lanes(load(simd, &a), load(simd, &b));
    let model = |from: usize| expected::<S>(|lane, i| if lane == 0 { a[from + i] } else { b[from + i] });
    assert_eq!(bytes_of(simd, low), model(0));
    assert_eq!(bytes_of(simd, high), model(LANE));
}

fn check_permute<S: Simd>(simd: S) {
    let a = sample(3);
    let table = [15, 0, 3, 3, 9, 1, 2, 14, 8, 8, 7, 4, 5, 6, 10, 11];
    let model = expected::<S>(|lane, i| a[lane * LANE + usize::from(table[i])]);
    assert_eq!(bytes_of(simd, simd.permute(load(simd, &a), &table)), model);
    assert_eq!(bytes_of(simd, simd.opaque(load(simd, &a))), bytes_of(simd, load(simd, &a)));
}

fn check_lanes<S: Simd>(simd: S) {
    let a = sample(5);
    // SAFETY: the last lane starts at 39 and ends at 55.
    let vector = unsafe { simd.load_lanes(strided(a.as_ptr(), 13)) };
    assert_eq!(bytes_of(simd, vector), expected::<S>(|lane, i| a[13 * lane + i]));
    let mut lane = [0; LANE];
    // SAFETY: there is space for a lane.
    unsafe { simd.store_lane::<0>(lane.as_mut_ptr(), vector) };
    assert_eq!(lane, a[..LANE]);
    if S::LANES > 1 {
        // SAFETY: there is space for a lane.
        unsafe { simd.store_lane::<1>(lane.as_mut_ptr(), vector) };
        assert_eq!(lane, a[13..13 + LANE]);
    }
    if S::LANES > 2 {
        // SAFETY: there is space for a lane.
        unsafe { simd.store_lane::<2>(lane.as_mut_ptr(), vector) };
        assert_eq!(lane, a[26..26 + LANE]);
        // SAFETY: there is space for a lane.
        unsafe { simd.store_lane::<3>(lane.as_mut_ptr(), vector) };
        assert_eq!(lane, a[39..39 + LANE]);
    }
}

fn check_bits<S: Simd, const DISTANCE: u32>(simd: S, mask: u8) {
    let (a, b) = (sample(11), sample(200));
    let (x, y) = simd.exchange_bits::<DISTANCE>(load(simd, &a), load(simd, &b), mask);
    let moved = mask << DISTANCE;
    let of_a = expected::<S>(|lane, i| {
        let (a, b) = (a[lane * LANE + i], b[lane * LANE + i]);
        a & !moved | (b & mask) << DISTANCE
    });
    let of_b = expected::<S>(|lane, i| {
        let (a, b) = (a[lane * LANE + i], b[lane * LANE + i]);
        b & !mask | a >> DISTANCE & mask
    });
    assert_eq!(bytes_of(simd, x), of_a, "distance {DISTANCE}");
    assert_eq!(bytes_of(simd, y), of_b, "distance {DISTANCE}");
}

fn check_logic<S: Simd>(simd: S) {
    let (a, b) = (sample(21), sample(50));
    let (x, y) = (load(simd, &a), load(simd, &b));
    let of_both = |combine: fn(u8, u8) -> u8| expected::<S>(|lane, i| combine(a[lane * LANE + i], b[lane * LANE + i]));
    assert_eq!(bytes_of(simd, simd.xor(x, y)), of_both(|a, b| a ^ b));
    assert_eq!(bytes_of(simd, simd.or(x, y)), of_both(|a, b| a | b));
    assert_eq!(bytes_of(simd, simd.splat(0xC3)), expected::<S>(|_, _| 0xC3));
    assert!(simd.is_zero(simd.zero()));
    for i in 0..S::WIDTH {
        let mut one_bit = [0; MAX_LANES * LANE];
        one_bit[i] = 0x80;
        assert!(!simd.is_zero(load(simd, &one_bit)), "byte {i}");
    }
}

#[test]
fn every_operation_does_what_its_description_says() {
    for isa in Isa::available() {
        dispatch!(isa, simd => simd.run(Operations), ());
    }
}
