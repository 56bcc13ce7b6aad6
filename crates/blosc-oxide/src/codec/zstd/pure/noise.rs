//! Bytes that no codec makes shorter.

/// What is looked at in one place: bytes enough to distinguish 7.9 bits from 8, and few enough to
/// be of one kind.
const SAMPLE: usize = 1024;
const MAX_SAMPLES: usize = 16;
const MAX_DISTANCE: usize = 8 << 10;
/// How many pairs of equal bytes a sample of noise has on average, counting each byte with itself
/// and pairs twice, and by how much that varies.
const PAIRS: u64 = (SAMPLE + SAMPLE * (SAMPLE - 1) / 256) as u64;
const DEVIATION: u64 = 90;
/// So far from the average is one sample of noise in millions.
const DEVIATIONS: u64 = 6;

/// Whether each part of `bytes`, and of the differences between neighbours, has all values about as
/// often as chance would have it.
pub(super) fn is_noise(bytes: &[u8]) -> bool {
    let distance = (bytes.len() / MAX_SAMPLES).clamp(SAMPLE, MAX_DISTANCE);
    let mut samples = 0;
    let mut pairs = [0; 2];
    for place in bytes.chunks(distance) {
        let Some(sample) = place.first_chunk() else { break };
        samples += 1;
        pairs[0] += equal_pairs(sample);
        pairs[1] += equal_pairs(&differences(sample));
        if pairs.iter().any(|&pairs| !is_chance(pairs, samples)) {
            return false;
        }
    }
    samples > 0
}

fn equal_pairs(sample: &[u8; SAMPLE]) -> u64 {
    let mut counts = [0_u32; 256];
    for &byte in sample {
        counts[usize::from(byte)] += 1;
    }
    counts.iter().map(|&count| u64::from(count * count)).sum()
}

/// From each byte to the next, and from the last to the first.
fn differences(sample: &[u8; SAMPLE]) -> [u8; SAMPLE] {
    std::array::from_fn(|index| sample[(index + 1) % SAMPLE].wrapping_sub(sample[index]))
}

fn is_chance(pairs: u64, samples: u64) -> bool {
    // Fewer are as unlikely as more.
    pairs.abs_diff(samples * PAIRS).pow(2) <= samples * (DEVIATION * DEVIATIONS).pow(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::formula::generate;
    use testkit::serde_json::json;

    fn noise(nbytes: usize) -> Vec<u8> {
        generate(&json!({"kind": "rand", "nbytes": nbytes, "seed": 3})).unwrap()
    }

    #[test]
    fn random_bytes_are_noise_whatever_their_number() {
        for nbytes in [SAMPLE, 4 << 10, 5000, 64 << 10, 2 << 20] {
            assert!(is_noise(&noise(nbytes)), "{nbytes}");
        }
    }

    #[test]
    fn too_few_bytes_to_tell_are_not_noise() {
        assert!(!is_noise(&[]));
        assert!(!is_noise(&noise(SAMPLE - 1)));
    }

    #[test]
    fn bytes_of_which_a_part_is_short_of_some_values_are_not_noise() {
        for nbytes in [4 << 10, 64 << 10, 2 << 20] {
            for at in [0, nbytes / 4, nbytes / 2, nbytes / 4 * 3] {
                let mut bytes = noise(nbytes);
                bytes[at..at + nbytes / 4].iter_mut().for_each(|byte| *byte %= 128);
                assert!(!is_noise(&bytes), "{nbytes} bytes, from {at} on");
            }
        }
    }

    #[test]
    fn a_counter_with_noise_is_not_noise() {
        let bytes: Vec<u8> = noise(64 << 10)
            .iter()
            .zip((0..=255).cycle())
            .map(|(byte, count)| (byte / 16).wrapping_add(count))
            .collect();
        assert!(!is_noise(&bytes));
    }

    #[test]
    fn what_is_a_hundredth_short_of_noise_is_seen_in_many_samples() {
        let mut bytes = noise(256 << 10);
        bytes.iter_mut().for_each(|byte| *byte = (*byte).min(230));
        assert!(!is_noise(&bytes));
    }
}
