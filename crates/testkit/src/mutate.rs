//! Damaged copies of a file.

use crate::Rng;

/// One damaged copy, and how it was made.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// The damaged bytes.
    pub bytes: Vec<u8>,
    /// What was changed, for the message of a failing test.
    pub what: String,
}

/// Every copy of `original` with one byte of `positions` changed: each of its eight bits flipped,
/// 00, and ff.
///
/// A change that leaves the byte as it was is left out. Positions past the end are ignored.
pub fn single_byte(original: &[u8], positions: impl IntoIterator<Item = usize>) -> impl Iterator<Item = Mutant> {
    positions.into_iter().filter(|&at| at < original.len()).flat_map(move |at| {
        let old = original[at];
        let flips = (0..8).map(move |bit| old ^ (1 << bit));
        let blunt = [0x00, 0xff].into_iter().filter(move |&new| (new ^ old).count_ones() > 1);
        flips.chain(blunt).map(move |new| {
            let mut bytes = original.to_vec();
            bytes[at] = new;
            Mutant { bytes, what: format!("byte {at}: {old:#04x} became {new:#04x}") }
        })
    })
}

/// Every proper prefix of `original`, the empty one first.
pub fn prefixes(original: &[u8]) -> impl Iterator<Item = &[u8]> {
    (0..original.len()).map(|end| &original[..end])
}

/// `count` copies of `original` with one to eight bytes replaced, all chosen from `seed`.
pub fn random_bytes(original: &[u8], count: usize, seed: u64) -> impl Iterator<Item = Mutant> {
    let mut rng = Rng::new(seed);
    (0..count).map(move |number| {
        let mut bytes = original.to_vec();
        let changes = if bytes.is_empty() { 0 } else { 1 + rng.below(8) };
        let places: Vec<usize> = (0..changes).map(|_| rng.below(original.len())).collect();
        for &at in &places {
            bytes[at] = rng.byte();
        }
        Mutant { bytes, what: format!("random mutant {number} of seed {seed}: bytes {places:?}") }
    })
}

#[cfg(test)]
mod tests {
    use super::{prefixes, random_bytes, single_byte};

    #[test]
    fn single_byte_mutants_are_all_different_and_never_the_original() {
        let original = [0x00, 0x01, 0xff, 0x5a];
        let mut mutants: Vec<_> = single_byte(&original, 0..99).map(|mutant| mutant.bytes).collect();
        assert_eq!(mutants.len(), 9 + 9 + 9 + 10);
        mutants.sort();
        mutants.dedup();
        assert_eq!(mutants.len(), 37);
        assert!(mutants.iter().all(|mutant| mutant != &original));
    }

    #[test]
    fn prefixes_are_proper() {
        assert_eq!(prefixes(&[1, 2]).collect::<Vec<_>>(), [&[][..], &[1]]);
    }

    #[test]
    fn random_mutants_follow_from_their_seed() {
        let run = |seed| random_bytes(&[7; 100], 20, seed).map(|mutant| mutant.bytes).collect::<Vec<_>>();
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert_eq!(random_bytes(&[], 2, 1).count(), 2);
    }
}
