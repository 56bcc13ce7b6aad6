//! The formats that files can have.

use crate::failure::{At, Outcome};
use blosc_oxide::{
    Container, Error, Frame, FrameLayout, FrameVersion, Header, SuperChunk,
    legacy::EarlyFrame,
    storage::{FileStorage, ReadAt},
};
use clap::ValueEnum;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A format, by the name that the command line and the JSON output use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    /// A frame in one file
    #[value(name = "b2frame")]
    B2frame,
    /// A frame in a directory, a file a chunk
    #[value(name = "sframe")]
    Sframe,
    /// An array of several dimensions
    #[value(name = "b2nd")]
    B2nd,
    /// A Bloscpack file
    #[value(name = "blp")]
    Blp,
    /// A single Blosc2 chunk
    #[value(name = "chunk")]
    Chunk,
    /// A single Blosc1 chunk
    #[value(name = "blosc1")]
    Blosc1,
    /// The packed super-chunk of the alphas of C-Blosc2
    #[value(name = "packed")]
    Packed,
    /// A frame as v2.0.0-beta.1 wrote it
    #[value(name = "frame-beta1")]
    FrameBeta1,
    /// A frame as v2.0.0-beta.2 to beta.5 wrote it
    #[value(name = "frame-beta5")]
    FrameBeta5,
}

/// The header of a chunk has no more bytes.
pub(crate) const HEADER_LEN: u64 = 32;

/// The extensions that files of a format have, the usual one first.
const EXTENSIONS: [(FileFormat, &str); 10] = [
    (FileFormat::B2frame, "b2frame"),
    (FileFormat::B2frame, "b2f"),
    (FileFormat::Sframe, "sframe"),
    (FileFormat::B2nd, "b2nd"),
    (FileFormat::Blp, "blp"),
    (FileFormat::Chunk, "b2chunk"),
    (FileFormat::Chunk, "chunk"),
    (FileFormat::Blosc1, "blosc1"),
    (FileFormat::Blosc1, "blosc"),
    (FileFormat::Packed, "b2packed"),
];

/// The file that makes a directory a sparse frame.
pub(crate) const INDEX_NAME: &str = "chunks.b2frame";
/// How many digits the name of a file with a chunk of it has.
const NUMBER_LEN: usize = 8;

/// Whether there is a sparse frame at `path`, whatever its name is. What cannot be looked at is an
/// error: it must not be taken for something else.
pub(crate) fn is_sparse_frame(path: &Path) -> Outcome<bool> {
    let index = path.join(INDEX_NAME);
    match index.metadata() {
        Ok(found) => Ok(found.is_file()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(error).at_path(&index),
    }
}

/// Whether a directory holds chunks of a sparse frame whose index is gone: they are parts, and not
/// files by themselves.
pub(crate) fn has_lost_index(directory: &Path) -> Outcome<bool> {
    if is_sparse_frame(directory)? {
        return Ok(false);
    }
    for entry in fs::read_dir(directory).at_path(directory)? {
        let name = entry.at_path(directory)?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".chunk")).unwrap_or_default();
        if number.len() == NUMBER_LEN && number.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F')) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether there is a directory at `path`. What cannot be looked at is an error; what is not there
/// is told by whoever opens it.
pub(crate) fn is_directory(path: &Path) -> Outcome<bool> {
    match path.metadata() {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(false),
        Err(error) => Err(error).at_path(path),
    }
}

/// Whether the content of the file or directory at `path` is that of a Blosc file.
///
/// The header of a chunk says so little that other files can begin like one: it counts if the chunk
/// is the whole file, or if its name says so as well.
pub(crate) fn is_blosc(path: &Path) -> bool {
    if path.is_dir() {
        return is_sparse_frame(path).unwrap_or(false);
    }
    let found = FileStorage::open(path).map_err(Error::from).and_then(|file| is_blosc_bytes(&file, path));
    found.unwrap_or(false)
}

/// The same where it is an error if the file cannot be read.
pub(crate) fn has_blosc_content(path: &Path) -> Outcome<bool> {
    let file = FileStorage::open(path).at_path(path)?;
    is_blosc_bytes(&file, path).at_path(path)
}

/// The same for bytes that are called `name`.
pub(crate) fn is_blosc_bytes(bytes: &dyn ReadAt, name: &Path) -> blosc_oxide::Result<bool> {
    Ok(match Container::detect(bytes, 0)? {
        Some(Container::Chunk) => is_one_chunk(bytes)? || FileFormat::of_path(name).is_some(),
        found => found.is_some(),
    })
}

fn is_one_chunk(bytes: &dyn ReadAt) -> blosc_oxide::Result<bool> {
    let len = bytes.len()?;
    let mut head = vec![0; usize::try_from(len.min(HEADER_LEN)).unwrap_or_default()];
    bytes.read_at(0, &mut head)?;
    Ok(Header::parse(&head).is_ok_and(|header| header.cbytes() as u64 == len))
}

impl FileFormat {
    /// The name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The format that the extension of `path` stands for.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        EXTENSIONS.iter().find(|(_, known)| *known == extension).map(|(format, _)| *format)
    }

    /// The extension that files of this format get.
    pub(crate) fn extension(self) -> &'static str {
        EXTENSIONS.iter().find(|(format, _)| *format == self).map_or("b2frame", |(_, extension)| extension)
    }

    /// `path` with the extension of this format behind what it has.
    pub(crate) fn name_for(self, path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(self.extension());
        PathBuf::from(name)
    }

    /// Whether it is one chunk and nothing else.
    pub(crate) fn is_chunk(self) -> bool {
        matches!(self, Self::Chunk | Self::Blosc1)
    }

    /// The format of a frame.
    pub(crate) fn of_frame(frame: &Frame) -> Self {
        match (frame.version(), frame.layout()) {
            (FrameVersion::Early(EarlyFrame::Beta1), _) => Self::FrameBeta1,
            (FrameVersion::Early(_), _) => Self::FrameBeta5,
            _ if is_array(frame) => Self::B2nd,
            (_, FrameLayout::Sparse) => Self::Sframe,
            _ => Self::B2frame,
        }
    }
}

/// The metalayer that makes a frame an array, under its name of today and its first, and the one
/// that says in which order its items came.
pub(crate) const ARRAY_LAYERS: [&str; 3] = ["b2nd", "caterva", "_order"];

/// Whether a frame holds an array.
pub(crate) fn is_array(frame: &SuperChunk) -> bool {
    ["b2nd", "caterva"].iter().any(|name| frame.metalayers().get(name).is_some())
}

/// `path` without the extension of a Blosc file, if it has one.
pub(crate) fn without_extension(path: &Path) -> Option<PathBuf> {
    FileFormat::of_path(path).map(|_| path.with_extension(""))
}
