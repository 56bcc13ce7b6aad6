//! The 16 or 32 bytes at the start of a chunk. Nothing else reads or writes them.
//!
//! A [`Header`] can only be made by [`Header::parse`], so that whoever has one knows that its sizes
//! fit together.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::bytes::{array_at, le_i32};
use crate::codec::{Codec, FORMAT_IN_HEADER};
use crate::error::{Result, bail};
use crate::filter::{Pipeline, id as filter_id};
use crate::limits::{MAX_BLOCKSIZE, MAX_FILTERS};

/// The length of a Blosc1 header.
pub(crate) const BLOSC1_LEN: usize = 16;
/// The length of a Blosc2 header.
pub(crate) const BLOSC2_LEN: usize = 32;
/// The typesize that fits into its byte; larger ones are stored as 1.
pub(crate) const MAX_STORED_TYPESIZE: usize = u8::MAX as usize;

pub(crate) const VERSION_BLOSC1: u8 = 2;
pub(crate) const VERSION_FIVE_FILTERS: u8 = 3;
pub(crate) const VERSION_BETA: u8 = 4;
pub(crate) const VERSION_BLOSC2: u8 = 5;
pub(crate) const VERSION_VLBLOCKS: u8 = 6;

/// The flags of byte 2.
pub(crate) mod flag {
    pub(crate) const SHUFFLE: u8 = 0x01;
    pub(crate) const MEMCPYED: u8 = 0x02;
    pub(crate) const BITSHUFFLE: u8 = 0x04;
    pub(crate) const DELTA: u8 = 0x08;
    pub(crate) const NOT_SPLIT: u8 = 0x10;
    /// Shuffle and bit shuffle at once mean that the header has 32 bytes.
    pub(crate) const EXTENDED: u8 = SHUFFLE | BITSHUFFLE;
    pub(crate) const CODEC_SHIFT: u32 = 5;
}

/// The flags of byte 31.
pub(crate) mod flag2 {
    pub(crate) const DICT: u8 = 0x01;
    pub(crate) const BIG_ENDIAN: u8 = 0x02;
    pub(crate) const LAZY: u8 = 0x08;
    pub(crate) const SPECIAL_SHIFT: u32 = 4;
    pub(crate) const SPECIAL_MASK: u8 = 0x07;
    pub(crate) const INSTRUMENTED: u8 = 0x80;
}

/// The flag of byte 30.
pub(crate) const VLBLOCKS: u8 = 0x01;

/// What all items of a chunk are, when there is nothing else to store.
///
/// ```
/// use blosc_oxide::{Chunk, Options, Special, special_chunk};
/// let zeros = special_chunk(Special::Zeros, 1_000_000, &Options::new(4))?;
/// assert_eq!(zeros.len(), 32);
/// assert_eq!(Chunk::parse(&zeros)?.header().special(), Some(Special::Zeros));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Special {
    /// All zeros.
    Zeros,
    /// All quiet NaNs, of 4 or 8 bytes.
    NaN,
    /// One value over and over; it follows the header.
    Value,
    /// Nothing was ever written; reads as zeros here.
    Uninit,
}

impl Special {
    fn from_code(code: u8) -> Result<Option<Self>> {
        Ok(Some(match code {
            0 => return Ok(None),
            1 => Self::Zeros,
            2 => Self::NaN,
            3 => Self::Value,
            4 => Self::Uninit,
            _ => bail!(Corrupt, "chunk header: special value {code} is not one of 0 to 4"),
        }))
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Zeros => 1,
            Self::NaN => 2,
            Self::Value => 3,
            Self::Uninit => 4,
        }
    }
}

/// The fields as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) version: u8,
    pub(crate) codec_version: u8,
    pub(crate) flags: u8,
    pub(crate) typesize: u8,
    pub(crate) nbytes: i32,
    pub(crate) blocksize: i32,
    pub(crate) cbytes: i32,
    pub(crate) extension: Option<Extension>,
}

/// Bytes 16 to 31.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extension {
    pub(crate) pipeline: Pipeline,
    pub(crate) codec: u8,
    pub(crate) codec_meta: u8,
    pub(crate) flags2: u8,
    pub(crate) blosc2_flags: u8,
}

impl Fields {
    fn read(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(start) = array_at::<BLOSC1_LEN>(bytes, 0) else {
            bail!(Truncated, "chunk header: {BLOSC1_LEN} bytes needed, {} given", bytes.len());
        };
        let [version, codec_version, flags, typesize, ..] = start;
        let int = |at| le_i32(&start, at).unwrap_or_default();
        let extended = flags & flag::EXTENDED == flag::EXTENDED && version != VERSION_BLOSC1;
        let extension = if extended { Some(Extension::read(bytes, version)?) } else { None };
        *self = Self {
            version,
            codec_version,
            flags,
            typesize,
            nbytes: int(4),
            blocksize: int(8),
            cbytes: int(12),
            extension,
        };
        Ok(())
    }

    /// The header as bytes: 32 of them, of which a Blosc1 header is the first 16.
    pub(crate) fn to_bytes(self) -> [u8; BLOSC2_LEN] {
        let [n0, n1, n2, n3] = self.nbytes.to_le_bytes();
        let [b0, b1, b2, b3] = self.blocksize.to_le_bytes();
        let [c0, c1, c2, c3] = self.cbytes.to_le_bytes();
        let extension = self.extension.unwrap_or(Extension {
            pipeline: Pipeline::none(),
            codec: 0,
            codec_meta: 0,
            flags2: 0,
            blosc2_flags: 0,
        });
        let [f0, f1, f2, f3, f4, f5] = extension.pipeline.ids();
        let [m0, m1, m2, m3, m4, m5] = extension.pipeline.metas();
        #[rustfmt::skip]
        let bytes = [
            self.version, self.codec_version, self.flags, self.typesize,
            n0, n1, n2, n3, b0, b1, b2, b3, c0, c1, c2, c3,
            f0, f1, f2, f3, f4, f5, extension.codec, extension.codec_meta,
            m0, m1, m2, m3, m4, m5, extension.flags2, extension.blosc2_flags,
        ];
        bytes
    }

    /// The length of the header.
    pub(crate) fn header_len(self) -> usize {
        if self.extension.is_some() { BLOSC2_LEN } else { BLOSC1_LEN }
    }
}

impl Extension {
    #[inline]
    fn read(bytes: &[u8], version: u8) -> Result<Self> {
        let Some(extension) = array_at::<BLOSC1_LEN>(bytes, BLOSC1_LEN) else {
            bail!(Truncated, "chunk header: {BLOSC2_LEN} bytes needed, {} given", bytes.len());
        };
        let [f0, f1, f2, f3, f4, f5, codec, codec_meta, m0, m1, m2, m3, m4, m5, flags2, blosc2_flags] = extension;
        // The alphas had five slots for filters, no codec and no second flags here, and did not set
        // those bytes.
        let [f5, codec, codec_meta, m5, flags2] =
            if version == VERSION_FIVE_FILTERS { [0; 5] } else { [f5, codec, codec_meta, m5, flags2] };
        let pipeline = Pipeline::from_slots([f0, f1, f2, f3, f4, f5], [m0, m1, m2, m3, m4, m5]);
        Ok(Self { pipeline, codec, codec_meta, flags2, blosc2_flags })
    }
}

/// The header of a chunk, with sizes that fit together.
///
/// ```
/// use blosc_oxide::{Header, Options, compress};
/// let chunk = compress(&[7; 1000], &Options::new(4))?;
/// // The first 32 bytes are enough.
/// let header = Header::parse(&chunk[..32])?;
/// assert_eq!((header.nbytes(), header.cbytes(), header.typesize()), (1000, chunk.len(), 4));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    fields: Fields,
    nbytes: usize,
    cbytes: usize,
    blocksize: usize,
    nblocks: usize,
    pipeline: Pipeline,
    special: Option<Special>,
}

impl Header {
    /// What [`read`](Self::read) fills in.
    pub(crate) const UNREAD: Self = Self {
        fields: Fields {
            version: 0,
            codec_version: 0,
            flags: 0,
            typesize: 1,
            nbytes: 0,
            blocksize: 0,
            cbytes: 0,
            extension: None,
        },
        nbytes: 0,
        cbytes: 0,
        blocksize: 0,
        nblocks: 0,
        pipeline: Pipeline::none(),
        special: None,
    };

    /// Reads the header at the start of `bytes`. The chunk itself need not be there.
    ///
    /// # Errors
    /// `Truncated` if the header is not all there, `Unsupported` for a version or flag of the
    /// future, `Corrupt` if the fields contradict each other.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut header = Self::UNREAD;
        header.read(bytes)?;
        Ok(header)
    }

    /// As [`parse`](Self::parse), into an existing header. Returning it would copy it while its
    /// fields are still on their way to memory, which costs as much as decoding a small chunk.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<()> {
        self.fields.read(bytes)?;
        check_version(&self.fields)?;
        if self.fields.typesize == 0 {
            bail!(Corrupt, "chunk header: typesize is 0");
        }
        if let Some(extension) = &self.fields.extension {
            let code = extension.blosc2_flags >> flag2::SPECIAL_SHIFT & flag2::SPECIAL_MASK;
            self.special = Special::from_code(code)?;
        }
        self.nbytes = size("nbytes", self.fields.nbytes)?;
        self.cbytes = size("cbytes", self.fields.cbytes)?;
        self.pipeline = implied_pipeline(&self.fields)?;
        if self.cbytes < self.header_len() {
            bail!(Corrupt, "chunk header: cbytes is {}, less than the header's {}", self.cbytes, self.header_len());
        }
        self.set_blocks()?;
        self.check_body()
    }

    /// Finds the number and the size of the blocks.
    #[inline]
    fn set_blocks(&mut self) -> Result<()> {
        let stored = size("blocksize", self.fields.blocksize)?;
        if self.has_vlblocks() {
            self.blocksize = 0;
            self.nblocks = stored;
            return Ok(());
        }
        if stored > MAX_BLOCKSIZE || (stored == 0 && self.nbytes > 0) {
            bail!(Corrupt, "chunk header: blocksize is {stored}, it can be 1 to {MAX_BLOCKSIZE}");
        }
        self.blocksize = self.effective_blocksize(stored.min(self.nbytes));
        self.nblocks = match self.nbytes {
            0 => 0,
            nbytes if nbytes <= self.blocksize => 1,
            nbytes => nbytes.div_ceil(self.blocksize),
        };
        Ok(())
    }

    /// Some releases of the reference store the block size that was asked for, but use it rounded
    /// down to whole items.
    #[inline]
    fn effective_blocksize(&self, stored: usize) -> usize {
        let ragged = stored.checked_rem(self.typesize()).unwrap_or_default();
        let is_recovered = self.fields.version >= VERSION_BLOSC2
            && stored > self.typesize()
            && !self.is_memcpyed()
            && !self.is_instrumented()
            && self.special.is_none();
        if is_recovered { stored.saturating_sub(ragged) } else { stored }
    }

    /// Checks that what follows the header can be as long as the header says.
    #[inline]
    fn check_body(&self) -> Result<()> {
        let body = self.cbytes.saturating_sub(self.header_len());
        if let Some(special) = self.special {
            return self.check_special(special, body);
        }
        if self.is_memcpyed() {
            if body != self.nbytes {
                bail!(Corrupt, "chunk header: {} bytes are stored as they are, but {body} bytes follow", self.nbytes);
            }
            return Ok(());
        }
        let starts = self.nblocks.saturating_mul(4);
        if starts > body {
            bail!(Corrupt, "chunk header: {} blocks need {starts} bytes of offsets, {body} bytes follow", self.nblocks);
        }
        if self.is_split() && !self.has_vlblocks() && self.blocksize.checked_rem(self.typesize()) != Some(0) {
            bail!(
                Corrupt,
                "chunk header: blocks of {} bytes cannot be split into {} equal streams",
                self.blocksize,
                self.typesize()
            );
        }
        if self.has_vlblocks() && self.nblocks > self.nbytes {
            bail!(Corrupt, "chunk header: {} blocks cannot share {} bytes", self.nblocks, self.nbytes);
        }
        Ok(())
    }

    fn check_special(&self, special: Special, body: usize) -> Result<()> {
        if self.has_vlblocks() {
            bail!(Corrupt, "chunk header: a special value and variable-length blocks exclude each other");
        }
        let item = match special {
            Special::Zeros => return Ok(()),
            Special::NaN | Special::Uninit => self.typesize(),
            Special::Value => body,
        };
        if special == Special::NaN && !matches!(item, 4 | 8) {
            bail!(Corrupt, "chunk header: there is no NaN of {item} bytes");
        }
        if special == Special::Value && item == 0 {
            bail!(Corrupt, "chunk header: a repeated value is announced, but none follows");
        }
        if self.nbytes.checked_rem(item) != Some(0) {
            bail!(Corrupt, "chunk header: nbytes is {}, no multiple of the value's {item}", self.nbytes);
        }
        Ok(())
    }

    /// The version of the format, 2 to 6.
    #[must_use]
    pub fn version(&self) -> u8 {
        self.fields.version
    }

    /// The version of the codec's stream format; 1 for all built-in codecs.
    #[must_use]
    pub fn codec_version(&self) -> u8 {
        self.fields.codec_version
    }

    /// Byte 2 as it is.
    #[must_use]
    pub fn flags(&self) -> u8 {
        self.fields.flags
    }

    /// Bytes 30 and 31 as they are; 0 in a Blosc1 header.
    #[must_use]
    pub fn blosc2_flags(&self) -> (u8, u8) {
        self.fields.extension.map_or((0, 0), |extension| (extension.flags2, extension.blosc2_flags))
    }

    /// The size of an item; 1 when it is more than 255.
    #[must_use]
    pub fn typesize(&self) -> usize {
        usize::from(self.fields.typesize)
    }

    /// The size of the data.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// The size of the chunk, header included.
    #[must_use]
    pub fn cbytes(&self) -> usize {
        self.cbytes
    }

    /// The size of a block; the last one can be shorter. 0 for variable-length blocks.
    #[must_use]
    pub fn blocksize(&self) -> usize {
        self.blocksize
    }

    /// The block size field as it is stored; for variable-length blocks it is their number.
    #[must_use]
    pub fn stored_blocksize(&self) -> i32 {
        self.fields.blocksize
    }

    /// How many blocks there are.
    #[must_use]
    pub fn nblocks(&self) -> usize {
        self.nblocks
    }

    /// 16 or 32.
    #[must_use]
    pub fn header_len(&self) -> usize {
        self.fields.header_len()
    }

    /// Whether the header is the one of 32 bytes.
    #[must_use]
    pub fn is_extended(&self) -> bool {
        self.fields.extension.is_some()
    }

    /// The filters.
    #[must_use]
    pub fn pipeline(&self) -> Pipeline {
        self.pipeline
    }

    /// The filters, where they are.
    pub(crate) fn pipeline_ref(&self) -> &Pipeline {
        &self.pipeline
    }

    /// The codec. Blosc1 headers do not distinguish LZ4HC from LZ4. Chunks that are stored as they
    /// are, or are special, carry the codec that would have been used, or blosclz.
    #[must_use]
    pub fn codec(&self) -> Codec {
        let format = self.fields.flags >> flag::CODEC_SHIFT;
        match (format, self.fields.extension) {
            (0, Some(extension)) if self.is_memcpyed() => Codec::from_code(extension.codec),
            (0, _) => Codec::BloscLz,
            (1, Some(Extension { codec: 2, .. })) => Codec::Lz4Hc,
            (1, _) => Codec::Lz4,
            (2, _) => Codec::Snappy,
            (3, _) => Codec::Zlib,
            (4, _) => Codec::Zstd,
            (5, _) => Codec::Lizard,
            (FORMAT_IN_HEADER, Some(extension)) => Codec::Plugin(extension.codec),
            (other, _) => Codec::Plugin(other),
        }
    }

    /// The code of the codec's stream format in the flags, 0 to 7.
    #[must_use]
    pub fn codec_format(&self) -> u8 {
        self.fields.flags >> flag::CODEC_SHIFT
    }

    /// The codec's meta byte.
    #[must_use]
    pub fn codec_meta(&self) -> u8 {
        self.fields.extension.map_or(0, |extension| extension.codec_meta)
    }

    /// Whether the data is stored as it is.
    #[must_use]
    pub fn is_memcpyed(&self) -> bool {
        self.fields.flags & flag::MEMCPYED != 0
    }

    /// Whether whole blocks are stored as one stream for each byte of an item.
    #[must_use]
    #[inline]
    pub fn is_split(&self) -> bool {
        if self.fields.flags & flag::NOT_SPLIT != 0 {
            return false;
        }
        // Writers before 1.11, and so the first alphas, had no flag for it and split by this rule;
        // those that had it kept to the rule.
        let may_lack_flag = self.fields.version <= VERSION_FIVE_FILTERS && !self.is_extended();
        !may_lack_flag || super::split::can_split(self.typesize(), self.blocksize)
    }

    /// What all items are, if they are all the same.
    #[must_use]
    pub fn special(&self) -> Option<Special> {
        self.special
    }

    /// Whether the blocks have lengths of their own.
    #[must_use]
    pub fn has_vlblocks(&self) -> bool {
        self.blosc2_flags().0 & VLBLOCKS != 0
    }

    /// Whether the streams were compressed with a dictionary that the chunk carries.
    #[must_use]
    pub fn has_dict(&self) -> bool {
        self.has_flag2(flag2::DICT) && !self.is_memcpyed() && self.special.is_none()
    }

    /// Whether the chunk was written on a big-endian machine. Its data has that machine's byte
    /// order.
    #[must_use]
    pub fn is_big_endian(&self) -> bool {
        self.has_flag2(flag2::BIG_ENDIAN)
    }

    /// Whether the chunk is lazy: without its streams, but with the offsets to find them in a
    /// frame.
    #[must_use]
    pub fn is_lazy(&self) -> bool {
        self.has_flag2(flag2::LAZY)
    }

    /// Whether the chunk holds measurements of a compression instead of data.
    #[must_use]
    pub fn is_instrumented(&self) -> bool {
        self.has_flag2(flag2::INSTRUMENTED)
    }

    fn has_flag2(&self, flag: u8) -> bool {
        self.blosc2_flags().1 & flag != 0
    }
}

#[inline]
fn check_version(fields: &Fields) -> Result<()> {
    let version = fields.version;
    if !(VERSION_BLOSC1..=VERSION_VLBLOCKS).contains(&version) {
        bail!(Unsupported, "chunk header: version {version} is not one of {VERSION_BLOSC1} to {VERSION_VLBLOCKS}");
    }
    let unknown = fields.extension.map_or(0, |extension| extension.flags2 & !VLBLOCKS);
    if unknown != 0 {
        bail!(Unsupported, "chunk header: flags {unknown:#04x} of byte 30 are not known");
    }
    if fields.extension.is_some_and(|extension| extension.flags2 & VLBLOCKS != 0) && fields.flags & flag::MEMCPYED != 0
    {
        bail!(Corrupt, "chunk header: variable-length blocks cannot be stored as one copy");
    }
    Ok(())
}

/// The filters, which a header of 16 bytes has as flags.
#[inline]
fn implied_pipeline(fields: &Fields) -> Result<Pipeline> {
    if let Some(extension) = fields.extension {
        return Ok(extension.pipeline);
    }
    if fields.version == VERSION_BLOSC1 && fields.flags & flag::MEMCPYED == 0 {
        if fields.flags & flag::EXTENDED == flag::EXTENDED {
            bail!(Corrupt, "chunk header: flags {:#04x} ask for shuffle and bit shuffle", fields.flags);
        }
        if fields.flags & flag::DELTA != 0 {
            bail!(Corrupt, "chunk header: flags {:#04x} have bit 3, which Blosc1 does not use", fields.flags);
        }
    }
    let shuffle = match (fields.flags & flag::SHUFFLE != 0, fields.flags & flag::BITSHUFFLE != 0) {
        (true, _) => filter_id::SHUFFLE,
        (false, true) => filter_id::BITSHUFFLE,
        (false, false) => filter_id::NONE,
    };
    let delta = if fields.flags & flag::DELTA != 0 { filter_id::DELTA } else { filter_id::NONE };
    Ok(Pipeline::from_slots([0, 0, 0, 0, delta, shuffle], [0; MAX_FILTERS]))
}

#[inline]
fn size(name: &str, value: i32) -> Result<usize> {
    match usize::try_from(value) {
        Ok(size) => Ok(size),
        Err(_) => bail!(Corrupt, "chunk header: {name} is {value}"),
    }
}

#[cfg(test)]
mod tests;
