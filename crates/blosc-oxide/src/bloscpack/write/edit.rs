//! Changes to a file that leave its chunks alone.

use crate::bloscpack::format::header::{FileHeader, Sizes};
use crate::bloscpack::format::journal::{Journal, Patch};
use crate::bloscpack::format::layout::{Layout, Walk};
use crate::bloscpack::format::metadata;
use crate::bloscpack::read::reader::{Bloscpack, ReadOptions};
use crate::error::{Result, bail};
use crate::limits::Limits;
use crate::storage::{ReadAt, Storage};

/// What [`recover`] found.
///
/// ```
/// use blosc_oxide::bloscpack::{BloscpackOptions, Recovery, pack_to_storage, recover};
/// use blosc_oxide::{Limits, Options, storage::MemoryStorage};
/// let mut storage = MemoryStorage::default();
/// pack_to_storage(&b"data"[..], &mut storage, &BloscpackOptions::new(Options::new(1)))?;
/// assert_eq!(recover(&mut storage, Limits::new())?, Recovery::NotNeeded);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Recovery {
    /// No change was interrupted.
    NotNeeded,
    /// A change had become valid before it was interrupted, and was brought to its end.
    Completed,
    /// A change had not become valid: what it had left behind the last chunk was cut off.
    TakenBack,
}

/// Brings an append or a change of metadata to its end that was interrupted after it had become
/// valid, or takes away what is left of one that had not. Reading does not need it, and whatever
/// changes a file brings valid changes to their end by itself.
///
/// # Errors
/// If there is something behind the last chunk, as [`Bloscpack::verify`]: it is cut off only where
/// all chunks are good. Whatever the storage reports.
pub fn recover(storage: &mut dyn Storage, limits: Limits) -> Result<Recovery> {
    if complete(storage, limits)? {
        return Ok(Recovery::Completed);
    }
    let is_cut = cut_to_chunks(storage, limits)?;
    Ok(if is_cut { Recovery::TakenBack } else { Recovery::NotNeeded })
}

/// Brings a valid change to its end. Returns whether there was one.
///
/// Whoever wrote to the file before may have been killed before it could sync, and the power may
/// still go out: nothing is written on top of what is not on the disk.
fn complete(storage: &mut dyn Storage, limits: Limits) -> Result<bool> {
    storage.sync()?;
    match Journal::find(storage, limits)? {
        Some(journal) => journal.apply(storage).map(|()| true),
        None => Ok(false),
    }
}

/// Cuts off what is behind the last chunk. Returns whether there was something.
fn cut_to_chunks(storage: &mut dyn Storage, limits: Limits) -> Result<bool> {
    let layout = Layout::read(storage, limits)?;
    // Where the number of chunks is not written down, no append has begun.
    if layout.header.nchunks().is_none() {
        return Ok(false);
    }
    let mut end = layout.chunks_at;
    for place in Walk::new(&layout, storage) {
        end = place?.end;
    }
    if layout.len <= end {
        return Ok(false);
    }
    // A damaged chunk may end elsewhere.
    Bloscpack::with_options(storage as &dyn ReadAt, ReadOptions::new().with_limits(limits))?.verify()?;
    storage.set_len(end)?;
    storage.sync()?;
    Ok(true)
}

/// Replaces the metadata by another JSON text, which must fit into the room that is kept for it.
/// Whenever it is interrupted, the file has either the old or the new metadata.
///
/// # Errors
/// `InvalidArgument` if the file has no metadata section, the text does not fit into it or is no
/// JSON; as [`Bloscpack::from_storage`](crate::bloscpack::Bloscpack::from_storage), and whatever
/// the storage reports.
pub fn replace_metadata(storage: &mut dyn Storage, json: &str, limits: Limits) -> Result<()> {
    let layout = ready(storage, limits)?;
    let patch = metadata_patch(storage, &layout, json)?;
    let journal = Journal::new(vec![patch], layout.len);
    journal.write(storage, layout.len, limits)?;
    journal.finish(storage)
}

/// The change that replaces the metadata.
pub(in crate::bloscpack) fn metadata_patch(storage: &dyn Storage, layout: &Layout, json: &str) -> Result<Patch> {
    let Some(old) = &layout.metadata else {
        bail!(InvalidArgument, "the file has no metadata section; rewrite it with one");
    };
    Patch::over(storage, layout.metadata_at(), metadata::encode_over(old, json)?)
}

/// Makes a file ready to be changed: an interrupted change is brought to its end, and the number of
/// chunks is written down, because from then on other bytes than chunks may stand at the end.
pub(in crate::bloscpack) fn ready(storage: &mut dyn Storage, limits: Limits) -> Result<Layout> {
    complete(storage, limits)?;
    let layout = Layout::read(storage, limits)?;
    if layout.header.nchunks().is_some() {
        return Ok(layout);
    }
    let header = completed(storage, &layout)?;
    // The header is in one sector, which a disk writes as a whole; and it says nothing new.
    storage.write_at(0, &header.to_bytes())?;
    storage.sync()?;
    Ok(Layout { header, ..layout })
}

/// The header with the numbers that a streaming writer had to leave open.
fn completed(storage: &dyn Storage, layout: &Layout) -> Result<FileHeader> {
    let (mut nchunks, mut sizes) = (0, layout.header.sizes());
    let mut is_uniform = true;
    for place in Walk::new(layout, storage) {
        let nbytes = place?.header.nbytes();
        let size = *sizes.chunk.get_or_insert(nbytes);
        // A chunk that is not the last must have the size of the first, and none a greater one.
        is_uniform &= nbytes <= size && sizes.last.is_none_or(|before| nchunks == 0 || before == size);
        sizes.last = Some(nbytes);
        nchunks += 1;
    }
    if !is_uniform {
        sizes = Sizes::default();
    }
    let entries = layout.table.map_or(nchunks, |table| table.entries());
    let Some(room) = entries.checked_sub(nchunks) else {
        bail!(Unsupported, "the table of offsets has {entries} entries for {nchunks} chunks; rewrite the file");
    };
    Ok(layout.header.with_counts(sizes, Some(nchunks), room))
}
