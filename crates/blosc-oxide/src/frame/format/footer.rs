//! A copy of the header behind the frame, for the moment in which the header is overwritten.
//!
//! A commit writes it before it touches the header: the bytes that are there, and the bytes that
//! are going to be. A header that is a mixture of the two is torn, and the copy is whole; one that
//! is neither has been changed by somebody else since, and the copy is of no use. It lies beyond
//! the length that the header tells, so that no other reader sees it.
//!
//! It also lists the free space after the commit, for the next writer.
//!
//! ```text
//! old bytes | new bytes | free space | "b2footer" | where the footer starts | how many old or new bytes | XXH3 of all before
//!    n           n         136            8                   8                         8                       8
//! ```
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::free_space::{FREE_SPACE_LEN, FreeSpace};
use crate::bytes::array_at;
use crate::limits::Limits;
use crate::storage::ReadAt;
use xxhash_rust::xxh3::xxh3_64;

pub(in crate::frame) const MAGIC: [u8; 8] = *b"b2footer";
const START_AT: usize = 8;
const COPY_LEN_AT: usize = 16;
const HASH_AT: usize = 24;
/// Of the hash, at the very end.
pub(in crate::frame) const HASH_LEN: usize = 8;
/// Magic, start, length and hash.
pub(in crate::frame) const TAIL_LEN: usize = 32;

/// What a commit does to the start of the frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::frame) struct Footer {
    /// The bytes before, as many as are written.
    pub(in crate::frame) old: Vec<u8>,
    /// The bytes that are written: the fixed part of the header, or all of it.
    pub(in crate::frame) new: Vec<u8>,
    /// The free space afterwards.
    pub(in crate::frame) free_space: FreeSpace,
    /// Where the footer starts, counted from the start of the frame. No other place will do.
    pub(in crate::frame) start: u64,
}

impl Footer {
    /// Whether `stored`, the bytes that are there now, were only written in part.
    pub(in crate::frame) fn is_torn(&self, stored: &[u8]) -> bool {
        let is_mixed =
            || self.old.iter().zip(&self.new).zip(stored).all(|((old, new), byte)| byte == old || byte == new);
        stored != self.old && stored != self.new && is_mixed()
    }

    /// How long a footer is with copies of `len` bytes.
    pub(in crate::frame) fn len(len: usize) -> usize {
        len.saturating_mul(2).saturating_add(FREE_SPACE_LEN).saturating_add(TAIL_LEN)
    }

    /// As bytes.
    pub(in crate::frame) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [&self.old[..], &self.new, &self.free_space.to_bytes(), &MAGIC].concat();
        bytes.extend_from_slice(&self.start.to_le_bytes());
        bytes.extend_from_slice(&(self.new.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        bytes
    }
}

/// The footer at the very end of `source`, for the frame that starts at `base`; `None` if there is
/// none or it is damaged.
pub(in crate::frame) fn read(source: &dyn ReadAt, base: u64, limits: Limits) -> Option<Footer> {
    let mut tail = [0; TAIL_LEN];
    let tail_at = source.len().ok()?.checked_sub(TAIL_LEN as u64)?;
    source.read_at(tail_at, &mut tail).ok()?;
    if array_at(&tail, 0)? != MAGIC {
        return None;
    }
    let start = u64::from_le_bytes(array_at(&tail, START_AT)?);
    let copy_len = u64::from_le_bytes(array_at(&tail, COPY_LEN_AT)?);
    let hash = u64::from_le_bytes(array_at(&tail, HASH_AT)?);
    let front_len = copy_len.checked_mul(2)?.checked_add(FREE_SPACE_LEN as u64)?;
    let front_at = tail_at.checked_sub(front_len)?;
    if base.checked_add(start)? != front_at {
        return None;
    }
    let front_len = usize::try_from(front_len).ok()?;
    limits.check("the footer of a frame", front_len).ok()?;
    let mut bytes = vec![0; front_len];
    source.read_at(front_at, &mut bytes).ok()?;
    bytes.extend_from_slice(tail.get(..HASH_AT)?);
    if xxh3_64(&bytes) != hash {
        return None;
    }
    let (old, rest) = bytes.split_at_checked(usize::try_from(copy_len).ok()?)?;
    let (new, rest) = rest.split_at_checked(old.len())?;
    Some(Footer { old: old.to_vec(), new: new.to_vec(), free_space: FreeSpace::parse(rest)?, start })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStorage;

    fn example() -> Footer {
        let free_space = FreeSpace { chunks_end: 30, parts: vec![7..20, 40..u64::MAX] };
        Footer { old: b"abcdef".to_vec(), new: b"aBCdEf".to_vec(), free_space, start: 5 }
    }

    fn read_all(bytes: &[u8], base: u64) -> Option<Footer> {
        read(&MemoryStorage::new(bytes.to_vec()), base, Limits::new())
    }

    #[test]
    fn a_footer_is_found_at_the_end_only() {
        let mut bytes = b"frame".to_vec();
        bytes.extend(example().to_bytes());
        assert_eq!(read_all(&bytes, 0), Some(example()));
        bytes.push(0);
        assert_eq!(read_all(&bytes, 0), None);
    }

    #[test]
    fn a_footer_that_was_copied_elsewhere_is_none() {
        let mut bytes = b"a frame".to_vec();
        bytes.extend(example().to_bytes());
        assert_eq!(read_all(&bytes, 0), None);
        assert_eq!(read_all(&bytes, 2), Some(example()));
    }

    #[test]
    fn a_damaged_footer_is_none() {
        let good = Footer { start: 0, ..example() }.to_bytes();
        assert!(read_all(&good, 0).is_some());
        for position in 0..good.len() {
            let mut bad = good.clone();
            bad[position] ^= 1;
            assert_eq!(read_all(&bad, 0), None, "byte {position}");
        }
    }

    #[test]
    fn only_a_mixture_of_old_and_new_is_torn() {
        let footer = example();
        for torn in [b"aBcdef", b"abCdEf", b"aBCdef", b"abcdEf"] {
            assert!(footer.is_torn(torn), "{torn:?}");
        }
        for whole in [b"abcdef", b"aBCdEf", b"aBCdEx", b"xbcdef"] {
            assert!(!footer.is_torn(whole), "{whole:?}");
        }
    }
}
