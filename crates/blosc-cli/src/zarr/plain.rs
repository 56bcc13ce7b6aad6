//! Reading the files of an array: nothing but regular ones below its directory, and no more of them
//! than was allowed. A directory from a stranger may have links to files of ours, devices without
//! an end, and pipes that nobody writes to.

use crate::failure::{At, Failure, Outcome};
use blosc_oxide::Limits;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of the file `name`, which may have `/` in it, below a directory; `None` if it is not
/// there. `what` it is goes into the message if it is longer than the limits allow.
pub(super) fn read(directory: &Path, name: &str, what: &str, limits: Limits) -> Outcome<Option<Vec<u8>>> {
    let path = directory.join(name);
    let file = match open(directory, name) {
        Ok(Some(file)) => file,
        Ok(None) => return Err(irregular(&path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).at_path(&path),
    };
    let metadata = file.metadata().at_path(&path)?;
    if !metadata.is_file() {
        return Err(irregular(&path));
    }
    let len = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    limits.check(what, len).at_path(&path)?;
    let mut bytes = Vec::with_capacity(len);
    // It may have grown in the meantime.
    let most = (limits.max_allocation() as u64).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).at_path(&path)?;
    limits.check(what, bytes.len()).at_path(&path)?;
    Ok(Some(bytes))
}

fn irregular(path: &Path) -> Failure {
    Failure::data(format!("{}: a link or no regular file; of Zarr, only regular files are read", path.display()))
}

/// Opens what has this name below a directory; `None` if that is, or is behind, a link.
#[cfg(unix)]
fn open(directory: &Path, name: &str) -> io::Result<Option<File>> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut opened = openat(CWD, directory, flags | OFlags::DIRECTORY, Mode::empty())?;
    for part in name.split('/') {
        // Opening a pipe does not wait for its other end.
        opened = match openat(&opened, part, flags | OFlags::NOFOLLOW | OFlags::NONBLOCK, Mode::empty()) {
            Err(Errno::LOOP | Errno::MLINK | Errno::NXIO) => return Ok(None),
            next => next?,
        };
    }
    Ok(Some(opened.into()))
}

/// Opens what has this name below a directory; `None` if that is, or is behind, a link.
#[cfg(not(unix))]
fn open(directory: &Path, name: &str) -> io::Result<Option<File>> {
    let mut path = directory.to_owned();
    for part in name.split('/') {
        path.push(part);
        if path.symlink_metadata()?.is_symlink() {
            return Ok(None);
        }
    }
    File::open(path).map(Some)
}
