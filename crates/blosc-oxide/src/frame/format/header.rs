//! The header of a frame: 87 bytes of msgpack, then the metalayers.
#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::field::{checked, long, size};
use super::metalayers::{self, Content, Section};
use crate::bytes::array_at;
use crate::bytes::msgpack::{Reader, Writer, marker};
use crate::chunk::SplitMode;
use crate::codec::Codec;
use crate::error::{Result, bail, error};
use crate::filter::{BitshuffleRule, Pipeline};
use crate::limits::MAX_FILTERS;
use crate::schunk::{ChunkSize, Metalayers, State, VlMetalayers};

/// What every frame has at byte 2.
pub(crate) const MAGIC: &[u8] = b"b2frame\0";
/// The part of the header that all frames have.
pub(crate) const FIXED_LEN: usize = 87;
/// Where the length of the header stands.
pub(in crate::frame) const HEADER_LEN_AT: usize = 10;
const FRAME_LEN_AT: usize = 16;
const FLAGS_AT: usize = 25;
const SECTION_LEN_AT: usize = 39;
/// What can be found out from the first bytes: kind of frame, length of the header.
pub(in crate::frame) const START_LEN: usize = 15;
/// The longest header that is read, or written: 16 metalayers would have to be 16 MiB each.
pub(in crate::frame) const MAX_HEADER: usize = 1 << 28;

/// The first byte: an array of fourteen elements.
pub(in crate::frame) const ARRAY_14: u8 = marker::FIXARRAY | 14;
const STR_8: u8 = marker::FIXSTR | 8;
const STR_4: u8 = marker::FIXSTR | 4;

const VERSION: u8 = 2;
const VERSION_VARIABLE: u8 = 3;
const VERSION_MASK: u8 = 0x0f;
const OFFSETS_64_BIT: u8 = 0x10;
const OFFSETS_MASK: u8 = 0x30;
const FLAG_VARIABLE: u8 = 0x40;
const FLAG_VLBLOCKS: u8 = 0x80;
const CODEC_MASK: u8 = 0x0f;
const CODEC_ELSEWHERE: u8 = 6;
const SPLIT_MASK: u8 = 0x03;
const FLAG_DICT: u8 = 0x01;

/// What the header says about where things are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) header_len: usize,
    pub(crate) frame_len: u64,
    /// The length of the section that the chunks are in.
    pub(crate) section_len: u64,
    /// Whether the chunks are in files of their own.
    pub(crate) is_sparse: bool,
}

/// Reads a header, which must be all there. The state has no variable-length metalayers yet.
pub(crate) fn read(bytes: &[u8]) -> Result<(Extent, State)> {
    let mut reader = Reader::new("frame header", bytes, 0);
    reader.expect(ARRAY_14)?;
    let (header_len, frame_len) = read_lengths(&mut reader)?;
    let [flags, kind, codec_flags, other] = read_flags(&mut reader)?;
    let Sizes { nbytes, section_len, typesize } = Sizes::read(&mut reader)?;
    let blocksize = size("blocksize", reader.int32()?)?;
    let chunksize = reader.int32()?;
    skip_threads(&mut reader)?;
    let Filtering { pipeline, codec, codec_meta, dict } = Filtering::read(&mut reader)?;
    check_flags(flags, kind, typesize)?;
    check_lengths(header_len, frame_len, bytes.len())?;
    let state = State {
        bitshuffle: Some(BitshuffleRule::Current),
        typesize,
        blocksize,
        chunksize: read_chunksize(chunksize, nbytes)?,
        nbytes,
        codec: read_codec(codec_flags, codec),
        codec_meta,
        level: codec_flags >> 4,
        pipeline,
        split: split_mode(other),
        dict,
        vlblocks: flags & FLAG_VLBLOCKS != 0,
        metalayers: read_metalayers(bytes.get(..header_len).unwrap_or_default(), FIXED_LEN)?,
        vlmetalayers: VlMetalayers::new(),
    };
    let section_len =
        if nbytes == 0 { section_without_chunks(header_len, frame_len, section_len) } else { section_len };
    Ok((Extent { header_len, frame_len, section_len, is_sparse: kind == 1 }, state))
}

/// The magic, and the lengths of header and frame.
pub(in crate::frame) fn read_lengths(reader: &mut Reader<'_>) -> Result<(usize, u64)> {
    reader.expect(STR_8)?;
    if reader.take(MAGIC.len())? != MAGIC {
        bail!(Corrupt, "frame header: the magic is not there");
    }
    Ok((size("header length", reader.int32()?)?, reader.uint64()?))
}

/// The four bytes of flags.
pub(in crate::frame) fn read_flags(reader: &mut Reader<'_>) -> Result<[u8; 4]> {
    reader.expect(STR_4)?;
    Ok([reader.byte()?, reader.byte()?, reader.byte()?, reader.byte()?])
}

/// The numbers of threads, which are of no use to others, and whether there are metalayers of some
/// kind, which is seen where they are.
pub(in crate::frame) fn skip_threads(reader: &mut Reader<'_>) -> Result<()> {
    reader.int16()?;
    reader.int16()?;
    reader.boolean().map(|_| ())
}

/// What a header says about the data.
pub(in crate::frame) struct Sizes {
    pub(in crate::frame) nbytes: u64,
    pub(in crate::frame) section_len: u64,
    pub(in crate::frame) typesize: usize,
}

impl Sizes {
    pub(in crate::frame) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            nbytes: long("nbytes", reader.int64()?)?,
            section_len: long("cbytes", reader.int64()?)?,
            typesize: size("typesize", reader.int32()?)?,
        })
    }
}

/// What a header says about how new chunks are made.
struct Filtering {
    pipeline: Pipeline,
    codec: u8,
    codec_meta: u8,
    dict: bool,
}

impl Filtering {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.expect(marker::FIXEXT16)?;
        reader.byte()?;
        let ids = slots(reader)?;
        let (codec, codec_meta) = (reader.byte()?, reader.byte()?);
        let metas = slots(reader)?;
        let flags2 = reader.byte()?;
        reader.byte()?;
        Ok(Self { pipeline: Pipeline::from_slots(ids, metas), codec, codec_meta, dict: flags2 & FLAG_DICT != 0 })
    }
}

/// The length of the section of a frame without chunks. The reference, which has written its index
/// over the chunks, leaves the length that it had when it deletes the last one.
fn section_without_chunks(header_len: usize, frame_len: u64, stored: u64) -> u64 {
    if stored > frame_len.saturating_sub(header_len as u64) { 0 } else { stored }
}

/// The version of the format that a header names.
pub(in crate::frame) fn version(bytes: &[u8]) -> u8 {
    bytes.get(FLAGS_AT).map_or(VERSION, |flags| flags & VERSION_MASK)
}

/// How long a header says it is, by its first bytes.
pub(in crate::frame) fn stored_len(bytes: &[u8]) -> Option<usize> {
    let stored = array_at(bytes, HEADER_LEN_AT.saturating_add(1)).map(i32::from_be_bytes)?;
    usize::try_from(stored).ok()
}

/// How long a header says the frame is, by its first bytes.
pub(in crate::frame) fn stored_frame_len(bytes: &[u8]) -> Option<u64> {
    array_at(bytes, FRAME_LEN_AT).map(u64::from_be_bytes)
}

fn check_flags(flags: u8, kind: u8, typesize: usize) -> Result<()> {
    let version = flags & VERSION_MASK;
    if version > VERSION_VARIABLE {
        bail!(Unsupported, "frame header: version {version} is not one of 0 to {VERSION_VARIABLE}");
    }
    if flags & OFFSETS_MASK != OFFSETS_64_BIT {
        bail!(Unsupported, "frame header: flags {flags:#04x} have offsets that are not of 64 bits");
    }
    if kind > 1 {
        bail!(Unsupported, "frame header: a frame of type {kind} is neither contiguous nor sparse");
    }
    if typesize == 0 {
        bail!(Corrupt, "frame header: typesize is 0");
    }
    Ok(())
}

pub(in crate::frame) fn check_lengths(header_len: usize, frame_len: u64, given: usize) -> Result<()> {
    if header_len > given {
        bail!(Truncated, "frame header: {header_len} bytes announced, {given} are there");
    }
    if frame_len < header_len as u64 {
        bail!(Corrupt, "frame header: the frame has {frame_len} bytes, less than its header's {header_len}");
    }
    Ok(())
}

pub(in crate::frame) fn read_chunksize(stored: i32, nbytes: u64) -> Result<ChunkSize> {
    match usize::try_from(stored) {
        Ok(0) => Ok(ChunkSize::Variable),
        Ok(size) => Ok(ChunkSize::Fixed(size)),
        Err(_) if nbytes == 0 => Ok(ChunkSize::Unknown),
        Err(_) => bail!(Corrupt, "frame header: chunksize is {stored}, but there are {nbytes} bytes"),
    }
}

/// Metalayers that start at `at`; their offsets count from the start of `bytes`.
pub(in crate::frame) fn read_metalayers(bytes: &[u8], at: usize) -> Result<Metalayers> {
    let mut metalayers = Metalayers::new();
    for (name, content) in metalayers::read("frame header", bytes, at, &(0..0))? {
        metalayers.add(name, content).map_err(|error| error!(Corrupt, "frame header: {error}"))?;
    }
    Ok(metalayers)
}

fn read_codec(codec_flags: u8, code: u8) -> Codec {
    match codec_flags & CODEC_MASK {
        CODEC_ELSEWHERE.. => Codec::from_code(code),
        nibble => Codec::from_code(nibble),
    }
}

fn split_mode(flags: u8) -> SplitMode {
    match flags & SPLIT_MASK {
        0 => SplitMode::Always,
        1 => SplitMode::Never,
        2 => SplitMode::Auto,
        _ => SplitMode::ForwardCompat,
    }
}

fn slots(reader: &mut Reader<'_>) -> Result<[u8; MAX_FILTERS]> {
    let mut slots = [0; MAX_FILTERS];
    for slot in &mut slots {
        *slot = reader.byte()?;
    }
    Ok(slots)
}

/// The header of a frame of these lengths. `has_vlmetalayers` counts those that the frame adds
/// itself.
pub(crate) fn write(
    state: &State,
    frame_len: u64,
    section_len: u64,
    is_sparse: bool,
    has_vlmetalayers: bool,
) -> Result<Vec<u8>> {
    let mut writer = Writer::default();
    writer.byte(ARRAY_14);
    writer.byte(STR_8);
    writer.bytes(MAGIC);
    writer.int32(0);
    writer.uint64(frame_len);
    writer.byte(STR_4);
    let codec_flags = state.codec.code().min(CODEC_ELSEWHERE) | state.level << 4;
    writer.bytes(&[general_flags(state), u8::from(is_sparse), codec_flags, split_flags(state.split)]);
    write_sizes(state, section_len, &mut writer)?;
    writer.int16(1);
    writer.int16(1);
    writer.boolean(has_vlmetalayers);
    write_filtering(state, &mut writer)?;
    let layers = state.metalayers.iter().map(|(name, content)| (name, Content::whole(content)));
    metalayers::write(layers, Section::Header, &mut writer)?;
    let mut bytes = writer.0;
    let header_len: i32 = checked_len(bytes.len())?;
    if let Some(place) = bytes.get_mut(HEADER_LEN_AT.saturating_add(1)..START_LEN) {
        place.copy_from_slice(&header_len.to_be_bytes());
    }
    Ok(bytes)
}

/// The length of a header to be written: one that no reader takes would make the frame unreadable.
pub(crate) fn checked_len(len: usize) -> Result<i32> {
    if len > MAX_HEADER {
        bail!(
            InvalidArgument,
            "frame header: with these metalayers of fixed size it has {len} bytes, at most {MAX_HEADER} are read"
        );
    }
    checked(len)
}

fn write_sizes(state: &State, section_len: u64, writer: &mut Writer) -> Result<()> {
    writer.int64(checked(state.nbytes)?);
    writer.int64(checked(section_len)?);
    writer.int32(checked(state.typesize)?);
    writer.int32(checked(state.blocksize)?);
    writer.int32(match state.chunksize {
        ChunkSize::Unknown => -1,
        ChunkSize::Fixed(size) => checked(size)?,
        ChunkSize::Variable => 0,
    });
    Ok(())
}

fn write_filtering(state: &State, writer: &mut Writer) -> Result<()> {
    writer.byte(marker::FIXEXT16);
    writer.byte(checked(MAX_FILTERS)?);
    writer.bytes(&state.pipeline.ids());
    writer.byte(state.codec.code());
    writer.byte(state.codec_meta);
    writer.bytes(&state.pipeline.metas());
    writer.byte(if state.dict { FLAG_DICT } else { 0 });
    writer.byte(0);
    Ok(())
}

fn general_flags(state: &State) -> u8 {
    let is_variable = state.chunksize == ChunkSize::Variable;
    let version = if is_variable || state.vlblocks { VERSION_VARIABLE } else { VERSION };
    let variable = if is_variable { FLAG_VARIABLE } else { 0 };
    let vlblocks = if state.vlblocks { FLAG_VLBLOCKS } else { 0 };
    version | OFFSETS_64_BIT | variable | vlblocks
}

fn split_flags(mode: SplitMode) -> u8 {
    match mode {
        SplitMode::Always => 0,
        SplitMode::Never => 1,
        SplitMode::Auto => 2,
        SplitMode::ForwardCompat => 3,
    }
}

/// The header with other lengths of the frame and its section.
pub(in crate::frame) fn with_lengths(header: &[u8], frame_len: u64, section_len: u64) -> Result<Vec<u8>> {
    let mut bytes = header.to_vec();
    let section_len: i64 = checked(section_len)?;
    let places = [(FRAME_LEN_AT, frame_len.to_be_bytes()), (SECTION_LEN_AT, section_len.to_be_bytes())];
    for (at, value) in places {
        if let Some(place) = bytes.get_mut(at..at.saturating_add(value.len())) {
            place.copy_from_slice(&value);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Options;
    use crate::filter::Filter;

    const FRAME_LEN: u64 = 5000;
    const SECTION_LEN: u64 = 4000;

    fn state() -> State {
        let filters = Pipeline::new(&[Filter::Delta, Filter::Shuffle]).unwrap();
        let options = Options::new(4)
            .with_codec(Codec::Zstd)
            .with_codec_meta(9)
            .with_level(7)
            .with_pipeline(filters)
            .with_blocksize(512);
        let mut state = State { chunksize: ChunkSize::Fixed(1000), nbytes: 9000, ..State::new(&options) };
        state.metalayers.add("name", *b"content").unwrap();
        state
    }

    fn written(state: &State) -> Vec<u8> {
        write(state, FRAME_LEN, SECTION_LEN, false, false).unwrap()
    }

    /// What a header with other bytes at one place is refused for.
    fn message(at: usize, bytes: &[u8]) -> String {
        let mut header = written(&state());
        header.splice(at..at.saturating_add(bytes.len()), bytes.iter().copied());
        read(&header).unwrap_err().to_string()
    }

    #[test]
    fn a_header_comes_back() {
        let header = written(&state());
        let extent = Extent { header_len: header.len(), frame_len: 5000, section_len: 4000, is_sparse: false };
        assert_eq!(read(&header).unwrap(), (extent, state()));
        assert_eq!((stored_len(&header), version(&header)), (Some(header.len()), VERSION));
        assert_eq!((stored_len(&header[..START_LEN - 1]), version(&[])), (None, VERSION));
        let sparse = write(&state(), FRAME_LEN, SECTION_LEN, true, true).unwrap();
        assert!(read(&sparse).unwrap().0.is_sparse);
        let other = with_lengths(&header, 6000, 5000).unwrap();
        assert_eq!(other, write(&state(), 6000, 5000, false, false).unwrap());
    }

    #[test]
    fn the_markers_and_flags_are_those_of_the_format() {
        let header = written(&state());
        assert_eq!(header[..11], *b"\x9e\xa8b2frame\0\xd2");
        assert_eq!(header[24..28], [0xa4, 0x12, 0, 0x75]);
    }

    #[test]
    fn the_codec_is_among_the_flags_if_it_has_room_there() {
        assert_eq!(read_codec(0x71, 5), Codec::Lz4);
        assert_eq!(read_codec(0x05, 1), Codec::Zstd);
        assert_eq!(read_codec(0x76, 200), Codec::Plugin(200));
        assert_eq!(read_codec(0x0f, 5), Codec::Zstd);
    }

    #[test]
    fn every_kind_of_state_comes_back() {
        let mut states = Vec::new();
        for split in [SplitMode::Always, SplitMode::Never, SplitMode::Auto, SplitMode::ForwardCompat] {
            states.push(State { split, ..state() });
        }
        for codec in [Codec::BloscLz, Codec::Lz4Hc, Codec::Plugin(9), Codec::Plugin(200)] {
            states.push(State { codec, level: 0, ..state() });
        }
        states.push(State { dict: true, ..state() });
        states.push(State { vlblocks: true, ..state() });
        states.push(State { chunksize: ChunkSize::Variable, ..state() });
        states.push(State { chunksize: ChunkSize::Unknown, nbytes: 0, ..state() });
        for state in states {
            let header = written(&state);
            assert_eq!(read(&header).unwrap().1, state);
            let is_variable = state.vlblocks || state.chunksize == ChunkSize::Variable;
            assert_eq!(version(&header), if is_variable { VERSION_VARIABLE } else { VERSION });
            assert_eq!(header[FLAGS_AT] & FLAG_VARIABLE != 0, state.chunksize == ChunkSize::Variable);
        }
    }

    #[test]
    fn every_bad_field_is_named() {
        let len = i32::try_from(written(&state()).len()).unwrap();
        assert_eq!(message(5, b"?"), "frame header: the magic is not there");
        assert_eq!(message(11, &(-1_i32).to_be_bytes()), "frame header: header length is -1");
        let longer = format!("frame header: {} bytes announced, {len} are there", len + 1);
        assert_eq!(message(11, &(len + 1).to_be_bytes()), longer);
        let shorter = u64::try_from(len - 1).unwrap();
        let less = format!("frame header: the frame has {shorter} bytes, less than its header's {len}");
        assert_eq!(message(16, &shorter.to_be_bytes()), less);
        assert_eq!(message(25, &[0x14]), "frame header: version 4 is not one of 0 to 3");
        assert_eq!(message(25, &[0x02]), "frame header: flags 0x02 have offsets that are not of 64 bits");
        assert_eq!(message(25, &[0x32]), "frame header: flags 0x32 have offsets that are not of 64 bits");
        assert_eq!(message(26, &[2]), "frame header: a frame of type 2 is neither contiguous nor sparse");
        assert_eq!(message(30, &(-7_i64).to_be_bytes()), "frame header: nbytes is -7");
        assert_eq!(message(39, &(-7_i64).to_be_bytes()), "frame header: cbytes is -7");
        assert_eq!(message(48, &[0; 4]), "frame header: typesize is 0");
        assert_eq!(message(58, &[255; 4]), "frame header: chunksize is -1, but there are 9000 bytes");
    }

    #[test]
    fn a_frame_can_be_as_short_as_its_header() {
        let len = written(&state()).len();
        assert!(check_lengths(len, len as u64, len).is_ok());
        assert!(check_lengths(len, len as u64 - 1, len).is_err());
        assert!(check_lengths(len, len as u64, len - 1).is_err());
        assert!(check_flags(OFFSETS_64_BIT | VERSION_VARIABLE, 1, 1).is_ok());
    }

    /// The reference leaves the length of chunks that it has deleted.
    #[test]
    fn a_section_without_chunks_is_inside_the_frame() {
        assert_eq!(section_without_chunks(100, 150, 50), 50);
        assert_eq!(section_without_chunks(100, 150, 51), 0);
        let empty = State { nbytes: 0, ..state() };
        let read_section = |state: &State| read(&write(state, 200, 4000, false, false).unwrap()).unwrap().0.section_len;
        assert_eq!((read_section(&empty), read_section(&state())), (0, 4000));
    }

    #[test]
    fn what_does_not_fit_its_field_is_refused() {
        let large = State { typesize: 1 << 31, ..state() };
        let error = write(&large, FRAME_LEN, SECTION_LEN, false, false).unwrap_err();
        assert_eq!(error.to_string(), "frame: 2147483648 is too large for its field");
        assert!(with_lengths(&written(&state()), 1, 1 << 63).is_err());
    }

    /// 256 MiB of metalayers were once written, and the frame could not be opened any more.
    #[test]
    fn a_header_that_nobody_reads_is_not_written() {
        let mut layers = state();
        layers.metalayers.add("large", vec![0_u8; MAX_HEADER]).unwrap();
        let error = write(&layers, FRAME_LEN, SECTION_LEN, false, false).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::InvalidArgument);
        assert!(error.to_string().contains("at most 268435456 are read"), "{error}");
        assert_eq!(checked_len(MAX_HEADER).unwrap(), 1 << 28);
    }
}
