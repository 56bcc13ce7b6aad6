//! Inputs the tests of the encoders share.

use alloc::vec::Vec;

/// A small generator of pseudo-random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below `end`")
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}

/// Bytes without any structure.
pub(crate) fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed | 1);
    (0..length).map(|_| random.byte()).collect()
}

/// A few random bytes again and again.
pub(crate) fn periodic(length: usize, period: usize) -> Vec<u8> {
    noise(period, period as u64).into_iter().cycle().take(length).collect()
}

/// Words of a small vocabulary.
pub(crate) fn text(length: usize) -> Vec<u8> {
    let words = ["block ", "chunk ", "frame ", "the ", "of ", "stream, ", "a ", "super-chunk. ", "bytes ", "in "];
    let mut random = Random(77);
    let mut bytes = Vec::new();
    while bytes.len() < length {
        bytes.extend_from_slice(words[random.below(words.len())].as_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// 32-bit integers that grow slowly, the bytes of each together.
pub(crate) fn ramp(length: usize) -> Vec<u8> {
    let mut random = Random(5);
    let mut value = 0_u32;
    let mut bytes = Vec::new();
    while bytes.len() < length {
        value += u32::from(random.byte() & 3);
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// [`ramp`] with all first bytes first, then all second bytes, and so on.
pub(crate) fn shuffled_ramp(length: usize) -> Vec<u8> {
    let ramp = ramp(length);
    (0..4).flat_map(|plane| ramp.iter().copied().skip(plane).step_by(4).collect::<Vec<_>>()).collect()
}

/// Noise, runs and repetitions of both in random order.
pub(crate) fn mixture(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed | 1);
    let mut bytes: Vec<u8> = Vec::new();
    while bytes.len() < length {
        let count = 1 + random.below(40);
        match random.below(4) {
            0 => bytes.extend_from_slice(&noise(count, random.next())),
            1 => bytes.resize(bytes.len() + 4 * count, random.byte()),
            _ if !bytes.is_empty() => {
                let distance = 1 + random.below(bytes.len());
                for _ in 0..count {
                    bytes.push(bytes[bytes.len() - distance]);
                }
            }
            _ => {}
        }
    }
    bytes.truncate(length);
    bytes
}

/// Inputs of every kind at many lengths.
pub(crate) fn inputs() -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    for length in 0..=200 {
        inputs.push(noise(length, 1));
        inputs.push(periodic(length, 1));
        inputs.push(periodic(length, 3));
        inputs.push(mixture(length, 9));
    }
    for period in 1..=40 {
        inputs.push(periodic(1000 + period, period));
    }
    for length in [255, 270, 4096, 5000, 65_535, 65_546, 65_547, 65_548, 150_001] {
        inputs.push(noise(length, 3));
        inputs.push(periodic(length, 1));
        inputs.push(text(length));
        inputs.push(ramp(length));
        inputs.push(shuffled_ramp(length));
        inputs.push(mixture(length, length as u64));
    }
    inputs
}
