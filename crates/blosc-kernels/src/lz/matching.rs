//! What the encoders share: reading words, hashing them, remembering where they were, and comparing what follows.

use alloc::boxed::Box;
use alloc::vec;

/// The largest input the encoders take, in bytes: positions must fit into 32 bits together with an epoch.
pub(crate) const MAX_INPUT: usize = 0x7E00_0000;

/// The four bytes at `at` as a little-endian word.
#[inline(always)]
pub(crate) fn word4(src: &[u8], at: usize) -> u32 {
    let bytes: &[u8; 4] = src[at..at + 4].try_into().expect("a range of four bytes");
    u32::from_le_bytes(*bytes)
}

/// The eight bytes at `at` as a little-endian word.
#[inline(always)]
pub(crate) fn word8(src: &[u8], at: usize) -> u64 {
    let bytes: &[u8; 8] = src[at..at + 8].try_into().expect("a range of eight bytes");
    u64::from_le_bytes(*bytes)
}

/// A hash of `bits` bits of a four-byte word.
#[inline(always)]
pub(crate) fn hash4(word: u32, bits: u32) -> usize {
    (word.wrapping_mul(2_654_435_761) >> (32 - bits)) as usize
}

/// A hash of `bits` bits of the low five bytes of a word.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "at most `bits` bits are left after the shift")]
pub(crate) fn hash5(word: u64, bits: u32) -> usize {
    ((word << 24).wrapping_mul(889_523_592_379) >> (64 - bits)) as usize
}

/// How many bytes from `near` on equal the bytes from `far` on, comparing no byte at or after `end`.
#[inline(always)]
pub(crate) fn common_length(src: &[u8], far: usize, near: usize, end: usize) -> usize {
    assert!(far <= near && near <= end && end <= src.len());
    let (mut a, mut b) = (far, near);
    while b + 8 <= end {
        let differing = word8(src, a) ^ word8(src, b);
        if differing != 0 {
            return b - near + (differing.trailing_zeros() / 8) as usize;
        }
        a += 8;
        b += 8;
    }
    while b < end && src[a] == src[b] {
        a += 1;
        b += 1;
    }
    b - near
}

/// How many bytes right before `near` equal the bytes right before `far`, at most `limit`.
#[inline(always)]
pub(crate) fn common_length_before(src: &[u8], far: usize, near: usize, limit: usize) -> usize {
    let limit = limit.min(far);
    let mut length = 0;
    while length < limit && src[far - length - 1] == src[near - length - 1] {
        length += 1;
    }
    length
}

/// Where a hashed word was last seen, for one input after another without clearing in between.
///
/// A slot holds the position plus the epoch of its input. What an earlier input left behind is below the current
/// epoch and reads as position 0, exactly as an empty slot does, so earlier inputs never change what is found.
#[derive(Clone, Debug)]
pub(crate) struct Positions<const SLOTS: usize> {
    slots: Box<[u32; SLOTS]>,
    epoch: u32,
    next_epoch: u32,
}

impl<const SLOTS: usize> Positions<SLOTS> {
    /// A table in which every slot reads as position 0.
    pub(crate) fn new() -> Self {
        let slots = vec![0; SLOTS].into_boxed_slice().try_into().expect("a box of SLOTS words");
        Self { slots, epoch: 0, next_epoch: 0 }
    }

    /// Forgets everything and takes positions below `length` from now on.
    pub(crate) fn start(&mut self, length: usize) {
        assert!(length <= MAX_INPUT);
        let length = u32::try_from(length).expect("MAX_INPUT fits into 32 bits");
        if self.next_epoch.checked_add(length).is_none() {
            self.slots.fill(0);
            self.next_epoch = 0;
        }
        self.epoch = self.next_epoch;
        self.next_epoch += length;
    }

    /// Puts `position` into a slot and returns the position that was there.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "positions are below the length given to `start`")]
    pub(crate) fn replace(&mut self, slot: usize, position: usize) -> usize {
        let entry = &mut self.slots[slot];
        let found = entry.saturating_sub(self.epoch) as usize;
        *entry = self.epoch.wrapping_add(position as u32);
        found
    }

    /// Puts `position` into a slot.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "positions are below the length given to `start`")]
    pub(crate) fn set(&mut self, slot: usize, position: usize) {
        self.slots[slot] = self.epoch.wrapping_add(position as u32);
    }
}
