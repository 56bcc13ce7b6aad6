//! The chunk that an index is stored as.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::entries::{ENTRY_LEN, Entries};
use crate::chunk::{Chunk, Compressor, Options, SplitMode};
use crate::error::{Result, bail};
use crate::exec::Threads;
use std::ops::Range;

/// The most chunks a frame can have.
pub(in crate::frame) const MAX_CHUNKS: usize = i32::MAX as usize / ENTRY_LEN;

/// What the reference uses; small blocks make single entries cheap.
pub(super) const BLOCKSIZE: usize = 16 << 10;
/// Up to this many entries are put side by side to be packed. More of them may be a few long runs,
/// which take far less.
pub(super) const MAX_WHOLE: usize = 1 << 20;

pub(super) fn check_count(count: usize) -> Result<()> {
    if count > MAX_CHUNKS {
        bail!(InvalidArgument, "a frame has room for {MAX_CHUNKS} chunks, not for {count}");
    }
    Ok(())
}

/// Makes chunks of entries, and keeps what it needs for that.
#[derive(Debug, Default)]
pub(super) struct Packer(Option<Box<Compressor>>);

impl Packer {
    pub(super) fn compressor(&mut self) -> Result<&mut Compressor> {
        Ok(match &mut self.0 {
            Some(compressor) => compressor,
            none => none.insert(Box::new(Compressor::new(options())?)),
        })
    }

    /// A chunk of these entries; `old` is an older one, and which bytes are not the same in it.
    pub(super) fn pack(&mut self, entries: &Entries, old: Option<(&[u8], Range<usize>)>) -> Result<Vec<u8>> {
        if entries.len() == 0 {
            return Ok(Vec::new());
        }
        check_count(entries.len())?;
        let compressor = self.compressor()?;
        let old = old.and_then(|(packed, changed)| Some((Chunk::parse(packed).ok()?, changed)));
        if entries.len() > MAX_WHOLE
            && let Some(packed) = pack_by_blocks(compressor, entries, &old)?
        {
            return Ok(packed);
        }
        let mut words = Vec::with_capacity(entries.len().saturating_mul(ENTRY_LEN));
        entries.append_bytes(0..entries.len(), &mut words);
        match old {
            Some((old, changed)) => compressor.compress_changed(&words, &old, &changed),
            None => compressor.compress(&words),
        }
    }
}

/// The same without having all words side by side; `None` if that is longer than the words.
fn pack_by_blocks(
    compressor: &mut Compressor,
    entries: &Entries,
    old: &Option<(Chunk<'_>, Range<usize>)>,
) -> Result<Option<Vec<u8>>> {
    let old = old.as_ref().map(|(old, changed)| (old, changed.clone()));
    compressor.compress_by_blocks(entries.len().saturating_mul(ENTRY_LEN), old, &mut |from, block| {
        let first = from.checked_div(ENTRY_LEN).unwrap_or_default();
        let (places, _) = block.as_chunks_mut();
        for (place, word) in places.iter_mut().zip(entries.words(first)) {
            *place = word.to_le_bytes();
        }
        let (word, end) = entries.run(first)?;
        (end.saturating_sub(first) >= places.len()).then_some(word)
    })
}

pub(super) fn options() -> Options {
    Options::new(ENTRY_LEN).with_split(SplitMode::Never).with_blocksize(BLOCKSIZE).with_threads(Threads::serial())
}
