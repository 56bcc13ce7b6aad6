//! A frame in a directory: a file for each chunk, and one for header, index and trailer.
//!
//! Files are never changed once they count. A commit writes the new index beside the old one and renames it over it.

use super::arrange;
use super::checksums::{self, Hashes, UNKNOWN};
use super::index::{Entry, Index, Packed};
use super::open::{self, Opened};
use super::trailer::Trailer;
use super::{Settings, header};
use crate::chunk::Header;
use crate::error::{ErrorKind, Result, bail, error};
use crate::exec::lock;
use crate::schunk::{ChunkStore, Foreign, NewChunk, Slot, Source, Staged, State};
use crate::storage::{Directory, Durability, MemoryDirectory, ReadAt, read_exact};
use std::collections::BTreeSet;
use std::io::ErrorKind::{InvalidInput, NotFound};
use std::sync::{Arc, Mutex};

/// The file with header, index and trailer.
pub(crate) const INDEX_NAME: &str = "chunks.b2frame";
pub(super) const NEW_INDEX_NAME: &str = "chunks.b2frame.new";
const MIN_CHUNK: usize = 32;

/// Numbers that no file has; the reference wants those of files to be dense.
#[derive(Debug, Default)]
struct FreeNumbers {
    gaps: BTreeSet<u64>,
    /// All from here on are free.
    end: u64,
}

impl FreeNumbers {
    fn besides(files: &BTreeSet<u64>) -> Self {
        let end = files.last().map_or(0, |last| last + 1);
        // There can be no more gaps than this if numbers are dense, and any number of them if somebody means harm.
        let gaps = (0..end).filter(|file| !files.contains(file)).take(files.len() + 1).collect();
        Self { gaps, end }
    }

    fn take(&mut self) -> u64 {
        self.gaps.pop_first().unwrap_or_else(|| {
            self.end += 1;
            self.end - 1
        })
    }

    fn give(&mut self, file: u64) {
        self.gaps.insert(file);
    }
}

/// The chunks of a sparse frame.
pub(super) struct Sparse {
    directory: Box<dyn Directory>,
    can_write: bool,
    settings: Settings,
    /// As they were committed last.
    header: Vec<u8>,
    trailer: Trailer,
    index: Index,
    hashes: Option<Hashes>,
    /// The numbers that a new file can have.
    free: FreeNumbers,
    /// The files that have been written since the last commit and that the index names.
    fresh: BTreeSet<u64>,
    /// The files that the committed index names, and the one with all changes does not.
    dropped: Vec<u64>,
    /// Whether several chunks may be in one file; none is removed then.
    is_shared: bool,
    /// What the used files hold together.
    cbytes: u64,
    foreign: Foreign,
    /// The file that was read last: a chunk is read in several parts.
    recent: Mutex<Option<(u64, Arc<dyn ReadAt>)>>,
    /// Whether all names that have been found survive a loss of power.
    is_settled: bool,
    is_poisoned: bool,
}

/// What a commit makes of the file with the index.
struct Rendered {
    header: Vec<u8>,
    index: Packed,
    trailer: Trailer,
    /// All of it.
    bytes: Vec<u8>,
}

impl Sparse {
    /// Begins a frame in an empty directory: there is none before the first commit.
    pub(super) fn begin_new(directory: Box<dyn Directory>, settings: Settings) -> Result<Self> {
        let store = Self {
            directory,
            can_write: true,
            settings,
            header: Vec::new(),
            trailer: Trailer::default(),
            index: Index::new(),
            hashes: settings.checksums.then(Hashes::default),
            free: FreeNumbers::default(),
            fresh: BTreeSet::new(),
            dropped: Vec::new(),
            is_shared: false,
            cbytes: 0,
            foreign: Foreign::default(),
            recent: Mutex::default(),
            is_settled: true,
            is_poisoned: false,
        };
        if store.directory.open(INDEX_NAME).is_ok() {
            bail!(InvalidArgument, "a frame is to be made where there is one already");
        }
        Ok(store)
    }

    pub(super) fn open(
        mut directory: Box<dyn Directory>,
        can_write: bool,
        settings: Settings,
    ) -> Result<(Self, State)> {
        let source = directory.open(INDEX_NAME).map_err(|cause| at_file(INDEX_NAME, cause))?;
        let opened = open::open(&*source, 0, settings.limits)?;
        if !opened.extent.is_sparse {
            bail!(Corrupt, "frame: {INDEX_NAME} says that its chunks are in itself");
        }
        if can_write {
            directory.keep_permissions_of(INDEX_NAME).map_err(|cause| at_file(INDEX_NAME, cause))?;
        }
        let Opened { extent, state, index, header, trailer, integrity, .. } = opened;
        let foreign = integrity.foreign();
        let hashes = match (integrity.hashes, integrity.verdict) {
            (Some(stored), Some(_)) => Some(stored.load(&*source, 0, index.len(), settings.limits)?),
            _ if integrity.has_hashes => Some(Hashes::unknown(index.len())),
            _ => None,
        };
        let files = if can_write { files_of(index.entries()?) } else { BTreeSet::new() };
        let is_shared = can_write && files.len() < index.entries()?.filter_map(Entry::place).count();
        let cbytes = extent.section_len;
        let store = Self {
            directory,
            can_write,
            settings,
            header,
            trailer,
            index,
            hashes,
            free: FreeNumbers::besides(&files),
            fresh: BTreeSet::new(),
            dropped: Vec::new(),
            is_shared,
            cbytes,
            foreign,
            recent: Mutex::default(),
            is_settled: false,
            is_poisoned: false,
        };
        Ok((store, state))
    }

    fn guarded<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.check_writable()?;
        let result = action(self);
        self.is_poisoned = matches!(&result, Err(error) if error.kind() == ErrorKind::Io);
        if self.is_poisoned {
            self.remove_fresh();
        }
        result
    }

    fn check_writable(&self) -> Result<()> {
        if self.is_poisoned {
            bail!(Poisoned, "an earlier write has failed: open the frame again");
        }
        if !self.can_write {
            bail!(InvalidArgument, "the frame is open for reading only");
        }
        Ok(())
    }

    /// Removes what was written since the last commit and will never count.
    fn remove_fresh(&mut self) {
        for &file in &self.fresh {
            // A file that stays does no harm, and a failure that led here is what the caller is told.
            let _ = self.directory.remove(&file_name(file));
        }
    }

    fn is_durable(&self) -> bool {
        self.settings.durability == Durability::Fsync
    }

    /// Writes a file of its own for a chunk; its entry and its hash.
    fn store(&mut self, chunk: NewChunk<'_>) -> Result<(Entry, u64)> {
        let bytes = match chunk {
            NewChunk::Special(special) => {
                self.check_writable()?;
                return Ok((Entry::Special(special), UNKNOWN));
            }
            NewChunk::Bytes(bytes) => bytes,
        };
        if bytes.len() < MIN_CHUNK {
            bail!(InvalidArgument, "a frame takes chunks of {MIN_CHUNK} bytes or more, this has {}", bytes.len());
        }
        self.check_writable()?;
        let file = self.free.take();
        self.guarded(|store| store.write_file(&file_name(file), bytes))?;
        self.fresh.insert(file);
        self.cbytes += bytes.len() as u64;
        Ok((Entry::At(file), if self.hashes.is_some() { checksums::of_chunk(bytes) } else { UNKNOWN }))
    }

    /// Makes the names survive that another process has given before it was killed: an index that is only in the memory of
    /// the system may give way to an older one, whose files must still be there.
    fn settle(&mut self) -> Result<()> {
        if !self.is_settled && self.is_durable() {
            self.directory.sync()?;
        }
        self.is_settled = true;
        Ok(())
    }

    fn write_file(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.settle()?;
        self.forget_recent();
        let written = self.directory.create(name).and_then(|mut file| {
            file.write_at(0, bytes)?;
            if self.is_durable() { file.sync() } else { Ok(()) }
        });
        written.map_err(|cause| {
            // Half a file is no use to anybody; that it cannot be removed either is not the news.
            let _ = self.directory.remove(name);
            at_file(name, cause)
        })
    }

    /// What the file of a chunk holds; nothing if there is none.
    fn stored_len(&self, entry: Entry) -> Result<u64> {
        let Entry::At(file) = entry else { return Ok(0) };
        let name = file_name(file);
        match self.directory.open(&name).and_then(|file| file.len()) {
            Ok(len) => Ok(len),
            Err(cause) if cause.kind() == NotFound => Ok(0),
            Err(cause) => Err(at_file(&name, cause)),
        }
    }

    /// Forgets a file of `len` bytes that no entry names any more; one that counts is kept until the next commit.
    fn release(&mut self, entry: Entry, len: u64) -> Result<()> {
        let Entry::At(file) = entry else { return Ok(()) };
        if self.fresh.contains(&file) {
            self.guarded(|store| store.remove_files(&[file]))?;
            self.fresh.remove(&file);
        } else if !self.is_shared {
            self.dropped.push(file);
        }
        self.cbytes = self.cbytes.saturating_sub(len);
        Ok(())
    }

    fn commit_guarded(&mut self, state: &State) -> Result<()> {
        let Rendered { header, index, trailer, bytes } = self.render(state)?;
        if self.is_durable() {
            self.directory.sync()?;
        }
        self.write_file(NEW_INDEX_NAME, &bytes)?;
        self.rename_index()?;
        // Either index may be the one that survives before the next line has succeeded: what both name is kept.
        self.fresh.clear();
        self.header = header;
        self.trailer = trailer;
        self.index.set_committed(index);
        self.foreign = Foreign::default();
        if self.is_durable() {
            self.directory.sync()?;
        }
        let dropped = std::mem::take(&mut self.dropped);
        self.remove_files(&dropped)
    }

    /// Header, index and trailer.
    fn render(&mut self, state: &State) -> Result<Rendered> {
        let index = self.index.pack()?;
        let has_vlmetalayers = self.hashes.is_some() || !state.vlmetalayers.is_empty();
        let mut trailer = Trailer::new(state.vlmetalayers.chunks(), self.hashes.as_mut())?;
        let header_len = header::write(state, 0, 0, true, has_vlmetalayers)?.len();
        let frame_len = (header_len + index.len() + trailer.len()) as u64;
        let header = header::write(state, frame_len, self.cbytes, true, has_vlmetalayers)?;
        trailer.put_fingerprint(&header, index.digest());
        let hashes = self.hashes.as_ref().map(Hashes::as_bytes).unwrap_or_default();
        let (before, after) = trailer.parts();
        let bytes = [&header[..], index.bytes(), before, hashes, after].concat();
        Ok(Rendered { header, index, trailer, bytes })
    }

    /// Puts the new index in place of the old one.
    fn rename_index(&mut self) -> Result<()> {
        self.directory.rename(NEW_INDEX_NAME, INDEX_NAME).map_err(|cause| {
            let is_still_there = self.directory.remove(NEW_INDEX_NAME).is_ok();
            if !is_still_there {
                // It has been renamed after all, or nobody knows: its files are not to be removed.
                self.fresh.clear();
            }
            at_file(INDEX_NAME, cause)
        })
    }

    /// Removes files that no longer count, all that can be removed.
    fn remove_files(&mut self, files: &[u64]) -> Result<()> {
        self.forget_recent();
        let mut result = Ok(());
        for &file in files {
            let name = file_name(file);
            match self.directory.remove(&name) {
                Err(cause) if cause.kind() != NotFound => result = result.and(Err(at_file(&name, cause))),
                _ => self.free.give(file),
            }
        }
        result
    }

    /// A number may stand for another file from now on.
    fn forget_recent(&mut self) {
        *lock(&self.recent) = None;
    }

    fn open_chunk(&self, index: usize) -> Result<(String, Arc<dyn ReadAt>)> {
        let file = match self.index.entry(index)? {
            Entry::At(file) => file,
            Entry::Special(special) => bail!(InvalidArgument, "chunk {index} is not stored, it is {special:?}"),
        };
        if self.is_poisoned && self.fresh.contains(&file) {
            // It has been removed.
            self.check_writable()?;
        }
        let name = file_name(file);
        if let Some((number, source)) = &*lock(&self.recent)
            && *number == file
        {
            return Ok((name, Arc::clone(source)));
        }
        let source: Arc<dyn ReadAt> = self.directory.open(&name).map_err(|cause| at_chunk_file(&name, cause))?.into();
        *lock(&self.recent) = Some((file, Arc::clone(&source)));
        Ok((name, source))
    }

    fn entry(&self, index: usize) -> Result<Entry> {
        self.index.entry(index)
    }
}

fn files_of(entries: impl Iterator<Item = Entry>) -> BTreeSet<u64> {
    entries.filter_map(Entry::place).collect()
}

/// The name of a chunk's file.
pub(super) fn file_name(file: u64) -> String {
    format!("{file:08X}.chunk")
}

fn at_file(name: &str, cause: std::io::Error) -> crate::error::Error {
    error!(Io, "{name}: {cause}").with_source(cause)
}

/// Why the file of a chunk cannot be opened. That a frame is without one of its files is damage, and no fault of the disk.
fn at_chunk_file(name: &str, cause: std::io::Error) -> crate::error::Error {
    if cause.kind() == NotFound {
        return error!(Corrupt, "{name}: its file is not there").with_source(cause);
    }
    if cause.kind() == InvalidInput {
        return error!(Corrupt, "{name}: {cause}").with_source(cause);
    }
    at_file(name, cause)
}

impl ChunkStore for Sparse {
    fn nchunks(&self) -> usize {
        self.index.len()
    }

    fn cbytes(&self) -> u64 {
        self.cbytes
    }

    fn min_chunk(&self) -> usize {
        MIN_CHUNK
    }

    fn slot(&self, index: usize) -> Result<Slot> {
        Ok(match self.entry(index)? {
            Entry::Special(special) => Slot::Special(special),
            Entry::At(_) => Slot::Stored,
        })
    }

    fn read_head(&self, index: usize, len: usize, out: &mut Vec<u8>) -> Result<usize> {
        let (name, source) = self.open_chunk(index)?;
        let there = source.len().map_err(|cause| at_file(&name, cause))?;
        let len = usize::try_from(there).unwrap_or(usize::MAX).min(len);
        if out.len() < len {
            out.resize(len, 0);
        }
        read_exact(&*source, 0, &mut out[..len], &name)?;
        Ok(len)
    }

    fn read_part(&self, index: usize, position: usize, out: &mut [u8]) -> Result<()> {
        let (name, source) = self.open_chunk(index)?;
        read_exact(&*source, position as u64, out, &name)
    }

    fn read(&self, index: usize, out: &mut Vec<u8>) -> Result<()> {
        let (name, source) = self.open_chunk(index)?;
        let mut head = [0; MIN_CHUNK];
        read_exact(&*source, 0, &mut head, &name)?;
        let header = Header::parse(&head)?;
        let there = source.len().map_err(|cause| at_file(&name, cause))?;
        if header.cbytes() as u64 > there {
            bail!(Truncated, "{name}: the chunk has {} bytes, {there} are there", header.cbytes());
        }
        self.settings.limits.check("a chunk", header.cbytes())?;
        out.clear();
        out.resize(header.cbytes(), 0);
        read_exact(&*source, 0, out, &name)
    }

    fn insert(&mut self, index: usize, chunk: NewChunk<'_>) -> Result<()> {
        let (entry, hash) = self.store(chunk)?;
        if let Some(hashes) = &mut self.hashes {
            hashes.insert(index, hash);
        }
        self.index.insert(index, entry)
    }

    fn replace(&mut self, index: usize, chunk: NewChunk<'_>) -> Result<()> {
        self.check_writable()?;
        let old = self.entry(index)?;
        let old_len = self.stored_len(old)?;
        let (entry, hash) = self.store(chunk)?;
        if let Some(hashes) = &mut self.hashes {
            hashes.replace(index, hash);
        }
        self.index.replace(index, entry)?;
        self.release(old, old_len)
    }

    fn remove(&mut self, index: usize) -> Result<()> {
        self.check_writable()?;
        let old = self.entry(index)?;
        let old_len = self.stored_len(old)?;
        if let Some(hashes) = &mut self.hashes {
            hashes.remove(index);
        }
        self.index.remove(index)?;
        self.release(old, old_len)
    }

    fn stage(&mut self, chunk: Vec<u8>) -> Result<Staged> {
        match self.store(NewChunk::Bytes(&chunk))? {
            (Entry::At(entry), hash) => Ok(Staged::At { entry, hash }),
            (Entry::Special(special), _) => Ok(Staged::Special(special)),
        }
    }

    fn unstage(&mut self, staged: Staged) {
        let Ok((entry, _)) = arrange::staged_entry(&staged) else { return };
        // A file that is left over does no harm; `compact` removes it.
        let _ = self.stored_len(entry).and_then(|len| self.release(entry, len));
    }

    fn put(&mut self, index: usize, staged: Staged) -> Result<()> {
        self.check_writable()?;
        let old = self.entry(index)?;
        let old_len = self.stored_len(old)?;
        let (entry, hash) = arrange::staged_entry(&staged)?;
        if let Some(hashes) = &mut self.hashes {
            hashes.replace(index, hash);
        }
        self.index.replace(index, entry)?;
        self.release(old, old_len)
    }

    fn arrange(&mut self, kept: usize, sources: Vec<Source>) -> Result<()> {
        self.check_writable()?;
        let gone = arrange::arrange(kept, &sources, &mut self.index, self.hashes.as_mut())?;
        // Another program may have given two chunks one file.
        let still_there = files_of(self.index.entries_from(kept)?);
        let is_gone = |entry: &Entry| entry.place().is_some_and(|file| !still_there.contains(&file));
        gone.into_iter().filter(is_gone).try_for_each(|old| {
            let len = self.stored_len(old)?;
            self.release(old, len)
        })
    }

    fn commit(&mut self, state: &State) -> Result<()> {
        self.guarded(|store| store.commit_guarded(state))
    }

    /// Removes files that nothing names: what a crash left behind.
    fn compact(&mut self, _state: &State) -> Result<()> {
        self.guarded(|store| {
            store.settle()?;
            let known: BTreeSet<String> = files_of(store.index.entries()?).into_iter().map(file_name).collect();
            for name in store.directory.names()? {
                let is_ours = name == NEW_INDEX_NAME || is_chunk_name(&name);
                if is_ours && !known.contains(&name) {
                    store.directory.remove(&name).map_err(|cause| at_file(&name, cause))?;
                }
            }
            Ok(())
        })
    }

    fn foreign(&self) -> Foreign {
        self.foreign
    }

    fn hash(&self, index: usize) -> Option<u64> {
        self.hashes.as_ref()?.get(index)
    }

    fn compare(&self, index: usize, bytes: &[u8]) -> Result<()> {
        checksums::check_chunk(self.hash(index), bytes)
    }

    fn has_hashes(&self) -> bool {
        self.hashes.is_some()
    }

    fn position(&self, index: usize) -> Result<Option<u64>> {
        Ok(match self.entry(index)? {
            Entry::At(file) => Some(file),
            Entry::Special(_) => None,
        })
    }

    fn header(&self) -> &[u8] {
        &self.header
    }

    fn rollback(&mut self) -> Result<State> {
        if self.is_poisoned {
            bail!(Poisoned, "an earlier write has failed: open the frame again");
        }
        if self.header.is_empty() {
            bail!(InvalidArgument, "nothing has been committed yet");
        }
        // Should this fail, the changes are still there, and must not be committed.
        self.is_poisoned = true;
        self.remove_fresh();
        let directory = std::mem::replace(&mut self.directory, Box::new(MemoryDirectory::new()));
        let (store, state) = Self::open(directory, self.can_write, self.settings)?;
        *self = store;
        Ok(state)
    }

    fn reload(&mut self) -> Result<Option<State>> {
        if self.can_write {
            return Ok(None);
        }
        let source = self.directory.open(INDEX_NAME).map_err(|cause| at_file(INDEX_NAME, cause))?;
        let opened = open::open(&*source, 0, self.settings.limits)?;
        // The lengths in the header are the same after many a change.
        if opened.header == self.header
            && opened.trailer == self.trailer
            && opened.index.committed() == self.index.committed()
        {
            return Ok(None);
        }
        let foreign = opened.integrity.foreign();
        self.hashes = match (opened.integrity.hashes, opened.integrity.verdict) {
            (Some(stored), Some(_)) => Some(stored.load(&*source, 0, opened.index.len(), self.settings.limits)?),
            _ => None,
        };
        self.forget_recent();
        self.header = opened.header;
        self.trailer = opened.trailer;
        self.cbytes = opened.extent.section_len;
        self.foreign = foreign;
        self.index = opened.index;
        Ok(Some(opened.state))
    }
}

fn is_chunk_name(name: &str) -> bool {
    file_number(name).is_some()
}

/// The number of the chunk's file that has this name.
pub(super) fn file_number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".chunk")?;
    let is_ours = number.len() == 8 && number.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'));
    u64::from_str_radix(number, 16).ok().filter(|_| is_ours)
}
