//! Writing the frames of the betas of C-Blosc2, for programs that read no others.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use crate::bytes::msgpack::{Writer, marker};
use crate::chunk::{Compressor, Options, SplitMode};
use crate::codec::Codec;
use crate::error::{Result, bail};
use crate::filter::{BitshuffleRule, Filter};
use crate::frame::EarlyFrame;
use crate::frame::format::early::{
    ARRAY_11, ARRAY_12, ARRAY_13, BETA1_LEN, BETA5_LEN, FILTER_BYTES, STR_4, STR_8, USERMETA,
};
use crate::frame::format::field::checked;
use crate::frame::format::fingerprint::FINGERPRINT_LEN;
use crate::frame::format::header::{MAGIC, checked_len};
use crate::frame::format::index::ENTRY_LEN;
use crate::frame::format::metalayers::{self, Content, Section};
use crate::frame::format::trailer::TAIL_LEN;
use crate::schunk::{ChunkSize, SuperChunk};
use std::io::{Seek, SeekFrom, Write};

/// Version 0, and offsets of 64 bits as the first beta counted widths.
const BETA1_FLAGS: u8 = 0x24;
/// What the first beta always wrote here, whatever the filters were.
const BETA1_FILTER_FLAGS: u8 = 0x06;
/// Version 1, and offsets of 64 bits.
const BETA5_FLAGS: u8 = 0x21;
const ARRAY_4: u8 = marker::FIXARRAY | 4;
const TRAILER_VERSION: u8 = 1;

/// The rule of bitshuffle of the release that is written for: v2.0.0-beta.1, or v2.0.0.beta.5.
fn bitshuffle_rule(format: EarlyFrame) -> BitshuffleRule {
    match format {
        EarlyFrame::Beta1 => BitshuffleRule::Old,
        EarlyFrame::Beta5 => BitshuffleRule::Current,
    }
}

impl SuperChunk {
    /// Writes a frame in an early format. All chunks are compressed anew, into what the programs of
    /// that time read, and written one by one; the header, which tells lengths, comes last.
    ///
    /// ```
    /// use blosc_oxide::{Frame, Options, SuperChunk, legacy::EarlyFrame};
    /// use std::io::Cursor;
    /// let mut sc = SuperChunk::new(Options::new(4))?;
    /// sc.append(&[1; 4000])?;
    /// let mut bytes = Cursor::new(Vec::new());
    /// sc.write_early(EarlyFrame::Beta5, &mut bytes)?;
    /// assert_eq!(Frame::open(bytes.into_inner())?.bytes(0..4000)?, [1; 4000]);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` for what an early frame cannot hold: chunks of different sizes,
    /// variable-length blocks, codecs and filters that came later, and variable-length metalayers,
    /// but for one of the name `usermeta` in [`EarlyFrame::Beta5`]. `Io` if it cannot be written.
    pub fn write_early(&self, format: EarlyFrame, mut writer: impl Write + Seek) -> Result<()> {
        self.check_early(format)?;
        let start = writer.stream_position()?;
        writer.write_all(&vec![0; self.early_layers(format)?.len()])?;
        let (section_len, offsets) = self.write_early_chunks(format, &mut writer)?;
        let index = if offsets.is_empty() { Vec::new() } else { packed_index(&offsets)? };
        let trailer = self.early_trailer(format)?;
        let header = self.early_header(format, section_len, index.len().saturating_add(trailer.len()))?;
        writer.write_all(&index)?;
        writer.write_all(&trailer)?;
        let end = writer.stream_position()?;
        writer.seek(SeekFrom::Start(start))?;
        writer.write_all(&header)?;
        writer.seek(SeekFrom::Start(end))?;
        Ok(writer.flush()?)
    }

    /// Writes all chunks; how long they are together, and where each starts, as the index holds it.
    fn write_early_chunks(&self, format: EarlyFrame, writer: &mut impl Write) -> Result<(u64, Vec<u8>)> {
        let mut offsets: Vec<u8> = Vec::with_capacity(self.nchunks().saturating_mul(ENTRY_LEN));
        let mut section_len = 0_u64;
        let mut compressor = Compressor::new(self.options().clone().with_dict(false).beta(bitshuffle_rule(format)))?;
        for index in 0..self.nchunks() {
            let chunk = compressor.compress(&self.decompress(index)?)?;
            offsets.extend_from_slice(&section_len.to_le_bytes());
            section_len = section_len.saturating_add(chunk.len() as u64);
            writer.write_all(&chunk)?;
        }
        Ok((section_len, offsets))
    }

    fn check_early(&self, format: EarlyFrame) -> Result<()> {
        if self.has_vlblocks() || self.state().chunksize == ChunkSize::Variable {
            bail!(InvalidArgument, "an early frame has chunks of one size, with blocks of one size");
        }
        if let Codec::Snappy | Codec::Lizard | Codec::Plugin(_) = self.codec() {
            bail!(InvalidArgument, "an early frame has no {}", self.codec());
        }
        let is_early = |filter: &Filter| {
            matches!(filter, Filter::Shuffle | Filter::BitShuffle | Filter::Delta | Filter::TruncPrec(_))
        };
        if !self.pipeline().filters().all(|filter| is_early(&filter)) {
            bail!(
                InvalidArgument,
                "an early frame has shuffle, bitshuffle, delta and trunc_prec, not {}",
                self.pipeline()
            );
        }
        let has_place = |name: &&str| format == EarlyFrame::Beta5 && *name == USERMETA;
        if let Some(name) = self.vlmetalayers().names().find(|name| !has_place(name)) {
            bail!(InvalidArgument, "an early frame has no place for the variable-length metalayer {name:?}");
        }
        Ok(())
    }

    fn early_header(&self, format: EarlyFrame, section_len: u64, tail_len: usize) -> Result<Vec<u8>> {
        let has_layers = !self.metalayers().is_empty();
        let (array, flags, filter_flags) = match format {
            EarlyFrame::Beta1 if has_layers => (ARRAY_12, BETA1_FLAGS, BETA1_FILTER_FLAGS),
            EarlyFrame::Beta1 => (ARRAY_11, BETA1_FLAGS, BETA1_FILTER_FLAGS),
            EarlyFrame::Beta5 => (ARRAY_13, BETA5_FLAGS, 0),
        };
        let layers = self.early_layers(format)?;
        let header_len = layers.len();
        let frame_len = section_len.saturating_add(header_len as u64).saturating_add(tail_len as u64);
        let mut writer = Writer::default();
        writer.byte(array);
        writer.byte(STR_8);
        writer.bytes(MAGIC);
        writer.int32(checked_len(header_len)?);
        writer.uint64(frame_len);
        writer.byte(STR_4);
        writer.byte(flags);
        writer.byte(filter_flags);
        writer.byte(self.codec().code() | self.level() << 4);
        writer.byte(0);
        writer.int64(checked(self.nbytes())?);
        writer.int64(checked(section_len)?);
        writer.int32(checked(self.typesize())?);
        writer.int32(checked(self.chunksize().unwrap_or(0))?);
        writer.int16(1);
        writer.int16(1);
        match format {
            EarlyFrame::Beta1 => writer.boolean(has_layers),
            EarlyFrame::Beta5 => {
                writer.boolean(!self.vlmetalayers().is_empty());
                self.early_filters(&mut writer)?;
            }
        }
        writer.bytes(layers.get(writer.0.len()..).unwrap_or_default());
        Ok(writer.0)
    }

    /// Only the filters that do something, one after the other.
    fn early_filters(&self, writer: &mut Writer) -> Result<()> {
        let filters: Vec<Filter> = self.pipeline().filters().collect();
        let padded = |bytes: Vec<u8>| bytes.into_iter().chain(std::iter::repeat(0)).take(FILTER_BYTES);
        let ids = padded(filters.iter().map(|filter| filter.id()).collect());
        let metas = padded(filters.iter().map(|filter| filter.meta()).collect());
        writer.byte(marker::FIXEXT16);
        writer.byte(checked(filters.len())?);
        writer.bytes(&ids.chain(metas).collect::<Vec<u8>>());
        Ok(())
    }

    /// The metalayers behind as many zeros as the fixed part of the header has bytes, because
    /// offsets count from there.
    fn early_layers(&self, format: EarlyFrame) -> Result<Vec<u8>> {
        let mut writer = Writer(match format {
            EarlyFrame::Beta1 => vec![0; BETA1_LEN],
            EarlyFrame::Beta5 => vec![0; BETA5_LEN],
        });
        if format == EarlyFrame::Beta5 || !self.metalayers().is_empty() {
            let layers = self.metalayers().iter().map(|(name, content)| (name, Content::whole(content)));
            metalayers::write(layers, Section::Header, &mut writer)?;
        }
        Ok(writer.0)
    }

    fn early_trailer(&self, format: EarlyFrame) -> Result<Vec<u8>> {
        if format == EarlyFrame::Beta1 {
            return Ok(Vec::new());
        }
        let usermeta = match self.vlmetalayers().get(USERMETA)? {
            Some(content) => Compressor::new(Options::new(1).beta(bitshuffle_rule(format)))?.compress(&content)?,
            None => Vec::new(),
        };
        let mut writer = Writer::default();
        writer.byte(ARRAY_4);
        writer.byte(TRAILER_VERSION);
        writer.long(marker::BIN32, &usermeta);
        let len = writer.0.len().saturating_add(TAIL_LEN);
        writer.uint32(checked(len)?);
        writer.byte(marker::FIXEXT16);
        writer.byte(0);
        writer.bytes(&[0; FINGERPRINT_LEN]);
        Ok(writer.0)
    }
}

fn packed_index(offsets: &[u8]) -> Result<Vec<u8>> {
    Compressor::new(Options::new(ENTRY_LEN).with_split(SplitMode::Never).beta(BitshuffleRule::Current))?
        .compress(offsets)
}
