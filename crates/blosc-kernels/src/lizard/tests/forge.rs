//! Streams made to order, and the data that they stand for.

use crate::lz::samples::{Random, noise};
use alloc::vec;
use alloc::vec::Vec;

/// A stream that is being made. Blocks are written with the parts that they have at that time.
pub(super) struct Forge {
    is_lz4: bool,
    is_coded: bool,
    done: Vec<u8>,
    offsets16: Vec<u8>,
    offsets24: Vec<u8>,
    tokens: Vec<u8>,
    literals: Vec<u8>,
    /// Literals that wait for the token of the match behind them.
    pending: Vec<u8>,
    last_offset: usize,
    pub(super) data: Vec<u8>,
}

impl Forge {
    pub(super) fn new(level: u8) -> Self {
        Self {
            is_lz4: (level / 10) % 2 == 1,
            is_coded: false,
            done: vec![level],
            offsets16: Vec::new(),
            offsets24: Vec::new(),
            tokens: Vec::new(),
            literals: Vec::new(),
            pending: Vec::new(),
            last_offset: 0,
            data: Vec::new(),
        }
    }

    /// A stream of one block that starts with literals.
    pub(super) fn of_literals(level: u8, literals: &[u8]) -> Self {
        let mut forge = Self::new(level);
        forge.literals(literals);
        forge
    }

    /// A stream of some blocks of every kind.
    pub(super) fn random(random: &mut Random, level: u8, is_coded: bool) -> Self {
        let mut forge = Self::new(level);
        forge.is_coded = is_coded;
        for _ in 0..=random.below(3) {
            if random.below(4) == 0 {
                forge.raw(&noise(random.below(200), random.next()));
            }
            for _ in 0..random.below(60) {
                forge.literals(&few_values(random));
                if forge.data.len() >= 8 {
                    let len = match_length(random);
                    let most = forge.data.len().min(if forge.is_lz4 || len < 16 { 65_535 } else { 1 << 23 }) - 7;
                    let spread = [8, 30, 300, 200_000][random.below(4)];
                    let offset = 8 + random.below(most.min(spread));
                    let repeated = random.below(3) == 0 && forge.last_offset >= 8;
                    forge.matching(if repeated { forge.last_offset } else { offset }, len);
                }
            }
            forge.literals(&noise(1 + random.below(30), random.next()));
            forge.end_block();
        }
        forge
    }

    pub(super) fn literals(&mut self, literals: &[u8]) {
        self.pending.extend(literals);
        self.data.extend(literals);
    }

    pub(super) fn matching(&mut self, offset: usize, len: usize) {
        if self.is_lz4 {
            self.lz4_match(offset, len);
        } else {
            self.lizv1_match(offset, len);
        }
        self.last_offset = offset;
        for _ in 0..len {
            let byte = self.data.len().checked_sub(offset.max(1)).map_or(0, |at| self.data[at]);
            self.data.push(byte);
        }
    }

    fn lz4_match(&mut self, offset: usize, len: usize) {
        let run = self.run(15);
        self.literals.extend(&le(offset)[..2]);
        let bits = self.length(len - 4, 15);
        self.token(run | bits << 4);
    }

    fn lizv1_match(&mut self, offset: usize, len: usize) {
        // Long matches with a new offset are written as far ones, whatever the offset is: readers
        // do not mind.
        if len >= 16 && offset != self.last_offset && (offset > 65_535 || len.is_multiple_of(2)) {
            if !self.pending.is_empty() {
                let run = self.run(7);
                self.token(0x80 | run);
            }
            self.offsets24.extend(&le(offset)[..3]);
            let bits = self.length(len - 16, 31);
            return self.token(bits);
        }
        let is_same = offset == self.last_offset && self.last_offset != 0;
        let run = self.run(7);
        if !is_same {
            self.offsets16.extend(&le(offset)[..2]);
        }
        let bits = self.length(len, 15);
        self.token(if is_same { 0x80 } else { 0 } | bits << 3 | run);
    }

    /// Writes the literals that wait; returns their length for the token.
    fn run(&mut self, most: usize) -> u8 {
        let pending = core::mem::take(&mut self.pending);
        let bits = self.length(pending.len(), most);
        self.literals.extend(pending);
        bits
    }

    /// Writes what of a length is not in the token; returns what is.
    fn length(&mut self, len: usize, most: usize) -> u8 {
        let rest = len.saturating_sub(most);
        match rest {
            _ if len < most => {}
            0..254 => self.literals.extend(&le(rest)[..1]),
            254..0x1_0000 => self.literals.extend([&[254], &le(rest)[..2]].concat()),
            _ => self.literals.extend([&[255], &le(rest)[..3]].concat()),
        }
        le(len.min(most))[0]
    }

    pub(super) fn token(&mut self, token: u8) {
        self.tokens.push(token);
    }

    /// Adds offsets that no token takes.
    pub(super) fn leave_over(&mut self) {
        self.offsets16.extend([1, 2, 3]);
        self.offsets24.extend([4, 5]);
    }

    /// Appends a block that is not compressed.
    pub(super) fn raw(&mut self, data: &[u8]) {
        self.done.push(0x80);
        self.done.extend(&le(data.len())[..3]);
        self.done.extend(data);
        self.data.extend(data);
    }

    pub(super) fn end_block(&mut self) {
        self.done = self.stream();
        let (is_lz4, is_coded) = (self.is_lz4, self.is_coded);
        let [done, data] = [&mut self.done, &mut self.data].map(core::mem::take);
        *self = Self { is_lz4, is_coded, done, data, ..Self::new(0) };
    }

    /// The stream so far, with the block that has not been ended if it has anything.
    pub(super) fn stream(&self) -> Vec<u8> {
        let literals = [&self.literals[..], &self.pending].concat();
        let parts = [&self.offsets16, &self.offsets24, &self.tokens, &literals];
        if self.done.len() > 1 && parts.iter().all(|part| part.is_empty()) {
            return self.done.clone();
        }
        let mut flags = 0;
        let mut written = vec![0; 3];
        for (part, flag) in parts.into_iter().zip([4, 8, 2, 1]) {
            let coded = if self.is_coded { coded(part) } else { None };
            written.extend(&le(part.len())[..3]);
            if let Some(coded) = &coded {
                flags |= flag;
                written.extend(&le(coded.len())[..3]);
            }
            written.extend(coded.as_deref().unwrap_or(part));
        }
        [&self.done[..], &[flags], &written].concat()
    }
}

fn match_length(random: &mut Random) -> usize {
    let most = [4, 20, 70, 300, 3000][random.below(5)];
    let is_very_long = random.below(200) == 0;
    4 + random.below(most) + if is_very_long { 70_000 } else { 0 }
}

/// Literals of which some are frequent.
fn few_values(random: &mut Random) -> Vec<u8> {
    let most = [1, 8, 16, 40, 400][random.below(5)];
    (0..random.below(most)).map(|_| random.byte() & random.byte() & random.byte()).collect()
}

/// A part as a Huffman-coded one, if it can be that.
fn coded(part: &[u8]) -> Option<Vec<u8>> {
    if let Some(first) = part.first()
        && part.iter().all(|byte| byte == first)
    {
        return Some(vec![*first]);
    }
    // A code with 7 bits for most bytes is no longer than the part, if that is long enough to pay
    // for the weights.
    let most = usize::from(part.iter().copied().max()?).min(127);
    let is_short = part.len() < 400 || part.iter().any(|&byte| byte > 127);
    let short: Vec<u8> = (0..=most).map(|_| (most + 1).next_power_of_two().ilog2().to_le_bytes()[0]).collect();
    if is_short || !(most + 1).is_power_of_two() {
        return (part.len() > 1).then(|| part.to_vec());
    }
    Some(huffman_coded(part, &short)).filter(|coded| coded.len() < part.len())
}

/// `data` in the code in which byte `i` has `lengths[i]` bits: weights that are not FSE coded, and
/// four streams. There are at most 129 lengths, and they use up all codes.
pub(super) fn huffman_coded(data: &[u8], lengths: &[u8]) -> Vec<u8> {
    let longest = *lengths.iter().max().expect("a code has lengths");
    let weights: Vec<u8> = lengths.iter().map(|&length| longest + 1 - length).collect();
    let (_, written) = weights.split_last().expect("a code has lengths");
    let mut coded = vec![127 + le(written.len())[0]];
    coded.extend(written.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).unwrap_or(&0)));
    let codes = codes(&weights, longest);
    let quarter = data.len().div_ceil(4);
    let streams: Vec<Vec<u8>> = data.chunks(quarter).map(|part| backward(part, &codes)).collect();
    streams[..3].iter().for_each(|stream| coded.extend(&le(stream.len())[..2]));
    coded.extend(streams.concat());
    coded
}

/// The code of each byte, and its length.
fn codes(weights: &[u8], longest: u8) -> Vec<(u32, u8)> {
    let mut codes = vec![(0, 0); weights.len()];
    let mut next = 0;
    for weight in 1..=longest {
        for byte in (0..weights.len()).filter(|&byte| weights[byte] == weight) {
            codes[byte] = (next >> (weight - 1), longest + 1 - weight);
            next += 1 << (weight - 1);
        }
    }
    codes
}

/// The bit stream of `part`: written from its last byte to its first, then the mark.
fn backward(part: &[u8], codes: &[(u32, u8)]) -> Vec<u8> {
    let mut bits = Vec::new();
    for &byte in part.iter().rev() {
        let (code, len) = codes[usize::from(byte)];
        bits.extend((0..len).map(|bit| code >> bit & 1 == 1));
    }
    bits.push(true);
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    bits.chunks(8).map(byte).collect()
}

/// A stream of one block that is nothing but literals, which are given Huffman coded too.
pub(super) fn coded_literals(data: &[u8], coded: &[u8]) -> Vec<u8> {
    let mut stream = vec![41, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    stream.extend(&le(data.len())[..3]);
    stream.extend(&le(coded.len())[..3]);
    stream.extend(coded);
    stream
}

/// The bytes of a length or an offset, the lowest first.
fn le(value: usize) -> [u8; 4] {
    u32::try_from(value).expect("lengths and offsets have at most three bytes").to_le_bytes()
}
