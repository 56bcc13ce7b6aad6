//! A directory whose files are read and written by the functions of a program. The directory is one
//! of the system: the program's functions know of files only.

use super::callbacks::{Callbacks, ProgramFile};
use blosc_oxide::storage::{Directory, DirectoryReader, FileDirectory, ReadAt, Storage, WriteRight};
use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};

/// Such a directory.
pub(crate) struct ProgramDirectory {
    callbacks: Callbacks,
    path: PathBuf,
    names: FileDirectory,
}

impl ProgramDirectory {
    pub(super) fn new(callbacks: Callbacks, path: &Path) -> Self {
        Self { callbacks, path: path.to_owned(), names: FileDirectory::new(path) }
    }

    fn file(&self, name: &str, mode: &CStr) -> io::Result<ProgramFile> {
        let path = self.path.join(name);
        let file = self.callbacks.at(&path).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        file.check(mode)?;
        Ok(file)
    }
}

impl Directory for ProgramDirectory {
    fn open(&self, name: &str) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(self.file(name, c"rb")?))
    }

    fn open_writable(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(self.file(name, c"rb+")?))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn Storage>> {
        Ok(Box::new(self.file(name, c"wb")?))
    }

    fn own(&self, name: &str) -> io::Result<Option<WriteRight>> {
        self.names.own(name)
    }

    fn reader(&self) -> io::Result<Box<dyn DirectoryReader>> {
        self.names.reader()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.names.remove(name)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.names.rename(from, to)
    }

    fn exchange(&self, one: &str, other: &str) -> io::Result<()> {
        self.names.exchange(one, other)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.names.names()
    }

    fn sync(&self) -> io::Result<()> {
        self.names.sync()
    }
}
