//! Stores of python-blosc2: several arrays and frames under one name. `.b2z` is an archive of them,
//! `.b2d` a directory, and `.b2e`, of which each of the others has one inside, a frame that holds
//! others.

mod embed;
mod listing;
mod names;
mod unpack;
mod zip;

pub(crate) use unpack::{Unpacked, unpack};

use crate::failure::{At, Failure, Outcome};
use crate::inputs::format;
use crate::inputs::input::{self, Bytes};
use crate::inputs::source::{Opening, Source};
use blosc_oxide::{
    Container, Error, ErrorKind, Frame, Limits, Location,
    storage::{FileStorage, MemoryStorage, ReadAt},
};
use embed::Embedded;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use zip::Crc32;

/// The frame inside of a store that holds what has no file of its own.
const EMBED_NAME: &str = "embed.b2e";
/// The extensions of stores.
const EXTENSIONS: [&str; 3] = ["b2z", "b2d", "b2e"];
/// What is said where one file is wanted.
pub(crate) const SEVERAL: &str = "a store of python-blosc2: name one of its members, FILE/member, or `blosc decompress` it as a whole; \
     `blosc info` lists them";
const NO_STORE: &str =
    "a zip archive (.npz files are, too), and without embed.b2e no store of python-blosc2; `unzip` takes it apart";
/// How much is read at a time to compare a checksum.
const PIECE: u64 = 1 << 20;

/// How a store is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Zip,
    Directory,
    Embedded,
}

impl Kind {
    /// The name of the format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zip => "b2z",
            Self::Directory => "b2d",
            Self::Embedded => "b2e",
        }
    }
}

/// An open store.
pub(crate) struct Store {
    path: PathBuf,
    kind: Kind,
    members: Vec<Member>,
    /// The frame with what has no file of its own.
    embed: Option<Frame>,
    limits: Limits,
}

/// An array, a frame, or a file of another kind in a store.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// The name that python-blosc2 knows it by, without the slash in front.
    pub(crate) key: String,
    /// The file that it is, if it is one of its own.
    pub(crate) file: Option<String>,
    place: Place,
}

#[derive(Debug, Clone)]
enum Place {
    /// Bytes of the archive, and their checksum.
    Window {
        offset: u64,
        len: u64,
        crc: u32,
    },
    /// A file of the directory.
    File(PathBuf),
    Embedded(Embedded),
}

impl Member {
    fn of_file(file: String, place: Place) -> Self {
        let path = Path::new(&file);
        let is_batch = path.extension().is_some_and(|extension| extension == "b2b");
        let stem = format::without_extension(path).or_else(|| is_batch.then(|| path.with_extension("")));
        let key = stem.and_then(|stem| stem.to_str().map(str::to_owned)).unwrap_or_else(|| file.clone());
        Self { key, file: Some(file), place }
    }

    /// The name to show: what it is found by.
    pub(crate) fn name(&self) -> &str {
        self.file.as_deref().unwrap_or(&self.key)
    }

    /// What it refers to, if it has no data.
    pub(crate) fn remote(&self) -> Option<&str> {
        match &self.place {
            Place::Embedded(Embedded::Remote { url }) => Some(url),
            _ => None,
        }
    }
}

/// Whether the name of a file says that it is a store.
pub(crate) fn without_extension(path: &Path) -> Option<PathBuf> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    EXTENSIONS.contains(&extension.as_str()).then(|| path.with_extension(""))
}

/// What finding out about an archive may take: whoever opens it has limits of his own.
fn look() -> Limits {
    Limits::new().with_max_allocation(64 << 20)
}

/// Whether there is a store at `path`, by its content.
pub(crate) fn is_store(path: &Path) -> Outcome<bool> {
    let there = path.metadata().at_path(path)?;
    if there.is_dir() {
        let embed = path.join(EMBED_NAME);
        // In stores of earlier releases, as 4.0.0, only the name of the directory tells it from any
        // other.
        let is_named = without_extension(path).is_some();
        let is_store = |frame: &Frame| embed::is_of_store(frame) || is_named && embed::is_store(frame);
        return Ok(is_plain_file(&embed)? && frame_is(&embed, is_store)?);
    }
    if !there.is_file() {
        return Ok(false);
    }
    let bytes = FileStorage::open(path).at_path(path)?;
    if is_archive(&bytes) {
        return match zip::entries(&bytes, &look()) {
            Ok(entries) => Ok(has_embed(&entries)),
            Err(error) if error.kind() == ErrorKind::Io => Err(error).at_path(path),
            // What is wrong with a store is told by whoever opens it.
            Err(_) => Ok(without_extension(path).is_some()),
        };
    }
    frame_is(path, embed::is_store)
}

/// Whether there is a file, and no link, at `path`.
fn is_plain_file(path: &Path) -> Outcome<bool> {
    match path.symlink_metadata() {
        Ok(found) => Ok(found.is_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).at_path(path),
    }
}

/// Whether there is a frame at `path` of which something is true. One that is damaged is for others
/// to tell.
fn frame_is(path: &Path, is_so: impl FnOnce(&Frame) -> bool) -> Outcome<bool> {
    if !matches!(Container::detect_path(path).at_path(path)?, Some(Container::Frame)) {
        return Ok(false);
    }
    match Frame::open(path) {
        Ok(frame) => Ok(is_so(&frame)),
        Err(error) if error.kind() == ErrorKind::Io => Err(error).at_path(path),
        Err(_) => Ok(false),
    }
}

/// Refuses a frame that holds others: its data is of use to none but those who know where each is.
pub(crate) fn check_single(source: &Source) -> blosc_oxide::Result<()> {
    match source {
        Source::Frame(frame) if embed::is_store(frame) => Err(Error::new(ErrorKind::Unsupported, SEVERAL)),
        _ => Ok(()),
    }
}

fn has_embed(entries: &[zip::Entry]) -> bool {
    entries.iter().any(|entry| entry.name == EMBED_NAME)
}

/// What there is to say about an archive where one file is wanted.
pub(crate) fn archive_fault(bytes: &dyn ReadAt) -> String {
    match zip::entries(bytes, &look()) {
        Ok(entries) if has_embed(&entries) => SEVERAL.to_owned(),
        Ok(_) => NO_STORE.to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Whether bytes that start like this are an archive.
pub(crate) fn is_archive(bytes: &(impl ReadAt + ?Sized)) -> bool {
    let mut head = [0; 4];
    bytes.read_at(0, &mut head).is_ok() && zip::is_zip(&head)
}

/// The store and the name of the member that a path leads to, if a part of it is there and the rest
/// is not.
pub(crate) fn split(path: &Path) -> Option<(&Path, String)> {
    if input::is_stream(path) || path.symlink_metadata().is_ok() {
        return None;
    }
    let mut above = path.ancestors().skip(1).filter(|ancestor| !ancestor.as_os_str().is_empty());
    let store = above.find(|ancestor| is_store(ancestor).unwrap_or(false))?;
    let member = path.strip_prefix(store).ok()?.to_str()?.to_owned();
    Some((store, member))
}

/// The paths of all that is in a store, or of the file itself if it is none.
pub(crate) fn expanded(path: &Path, opening: &Opening) -> Outcome<Vec<PathBuf>> {
    if input::is_stream(path) || !path.exists() || !is_store(path)? {
        return Ok(vec![path.to_owned()]);
    }
    let store = Store::open(path, opening)?;
    let mut paths = Vec::new();
    if store.kind == Kind::Embedded {
        paths.push(path.to_owned());
    }
    for member in store.members() {
        let shown = path.join(member.name());
        if member.remote().is_none() && store.is_blosc(member)? {
            paths.push(shown);
        } else {
            store.check_sum(member).at_path(&shown)?;
        }
    }
    if store.kind != Kind::Embedded && store.embed.is_some() {
        paths.push(path.join(EMBED_NAME));
    }
    Ok(paths)
}

impl Store {
    /// Opens the store at `path`.
    pub(crate) fn open(path: &Path, opening: &Opening) -> Outcome<Self> {
        let limits = opening.limits();
        let mut store = Self { path: path.to_owned(), kind: Kind::Zip, members: Vec::new(), embed: None, limits };
        if path.is_dir() {
            store.kind = Kind::Directory;
            store.list_directory()?;
        } else if is_archive(&FileStorage::open(path).at_path(path)?) {
            store.list_archive().in_data(path.display())?;
        } else {
            store.kind = Kind::Embedded;
            store.embed = Some(Frame::open_with(path, &opening.options()).in_data(path.display())?);
        }
        store.open_embedded(opening).in_data(path.display())?;
        store.members.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(store)
    }

    fn list_archive(&mut self) -> blosc_oxide::Result<()> {
        let bytes = FileStorage::open(&self.path)?;
        self.members = zip::entries(&bytes, &self.limits)?
            .into_iter()
            .map(|zip::Entry { name, offset, len, crc }| Member::of_file(name, Place::Window { offset, len, crc }))
            .collect();
        Ok(())
    }

    /// Every file of the directory. Links would lead out of it.
    fn list_directory(&mut self) -> Outcome {
        let mut open = vec![self.path.clone()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).at_path(&directory)? {
                let entry = entry.at_path(&directory)?;
                let (path, kind) = (entry.path(), entry.file_type().at_path(&directory)?);
                let inside = path.strip_prefix(&self.path).ok().and_then(Path::to_str).map(str::to_owned);
                let shown = path.display();
                let name = inside.ok_or_else(|| Failure::data(format!("{shown}: the name is no UTF-8")))?;
                names::check(&name).map_err(|fault| Failure::data(format!("{}: {fault}", self.path.display())))?;
                if kind.is_dir() && !format::is_sparse_frame(&path)? {
                    open.push(path);
                } else if kind.is_file() || kind.is_dir() {
                    self.members.push(Member::of_file(name, Place::File(path)));
                } else {
                    return Err(Failure::data(format!("{shown}: a link or a device has no place in a store")));
                }
            }
        }
        Ok(())
    }

    /// Adds what is in the frame that holds others. What has a file of its own goes first, as in
    /// python-blosc2.
    fn open_embedded(&mut self, opening: &Opening) -> blosc_oxide::Result<()> {
        if let Some(place) = self.members.iter().position(|member| member.file.as_deref() == Some(EMBED_NAME)) {
            let member = self.members.remove(place);
            let bytes = self.bytes(&member)?;
            self.embed = Some(Frame::open_with(Location::source(bytes), &opening.options())?);
        }
        let Some(frame) = &self.embed else {
            return Err(Error::new(ErrorKind::Unsupported, NO_STORE));
        };
        let known: HashSet<String> = self.members.iter().map(|member| member.key.clone()).collect();
        for (key, embedded) in embed::embedded(frame, &self.limits)? {
            let key = key.strip_prefix('/').unwrap_or(&key).to_owned();
            names::check(&key).map_err(|fault| Error::new(ErrorKind::Unsupported, fault))?;
            if !known.contains(&key) {
                self.members.push(Member { key, file: None, place: Place::Embedded(embedded) });
            }
        }
        Ok(())
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// What there is, sorted.
    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// The file whose permissions all others have.
    fn model(&self) -> PathBuf {
        if self.kind == Kind::Directory { self.path.join(EMBED_NAME) } else { self.path.clone() }
    }

    /// The member of a name, with or without its extension.
    pub(crate) fn find(&self, name: &str) -> Outcome<Member> {
        if name == EMBED_NAME && self.kind != Kind::Embedded {
            return self.embed_member();
        }
        let by_file = self.members.iter().find(|member| member.file.as_deref() == Some(name));
        let mut by_key = self.members.iter().filter(|member| member.key == name);
        let place = self.path.display();
        match (by_file, by_key.next(), by_key.next()) {
            (Some(member), ..) | (None, Some(member), None) => Ok(member.clone()),
            (None, Some(one), Some(other)) => {
                Err(Failure::usage(format!("{place}: {name:?} can be {} or {}", one.name(), other.name())))
            }
            (None, None, _) => {
                Err(Failure::usage(format!("{place}: there is no member {name:?}; `blosc info` lists them")))
            }
        }
    }

    /// The frame that holds others, as a file.
    fn embed_member(&self) -> Outcome<Member> {
        let place = match self.kind {
            Kind::Zip => {
                let bytes = FileStorage::open(&self.path).at_path(&self.path)?;
                let all = zip::entries(&bytes, &self.limits).in_data(self.path.display())?;
                let entry = all.into_iter().find(|entry| entry.name == EMBED_NAME);
                entry.map(|zip::Entry { offset, len, crc, .. }| Place::Window { offset, len, crc })
            }
            _ => Some(Place::File(self.path.join(EMBED_NAME))),
        };
        let missing = || Failure::data(format!("{}: there is no {EMBED_NAME}", self.path.display()));
        Ok(Member { key: "embed".to_owned(), file: Some(EMBED_NAME.to_owned()), place: place.ok_or_else(missing)? })
    }

    /// The bytes of a member, as they are stored.
    fn bytes(&self, member: &Member) -> blosc_oxide::Result<Bytes> {
        Ok(match &member.place {
            Place::Window { offset, len, .. } => input::window(Box::new(FileStorage::open(&self.path)?), *offset, *len),
            Place::File(path) => Box::new(FileStorage::open(path)?),
            Place::Embedded(Embedded::Frame { offset, len }) => {
                let Some(frame) = &self.embed else { return Err(without_data(member)) };
                Box::new(MemoryStorage::new(frame.bytes(*offset..offset.saturating_add(*len))?))
            }
            Place::Embedded(Embedded::Remote { .. }) => return Err(without_data(member)),
        })
    }

    /// Opens a member that is a Blosc file. Its checksum, if the store has one, is compared first
    /// if that is wanted.
    pub(crate) fn open_member(&self, member: &Member, opening: &Opening, is_checked: bool) -> Outcome<Source> {
        let shown = self.shown(member);
        if let Place::File(path) = &member.place
            && path.is_dir()
        {
            return opening.open(path);
        }
        if is_checked {
            self.check_sum(member).in_data(&shown)?;
        }
        opening.open_bytes(self.bytes(member).in_data(&shown)?, &shown)
    }

    /// How a member is called in messages, and on the command line.
    pub(crate) fn shown(&self, member: &Member) -> String {
        self.path.join(member.name()).display().to_string()
    }

    /// Whether a member is a Blosc file.
    pub(crate) fn is_blosc(&self, member: &Member) -> Outcome<bool> {
        match &member.place {
            Place::File(path) if path.is_dir() => Ok(true),
            Place::File(path) => format::has_blosc_content(path),
            Place::Embedded(_) => Ok(true),
            Place::Window { .. } => {
                let bytes = self.bytes(member).at(self.shown(member))?;
                format::is_blosc_bytes(&*bytes, Path::new(member.name())).at(self.shown(member))
            }
        }
    }

    /// How many bytes a member has in the store.
    pub(crate) fn stored(&self, member: &Member) -> u64 {
        match &member.place {
            Place::Window { len, .. } | Place::Embedded(Embedded::Frame { len, .. }) => *len,
            Place::File(path) => crate::arguments::size::of_path(path),
            Place::Embedded(Embedded::Remote { .. }) => 0,
        }
    }

    /// Compares the bytes of a member with the checksum that an archive has of them.
    fn check_sum(&self, member: &Member) -> blosc_oxide::Result<()> {
        match &member.place {
            Place::Window { .. } => self.copy_member(member, &mut io::sink()),
            _ => Ok(()),
        }
    }

    /// Writes the bytes of a member as they are stored.
    fn copy_member(&self, member: &Member, out: &mut dyn io::Write) -> blosc_oxide::Result<()> {
        let bytes = self.bytes(member)?;
        let (mut at, len) = (0, bytes.len()?);
        let mut sum = Crc32::new();
        let mut piece = Vec::new();
        while at < len {
            piece.resize(usize::try_from(PIECE.min(len - at)).unwrap_or_default(), 0);
            bytes.read_at(at, &mut piece)?;
            sum.update(&piece);
            out.write_all(&piece)?;
            at += piece.len() as u64;
        }
        match &member.place {
            Place::Window { crc, .. } if *crc != sum.value() => {
                let message = format!("the archive has checksum {crc:08x} of it, its bytes have {:08x}", sum.value());
                Err(Error::new(ErrorKind::ChecksumMismatch, message))
            }
            _ => Ok(()),
        }
    }
}

fn without_data(member: &Member) -> Error {
    let url = member.remote().unwrap_or_default();
    Error::new(ErrorKind::Unsupported, format!("a reference to a remote array ({url}), which has no data of its own"))
}
