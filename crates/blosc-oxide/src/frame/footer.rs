//! A copy of the header behind the frame, for the moment in which the header is overwritten.
//!
//! A commit writes it before it touches the header. If the header is found torn, the copy is whole. It lies beyond
//! the length that the header tells, so that no other reader sees it.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::bytes::array_at;
use crate::storage::ReadAt;
use xxhash_rust::xxh3::xxh3_64;

pub(super) const MAGIC: [u8; 8] = *b"b2footer";
const KIND_FLIP: u32 = 0;
const KIND_WHOLE: u32 = 1;
/// Magic, length, kind and hash.
pub(super) const TAIL_LEN: usize = 24;
/// Headers are far shorter; whatever claims more is not a footer.
const MAX_COPY: usize = 1 << 24;

/// The copy of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Footer {
    /// The fixed part of the header, or all of it.
    pub(super) copy: Vec<u8>,
    /// Whether the commit changed more than the fixed part.
    pub(super) is_whole: bool,
    /// Where the footer starts.
    pub(super) start: u64,
}

/// A footer as bytes.
pub(super) fn write(copy: &[u8], is_whole: bool) -> Vec<u8> {
    let mut bytes = copy.to_vec();
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&u32::try_from(copy.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&(if is_whole { KIND_WHOLE } else { KIND_FLIP }).to_le_bytes());
    bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
    bytes
}

/// The footer at the very end of `source`, if there is a whole one.
pub(super) fn read(source: &dyn ReadAt, len: u64) -> Option<Footer> {
    let mut tail = [0; TAIL_LEN];
    let tail_at = len.checked_sub(TAIL_LEN as u64)?;
    source.read_at(tail_at, &mut tail).ok()?;
    if array_at(&tail, 0)? != MAGIC {
        return None;
    }
    let copy_len = usize::try_from(u32::from_le_bytes(array_at(&tail, 8)?)).ok().filter(|&len| len <= MAX_COPY)?;
    let kind = u32::from_le_bytes(array_at(&tail, 12)?);
    let hash = u64::from_le_bytes(array_at(&tail, 16)?);
    let start = tail_at.checked_sub(copy_len as u64)?;
    let mut bytes = vec![0; copy_len];
    source.read_at(start, &mut bytes).ok()?;
    bytes.extend_from_slice(tail.get(..16)?);
    if xxh3_64(&bytes) != hash {
        return None;
    }
    bytes.truncate(copy_len);
    Some(Footer { copy: bytes, is_whole: kind == KIND_WHOLE, start })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStorage;

    #[test]
    fn a_footer_is_found_at_the_end_only() {
        let mut bytes = b"frame".to_vec();
        bytes.extend(write(b"header", true));
        let len = bytes.len() as u64;
        let footer = read(&MemoryStorage::new(bytes.clone()), len).unwrap();
        assert_eq!((footer.copy.as_slice(), footer.is_whole, footer.start), (&b"header"[..], true, 5));
        bytes.push(0);
        assert_eq!(read(&MemoryStorage::new(bytes), len + 1), None);
    }

    #[test]
    fn a_damaged_footer_is_none() {
        let good = write(b"header", false);
        for position in 0..good.len() {
            let mut bad = good.clone();
            bad[position] ^= 1;
            let len = bad.len() as u64;
            assert_eq!(read(&MemoryStorage::new(bad), len), None, "byte {position}");
        }
    }
}
