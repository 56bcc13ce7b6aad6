//! The table of where the data chunks start.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::header::{OFFSET_LEN, PackedHeader};
use crate::error::{Result, bail};
use crate::limits::Limits;
use crate::storage::{ReadAt, read_exact};

/// Reads the table, and checks that each chunk's header is inside the super-chunk. It can stand
/// before the data or after it.
pub(super) fn read(storage: &dyn ReadAt, header: &PackedHeader, limits: Limits) -> Result<Vec<u64>> {
    let len = usize::try_from(header.nchunks()).ok().and_then(|nchunks| nchunks.checked_mul(OFFSET_LEN));
    let Some(len) = len else {
        bail!(LimitExceeded, "{} chunks are more than there is memory for", header.nchunks());
    };
    limits.check_chunks(header.nchunks())?;
    limits.check("the offset table", len)?;
    let mut bytes = vec![0; len];
    if !bytes.is_empty() {
        read_exact(storage, header.table_offset(), &mut bytes, "offset table")?;
    }
    let (entries, _) = bytes.as_chunks::<OFFSET_LEN>();
    entries.iter().enumerate().map(|(index, entry)| offset(header, index, *entry)).collect()
}

fn offset(header: &PackedHeader, index: usize, entry: [u8; OFFSET_LEN]) -> Result<u64> {
    let stored = i64::from_le_bytes(entry);
    let Ok(offset) = u64::try_from(stored) else {
        bail!(Corrupt, "chunk {index}: starts at {stored}");
    };
    header.check_chunk_start(format_args!("chunk {index}"), offset)?;
    Ok(offset)
}

/// The table as bytes.
pub(super) fn to_bytes(offsets: &[u64]) -> Vec<u8> {
    offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect()
}
