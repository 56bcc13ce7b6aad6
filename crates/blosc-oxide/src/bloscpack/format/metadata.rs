//! The metadata section: JSON text, plain or compressed, with room to replace it by a longer one.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::checksum::Checksum;
use crate::bloscpack::json;
use crate::bytes::le_u32;
use crate::codec::{BloscLzVariant, Codec, CodecContext, DecodeState, Decoding, EncodeState, Encoding};
use crate::error::{Result, bail, error};
use crate::limits::Limits;

/// The length of the section's own header.
pub(in crate::bloscpack) const HEADER_LEN: usize = 32;
const MAGIC: [u8; 8] = *b"JSON\0\0\0\0";
const PLAIN: u8 = 0;
const ZLIB: u8 = 1;
const DEFAULT_LEVEL: u8 = 6;
/// How many times its own length a text gets as room, unless told otherwise.
const DEFAULT_ROOM: usize = 10;

/// How metadata is written; the defaults are the reference's.
///
/// | option | range | default |
/// |---|---|---|
/// | checksum | any | adler32 |
/// | level | 0 (plain) to 9 | 6; the text stays plain where zlib makes it longer |
/// | room | up to 4 GiB - 1 | ten times the length of the text |
///
/// ```
/// use blosc_oxide::bloscpack::{BloscpackOptions, Checksum, MetadataOptions};
/// use blosc_oxide::Options;
/// let stored = MetadataOptions::new().with_level(9).with_checksum(Checksum::Sha512);
/// let options = BloscpackOptions::new(Options::new(1)).with_metadata(r#"{"unit": "kelvin"}"#).with_metadata_options(stored);
/// assert_eq!(options.metadata_options().level(), 9);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataOptions {
    checksum: Checksum,
    level: u8,
    room: Option<usize>,
}

impl MetadataOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self { checksum: Checksum::default(), level: DEFAULT_LEVEL, room: None }
    }

    /// Sets the checksum.
    #[must_use]
    pub fn with_checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = checksum;
        self
    }

    /// Sets the level of zlib; 0 leaves the text as it is.
    #[must_use]
    pub fn with_level(mut self, level: u8) -> Self {
        self.level = level;
        self
    }

    /// Sets how many bytes are kept for the text, compressed, and whatever may replace it.
    #[must_use]
    pub fn with_room(mut self, bytes: usize) -> Self {
        self.room = Some(bytes);
        self
    }

    /// The checksum.
    #[must_use]
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// The level of zlib; 0 leaves the text as it is.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.level
    }

    /// How many bytes are kept for the text; `None` is ten times its length.
    #[must_use]
    pub fn room(&self) -> Option<usize> {
        self.room
    }
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// Metadata as a file holds it.
///
/// ```
/// use blosc_oxide::bloscpack::{Bloscpack, BloscpackOptions, pack};
/// use blosc_oxide::Options;
/// let mut file = Vec::new();
/// pack(&b"data"[..], &mut file, &BloscpackOptions::new(Options::new(1)).with_metadata(r#"{"unit":"kelvin"}"#))?;
/// let file = Bloscpack::from_storage(&file[..])?;
/// assert_eq!(file.metadata().map(|metadata| metadata.text()), Some(r#"{"unit":"kelvin"}"#));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    text: String,
    header: SectionHeader,
}

impl Metadata {
    /// The JSON text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The checksum of the section.
    #[must_use]
    pub fn checksum(&self) -> Checksum {
        self.header.checksum
    }

    /// Whether the text is compressed.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.header.codec == ZLIB
    }

    /// The level byte as it is; a text that zlib made longer stays plain, but keeps the level.
    #[must_use]
    pub fn level(&self) -> u8 {
        self.header.level
    }

    /// The reserved byte of options as it is; no one has given it a meaning.
    #[must_use]
    pub fn options(&self) -> u8 {
        self.header.options
    }

    /// How many bytes the text takes in the file.
    #[must_use]
    pub fn stored_len(&self) -> usize {
        self.header.stored_len
    }

    /// How many bytes it can take.
    #[must_use]
    pub fn room(&self) -> usize {
        self.header.room
    }

    /// How many bytes the section takes, header and checksum included.
    pub(in crate::bloscpack) fn section_len(&self) -> u64 {
        self.header.section_len()
    }
}

/// The 32 bytes before the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bloscpack) struct SectionHeader {
    options: u8,
    pub(in crate::bloscpack) checksum: Checksum,
    codec: u8,
    level: u8,
    /// The length of the text.
    plain_len: usize,
    pub(in crate::bloscpack) room: usize,
    pub(in crate::bloscpack) stored_len: usize,
}

impl SectionHeader {
    pub(in crate::bloscpack) fn parse(bytes: &[u8; HEADER_LEN]) -> Result<Self> {
        let [m0, m1, m2, m3, m4, m5, m6, m7, options, checksum, codec, level, ..] = *bytes;
        let magic = [m0, m1, m2, m3, m4, m5, m6, m7];
        // The document of the format asks for spaces, its writer has always used zeros.
        if magic != MAGIC && magic != *b"JSON    " {
            bail!(Unsupported, "metadata: serialised as \"{}\", only JSON is known", magic.escape_ascii());
        }
        let Some(checksum) = Checksum::from_id(checksum) else {
            bail!(Unsupported, "metadata: checksum {checksum} is not one of 0 to 8");
        };
        if !matches!(codec, PLAIN | ZLIB) {
            bail!(Unsupported, "metadata: codec {codec} is not one of 0 (none) and 1 (zlib)");
        }
        let size = |at| le_u32(bytes, at).and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
        let header =
            Self { options, checksum, codec, level, plain_len: size(12), room: size(16), stored_len: size(20) };
        header.check_sizes()?;
        Ok(header)
    }

    fn check_sizes(&self) -> Result<()> {
        let Self { plain_len, room, stored_len, .. } = *self;
        if stored_len > room {
            bail!(Corrupt, "metadata: meta_comp_size is {stored_len}, more than max_meta_size, which is {room}");
        }
        if self.codec == PLAIN && stored_len != plain_len {
            bail!(Corrupt, "metadata: not compressed, but meta_size is {plain_len} and meta_comp_size {stored_len}");
        }
        Ok(())
    }

    fn to_bytes(self) -> Result<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([self.options, self.checksum.id(), self.codec, self.level]);
        for size in [self.plain_len, self.room, self.stored_len] {
            let size = u32::try_from(size)
                .map_err(|_| error!(InvalidArgument, "metadata: {size} bytes are more than 4 GiB - 1"))?;
            bytes.extend(size.to_le_bytes());
        }
        bytes.resize(HEADER_LEN, 0);
        Ok(bytes)
    }

    pub(in crate::bloscpack) fn section_len(&self) -> u64 {
        let after_header = (self.room as u64).saturating_add(self.checksum.len() as u64);
        after_header.saturating_add(HEADER_LEN as u64)
    }

    /// Makes the text of what is stored.
    pub(in crate::bloscpack) fn decode(self, stored: &[u8], digest: &[u8], limits: Limits) -> Result<Metadata> {
        self.checksum.check(stored, digest).map_err(|error| error.within("metadata"))?;
        let text = if self.codec == PLAIN { stored.to_vec() } else { self.inflate(stored, limits)? };
        let text = String::from_utf8(text)
            .map_err(|error| error!(Corrupt, "metadata: the text is no UTF-8: {}", error.utf8_error()))?;
        Ok(Metadata { text, header: self })
    }

    fn inflate(&self, stored: &[u8], limits: Limits) -> Result<Vec<u8>> {
        limits.check("metadata", self.plain_len)?;
        let context = CodecContext { meta: 0, level: 0, typesize: 1, block_shape: None };
        let how = Decoding { codec: Codec::Zlib, context, plugin: None, dict: None };
        let mut text = vec![0; self.plain_len];
        DecodeState::default().decompress(&how, stored, &mut text).map_err(|error| error.within("metadata"))?;
        Ok(text)
    }
}

/// A whole section that holds `text`.
pub(in crate::bloscpack) fn encode(text: &str, options: &MetadataOptions) -> Result<Vec<u8>> {
    let text = normalized(text)?;
    let (codec, stored) = pack(&text, options.level)?;
    let room = options.room.unwrap_or(text.len().saturating_mul(DEFAULT_ROOM));
    if stored.len() > room {
        bail!(InvalidArgument, "metadata: {} bytes do not fit into the room of {room}", stored.len());
    }
    let header = SectionHeader {
        options: 0,
        checksum: options.checksum,
        codec,
        level: options.level,
        plain_len: text.len(),
        room,
        stored_len: stored.len(),
    };
    let mut section = header.to_bytes()?;
    let digest = options.checksum.of(&stored);
    section.extend(stored);
    section.resize(HEADER_LEN.saturating_add(room), 0);
    section.extend(digest.as_bytes());
    Ok(section)
}

/// The section that takes the place of `old`, of the same length.
pub(in crate::bloscpack) fn encode_over(old: &Metadata, text: &str) -> Result<Vec<u8>> {
    let options = MetadataOptions { checksum: old.checksum(), level: old.level().min(9), room: Some(old.room()) };
    encode(text, &options)
}

/// The text as the reference would write it, which reads nothing but ASCII for certain.
fn normalized(text: &str) -> Result<String> {
    json::compact(text).map_err(|error| error!(InvalidArgument, "metadata is not JSON: {error}"))
}

/// The text compressed, unless that makes it longer.
fn pack(text: &str, level: u8) -> Result<(u8, Vec<u8>)> {
    if level > 9 {
        bail!(InvalidArgument, "metadata: level is {level}, it can be 0 to 9");
    }
    if level == 0 || !Codec::Zlib.is_built_in() {
        return Ok((PLAIN, text.as_bytes().to_vec()));
    }
    let context = CodecContext { meta: 0, level, typesize: 1, block_shape: None };
    let how = Encoding { codec: Codec::Zlib, context, plugin: None, variant: BloscLzVariant::Blosc2, dict: None };
    let mut stored = vec![0; text.len()];
    match EncodeState::default().compress(&how, text.as_bytes(), &mut stored)? {
        Some(len) => {
            stored.truncate(len);
            Ok((ZLIB, stored))
        }
        None => Ok((PLAIN, text.as_bytes().to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_section(section: &[u8]) -> Result<Metadata> {
        let (header, rest) = section.split_first_chunk::<HEADER_LEN>().ok_or_else(|| error!(Truncated, "short"))?;
        let header = SectionHeader::parse(header)?;
        let stored = rest.get(..header.stored_len).unwrap_or_default();
        header.decode(stored, rest.get(header.room..).unwrap_or_default(), Limits::new())
    }

    #[test]
    fn metadata_comes_back_in_every_way_it_is_written() {
        let text = format!("{{\"note\":\"{}\",\"shape\":[5000]}}", "x".repeat(200));
        for checksum in Checksum::ALL {
            for level in [0, 1, 6, 9] {
                let options = MetadataOptions::new().with_checksum(checksum).with_level(level).with_room(1000);
                let section = encode(&text, &options).unwrap();
                assert_eq!(section.len(), 32 + 1000 + checksum.len());
                let metadata = decode_section(&section).unwrap();
                assert_eq!(metadata.text(), text);
                assert_eq!(metadata.is_compressed(), level > 0);
                assert_eq!(metadata.section_len(), section.len() as u64);
            }
        }
    }

    #[test]
    fn a_short_text_stays_plain_and_keeps_its_level() {
        let metadata = decode_section(&encode("{\"a\":1}", &MetadataOptions::new()).unwrap()).unwrap();
        assert_eq!((metadata.is_compressed(), metadata.level(), metadata.room()), (false, 6, 70));
    }

    #[test]
    fn a_text_that_does_not_fit_is_refused() {
        let error = encode("[1,2,3]", &MetadataOptions::new().with_room(6)).unwrap_err();
        assert_eq!(error.to_string(), "metadata: 7 bytes do not fit into the room of 6");
        let error = encode("{", &MetadataOptions::new()).unwrap_err();
        assert_eq!(error.to_string(), "metadata is not JSON: JSON: EOF while parsing an object at line 1 column 1");
    }

    #[test]
    fn every_bad_field_is_named() {
        let good = encode("[1,2,3]", &MetadataOptions::new()).unwrap();
        let message = |at: usize, byte: u8| {
            let mut section = good.clone();
            section[at] = byte;
            decode_section(&section).unwrap_err().to_string()
        };
        assert_eq!(message(0, b'B'), "metadata: serialised as \"BSON\\x00\\x00\\x00\\x00\", only JSON is known");
        assert_eq!(message(9, 9), "metadata: checksum 9 is not one of 0 to 8");
        assert_eq!(message(10, 7), "metadata: codec 7 is not one of 0 (none) and 1 (zlib)");
        assert_eq!(message(12, 8), "metadata: not compressed, but meta_size is 8 and meta_comp_size 7");
        assert_eq!(message(16, 6), "metadata: meta_comp_size is 7, more than max_meta_size, which is 6");
        assert!(message(33, b'7').starts_with("metadata: adler32 of 7 bytes is "));
    }

    #[test]
    fn a_replacement_has_the_same_length() {
        let old = encode("{\"a\":1,\"b\":2}", &MetadataOptions::new().with_checksum(Checksum::Md5)).unwrap();
        let new = encode_over(&decode_section(&old).unwrap(), "[]").unwrap();
        assert_eq!(new.len(), old.len());
        assert_eq!(decode_section(&new).unwrap().text(), "[]");
    }
}
