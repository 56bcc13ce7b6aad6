//! Where records go: a stream, which gets each byte once, or a storage, where header and offsets
//! are filled in at the end.

use crate::bloscpack::format::header::{FileHeader, Sizes, Version};
use crate::bloscpack::format::layout::{Layout, Walk};
use crate::bloscpack::format::offsets::{Table, unset_pieces};
use crate::bloscpack::options::Plan;
use crate::error::{Result, bail, error};
use crate::storage::{Storage, read_exact};
use std::io::{BufWriter, Write};

/// Short records are collected up to this length.
const BUFFER_LEN: usize = 64 << 10;
/// How much is moved at a time.
const MOVE_LEN: usize = 1 << 20;
/// How many entries of the table are written at a time.
const ENTRIES_AT_ONCE: usize = 8192;

/// What has come out in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bloscpack) struct Counts {
    pub(in crate::bloscpack) nbytes: u64,
    pub(in crate::bloscpack) nchunks: u64,
    /// The size of chunks; `None` if they are not all the same.
    pub(in crate::bloscpack) sizes: Sizes,
}

/// Somewhere that records go.
pub(in crate::bloscpack) trait Target {
    /// Adds a record.
    fn put(&mut self, record: &[u8]) -> Result<()>;

    /// Makes the file complete; its header and length.
    fn finish(&mut self, counts: Counts) -> Result<(FileHeader, u64)>;
}

/// A stream.
pub(in crate::bloscpack) struct Stream<W: Write> {
    out: BufWriter<W>,
    plan: Plan,
    len: u64,
}

impl<W: Write> Stream<W> {
    pub(in crate::bloscpack) fn start(out: W, plan: Plan) -> Result<Self> {
        let mut stream = Self { out: BufWriter::with_capacity(BUFFER_LEN, out), plan, len: 0 };
        let mut start = stream.plan.header.to_bytes();
        start.extend_from_slice(&stream.plan.section);
        stream.put(&start)?;
        Ok(stream)
    }
}

impl<W: Write> Target for Stream<W> {
    fn put(&mut self, record: &[u8]) -> Result<()> {
        self.len += record.len() as u64;
        Ok(self.out.write_all(record)?)
    }

    fn finish(&mut self, counts: Counts) -> Result<(FileHeader, u64)> {
        if let Some(announced) = self.plan.nbytes
            && announced != counts.nbytes
        {
            bail!(InvalidArgument, "{announced} bytes were announced, {} have come", counts.nbytes);
        }
        self.out.flush()?;
        Ok((self.plan.header, self.len))
    }
}

/// Records that follow each other in a storage, short ones collected.
#[derive(Debug)]
pub(in crate::bloscpack) struct Sequence {
    buffer: Vec<u8>,
    /// Where the buffer belongs.
    at: u64,
}

impl Sequence {
    pub(in crate::bloscpack) fn starting_at(at: u64) -> Self {
        Self { buffer: Vec::new(), at }
    }

    /// Where the next record will stand.
    pub(in crate::bloscpack) fn end(&self) -> u64 {
        self.at + self.buffer.len() as u64
    }

    pub(in crate::bloscpack) fn put(&mut self, storage: &mut dyn Storage, record: &[u8]) -> Result<()> {
        if self.buffer.len() + record.len() > BUFFER_LEN {
            self.flush(storage)?;
        }
        if record.len() <= BUFFER_LEN {
            self.buffer.extend_from_slice(record);
        } else {
            storage.write_at(self.at, record)?;
            self.at += record.len() as u64;
        }
        Ok(())
    }

    pub(in crate::bloscpack) fn flush(&mut self, storage: &mut dyn Storage) -> Result<()> {
        if !self.buffer.is_empty() {
            storage.write_at(self.at, &self.buffer)?;
            self.at += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// A storage. Until [`finish`](Target::finish) all offsets are -1.
pub(in crate::bloscpack) struct File<'a> {
    storage: &'a mut dyn Storage,
    plan: Plan,
    nchunks: u64,
    records: Sequence,
}

impl<'a> File<'a> {
    pub(in crate::bloscpack) fn start(storage: &'a mut dyn Storage, plan: Plan) -> Result<Self> {
        let mut file = Self { storage, plan, nchunks: 0, records: Sequence::starting_at(0) };
        file.storage.set_len(0)?;
        let mut start = file.plan.header.to_bytes();
        start.extend_from_slice(&file.plan.section);
        file.storage.write_at(0, &start)?;
        file.clear_table()?;
        file.records = Sequence::starting_at(file.chunks_at());
        Ok(file)
    }

    fn table(&self) -> Table {
        let at = self.plan.header.len() as u64 + self.plan.section.len() as u64;
        Table::new(at, self.plan.entries)
    }

    fn chunks_at(&self) -> u64 {
        self.table().end()
    }

    fn clear_table(&mut self) -> Result<()> {
        let mut at = self.table().at();
        for piece in unset_pieces(self.plan.entries) {
            self.storage.write_at(at, &piece)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Gives the table another number of entries, which moves all chunks.
    fn set_entries(&mut self, entries: u64) -> Result<()> {
        self.records.flush(self.storage)?;
        let (from, end) = (self.chunks_at(), self.records.end());
        self.plan.entries = entries;
        let to = self.chunks_at();
        move_bytes(self.storage, from, end - from, to)?;
        self.records = Sequence::starting_at(to + (end - from));
        self.clear_table()?;
        self.storage.set_len(self.records.end())?;
        Ok(())
    }

    /// How many entries the table must have for `nchunks` chunks.
    fn entries_for(&self, nchunks: u64) -> u64 {
        match self.plan.header.version() {
            Version::V3 => self.plan.entries.max(nchunks + self.plan.room.unwrap_or_default()),
            _ => nchunks,
        }
    }

    /// Fills in the offsets by going from chunk to chunk: their number has no bound, memory has.
    fn write_offsets(&mut self, header: FileHeader) -> Result<()> {
        let table = self.table();
        let layout =
            Layout { header, metadata: None, table: Some(table), chunks_at: self.chunks_at(), len: self.records.end() };
        let (mut index, mut at) = (0, layout.chunks_at);
        while index < self.nchunks {
            let mut entries = Vec::with_capacity(ENTRIES_AT_ONCE * 8);
            let first = index;
            let mut walk = Walk::resume(&layout, self.storage, index, at);
            for place in walk.by_ref().take(ENTRIES_AT_ONCE) {
                let position = i64::try_from(place?.at).map_err(|_| error!(Unsupported, "the file is too long"))?;
                entries.extend(position.to_le_bytes());
                index += 1;
            }
            at = walk.position();
            self.storage.write_at(table.entry_at(first), &entries)?;
        }
        Ok(())
    }
}

impl Target for File<'_> {
    fn put(&mut self, record: &[u8]) -> Result<()> {
        self.nchunks += 1;
        if self.plan.header.has_offsets() && self.nchunks > self.plan.entries {
            self.set_entries(self.nchunks.saturating_mul(2))?;
        }
        self.records.put(self.storage, record)
    }

    fn finish(&mut self, counts: Counts) -> Result<(FileHeader, u64)> {
        self.records.flush(self.storage)?;
        let mut room = 0;
        if self.plan.header.has_offsets() {
            let entries = self.entries_for(counts.nchunks);
            if entries != self.plan.entries {
                self.set_entries(entries)?;
            }
            room = entries - counts.nchunks;
        }
        let header = self.plan.header.with_counts(counts.sizes, Some(counts.nchunks), room);
        self.storage.sync()?;
        if header.has_offsets() {
            self.write_offsets(header)?;
            self.storage.sync()?;
        }
        self.storage.write_at(0, &header.to_bytes())?;
        self.storage.sync()?;
        Ok((header, self.records.end()))
    }
}

/// Moves `len` bytes within a storage; the two places may overlap.
fn move_bytes(storage: &mut dyn Storage, from: u64, len: u64, to: u64) -> Result<()> {
    let mut piece = vec![0; MOVE_LEN];
    let mut done = 0;
    while done < len {
        let step = (len - done).min(MOVE_LEN as u64);
        let piece = &mut piece[..usize::try_from(step).unwrap_or(MOVE_LEN)];
        let start = if to > from { len - done - step } else { done };
        read_exact(storage, from + start, piece, "chunks that are moved")?;
        storage.write_at(to + start, piece)?;
        done += step;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStorage;

    #[test]
    fn bytes_are_moved_both_ways_over_themselves() {
        let data: Vec<u8> = (0..3_000_000_u32).map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
        for (from, to) in [(0, 8), (8, 0), (1000, 2_000_000), (2_000_000, 1000), (5, 5)] {
            let mut storage = MemoryStorage::default();
            storage.write_at(from, &data).unwrap();
            move_bytes(&mut storage, from, data.len() as u64, to).unwrap();
            let start = usize::try_from(to).unwrap();
            assert!(storage.to_bytes()[start..start + data.len()] == data, "{from} to {to}");
        }
    }
}
