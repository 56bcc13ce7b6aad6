//! Writing a packed super-chunk, new or one that is there.

use super::assembly::Assembly;
use super::encoder::Encoder;
use super::header::PackedSpecial;
use super::options::{PackedOptions, PackedRelease};
use super::reader::PackedSuperChunk;
use crate::error::{AtPath, Result};
use crate::limits::Limits;
use crate::storage::{Durability, FileStorage, MemoryStorage, ReadAt, Storage};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the chunks of the second alpha.
const ALPHA2_CHUNKS: u8 = 2;

/// Adds buffers to a packed super-chunk.
///
/// [`commit`](Self::commit) publishes everything that was appended since the last one; a writer
/// that is dropped takes back what has not been committed. A crash at any moment leaves the
/// super-chunk as it was after one of the commits. After a write that failed, the writer refuses to
/// do anything more.
///
/// Each commit to a super-chunk that is there leaves its former offset table behind as unused
/// bytes; [`PackedSuperChunk::copy_to`] makes a copy without them.
///
/// ```
/// use blosc_oxide::{storage::MemoryStorage, legacy::{PackedOptions, PackedSuperChunk, PackedWriter}};
/// let memory = MemoryStorage::default();
/// let mut writer = PackedWriter::create_in(&memory, PackedOptions::new(4))?;
/// writer.append(&[7; 4000])?;
/// writer.commit()?;
/// drop(writer);
///
/// let mut writer = PackedWriter::open_in(&memory, 4)?;
/// writer.append(&[8; 4000])?;
/// drop(writer);
/// assert_eq!(PackedSuperChunk::open_in(&memory)?.nbytes()?, 4000);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct PackedWriter<S: Storage> {
    assembly: Assembly<S>,
    encoder: Encoder,
    /// Special chunks that come before the first data chunk.
    waiting: BTreeMap<PackedSpecial, Vec<u8>>,
}

impl PackedWriter<FileStorage> {
    /// Makes a super-chunk in a new file; there must be nothing at `path` yet.
    ///
    /// # Errors
    /// As [`create_in`](Self::create_in); `Io` if the file cannot be made.
    pub fn create(path: impl AsRef<Path>, options: PackedOptions) -> Result<Self> {
        let path = path.as_ref();
        Self::create_in(FileStorage::create_new(path).at_path(path)?, options).at_path(path)
    }

    /// Opens a file with a super-chunk to append to, as [`open_in`](Self::open_in) does.
    ///
    /// # Errors
    /// As [`open_in`](Self::open_in); `Io` if the file cannot be opened.
    pub fn open(path: impl AsRef<Path>, typesize: usize) -> Result<Self> {
        let path = path.as_ref();
        Self::open_in(FileStorage::open_writable(path).at_path(path)?, typesize).at_path(path)
    }
}

impl<S: Storage> PackedWriter<S> {
    /// Makes a super-chunk in an empty storage.
    ///
    /// # Errors
    /// `InvalidArgument` if the storage is not empty or an option is out of its range,
    /// `Unsupported` if this build is without the codec, `Io` if the storage cannot be written.
    pub fn create_in(storage: S, mut options: PackedOptions) -> Result<Self> {
        let header = options.header()?;
        let waiting = options.take_specials()?;
        let mut encoder = Encoder::new(options)?;
        if let Some(reference) = waiting.get(&PackedSpecial::Filters) {
            encoder.set_reference(reference.clone());
        }
        Ok(Self { assembly: Assembly::create(storage, header)?, encoder, waiting })
    }

    /// Goes on with the super-chunk that `storage` starts with, with its codec, level and filters.
    /// It does not keep the size of an item, so that must be given; what follows the super-chunk is
    /// lost.
    ///
    /// # Errors
    /// As [`PackedSuperChunk::open_in`]; as [`create_in`](Self::create_in) if it has a codec or
    /// filters that cannot be written.
    pub fn open_in(storage: S, typesize: usize) -> Result<Self> {
        Self::open_with_limits(storage, typesize, Limits::new())
    }

    /// The same, within other limits.
    ///
    /// # Errors
    /// As [`open_in`](Self::open_in).
    pub fn open_with_limits(storage: S, typesize: usize, limits: Limits) -> Result<Self> {
        let packed = PackedSuperChunk::open_with_limits(&storage, limits)?;
        let options = PackedOptions::of_header(packed.header(), typesize, release_of(&packed)?)?;
        let mut encoder = Encoder::new(options)?;
        if encoder.lacks_reference()
            && let Some(reference) = packed.special(PackedSpecial::Filters)?
        {
            encoder.set_reference(reference);
        }
        let (header, offsets) = packed.into_parts();
        let assembly = Assembly::resume(storage, header, offsets, limits)?;
        Ok(Self { assembly, encoder, waiting: BTreeMap::new() })
    }

    /// Sets what a commit survives.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.assembly.set_durability(durability);
        self
    }

    /// The number of data chunks, committed or not.
    #[must_use]
    pub fn nchunks(&self) -> usize {
        self.assembly.nchunks()
    }

    /// Appends the data of one chunk. It is there for readers after the next
    /// [`commit`](Self::commit).
    ///
    /// # Errors
    /// `InvalidArgument` if the data is too long for a chunk, `Io` if the storage cannot be
    /// written, `Poisoned` after that. `Locked` if another handle or process is changing the
    /// super-chunk, `Conflict` if one has made another of it. Nothing has been appended then.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        if self.assembly.begin()?
            && self.encoder.lacks_reference()
            && let Some(reference) = self.assembly.special(PackedSpecial::Filters)?
        {
            self.encoder.set_reference(reference);
        }
        let (mark, lacks_reference) = (self.assembly.mark(), self.encoder.lacks_reference());
        let waiting = self.waiting.clone();
        self.append_chunk(data).inspect_err(|_| {
            self.assembly.go_back(mark);
            self.waiting = waiting;
            if lacks_reference {
                self.encoder.forget_reference();
            }
        })
    }

    fn append_chunk(&mut self, data: &[u8]) -> Result<()> {
        if self.encoder.lacks_reference() {
            self.assembly.put_special(PackedSpecial::Filters, &self.encoder.reference_chunk(data)?)?;
            self.encoder.set_reference(data.to_vec());
        }
        self.put_waiting()?;
        let chunk = self.encoder.data_chunk(data)?;
        self.assembly.put_data(&chunk)
    }

    /// Publishes everything that was appended.
    ///
    /// # Errors
    /// `Io` if the storage cannot be written, `Poisoned` after that. `Conflict` if somebody else
    /// has changed the super-chunk since the changes here began; nothing is written then.
    pub fn commit(&mut self) -> Result<()> {
        self.put_waiting()?;
        self.assembly.commit()
    }

    /// Takes back everything that was appended since the last commit. Dropping the writer does the
    /// same.
    pub fn abort(self) {}

    fn put_waiting(&mut self) -> Result<()> {
        while let Some((&kind, data)) = self.waiting.first_key_value() {
            let chunk = match kind {
                PackedSpecial::Filters => self.encoder.reference_chunk(data)?,
                _ => self.encoder.special_chunk(data)?,
            };
            self.assembly.put_special(kind, &chunk)?;
            self.waiting.pop_first();
        }
        Ok(())
    }
}

impl<S: Storage> Drop for PackedWriter<S> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.assembly.forget_changes();
        }
    }
}

/// The release that the chunks are from; the later one if there are none.
fn release_of<R: ReadAt>(packed: &PackedSuperChunk<R>) -> Result<PackedRelease> {
    if packed.nchunks() == 0 {
        return Ok(PackedRelease::default());
    }
    let is_alpha2 = packed.chunk_header(0)?.version() == ALPHA2_CHUNKS;
    Ok(if is_alpha2 { PackedRelease::Alpha2 } else { PackedRelease::Alpha4 })
}

impl PackedOptions {
    /// The packed super-chunk of these buffers.
    ///
    /// # Errors
    /// As [`PackedWriter::create_in`] and [`PackedWriter::append`].
    pub fn pack<B: AsRef<[u8]>>(&self, buffers: impl IntoIterator<Item = B>) -> Result<Vec<u8>> {
        let memory = MemoryStorage::default();
        let mut writer = PackedWriter::create_in(&memory, self.clone())?;
        for buffer in buffers {
            writer.append(buffer.as_ref())?;
        }
        writer.commit()?;
        drop(writer);
        Ok(memory.into_bytes())
    }
}
