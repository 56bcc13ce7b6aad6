//! What a repair has found, and what it could not know.

use crate::frame::read::verify::Damage;
use std::fmt;

/// By what the chunks of a damaged frame were found.
///
/// ```
/// use blosc_oxide::{Frame, Options, repair::RepairedBy, storage::MemoryStorage};
/// let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
/// edit.append(b"data")?;
/// let bytes = edit.commit()?.to_bytes()?;
/// let repair = Frame::repair(MemoryStorage::new(bytes), Options::new(1))?;
/// assert_eq!(repair.report().by, RepairedBy::Header);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RepairedBy {
    /// The frame opens as it is.
    Header,
    /// The header is lost, but a commit has left a copy of it.
    HeaderCopy,
    /// An index was found, the newest that fits the chunks.
    Index,
    /// No index was found, only chunks.
    Chunks,
}

/// What could not be known.
///
/// ```
/// use blosc_oxide::{Frame, Options, repair::RepairUnknown, storage::MemoryStorage};
/// let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
/// edit.append(b"data")?;
/// let mut bytes = edit.commit()?.to_bytes()?;
/// bytes[..80].fill(0);
/// let repair = Frame::repair(MemoryStorage::new(bytes), Options::new(1))?;
/// for unknown in &repair.report().unknown {
///     println!("{unknown}");
/// }
/// assert!(!repair.report().unknown.contains(&RepairUnknown::Deleted));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairUnknown {
    /// Codec, level, filters and typesize: they are those of the first chunk.
    Options,
    /// The metalayers.
    Metalayers,
    /// The variable-length metalayers.
    VlMetalayers,
    /// The order of the chunks: it is that of the bytes, or of the numbers of the files.
    Order,
    /// Which chunks had been deleted or replaced: they are there again.
    Deleted,
    /// Which chunks were of a special value, and not stored: they are not there.
    SpecialChunks,
    /// How long the last chunk was, which is not stored: it is as long as the others.
    LastLength,
    /// Whether this index is the newest: another may be among what is damaged.
    IsNewest,
    /// Everything from this byte on: it would have taken too long to recognise.
    Rest(u64),
}

/// A whole chunk that no index names.
///
/// ```
/// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
/// let storage = MemoryStorage::default();
/// let mut edit = Frame::create(storage.clone(), Options::new(1))?;
/// edit.append(b"old data")?;
/// edit.checkpoint()?;
/// edit.update(0, b"new data")?;
/// edit.commit()?;
/// let repair = Frame::repair(storage, Options::new(1))?;
/// let old: Vec<_> = repair.report().loose.iter().map(|chunk| repair.decompress_loose(chunk)).collect();
/// println!("replaced: {old:?}");
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LooseChunk {
    /// Where it starts, or the number of its file.
    pub position: u64,
    /// The size of its data.
    pub nbytes: usize,
    /// Its size.
    pub cbytes: usize,
    /// Whether it was written after the index, so that it was being added when the writer stopped.
    /// Other loose chunks have been deleted or replaced.
    pub is_uncommitted: bool,
}

/// What a repair has found, and what it could not know.
///
/// ```
/// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
/// let storage = MemoryStorage::default();
/// let mut edit = Frame::create(storage.clone(), Options::new(1))?;
/// edit.append(b"data")?;
/// edit.commit()?;
/// let repair = Frame::repair(storage, Options::new(1))?;
/// assert!(repair.report().is_whole());
/// assert_eq!((repair.report().nchunks, repair.report().damaged()), (1, 0));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct RepairReport {
    /// By what the chunks were found.
    pub by: RepairedBy,
    /// How many chunks there are, the damaged ones included.
    pub nchunks: usize,
    /// How many of them have a checksum to compare with.
    pub checksums: usize,
    /// How many chunks are damaged: they hold zeros in what is written.
    pub damaged_chunks: usize,
    /// How many metalayers are damaged: they are left out.
    pub damaged_metalayers: usize,
    /// What is wrong with the first 1000 of both.
    pub damage: Vec<Damage>,
    /// How many chunks and metalayers could not be examined, because their codec or a filter is not
    /// known here: they are written as they are.
    pub unexamined: usize,
    /// Whole chunks that are not among those.
    pub loose: Vec<LooseChunk>,
    /// How many bytes are no part of anything that is known.
    pub unrecognised: u64,
    /// What could not be known.
    pub unknown: Vec<RepairUnknown>,
}

impl RepairReport {
    pub(super) fn note(&mut self, damage: Damage) {
        let count = if damage.chunk.is_some() { &mut self.damaged_chunks } else { &mut self.damaged_metalayers };
        damage.note(count, &mut self.damage);
    }

    /// How many chunks and metalayers are damaged.
    #[must_use]
    pub fn damaged(&self) -> usize {
        self.damaged_chunks + self.damaged_metalayers
    }

    /// Whether something may be lost or in another order, though nothing of it is known to be
    /// damaged. That a newer state may have been there, and that options are those of the first
    /// chunk, does not count.
    #[must_use]
    pub fn may_be_incomplete(&self) -> bool {
        use RepairUnknown::{IsNewest, LastLength, Options};
        self.unknown.iter().any(|unknown| !matches!(unknown, IsNewest | LastLength | Options))
    }

    /// Whether everything is as it was written.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.damaged() == 0 && self.unexamined == 0 && self.unknown.is_empty()
    }
}

impl fmt::Display for RepairedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "its header",
            Self::HeaderCopy => "a copy of its header",
            Self::Index => "an index",
            Self::Chunks => "their own headers",
        })
    }
}

impl fmt::Display for RepairUnknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options => f.write_str("the options: they are those of the first chunk"),
            Self::Metalayers => f.write_str("the metalayers"),
            Self::VlMetalayers => f.write_str("the variable-length metalayers"),
            Self::Order => f.write_str("the order of the chunks: it is that in which they are stored"),
            Self::Deleted => f.write_str("which chunks had been deleted or replaced: they are there again"),
            Self::SpecialChunks => f.write_str("chunks of a special value, which are not stored"),
            Self::LastLength => f.write_str("the length of the last chunk: it is as long as the others"),
            Self::IsNewest => f.write_str("whether there was a newer state"),
            Self::Rest(position) => write!(f, "what there is from byte {position} on"),
        }
    }
}

impl fmt::Display for RepairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.nchunks == 1 { "" } else { "s" };
        writeln!(f, "{} chunk{plural} found by {}, {} of them damaged", self.nchunks, self.by, self.damaged_chunks)?;
        if self.damaged_metalayers > 0 {
            writeln!(f, "metalayers that are damaged, and left out: {}", self.damaged_metalayers)?;
        }
        for damage in &self.damage {
            writeln!(f, "damaged: {}", damage.error)?;
        }
        if self.damaged() > self.damage.len() {
            writeln!(f, "damaged: {} more", self.damaged() - self.damage.len())?;
        }
        if self.unexamined > 0 {
            writeln!(f, "not examined, because their codec or filters are not known: {}", self.unexamined)?;
        }
        let uncommitted = self.loose.iter().filter(|chunk| chunk.is_uncommitted).count();
        if !self.loose.is_empty() {
            let replaced = self.loose.len() - uncommitted;
            writeln!(f, "not used: {uncommitted} chunks that were never committed, {replaced} that had been replaced")?;
        }
        if self.unrecognised > 0 {
            writeln!(f, "{} bytes were not recognised", self.unrecognised)?;
        }
        self.unknown.iter().try_for_each(|unknown| writeln!(f, "not known: {unknown}"))
    }
}
