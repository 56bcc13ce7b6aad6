//! Where bytes come from: a file, a part of one, or standard input.

use crate::failure::{At, Outcome};
use crate::outputs::encoding::SAMPLE;
use crate::outputs::output::Output;
use blosc_oxide::{
    ErrorKind, Limits, NpyHeader,
    storage::{FileStorage, ReadAt},
};
use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::Path;

/// Whether a path stands for standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether `data`, `-` being standard input, is the very file at `path`, by whatever name.
pub(crate) fn is_same_file(path: &Path, data: &Path) -> Outcome<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let place = shown(data);
        let data = if is_stream(data) { stdin()?.metadata() } else { data.metadata() }.at(&place)?;
        let file = path.metadata().at_path(path)?;
        Ok((file.dev(), file.ino()) == (data.dev(), data.ino()))
    }
    #[cfg(not(unix))]
    {
        Ok(!is_stream(data) && data.canonicalize().at_path(data)? == path.canonicalize().at_path(path)?)
    }
}

/// How a path is shown in messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_stream(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// What an .npy file starts with.
const NPY_MAGIC: &[u8] = b"\x93NUMPY";

/// Bytes of any origin, at any position.
pub(crate) type Bytes = Box<dyn ReadAt>;

/// Whether a file is called an .npy file.
pub(crate) fn is_npy_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// Whether the file at `path` is an .npy file, by its content.
pub(crate) fn is_npy(path: &Path) -> Outcome<bool> {
    let mut start = Vec::new();
    File::open(path).and_then(|file| file.take(NPY_MAGIC.len() as u64).read_to_end(&mut start)).at_path(path)?;
    Ok(start == NPY_MAGIC)
}

/// Plain data.
pub(crate) struct Data {
    /// One byte after the other.
    pub(crate) reader: Box<dyn Read + Send>,
    /// The same at any position, where it is in a file.
    pub(crate) file: Option<Bytes>,
}

impl Data {
    /// Data that comes as it comes.
    pub(crate) fn stream(reader: impl Read + Send + 'static) -> Self {
        Self { reader: Box::new(reader), file: None }
    }

    /// The data at any position: what is in no file is put into a temporary one.
    pub(crate) fn into_file(mut self) -> Outcome<Bytes> {
        match self.file {
            Some(file) => Ok(file),
            None => Ok(Box::new(spooled(&mut self.reader)?)),
        }
    }
}

/// Data to be compressed, with what its start tells.
pub(crate) struct PlainFile {
    pub(crate) data: Data,
    pub(crate) sample: Vec<u8>,
    pub(crate) nbytes: Option<u64>,
    pub(crate) array: Option<NpyHeader>,
}

impl PlainFile {
    /// Opens a file, `-` being standard input; of an .npy file, only the items are the data if
    /// arrays are looked for.
    pub(crate) fn open(path: &Path, looks_for_arrays: bool) -> Outcome<Self> {
        let place = shown(path);
        let mut file = if is_stream(path) { stdin()? } else { File::open(path).at(&place)? };
        let metadata = file.metadata().at(&place)?;
        let mut start = Vec::new();
        (&mut file).take(NPY_MAGIC.len() as u64).read_to_end(&mut start).at(&place)?;
        // Files that the system makes up, as those of /proc, seem to be empty: their bytes come as
        // from a pipe.
        let has_length = metadata.len() > 0 || start.is_empty();
        let is_file = metadata.is_file() && has_length && !is_stream(path);
        let mut nbytes = is_file.then_some(metadata.len());
        let mut array = None;
        let mut offset = 0;
        let mut reader: Box<dyn Read + Send> = if looks_for_arrays && start == NPY_MAGIC {
            let header = NpyHeader::read_npy_header(&mut start.chain(&mut file))
                .map_err(|error| or_raw(&error))
                .in_data(&place)?;
            if let Some(nbytes) = nbytes {
                offset = file.stream_position().at(&place)?;
                check_npy(&header, nbytes.saturating_sub(offset)).map_err(|error| or_raw(&error)).in_data(&place)?;
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
        let file = if is_file { Some(part(Box::new(FileStorage::open(path).at(&place)?), offset)) } else { None };
        Ok(Self { data: Data { reader, file }, sample, nbytes, array })
    }
}

/// The same with what can be done with an .npy file that is broken, or holds objects.
fn or_raw(error: &blosc_oxide::Error) -> blosc_oxide::Error {
    blosc_oxide::Error::new(error.kind(), format!("{error}; --raw compresses its bytes as they are"))
}

/// The header of an .npy file, and its items.
pub(crate) fn open_npy(path: &Path) -> Outcome<(NpyHeader, Bytes)> {
    let mut file = File::open(path).at_path(path)?;
    let header = NpyHeader::read_npy_header(&mut file).in_data(path.display())?;
    let (offset, len) = (file.stream_position().at_path(path)?, file.metadata().at_path(path)?.len());
    check_npy(&header, len.saturating_sub(offset)).in_data(path.display())?;
    Ok((header, part(Box::new(FileStorage::from(file)), offset)))
}

/// Refuses an .npy file that has fewer or more bytes behind its header than that announces.
fn check_npy(header: &NpyHeader, behind: u64) -> blosc_oxide::Result<()> {
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

/// What is behind an offset.
pub(crate) fn part(bytes: Bytes, offset: u64) -> Bytes {
    if offset == 0 { bytes } else { window(bytes, offset, u64::MAX) }
}

/// Up to `len` bytes from an offset on.
pub(crate) fn window(bytes: Bytes, offset: u64, len: u64) -> Bytes {
    Box::new(Part { bytes, offset, len })
}

struct Part {
    bytes: Bytes,
    offset: u64,
    len: u64,
}

impl ReadAt for Part {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len()?.saturating_sub(self.offset).min(self.len))
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        if position.checked_add(buffer.len() as u64).is_none_or(|end| end > self.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let position = position.checked_add(self.offset).ok_or(io::ErrorKind::UnexpectedEof)?;
        self.bytes.read_at(position, buffer)
    }
}

/// Bytes that can be read at any position. What comes through a pipe is put into a temporary file
/// first.
pub(crate) fn random(path: &Path) -> Outcome<Bytes> {
    if !is_stream(path) {
        return Ok(Box::new(FileStorage::open(path).at_path(path)?));
    }
    let mut stdin = stdin()?;
    if stdin.metadata().at(shown(path))?.is_file() {
        return Ok(Box::new(FileStorage::from(stdin)));
    }
    Ok(Box::new(spooled(&mut stdin).at(shown(path))?))
}

/// Puts all that comes out of `reader` into a file that is gone when it is closed.
pub(crate) fn spooled(reader: &mut impl Read) -> Outcome<FileStorage> {
    let scratch = Output::scratch()?;
    let mut file = scratch.create()?;
    io::copy(reader, &mut file)?;
    // The file lives on while it is open; where an open file cannot be removed, it is removed at
    // the end.
    Ok(FileStorage::from(file))
}

/// All that comes out of `reader`, to be in memory as `what`: no more than the limits allow.
pub(crate) fn read_whole(reader: impl Read, what: &str, limits: Limits) -> Outcome<Vec<u8>> {
    let mut content = Vec::new();
    reader.take((limits.max_allocation() as u64).saturating_add(1)).read_to_end(&mut content)?;
    limits.check(what, content.len())?;
    Ok(content)
}

/// The content of a metalayer, which is in a file.
pub(crate) fn read_layer(file: &str, limits: Limits) -> Outcome<Vec<u8>> {
    read_whole(File::open(file).at(file)?, "the metalayer", limits).at(file)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_not_blamed_on_standard_input() {
        let data = Data::stream(Items { inner: &b"abc"[..], left: 10, nbytes: 10 });
        let Err(failure) = data.into_file().at("data.npy") else { panic!("7 bytes are missing") };
        let message = format!("{failure:?}");
        assert!(message.contains("data.npy: npy: an array of 10 bytes is announced, there are 3"), "{message}");
    }
}
