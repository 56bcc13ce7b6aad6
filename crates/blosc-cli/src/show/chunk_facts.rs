//! What there is to know about a chunk of a file.

use crate::inputs::source::Source;
use crate::show::facts::{known, names, ratio, rounded, special_name};
use crate::show::json;
use blosc_oxide::{Codec, ErrorKind, Filter, Header, NdArray, Result, Special, SuperChunk};
use serde_json::Value;

/// What one chunk of a file is and holds.
#[derive(Debug, Clone)]
pub(crate) struct ChunkFacts {
    pub(crate) index: u64,
    /// Where it is in the file, or the number of its own file; `None` if it is not stored.
    pub(crate) offset: Option<u64>,
    pub(crate) nbytes: u64,
    pub(crate) cbytes: u64,
    pub(crate) blocksize: Option<u64>,
    pub(crate) codec: Option<Codec>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) special: Option<Special>,
    pub(crate) is_stored: bool,
    pub(crate) is_instrumented: bool,
    pub(crate) is_big_endian: bool,
    pub(crate) codec_meta: Option<u8>,
    pub(crate) codec_version: Option<u8>,
    /// Whether its data depend on a rule of bitshuffle that nothing tells.
    pub(crate) is_ambiguous: bool,
    /// Why nothing more is known about it.
    pub(crate) damage: Option<String>,
}

impl ChunkFacts {
    pub(crate) fn of_header(index: u64, offset: Option<u64>, header: &Header) -> Self {
        Self {
            index,
            offset,
            nbytes: header.nbytes() as u64,
            cbytes: header.cbytes() as u64,
            blocksize: (!header.has_vlblocks()).then_some(header.blocksize() as u64),
            codec: header.special().is_none().then(|| header.codec()),
            filters: known(header.pipeline()),
            special: header.special(),
            is_stored: is_stored(header),
            is_instrumented: header.is_instrumented(),
            is_big_endian: header.is_big_endian(),
            codec_meta: (!has_no_streams(header)).then(|| header.codec_meta()),
            codec_version: (!has_no_streams(header)).then(|| header.codec_version()),
            is_ambiguous: false,
            damage: None,
        }
    }

    /// What is known of a chunk without a header: of a special value, or damaged.
    fn without_header(index: u64, offset: Option<u64>) -> Self {
        Self {
            index,
            offset,
            nbytes: 0,
            cbytes: 0,
            blocksize: None,
            codec: None,
            filters: Vec::new(),
            special: None,
            is_stored: false,
            is_instrumented: false,
            is_big_endian: false,
            codec_meta: None,
            codec_version: None,
            is_ambiguous: false,
            damage: None,
        }
    }

    /// All facts under their documented names.
    pub(crate) fn to_json(&self) -> Value {
        json::object(vec![
            ("index", self.index.into()),
            ("offset", self.offset.into()),
            ("nbytes", self.nbytes.into()),
            ("cbytes", self.cbytes.into()),
            ("ratio", ratio(self.nbytes, self.cbytes).map_or(Value::Null, rounded)),
            ("blocksize", self.blocksize.into()),
            ("codec", self.codec.map(|codec| codec.to_string()).into()),
            ("filters", names(&self.filters).into()),
            ("special", self.special.map(special_name).into()),
            ("stored", self.is_stored.into()),
            ("instrumented", self.is_instrumented.into()),
            ("big_endian", self.is_big_endian.into()),
            ("codec_meta", self.codec_meta.map(u64::from).into()),
            ("codec_version", self.codec_version.map(u64::from).into()),
            ("ambiguous", self.is_ambiguous.into()),
            ("damage", self.damage.clone().into()),
        ])
    }
}

/// A file whose facts are known, with its chunks still to be asked for.
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub(crate) enum Examined {
    /// An array.
    Array(NdArray),
    /// Anything else.
    Flat(Source),
}

impl Examined {
    /// What the chunk `index` is and holds; of one that cannot be read, why.
    pub(crate) fn chunk(&self, index: u64) -> Result<ChunkFacts> {
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let found = match self {
            Self::Array(array) => chunk_of(array.super_chunk(), place),
            Self::Flat(Source::Frame(frame)) => chunk_of(frame, place),
            Self::Flat(Source::Chunk(chunk)) => {
                let is_ambiguous = chunk.header.is_bitshuffle_ambiguous();
                Ok(ChunkFacts { is_ambiguous, ..ChunkFacts::of_header(0, Some(0), &chunk.header) })
            }
            Self::Flat(Source::Packed(packed)) => packed
                .chunk_position(place)
                .and_then(|offset| Ok(ChunkFacts::of_header(index, Some(offset), &packed.chunk_header(place)?))),
            Self::Flat(Source::Bloscpack(file)) => file
                .chunk_position(index)
                .and_then(|offset| Ok(ChunkFacts::of_header(index, Some(offset), &file.chunk_header(index)?))),
        };
        match found {
            Err(error) if error.kind() != ErrorKind::Io => {
                Ok(ChunkFacts { damage: Some(error.to_string()), ..ChunkFacts::without_header(index, None) })
            }
            found => found,
        }
    }
}

fn chunk_of(sc: &SuperChunk, index: usize) -> Result<ChunkFacts> {
    let offset = sc.chunk_position(index)?;
    if let Some(header) = sc.chunk_header(index)? {
        let is_ambiguous = sc.is_bitshuffle_ambiguous(index)?;
        return Ok(ChunkFacts { is_ambiguous, ..ChunkFacts::of_header(index as u64, offset, &header) });
    }
    let (nbytes, special) = (sc.chunk_nbytes(index)? as u64, sc.chunk_special(index)?);
    Ok(ChunkFacts { nbytes, special, ..ChunkFacts::without_header(index as u64, offset) })
}

/// Whether the data of a chunk are stored as they are.
pub(crate) fn is_stored(header: &Header) -> bool {
    header.is_memcpyed() && header.special().is_none()
}

/// Whether no codec has a part in a chunk.
pub(crate) fn has_no_streams(header: &Header) -> bool {
    header.is_memcpyed() || header.special().is_some()
}
