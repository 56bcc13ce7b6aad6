//! Putting a finished file or directory where it belongs, so that neither a kill nor a power cut
//! leaves less than there was.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// What has become of a placement that failed.
#[derive(Debug)]
pub(crate) enum Misplaced {
    /// The target is as it was.
    Unchanged(io::Error),
    /// The new is at the target, and cannot be taken away again.
    Placed(io::Error),
    /// Neither the new nor the old is at the target: each is where it was put aside.
    Aside(io::Error),
}

/// What a placement has done, so that it can be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placed {
    /// There was nothing at the target.
    Free,
    /// The old is where the new has been.
    Exchanged,
    /// The old is aside.
    Aside,
    /// The old is gone.
    Over,
}

impl From<io::Error> for Misplaced {
    fn from(error: io::Error) -> Self {
        Self::Unchanged(error)
    }
}

/// Writes a file, or a directory with all that is in it, to the disk.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        return writable_again(path)?.sync_all();
    }
    for entry in fs::read_dir(path)? {
        sync(&entry?.path())?;
    }
    sync_directory(path)
}

/// Windows syncs only what may be written to; on Unix that makes no difference, and the file may be
/// read-only by now.
fn writable_again(path: &Path) -> io::Result<File> {
    if cfg!(unix) { File::open(path) } else { File::options().write(true).open(path) }
}

/// Writes the names in a directory to the disk.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    Names::of(path)?.map_or(Ok(()), |names| names.sync())
}

/// The names in a directory, to be written to the disk when they have changed.
#[derive(Debug)]
pub(crate) struct Names(File);

impl Names {
    /// Those of a directory; `None` where only renames themselves can be relied on. Only Unix lets
    /// a directory be opened and synced as a file; elsewhere renames are journalled.
    pub(crate) fn of(directory: &Path) -> io::Result<Option<Self>> {
        if cfg!(unix) { File::open(directory).map(|directory| Some(Self(directory))) } else { Ok(None) }
    }

    /// Writes them to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match self.0.sync_all() {
            // Some file systems have nothing that could be synced there.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput || error.kind() == io::ErrorKind::Unsupported => {
                Ok(())
            }
            other => other,
        }
    }
}

/// The directory that `path` is in.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Moves `new` to `target`, where there must be nothing, not even since a moment ago.
pub(crate) fn put_free(new: &Path, target: &Path) -> io::Result<()> {
    match rename_free(new, target) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => put_free_anywhere(new, target),
        other => other,
    }
}

/// The same on a file system that cannot refuse to replace: the name is taken first, and then
/// renamed over.
fn put_free_anywhere(new: &Path, target: &Path) -> io::Result<()> {
    if new.is_dir() {
        // On Unix an empty directory can be replaced; on Windows none can, and renaming alone is
        // safe.
        if cfg!(unix) {
            fs::create_dir(target)?;
        }
        return fs::rename(new, target).inspect_err(|_| drop(fs::remove_dir(target)));
    }
    match fs::hard_link(new, target) {
        Ok(()) => return fs::remove_file(new),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // Not every file system has links.
        Err(_) => {}
    }
    File::create_new(target)?;
    fs::rename(new, target).inspect_err(|_| drop(fs::remove_file(target)))
}

/// Moves `new` to `target`, in place of what may be there. What is replaced is kept until nothing
/// can fail any more.
pub(crate) fn put(new: &Path, target: &Path, aside: &Path) -> Result<Placed, Misplaced> {
    let Ok(there) = target.symlink_metadata() else {
        fs::rename(new, target)?;
        return Ok(Placed::Free);
    };
    match exchange(new, target) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported && (there.is_dir() || new.is_dir()) => {
            put_stepwise(new, target, aside)
        }
        Err(error) if error.kind() == io::ErrorKind::Unsupported => put_over(new, target, aside),
        other => Ok(other.map(|()| Placed::Exchanged)?),
    }
}

/// The same for files where two names cannot be exchanged: the old gets a second name before it
/// loses its first.
fn put_over(new: &Path, target: &Path, aside: &Path) -> Result<Placed, Misplaced> {
    // Not every file system has links.
    let has_second_name = fs::hard_link(target, aside).is_ok();
    fs::rename(new, target)?;
    Ok(if has_second_name { Placed::Aside } else { Placed::Over })
}

/// The same where two names cannot be exchanged, nor a directory be replaced: the old is put aside
/// until the new is there.
fn put_stepwise(new: &Path, target: &Path, aside: &Path) -> Result<Placed, Misplaced> {
    fs::rename(target, aside)?;
    let Err(error) = fs::rename(new, target) else { return Ok(Placed::Aside) };
    match fs::rename(aside, target) {
        Ok(()) => Err(Misplaced::Unchanged(error)),
        Err(_) => Err(Misplaced::Aside(error)),
    }
}

/// Takes a placement back after `cause`, and says what is at the target then.
pub(crate) fn take_back(placed: Placed, new: &Path, target: &Path, aside: &Path, cause: io::Error) -> Misplaced {
    let back = match placed {
        Placed::Free => fs::rename(target, new),
        Placed::Exchanged => exchange(new, target),
        Placed::Aside if target.is_dir() || aside.is_dir() => match fs::rename(target, new) {
            Ok(()) if fs::rename(aside, target).is_err() => return Misplaced::Aside(cause),
            other => other,
        },
        Placed::Aside => fs::rename(aside, target),
        Placed::Over => Err(io::ErrorKind::Unsupported.into()),
    };
    if back.is_ok() { Misplaced::Unchanged(cause) } else { Misplaced::Placed(cause) }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod flagged {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    use std::io;
    use std::path::Path;

    /// Renames, unless there is something at `target`; `Unsupported` if the file system cannot do
    /// that.
    pub(crate) fn rename_free(new: &Path, target: &Path) -> io::Result<()> {
        renamed(new, target, RenameFlags::NOREPLACE)
    }

    /// Exchanges two names in one step; `Unsupported` if the file system cannot do that.
    pub(crate) fn exchange(new: &Path, target: &Path) -> io::Result<()> {
        renamed(new, target, RenameFlags::EXCHANGE)
    }

    fn renamed(new: &Path, target: &Path, flags: RenameFlags) -> io::Result<()> {
        renameat_with(CWD, new, CWD, target, flags).map_err(|error| match error {
            // The kernel or the file system does not know the flag.
            Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => io::ErrorKind::Unsupported.into(),
            other => other.into(),
        })
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod flagged {
    use std::io;
    use std::path::Path;

    pub(crate) fn rename_free(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

use flagged::{exchange, rename_free};

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    struct Room(PathBuf);

    impl Room {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("blosc-placement-{}-{name}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn file(&self, name: &str, content: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, content).unwrap();
            path
        }

        fn directory(&self, name: &str, content: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("inside"), content).unwrap();
            path
        }

        /// What is at `name`, a file or a directory of the above.
        fn content(&self, name: &str) -> String {
            let path = self.0.join(name);
            fs::read_to_string(if path.is_dir() { path.join("inside") } else { path }).unwrap()
        }
    }

    impl Drop for Room {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_is_there_is_not_replaced_even_where_the_file_system_cannot_refuse() {
        for put in [put_free, put_free_anywhere] {
            let room = Room::new("free");
            let (file, directory) = (room.file("new", "new"), room.directory("new.d", "new"));
            room.file("taken", "old");
            room.directory("taken.d", "old");
            for new in [&file, &directory] {
                for target in ["taken", "taken.d"] {
                    let error = put(new, &room.0.join(target)).unwrap_err();
                    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{new:?} {target}");
                    assert_eq!((room.content(target), new.exists()), ("old".to_owned(), true));
                }
            }
            put(&file, &room.0.join("free")).unwrap();
            put(&directory, &room.0.join("free.d")).unwrap();
            assert_eq!((room.content("free"), room.content("free.d")), ("new".to_owned(), "new".to_owned()));
            assert!(!file.exists() && !directory.exists());
        }
    }

    type Put = fn(&Path, &Path, &Path) -> Result<Placed, Misplaced>;

    /// Each way to replace something, with what it is for: whether the new and whether the old is a
    /// directory.
    const WAYS: [(Put, bool, bool); 8] = [
        (put, false, false),
        (put, true, true),
        (put, true, false),
        (put, false, true),
        (put_over, false, false),
        (put_stepwise, true, true),
        (put_stepwise, true, false),
        (put_stepwise, false, true),
    ];

    fn make(room: &Room, is_directory: bool, name: &str, content: &str) -> PathBuf {
        if is_directory { room.directory(name, content) } else { room.file(name, content) }
    }

    #[test]
    fn the_new_takes_the_place_of_the_old_which_is_kept() {
        for (put, new, old) in WAYS {
            let room = Room::new("replaced");
            let (new, target) = (make(&room, new, "new", "new"), make(&room, old, "target", "old"));
            put(&new, &target, &room.0.join("aside")).unwrap();
            assert_eq!(room.content("target"), "new");
            let kept = if new.exists() { "new" } else { "aside" };
            assert_eq!(room.content(kept), "old");
        }
    }

    #[test]
    fn what_cannot_be_synced_is_taken_back() {
        for (put, new, old) in WAYS {
            let room = Room::new("taken-back");
            let (new, target) = (make(&room, new, "new", "new"), make(&room, old, "target", "old"));
            let aside = room.0.join("aside");
            let placed = put(&new, &target, &aside).unwrap();
            let failed = take_back(placed, &new, &target, &aside, io::ErrorKind::Other.into());
            assert!(matches!(failed, Misplaced::Unchanged(_)), "{placed:?} {failed:?}");
            assert_eq!(room.content("target"), "old", "{placed:?}");
        }
        let room = Room::new("taken-away");
        let (new, target, aside) = (room.file("new", "new"), room.0.join("target"), room.0.join("aside"));
        let placed = put(&new, &target, &aside).unwrap();
        let failed = take_back(placed, &new, &target, &aside, io::ErrorKind::Other.into());
        assert!(matches!(failed, Misplaced::Unchanged(_)) && !target.exists(), "{failed:?}");
    }

    #[test]
    fn a_replacement_that_fails_leaves_the_old() {
        for put in [put, put_stepwise] {
            let room = Room::new("failed");
            let target = room.directory("target", "old");
            let failed = put(&room.0.join("missing"), &target, &room.0.join("aside")).unwrap_err();
            assert!(matches!(failed, Misplaced::Unchanged(_)), "{failed:?}");
            assert_eq!(room.content("target"), "old");
        }
    }
}
