//! How records get behind those that are there without a moment at which the file holds less than
//! before.
//!
//! New records belong where the last one ends or, if the last chunk is to be filled up, where it
//! starts. What comes to stand on bytes that are in use is held back; all other bytes are written
//! right away, beyond the end. Once they are synced, a journal tells the rest: the bytes held back,
//! offsets, metadata, header, and the new length.

use super::target::{Counts, File, Sequence, Target};
use crate::bloscpack::format::header::{FileHeader, Sizes, Version};
use crate::bloscpack::format::journal::{Journal, Patch, Recovered};
use crate::bloscpack::format::layout::{ChunkRecord, Layout, Walk};
use crate::bloscpack::options::Plan;
use crate::error::{Result, bail, error};
use crate::limits::Limits;
use crate::storage::{ReadAt, Storage, read_exact};

/// What a file holds before anything is added.
#[derive(Debug)]
pub(in crate::bloscpack) struct Old {
    /// How many chunks stay as they are.
    pub(in crate::bloscpack) kept: u64,
    /// Where the first new record goes.
    pub(in crate::bloscpack) start: u64,
    /// Where the last chunk ends.
    pub(in crate::bloscpack) end: u64,
    /// The size of chunks from now on.
    pub(in crate::bloscpack) chunk_size: usize,
    pub(in crate::bloscpack) nbytes: u64,
    /// Where the kept chunks are, if the table of offsets does not say so.
    pub(in crate::bloscpack) positions: Vec<u64>,
}

/// A file that is extended.
pub(in crate::bloscpack) struct Extension<'a> {
    storage: &'a mut dyn Storage,
    spare: Option<&'a mut dyn Storage>,
    layout: Layout,
    old: Old,
    metadata: Option<Patch>,
    /// The room that a rewritten file gets.
    room: Option<u64>,
    /// What the journal has to keep to.
    limits: Limits,
    /// New bytes that belong where old ones are in use.
    held: Vec<u8>,
    /// New bytes beyond those.
    records: Sequence,
    /// Where new chunks are.
    positions: Vec<u64>,
    rewritten: Option<File<'a>>,
    /// Whether the new records count.
    is_valid: bool,
}

impl<'a> Extension<'a> {
    pub(in crate::bloscpack) fn new(
        storage: &'a mut dyn Storage,
        spare: Option<&'a mut dyn Storage>,
        layout: Layout,
        old: Old,
        metadata: Option<Patch>,
        room: Option<u64>,
        limits: Limits,
    ) -> Self {
        let records = Sequence::starting_at(old.end);
        Self {
            storage,
            spare,
            layout,
            old,
            metadata,
            room,
            limits,
            held: Vec::new(),
            records,
            positions: Vec::new(),
            rewritten: None,
            is_valid: false,
        }
    }

    /// Where the next record goes.
    fn at(&self) -> u64 {
        let held_end = self.old.start + self.held.len() as u64;
        if held_end < self.old.end { held_end } else { self.records.end() }
    }

    fn put_in_place(&mut self, record: &[u8]) -> Result<()> {
        let at = self.at();
        self.positions.push(at);
        let below = usize::try_from(self.old.end.saturating_sub(at)).unwrap_or(usize::MAX).min(record.len());
        let (held, beyond) = record.split_at(below);
        self.held.extend_from_slice(held);
        if beyond.is_empty() { Ok(()) } else { self.records.put(self.storage, beyond) }
    }

    /// How many chunks the file can have.
    fn capacity(&self) -> u64 {
        self.layout.table.map_or(u64::MAX, |table| table.entries())
    }

    fn no_room(&self) -> Result<()> {
        let fit = self.capacity().saturating_sub(self.layout.header.nchunks().unwrap_or_default());
        let last = self.layout.header.last_chunk().unwrap_or_default();
        let in_last = if self.old.start < self.old.end { self.old.chunk_size.saturating_sub(last) } else { 0 };
        let bytes = fit.saturating_mul(self.old.chunk_size as u64);
        bail!(
            InvalidArgument,
            "the offsets have room for {fit} more chunks, that is {bytes} bytes, and the last chunk for {in_last} more; \
             the data has more than that: rewrite the file"
        );
    }

    /// Goes on in the spare storage: all records so far are copied there.
    fn rewrite(&mut self) -> Result<()> {
        let Some(spare) = self.spare.take() else { return self.no_room() };
        self.records.flush(self.storage)?;
        let mut file = File::start(spare, self.plan()?)?;
        let old = Layout { header: self.layout.header, metadata: None, ..self.layout.clone() };
        let kept = usize::try_from(self.old.kept).unwrap_or(usize::MAX);
        for place in Walk::new(&old, self.storage).take(kept) {
            file.put(&record_at(self.storage, &old, &place?)?)?;
        }
        let held = Patch::new(self.old.start, std::mem::take(&mut self.held));
        let new =
            Recovered::with_patches(self.storage as &dyn ReadAt, vec![held], self.records.end().max(self.old.end));
        let header = old.header.with_counts(Sizes::default(), None, 0);
        let layout = Layout { header, len: new.len()?, ..old };
        for (index, &at) in self.positions.iter().enumerate() {
            let place = layout.chunk_at(&new, self.old.kept + index as u64, at)?;
            file.put(&record_at(&new, &layout, &place)?)?;
        }
        self.rewritten = Some(file);
        Ok(())
    }

    /// What the rewritten file starts with.
    fn plan(&self) -> Result<Plan> {
        let header = self.layout.header;
        let sizes = Sizes { chunk: self.new_chunk_size(), last: None };
        let table_at = self.layout.table.map_or(self.layout.chunks_at, |table| table.at());
        let section_at = self.layout.metadata_at();
        let mut section = vec![0; usize::try_from(table_at - section_at).unwrap_or_default()];
        read_exact(self.storage, section_at, &mut section, "metadata")?;
        if let Some(patch) = &self.metadata {
            section.copy_from_slice(patch.new_bytes());
        }
        let chunks = self.capacity().saturating_add(1);
        let room = self.room.unwrap_or(chunks.saturating_mul(10));
        let is_v3 = header.version() == Version::V3;
        Ok(Plan {
            header: header.with_counts(sizes, None, 0),
            section,
            entries: if is_v3 { chunks.saturating_add(room) } else { chunks },
            room: is_v3.then_some(room),
            nbytes: None,
        })
    }

    /// The chunk size for the header, which knows none if chunks are not all the same.
    fn new_chunk_size(&self) -> Option<usize> {
        self.layout.header.chunk_size().map(|_| self.old.chunk_size)
    }

    /// The header that the file will have.
    fn new_header(&self, counts: Counts) -> FileHeader {
        let nchunks = self.old.kept + counts.nchunks;
        let last = self.layout.header.chunk_size().and(counts.sizes.last);
        let room = self.layout.table.map_or(self.layout.header.max_app_chunks(), |table| table.entries() - nchunks);
        let sizes = Sizes { chunk: self.new_chunk_size(), last };
        self.layout.header.with_counts(sizes, Some(nchunks), room)
    }

    /// The entries of the table that change.
    fn offsets_patch(&self) -> Result<Option<Patch>> {
        let Some(table) = self.layout.table else { return Ok(None) };
        let first = if self.old.positions.is_empty() { self.old.kept } else { 0 };
        let mut entries = Vec::new();
        for &position in self.old.positions.iter().chain(&self.positions) {
            let position = i64::try_from(position).map_err(|_| error!(Unsupported, "the file is too long"))?;
            entries.extend(position.to_le_bytes());
        }
        Patch::over(self.storage, table.entry_at(first), entries).map(Some)
    }

    fn commit(&mut self, counts: Counts) -> Result<(FileHeader, u64)> {
        self.records.flush(self.storage)?;
        let len = self.at();
        let header = self.new_header(counts);
        let mut patches = Vec::new();
        if !self.held.is_empty() {
            patches.push(Patch::over(self.storage, self.old.start, std::mem::take(&mut self.held))?);
        }
        patches.extend(self.offsets_patch()?);
        patches.extend(self.metadata.take());
        patches.push(Patch::over(self.storage, 0, header.to_bytes())?);
        self.storage.sync()?;
        let journal = Journal::new(patches, len);
        journal.write(self.storage, len.max(self.old.end), self.limits)?;
        self.is_valid = true;
        journal.finish(self.storage)?;
        Ok((header, len))
    }
}

impl Target for Extension<'_> {
    fn put(&mut self, record: &[u8]) -> Result<()> {
        let is_full = self.old.kept + self.positions.len() as u64 >= self.capacity();
        if self.rewritten.is_none() && is_full {
            self.rewrite()?;
        }
        match &mut self.rewritten {
            Some(file) => file.put(record),
            None => self.put_in_place(record),
        }
    }

    fn finish(&mut self, counts: Counts) -> Result<(FileHeader, u64)> {
        let Some(file) = &mut self.rewritten else { return self.commit(counts) };
        let nchunks = self.old.kept + counts.nchunks;
        let last = self.layout.header.chunk_size().and(counts.sizes.last);
        let chunk = self.layout.header.chunk_size().map(|_| self.old.chunk_size);
        file.finish(Counts { nbytes: counts.nbytes, nchunks, sizes: Sizes { chunk, last } })
    }
}

impl Drop for Extension<'_> {
    /// What was not committed is dead; only the space it takes is to be given back, so it is no
    /// loss if that fails.
    fn drop(&mut self) {
        if !self.is_valid {
            let _ = self.storage.set_len(self.old.end);
        }
    }
}

/// A record as it is, verified.
fn record_at(source: &dyn ReadAt, layout: &Layout, place: &ChunkRecord) -> Result<Vec<u8>> {
    let mut record = vec![0; usize::try_from(place.end - place.at).unwrap_or(usize::MAX)];
    read_exact(source, place.at, &mut record, "a chunk")?;
    let (chunk, digest) = record.split_at(place.header.cbytes());
    let index = place.index;
    layout.header.checksum().check(chunk, digest).map_err(|error| error.within(format_args!("chunk {index}")))?;
    Ok(record)
}
