//! Where bytes come from: a file, a part of one, or standard input.

use crate::encoding::SAMPLE;
use crate::failure::{At, Outcome};
use crate::output::Output;
use blosc_oxide::{ErrorKind, FileStorage, NumpyArray, ReadAt};
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

/// Whether a path stands for standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// How a path is shown in messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_stream(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// What an .npy file starts with.
const NPY_MAGIC: &[u8] = b"\x93NUMPY";

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
        let place = shown(path);
        let mut file = if is_stream(path) { stdin()? } else { File::open(path).at(&place)? };
        let metadata = file.metadata().at(&place)?;
        let mut nbytes = (metadata.is_file() && !is_stream(path)).then_some(metadata.len());
        let mut start = Vec::new();
        (&mut file).take(NPY_MAGIC.len() as u64).read_to_end(&mut start).at(&place)?;
        let mut array = None;
        let mut reader: Box<dyn Read + Send> = if start == NPY_MAGIC {
            let header = NumpyArray::read_npy_header(&mut start.chain(&mut file)).in_data(&place)?;
            if let Some(nbytes) = nbytes {
                let behind = nbytes.saturating_sub(file.stream_position().at(&place)?);
                check_npy(&header, behind).in_data(&place)?;
            }
            nbytes = Some(header.nbytes());
            let items = Items { inner: file, left: header.nbytes(), nbytes: header.nbytes() };
            array = Some(header);
            Box::new(items)
        } else {
            Box::new(Cursor::new(start).chain(file))
        };
        let sample = read_sample(&mut reader).at(&place)?;
        let reader = Box::new(Cursor::new(sample.clone()).chain(reader));
        Ok(Self { reader, sample, nbytes, array })
    }
}

/// Refuses an .npy file that has fewer or more bytes behind its header than that announces.
fn check_npy(header: &NumpyArray, behind: u64) -> blosc_oxide::Result<()> {
    match behind.cmp(&header.nbytes()) {
        Ordering::Less => Err(cut_off(header.nbytes(), behind)),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(too_long(header.nbytes())),
    }
}

fn cut_off(nbytes: u64, there: u64) -> blosc_oxide::Error {
    let message = format!("npy: an array of {nbytes} bytes is announced, there are {there}: the file is cut off");
    blosc_oxide::Error::new(ErrorKind::Truncated, message)
}

fn too_long(nbytes: u64) -> blosc_oxide::Error {
    let message = format!("npy: there is something behind the array of {nbytes} bytes, which would get lost");
    blosc_oxide::Error::new(ErrorKind::Corrupt, message)
}

/// The items of an .npy file: as many bytes as its header announces, and neither fewer nor more.
struct Items<R> {
    inner: R,
    left: u64,
    nbytes: u64,
}

impl<R: Read> Read for Items<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            // Whoever reads on wants to know that this is the end.
            return if self.inner.read(&mut [0])? == 0 { Ok(0) } else { Err(io::Error::other(too_long(self.nbytes))) };
        }
        let room = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.inner.read(&mut buffer[..room])?;
        if count == 0 {
            return Err(io::Error::other(cut_off(self.nbytes, self.nbytes - self.left)));
        }
        self.left -= count as u64;
        Ok(count)
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
