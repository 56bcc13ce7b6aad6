//! Where things stand in a file: header, metadata, offsets, chunks.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::header::{FileHeader, LEN};
use super::metadata::{HEADER_LEN as SECTION_HEADER_LEN, Metadata, SectionHeader};
use super::offsets::Table;
use crate::chunk::Header;
use crate::error::{Result, bail};
use crate::limits::Limits;
use crate::storage::{ReadAt, read_exact};

/// The longest header that a chunk can have.
const MAX_CHUNK_HEADER_LEN: usize = 32;
const MIN_CHUNK_HEADER_LEN: usize = 16;

/// What stands before the chunks, and where they start.
#[derive(Debug, Clone)]
pub(in crate::bloscpack) struct Layout {
    pub(in crate::bloscpack) header: FileHeader,
    pub(in crate::bloscpack) metadata: Option<Metadata>,
    pub(in crate::bloscpack) table: Option<Table>,
    pub(in crate::bloscpack) chunks_at: u64,
    /// The length of the file.
    pub(in crate::bloscpack) len: u64,
}

/// Where a chunk is.
#[derive(Debug, Clone, Copy)]
pub(in crate::bloscpack) struct ChunkRecord {
    pub(in crate::bloscpack) index: u64,
    pub(in crate::bloscpack) at: u64,
    pub(in crate::bloscpack) header: Header,
    /// Where its checksum ends.
    pub(in crate::bloscpack) end: u64,
}

impl ChunkRecord {
    /// How much memory the chunk takes: as it is stored, or its data, whichever is more.
    pub(in crate::bloscpack) fn memory(&self) -> usize {
        let stored = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        stored.max(self.header.nbytes())
    }
}

impl Layout {
    pub(in crate::bloscpack) fn read(source: &dyn ReadAt, limits: Limits) -> Result<Self> {
        let len = source.len()?;
        let mut start = [0; LEN];
        let given = usize::try_from(len).unwrap_or(usize::MAX).min(LEN);
        let start = start.get_mut(..given).unwrap_or_default();
        read_exact(source, 0, start, "header")?;
        let header = FileHeader::parse(start)?;
        limits.check_chunks(header.nchunks().unwrap_or_default())?;
        let mut at = header.len() as u64;
        let metadata = if header.has_metadata() { Some(read_metadata(source, at, len, limits)?) } else { None };
        at = at.saturating_add(metadata.as_ref().map_or(0, Metadata::section_len));
        let mut layout = Self { header, metadata, table: None, chunks_at: at, len };
        if header.has_offsets() {
            layout.find_table(source)?;
        }
        Ok(layout)
    }

    fn find_table(&mut self, source: &dyn ReadAt) -> Result<()> {
        let table = match self.header.table_entries() {
            Some(entries) => Table::new(self.chunks_at, entries),
            None => Table::find(source, self.chunks_at, self.len)?,
        };
        if table.end() > self.len {
            bail!(
                Truncated,
                "offsets: {} entries from {} on end at {}, the file at {}",
                table.entries(),
                table.at(),
                table.end(),
                self.len
            );
        }
        self.chunks_at = table.end();
        self.table = Some(table);
        Ok(())
    }

    /// Where the metadata section starts.
    pub(in crate::bloscpack) fn metadata_at(&self) -> u64 {
        self.header.len() as u64
    }

    /// Reads the header of the chunk at `at`, and checks that all of it is there and that it is one
    /// of this file.
    pub(in crate::bloscpack) fn chunk_at(&self, source: &dyn ReadAt, index: u64, at: u64) -> Result<ChunkRecord> {
        self.read_chunk_header(source, index, at).map_err(|error| error.within(format_args!("chunk {index}")))
    }

    fn read_chunk_header(&self, source: &dyn ReadAt, index: u64, at: u64) -> Result<ChunkRecord> {
        let left = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        if left < MIN_CHUNK_HEADER_LEN {
            bail!(Truncated, "its header belongs at {at}, the file ends at {}", self.len);
        }
        let mut bytes = [0; MAX_CHUNK_HEADER_LEN];
        let bytes = bytes.get_mut(..left.min(MAX_CHUNK_HEADER_LEN)).unwrap_or_default();
        read_exact(source, at, bytes, "its header")?;
        let header = Header::parse(bytes).map_err(|error| error.within(format_args!("at {at}")))?;
        self.check_nbytes(index, &header)?;
        let end = at.saturating_add(self.record_len(&header));
        if end > self.len {
            bail!(Truncated, "with its checksum it ends at {end}, the file at {}", self.len);
        }
        Ok(ChunkRecord { index, at, header, end })
    }

    /// How many bytes a chunk takes, its checksum included.
    pub(in crate::bloscpack) fn record_len(&self, header: &Header) -> u64 {
        (header.cbytes() as u64).saturating_add(self.header.checksum().len() as u64)
    }

    /// Checks the size of a chunk against what the header promises.
    pub(in crate::bloscpack) fn check_nbytes(&self, index: u64, header: &Header) -> Result<()> {
        let nbytes = header.nbytes();
        let is_last = self.header.nchunks() == index.checked_add(1);
        let sizes = self.header.sizes();
        if let Some(last) = sizes.last.filter(|_| is_last) {
            if nbytes != last {
                bail!(Corrupt, "nbytes is {nbytes}, the file's header says that the last chunk has {last}");
            }
            return Ok(());
        }
        let Some(chunk) = sizes.chunk else { return Ok(()) };
        let may_be_short = is_last || self.header.nchunks().is_none();
        if nbytes > chunk || (nbytes < chunk && !may_be_short) {
            bail!(Corrupt, "nbytes is {nbytes}, the file's header says that chunks have {chunk}");
        }
        Ok(())
    }
}

fn read_metadata(source: &dyn ReadAt, at: u64, file_len: u64, limits: Limits) -> Result<Metadata> {
    let mut header = [0; SECTION_HEADER_LEN];
    read_exact(source, at, &mut header, "metadata")?;
    let header = SectionHeader::parse(&header)?;
    let end = at.saturating_add(header.section_len());
    if end > file_len {
        bail!(Truncated, "metadata: with room for {} bytes it ends at {end}, the file at {file_len}", header.room);
    }
    limits.check("metadata", header.stored_len)?;
    let mut stored = vec![0; header.stored_len];
    read_exact(source, at.saturating_add(SECTION_HEADER_LEN as u64), &mut stored, "metadata")?;
    let mut digest = vec![0; header.checksum.len()];
    read_exact(source, end.saturating_sub(digest.len() as u64), &mut digest, "metadata")?;
    header.decode(&stored, &digest, limits)
}

/// Sees to it that only the last chunk is a short one, where the header promises that.
#[derive(Debug, Default)]
pub(in crate::bloscpack) struct Order {
    /// The size of the chunk before, if it was short.
    short: Option<usize>,
}

impl Order {
    /// Admits another chunk.
    pub(in crate::bloscpack) fn admit(&mut self, layout: &Layout, index: u64, header: &Header) -> Result<()> {
        if let Some(short) = self.short {
            let before = index.saturating_sub(1);
            bail!(Corrupt, "chunk {before}: nbytes is {short}, and it is not the last chunk");
        }
        let is_short = layout.header.chunk_size().is_some_and(|size| header.nbytes() < size);
        self.short = is_short.then_some(header.nbytes());
        Ok(())
    }
}

/// Goes from chunk to chunk by the sizes in their headers.
pub(in crate::bloscpack) struct Walk<'a> {
    layout: &'a Layout,
    source: &'a dyn ReadAt,
    index: u64,
    at: u64,
    order: Order,
}

impl<'a> Walk<'a> {
    pub(in crate::bloscpack) fn new(layout: &'a Layout, source: &'a dyn ReadAt) -> Self {
        Self::resume(layout, source, 0, layout.chunks_at)
    }

    /// Goes on with chunk `index`, which starts at `at`.
    pub(in crate::bloscpack) fn resume(layout: &'a Layout, source: &'a dyn ReadAt, index: u64, at: u64) -> Self {
        Self { layout, source, index, at, order: Order::default() }
    }

    /// Where the next chunk starts, or where the last one has ended.
    pub(in crate::bloscpack) fn position(&self) -> u64 {
        self.at
    }

    fn is_over(&self) -> bool {
        match self.layout.header.nchunks() {
            Some(nchunks) => self.index >= nchunks,
            // A writer that knew any size had a chunk, an empty one for no data.
            None => self.at >= self.layout.len && (self.index > 0 || self.layout.header.tells_no_size()),
        }
    }

    fn step(&mut self) -> Result<ChunkRecord> {
        let place = self.layout.chunk_at(self.source, self.index, self.at)?;
        self.order.admit(self.layout, self.index, &place.header)?;
        self.index = self.index.saturating_add(1);
        self.at = place.end;
        Ok(place)
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<ChunkRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over() { None } else { Some(self.step()) }
    }
}
