//! How a file is to be written.

use super::format::checksum::Checksum;
use super::format::header::{FileHeader, Sizes, Version};
use super::format::metadata::{self, MetadataOptions};
use crate::chunk::{Format, Options};
use crate::error::{Result, bail};

/// The chunk size of the reference.
pub(super) const DEFAULT_CHUNK_SIZE: usize = 1 << 20;
/// The most that a chunk with a header of 16 bytes can hold.
pub(super) const MAX_CHUNK_SIZE: usize = i32::MAX as usize - 16;
/// For how many times its chunks a table of offsets has room, unless told otherwise.
const DEFAULT_ROOM: u64 = 10;
/// How many entries a table starts with when no one knows how many chunks there will be.
const FIRST_ENTRIES: u64 = 4096;

/// Options for writing files; built by value and checked once, when writing starts.
///
/// | option | range | default |
/// |---|---|---|
/// | how chunks are compressed | any [`Options`] that fit a Blosc1 chunk | none, they must be given |
/// | version | 1 to 3 | 3 |
/// | chunk size | 1 to 2,147,483,631 bytes, rounded down to whole items | 1 MiB |
/// | checksum | any; none in version 1 | adler32 |
/// | offsets | not in version 1 and not to a stream | wherever they can be |
/// | room for appending | in version 3, with offsets | ten times the chunks |
/// | metadata | JSON, in version 3 | none |
/// | length of the data | | not known |
///
/// ```
/// use blosc_oxide::bloscpack::{BloscpackOptions, Checksum};
/// use blosc_oxide::{Codec, Options};
/// let options = BloscpackOptions::new(Options::new(8).with_codec(Codec::Zstd)).with_checksum(Checksum::Sha256);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloscpackOptions {
    chunk: Options,
    version: Version,
    chunk_size: usize,
    checksum: Option<Checksum>,
    offsets: Option<bool>,
    room: Option<u64>,
    metadata: Option<String>,
    metadata_options: MetadataOptions,
    nbytes: Option<u64>,
}

impl BloscpackOptions {
    /// The defaults, with chunks that are compressed as `chunk` says. They are always Blosc1
    /// chunks.
    #[must_use]
    pub fn new(chunk: Options) -> Self {
        Self {
            chunk: chunk.with_format(Format::Blosc1),
            version: Version::default(),
            chunk_size: DEFAULT_CHUNK_SIZE,
            checksum: None,
            offsets: None,
            room: None,
            metadata: None,
            metadata_options: MetadataOptions::new(),
            nbytes: None,
        }
    }

    /// Sets the version of the format. No reader but this one knows another than 3.
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Sets how many bytes of data a chunk holds.
    #[must_use]
    pub fn with_chunk_size(mut self, bytes: usize) -> Self {
        self.chunk_size = bytes;
        self
    }

    /// Sets the checksum of chunks.
    #[must_use]
    pub fn with_checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = Some(checksum);
        self
    }

    /// Sets whether there is a table of offsets.
    #[must_use]
    pub fn with_offsets(mut self, offsets: bool) -> Self {
        self.offsets = Some(offsets);
        self
    }

    /// Sets for how many more chunks the table of offsets has room. Where the length of the data is
    /// not known beforehand, it can become more.
    #[must_use]
    pub fn with_room(mut self, chunks: u64) -> Self {
        self.room = Some(chunks);
        self
    }

    /// Sets the metadata: a JSON text. It is stored without white space and with all but ASCII
    /// escaped.
    #[must_use]
    pub fn with_metadata(mut self, json: impl Into<String>) -> Self {
        self.metadata = Some(json.into());
        self
    }

    /// Sets how the metadata is stored.
    #[must_use]
    pub fn with_metadata_options(mut self, options: MetadataOptions) -> Self {
        self.metadata_options = options;
        self
    }

    /// Announces how many bytes of data there will be. The header of a stream says so then instead
    /// of leaving it open, and a table of offsets gets its right size at once.
    #[must_use]
    pub fn with_nbytes(mut self, bytes: impl Into<Option<u64>>) -> Self {
        self.nbytes = bytes.into();
        self
    }

    /// The same with chunks of items of `typesize` bytes.
    pub(super) fn typesize(mut self, typesize: usize) -> Self {
        self.chunk.typesize = typesize;
        self
    }

    /// How chunks are compressed.
    #[must_use]
    pub fn chunk(&self) -> &Options {
        &self.chunk
    }

    /// The version of the format.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// How many bytes of data a chunk holds.
    #[must_use]
    pub fn chunk_size(&self) -> usize {
        self.chunk_size
    }

    /// The checksum of chunks that was asked for; `None` leaves it to the version.
    #[must_use]
    pub fn checksum(&self) -> Option<Checksum> {
        self.checksum
    }

    /// Whether a table of offsets was asked for; `None` writes one wherever it can be.
    #[must_use]
    pub fn offsets(&self) -> Option<bool> {
        self.offsets
    }

    /// For how many more chunks the table of offsets is to have room; `None` is ten times the
    /// chunks.
    #[must_use]
    pub fn room(&self) -> Option<u64> {
        self.room
    }

    /// The metadata, as it was given.
    #[must_use]
    pub fn metadata(&self) -> Option<&str> {
        self.metadata.as_deref()
    }

    /// How the metadata is stored.
    #[must_use]
    pub fn metadata_options(&self) -> MetadataOptions {
        self.metadata_options
    }

    /// How many bytes of data were announced.
    #[must_use]
    pub fn nbytes(&self) -> Option<u64> {
        self.nbytes
    }

    /// What is written before the chunks, to a stream or to where it can be filled in later.
    pub(super) fn plan(&self, is_stream: bool) -> Result<Plan> {
        let chunk_size = self.whole_chunk_size();
        let last = self.nbytes.map(|nbytes| last_chunk(nbytes, chunk_size));
        let nchunks = self.nbytes.map(|nbytes| nchunks(nbytes, chunk_size));
        self.plan_for(is_stream, Sizes { chunk: Some(chunk_size), last }, nchunks)
    }

    /// The same for chunks of given sizes and number.
    pub(super) fn plan_for(&self, is_stream: bool, sizes: Sizes, nchunks: Option<u64>) -> Result<Plan> {
        self.check(is_stream)?;
        let has_offsets = self.version != Version::V1 && self.offsets.unwrap_or(!is_stream);
        let section = match &self.metadata {
            Some(text) => metadata::encode(text, &self.metadata_options)?,
            None => Vec::new(),
        };
        let header = if self.version == Version::V1 {
            FileHeader::v1(None)
        } else {
            // A typesize that does not fit its byte is 1, as in the header of a chunk.
            let typesize = u8::try_from(self.chunk.typesize).unwrap_or(1);
            FileHeader::later(self.version, self.chunk_checksum(), typesize, has_offsets, self.metadata.is_some())
        };
        let entries = if has_offsets { self.table_entries(nchunks) } else { 0 };
        let room = nchunks.map_or(0, |nchunks| entries.saturating_sub(nchunks));
        let header = header.with_counts(sizes, nchunks, room);
        Ok(Plan { header, section, entries, room: self.room, nbytes: self.nbytes })
    }

    /// The checksum of chunks in this version.
    pub(super) fn chunk_checksum(&self) -> Checksum {
        if self.version == Version::V1 { Checksum::None } else { self.checksum.unwrap_or_default() }
    }

    /// The chunk size in whole items.
    pub(super) fn whole_chunk_size(&self) -> usize {
        whole_items(self.chunk_size, self.chunk.typesize)
    }

    fn table_entries(&self, nchunks: Option<u64>) -> u64 {
        let (wanted, in_all) = match nchunks {
            Some(nchunks) => (self.room.unwrap_or(nchunks.saturating_mul(DEFAULT_ROOM)), nchunks),
            None => (self.room.unwrap_or_default(), FIRST_ENTRIES),
        };
        let room = if self.version == Version::V3 { wanted } else { 0 };
        in_all.saturating_add(room)
    }

    fn check(&self, is_stream: bool) -> Result<()> {
        if !(1..=MAX_CHUNK_SIZE).contains(&self.chunk_size) {
            bail!(InvalidArgument, "chunk size is {}, it can be 1 to {MAX_CHUNK_SIZE}", self.chunk_size);
        }
        let version = self.version;
        let has_checksum = self.checksum.is_some_and(|checksum| checksum != Checksum::None);
        if version == Version::V1 && (has_checksum || self.offsets == Some(true)) {
            bail!(InvalidArgument, "version 1 has neither checksums nor offsets");
        }
        if version != Version::V3 && self.metadata.is_some() {
            bail!(InvalidArgument, "version {version} has no metadata");
        }
        let has_room = self.room.is_some_and(|room| room > 0);
        if has_room && (version != Version::V3 || self.offsets == Some(false)) {
            bail!(InvalidArgument, "room for appending is part of the offsets of version 3");
        }
        if is_stream && (self.offsets == Some(true) || has_room) {
            bail!(InvalidArgument, "a stream has no offsets: no one could fill them in");
        }
        Ok(())
    }
}

/// What stands before the chunks.
#[derive(Debug)]
pub(super) struct Plan {
    /// The header, as far as it is known.
    pub(super) header: FileHeader,
    /// The metadata section.
    pub(super) section: Vec<u8>,
    /// How many entries the table of offsets has, to begin with.
    pub(super) entries: u64,
    /// How many of them must be free in the end.
    pub(super) room: Option<u64>,
    /// How much data was announced.
    pub(super) nbytes: Option<u64>,
}

/// `size` rounded down to whole items, and up to one.
pub(super) fn whole_items(size: usize, typesize: usize) -> usize {
    let typesize = typesize.max(1);
    (size - size % typesize).max(typesize.min(MAX_CHUNK_SIZE))
}

/// How many chunks `nbytes` make; no data is one empty chunk.
pub(super) fn nchunks(nbytes: u64, chunk_size: usize) -> u64 {
    nbytes.div_ceil(chunk_size.max(1) as u64).max(1)
}

fn last_chunk(nbytes: u64, chunk_size: usize) -> usize {
    let full = (nchunks(nbytes, chunk_size) - 1) * chunk_size as u64;
    usize::try_from(nbytes - full).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> BloscpackOptions {
        BloscpackOptions::new(Options::new(8)).with_chunk_size(16384)
    }

    #[test]
    fn known_lengths_are_in_the_header_at_once() {
        let plan = options().with_nbytes(40_000).plan(false).unwrap();
        assert_eq!((plan.header.nchunks(), plan.header.max_app_chunks(), plan.entries), (Some(3), 30, 33));
        assert_eq!((plan.header.chunk_size(), plan.header.last_chunk()), (Some(16384), Some(7232)));
        let empty = options().with_nbytes(0).with_room(2).plan(false).unwrap();
        assert_eq!((empty.header.nchunks(), empty.header.last_chunk(), empty.entries), (Some(1), Some(0), 3));
    }

    #[test]
    fn unknown_lengths_are_left_open() {
        let plan = options().plan(true).unwrap();
        assert_eq!((plan.header.nchunks(), plan.header.last_chunk()), (None, None));
        assert_eq!((plan.header.has_offsets(), plan.header.max_app_chunks()), (false, 0));
    }

    #[test]
    fn contradictions_are_refused() {
        let refuse = |options: BloscpackOptions, is_stream| options.plan(is_stream).unwrap_err().to_string();
        assert_eq!(refuse(options().with_chunk_size(0), false), "chunk size is 0, it can be 1 to 2147483631");
        let first = options().with_version(Version::V1);
        assert_eq!(refuse(first.clone().with_offsets(true), false), "version 1 has neither checksums nor offsets");
        assert_eq!(refuse(first.with_metadata("{}"), false), "version 1 has no metadata");
        let second = options().with_version(Version::V2).with_room(1);
        assert_eq!(refuse(second, false), "room for appending is part of the offsets of version 3");
        assert_eq!(refuse(options().with_offsets(true), true), "a stream has no offsets: no one could fill them in");
    }

    #[test]
    fn chunks_hold_whole_items() {
        assert_eq!(whole_items(1 << 20, 12), 1_048_572);
        assert_eq!(whole_items(5, 12), 12);
        assert_eq!(whole_items(7, 1), 7);
    }
}
