//! Where the words of an input were last seen.

use alloc::boxed::Box;
use alloc::vec;
use core::marker::PhantomData;

use super::hint::{align_loop, opaque};
use super::matching::{load, low4};

/// The largest input the encoders take, in bytes: positions must fit into 32 bits together with an
/// epoch.
pub(crate) const MAX_INPUT: usize = 0x7E00_0000;

/// The step of [`Window::leap`] grows by one each time so many positions were tried in vain.
pub(crate) const TRIES_PER_STEP: u32 = 64;
/// The most positions that can count as tried from the start: with all of an input they fit into 32
/// bits.
const MAX_TRIES: u32 = 1 << 24;

/// How many bytes must follow a position for its word to be read.
const WORD: usize = 8;

/// What a table keeps for a position.
pub(crate) trait Entry: Copy + Default {
    /// The largest position.
    const MAX: usize;
    /// Whether entries are too short to hold an epoch, so that tables must be cleared instead.
    const WITHOUT_EPOCH: bool;
    /// The entry of a position.
    fn new(position: usize, epoch: u32) -> Self;
    /// The position, or 0 if the entry is older than `epoch`.
    fn position(self, epoch: u32) -> usize;
}

impl Entry for u32 {
    const MAX: usize = MAX_INPUT;
    const WITHOUT_EPOCH: bool = false;

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "positions are below MAX_INPUT")]
    fn new(position: usize, epoch: u32) -> Self {
        epoch.wrapping_add(position as u32)
    }

    #[inline(always)]
    fn position(self, epoch: u32) -> usize {
        self.saturating_sub(epoch) as usize
    }
}

impl Entry for u16 {
    const MAX: usize = 0xFFFF;
    const WITHOUT_EPOCH: bool = true;

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "positions are not above MAX")]
    fn new(position: usize, _epoch: u32) -> Self {
        position as u16
    }

    #[inline(always)]
    fn position(self, _epoch: u32) -> usize {
        usize::from(self)
    }
}

/// A table of where hashed words were last seen, used for one input after another.
///
/// With entries of 32 bits it is not cleared in between: a slot holds the position plus the epoch
/// of its input. What an earlier input left behind is below the current epoch and reads as position
/// 0, exactly as an empty slot does, so earlier inputs never change what is found. Entries of 16
/// bits keep a table for short inputs in the first cache, which is worth more than clearing it
/// costs.
#[derive(Clone, Debug)]
pub(crate) struct Positions<E, const SLOTS: usize> {
    slots: Box<[E; SLOTS]>,
    /// Above all that the slots hold, or 0 if they hold nothing.
    next_epoch: u32,
}

impl<E: Entry, const SLOTS: usize> Positions<E, SLOTS> {
    /// A table in which every slot reads as position 0.
    pub(crate) fn new() -> Self {
        let slots = vec![E::default(); SLOTS].into_boxed_slice();
        let Ok(slots) = slots.try_into() else { unreachable!("a box of SLOTS entries") };
        Self { slots, next_epoch: 0 }
    }

    /// A new epoch for an input of `length` bytes.
    fn start(&mut self, length: usize) -> u32 {
        assert!(length <= MAX_INPUT);
        let length = u32::try_from(length).expect("MAX_INPUT fits into 32 bits");
        if E::WITHOUT_EPOCH || self.next_epoch.checked_add(length).is_none() {
            self.slots.fill(E::default());
            self.next_epoch = 0;
        }
        let epoch = self.next_epoch;
        self.next_epoch += length;
        epoch
    }
}

/// Which slot a word belongs to.
pub(crate) trait Key<const SLOTS: usize> {
    /// The slot of a word, below `SLOTS`.
    fn slot(word: u64) -> usize;
}

/// An input, and where its words were last seen.
pub(crate) struct Window<'a, K, E, const SLOTS: usize> {
    src: &'a [u8],
    /// Each slot is at most `epoch`, or `epoch` plus a position that is not above `last`.
    slots: &'a mut [E; SLOTS],
    epoch: u32,
    /// The last position that is followed by a whole word.
    last: usize,
    key: PhantomData<K>,
}

impl<'a, K: Key<SLOTS>, E: Entry, const SLOTS: usize> Window<'a, K, E, SLOTS> {
    /// A window in which nothing has been seen yet; `None` if the input is shorter than a word.
    pub(crate) fn new(table: &'a mut Positions<E, SLOTS>, src: &'a [u8]) -> Option<Self> {
        let last = src.len().checked_sub(WORD)?.min(E::MAX);
        let epoch = table.start(src.len());
        Some(Self { src, slots: &mut table.slots, epoch, last, key: PhantomData })
    }

    /// The word at `at`.
    #[inline(always)]
    pub(crate) fn word(&self, at: usize) -> u64 {
        assert!(at <= self.last);
        // SAFETY: `last` is a word before the end of `src`, and `at` was checked against it.
        u64::from_le_bytes(unsafe { load(self.src, at) })
    }

    /// Remembers that the word at `at` is there.
    #[inline(always)]
    pub(crate) fn remember(&mut self, at: usize) {
        let word = self.word(at);
        self.remember_as(word, at);
    }

    /// Remembers a word of the caller's choice for `at`.
    #[inline(always)]
    pub(crate) fn remember_as(&mut self, word: u64, at: usize) {
        assert!(at <= self.last);
        self.slots[K::slot(word)] = E::new(at, self.epoch);
    }

    /// Remembers that the word at `at` is there, and returns where one of the same slot was seen
    /// before.
    #[inline(always)]
    pub(crate) fn swap(&mut self, at: usize) -> usize {
        let word = self.word(at);
        let slot = &mut self.slots[K::slot(word)];
        let from = slot.position(self.epoch);
        *slot = E::new(at, self.epoch);
        from
    }

    /// Remembers that the word at `at` is there, and returns where it was seen before if four bytes
    /// agree.
    #[inline(always)]
    pub(crate) fn replace(&mut self, at: usize) -> Option<usize> {
        let word = self.word(at);
        let slot = &mut self.slots[K::slot(word)];
        let from = slot.position(self.epoch);
        *slot = E::new(at, self.epoch);
        // SAFETY: by the invariant of `slots`, `from` is not above `last`, which is a word before
        // the end of `src`.
        let found = unsafe { load(self.src, from) };
        (u32::from_le_bytes(found) == low4(word)).then_some(from)
    }

    /// Goes from `at` on, in steps that are one longer each time `TRIES_PER_STEP` positions were
    /// tried in vain, as long as the next position is not behind the one after `last`. Remembers
    /// the words; stops at one whose first four bytes were seen before where `accept(at, from)`
    /// allows it. `tries` is how many positions count as tried already.
    #[inline(always)]
    pub(crate) fn leap(
        &mut self,
        mut at: usize,
        last: usize,
        mut tries: u32,
        accept: impl Fn(usize, usize) -> bool,
    ) -> Option<(usize, usize)> {
        assert!(last <= self.last && (TRIES_PER_STEP..=MAX_TRIES).contains(&tries));
        if at > last {
            return None;
        }
        let mut next = at + 1;
        align_loop::<32>(self.src.as_ptr(), self.slots.as_ptr().cast(), next);
        while next <= last + 1 {
            // SAFETY: `at` is below `next`, as steps are not of 0: so it is not above `last`, a
            // word before the end of `src`.
            let word = u64::from_le_bytes(unsafe { load(self.src, at) });
            let slot = &mut self.slots[K::slot(word)];
            let from = slot.position(self.epoch);
            *slot = E::new(at, self.epoch);
            // SAFETY: by the invariant of `slots`, `from` is not above `last`, which is a word
            // before the end of `src`.
            let seen = u32::from_le_bytes(unsafe { load(self.src, from) });
            if seen == low4(word) && accept(at, from) {
                return Some((at, from));
            }
            at = next;
            next += (tries / TRIES_PER_STEP) as usize;
            // There are fewer positions than would make it overflow.
            tries += 1;
        }
        None
    }

    /// Goes from `at` on as long as positions are below `end`. Remembers each word; if its first
    /// `COMMON` bytes were seen before, asks `accept(at, from)` whether to stop there.
    #[inline(always)]
    pub(crate) fn scan<const COMMON: usize, T>(
        &mut self,
        mut at: usize,
        end: usize,
        mut accept: impl FnMut(usize, usize) -> Option<T>,
    ) -> Option<T> {
        const { assert!(COMMON > 0 && COMMON <= WORD) };
        assert!(end <= self.last);
        if at >= end {
            return None;
        }
        let mut word = self.word(at);
        let mut slot = K::slot(word);
        let mut from = self.slots[slot].position(self.epoch);
        loop {
            self.slots[slot] = E::new(at, self.epoch);
            // The next position is looked up already, so that the time this takes is not lost when
            // the comparison turns out otherwise than the processor guessed. SAFETY: `at` is below
            // `end`, which is not above `last`, a word before the end of `src`.
            let next_word = u64::from_le_bytes(unsafe { load(self.src, at + 1) });
            let next_slot = K::slot(next_word);
            let next_from = self.slots[next_slot].position(self.epoch);
            // SAFETY: by the invariant of `slots`, `from` is not above `last`, a word before the
            // end of `src`.
            let seen = u64::from_le_bytes(unsafe { load(self.src, from) });
            // The compiler would keep all that is derived from `at` in registers through the whole
            // loop.
            if (seen ^ word) << (8 * (WORD - COMMON)) == 0
                && let Some(found) = accept(opaque(at), from)
            {
                return Some(found);
            }
            at += 1;
            if at >= end {
                return None;
            }
            (word, slot, from) = (next_word, next_slot, next_from);
        }
    }
}
