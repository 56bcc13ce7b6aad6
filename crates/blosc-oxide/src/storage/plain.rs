//! Opening regular files and nothing else: a file from a stranger may be a link to one of ours, or
//! a pipe that never ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

#[cfg(not(unix))]
pub(crate) use portable::open_sidecar;
#[cfg(not(unix))]
pub(super) use portable::{PlainDirectory, PlainReader, open, own};
#[cfg(unix)]
pub(crate) use unix::open_sidecar;
#[cfg(unix)]
pub(super) use unix::{PlainDirectory, PlainReader, open, own};

/// The number of a file, and of the file system that it is on.
#[cfg(feature = "frame")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

#[cfg(all(feature = "frame", unix))]
pub(super) fn identity(file: &File) -> io::Result<Option<FileIdentity>> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok(Some(FileIdentity { device: metadata.dev(), inode: metadata.ino() }))
}

#[cfg(all(feature = "frame", not(unix)))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub(super) fn identity(_file: &File) -> io::Result<Option<FileIdentity>> {
    Ok(None)
}

/// What a system says of a name that is taken, with its number.
#[cfg(feature = "frame")]
pub(super) fn already_exists() -> io::Error {
    #[cfg(unix)]
    return rustix::io::Errno::EXIST.into();
    #[cfg(not(unix))]
    return io::ErrorKind::AlreadyExists.into();
}

/// Renames `from` to `to`, unless there is something already.
#[cfg(feature = "frame")]
pub(super) fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    match rename_without_replacing(from, to) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => rename_after_looking(from, to),
        result => result,
    }
}

/// The same where the system or the file system cannot refuse to replace.
#[cfg(feature = "frame")]
fn rename_after_looking(from: &Path, to: &Path) -> io::Result<()> {
    // A second name is refused if it is taken; not every file system has second names, and no
    // directory.
    match std::fs::hard_link(from, to) {
        Ok(()) => {
            // It is there: that it has its old name, too, is no reason to say that it is not.
            let _ = std::fs::remove_file(from);
            return Ok(());
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

/// `Unsupported` where the system or the file system cannot do it.
#[cfg(all(feature = "frame", any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(|error| match error {
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => io::ErrorKind::Unsupported.into(),
        error => error.into(),
    })
}

#[cfg(all(feature = "frame", not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
fn rename_without_replacing(_from: &Path, _to: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn refused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, only regular files are opened here"))
}

/// A name in a directory, and not a way to somewhere else.
fn checked(name: &str) -> io::Result<&str> {
    if matches!(name, "" | "." | "..") || name.contains(['/', '\\', '\0']) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name:?} is no name of a file")));
    }
    Ok(name)
}

#[cfg(unix)]
mod unix {
    use super::{File, OpenOptions, Path, checked, io, refused};
    use crate::storage::WriteRight;
    use rustix::fs::{
        AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat, fchmod, flock, fstat, openat, renameat,
        statat, unlinkat,
    };
    use rustix::io::Errno;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    use std::path::PathBuf;
    use std::sync::{Arc, Mutex, OnceLock, PoisonError};
    use std::time::Duration;

    /// No link is followed, and opening a pipe does not wait for its other end.
    const PLAIN: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
    const PERMISSIONS: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
    const DEFAULT: Mode = Mode::from_bits_retain(0o666);

    /// Opens a path that the user has given, which may be a link.
    pub(in super::super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        let file = options.custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
        let kind = file.metadata()?.file_type();
        match () {
            () if kind.is_file() => Ok(file),
            () if kind.is_fifo() => Err(refused("a pipe")),
            () if kind.is_dir() => Err(Errno::ISDIR.into()),
            () => Err(refused("a device")),
        }
    }

    /// How often an attempt is repeated that meets another handle, and how long a reader waits.
    const PATIENCE: u32 = 50;
    const PAUSE: Duration = Duration::from_millis(1);

    /// Unlocks when it is dropped, also if the file is open elsewhere.
    struct LockedFile(File);

    impl Drop for LockedFile {
        fn drop(&mut self) {
            // It cannot fail for a file that is open.
            let _ = self.0.unlock();
        }
    }

    /// The right to write to a file; `None` if another handle has it. Locks are of the handle, not
    /// of the process.
    pub(in super::super) fn own(file: File) -> io::Result<Option<WriteRight>> {
        match file.try_lock() {
            Ok(()) => Ok(Some(WriteRight::new(LockedFile(file)))),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            // There are no locks here.
            Err(std::fs::TryLockError::Error(_)) => Ok(Some(WriteRight::unguarded())),
        }
    }

    /// Opens the file beside a frame that is written in place, or makes it with the permissions of
    /// the frame.
    pub(crate) fn open_sidecar(path: &Path, frame: &Path) -> io::Result<File> {
        let opened = match open_plain(CWD, path, OFlags::RDWR) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mode = statat(CWD, frame, AtFlags::empty()).ok().map(|stat| permissions(&stat));
                match create_plain(CWD, path, mode) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open_plain(CWD, path, OFlags::RDWR),
                    created => created,
                }
            }
            opened => opened,
        };
        match opened {
            // Who may only read the directory can still lock, if the file is there.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem) =>
            {
                open_plain(CWD, path, OFlags::RDONLY)
            }
            opened => opened.and_then(only_name),
        }
    }

    fn open_plain(directory: BorrowedFd<'_>, name: impl rustix::path::Arg, access: OFlags) -> io::Result<File> {
        let file = openat(directory, name, access | PLAIN, Mode::empty()).map_err(|error| match error {
            Errno::LOOP | Errno::MLINK => refused("a symbolic link"),
            Errno::NXIO => refused("a socket or a pipe"),
            Errno::ISDIR => refused("a directory"),
            error => error.into(),
        })?;
        match FileType::from_raw_mode(fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(file.into()),
            FileType::Fifo => Err(refused("a pipe")),
            FileType::Directory => Err(refused("a directory")),
            _ => Err(refused("a device")),
        }
    }

    /// Makes a file that must not be there yet, not even as a link.
    fn create_plain(directory: BorrowedFd<'_>, name: impl rustix::path::Arg, mode: Option<Mode>) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | PLAIN;
        let file = openat(directory, name, flags, mode.unwrap_or(DEFAULT))?;
        if let Some(mode) = mode {
            // The mask of the process may have taken something away.
            fchmod(&file, mode)?;
        }
        Ok(file.into())
    }

    /// Refuses a file that is written in place and has another name, perhaps that of a file
    /// elsewhere.
    fn only_name(file: File) -> io::Result<File> {
        if fstat(&file)?.st_nlink > 1 {
            return Err(refused("a hard link"));
        }
        Ok(file)
    }

    fn permissions(stat: &Stat) -> Mode {
        Mode::from_raw_mode(stat.st_mode) & PERMISSIONS
    }

    /// A directory that is opened once: what is put in place of its path afterwards does not
    /// matter.
    #[derive(Debug, Clone)]
    pub(in super::super) struct PlainDirectory {
        path: PathBuf,
        handle: Arc<OnceLock<OwnedFd>>,
        /// The permissions of new files; `None` for those that the process gives.
        mode: Arc<Mutex<Option<Mode>>>,
    }

    /// A shared lock of a directory.
    #[derive(Debug)]
    pub(in super::super) struct PlainReader(OwnedFd);

    impl PlainReader {
        /// Whether nobody else has one: the lock is made an exclusive one for a moment.
        pub(in super::super) fn is_only(&self) -> bool {
            let is_only = flock(&self.0, FlockOperation::NonBlockingLockExclusive).is_ok();
            // It may be without a lock now, so that others would not see it.
            let _ = flock(&self.0, FlockOperation::NonBlockingLockShared);
            is_only
        }
    }

    impl PlainDirectory {
        pub(in super::super) fn new(path: &Path) -> Self {
            Self { path: path.to_owned(), handle: Arc::default(), mode: Arc::default() }
        }

        fn handle(&self) -> io::Result<BorrowedFd<'_>> {
            if let Some(handle) = self.handle.get() {
                return Ok(handle.as_fd());
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let opened = openat(CWD, &self.path, flags, Mode::empty())?;
            Ok(self.handle.get_or_init(|| opened).as_fd())
        }

        fn mode(&self) -> Option<Mode> {
            *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub(in super::super) fn open(&self, name: &str) -> io::Result<File> {
            open_plain(self.handle()?, checked(name)?, OFlags::RDONLY)
        }

        pub(in super::super) fn open_writable(&self, name: &str) -> io::Result<File> {
            open_plain(self.handle()?, checked(name)?, OFlags::RDWR).and_then(only_name)
        }

        /// Makes a file in place of what has the name, which is not written to: it may be known
        /// elsewhere.
        pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
            let directory = self.handle()?;
            match unlinkat(directory, checked(name)?, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => create_plain(directory, name, self.mode()),
                Err(Errno::ISDIR | Errno::PERM) => Err(refused("a directory")),
                Err(error) => Err(error.into()),
            }
        }

        /// Makes a file that must not be there yet, not even as a link.
        pub(in super::super) fn create_new(&self, name: &str) -> io::Result<File> {
            create_plain(self.handle()?, checked(name)?, self.mode())
        }

        /// The right to write to the file that has this name now; `None` if another handle has it.
        pub(in super::super) fn own(&self, name: &str) -> io::Result<Option<WriteRight>> {
            for _ in 0..PATIENCE {
                let file = self.open(name)?;
                let opened = fstat(&file)?;
                let Some(right) = own(file)? else { return Ok(None) };
                let named = statat(self.handle()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
                if (named.st_dev, named.st_ino) == (opened.st_dev, opened.st_ino) {
                    return Ok(Some(right));
                }
                // Who had the right until now has put another file there.
            }
            Ok(None)
        }

        /// Registers a reader of the directory.
        pub(in super::super) fn reader(&self) -> io::Result<PlainReader> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            // Locks belong to a handle, and that of the directory may be shared.
            let handle = openat(self.handle()?, ".", flags, Mode::empty())?;
            for _ in 0..PATIENCE {
                match flock(&handle, FlockOperation::NonBlockingLockShared) {
                    Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
                    // Where there are no locks, nobody sees it.
                    _ => break,
                }
            }
            Ok(PlainReader(handle))
        }

        pub(in super::super) fn keep_permissions_of(&self, name: &str) -> io::Result<()> {
            let stat = statat(self.handle()?, checked(name)?, AtFlags::SYMLINK_NOFOLLOW)?;
            *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = Some(permissions(&stat));
            Ok(())
        }

        pub(in super::super) fn remove(&self, name: &str) -> io::Result<()> {
            Ok(unlinkat(self.handle()?, checked(name)?, AtFlags::empty())?)
        }

        pub(in super::super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            let directory = self.handle()?;
            Ok(renameat(directory, checked(from)?, directory, checked(to)?)?)
        }

        /// Exchanges the names of two files; `Unsupported` where the system or the file system
        /// cannot.
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        pub(in super::super) fn exchange(&self, one: &str, other: &str) -> io::Result<()> {
            use rustix::fs::{RenameFlags, renameat_with};
            let directory = self.handle()?;
            let (one, other) = (checked(one)?, checked(other)?);
            renameat_with(directory, one, directory, other, RenameFlags::EXCHANGE).map_err(|error| match error {
                Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => io::ErrorKind::Unsupported.into(),
                error => error.into(),
            })
        }

        #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
        #[expect(clippy::unused_self, reason = "the same call on every system")]
        pub(in super::super) fn exchange(&self, _one: &str, _other: &str) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in super::super) fn names(&self) -> io::Result<Vec<String>> {
            let mut names = Vec::new();
            for entry in Dir::read_from(self.handle()?)? {
                // A name that is not UTF-8 is not one of ours.
                if let Ok(name) = entry?.file_name().to_str()
                    && !matches!(name, "." | "..")
                {
                    names.push(name.to_owned());
                }
            }
            Ok(names)
        }

        pub(in super::super) fn sync(&self) -> io::Result<()> {
            Ok(rustix::fs::fsync(self.handle()?)?)
        }
    }
}

/// Where there is no `openat`: the type of a file is checked before it is opened.
#[cfg(not(unix))]
mod portable {
    use super::{File, OpenOptions, Path, checked, io, refused};
    use crate::storage::WriteRight;
    use std::fs;
    use std::path::PathBuf;

    /// Opens a path that the user has given, which may be a link.
    pub(in super::super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
        let file = options.open(path)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(refused("no file")) }
    }

    /// Opens the file beside a frame that is written in place, or makes it.
    pub(crate) fn open_sidecar(path: &Path, _frame: &Path) -> io::Result<File> {
        refuse_links(path)?;
        match OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path) {
            // Who may only read the directory can still lock, if the file is there.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path),
            opened => opened,
        }
    }

    fn refuse_links(path: &Path) -> io::Result<()> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if !metadata.is_file() => Err(refused("a link or a directory")),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Locks keep this process itself from reading and writing here, so that there are none.
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    pub(in super::super) fn own(_file: File) -> io::Result<Option<WriteRight>> {
        Ok(Some(WriteRight::unguarded()))
    }

    /// A reader that nobody sees.
    #[derive(Debug)]
    pub(in super::super) struct PlainReader;

    impl PlainReader {
        #[expect(clippy::unused_self, reason = "elsewhere it has a lock")]
        pub(in super::super) fn is_only(&self) -> bool {
            false
        }
    }

    /// A directory by its path.
    #[derive(Debug, Clone)]
    pub(in super::super) struct PlainDirectory(PathBuf);

    impl PlainDirectory {
        pub(in super::super) fn new(path: &Path) -> Self {
            Self(path.to_owned())
        }

        fn path(&self, name: &str) -> io::Result<PathBuf> {
            Ok(self.0.join(checked(name)?))
        }

        fn plain(&self, name: &str) -> io::Result<PathBuf> {
            let path = self.path(name)?;
            refuse_links(&path)?;
            Ok(path)
        }

        pub(in super::super) fn open(&self, name: &str) -> io::Result<File> {
            File::open(self.plain(name)?)
        }

        pub(in super::super) fn open_writable(&self, name: &str) -> io::Result<File> {
            OpenOptions::new().read(true).write(true).open(self.plain(name)?)
        }

        pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
            let path = self.path(name)?;
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => OpenOptions::new().read(true).write(true).create_new(true).open(path),
            }
        }

        pub(in super::super) fn create_new(&self, name: &str) -> io::Result<File> {
            OpenOptions::new().read(true).write(true).create_new(true).open(self.path(name)?)
        }

        pub(in super::super) fn own(&self, name: &str) -> io::Result<Option<WriteRight>> {
            own(self.open(name)?)
        }

        #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "nobody sees it")]
        pub(in super::super) fn reader(&self) -> io::Result<PlainReader> {
            Ok(PlainReader)
        }

        #[expect(clippy::unused_self, reason = "permissions are those of the directory here")]
        pub(in super::super) fn keep_permissions_of(&self, _name: &str) -> io::Result<()> {
            Ok(())
        }

        pub(in super::super) fn remove(&self, name: &str) -> io::Result<()> {
            fs::remove_file(self.path(name)?)
        }

        pub(in super::super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            fs::rename(self.path(from)?, self.path(to)?)
        }

        #[expect(clippy::unused_self, reason = "the same call on every system")]
        pub(in super::super) fn exchange(&self, _one: &str, _other: &str) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(in super::super) fn names(&self) -> io::Result<Vec<String>> {
            // A name that is not UTF-8 is not one of ours.
            let names = fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
            names.filter_map(io::Result::transpose).collect()
        }

        /// Creations and renames are journalled.
        #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "there is nothing to do")]
        pub(in super::super) fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }
}
