//! The 96 bytes at the start. Nothing else reads or writes them.
//!
//! Whoever has a [`PackedHeader`] knows that the offset table and the first 16 bytes of each
//! special chunk lie inside the super-chunk, and that the super-chunk lies inside its storage.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::filters::PackedFilters;
use crate::bytes::{array_at, le_i64};
use crate::codec::Codec;
use crate::error::{Result, bail};
use std::fmt;

/// The length of the header.
pub(super) const HEADER_LEN: usize = 96;
const HEADER_END: u64 = HEADER_LEN as u64;
/// The length of an offset.
pub(super) const OFFSET_LEN: usize = 8;
/// The least that a chunk can have.
const MIN_CHUNK: u64 = 16;
const SPECIALS: usize = 4;
const CODEC_AT: usize = 4;
const LEVEL_AT: usize = 6;
const FILTERS_AT: usize = 8;
const FILTERS_META_AT: usize = 10;
const CHUNKSIZE_AT: usize = 12;
const NCHUNKS_AT: usize = 16;
const NBYTES_AT: usize = 24;
const CBYTES_AT: usize = 32;
const SPECIALS_AT: [usize; SPECIALS] = [40, 48, 56, 64];
const TABLE_AT: usize = 72;

/// The chunks that are not data.
///
/// ```
/// use blosc_oxide::legacy::{PackedOptions, PackedSpecial, PackedSuperChunk};
/// let bytes = PackedOptions::new(1).with_special(PackedSpecial::UserData, *b"kelvin").pack([b"data"])?;
/// let packed = PackedSuperChunk::open_in(&bytes[..])?;
/// assert_eq!(packed.special(PackedSpecial::UserData)?.as_deref(), Some(&b"kelvin"[..]));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PackedSpecial {
    /// What the delta filter refers to.
    Filters,
    /// Meant for codecs; no known writer ever had one.
    Codec,
    /// Meant for metadata; no known writer ever had one.
    Metadata,
    /// Meant for the user; no known writer ever had one.
    UserData,
}

impl PackedSpecial {
    /// All of them, in the order they are stored in.
    pub const ALL: [Self; SPECIALS] = [Self::Filters, Self::Codec, Self::Metadata, Self::UserData];
}

impl fmt::Display for PackedSpecial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Filters => "filters chunk",
            Self::Codec => "codec chunk",
            Self::Metadata => "metadata chunk",
            Self::UserData => "userdata chunk",
        })
    }
}

/// Where the special chunks start; 0 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Specials([u64; SPECIALS]);

impl Specials {
    pub(super) fn get(self, kind: PackedSpecial) -> Option<u64> {
        let pairs = PackedSpecial::ALL.into_iter().zip(self.0);
        pairs.filter(|&(other, offset)| other == kind && offset != 0).map(|(_, offset)| offset).next()
    }

    pub(super) fn set(&mut self, kind: PackedSpecial, offset: u64) {
        for (other, place) in PackedSpecial::ALL.into_iter().zip(&mut self.0) {
            if other == kind {
                *place = offset;
            }
        }
    }
}

/// What changes when chunks are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Body {
    pub(super) nchunks: u64,
    pub(super) nbytes: u64,
    pub(super) cbytes: u64,
    pub(super) specials: Specials,
    /// Where the offset table starts.
    pub(super) table: u64,
}

impl Body {
    /// The body of a super-chunk without any chunk.
    fn empty() -> Self {
        Self { nchunks: 0, nbytes: HEADER_END, cbytes: HEADER_END, specials: Specials::default(), table: HEADER_END }
    }
}

/// The header of a packed super-chunk, with places that lie inside it.
///
/// ```
/// use blosc_oxide::legacy::{PackedOptions, PackedSuperChunk};
/// let bytes = PackedOptions::new(4).pack([[7; 400], [8; 400]])?;
/// let packed = PackedSuperChunk::open_in(&bytes[..])?;
/// assert_eq!((packed.header().nchunks(), packed.nbytes()?), (2, 800));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedHeader {
    codec: Codec,
    level: u16,
    filters: PackedFilters,
    filters_meta: u16,
    chunksize: u32,
    body: Body,
}

/// Whether bytes start as a packed super-chunk does that is in a storage of `len` bytes. There may
/// be more of them than it has: an append that was killed leaves what it had not committed behind
/// the end.
pub(crate) fn is_packed(bytes: &[u8], len: u64) -> bool {
    PackedHeader::parse(bytes, len).is_ok()
}

impl PackedHeader {
    /// The header of a super-chunk without any chunk.
    pub(super) fn empty(codec: Codec, level: u8, filters: PackedFilters) -> Self {
        Self { codec, level: level.into(), filters, filters_meta: 0, chunksize: 0, body: Body::empty() }
    }

    /// The same parameters with another body.
    pub(super) fn with_body(self, body: Body) -> Self {
        Self { body, ..self }
    }

    /// The same parameters without any chunk.
    pub(super) fn without_body(self) -> Self {
        self.with_body(Body::empty())
    }

    pub(super) fn body(&self) -> &Body {
        &self.body
    }

    /// Reads the header at the start of `bytes`, which come from a storage of `len` bytes.
    pub(super) fn parse(bytes: &[u8], len: u64) -> Result<Self> {
        let Some(bytes) = array_at::<HEADER_LEN>(bytes, 0) else {
            bail!(Truncated, "packed header: {HEADER_LEN} bytes needed, {} given", bytes.len());
        };
        let [version, flags1, flags2, flags3, ..] = bytes;
        // There is no magic number; that the first four bytes are zero is all that tells the format
        // from others.
        if [version, flags1, flags2, flags3] != [0; 4] {
            bail!(Unsupported, "packed header: version {version} and flags {flags1}, {flags2}, {flags3} must be 0");
        }
        let short = |at| array_at(&bytes, at).map_or(0, u16::from_le_bytes);
        let Ok(codec) = u8::try_from(short(CODEC_AT)) else {
            bail!(Corrupt, "packed header: codec is {}, it can be 0 to 255", short(CODEC_AT));
        };
        let header = Self {
            codec: Codec::from_code(codec),
            level: short(LEVEL_AT),
            filters: PackedFilters::from_bits(short(FILTERS_AT)),
            filters_meta: short(FILTERS_META_AT),
            chunksize: array_at(&bytes, CHUNKSIZE_AT).map_or(0, u32::from_le_bytes),
            body: Body {
                nchunks: field(&bytes, "nchunks", NCHUNKS_AT)?,
                nbytes: field(&bytes, "nbytes", NBYTES_AT)?,
                cbytes: field(&bytes, "cbytes", CBYTES_AT)?,
                specials: specials(&bytes)?,
                table: field(&bytes, "the place of the offset table", TABLE_AT)?,
            },
        };
        header.check(len)?;
        Ok(header)
    }

    fn check(&self, len: u64) -> Result<()> {
        let Body { nchunks, cbytes, table, .. } = self.body;
        if cbytes < HEADER_END {
            bail!(Corrupt, "packed header: cbytes is {cbytes}, less than the header's {HEADER_LEN}");
        }
        if cbytes > len {
            bail!(Truncated, "packed super-chunk: cbytes is {cbytes}, {len} bytes are there");
        }
        for kind in PackedSpecial::ALL {
            if let Some(offset) = self.body.specials.get(kind) {
                self.check_chunk_start(kind, offset)?;
            }
        }
        let end = nchunks.checked_mul(OFFSET_LEN as u64).and_then(|size| table.checked_add(size));
        if nchunks > 0 && (table < HEADER_END || end.is_none_or(|end| end > cbytes)) {
            bail!(Corrupt, "packed header: {nchunks} offsets at {table} are not inside the {cbytes} bytes there are");
        }
        if nchunks > 0 && self.filters.has_delta() && self.body.specials.get(PackedSpecial::Filters).is_none() {
            bail!(Corrupt, "packed header: the filter is delta, but there is no chunk that it refers to");
        }
        Ok(())
    }

    /// Checks that at least the header of the chunk at `offset` is inside.
    pub(super) fn check_chunk_start(&self, what: impl fmt::Display, offset: u64) -> Result<()> {
        let last = self.body.cbytes.saturating_sub(MIN_CHUNK);
        if !(HEADER_END..=last).contains(&offset) {
            bail!(Corrupt, "{what}: starts at {offset}, chunks can be from {HEADER_LEN} to {last}");
        }
        Ok(())
    }

    /// The header as bytes.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![0; CODEC_AT];
        bytes.extend_from_slice(&u16::from(self.codec.code()).to_le_bytes());
        bytes.extend_from_slice(&self.level.to_le_bytes());
        bytes.extend_from_slice(&self.filters.to_bits().to_le_bytes());
        bytes.extend_from_slice(&self.filters_meta.to_le_bytes());
        bytes.extend_from_slice(&self.chunksize.to_le_bytes());
        let Body { nchunks, nbytes, cbytes, specials: Specials([filters, codec, metadata, userdata]), table } =
            self.body;
        for field in [nchunks, nbytes, cbytes, filters, codec, metadata, userdata, table] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        bytes.resize(HEADER_LEN, 0);
        bytes
    }

    /// The codec that chunks are compressed with. Each chunk names its own as well, and that is
    /// what counts.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// The compression level, 0 to 9 in all known files.
    #[must_use]
    pub fn level(&self) -> u16 {
        self.level
    }

    /// The filters.
    #[must_use]
    pub fn filters(&self) -> PackedFilters {
        self.filters
    }

    /// The parameters of filters, which no filter ever had.
    #[must_use]
    pub fn filters_meta(&self) -> u16 {
        self.filters_meta
    }

    /// The size of all data chunks as it is stored: 0 in all known files, whether they have one
    /// size or not.
    #[must_use]
    pub fn chunksize(&self) -> u32 {
        self.chunksize
    }

    /// The number of data chunks.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        self.body.nchunks
    }

    /// The uncompressed size as it is stored: that of header, special chunks, data and offset table
    /// together.
    #[must_use]
    pub fn nbytes(&self) -> u64 {
        self.body.nbytes
    }

    /// The size of the super-chunk, header and offset table included.
    #[must_use]
    pub fn cbytes(&self) -> u64 {
        self.body.cbytes
    }

    /// Where a special chunk starts, if there is one.
    #[must_use]
    pub fn special_offset(&self, kind: PackedSpecial) -> Option<u64> {
        self.body.specials.get(kind)
    }

    /// Where the table of data chunks starts.
    #[must_use]
    pub fn table_offset(&self) -> u64 {
        self.body.table
    }
}

/// A size or an offset, which is stored as a signed number.
fn field(bytes: &[u8], name: impl fmt::Display, at: usize) -> Result<u64> {
    let stored = le_i64(bytes, at).unwrap_or_default();
    match u64::try_from(stored) {
        Ok(value) => Ok(value),
        Err(_) => bail!(Corrupt, "packed header: {name} is {stored}"),
    }
}

fn specials(bytes: &[u8]) -> Result<Specials> {
    let mut specials = Specials::default();
    for (kind, at) in PackedSpecial::ALL.into_iter().zip(SPECIALS_AT) {
        specials.set(kind, field(bytes, format_args!("the place of the {kind}"), at)?);
    }
    Ok(specials)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;

    fn header() -> PackedHeader {
        let mut specials = Specials::default();
        specials.set(PackedSpecial::Filters, 96);
        let filters = PackedFilters::new(&[Filter::Delta, Filter::Shuffle]).unwrap();
        let body = Body { nchunks: 2, nbytes: 5000, cbytes: 500, specials, table: 484 };
        PackedHeader::empty(Codec::Zlib, 5, filters).with_body(body)
    }

    fn message(change: impl FnOnce(&mut PackedHeader)) -> String {
        let mut header = header();
        change(&mut header);
        PackedHeader::parse(&header.to_bytes(), 500).unwrap_err().to_string()
    }

    #[test]
    fn a_header_comes_back() {
        let bytes = header().to_bytes();
        assert_eq!(bytes.len(), HEADER_LEN);
        assert_eq!(bytes[..12], [0, 0, 0, 0, 4, 0, 5, 0, 0x0b, 0, 0, 0]);
        assert_eq!(PackedHeader::parse(&bytes, 500).unwrap(), header());
        let empty = header().without_body();
        assert_eq!(PackedHeader::parse(&empty.to_bytes(), 96).unwrap(), empty);
    }

    #[test]
    fn every_bad_field_is_named() {
        let long = message(|header| header.body.cbytes = 501);
        assert_eq!(long, "packed super-chunk: cbytes is 501, 500 bytes are there");
        let short = message(|header| header.body.cbytes = 95);
        assert_eq!(short, "packed header: cbytes is 95, less than the header's 96");
        let many = message(|header| header.body.nchunks = 3);
        assert_eq!(many, "packed header: 3 offsets at 484 are not inside the 500 bytes there are");
        let overflow = message(|header| header.body.nchunks = 1 << 61);
        assert!(overflow.starts_with("packed header: 2305843009213693952 offsets"), "{overflow}");
        let special = message(|header| header.body.specials.set(PackedSpecial::Metadata, 485));
        assert_eq!(special, "metadata chunk: starts at 485, chunks can be from 96 to 484");
        let negative = message(|header| header.body.specials.set(PackedSpecial::Codec, u64::MAX));
        assert_eq!(negative, "packed header: the place of the codec chunk is -1");
        let lone = message(|header| header.body.specials = Specials::default());
        assert_eq!(lone, "packed header: the filter is delta, but there is no chunk that it refers to");
    }

    #[test]
    fn zeros_are_no_super_chunk() {
        assert!(is_packed(&header().to_bytes(), 500) && is_packed(&header().to_bytes(), 10_000));
        assert!(!is_packed(&[0; 128], 128) && !is_packed(&[0; 128], u64::MAX));
    }

    #[test]
    fn other_first_bytes_are_another_format() {
        let mut bytes = header().to_bytes();
        bytes[2] = 1;
        let error = PackedHeader::parse(&bytes, 500).unwrap_err();
        assert_eq!(error.to_string(), "packed header: version 0 and flags 0, 1, 0 must be 0");
    }
}
