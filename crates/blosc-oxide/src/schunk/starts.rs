//! Where chunks of different sizes start in the data, as far as that can be told.
//!
//! The size of a chunk is in its header alone. If one header cannot be read, the size is what the
//! others leave; if several cannot, those before the first and behind the last are still known.

use crate::error::{Result, bail};
use std::ops::Range;

/// Where each chunk starts.
#[derive(Debug, Clone)]
pub(super) struct Starts {
    /// How much data there is before each chunk, and in all; chunks of unknown size count as empty.
    sums: Vec<u64>,
    /// The first and the last chunk of unknown size, and how many there are.
    unknown: Option<(usize, usize, usize)>,
    /// How much data there is, as it is announced.
    nbytes: u64,
}

impl Starts {
    /// Without chunks, with capacity for some.
    pub(super) fn with_capacity(nchunks: usize, nbytes: u64) -> Self {
        let mut sums = Vec::with_capacity(nchunks + 1);
        sums.push(0);
        Self { sums, unknown: None, nbytes }
    }

    /// Appends chunks of the same size, or of one that is not known.
    pub(super) fn push(&mut self, size: Option<u64>, count: usize) {
        let first = self.sums.len() - 1;
        for _ in 0..count {
            self.sums.push(self.sum().saturating_add(size.unwrap_or(0)));
        }
        if size.is_none() && count > 0 {
            let last = first + count - 1;
            self.unknown = Some(match self.unknown {
                Some((start, _, before)) => (start, last, before + count),
                None => (first, last, count),
            });
        }
    }

    /// What the chunks of known size hold.
    fn sum(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }

    /// What the chunks of unknown size must hold together.
    fn missing(&self) -> Result<u64> {
        match self.nbytes.checked_sub(self.sum()) {
            Some(missing) if missing == 0 || self.unknown.is_some() => Ok(missing),
            _ => bail!(Corrupt, "the chunks hold {} bytes, {} are announced", self.sum(), self.nbytes),
        }
    }

    /// Whether the sizes that are known fit what is announced.
    pub(super) fn check(&self) -> Result<()> {
        self.missing().map(|_| ())
    }

    /// How much data the chunk `index` holds; `None` if only its header can tell.
    pub(super) fn size(&self, index: usize) -> Option<u64> {
        match self.unknown {
            Some((only, _, 1)) if only == index => self.missing().ok(),
            _ => Some(self.sums[index + 1] - self.sums[index]).filter(|&size| size > 0),
        }
    }

    /// The range of bytes of the data that the chunk `index` holds.
    pub(super) fn range(&self, index: usize) -> Result<Range<u64>> {
        let missing = self.missing()?;
        let (start, end) = (self.sums[index], self.sums[index + 1]);
        Ok(match self.unknown {
            Some((only, _, 1)) if only == index => start..end + missing,
            Some((first, last, _)) if (first..=last).contains(&index) => {
                bail!(Corrupt, "where its data starts is not known: the sizes of chunks {first} and {last} are not")
            }
            Some((_, last, _)) if index > last => start + missing..end + missing,
            _ => start..end,
        })
    }

    /// The chunk that holds the byte `position`.
    pub(super) fn chunk_at(&self, position: u64) -> Result<usize> {
        let missing = self.missing()?;
        let behind = |part: &[u64], position: u64| part.partition_point(|&start| start <= position).saturating_sub(1);
        let Some((first, last, count)) = self.unknown else { return Ok(behind(&self.sums, position)) };
        if position < self.sums[first] {
            return Ok(behind(&self.sums[..=first], position));
        }
        match position.checked_sub(missing) {
            Some(counted) if counted >= self.sums[last + 1] => Ok(last + 1 + behind(&self.sums[last + 1..], counted)),
            _ if count == 1 => Ok(first),
            _ => bail!(
                Corrupt,
                "byte {position} is in one of the chunks {first} to {last}, of which {count} are of unknown size"
            ),
        }
    }

    /// Notes that a chunk of `size`, or none, is in place of `chunks`; whether it can.
    pub(super) fn change(&mut self, chunks: Range<usize>, size: Option<u64>, nbytes: u64) -> bool {
        if self.unknown.is_some() {
            return false;
        }
        let (start, end) = (self.sums[chunks.start], self.sums[chunks.end]);
        let new_end = start + size.unwrap_or_default();
        for later in &mut self.sums[chunks.end..] {
            *later = *later - end + new_end;
        }
        self.sums.splice(chunks, size.map(|_| start));
        self.nbytes = nbytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(sizes: &[Option<u64>], nbytes: u64) -> Starts {
        let mut starts = Starts::with_capacity(sizes.len(), nbytes);
        sizes.iter().for_each(|&size| starts.push(size, 1));
        starts
    }

    fn ranges(starts: &Starts) -> Vec<Option<Range<u64>>> {
        (0..starts.sums.len() - 1).map(|index| starts.range(index).ok()).collect()
    }

    #[test]
    fn one_chunk_of_unknown_size_is_what_the_others_leave() {
        let starts = starts(&[Some(5), None, Some(7), Some(1)], 23);
        assert_eq!(ranges(&starts), [Some(0..5), Some(5..15), Some(15..22), Some(22..23)]);
        let found: Vec<usize> = (0..23).map(|at| starts.chunk_at(at).unwrap()).collect();
        assert_eq!(found, [[0; 5].as_slice(), &[1; 10], &[2; 7], &[3]].concat());
    }

    #[test]
    fn between_two_chunks_of_unknown_size_nothing_is_known_but_sizes() {
        let starts = starts(&[Some(5), None, Some(3), None, Some(4)], 20);
        assert_eq!(ranges(&starts), [Some(0..5), None, None, None, Some(16..20)]);
        assert_eq!((0..5).map(|index| starts.size(index)).collect::<Vec<_>>(), [Some(5), None, Some(3), None, Some(4)]);
        let found: Vec<Option<usize>> = (0..20).map(|at| starts.chunk_at(at).ok()).collect();
        assert_eq!(found, [[Some(0); 5].as_slice(), &[None; 11], &[Some(4); 4]].concat());
    }

    #[test]
    fn sizes_that_do_not_add_up_tell_no_places() {
        for sizes in [[Some(5), Some(6)], [Some(50), None]] {
            let starts = starts(&sizes, 12);
            assert!(starts.range(0).is_err() && starts.chunk_at(0).is_err());
            assert_eq!(starts.size(0), sizes[0]);
        }
    }
}
