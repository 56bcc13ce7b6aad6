//! Blocks that are one value over and over.
#![cfg_attr(
    not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        target_feature = "simd128"
    )),
    allow(dead_code, reason = "nothing there to run the vector kernels on")
)]

use crate::isa::Isa;
use crate::simd::dispatch;
use crate::simd::{Kernel, Simd};

/// Bytes that are looked at before anything is set up: most data that is no run shows it there.
const GLANCE: usize = 16;

/// Below this, setting up vectors takes longer than doing without.
const SHORT: usize = 256;

/// The byte all of `data` consists of, if it does and there is any.
#[must_use]
pub fn repeated_byte(data: &[u8]) -> Option<u8> {
    let &first = data.first()?;
    is_run_of(first, data).then_some(first)
}

/// Whether `data` holds nothing but zeros; so does an empty slice.
#[must_use]
pub fn is_zero(data: &[u8]) -> bool {
    is_run_of(0, data)
}

/// Whether `data` is `value` over and over, the last time perhaps cut short. An empty `value`
/// repeats as nothing.
#[must_use]
pub fn repeats_value(data: &[u8], value: &[u8]) -> bool {
    let head = value.len().min(data.len());
    if head == 0 {
        return data.is_empty();
    }
    data[..head] == value[..head] && data[head..] == data[..data.len() - head]
}

fn is_run_of(byte: u8, data: &[u8]) -> bool {
    let Some((glance, rest)) = data.split_first_chunk::<GLANCE>() else {
        return data.iter().all(|&other| other == byte);
    };
    if *glance != [byte; GLANCE] {
        return false;
    }
    if rest.len() < SHORT {
        return all_equal(byte, data);
    }
    dispatch!(Isa::best(), simd => simd.run(AllEqual { byte, data: rest }), all_equal(byte, data))
}

/// Whether all of at least 16 bytes are `byte`.
fn all_equal(byte: u8, data: &[u8]) -> bool {
    let expected = [byte; GLANCE];
    let (chunks, _) = data.as_chunks::<GLANCE>();
    chunks.iter().all(|chunk| *chunk == expected) && data.ends_with(&expected)
}

/// Whether all bytes of `data`, at least `WIDTH`, are `byte`.
struct AllEqual<'a> {
    byte: u8,
    data: &'a [u8],
}

impl Kernel for AllEqual<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { byte, data } = self;
        assert!(S::WIDTH <= data.len());
        let expected = simd.splat(byte);
        let last = data.len() - S::WIDTH;
        let mut at = 0;
        // Four vectors at a time; less would wait for the branch, not for memory.
        while at + 4 * S::WIDTH <= data.len() {
            let mut differences = simd.zero();
            for i in 0..4 {
                // SAFETY: the fourth vector ends at `data.len()` at most.
                let vector = unsafe { simd.load(data.as_ptr().wrapping_add(at + i * S::WIDTH)) };
                differences = simd.or(differences, simd.xor(vector, expected));
            }
            if !simd.is_zero(differences) {
                return false;
            }
            at += 4 * S::WIDTH;
        }
        let mut differences = simd.zero();
        while at < data.len() {
            // SAFETY: `last + WIDTH` is the length.
            let vector = unsafe { simd.load(data.as_ptr().wrapping_add(at.min(last))) };
            differences = simd.or(differences, simd.xor(vector, expected));
            at += S::WIDTH;
        }
        simd.is_zero(differences)
    }
}
