//! A Blosc file of any format, recognised by its content.

use crate::arguments::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::behind;
use crate::inputs::foreign;
use crate::inputs::format::{self, FileFormat, HEADER_LEN};
use crate::inputs::input::{self, Bytes};
use crate::python;
use crate::store::{self, Store};
use blosc_oxide::bloscpack::ReadOptions;
use blosc_oxide::{
    BitshuffleRule, Chunk, Container, Error, ErrorKind, Frame, FrameOptions, Header, Limits, Location, NdArray,
    OpenOptions, Options, Threads,
    bloscpack::Bloscpack,
    legacy::PackedSuperChunk,
    storage::{Directory, FileDirectory, ReadAt},
};
use std::io;
use std::path::Path;

/// An open file.
pub(crate) enum Source {
    /// One chunk, as bytes that parse as one.
    Chunk(ChunkFile),
    /// A frame: contiguous, sparse or early, perhaps an array.
    Frame(Frame),
    /// A packed super-chunk.
    Packed(PackedSuperChunk<Bytes>),
    /// A Bloscpack file.
    Bloscpack(Bloscpack<Bytes>),
}

/// A file that is one chunk.
#[derive(Debug)]
pub(crate) struct ChunkFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) header: Header,
    pub(crate) limits: Limits,
    pub(crate) threads: Threads,
    /// The rule of bitshuffle that it is read by, if it does not tell it.
    pub(crate) bitshuffle: BitshuffleRule,
    /// How many bytes follow it that are not its own.
    pub(crate) behind: u64,
}

/// How files are opened.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    limits: Limits,
    threads: Threads,
    bitshuffle: BitshuffleRule,
    offset: u64,
    checks_members: bool,
    /// Whether more may follow a chunk, which is a part of a larger file.
    is_part: bool,
}

impl Opening {
    /// As the options say.
    pub(crate) fn new(global: &Global) -> Self {
        let (limits, threads, bitshuffle) = (global.limits(), global.threads(), global.bitshuffle());
        Self { limits, threads, bitshuffle, offset: 0, checks_members: true, is_part: false }
    }

    /// The same for something that starts at `offset` of a larger file.
    pub(crate) fn at_offset(mut self, offset: Option<u64>) -> Self {
        self.offset = offset.unwrap_or_default();
        self.is_part = offset.is_some();
        self
    }

    /// Opens the file at `path`, `-` being standard input.
    pub(crate) fn open(&self, path: &Path) -> Outcome<Source> {
        if !input::is_stream(path) && format::is_directory(path)? {
            return self.open_directory(path, FileDirectory::new(path));
        }
        match store::split(path) {
            Some((store, member)) => self.open_member(store, &member),
            None => self.open_bytes(input::random(path)?, &input::shown(path)),
        }
    }

    /// Opens a member of the store at `path`.
    pub(crate) fn open_member(&self, path: &Path, member: &str) -> Outcome<Source> {
        let store = Store::open(path, self)?;
        store.open_member(&store.find(member)?, self, self.checks_members)
    }

    /// The same for those who only look: the checksums that archives have of their members are not
    /// compared, and more may follow a chunk.
    pub(crate) fn unchecked(mut self) -> Self {
        self.checks_members = false;
        self.is_part = true;
        self
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Opens what `bytes` hold; `place` is what messages call it.
    pub(crate) fn open_bytes(&self, bytes: Bytes, place: &str) -> Outcome<Source> {
        let container = Container::detect(&*bytes, self.offset).in_data(place)?;
        let Some(container) = container else { return Err(self.unknown(&*bytes, place)) };
        self.open_as(container, bytes).in_data(place)
    }

    /// What there is to say about bytes that are none of the containers: why they are no chunk,
    /// which has no magic.
    fn unknown(&self, bytes: &dyn ReadAt, place: &str) -> Failure {
        if self.offset == 0 && store::is_archive(bytes) {
            return Failure::data(format!("{place}: {}", store::archive_fault(bytes)));
        }
        if let Some(known) = foreign::name(bytes).filter(|_| self.offset == 0) {
            return Failure::data(format!("{place}: this is no Blosc file, but {known}"));
        }
        let at = if self.offset > 0 { format!(" at byte {}", self.offset) } else { String::new() };
        let advice = match FileFormat::of_path(Path::new(place)) {
            Some(FileFormat::B2frame | FileFormat::B2nd) => "`blosc repair` looks for what is left of a frame",
            _ => "is it compressed at all?",
        };
        let why = match read_head(bytes, self.offset).and_then(|head| Header::parse(&head)) {
            Err(error) => format!(" ({error})"),
            Ok(_) => String::new(),
        };
        Failure::data(format!("{place}: there is no Blosc chunk, frame or Bloscpack file{at}{why}; {advice}"))
    }

    /// Opens the sparse frame that is in `directory`, at `path`.
    pub(crate) fn open_directory(&self, path: &Path, directory: impl Directory + 'static) -> Outcome<Source> {
        if !format::is_sparse_frame(path)? {
            if store::is_store(path)? {
                return Err(Failure::data(format!("{}: {}", path.display(), store::SEVERAL)));
            }
            let shown = path.display();
            return Err(Failure::data(match foreign::name_of_directory(path) {
                Some(known) => format!("{shown}: {known}"),
                None => format!("{shown}: a directory without a sparse frame in it"),
            }));
        }
        let frame = Frame::open_with(Location::directory(directory), &self.options());
        frame.map(Source::Frame).in_data(path.display())
    }

    fn open_as(&self, container: Container, bytes: Bytes) -> blosc_oxide::Result<Source> {
        Ok(match container {
            Container::Frame => {
                if !self.is_part {
                    behind::check_frame(&*bytes)?;
                }
                Source::Frame(Frame::open_with(Location::source_at(bytes, self.offset), &self.options())?)
            }
            Container::Packed => {
                let packed = PackedSuperChunk::open_with_limits(self.part(bytes), self.limits)?;
                Source::Packed(packed.with_threads(self.threads.clone()))
            }
            Container::Bloscpack => {
                let options = ReadOptions::new().with_limits(self.limits).with_threads(self.threads.clone());
                if !self.is_part {
                    behind::check_bloscpack(&*bytes, options.clone())?;
                }
                Source::Bloscpack(Bloscpack::with_options(self.part(bytes), options)?)
            }
            _ => Source::Chunk(self.read_chunk(&self.part(bytes))?),
        })
    }

    fn read_chunk(&self, bytes: &dyn ReadAt) -> blosc_oxide::Result<ChunkFile> {
        let len = bytes.len()?;
        let header = Header::parse(&read_head(bytes, 0)?)?;
        let cbytes = header.cbytes().min(usize::try_from(len).unwrap_or(usize::MAX));
        let behind = len.saturating_sub(cbytes as u64);
        if behind > 0 && !self.is_part && !header.is_lazy() {
            let message = format!(
                "{behind} bytes follow the chunk of {cbytes} bytes; with --offset 0 it is taken for a part of the file"
            );
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        self.limits.check("a chunk", cbytes)?;
        let mut chunk = vec![0; cbytes];
        bytes.read_at(0, &mut chunk)?;
        if !header.is_lazy() {
            Chunk::parse(&chunk)?;
        }
        let (limits, threads, bitshuffle) = (self.limits, self.threads.clone(), self.bitshuffle);
        Ok(ChunkFile { bytes: chunk, header, limits, threads, bitshuffle, behind })
    }

    /// How frames are opened: every chunk is compared with its checksum before it is taken for
    /// good.
    pub(crate) fn options(&self) -> OpenOptions {
        OpenOptions::new()
            .with_threads(self.threads.clone())
            .with_limits(self.limits)
            .with_bitshuffle(self.bitshuffle)
            .with_check_on_read(true)
    }

    /// How what is left of a damaged frame is read.
    pub(crate) fn frame_options(&self) -> FrameOptions {
        let options = FrameOptions::new(Options::new(1).with_threads(self.threads.clone()));
        options.with_limits(self.limits).with_bitshuffle(self.bitshuffle)
    }

    fn part(&self, bytes: Bytes) -> Bytes {
        input::part(bytes, self.offset)
    }
}

/// Whether there is one thing to read at `path`, by its content: a Blosc file, a store, or a member
/// of one.
pub(crate) fn is_single(path: &Path) -> Outcome<bool> {
    // What cannot be looked at must not be taken for something else.
    if let Err(error) = path.metadata() {
        return match (store::split(path), error.kind()) {
            (Some(_), _) => Ok(true),
            (None, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(false),
            (None, _) => Err(error).at_path(path),
        };
    }
    if format::is_directory(path)? {
        return Ok(is_frame(path)? || store::is_store(path)?);
    }
    Ok(format::has_blosc_content(path)? || store::is_store(path)?)
}

/// Whether a directory is a sparse frame, or was one before its index was lost: that is an error,
/// and its chunks are not files to be read one by one.
pub(crate) fn is_frame(directory: &Path) -> Outcome<bool> {
    Ok(format::is_sparse_frame(directory)? || format::has_lost_index(directory)?)
}

/// As much as the header of a chunk can have.
fn read_head(bytes: &dyn ReadAt, offset: u64) -> blosc_oxide::Result<Vec<u8>> {
    let there = bytes.len()?.saturating_sub(offset).min(HEADER_LEN);
    let mut head = vec![0; usize::try_from(there).unwrap_or_default()];
    bytes.read_at(offset, &mut head)?;
    Ok(head)
}

impl ChunkFile {
    /// Whether its bytes are the same data for whoever reads them by the current rule of
    /// bitshuffle.
    pub(crate) fn follows_current_rule(&self) -> bool {
        let rule = self.header.bitshuffle_rule().unwrap_or(self.bitshuffle);
        rule == BitshuffleRule::Current || !self.header.has_ragged_bitshuffle()
    }
}

impl Source {
    /// The format of a file that is one chunk.
    pub(crate) fn format_of_chunk(chunk: &ChunkFile) -> FileFormat {
        if chunk.header.is_extended() { FileFormat::Chunk } else { FileFormat::Blosc1 }
    }

    /// The size of an item; 0 if the file does not say it.
    pub(crate) fn typesize(&self) -> blosc_oxide::Result<usize> {
        Ok(match self {
            Self::Chunk(chunk) => chunk.header.typesize(),
            Self::Frame(frame) => frame.typesize(),
            Self::Packed(packed) if packed.nchunks() > 0 => packed.chunk_header(0)?.typesize(),
            Self::Packed(_) => 0,
            Self::Bloscpack(file) => file.header().typesize().into(),
        })
    }

    /// Refuses a file whose data is elsewhere.
    pub(crate) fn check_has_data(&self) -> blosc_oxide::Result<()> {
        match self {
            Self::Frame(frame) => python::check_has_data(frame),
            _ => Ok(()),
        }
    }

    /// The array that the file is, or the file back if it is none.
    pub(crate) fn into_array(self) -> blosc_oxide::Result<Result<NdArray, Self>> {
        match self {
            Self::Frame(frame) if format::is_array(&frame) => Ok(Ok(NdArray::from_frame(frame)?)),
            other => Ok(Err(other)),
        }
    }
}
