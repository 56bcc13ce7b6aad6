//! Putting chunks into a storage so that a crash at any moment leaves what was there before.
//!
//! New chunks and a new offset table go after the current end. Nothing refers to them until the
//! header is written over, in one write that lies inside one sector.

use super::header::{Body, HEADER_LEN, OFFSET_LEN, PackedHeader, PackedSpecial, Specials};
use super::reader::PackedSuperChunk;
use super::table;
use crate::chunk::Header;
use crate::error::{Result, bail, error};
use crate::limits::Limits;
use crate::storage::{Durability, ReadAt, Storage, WriteRight, read_exact};
use std::io;

/// The sizes and offsets of the format are signed.
const MAX_SIZE: u64 = i64::MAX as u64;

/// A super-chunk that grows.
#[derive(Debug)]
pub(super) struct Assembly<S> {
    storage: S,
    /// As it was last published.
    header: PackedHeader,
    /// The header as the storage has it.
    stored: Vec<u8>,
    offsets: Vec<u64>,
    specials: Specials,
    nbytes: u64,
    /// Where the next bytes go.
    end: u64,
    durability: Durability,
    limits: Limits,
    /// The right to change the super-chunk, from the first change to the commit.
    right: Option<WriteRight>,
    is_changed: bool,
    is_poisoned: bool,
    /// Whether the storage has the header that was last published, and no newer one.
    is_header_known: bool,
}

/// How far an assembly has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    nchunks: usize,
    specials: Specials,
    nbytes: u64,
    end: u64,
    is_changed: bool,
}

impl<R: ReadAt> PackedSuperChunk<R> {
    /// Copies the super-chunk to an empty storage, chunk by chunk as they are stored, without the
    /// bytes that appending has left unused. What comes out has the layout of the first writers.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk); `InvalidArgument` if the storage is not empty, `Io` if it cannot
    /// be written.
    pub fn copy_to(&self, storage: impl Storage) -> Result<()> {
        let mut copy = Assembly::create(storage, self.header().without_body())?;
        for kind in PackedSpecial::ALL {
            if let Some(chunk) = self.special_chunk(kind)? {
                copy.put_special(kind, &chunk)?;
            }
        }
        for index in 0..self.nchunks() {
            copy.put_data(&self.chunk(index)?)?;
        }
        copy.commit()
    }
}

impl<S: Storage> Assembly<S> {
    /// Makes a super-chunk without chunks in an empty storage.
    pub(super) fn create(storage: S, header: PackedHeader) -> Result<Self> {
        let len = storage.len()?;
        if len != 0 {
            bail!(InvalidArgument, "a new super-chunk needs an empty storage, there are {len} bytes in it");
        }
        let mut assembly = Self::with(storage, header, Vec::new(), Limits::new());
        assembly.own()?;
        assembly.write(0, &header.to_bytes())?;
        assembly.stored = header.to_bytes();
        assembly.is_changed = true;
        Ok(assembly)
    }

    /// Goes on with one that is there.
    pub(super) fn resume(storage: S, header: PackedHeader, offsets: Vec<u64>, limits: Limits) -> Result<Self> {
        let mut assembly = Self::with(storage, header, offsets, limits);
        assembly.stored = assembly.read_header()?;
        Ok(assembly)
    }

    fn with(storage: S, header: PackedHeader, offsets: Vec<u64>, limits: Limits) -> Self {
        let &Body { nbytes, cbytes, specials, .. } = header.body();
        Self {
            storage,
            header,
            stored: Vec::new(),
            offsets,
            specials,
            nbytes,
            end: cbytes,
            durability: Durability::default(),
            limits,
            right: None,
            is_changed: false,
            is_poisoned: false,
            is_header_known: true,
        }
    }

    /// Sets what a commit survives.
    pub(super) fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// The number of data chunks, committed or not.
    pub(super) fn nchunks(&self) -> usize {
        self.offsets.len()
    }

    /// Gives up what has been put since the last commit, and reclaims its space. If the storage may
    /// have a newer header nothing is cut off: that header needs what is there.
    pub(super) fn forget_changes(&mut self) {
        if std::mem::take(&mut self.is_changed) {
            self.reclaim();
        }
        self.right = None;
    }

    /// Cuts off what has been put since the last commit. Nothing is cut off that a newer header may
    /// need.
    fn reclaim(&mut self) {
        if self.right.is_some() && self.is_header_known && matches!(self.is_current(), Ok(true)) {
            // Bytes that nothing refers to do no harm; the next commit cuts them off.
            let _ = self.storage.set_len(self.header.cbytes());
        }
    }

    fn read_header(&self) -> Result<Vec<u8>> {
        let mut stored = vec![0; HEADER_LEN];
        read_exact(&self.storage, 0, &mut stored, "packed super-chunk")?;
        Ok(stored)
    }

    /// Whether the header is still the one that was published or found here last. Every commit has
    /// another.
    fn is_current(&self) -> Result<bool> {
        Ok(self.read_header()? == self.stored)
    }

    fn own(&mut self) -> Result<()> {
        self.right = self.storage.own()?;
        if self.right.is_none() {
            bail!(
                Locked,
                "packed super-chunk: another process or handle is changing it; try again when that has ended"
            );
        }
        Ok(())
    }

    /// Gets the right to change the super-chunk. What others have committed meanwhile is there
    /// then; whether there was anything.
    pub(super) fn begin(&mut self) -> Result<bool> {
        self.check_usable()?;
        if self.right.is_some() {
            return Ok(false);
        }
        self.own()?;
        self.catch_up().inspect_err(|_| self.right = None)
    }

    fn catch_up(&mut self) -> Result<bool> {
        if self.is_current()? {
            return Ok(false);
        }
        let packed = PackedSuperChunk::open_with_limits(&self.storage, self.limits)?;
        let (header, offsets) = packed.into_parts();
        if header.without_body() != self.header.without_body() {
            bail!(Conflict, "packed super-chunk: somebody else has made another one of it: open it again");
        }
        self.stored = self.read_header()?;
        let &Body { nbytes, cbytes, specials, .. } = header.body();
        (self.header, self.offsets, self.specials, self.nbytes, self.end) = (header, offsets, specials, nbytes, cbytes);
        Ok(true)
    }

    /// The data of a special chunk, as it was committed.
    pub(super) fn special(&self, kind: PackedSpecial) -> Result<Option<Vec<u8>>> {
        PackedSuperChunk::open_with_limits(&self.storage, self.limits)?.special(kind)
    }

    /// How far it has come.
    pub(super) fn mark(&self) -> Mark {
        let &Self { ref offsets, specials, nbytes, end, is_changed, .. } = self;
        Mark { nchunks: offsets.len(), specials, nbytes, end, is_changed }
    }

    /// Gives up what has been put since then.
    pub(super) fn go_back(&mut self, mark: Mark) {
        self.offsets.truncate(mark.nchunks);
        (self.specials, self.nbytes, self.end) = (mark.specials, mark.nbytes, mark.end);
        self.is_changed = mark.is_changed;
        if !self.is_changed {
            self.right = None;
        }
    }

    /// Adds a special chunk.
    pub(super) fn put_special(&mut self, kind: PackedSpecial, chunk: &[u8]) -> Result<()> {
        let offset = self.put(chunk, 0)?;
        self.specials.set(kind, offset);
        Ok(())
    }

    /// Adds a data chunk.
    pub(super) fn put_data(&mut self, chunk: &[u8]) -> Result<()> {
        let offset = self.put(chunk, OFFSET_LEN as u64)?;
        self.offsets.push(offset);
        Ok(())
    }

    /// Writes a chunk, counts its data and what else it adds, and returns where it starts.
    fn put(&mut self, chunk: &[u8], extra: u64) -> Result<u64> {
        let offset = self.end;
        let nbytes = grown(self.nbytes, Header::parse(chunk)?.nbytes() as u64 + extra)?;
        let end = grown(offset, chunk.len() as u64)?;
        self.write(offset, chunk)?;
        (self.nbytes, self.end) = (nbytes, end);
        self.is_changed = true;
        Ok(offset)
    }

    /// Publishes everything that was put.
    pub(super) fn commit(&mut self) -> Result<()> {
        self.check_usable()?;
        if !self.is_changed {
            return Ok(());
        }
        if !self.is_current()? {
            bail!(
                Conflict,
                "packed super-chunk: somebody else has changed it since the changes here began: open it again, and make \
                 them anew"
            );
        }
        let table = table::to_bytes(&self.offsets);
        let cbytes = grown(self.end, table.len() as u64)?;
        let nchunks = self.offsets.len() as u64;
        let body = Body { nchunks, nbytes: self.nbytes, cbytes, specials: self.specials, table: self.end };
        let header = self.header.with_body(body);
        self.write(self.end, &table)?;
        // What a crash has left behind the end goes before the header is written: behind that
        // nothing may fail.
        self.cut_to(cbytes)?;
        self.sync().inspect_err(|_| self.reclaim())?;
        self.publish(header)?;
        (self.header, self.end, self.is_changed) = (header, cbytes, false);
        self.stored = header.to_bytes();
        self.right = None;
        Ok(())
    }

    /// Writes the header over. If that fails, or cannot be made to last, the former one is put
    /// back.
    fn publish(&mut self, header: PackedHeader) -> Result<()> {
        let bytes = header.to_bytes();
        let result = self.storage.write_at(0, &bytes);
        let written = self.guard(result, format_args!("writing the header"));
        let is_written = written.is_ok();
        written.and_then(|()| self.sync()).inspect_err(|_| self.withdraw(is_written))
    }

    /// Puts the former header back, as far as the storage still can. Only a sync tells that it has
    /// arrived; until then either of the two may be there after a loss of power, and what both
    /// refer to has to stay.
    fn withdraw(&mut self, is_written: bool) {
        let restored = self.storage.write_at(0, &self.stored).and_then(|()| self.storage.sync());
        let is_untouched = !is_written && matches!(self.is_current(), Ok(true));
        self.is_header_known = restored.is_ok() || is_untouched;
        self.reclaim();
    }

    /// Takes away what a crash has left behind the end.
    fn cut_to(&mut self, cbytes: u64) -> Result<()> {
        if self.storage.len()? > cbytes {
            let result = self.storage.set_len(cbytes);
            self.guard(result, format_args!("cutting to {cbytes} bytes")).inspect_err(|_| self.reclaim())?;
        }
        Ok(())
    }

    fn write(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
        debug_assert!(position >= self.header.cbytes() || bytes.len() == HEADER_LEN, "live bytes are not touched");
        self.check_usable()?;
        if bytes.is_empty() {
            return Ok(());
        }
        let result = self.storage.write_at(position, bytes);
        let guarded = self.guard(result, format_args!("writing {} bytes at {position}", bytes.len()));
        guarded.inspect_err(|_| self.reclaim())
    }

    fn sync(&mut self) -> Result<()> {
        if self.durability == Durability::None {
            return Ok(());
        }
        let result = self.storage.sync();
        self.guard(result, format_args!("syncing"))
    }

    /// After a failure nobody knows what the storage holds, so that nothing more is written to it.
    fn guard(&mut self, result: io::Result<()>, action: std::fmt::Arguments<'_>) -> Result<()> {
        result.map_err(|cause| {
            self.is_poisoned = true;
            error!(Io, "packed super-chunk: {action}: {cause}").with_source(cause)
        })
    }

    fn check_usable(&self) -> Result<()> {
        if self.is_poisoned {
            bail!(Poisoned, "packed super-chunk: an earlier write has failed, open it again");
        }
        Ok(())
    }
}

fn grown(size: u64, by: u64) -> Result<u64> {
    match size.checked_add(by).filter(|&sum| sum <= MAX_SIZE) {
        Some(sum) => Ok(sum),
        None => bail!(InvalidArgument, "packed super-chunk: {size} and {by} bytes are more than the format can count"),
    }
}
