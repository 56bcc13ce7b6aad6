//! The checksum of a frame: XXH64.

const PRIMES: [u64; 5] =
    [0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63, 0x27D4_EB2F_1656_67C5];
/// What is hashed at once, in four lanes.
const STRIPE: usize = 32;

/// XXH64 of `bytes` with the seed 0.
pub(super) fn xxh64(bytes: &[u8]) -> u64 {
    let (stripes, rest) = bytes.as_chunks::<STRIPE>();
    let mut hash = if stripes.is_empty() { PRIMES[4] } else { hash_stripes(stripes) };
    hash = hash.wrapping_add(bytes.len() as u64);
    let (words, rest) = rest.as_chunks::<8>();
    for &word in words {
        hash ^= round(0, u64::from_le_bytes(word));
        hash = hash.rotate_left(27).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
    }
    let (halves, rest) = rest.as_chunks::<4>();
    for &half in halves {
        hash ^= u64::from(u32::from_le_bytes(half)).wrapping_mul(PRIMES[0]);
        hash = hash.rotate_left(23).wrapping_mul(PRIMES[1]).wrapping_add(PRIMES[2]);
    }
    for &byte in rest {
        hash ^= u64::from(byte).wrapping_mul(PRIMES[4]);
        hash = hash.rotate_left(11).wrapping_mul(PRIMES[0]);
    }
    hash = (hash ^ hash >> 33).wrapping_mul(PRIMES[1]);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIMES[2]);
    hash ^ hash >> 32
}

fn hash_stripes(stripes: &[[u8; STRIPE]]) -> u64 {
    let mut lanes = [PRIMES[0].wrapping_add(PRIMES[1]), PRIMES[1], 0, PRIMES[0].wrapping_neg()];
    for stripe in stripes {
        for (lane, &word) in lanes.iter_mut().zip(stripe.as_chunks::<8>().0) {
            *lane = round(*lane, u64::from_le_bytes(word));
        }
    }
    let [a, b, c, d] = lanes;
    let sum = a.rotate_left(1).wrapping_add(b.rotate_left(7)).wrapping_add(c.rotate_left(12));
    let sum = sum.wrapping_add(d.rotate_left(18));
    lanes.iter().fold(sum, |hash, &lane| (hash ^ round(0, lane)).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]))
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIMES[1])).rotate_left(31).wrapping_mul(PRIMES[0])
}

#[cfg(test)]
mod tests {
    use super::xxh64;

    #[test]
    fn known_hashes_come_out() {
        assert_eq!(xxh64(b""), 0xEF46_DB37_51D8_E999);
        assert_eq!(xxh64(b"a"), 0xD24E_C4F1_A98C_6E5B);
        assert_eq!(xxh64(b"abc"), 0x44BC_2CF5_AD77_0999);
    }
}
