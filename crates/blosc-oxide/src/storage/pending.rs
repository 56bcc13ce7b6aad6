//! Files and directories that have another name until they are complete, so that nobody finds half
//! of one.

use super::plain::{already_exists, rename_to_free};
use super::{Directory, FileDirectory, FileStorage};
use crate::error::{Result, bail, error};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a temporary name starts and ends with.
const PREFIX: &str = ".blosc-";
const SUFFIX: &str = ".tmp";
/// How many temporary names are tried.
const MAX_NAMES: usize = 1000;

/// A file or directory that is being made for a path. Dropped before it is
/// [finished](Self::finish), it is removed, wherever it is.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The path as it was given, for messages.
    name: PathBuf,
    /// Like the other paths an absolute one: the process may go to another directory meanwhile.
    target: PathBuf,
    /// Where it is now.
    current: PathBuf,
    /// The directory that both names are in.
    parent: FileDirectory,
    kind: Kind,
    is_finished: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
}

impl Pending {
    /// Makes a file for `target`, where there must be nothing.
    pub(crate) fn file(target: &Path) -> Result<(Self, FileStorage)> {
        Self::make(target, Kind::File, |path| FileStorage::create_new(path))
    }

    /// Makes a directory for `target`, where there must be nothing.
    pub(crate) fn directory(target: &Path) -> Result<(Self, FileDirectory)> {
        Self::make(target, Kind::Directory, |path| FileDirectory::create_new(path))
    }

    fn make<T>(name: &Path, kind: Kind, create: impl Fn(&Path) -> io::Result<T>) -> Result<(Self, T)> {
        let failed = |cause: io::Error| error!(Io, "{}: {cause}", name.display()).with_source(cause);
        let target = std::path::absolute(name).map_err(failed)?;
        match target.symlink_metadata() {
            Ok(_) => return Err(failed(already_exists())),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            // A name that cannot be is refused before the work is done.
            Err(cause) => return Err(failed(cause)),
        }
        let parent = parent_of(&target);
        let mut last = already_exists();
        for _ in 0..MAX_NAMES {
            let current = if kind.is_renamed() { parent.join(temporary_name()) } else { target.clone() };
            match create(&current) {
                Ok(made) => {
                    let (name, parent) = (name.to_owned(), FileDirectory::new(parent));
                    return Ok((Self { name, target, current, parent, kind, is_finished: false }, made));
                }
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists && kind.is_renamed() => last = cause,
                Err(cause) => return Err(failed(cause)),
            }
        }
        Err(failed(last))
    }

    /// Where it is now.
    pub(crate) fn current(&self) -> &Path {
        &self.current
    }

    /// Renames it to its target, if that has not been done: from now on it is there, complete.
    pub(crate) fn place(&mut self) -> Result<()> {
        if self.current == self.target {
            return Ok(());
        }
        match rename_to_free(&self.current, &self.target) {
            Ok(()) => {
                self.current.clone_from(&self.target);
                Ok(())
            }
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                bail!(Conflict, "{}: somebody else has made something there meanwhile", self.name.display())
            }
            Err(cause) => Err(error!(Io, "{}: {cause}", self.name.display()).with_source(cause)),
        }
    }

    /// Makes its name survive a loss of power.
    pub(crate) fn sync_name(&self) -> Result<()> {
        let synced = self.parent.sync();
        synced.map_err(|cause| error!(Io, "{}: {cause}", self.name.display()).with_source(cause))
    }

    /// Makes [`sync_name`](Self::sync_name) fail.
    #[cfg(test)]
    pub(crate) fn lose_parent(&mut self) {
        self.parent = FileDirectory::new(self.current.join("no such directory"));
    }

    /// It is not removed any more.
    pub(crate) fn finish(mut self) {
        self.is_finished = true;
    }
}

impl Drop for Pending {
    /// Removes what is half made, also after a panic.
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        // Why it is not made is what the caller is told, not that its remains cannot be removed.
        let _ = match self.kind {
            Kind::File => fs::remove_file(&self.current),
            Kind::Directory => fs::remove_dir_all(&self.current),
        };
    }
}

impl Kind {
    /// Whether it gets its name at the end. Elsewhere than on Unix, a directory with open files
    /// cannot be renamed.
    fn is_renamed(self) -> bool {
        cfg!(unix) || self == Self::File
    }
}

/// A name that nothing else has, as far as this process knows.
fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{PREFIX}{}-{}{SUFFIX}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The directory that a path is in.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::storage::Storage;

    /// A directory that is removed with all that is in it.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("blosc-oxide-pending-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.collect()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_has_its_name_when_it_is_placed() {
        let scratch = Scratch::new("file");
        let target = scratch.0.join("target");
        let (mut pending, file) = Pending::file(&target).unwrap();
        file.write_at(0, b"content").unwrap();
        assert!(!target.exists());
        pending.place().unwrap();
        pending.place().unwrap();
        pending.finish();
        assert_eq!((fs::read(&target).unwrap(), scratch.names()), (b"content".to_vec(), vec!["target".to_owned()]));
    }

    #[test]
    fn what_is_not_finished_is_removed() {
        let scratch = Scratch::new("drop");
        let (file, directory) = (scratch.0.join("file"), scratch.0.join("directory"));
        drop(Pending::file(&file).unwrap());
        drop(Pending::directory(&directory).unwrap());
        let (mut placed, _) = Pending::file(&file).unwrap();
        placed.place().unwrap();
        drop(placed);
        assert_eq!(scratch.names(), [""; 0]);
    }

    #[test]
    fn what_others_have_made_meanwhile_is_not_replaced() {
        let scratch = Scratch::new("taken");
        for name in ["file", "directory"] {
            let target = scratch.0.join(name);
            let mut pending =
                if name == "file" { Pending::file(&target).unwrap().0 } else { Pending::directory(&target).unwrap().0 };
            fs::create_dir(&target).unwrap();
            assert_eq!(pending.place().unwrap_err().kind(), ErrorKind::Conflict);
            drop(pending);
            assert!(target.is_dir(), "{name}");
            assert_eq!(Pending::file(&target).unwrap_err().kind(), ErrorKind::Io);
        }
        assert_eq!(scratch.names().len(), 2);
    }

    #[test]
    fn the_name_of_a_file_is_in_the_directory_before_it() {
        let found = ["a/b.b2frame", "b.b2frame", "/b.b2frame"].map(|path| parent_of(Path::new(path)));
        assert_eq!(found, ["a", ".", "/"].map(Path::new));
    }
}
