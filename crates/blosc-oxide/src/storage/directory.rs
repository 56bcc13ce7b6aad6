//! Directories of named storages, which sparse frames are kept in.

use super::plain::{PlainDirectory, PlainReader};
use super::rights::UnseenReader;
use super::{DirectoryReader, FileStorage, MemoryStorage, ReadAt, Storage, WriteRight};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Named storages side by side.
///
/// ```
/// use blosc_oxide::storage::{Directory, MemoryDirectory};
/// let directory = MemoryDirectory::new();
/// directory.create("a")?.write_at(0, b"data")?;
/// directory.rename("a", "b")?;
/// assert_eq!((directory.names()?, directory.open("b")?.len()?), (vec!["b".to_owned()], 4));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub trait Directory: Send + Sync {
    /// Opens one for reading.
    ///
    /// # Errors
    /// `NotFound` if it is not there; else what the operating system reports.
    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>>;

    /// Opens one for reading and writing.
    ///
    /// # Errors
    /// `NotFound` if it is not there; else what the operating system reports.
    fn open_writable(&self, name: &str) -> io::Result<Box<dyn Storage>>;

    /// Makes an empty one, in place of one that may be there.
    ///
    /// # Errors
    /// What the operating system reports.
    fn create(&self, name: &str) -> io::Result<Box<dyn Storage>>;

    /// Makes an empty one where there is none.
    ///
    /// # Errors
    /// `AlreadyExists` if there is one, or anything else that has the name; else what the operating
    /// system reports.
    fn create_new(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        match self.open(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.create(name),
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(error),
            _ => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Acquires the right to replace the file that has this name now, which is exclusive until it
    /// is dropped; `None` if another handle has it. Where nothing can be locked, everybody gets it.
    ///
    /// # Errors
    /// `NotFound` if it is not there; else what the operating system reports.
    fn own(&self, _name: &str) -> io::Result<Option<WriteRight>> {
        Ok(Some(WriteRight::unguarded()))
    }

    /// Registers a reader of the directory, so that others do not remove what it may still need.
    /// Where readers cannot see each other, none of them may take itself for the only one.
    ///
    /// # Errors
    /// What the operating system reports.
    fn reader(&self) -> io::Result<Box<dyn DirectoryReader>> {
        Ok(Box::new(UnseenReader))
    }

    /// Creates files with the permissions of this one from now on, where there are permissions.
    ///
    /// # Errors
    /// `NotFound` if it is not there; else what the operating system reports.
    fn keep_permissions_of(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    /// Removes one.
    ///
    /// # Errors
    /// `NotFound` if it is not there; else what the operating system reports.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Renames one, replacing another of that name, in one step.
    ///
    /// # Errors
    /// `NotFound` if it is not there; else what the operating system reports.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Exchanges the names of two files, in one step.
    ///
    /// # Errors
    /// `Unsupported` where this cannot be done; `NotFound` if one is not there; else what the
    /// operating system reports.
    fn exchange(&self, _one: &str, _other: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The names of all.
    ///
    /// # Errors
    /// What the operating system reports.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Makes what was created and removed so far survive a loss of power.
    ///
    /// # Errors
    /// What the operating system reports.
    fn sync(&self) -> io::Result<()>;
}

/// A directory of files.
///
/// Nothing in it is opened but its own regular files: symbolic links are not followed, and pipes,
/// devices, sockets and directories are refused. The path itself may lead through links. It is
/// opened when it is first used.
///
/// ```
/// use blosc_oxide::storage::FileDirectory;
/// use blosc_oxide::{Frame, Options};
/// # let path = std::env::temp_dir().join(format!("blosc-oxide-directory-{}", std::process::id()));
/// let mut edit = Frame::create(FileDirectory::create_new(&path)?, Options::new(1))?;
/// edit.append(b"in a file of its own")?;
/// edit.commit()?;
/// assert_eq!(Frame::open(FileDirectory::new(&path))?.nbytes(), 20);
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FileDirectory(PlainDirectory);

impl FileDirectory {
    /// The directory at `path`.
    #[must_use]
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self(PlainDirectory::new(path.as_ref()))
    }

    /// Makes a new directory, which must not be there yet.
    ///
    /// # Errors
    /// `AlreadyExists` if it is; else what the operating system reports.
    pub fn create_new(path: impl AsRef<Path>) -> io::Result<Self> {
        fs::create_dir(&path)?;
        Ok(Self::new(path))
    }
}

impl Directory for FileDirectory {
    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(FileStorage::from(self.0.open(name)?)))
    }

    fn open_writable(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(FileStorage::from(self.0.open_writable(name)?)))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(FileStorage::from(self.0.create(name)?)))
    }

    fn create_new(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(FileStorage::from(self.0.create_new(name)?)))
    }

    fn own(&self, name: &str) -> io::Result<Option<WriteRight>> {
        self.0.own(name)
    }

    fn reader(&self) -> io::Result<Box<dyn DirectoryReader>> {
        Ok(Box::new(self.0.reader()?))
    }

    fn keep_permissions_of(&self, name: &str) -> io::Result<()> {
        self.0.keep_permissions_of(name)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn exchange(&self, one: &str, other: &str) -> io::Result<()> {
        self.0.exchange(one, other)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.0.names()
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
}

impl DirectoryReader for PlainReader {
    fn is_only(&self) -> bool {
        Self::is_only(self)
    }
}

/// A directory in memory. Clones share what is in it.
///
/// ```
/// use blosc_oxide::storage::MemoryDirectory;
/// use blosc_oxide::{Frame, FrameLayout, Options};
/// let frame = Frame::create(MemoryDirectory::new(), Options::new(1))?.commit()?;
/// assert_eq!(frame.layout(), FrameLayout::Sparse);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryDirectory {
    files: Arc<Mutex<BTreeMap<String, SharedMemory>>>,
    readers: Arc<AtomicUsize>,
}

#[derive(Debug, Clone, Default)]
struct SharedMemory {
    bytes: MemoryStorage,
    is_owned: Arc<AtomicBool>,
}

/// The right to replace a file in memory.
struct OwnedMemory(Arc<AtomicBool>);

impl Drop for OwnedMemory {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A reader of a directory in memory, one of so many.
struct MemoryReader(Arc<AtomicUsize>);

impl DirectoryReader for MemoryReader {
    fn is_only(&self) -> bool {
        self.0.load(Ordering::Acquire) == 1
    }
}

impl Drop for MemoryReader {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl MemoryDirectory {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn with_files<T>(&self, action: impl FnOnce(&mut BTreeMap<String, SharedMemory>) -> T) -> T {
        action(&mut self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn find(&self, name: &str) -> io::Result<SharedMemory> {
        self.with_files(|files| files.get(name).cloned()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

impl Directory for MemoryDirectory {
    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(self.find(name)?))
    }

    fn open_writable(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(self.find(name)?))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        let file = SharedMemory::default();
        self.with_files(|files| files.insert(name.to_owned(), file.clone()));
        Ok(Box::new(file))
    }

    fn own(&self, name: &str) -> io::Result<Option<WriteRight>> {
        let is_owned = self.find(name)?.is_owned;
        Ok((!is_owned.swap(true, Ordering::AcqRel)).then(|| WriteRight::new(OwnedMemory(is_owned))))
    }

    fn reader(&self) -> io::Result<Box<dyn DirectoryReader>> {
        self.readers.fetch_add(1, Ordering::AcqRel);
        Ok(Box::new(MemoryReader(Arc::clone(&self.readers))))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let removed = self.with_files(|files| files.remove(name));
        removed.map(|_| ()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.with_files(|files| {
            let file = files.remove(from).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            files.insert(to.to_owned(), file);
            Ok(())
        })
    }

    fn exchange(&self, one: &str, other: &str) -> io::Result<()> {
        let (first, second) = (self.find(one)?, self.find(other)?);
        self.with_files(|files| files.extend([(one.to_owned(), second), (other.to_owned(), first)]));
        Ok(())
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.with_files(|files| files.keys().cloned().collect()))
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

impl SharedMemory {
    fn with<T>(&self, action: impl FnOnce(&MemoryStorage) -> T) -> T {
        action(&self.bytes)
    }
}

impl ReadAt for SharedMemory {
    fn len(&self) -> io::Result<u64> {
        self.with(|memory| memory.len())
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.with(|memory| memory.read_at(position, buffer))
    }
}

impl Storage for SharedMemory {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.with(|memory| memory.write_at(position, bytes))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.with(|memory| memory.set_len(len))
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
