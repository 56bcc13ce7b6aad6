//! The headers of frames.

use super::ZstdError;

const MAGIC: u32 = 0xFD2F_B528;
/// The length of content that the C library has for a length that is not told.
const UNKNOWN: u64 = u64::MAX;
/// Of frames that have no data for a decoder; the lowest four bits are free.
const SKIPPABLE_MAGIC: u32 = 0x184D_2A50;
/// The most bytes that a compressed block may have before and its literals after decoding.
const MAX_BLOCK: u64 = 128 << 10;
/// The largest window that the C library takes, as a logarithm.
const MAX_WINDOW_LOG: u32 = if usize::BITS == 32 { 30 } else { 31 };

/// What the descriptor of a frame says.
const HAS_CHECKSUM: u8 = 0x04;
const RESERVED: u8 = 0x08;
const IS_SINGLE_SEGMENT: u8 = 0x20;

/// What a frame starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// One that a decoder skips, with all its bytes.
    Skippable(usize),
    /// One with data.
    Data(Header),
}

/// What the header of a frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Length of the header.
    pub(super) len: usize,
    /// How many bytes the frame makes.
    pub(super) content: Option<u64>,
    /// The dictionary it was made with; 0 if that is not told.
    pub(super) dict_id: u32,
    pub(super) has_checksum: bool,
    /// The most bytes that a compressed block may have before and its literals after decoding.
    pub(super) max_block: usize,
}

impl Frame {
    /// What `src` starts with.
    pub(super) fn parse(src: &[u8]) -> Result<Self, ZstdError> {
        let ended = ZstdError::InputEnded { input: src.len() };
        let (&magic, rest) = src.split_first_chunk().ok_or(ended)?;
        let magic = u32::from_le_bytes(magic);
        if magic & !15 == SKIPPABLE_MAGIC {
            let &len = rest.first_chunk().ok_or(ended)?;
            let len = usize::try_from(u32::from_le_bytes(len)).map_err(|_| ended)?;
            return if len <= rest.len() - 4 { Ok(Self::Skippable(8 + len)) } else { Err(ended) };
        }
        if magic != MAGIC {
            return Err(ZstdError::BadMagic { magic });
        }
        Header::parse(rest).ok_or(ended)?.map(Self::Data)
    }
}

impl Header {
    /// The header behind the magic number; `None` if it is cut off.
    fn parse(bytes: &[u8]) -> Option<Result<Self, ZstdError>> {
        let (&descriptor, bytes) = bytes.split_first()?;
        let is_single_segment = descriptor & IS_SINGLE_SEGMENT != 0;
        let window_len = usize::from(!is_single_segment);
        let id_len = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content_len = match descriptor >> 6 {
            0 => usize::from(is_single_segment),
            code => 1 << code,
        };
        let len = window_len + id_len + content_len;
        let fields = bytes.get(..len)?;
        if descriptor & RESERVED != 0 {
            return Some(Err(ZstdError::BadHeader));
        }
        let (window, fields) = fields.split_at(window_len);
        let (id, content) = fields.split_at(id_len);
        let content = (content_len > 0).then(|| number(content) + if content_len == 2 { 256 } else { 0 });
        let window = match (window, content) {
            (&[descriptor], _) => window_of(descriptor),
            (_, content) => content,
        };
        Some(window.ok_or(ZstdError::BadHeader).map(|window| Self {
            len: 5 + len,
            content: content.filter(|&content| content != UNKNOWN),
            dict_id: u32::try_from(number(id)).unwrap_or(0),
            has_checksum: descriptor & HAS_CHECKSUM != 0,
            max_block: usize::try_from(window.min(MAX_BLOCK)).unwrap_or(0),
        }))
    }
}

/// The size of a window; `None` if it is too large.
fn window_of(descriptor: u8) -> Option<u64> {
    let log = u32::from(descriptor >> 3) + 10;
    let base = 1 << log;
    (log <= MAX_WINDOW_LOG).then_some(base + base / 8 * u64::from(descriptor & 7))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The kinds of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Raw,
    Run,
    Compressed,
}

/// The header of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) is_last: bool,
    pub(super) kind: Kind,
    /// Length of a compressed or raw block in the stream, or of what a run makes.
    pub(super) len: usize,
}

impl Block {
    pub(super) const HEADER_LEN: usize = 3;

    pub(super) fn parse([low, middle, high]: [u8; Self::HEADER_LEN]) -> Result<Self, ZstdError> {
        let kind = match low >> 1 & 3 {
            0 => Kind::Raw,
            1 => Kind::Run,
            2 => Kind::Compressed,
            _ => return Err(ZstdError::BadBlock),
        };
        let len = usize::from(low) >> 3 | usize::from(middle) << 5 | usize::from(high) << 13;
        Ok(Self { is_last: low & 1 != 0, kind, len })
    }
}
