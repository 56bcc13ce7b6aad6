//! Where bytes come from: a file, a part of one, or standard input.

use crate::failure::{At, Outcome};
use crate::output::Output;
use blosc_oxide::{FileStorage, ReadAt};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Whether a path stands for standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// How a path is shown in messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_stream(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Bytes to be read one after the other, and how many there are if that is known.
pub(crate) struct Plain {
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) nbytes: Option<u64>,
}

/// Opens plain data.
pub(crate) fn plain(path: &Path) -> Outcome<Plain> {
    let file = if is_stream(path) { stdin()? } else { File::open(path).at_path(path)? };
    let metadata = file.metadata().at(shown(path))?;
    let nbytes = (metadata.is_file() && !is_stream(path)).then_some(metadata.len());
    Ok(Plain { reader: Box::new(file), nbytes })
}

/// Bytes that can be read at any position. What comes through a pipe is put into a temporary file first.
pub(crate) fn random(path: &Path) -> Outcome<Box<dyn ReadAt>> {
    if !is_stream(path) {
        return Ok(Box::new(FileStorage::open(path).at_path(path)?));
    }
    let mut stdin = stdin()?;
    if stdin.metadata().at(shown(path))?.is_file() {
        return Ok(Box::new(FileStorage::from(stdin)));
    }
    Ok(Box::new(spooled(&mut stdin)?))
}

/// Puts all that comes out of `reader` into a file that is gone when it is closed.
pub(crate) fn spooled(reader: &mut impl Read) -> Outcome<FileStorage> {
    let scratch = Output::scratch();
    let mut file = scratch.create()?;
    io::copy(reader, &mut file).at("standard input")?;
    // The file lives on while it is open; where an open file cannot be removed, it is removed at the end.
    Ok(FileStorage::from(file))
}

/// Standard input as a file.
pub(crate) fn stdin() -> Outcome<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(File::from(io::stdin().as_fd().try_clone_to_owned().at("standard input")?))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(File::from(io::stdin().as_handle().try_clone_to_owned().at("standard input")?))
    }
}
