//! Directories of named storages, which sparse frames are kept in.

use super::plain::PlainDirectory;
use super::{FileStorage, MemoryStorage, ReadAt, Storage};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Named storages side by side.
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
    fn create(&mut self, name: &str) -> io::Result<Box<dyn Storage>>;

    /// Gives those that are created from now on the permissions of this one, where there are any.
    ///
    /// # Errors
    /// `NotFound` if it is not there; else what the operating system reports.
    fn keep_permissions_of(&mut self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    /// Takes one away.
    ///
    /// # Errors
    /// `NotFound` if it is not there; else what the operating system reports.
    fn remove(&mut self, name: &str) -> io::Result<()>;

    /// Gives one another name, in place of one that may have it, in one step.
    ///
    /// # Errors
    /// `NotFound` if it is not there; else what the operating system reports.
    fn rename(&mut self, from: &str, to: &str) -> io::Result<()>;

    /// The names of all.
    ///
    /// # Errors
    /// What the operating system reports.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Makes what was created and removed so far survive a loss of power.
    ///
    /// # Errors
    /// What the operating system reports.
    fn sync(&mut self) -> io::Result<()>;
}

/// A directory of files.
///
/// Nothing in it is opened but its own regular files: symbolic links are not followed, and pipes, devices, sockets and
/// directories are refused. The path itself may lead through links. It is opened when it is first used.
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

    fn create(&mut self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(FileStorage::from(self.0.create(name)?)))
    }

    fn keep_permissions_of(&mut self, name: &str) -> io::Result<()> {
        self.0.keep_permissions_of(name)
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        self.0.remove(name)
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.0.names()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync()
    }
}

/// A directory in memory. Clones share what is in it.
#[derive(Debug, Clone, Default)]
pub struct MemoryDirectory {
    files: Arc<Mutex<BTreeMap<String, SharedMemory>>>,
}

#[derive(Debug, Clone, Default)]
struct SharedMemory(Arc<Mutex<MemoryStorage>>);

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

    fn create(&mut self, name: &str) -> io::Result<Box<dyn Storage>> {
        let file = SharedMemory::default();
        self.with_files(|files| files.insert(name.to_owned(), file.clone()));
        Ok(Box::new(file))
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        let removed = self.with_files(|files| files.remove(name));
        removed.map(|_| ()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn rename(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.with_files(|files| {
            let file = files.remove(from).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            files.insert(to.to_owned(), file);
            Ok(())
        })
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.with_files(|files| files.keys().cloned().collect()))
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SharedMemory {
    fn with<T>(&self, action: impl FnOnce(&mut MemoryStorage) -> T) -> T {
        action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
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
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.with(|memory| memory.write_at(position, bytes))
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.with(|memory| memory.set_len(len))
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
