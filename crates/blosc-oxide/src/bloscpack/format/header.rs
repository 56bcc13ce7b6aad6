//! The 16 or 32 bytes at the start of a file. Nothing else reads or writes them.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::checksum::Checksum;
use crate::bytes::{array_at, le_i32, le_i64};
use crate::error::{Result, bail, error};
use std::fmt;

const MAGIC: [u8; 4] = *b"blpk";
/// The length of a header of version 1.
pub(in crate::bloscpack) const V1_LEN: usize = 16;
/// The length of a header of any later version.
pub(in crate::bloscpack) const LEN: usize = 32;
/// What stands for a number that is not known.
const UNKNOWN: i32 = -1;

const HAS_OFFSETS: u8 = 0x01;
const HAS_METADATA: u8 = 0x02;

/// A version of the format.
///
/// ```
/// use blosc_oxide::bloscpack::{BloscpackOptions, Version};
/// use blosc_oxide::Options;
/// let options = BloscpackOptions::new(Options::new(1)).with_version(Version::V2);
/// assert_eq!(options.version().number(), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Version {
    /// Releases 0.1.x: the number of chunks and nothing else.
    V1,
    /// Releases 0.2.x: checksums and offsets.
    V2,
    /// Release 0.3.0 and later: metadata and room for appending.
    #[default]
    V3,
}

impl Version {
    /// The number in the file.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::V1 => 1,
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }

    /// The version with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::V1, Self::V2, Self::V3].into_iter().find(|version| version.number() == number)
    }

    /// How long its header is.
    pub(in crate::bloscpack) fn header_len(self) -> usize {
        if self == Self::V1 { V1_LEN } else { LEN }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// Whether bytes start as a file does.
pub(crate) fn is_bloscpack(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The header of a file, with numbers that fit together.
///
/// ```
/// use blosc_oxide::bloscpack::{BloscpackOptions, FileHeader, pack_slice};
/// use blosc_oxide::Options;
/// let file = pack_slice(&[7; 3000], &BloscpackOptions::new(Options::new(1)).with_chunk_size(1000))?;
/// let header = FileHeader::parse(&file)?;
/// assert_eq!((header.nchunks(), header.chunk_size()), (Some(3), Some(1000)));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHeader {
    version: Version,
    has_offsets: bool,
    has_metadata: bool,
    checksum: Checksum,
    typesize: u8,
    sizes: Sizes,
    nchunks: Option<u64>,
    max_app_chunks: u64,
}

/// The sizes of chunks, as far as the header knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::bloscpack) struct Sizes {
    /// Of every chunk but the last.
    pub(in crate::bloscpack) chunk: Option<usize>,
    /// Of the last chunk.
    pub(in crate::bloscpack) last: Option<usize>,
}

impl FileHeader {
    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// `Truncated` if it is not all there, `Unsupported` for a version, option or checksum of the
    /// future, `Corrupt` if it is none or its numbers contradict each other.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let Some(start) = array_at::<8>(bytes, 0) else {
            bail!(Truncated, "header: {V1_LEN} bytes needed at least, {} given", bytes.len());
        };
        let [m0, m1, m2, m3, number, rest @ ..] = start;
        let magic = [m0, m1, m2, m3];
        if magic != MAGIC {
            bail!(Corrupt, "header: starts with \"{}\", not with \"blpk\"", magic.escape_ascii());
        }
        let Some(version) = Version::from_number(number) else {
            bail!(Unsupported, "header: version {number} is not one of 1 to 3");
        };
        if bytes.len() < version.header_len() {
            bail!(Truncated, "header: {} bytes needed, {} given", version.header_len(), bytes.len());
        }
        if version == Version::V1 { Self::parse_v1(bytes, rest) } else { Self::parse_later(bytes, version, rest) }
    }

    fn parse_v1(bytes: &[u8], reserved: [u8; 3]) -> Result<Self> {
        if reserved != [0; 3] {
            bail!(Corrupt, "header: bytes 5 to 7 are reserved in version 1, they are {reserved:?}");
        }
        let nchunks = count("nchunks", le_i64(bytes, 8).unwrap_or_default())?;
        Ok(Self::v1(nchunks))
    }

    fn parse_later(bytes: &[u8], version: Version, [options, checksum, typesize]: [u8; 3]) -> Result<Self> {
        let known = if version == Version::V3 { HAS_OFFSETS | HAS_METADATA } else { HAS_OFFSETS };
        if options & !known != 0 {
            bail!(Unsupported, "header: options are {options:#04x}, version {version} knows {known:#04x}");
        }
        let Some(checksum) = Checksum::from_id(checksum) else {
            bail!(Unsupported, "header: checksum {checksum} is not one of 0 to 8");
        };
        let size = |what, at| size(what, le_i32(bytes, at).unwrap_or_default());
        let sizes = Sizes { chunk: size("chunk_size", 8)?, last: size("last_chunk", 12)? };
        if let Sizes { chunk: Some(chunk), last: Some(last) } = sizes
            && last > chunk
        {
            bail!(Corrupt, "header: last_chunk is {last}, more than chunk_size, which is {chunk}");
        }
        let nchunks = count("nchunks", le_i64(bytes, 16).unwrap_or_default())?;
        if let (Some(0), Some(last @ 1..)) = (nchunks, sizes.last) {
            bail!(Corrupt, "header: nchunks is 0, but last_chunk is {last}");
        }
        Ok(Self {
            version,
            has_offsets: options & HAS_OFFSETS != 0,
            has_metadata: options & HAS_METADATA != 0,
            checksum,
            typesize,
            sizes,
            nchunks,
            max_app_chunks: room(version, nchunks, le_i64(bytes, 24).unwrap_or_default())?,
        })
    }

    /// A header of version 1, which has nothing but the number of chunks.
    pub(in crate::bloscpack) fn v1(nchunks: Option<u64>) -> Self {
        Self {
            version: Version::V1,
            has_offsets: false,
            has_metadata: false,
            checksum: Checksum::None,
            typesize: 0,
            sizes: Sizes::default(),
            nchunks,
            max_app_chunks: 0,
        }
    }

    /// A header of version 2 or 3 of a file whose length is not known yet.
    pub(in crate::bloscpack) fn later(
        version: Version,
        checksum: Checksum,
        typesize: u8,
        offsets: bool,
        metadata: bool,
    ) -> Self {
        Self { version, has_offsets: offsets, has_metadata: metadata, checksum, typesize, ..Self::v1(None) }
    }

    /// The same header with other numbers; version 1 has no place for most of them.
    pub(in crate::bloscpack) fn with_counts(mut self, sizes: Sizes, nchunks: Option<u64>, max_app_chunks: u64) -> Self {
        self.nchunks = nchunks;
        if self.version != Version::V1 {
            self.sizes = sizes;
        }
        if self.version == Version::V3 {
            self.max_app_chunks = max_app_chunks;
        }
        self
    }

    /// Whether nothing in it tells how much data there is: then there may be none, and no chunk.
    pub(in crate::bloscpack) fn tells_no_size(&self) -> bool {
        self.nchunks.is_none() && self.sizes == Sizes::default()
    }

    /// The header as bytes: 32 of them, of which a header of version 1 is the first 16.
    fn to_array(self) -> [u8; LEN] {
        let [m0, m1, m2, m3] = MAGIC;
        let [c0, c1, c2, c3] = stored_size(self.sizes.chunk);
        let [l0, l1, l2, l3] = stored_size(self.sizes.last);
        let [n0, n1, n2, n3, n4, n5, n6, n7] = stored_count(self.nchunks);
        let [a0, a1, a2, a3, a4, a5, a6, a7] = stored_count(Some(self.max_app_chunks));
        let version = self.version.number();
        if self.version == Version::V1 {
            #[rustfmt::skip]
            let bytes = [
                m0, m1, m2, m3, version, 0, 0, 0, n0, n1, n2, n3, n4, n5, n6, n7,
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            ];
            return bytes;
        }
        #[rustfmt::skip]
        let bytes = [
            m0, m1, m2, m3, version, self.options(), self.checksum.id(), self.typesize,
            c0, c1, c2, c3, l0, l1, l2, l3,
            n0, n1, n2, n3, n4, n5, n6, n7, a0, a1, a2, a3, a4, a5, a6, a7,
        ];
        bytes
    }

    /// The header as bytes.
    pub(in crate::bloscpack) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.to_array().to_vec();
        bytes.truncate(self.len());
        bytes
    }

    /// How many bytes it has.
    pub(in crate::bloscpack) fn len(&self) -> usize {
        self.version.header_len()
    }

    pub(in crate::bloscpack) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The version of the format.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The byte of options as it is.
    #[must_use]
    pub fn options(&self) -> u8 {
        let offsets = if self.has_offsets { HAS_OFFSETS } else { 0 };
        let metadata = if self.has_metadata { HAS_METADATA } else { 0 };
        offsets | metadata
    }

    /// Whether there is a table of offsets.
    #[must_use]
    pub fn has_offsets(&self) -> bool {
        self.has_offsets
    }

    /// Whether there is a metadata section.
    #[must_use]
    pub fn has_metadata(&self) -> bool {
        self.has_metadata
    }

    /// The checksum that follows each chunk.
    #[must_use]
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// The size of an item; 0 in version 1, which does not say.
    #[must_use]
    pub fn typesize(&self) -> u8 {
        self.typesize
    }

    /// The size of every chunk but the last, if it is known and they are all the same.
    #[must_use]
    pub fn chunk_size(&self) -> Option<usize> {
        self.sizes.chunk
    }

    /// The size of the last chunk, if it is known.
    #[must_use]
    pub fn last_chunk(&self) -> Option<usize> {
        self.sizes.last
    }

    /// The number of chunks, if it is known: a streaming writer leaves it open.
    #[must_use]
    pub fn nchunks(&self) -> Option<u64> {
        self.nchunks
    }

    /// For how many more chunks the table of offsets has room.
    #[must_use]
    pub fn max_app_chunks(&self) -> u64 {
        self.max_app_chunks
    }

    /// How many entries the table of offsets has; `None` if that is not known.
    pub(in crate::bloscpack) fn table_entries(&self) -> Option<u64> {
        Some(self.nchunks?.saturating_add(self.max_app_chunks))
    }
}

fn size(what: &str, stored: i32) -> Result<Option<usize>> {
    match usize::try_from(stored) {
        Ok(size) => Ok(Some(size)),
        Err(_) if stored == UNKNOWN => Ok(None),
        Err(_) => bail!(Corrupt, "header: {what} is {stored}, it can be -1 or more"),
    }
}

fn count(what: &str, stored: i64) -> Result<Option<u64>> {
    match u64::try_from(stored) {
        Ok(count) => Ok(Some(count)),
        Err(_) if stored == i64::from(UNKNOWN) => Ok(None),
        Err(_) => bail!(Corrupt, "header: {what} is {stored}, it can be -1 or more"),
    }
}

/// What bytes 24 to 31 say about room for appending.
fn room(version: Version, nchunks: Option<u64>, stored: i64) -> Result<u64> {
    if version != Version::V3 && stored != 0 {
        bail!(Corrupt, "header: bytes 24 to 31 are reserved in version {version}, they are {stored}");
    }
    if nchunks.is_none() && stored == i64::from(UNKNOWN) {
        return Ok(0);
    }
    let room = u64::try_from(stored).map_err(|_| error!(Corrupt, "header: max_app_chunks is {stored}"))?;
    let Some(nchunks) = nchunks else {
        if room > 0 {
            bail!(Corrupt, "header: max_app_chunks is {room}, but nchunks is -1");
        }
        return Ok(0);
    };
    if nchunks.saturating_add(room) > i64::MAX.unsigned_abs() {
        bail!(Corrupt, "header: nchunks {nchunks} and max_app_chunks {room} are more than 2^63-1 in all");
    }
    Ok(room)
}

fn stored_size(size: Option<usize>) -> [u8; 4] {
    size.and_then(|size| i32::try_from(size).ok()).unwrap_or(UNKNOWN).to_le_bytes()
}

fn stored_count(count: Option<u64>) -> [u8; 8] {
    count.and_then(|count| i64::try_from(count).ok()).unwrap_or(i64::from(UNKNOWN)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Vec<u8> {
        let sizes = Sizes { chunk: Some(16384), last: Some(7232) };
        FileHeader::later(Version::V3, Checksum::Adler32, 8, true, false).with_counts(sizes, Some(3), 30).to_bytes()
    }

    fn message(at: usize, bytes: &[u8]) -> String {
        let mut header = good();
        header.splice(at..at.saturating_add(bytes.len()), bytes.iter().copied());
        FileHeader::parse(&header).unwrap_err().to_string()
    }

    #[test]
    fn a_header_comes_back() {
        let header = FileHeader::parse(&good()).unwrap();
        assert_eq!((header.chunk_size(), header.last_chunk()), (Some(16384), Some(7232)));
        assert_eq!((header.nchunks(), header.max_app_chunks()), (Some(3), 30));
        assert_eq!((header.checksum(), header.typesize(), header.options()), (Checksum::Adler32, 8, 1));
        assert_eq!(header.to_bytes(), good());
    }

    #[test]
    fn placeholders_come_back() {
        let header = FileHeader::later(Version::V2, Checksum::None, 4, false, false);
        assert_eq!(FileHeader::parse(&header.to_bytes()).unwrap(), header);
        assert_eq!(header.to_bytes()[8..24], [255; 16]);
        assert_eq!(header.nchunks(), None);
        let first = FileHeader::v1(Some(7));
        assert_eq!(first.to_bytes().len(), 16);
        assert_eq!(FileHeader::parse(&first.to_bytes()).unwrap(), first);
    }

    #[test]
    fn every_bad_field_is_named() {
        assert_eq!(message(0, b"blpq"), "header: starts with \"blpq\", not with \"blpk\"");
        assert_eq!(message(4, &[4]), "header: version 4 is not one of 1 to 3");
        assert_eq!(message(4, &[2]), "header: bytes 24 to 31 are reserved in version 2, they are 30");
        assert_eq!(message(4, &[1]), "header: bytes 5 to 7 are reserved in version 1, they are [1, 1, 8]");
        assert_eq!(message(5, &[0x81]), "header: options are 0x81, version 3 knows 0x03");
        assert_eq!(message(6, &[9]), "header: checksum 9 is not one of 0 to 8");
        assert_eq!(message(8, &[0xfe, 255, 255, 255]), "header: chunk_size is -2, it can be -1 or more");
        assert_eq!(message(12, &[1, 0x40]), "header: last_chunk is 16385, more than chunk_size, which is 16384");
    }

    #[test]
    fn counts_must_fit_together() {
        assert_eq!(
            message(16, &[254, 255, 255, 255, 255, 255, 255, 255]),
            "header: nchunks is -2, it can be -1 or more"
        );
        assert_eq!(message(16, &[0; 8]), "header: nchunks is 0, but last_chunk is 7232");
        assert_eq!(message(16, &[255; 8]), "header: max_app_chunks is 30, but nchunks is -1");
        assert_eq!(message(24, &[255; 8]), "header: max_app_chunks is -1");
        let full = message(24, &i64::MAX.to_le_bytes());
        assert_eq!(full, "header: nchunks 3 and max_app_chunks 9223372036854775807 are more than 2^63-1 in all");
    }

    #[test]
    fn a_short_header_says_how_much_is_missing() {
        for len in 0..32 {
            let error = FileHeader::parse(&good()[..len]).unwrap_err();
            assert_eq!(error.kind(), crate::error::ErrorKind::Truncated, "{len} bytes: {error}");
        }
        assert_eq!(FileHeader::parse(&good()[..20]).unwrap_err().to_string(), "header: 32 bytes needed, 20 given");
    }

    fn with(at: usize, bytes: &[u8]) -> Result<FileHeader> {
        let mut header = good();
        header.splice(at..at.saturating_add(bytes.len()), bytes.iter().copied());
        FileHeader::parse(&header)
    }

    #[test]
    fn numbers_may_be_as_large_as_they_can_be() {
        assert_eq!(with(12, &16384_i32.to_le_bytes()).unwrap().last_chunk(), Some(16384));
        let most = (i64::MAX - 3).to_le_bytes();
        assert_eq!(with(24, &most).unwrap().table_entries(), Some(i64::MAX.unsigned_abs()));
        assert!(with(24, &(i64::MAX - 2).to_le_bytes()).is_err());
        let empty = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(with(12, &empty).unwrap().nchunks(), Some(0));
    }

    #[test]
    fn what_is_open_is_open_in_every_field_by_itself() {
        let open = with(8, &[255; 4]).unwrap();
        assert_eq!((open.chunk_size(), open.last_chunk(), open.nchunks()), (None, Some(7232), Some(3)));
        let open = with(12, &[255; 4]).unwrap();
        assert_eq!((open.chunk_size(), open.last_chunk()), (Some(16384), None));
        let mut counts = [255; 16];
        counts[8..].fill(0);
        let open = with(16, &counts).unwrap();
        assert_eq!((open.nchunks(), open.max_app_chunks(), open.table_entries()), (None, 0, None));
    }

    #[test]
    fn each_version_has_its_own_options_and_numbers() {
        let sizes = Sizes { chunk: Some(10), last: Some(5) };
        let both = FileHeader::later(Version::V3, Checksum::Sha512, 4, true, true).with_counts(sizes, Some(2), 7);
        assert_eq!((both.options(), both.has_offsets(), both.has_metadata()), (3, true, true));
        assert_eq!(FileHeader::parse(&both.to_bytes()).unwrap(), both);
        let second = FileHeader::later(Version::V2, Checksum::Crc32, 4, true, false).with_counts(sizes, Some(2), 7);
        assert_eq!((second.max_app_chunks(), second.sizes(), second.table_entries()), (0, sizes, Some(2)));
        assert_eq!(FileHeader::parse(&second.to_bytes()).unwrap(), second);
        assert_eq!((second.version(), second.checksum(), second.has_metadata()), (Version::V2, Checksum::Crc32, false));
        let mut metadata = second.to_bytes();
        metadata[5] = 2;
        let error = FileHeader::parse(&metadata).unwrap_err();
        assert_eq!(error.to_string(), "header: options are 0x02, version 2 knows 0x01");
        let first = FileHeader::v1(None).with_counts(sizes, Some(2), 7);
        assert_eq!((first.sizes(), first.max_app_chunks(), first.nchunks()), (Sizes::default(), 0, Some(2)));
        assert_eq!((first.version(), both.version()), (Version::V1, Version::V3));
        assert!(is_bloscpack(&first.to_bytes()) && !is_bloscpack(b"blp"));
    }
}
