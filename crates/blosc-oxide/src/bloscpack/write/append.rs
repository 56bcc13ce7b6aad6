//! Data added to a file that is there already.

use super::edit;
use super::extend::{Extension, Old};
use super::packer::Packer;
use super::writer::{BloscpackWriter, Summary};
use crate::bloscpack::format::layout::Layout;
use crate::bloscpack::options::{DEFAULT_CHUNK_SIZE, MAX_CHUNK_SIZE, whole_items};
use crate::bloscpack::read::reader::{Bloscpack, ReadOptions};
use crate::chunk::{Format, Options};
use crate::error::{AtPath, Result, bail};
use crate::exec::Threads;
use crate::filter::Pipeline;
use crate::limits::Limits;
use crate::storage::{Directory as _, FileDirectory, FileStorage, ReadAt, Storage};
use std::ffi::OsString;
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// How data is appended.
///
/// | option | default |
/// |---|---|
/// | how new chunks are compressed | as the last chunk is, at level 5 |
/// | chunk size | that of the file; it can only be chosen where the file does not say it or has no more than one chunk |
/// | metadata | left as it is |
/// | rewrite | off: a table of offsets without room is an error |
/// | room for appending after a rewrite | ten times the chunks that the file had room for |
///
/// ```
/// use blosc_oxide::bloscpack::{AppendOptions, Bloscpack, BloscpackOptions, append, pack_to_storage};
/// use blosc_oxide::{Options, storage::MemoryStorage};
/// let mut storage = MemoryStorage::default();
/// pack_to_storage(&b"data"[..], &mut storage, &BloscpackOptions::new(Options::new(1)))?;
/// append(&mut storage, &b" and more"[..], &AppendOptions::new())?;
/// assert_eq!(Bloscpack::from_storage(storage)?.read_range(0..13)?, b"data and more");
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppendOptions {
    chunk: Option<Options>,
    chunk_size: Option<usize>,
    metadata: Option<String>,
    rewrite: bool,
    spare: Option<PathBuf>,
    room: Option<u64>,
    threads: Threads,
    limits: Limits,
}

impl AppendOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how new chunks are compressed. They may be unlike those that are there.
    #[must_use]
    pub fn with_chunk(mut self, options: Options) -> Self {
        self.threads = options.threads.clone();
        self.chunk = Some(options.with_format(Format::Blosc1));
        self
    }

    /// Sets how many bytes of data a chunk holds, for a file that does not say it or has no more
    /// than one chunk.
    #[must_use]
    pub fn with_chunk_size(mut self, bytes: usize) -> Self {
        self.chunk_size = Some(bytes);
        self
    }

    /// Sets metadata that takes the place of the old at the same instant as the data is there.
    #[must_use]
    pub fn with_metadata(mut self, json: impl Into<String>) -> Self {
        self.metadata = Some(json.into());
        self
    }

    /// Sets whether the file is written anew, with a longer table, when its table of offsets has no
    /// room.
    #[must_use]
    pub fn with_rewrite(mut self, rewrite: bool) -> Self {
        self.rewrite = rewrite;
        self
    }

    /// Sets where a file is written anew, instead of under a hidden name beside the old one: on the
    /// same file system. A file that is there already is overwritten, whether the room is needed or
    /// not, and gone afterwards.
    #[must_use]
    pub fn with_spare(mut self, path: impl Into<PathBuf>) -> Self {
        self.spare = Some(path.into());
        self
    }

    /// Sets for how many more chunks there is room after a rewrite.
    #[must_use]
    pub fn with_room(mut self, chunks: u64) -> Self {
        self.room = Some(chunks);
        self
    }

    /// Sets where chunks are worked on.
    #[must_use]
    pub fn with_threads(mut self, threads: Threads) -> Self {
        self.threads = threads;
        self
    }

    /// Sets what a declared size may make it allocate.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How new chunks are compressed; `None` is as the last chunk is.
    #[must_use]
    pub fn chunk(&self) -> Option<&Options> {
        self.chunk.as_ref()
    }

    /// How many bytes of data a chunk is to hold; `None` is what the file says.
    #[must_use]
    pub fn chunk_size(&self) -> Option<usize> {
        self.chunk_size
    }

    /// The metadata that takes the place of the old.
    #[must_use]
    pub fn metadata(&self) -> Option<&str> {
        self.metadata.as_deref()
    }

    /// Whether the file is written anew when its table of offsets has no room.
    #[must_use]
    pub fn rewrite(&self) -> bool {
        self.rewrite
    }

    /// Where a file is written anew; `None` is under a hidden name beside the old one.
    #[must_use]
    pub fn spare(&self) -> Option<&Path> {
        self.spare.as_deref()
    }

    /// For how many more chunks there is room after a rewrite.
    #[must_use]
    pub fn room(&self) -> Option<u64> {
        self.room
    }

    /// The threads that chunks are worked on by.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Limits for what a declared size may allocate.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }
}

/// Appends all that comes out of `data` to the file in `storage`. Whenever it is interrupted, the
/// file has either the old or the new content.
///
/// # Errors
/// `InvalidArgument` if the table of offsets has no room, with how many chunks still fit; as
/// [`Bloscpack::from_storage`] and [`Bloscpack::chunk`] if the file is damaged; whatever `data` and
/// the storage report.
pub fn append(storage: &mut dyn Storage, data: impl Read, options: &AppendOptions) -> Result<Summary> {
    extend(storage, None, data, options).map(|(summary, _)| summary)
}

/// As [`append`], but when the table of offsets has no room, the whole file is written to `spare`,
/// in place of what that holds, and `storage` keeps the old content. The second value says whether
/// that was so.
///
/// # Errors
/// As [`append`].
pub fn append_or_rewrite(
    storage: &mut dyn Storage,
    spare: &mut dyn Storage,
    data: impl Read,
    options: &AppendOptions,
) -> Result<(Summary, bool)> {
    extend(storage, Some(spare), data, options)
}

/// As [`append`], to the file at `path`. With [`AppendOptions::rewrite`] a file without room is
/// written anew beside the old one, which it then takes the place of; if `path` is a link, the file
/// that it leads to does.
///
/// # Errors
/// As [`append`]; `InvalidArgument` if [`AppendOptions::spare`] is the file itself.
pub fn append_to_file(path: impl AsRef<Path>, data: impl Read, options: &AppendOptions) -> Result<Summary> {
    let path = path.as_ref();
    let mut file = open_alone(path)?;
    if !options.rewrite {
        return append(&mut file, data, options);
    }
    let path = &fs::canonicalize(path).at_path(path)?;
    let beside = match &options.spare {
        Some(spare) if fs::canonicalize(spare).is_ok_and(|spare| spare == *path) => {
            bail!(InvalidArgument, "{}: a file cannot be written anew where it is", spare.display());
        }
        Some(spare) => Beside { path: spare.clone() },
        None => Beside::of(path),
    };
    let mut spare = beside.create()?;
    let (summary, is_rewritten) = append_or_rewrite(&mut file, &mut spare, data, options)?;
    if is_rewritten {
        drop(spare);
        beside.replace(path)?;
    }
    Ok(summary)
}

/// Opens a file that no one else may append to meanwhile.
fn open_alone(path: &Path) -> Result<FileStorage> {
    let file = FileStorage::open_writable(path).at_path(path)?.into_file();
    // Where there are no locks, an error of another kind, there is nothing to wait for either.
    let is_locked = matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock));
    if is_locked || was_replaced(path, &file).at_path(path)? {
        bail!(Locked, "{}: another process is appending to it", path.display());
    }
    Ok(FileStorage::from(file))
}

/// Whether `path` is no longer the file that was opened: another process has written it anew.
#[cfg(unix)]
fn was_replaced(path: &Path, file: &fs::File) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (now, opened) = (fs::metadata(path)?, file.metadata()?);
    Ok((now.dev(), now.ino()) != (opened.dev(), opened.ino()))
}

/// Elsewhere a file that is open cannot be replaced.
#[cfg(not(unix))]
fn was_replaced(_: &Path, _: &fs::File) -> std::io::Result<bool> {
    Ok(false)
}

/// A file beside another, which goes away unless it takes the place of the other.
struct Beside {
    path: PathBuf,
}

impl Beside {
    fn of(path: &Path) -> Self {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".rewrite-{}", std::process::id()));
        Self { path: path.with_file_name(name) }
    }

    /// Makes it, in place of one that may be there: a link with its name is not followed.
    fn create(&self) -> Result<FileStorage> {
        match fs::remove_file(&self.path) {
            Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => Err(cause.into()),
            _ => Ok(FileStorage::create_new(&self.path)?),
        }
    }

    fn replace(&self, path: &Path) -> Result<()> {
        fs::set_permissions(&self.path, fs::metadata(path)?.permissions())?;
        fs::rename(&self.path, path)?;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        FileDirectory::new(directory).sync()?;
        Ok(())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = fs::remove_file(&self.path);
    }
}

fn extend<'a>(
    storage: &'a mut dyn Storage,
    spare: Option<&'a mut dyn Storage>,
    mut data: impl Read,
    options: &AppendOptions,
) -> Result<(Summary, bool)> {
    let layout = edit::ready(storage, options.limits)?;
    let mut first = Vec::new();
    data.by_ref().take(1).read_to_end(&mut first)?;
    if first.is_empty() {
        return without_data(storage, &layout, options).map(|summary| (summary, false));
    }
    let (old, carried, chunk) = read_old(storage, &layout, options)?;
    // A journal is looked for at the end of the file, so nothing may stand behind it.
    if layout.len > old.end {
        storage.set_len(old.end)?;
    }
    let section = match &options.metadata {
        Some(json) => Some(edit::metadata_patch(storage, &layout, json)?),
        None => None,
    };
    let checksum = layout.header.checksum();
    let packer = Packer::new(&chunk, &options.threads, old.chunk_size, checksum)?;
    let nbytes_before = old.nbytes - carried.len() as u64;
    let capacity = layout.table.map_or(u64::MAX, |table| table.entries());
    let extension = Extension::new(storage, spare, layout, old, section, options.room, options.limits);
    let mut writer = BloscpackWriter::new(packer, Box::new(extension));
    writer.push(&carried)?;
    writer.push_all(Cursor::new(first).chain(data))?;
    let mut summary = writer.finish()?;
    summary.nbytes += nbytes_before;
    summary.nchunks = summary.header.nchunks().unwrap_or(summary.nchunks);
    Ok((summary, summary.nchunks > capacity))
}

fn without_data(storage: &mut dyn Storage, layout: &Layout, options: &AppendOptions) -> Result<Summary> {
    if let Some(json) = &options.metadata {
        edit::replace_metadata(storage, json, options.limits)?;
    }
    let file = Bloscpack::with_options(storage as &dyn ReadAt, read_options(options))?;
    let (nbytes, nchunks) = (file.nbytes()?, file.nchunks()?);
    Ok(Summary { header: layout.header, nbytes, nchunks, len: layout.len })
}

fn read_options(options: &AppendOptions) -> ReadOptions {
    ReadOptions::new().with_limits(options.limits).with_threads(options.threads.clone())
}

/// What the file holds, the data of the last chunk if that is to be filled up, and how to compress
/// new ones.
fn read_old(storage: &dyn Storage, layout: &Layout, options: &AppendOptions) -> Result<(Old, Vec<u8>, Options)> {
    let file = Bloscpack::with_options(storage as &dyn ReadAt, read_options(options))?;
    let nchunks = file.nchunks()?;
    let last = match nchunks.checked_sub(1) {
        Some(index) => Some(file.place(index)?),
        None => None,
    };
    let last_header = last.map(|place| place.header);
    let typesize = last_header.map_or(usize::from(layout.header.typesize()), |header| header.typesize());
    let chunk_size = chunk_size(&file, last_header.map(|header| header.nbytes()), typesize, options)?;
    // A single chunk can also be longer than those that are wanted from now on.
    let is_full = last_header.is_none_or(|header| header.nbytes() == chunk_size);
    let fills_up = layout.header.chunk_size().is_some() && !is_full;
    let end = last.map_or(layout.chunks_at, |place| place.end);
    let (kept, start, carried) = match last {
        Some(place) if fills_up => (nchunks - 1, place.at, file.chunk(place.index)?),
        _ => (nchunks, end, Vec::new()),
    };
    let chunk = match &options.chunk {
        Some(chunk) => chunk.clone(),
        None => like_the_last(last_header.as_ref(), typesize),
    };
    let positions = file.positions_to_fill_in(kept)?;
    Ok((Old { kept, start, end, chunk_size, nbytes: file.nbytes()?, positions }, carried, chunk))
}

/// The size of new chunks.
fn chunk_size(
    file: &Bloscpack<&dyn ReadAt>,
    last: Option<usize>,
    typesize: usize,
    options: &AppendOptions,
) -> Result<usize> {
    let wanted = options.chunk_size.map(|size| whole_items(size, typesize));
    if options.chunk_size == Some(0) || wanted.is_some_and(|size| size > MAX_CHUNK_SIZE) {
        let size = options.chunk_size.unwrap_or_default();
        bail!(InvalidArgument, "chunk size is {size}, it can be 1 to {MAX_CHUNK_SIZE}");
    }
    let default = whole_items(DEFAULT_CHUNK_SIZE, typesize);
    let nchunks = file.nchunks()?;
    match file.header().chunk_size() {
        // Chunks may be of any size; those that are there show which is good.
        None if nchunks > 1 => Ok(wanted.unwrap_or(file.chunk_header(0)?.nbytes().max(1))),
        None => Ok(wanted.unwrap_or(default)),
        // One chunk that is full may have been cut to the length of a short input; it is written
        // anew in any case.
        Some(size) if nchunks <= 1 => {
            let is_cut = last.is_none_or(|last| last == size);
            Ok(wanted.unwrap_or(if is_cut { size.max(default) } else { size }))
        }
        Some(size) => match wanted {
            Some(wanted) if wanted != size => {
                bail!(InvalidArgument, "the chunks of the file have {size} bytes, new ones cannot have {wanted}")
            }
            _ => Ok(size),
        },
    }
}

/// Options that give chunks like one that is there; its level is not written down anywhere.
fn like_the_last(last: Option<&crate::chunk::Header>, typesize: usize) -> Options {
    let options = Options::new(typesize.max(1)).with_format(Format::Blosc1);
    match last {
        Some(header) if header.version() == 2 => {
            let filters = if header.is_memcpyed() { None } else { Some(header.pipeline()) };
            options.with_codec(header.codec()).with_pipeline(filters.unwrap_or_else(shuffle))
        }
        _ => options,
    }
}

fn shuffle() -> Pipeline {
    Pipeline::new(&[crate::filter::Filter::Shuffle]).unwrap_or_default()
}
