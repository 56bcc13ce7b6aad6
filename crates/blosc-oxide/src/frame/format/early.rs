//! The headers and trailers of frames before the first release candidate, which the reference no
//! longer reads.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::header::{
    Extent, Sizes, check_lengths, read_chunksize, read_flags, read_lengths, read_metalayers, skip_threads,
};
use super::index::{Coding, Index, OffsetWidth};
use crate::bytes::msgpack::{Reader, marker};
use crate::chunk::{BLOSC2_LEN, Header, SplitMode};
use crate::codec::Codec;
use crate::error::{Result, bail};
use crate::filter::{BitshuffleRule, Pipeline};
use crate::limits::MAX_FILTERS;
use crate::schunk::{ChunkSize, Metalayers, State, VlMetalayers};
use crate::storage::ReadAt;

/// A format that frames had before the first release candidate of C-Blosc2. Later releases do not
/// read them.
///
/// ```
/// use blosc_oxide::legacy::EarlyFrame;
/// use blosc_oxide::{Frame, FrameVersion, Options, SuperChunk};
/// let mut sc = SuperChunk::new(Options::new(1))?;
/// sc.append(b"data")?;
/// let mut file = std::io::Cursor::new(Vec::new());
/// sc.write_early(EarlyFrame::Beta5, &mut file)?;
/// assert_eq!(Frame::open(file.into_inner())?.version(), FrameVersion::Early(EarlyFrame::Beta5));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EarlyFrame {
    /// That of v2.0.0-beta.1: a header of 64 bytes, and no trailer.
    Beta1,
    /// That of v2.0.0-beta.2 to v2.0.0.beta.5: a header of 82 bytes, and a trailer with one piece
    /// of user metadata. Bitshuffled chunks are written for v2.0.0.beta.5, whose rule of bitshuffle
    /// the others do not have.
    Beta5,
}

/// Which generation of frame it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generation {
    /// The one that is written today.
    Current,
    /// The one of the first beta, with a header of 64 bytes and no trailer.
    Beta1,
    /// The one of the later betas, with a header of 82 bytes.
    Beta5,
}

/// An array of eleven elements: no metalayers.
pub(crate) const ARRAY_11: u8 = marker::FIXARRAY | 11;
pub(crate) const ARRAY_12: u8 = marker::FIXARRAY | 12;
pub(crate) const ARRAY_13: u8 = marker::FIXARRAY | 13;
pub(crate) const STR_8: u8 = marker::FIXSTR | 8;
pub(crate) const STR_4: u8 = marker::FIXSTR | 4;
pub(crate) const BETA1_LEN: usize = 64;
pub(crate) const BETA5_LEN: usize = 82;
pub(crate) const FILTER_BYTES: usize = 8;
/// The newest version of a trailer.
const TRAILER_VERSION: u8 = 1;
/// Where the general flags are.
const FLAGS_AT: usize = 25;
/// In how many chunks filters are looked for.
const MAX_LOOKS: usize = 16;
/// The name under which the one piece of user metadata of the later betas is found.
pub(crate) const USERMETA: &str = "usermeta";

/// Whether bytes start as an early frame does.
pub(in crate::frame) fn is_early(bytes: &[u8]) -> bool {
    matches!(bytes.first(), Some(&(ARRAY_11 | ARRAY_12 | ARRAY_13)))
}

/// Which of the early formats bytes start with, if it is one.
pub(in crate::frame) fn generation(bytes: &[u8]) -> Option<EarlyFrame> {
    match bytes.first() {
        Some(&(ARRAY_11 | ARRAY_12)) => Some(EarlyFrame::Beta1),
        Some(&ARRAY_13) => Some(EarlyFrame::Beta5),
        _ => None,
    }
}

/// Reads the header of an early frame; `None` if it is not one.
pub(in crate::frame) fn read(bytes: &[u8]) -> Result<Option<(Generation, Extent, State)>> {
    let mut reader = Reader::new("frame header", bytes, 0);
    let (generation, has_layers) = match reader.byte()? {
        ARRAY_11 => (Generation::Beta1, false),
        ARRAY_12 => (Generation::Beta1, true),
        ARRAY_13 => (Generation::Beta5, true),
        _ => return Ok(None),
    };
    let (header_len, frame_len) = read_lengths(&mut reader)?;
    let [flags, _, codec_flags, _] = read_flags(&mut reader)?;
    check_version(generation, flags)?;
    offset_width(flags)?;
    let Sizes { nbytes, section_len, typesize } = Sizes::read(&mut reader)?;
    let chunksize = reader.int32()?;
    skip_threads(&mut reader)?;
    let pipeline = if generation == Generation::Beta5 { read_filters(&mut reader)? } else { Pipeline::none() };
    check_lengths(header_len, frame_len, bytes.len())?;
    if typesize == 0 {
        bail!(Corrupt, "frame header: typesize is 0");
    }
    let fixed_len = if generation == Generation::Beta5 { BETA5_LEN } else { BETA1_LEN };
    let layer_bytes = bytes.get(..header_len).unwrap_or_default();
    let metalayers = if has_layers { read_metalayers(layer_bytes, fixed_len)? } else { Metalayers::new() };
    // A size of 0 is not "variable" here: it was lost.
    let chunksize = if chunksize == 0 { ChunkSize::Variable } else { read_chunksize(chunksize, nbytes)? };
    // The trailer of a later beta may still tell that it is one with the old rule.
    let bitshuffle = (generation == Generation::Beta1).then_some(BitshuffleRule::Old);
    let state = State {
        bitshuffle,
        typesize,
        blocksize: 0,
        chunksize,
        nbytes,
        codec: Codec::from_code(codec_flags & 0x0f),
        codec_meta: 0,
        level: codec_flags >> 4,
        pipeline,
        split: SplitMode::ForwardCompat,
        dict: false,
        vlblocks: false,
        metalayers,
        vlmetalayers: VlMetalayers::new(),
    };
    Ok(Some((generation, Extent { header_len, frame_len, section_len, is_sparse: false }, state)))
}

/// Refuses what is of the future: the first beta had version 0 in two bits, the later ones version
/// 1 in four.
fn check_version(generation: Generation, flags: u8) -> Result<()> {
    let (version, known) = if generation == Generation::Beta1 { (flags & 0b11, 0) } else { (flags & 0b1111, 1) };
    if version != known {
        let first = if generation == Generation::Beta1 { "9b or 9c" } else { "9d" };
        bail!(Unsupported, "frame header: format version {version} is not known in a frame that starts with {first}");
    }
    Ok(())
}

/// How wide the offsets of the index are, by bits 4 and 5 of the general flags.
fn offset_width(flags: u8) -> Result<OffsetWidth> {
    Ok(match flags >> 4 & 0b11 {
        0 => OffsetWidth::Two,
        1 => OffsetWidth::Four,
        2 => OffsetWidth::Eight,
        _ => bail!(Unsupported, "frame header: the width of offsets is 3, which is reserved"),
    })
}

/// How the index of a frame with this header is stored.
pub(in crate::frame) fn coding(header: &[u8]) -> Result<Coding> {
    let flags = header.get(FLAGS_AT).copied().unwrap_or_default();
    offset_width(flags).map(Coding::Offsets)
}

/// The filters of the first chunk that can be read: a header of 64 bytes does not have them.
pub(in crate::frame) fn pipeline_of_chunks(source: &dyn ReadAt, section: u64, index: &Index) -> Option<Pipeline> {
    let places = index.entries().ok()?.filter_map(|entry| entry.offset()).take(MAX_LOOKS);
    let headers = places.filter_map(|place| {
        let mut head = [0; BLOSC2_LEN];
        source.read_at(section.checked_add(place)?, &mut head).ok()?;
        Header::parse(&head).ok()
    });
    headers.map(|header| header.pipeline()).next()
}

/// The filters, of which only those that do something were stored.
fn read_filters(reader: &mut Reader<'_>) -> Result<Pipeline> {
    reader.expect(marker::FIXEXT16)?;
    let count = usize::from(reader.byte()?).min(MAX_FILTERS);
    let (stored_ids, stored_metas) = (reader.take(FILTER_BYTES)?, reader.take(FILTER_BYTES)?);
    let (mut ids, mut metas) = ([0; MAX_FILTERS], [0; MAX_FILTERS]);
    let free = MAX_FILTERS.saturating_sub(count);
    for (place, &id) in ids.iter_mut().skip(free).zip(stored_ids) {
        *place = id;
    }
    for (place, &meta) in metas.iter_mut().skip(free).zip(stored_metas) {
        *place = meta;
    }
    Ok(Pipeline::from_slots(ids, metas))
}

/// The rule of bitshuffle of a frame with this trailer, if it determines it: v2.0.0-beta.2 wrote
/// version 0 and had the old rule; version 1 is that of beta.3 and beta.4, which had it too, and of
/// beta.5, which has the current one.
pub(in crate::frame) fn bitshuffle_rule(trailer: &[u8]) -> Option<BitshuffleRule> {
    (trailer.get(1) == Some(&0)).then_some(BitshuffleRule::Old)
}

/// Reads a trailer of the later betas: one piece of user metadata.
pub(in crate::frame) fn read_trailer(bytes: &[u8]) -> Result<VlMetalayers> {
    let mut reader = Reader::new("frame trailer", bytes, 0);
    reader.byte()?;
    let version = reader.byte()?;
    if version > TRAILER_VERSION {
        bail!(Unsupported, "frame trailer: version {version} is not known in a frame that starts with 9d");
    }
    let chunk = reader.long(marker::BIN32)?;
    let mut layers = VlMetalayers::new();
    if !chunk.is_empty() {
        layers.push_chunk(USERMETA, chunk);
    }
    Ok(layers)
}
