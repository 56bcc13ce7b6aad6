//! The entries of an index in memory: words, and runs of the same word that take no more memory
//! than one.
//!
//! A small file can have an index of a hundred million special chunks. What such an index takes
//! here is bounded by the words that are not part of a long run, and these can be held to a limit.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of an entry.
pub(crate) const ENTRY_LEN: usize = 8;
/// How many words are kept together; a run is kept as such from this length on.
const PIECE: usize = 2048;

/// Words in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// This many of the same.
    Run(u64, usize),
    /// Shared with other indexes that have the same.
    Words(Arc<Vec<u64>>),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Run(_, len) => *len,
            Self::Words(words) => words.len(),
        }
    }

    /// How many words it has that are no part of a run.
    fn words(&self) -> usize {
        if let Self::Words(words) = self { words.len() } else { 0 }
    }

    fn word(&self, at: usize) -> Option<u64> {
        match self {
            Self::Run(word, len) => (at < *len).then_some(*word),
            Self::Words(words) => words.get(at).copied(),
        }
    }

    /// The word at a place, and how many of the same follow it here, with itself.
    fn run(&self, at: usize) -> Option<(u64, usize)> {
        let word = self.word(at)?;
        Some((
            word,
            match self {
                Self::Run(_, len) => len.saturating_sub(at),
                Self::Words(words) => words.iter().skip(at).take_while(|&&other| other == word).count(),
            },
        ))
    }

    /// The same without what is outside of `range`.
    fn part(&self, range: Range<usize>) -> Self {
        match self {
            Self::Run(word, _) => Self::Run(*word, range.len()),
            Self::Words(words) => Self::Words(Arc::new(words.get(range).unwrap_or_default().to_vec())),
        }
    }
}

/// The words of an index.
#[derive(Debug, Clone, Default)]
pub(super) struct Entries {
    pieces: Vec<Piece>,
    /// Where each piece ends.
    ends: Vec<usize>,
    /// How many words are no part of a run.
    words: usize,
    last: LastPiece,
}

/// The piece that was used last, so that sequential access needs no search.
#[derive(Debug, Default)]
struct LastPiece(AtomicUsize);

impl LastPiece {
    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, piece: usize) {
        self.0.store(piece, Ordering::Relaxed);
    }
}

impl Clone for LastPiece {
    fn clone(&self) -> Self {
        Self(AtomicUsize::new(self.get()))
    }
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or_default()
    }

    /// The memory that the words take.
    pub(super) fn memory(&self) -> usize {
        let pieces = self.pieces.len().saturating_mul(size_of::<Piece>());
        self.words.saturating_mul(ENTRY_LEN).saturating_add(pieces)
    }

    /// The piece that has the word `index`, and where that is in it.
    fn place(&self, index: usize) -> (usize, usize) {
        let last = self.last.get();
        if let Some(at) = self.place_in(last, index) {
            return (last, at);
        }
        let next = last.saturating_add(1);
        let piece = match self.place_in(next, index) {
            Some(_) => next,
            None => self.ends.partition_point(|&end| end <= index),
        };
        self.last.set(piece);
        (piece, index.saturating_sub(self.start(piece)))
    }

    /// Where the word `index` is in a piece, if it is in that one.
    fn place_in(&self, piece: usize, index: usize) -> Option<usize> {
        let at = index.checked_sub(self.start(piece))?;
        self.ends.get(piece).is_some_and(|&end| index < end).then_some(at)
    }

    fn start(&self, piece: usize) -> usize {
        piece.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default()
    }

    pub(super) fn get(&self, index: usize) -> Option<u64> {
        let (piece, at) = self.place(index);
        self.pieces.get(piece)?.word(at)
    }

    /// The word at `index`, and where the run of the same words ends that it is in.
    pub(super) fn run(&self, index: usize) -> Option<(u64, usize)> {
        let (mut piece, at) = self.place(index);
        let (word, count) = self.pieces.get(piece)?.run(at)?;
        let mut end = index.saturating_add(count);
        while self.ends.get(piece) == Some(&end) {
            piece = piece.saturating_add(1);
            match self.pieces.get(piece).and_then(|next| next.run(0)) {
                Some((other, count)) if other == word => end = end.saturating_add(count),
                _ => break,
            }
        }
        Some((word, end))
    }

    /// All runs of the same words from `first` on.
    pub(super) fn runs(&self, first: usize) -> impl Iterator<Item = (Range<usize>, u64)> + '_ {
        let mut at = first;
        std::iter::from_fn(move || {
            let (word, end) = self.run(at)?;
            Some((std::mem::replace(&mut at, end)..end, word))
        })
    }

    /// All words from `first` on.
    pub(super) fn words(&self, first: usize) -> Words<'_> {
        let (piece, at) = self.place(first);
        Words { entries: self, piece, at, left: self.len().saturating_sub(first) }
    }

    /// Appends the words of a range as bytes.
    pub(super) fn append_bytes(&self, range: Range<usize>, bytes: &mut Vec<u8>) {
        let mut at = range.start;
        while at < range.end {
            let (piece, first) = self.place(at);
            let Some(piece) = self.pieces.get(piece) else { return };
            let count = piece.len().saturating_sub(first).min(range.end.saturating_sub(at));
            let start = bytes.len();
            bytes.resize(start.saturating_add(count.saturating_mul(ENTRY_LEN)), 0);
            let (places, _) = bytes.get_mut(start..).unwrap_or_default().as_chunks_mut();
            match piece {
                Piece::Run(word, _) => places.fill(word.to_le_bytes()),
                Piece::Words(words) => {
                    let words = words.get(first..).unwrap_or_default();
                    places.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
                }
            }
            at = at.saturating_add(count);
        }
    }

    /// Appends `count` of the same word.
    pub(super) fn push_run(&mut self, word: u64, count: usize) {
        let mut left = count;
        while left > 0 {
            let room = match self.pieces.last_mut() {
                Some(Piece::Run(other, len)) if *other == word => {
                    *len = len.saturating_add(left);
                    left
                }
                Some(Piece::Words(words)) if words.len() < PIECE => {
                    let room = PIECE.saturating_sub(words.len()).min(left);
                    Arc::make_mut(words).extend(std::iter::repeat_n(word, room));
                    self.words = self.words.saturating_add(room);
                    room
                }
                _ if left >= PIECE => {
                    self.pieces.push(Piece::Run(word, 0));
                    self.ends.push(self.len());
                    0
                }
                _ => {
                    self.pieces.push(Piece::Words(Arc::default()));
                    self.ends.push(self.len());
                    0
                }
            };
            self.grow_last(room);
            left = left.saturating_sub(room);
        }
    }

    /// Notes that the last piece has grown; if it is full and all its words are the same, it
    /// becomes a run.
    fn grow_last(&mut self, by: usize) {
        if let Some(end) = self.ends.last_mut() {
            *end = end.saturating_add(by);
        }
        let Some(Piece::Words(words)) = self.pieces.last() else { return };
        let Some(&word) = words.first() else { return };
        if words.len() < PIECE || words.iter().any(|&other| other != word) {
            return;
        }
        let len = words.len();
        self.words = self.words.saturating_sub(len);
        self.pieces.pop();
        self.ends.pop();
        match self.pieces.last_mut() {
            Some(Piece::Run(other, before)) if *other == word => {
                *before = before.saturating_add(len);
                if let Some(end) = self.ends.last_mut() {
                    *end = end.saturating_add(len);
                }
            }
            _ => {
                let end = self.len().saturating_add(len);
                self.pieces.push(Piece::Run(word, len));
                self.ends.push(end);
            }
        }
    }

    /// Appends a word.
    pub(super) fn push(&mut self, word: u64) {
        self.push_run(word, 1);
    }

    /// Puts runs of words in place of those at `range`.
    pub(super) fn splice(&mut self, range: Range<usize>, runs: impl Iterator<Item = (u64, usize)>) {
        if range.start >= self.len() {
            return runs.for_each(|(word, count)| self.push_run(word, count));
        }
        let mut middle = Self::default();
        runs.for_each(|(word, count)| middle.push_run(word, count));
        if self.splice_in_piece(&range, &middle) {
            return;
        }
        let (first, at) = self.place(range.start);
        let (last, until) = if range.end >= self.len() { (self.pieces.len(), 0) } else { self.place(range.end) };
        let before = self.pieces.get(first).filter(|_| at > 0).map(|piece| piece.part(0..at));
        let after = self.pieces.get(last).filter(|_| until > 0).map(|piece| piece.part(until..piece.len()));
        let replaced = first..last.saturating_add(usize::from(until > 0));
        let new = before.into_iter().chain(middle.pieces).chain(after);
        self.pieces.splice(replaced, new.filter(|piece| piece.len() > 0));
        self.count_from(first);
        self.words = self.pieces.iter().map(Piece::words).sum();
    }

    /// The same where only one piece of words is concerned, which does not get much longer; whether
    /// that is so.
    fn splice_in_piece(&mut self, range: &Range<usize>, new: &Self) -> bool {
        let (piece, at) = self.place(range.start);
        let Some(Piece::Words(words)) = self.pieces.get_mut(piece) else { return false };
        let end = at.saturating_add(range.len());
        let len = words.len().saturating_add(new.len()).saturating_sub(range.len());
        if end > words.len() || len == 0 || len > PIECE.saturating_mul(2) {
            return false;
        }
        Arc::make_mut(words).splice(at..end, new.words(0));
        self.words = self.words.saturating_add(new.len()).saturating_sub(range.len());
        if range.len() != new.len() {
            self.count_from(piece);
        }
        true
    }

    /// Counts anew where pieces end.
    fn count_from(&mut self, piece: usize) {
        let mut end = self.start(piece);
        self.ends.truncate(piece);
        for piece in self.pieces.iter().skip(piece) {
            end = end.saturating_add(piece.len());
            self.ends.push(end);
        }
    }
}

/// Words one after the other.
pub(super) struct Words<'e> {
    entries: &'e Entries,
    piece: usize,
    at: usize,
    left: usize,
}

impl Iterator for Words<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let piece = self.entries.pieces.get(self.piece)?;
            if let Some(word) = piece.word(self.at) {
                self.at = self.at.saturating_add(1);
                self.left = self.left.saturating_sub(1);
                return Some(word);
            }
            (self.piece, self.at) = (self.piece.saturating_add(1), 0);
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Words<'_> {}

impl Extend<u64> for Entries {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, words: I) {
        words.into_iter().for_each(|word| self.push(word));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(entries: &Entries, model: &[u64]) {
        assert_eq!(entries.len(), model.len());
        assert_eq!(entries.words, entries.pieces.iter().map(Piece::words).sum::<usize>());
        assert!(entries.words(0).eq(model.iter().copied()));
        for range in [0..model.len(), model.len() / 3..model.len() / 2, model.len()..model.len()] {
            let mut bytes = vec![7];
            entries.append_bytes(range.clone(), &mut bytes);
            assert!(
                bytes[1..].iter().eq(model[range]
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect::<Vec<_>>()
                    .iter())
            );
        }
        assert_eq!(entries.get(model.len()), None);
        let mut all = Vec::new();
        for (range, word) in entries.runs(0) {
            assert_eq!(range.start, all.len());
            all.extend(range.clone().map(|_| word));
            assert!(model.get(range.end) != Some(&word), "{range:?} is not the whole run");
        }
        assert_eq!(all, model);
    }

    #[test]
    fn long_runs_take_no_memory_and_short_ones_do() {
        let mut entries = Entries::default();
        entries.push_run(7, 100_000_000);
        entries.push(8);
        entries.push_run(7, 5);
        assert_eq!((entries.len(), entries.run(3)), (100_000_006, Some((7, 100_000_000))));
        assert_eq!((entries.get(100_000_000), entries.get(100_000_005)), (Some(8), Some(7)));
        assert!(entries.memory() < 1000);
        let mut single = Entries::default();
        (0..1_000_000).for_each(|_| single.push(1));
        assert!(single.memory() < 1000, "{} bytes", single.memory());
        (0..10_000).for_each(|word| single.push(word));
        assert!((80_000..90_000).contains(&single.memory()));
    }

    #[test]
    fn entries_are_changed_as_a_list_is() {
        let (mut entries, mut model) = (Entries::default(), Vec::new());
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap_or_default() % below
        };
        for step in 0..600 {
            let start = random(model.len() + 1);
            let end = if step % 3 == 0 { start + random(model.len() - start + 1) / 4 } else { start };
            let end = if step % 5 == 0 { model.len().min(start + 1) } else { end };
            let runs: Vec<(u64, usize)> =
                (0..random(4)).map(|_| (random(3) as u64, [1, 2, 700, 3000, 9000][random(5)])).collect();
            let new = runs.iter().flat_map(|&(word, count)| std::iter::repeat_n(word, count));
            model.splice(start..end, new);
            entries.splice(start..end, runs.iter().copied());
            model.truncate(200_000);
            entries.splice(model.len()..entries.len().max(model.len()), std::iter::empty());
            if step % 10 == 0 {
                check(&entries, &model);
            }
            if model.is_empty() {
                continue;
            }
            let at = random(model.len());
            assert_eq!(entries.get(at), model.get(at).copied());
            assert!(entries.words(at).take(100).eq(model.iter().skip(at).take(100).copied()));
        }
        check(&entries, &model);
    }
}
