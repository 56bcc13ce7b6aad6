//! The decoder of Zstandard streams (RFC 8878), for input and output that are in memory as a whole.
//!
//! A stream is one frame, or several. A frame has blocks (`frame`); a compressed one has literals,
//! which may be Huffman coded (`literals`), and sequences (`sequences`): how many literals come
//! next, and which match follows. The three numbers of a sequence have FSE codes (`codes`) that
//! share one bit stream (`execute`). Codes may be used again by later blocks, and a dictionary may
//! have codes for the first one (`dictionary`).

mod checksum;
mod codes;
mod dictionary;
mod error;
mod execute;
mod frame;
mod literals;
mod sequences;

use alloc::vec::Vec;
use core::fmt;

use crate::entropy::huffman::Table;
use crate::lz::copy::OVER;
use crate::lz::vectors::{Job, Vectors, dispatch};
use checksum::xxh64;
use codes::Codes;
pub use dictionary::Dictionary;
pub use error::ZstdError;
use execute::{Executed, Sequences};
use frame::{Block, Frame, Header, Kind};
use literals::Section;
use sequences::{Place, Places};

/// Fewer bytes than these behind a frame are no frame.
const MIN_FRAME: usize = 5;
/// The last offsets before there are any.
const FIRST_OFFSETS: [u32; 3] = [1, 4, 8];

/// The tables and the scratch memory of a decoder, which are used again.
///
/// The scratch memory holds the literals of a block: up to 128 KiB, allocated when a block needs
/// it.
#[derive(Clone)]
pub struct Decoder {
    huffman: Table,
    codes: Codes,
    scratch: Vec<u8>,
}

impl Decoder {
    /// One with empty tables and without scratch memory.
    #[must_use]
    pub const fn new() -> Self {
        Self { huffman: Table::new(), codes: Codes::new(), scratch: Vec::new() }
    }

    /// Decodes the frames of `src` to the start of `dst`, and returns how many bytes they made.
    /// Frames that a decoder has to skip are skipped; the checksum of a frame is verified if it has
    /// one.
    ///
    /// The result is less than `dst.len()` when the frames make fewer bytes; callers that need an
    /// exact length compare. Bytes of `dst` behind it may have been overwritten.
    ///
    /// # Errors
    /// When the stream is cut off or damaged, needs more space than `dst` has, or was made with
    /// another dictionary.
    pub fn decompress(&mut self, src: &[u8], dict: Option<&Dictionary>, dst: &mut [u8]) -> Result<usize, ZstdError> {
        dispatch(Stream { decoder: self, src, dict, dst })
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("scratch", &self.scratch.len()).finish_non_exhaustive()
    }
}

struct Stream<'a> {
    decoder: &'a mut Decoder,
    src: &'a [u8],
    dict: Option<&'a Dictionary>,
    dst: &'a mut [u8],
}

impl Job for Stream<'_> {
    type Output = Result<usize, ZstdError>;

    #[inline(always)]
    fn run<V: Vectors>(self, vectors: V) -> Self::Output {
        let Self { decoder, mut src, dict, dst } = self;
        let mut written = 0;
        while src.len() >= MIN_FRAME {
            let read = match Frame::parse(src)? {
                Frame::Skippable(len) => len,
                Frame::Data(header) => {
                    let mut frame = FrameDecoder::new(decoder, src, dict, &mut dst[written..], header)?;
                    let read = frame.decode(vectors)?;
                    written += frame.written;
                    read
                }
            };
            src = &src[read..];
        }
        if src.is_empty() { Ok(written) } else { Err(ZstdError::InputEnded { input: src.len() }) }
    }
}

/// What decodes a frame.
struct FrameDecoder<'a> {
    decoder: &'a mut Decoder,
    src: &'a [u8],
    dict: Option<&'a Dictionary>,
    dst: &'a mut [u8],
    header: Header,
    written: usize,
    /// The last offsets.
    offsets: [u32; 3],
    huffman: Place,
    places: Places,
}

impl<'a> FrameDecoder<'a> {
    fn new(
        decoder: &'a mut Decoder,
        src: &'a [u8],
        dict: Option<&'a Dictionary>,
        dst: &'a mut [u8],
        header: Header,
    ) -> Result<Self, ZstdError> {
        let entropy = dict.and_then(|dict| dict.entropy.as_deref());
        if header.dict_id != 0 && entropy.is_none_or(|entropy| entropy.id != header.dict_id) {
            return Err(ZstdError::OtherDictionary { id: header.dict_id });
        }
        let place = if entropy.is_some() { Place::Dictionary } else { Place::Nowhere };
        let offsets = entropy.map_or(FIRST_OFFSETS, |entropy| entropy.offsets);
        Ok(Self { decoder, src, dict, dst, header, written: 0, offsets, huffman: place, places: Places::all(place) })
    }

    /// Decodes the frame and returns its length.
    #[inline(always)]
    fn decode<V: Vectors>(&mut self, vectors: V) -> Result<usize, ZstdError> {
        let ended = ZstdError::InputEnded { input: self.src.len() };
        let mut at = self.header.len;
        loop {
            let src = self.src;
            let block = Block::parse(*src[at..].first_chunk().ok_or(ended)?)?;
            at += Block::HEADER_LEN;
            let len = if block.kind == Kind::Run { 1 } else { block.len };
            if len > src.len() - at {
                return Err(ended);
            }
            match block.kind {
                Kind::Raw => self.next(len)?.copy_from_slice(&src[at..at + len]),
                Kind::Run => self.next(block.len)?.fill(src[at]),
                Kind::Compressed => self.compressed(vectors, at, at + len)?,
            }
            at += len;
            if block.is_last {
                break;
            }
        }
        let written = self.written;
        if let Some(expected) = self.header.content
            && expected != written as u64
        {
            return Err(ZstdError::BadLength { written, expected });
        }
        if self.header.has_checksum {
            let &stored = self.src[at..].first_chunk().ok_or(ended)?;
            self.verify(u32::from_le_bytes(stored))?;
            at += 4;
        }
        Ok(at)
    }

    /// The next bytes of the output, which count as written.
    #[inline(always)]
    fn next(&mut self, len: usize) -> Result<&mut [u8], ZstdError> {
        let (written, room) = (self.written, self.dst.len());
        if len > room - written {
            return Err(ZstdError::OutputFull { written, room });
        }
        self.written += len;
        Ok(&mut self.dst[written..written + len])
    }

    #[allow(clippy::cast_possible_truncation, reason = "the lower half is stored")]
    fn verify(&self, stored: u32) -> Result<(), ZstdError> {
        let found = xxh64(&self.dst[..self.written]) as u32;
        if found == stored { Ok(()) } else { Err(ZstdError::BadChecksum { found, stored }) }
    }

    /// Decodes the compressed block that is from `at` to `end`.
    #[inline(always)]
    fn compressed<V: Vectors>(&mut self, vectors: V, at: usize, end: usize) -> Result<(), ZstdError> {
        let max = self.header.max_block;
        if end - at > max {
            return Err(ZstdError::BadBlock);
        }
        let block = &self.src[..end];
        let section = Section::parse(block, at, max)?;
        let (count, at) = sequences::count(block, section.end)?;
        let entropy = self.dict.and_then(|dict| dict.entropy.as_deref());
        let Decoder { huffman, codes, scratch } = &mut *self.decoder;
        let bits = section.read_code(block, huffman)?;
        if section.has_code() {
            self.huffman = Place::Own;
        }
        let own = &*huffman;
        let huffman =
            if section.needs_code() { self.huffman.pick(own, entropy.map(|entropy| &entropy.huffman))? } else { own };
        if count == 0 {
            if at != end {
                return Err(ZstdError::BadSequences);
            }
            let (written, room) = (self.written, self.dst.len());
            let place = self.dst[written..].get_mut(..section.len).ok_or(ZstdError::OutputFull { written, room })?;
            section.decode(vectors, block, bits, huffman, place)?;
            self.written += section.len;
            return Ok(());
        }
        let from = self.places.read(codes, block, at)?;
        let literals = match section.in_place(self.src) {
            Some(literals) => literals,
            None => {
                literals::grow(scratch, max);
                section.decode(vectors, block, bits, huffman, &mut scratch[..section.len])?;
                &scratch[..section.len + OVER]
            }
        };
        let of_dict = entropy.map(|entropy| &entropy.codes);
        let sequences = Sequences {
            src: block,
            from,
            count,
            codes: execute::Codes {
                literals: self.places.literals.pick(&codes.literals, of_dict.map(|codes| &codes.literals))?,
                offsets: self.places.offsets.pick(&codes.offsets, of_dict.map(|codes| &codes.offsets))?,
                matches: self.places.matches.pick(&codes.matches, of_dict.map(|codes| &codes.matches))?,
            },
            literals,
            dict: self.dict.map_or(&[], |dict| &dict.content),
            dst: self.dst,
            written: self.written,
            offsets: self.offsets,
        };
        let Executed { written, offsets } = vectors.outline(sequences)?;
        (self.written, self.offsets) = (written, offsets);
        Ok(())
    }
}
