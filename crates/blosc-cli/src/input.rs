//! Where bytes come from: a file, a part of one, or standard input.

use crate::encoding::SAMPLE;
use crate::failure::{At, Outcome};
use crate::output::Output;
use blosc_oxide::{FileStorage, NumpyArray, ReadAt};
use std::fs::File;
use std::io::{self, Cursor, Read};
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
fn plain(path: &Path) -> Outcome<(Box<dyn Read + Send>, Option<u64>)> {
    let file = if is_stream(path) { stdin()? } else { File::open(path).at_path(path)? };
    let metadata = file.metadata().at(shown(path))?;
    let nbytes = (metadata.is_file() && !is_stream(path)).then_some(metadata.len());
    Ok((Box::new(file), nbytes))
}

/// Data to be compressed, with what its start tells.
pub(crate) struct PlainFile {
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) sample: Vec<u8>,
    pub(crate) nbytes: Option<u64>,
    pub(crate) array: Option<NumpyArray>,
}

impl PlainFile {
    /// Opens a file, `-` being standard input; of an .npy file, only the items are the data.
    pub(crate) fn open(path: &Path) -> Outcome<Self> {
        let (mut reader, mut nbytes) = plain(path)?;
        let mut array = None;
        let mut sample = read_sample(&mut reader).at(shown(path))?;
        if sample.starts_with(b"\x93NUMPY") {
            let mut rest: Box<dyn Read + Send> = Box::new(Cursor::new(sample).chain(reader));
            let header = NumpyArray::read_npy_header(&mut rest).in_data(shown(path))?;
            nbytes = Some(header.nbytes());
            reader = Box::new(rest.take(header.nbytes()));
            array = Some(header);
            sample = read_sample(&mut reader).at(shown(path))?;
        }
        let reader = Box::new(Cursor::new(sample.clone()).chain(reader));
        Ok(Self { reader, sample, nbytes, array })
    }
}

fn read_sample(reader: &mut (impl Read + ?Sized)) -> io::Result<Vec<u8>> {
    let mut sample = Vec::new();
    reader.take(SAMPLE as u64).read_to_end(&mut sample)?;
    Ok(sample)
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
