//! Reading the data of a super-chunk as a stream.

use crate::schunk::SuperChunk;
use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Deref;

/// How much is decoded ahead for short reads, unless a chunk ends before.
const READ_AHEAD: usize = 256 << 10;

/// Reads the data of a frame or super-chunk as a stream: `Read`, `BufRead` and `Seek`.
///
/// [`SuperChunk::reader`] makes one that borrows. One of a clone of a [`Frame`](crate::Frame)
/// borrows nothing and can be moved to another thread; it reads the state that the frame had,
/// whatever is committed meanwhile.
///
/// ```
/// use blosc_oxide::{Frame, Options, io::DataReader, storage::MemoryStorage};
/// use std::io::{Read, Seek, SeekFrom};
///
/// let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
/// edit.append(b"all chunks are ")?;
/// edit.append(b"one stream")?;
/// let frame = edit.commit()?;
///
/// let mut reader = DataReader::new(frame.clone());
/// reader.seek(SeekFrom::Start(11))?;
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "are one stream");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DataReader<S> {
    source: S,
    position: u64,
    /// Data from `ahead_start` on.
    ahead: Vec<u8>,
    ahead_start: u64,
}

impl<S: Deref<Target = SuperChunk>> DataReader<S> {
    /// A reader that starts at the first byte. `source` is a `Frame`, or a reference to a frame, an
    /// edit or a super-chunk.
    #[must_use]
    pub fn new(source: S) -> Self {
        Self { source, position: 0, ahead: Vec::new(), ahead_start: 0 }
    }

    /// The frame, edit or super-chunk that is read.
    pub fn into_inner(self) -> S {
        self.source
    }

    fn left(&self) -> u64 {
        self.source.nbytes().saturating_sub(self.position)
    }

    /// What has been decoded ahead from the position on.
    fn buffered(&self) -> &[u8] {
        let offset = self.position.checked_sub(self.ahead_start).and_then(|offset| usize::try_from(offset).ok());
        offset.and_then(|offset| self.ahead.get(offset..)).unwrap_or_default()
    }

    fn decode_ahead(&mut self) -> io::Result<()> {
        let index = self.source.chunk_at(self.position)?;
        let chunk_end = self.source.chunk_range(index)?.end;
        let len = (chunk_end - self.position).min(READ_AHEAD as u64);
        self.ahead.clear();
        self.ahead.resize(usize::try_from(len).unwrap_or(READ_AHEAD), 0);
        if let Err(error) = self.source.bytes_into(self.position, &mut self.ahead) {
            self.ahead.clear();
            return Err(error.into());
        }
        self.ahead_start = self.position;
        Ok(())
    }
}

impl<S: Deref<Target = SuperChunk>> Read for DataReader<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let is_long = out.len() >= READ_AHEAD && self.buffered().is_empty();
        let len = if is_long {
            let len = usize::try_from(self.left()).unwrap_or(usize::MAX).min(out.len());
            if len > 0 {
                self.source.bytes_into(self.position, &mut out[..len])?;
            }
            len
        } else {
            let ahead = self.fill_buf()?;
            let len = ahead.len().min(out.len());
            out[..len].copy_from_slice(&ahead[..len]);
            len
        };
        self.position += len as u64;
        Ok(len)
    }
}

impl<S: Deref<Target = SuperChunk>> BufRead for DataReader<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.buffered().is_empty() && self.left() > 0 {
            self.decode_ahead()?;
        }
        Ok(self.buffered())
    }

    fn consume(&mut self, amount: usize) {
        let amount = amount.min(self.buffered().len());
        self.position += amount as u64;
    }
}

impl<S: Deref<Target = SuperChunk>> Seek for DataReader<S> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
            SeekFrom::End(offset) => self.source.nbytes().checked_add_signed(offset),
        };
        let Some(position) = position else {
            return Err(io::Error::new(ErrorKind::InvalidInput, format!("{to:?} is before the first byte")));
        };
        self.position = position;
        Ok(position)
    }
}

impl SuperChunk {
    /// Reads the data as a stream, from the first byte on.
    ///
    /// ```
    /// use blosc_oxide::{Options, SuperChunk};
    /// use std::io::BufRead;
    /// let mut sc = SuperChunk::new(Options::new(1))?;
    /// sc.append(b"first line\nsecond ")?;
    /// sc.append(b"line\n")?;
    /// let lines: Vec<String> = sc.reader().lines().collect::<Result<_, _>>()?;
    /// assert_eq!(lines, ["first line", "second line"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reader(&self) -> DataReader<&Self> {
        DataReader::new(self)
    }
}
