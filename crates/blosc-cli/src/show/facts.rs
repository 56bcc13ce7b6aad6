//! What there is to know about a file.

use crate::inputs::format::{self, FileFormat};
use crate::inputs::source::{ChunkFile, Source};
use crate::outputs::encoding::{Hints, split_name};
pub(crate) use crate::show::chunk_facts::{ChunkFacts, Examined};
use crate::show::chunk_facts::{has_no_streams, is_stored};
use crate::show::json;
use crate::show::metadata;
use blosc_oxide::bloscpack::{Checksum, ItemOrder, NpyHeader};
use blosc_oxide::{
    BitshuffleRule, Codec, Error, ErrorKind, Filter, Frame, FrameLayout, FrameVersion, Header, NdArray, Pipeline,
    Result, Special, SplitMode, SuperChunk,
    bloscpack::Bloscpack,
    legacy::{EarlyFrame, PackedSpecial, PackedSuperChunk},
    storage::ReadAt,
};
use serde_json::Value;

/// How many chunks have each special value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Specials {
    pub(crate) zeros: u64,
    pub(crate) nan: u64,
    pub(crate) value: u64,
    pub(crate) uninit: u64,
}

impl Specials {
    fn count(&mut self, special: Option<Special>, chunks: u64) {
        match special {
            Some(Special::Zeros) => self.zeros += chunks,
            Some(Special::NaN) => self.nan += chunks,
            Some(Special::Value) => self.value += chunks,
            Some(Special::Uninit) => self.uninit += chunks,
            _ => {}
        }
    }

    /// Names and numbers of those that there are.
    pub(crate) fn named(self) -> [(&'static str, u64); 4] {
        [("zeros", self.zeros), ("nan", self.nan), ("value", self.value), ("uninit", self.uninit)]
    }
}

/// What a file is and holds.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) format: FileFormat,
    pub(crate) layout: Option<&'static str>,
    pub(crate) version: u64,
    pub(crate) nbytes: u64,
    pub(crate) cbytes: u64,
    /// How many bytes the file itself has, if it is one.
    pub(crate) file_bytes: Option<u64>,
    pub(crate) typesize: usize,
    pub(crate) chunksize: Option<u64>,
    pub(crate) blocksize: Option<u64>,
    pub(crate) nchunks: u64,
    pub(crate) codec: Option<Codec>,
    pub(crate) level: Option<u64>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) split: Option<SplitMode>,
    pub(crate) has_dict: bool,
    pub(crate) has_vlblocks: bool,
    pub(crate) specials: Specials,
    /// How many chunks are stored without compression.
    pub(crate) stored: u64,
    /// How many chunks hold measurements of a compression instead of data.
    pub(crate) instrumented: u64,
    /// How many chunks were written on a big-endian machine.
    pub(crate) big_endian: u64,
    /// The byte that parameterises the codec, and the version of its streams, where a chunk tells
    /// it.
    pub(crate) codec_meta: Option<u8>,
    pub(crate) codec_version: Option<u8>,
    /// How many chunks may hold other data than what they are read as, and the rule of bitshuffle
    /// for that.
    pub(crate) ambiguous: u64,
    pub(crate) bitshuffle: BitshuffleRule,
    /// The special chunks of a packed super-chunk: name, offset, nbytes and cbytes.
    pub(crate) parts: Vec<(String, u64, u64, u64)>,
    /// Names, and how long the contents are, where that can be told.
    pub(crate) metalayers: Vec<(String, Option<u64>)>,
    pub(crate) vlmetalayers: Vec<(String, Option<u64>)>,
    pub(crate) metadata: Option<String>,
    pub(crate) shape: Option<Vec<u64>>,
    pub(crate) chunks: Option<Vec<u64>>,
    pub(crate) blocks: Option<Vec<u64>>,
    pub(crate) dtype: Option<String>,
    pub(crate) order: Option<&'static str>,
    pub(crate) checksum: Option<String>,
    pub(crate) dead_bytes: Option<u64>,
    /// How many chunks cannot be read, and what is wrong with the first of them.
    pub(crate) damaged: u64,
    pub(crate) damage: Option<String>,
}

/// How many times smaller something has become.
#[expect(clippy::cast_precision_loss, reason = "a ratio is read with a few digits")]
pub(crate) fn ratio(nbytes: u64, cbytes: u64) -> Option<f64> {
    (cbytes > 0).then(|| nbytes as f64 / cbytes as f64)
}

impl Facts {
    /// Everything about a file that was just opened, which is an array afterwards if it holds one.
    pub(crate) fn of(source: Source) -> Result<(Self, Examined)> {
        let facts = match &source {
            Source::Chunk(chunk) => Self::of_chunk(chunk),
            Source::Frame(frame) => Self::of_frame(frame)?,
            Source::Packed(packed) => Self::of_packed(packed)?,
            Source::Bloscpack(file) => Self::of_bloscpack(file)?,
        };
        Ok(match source.into_array()? {
            Ok(array) => (facts.with_array(&array), Examined::Array(array)),
            Err(source) => (facts, Examined::Flat(source)),
        })
    }

    /// The facts of a file that has none of its own.
    pub(crate) fn of_nothing() -> Self {
        Self::new(FileFormat::B2frame, 0)
    }

    fn new(format: FileFormat, version: u64) -> Self {
        Self {
            format,
            layout: None,
            version,
            nbytes: 0,
            cbytes: 0,
            file_bytes: None,
            typesize: 1,
            chunksize: None,
            blocksize: None,
            nchunks: 0,
            codec: None,
            level: None,
            filters: Vec::new(),
            split: None,
            has_dict: false,
            has_vlblocks: false,
            specials: Specials::default(),
            stored: 0,
            instrumented: 0,
            big_endian: 0,
            codec_meta: None,
            codec_version: None,
            ambiguous: 0,
            bitshuffle: BitshuffleRule::default(),
            parts: Vec::new(),
            metalayers: Vec::new(),
            vlmetalayers: Vec::new(),
            metadata: None,
            shape: None,
            chunks: None,
            blocks: None,
            dtype: None,
            order: None,
            checksum: None,
            dead_bytes: None,
            damaged: 0,
            damage: None,
        }
    }

    fn of_chunk(chunk: &ChunkFile) -> Self {
        let header = &chunk.header;
        let mut facts = Self::new(Source::format_of_chunk(chunk), header.version().into());
        facts.take_header(header);
        facts.nbytes = header.nbytes() as u64;
        facts.cbytes = header.cbytes() as u64;
        facts.chunksize = Some(facts.nbytes);
        facts.nchunks = 1;
        facts.specials.count(header.special(), 1);
        facts.count(header, 1);
        facts.ambiguous = header.is_bitshuffle_ambiguous().into();
        facts.bitshuffle = header.bitshuffle_rule().unwrap_or(chunk.bitshuffle);
        facts
    }

    /// Takes note of chunks that cannot be read; that the file cannot be is no damage.
    fn note_damage(&mut self, chunks: u64, error: Error) -> Result<()> {
        if matches!(error.kind(), ErrorKind::Io | ErrorKind::Conflict) {
            return Err(error);
        }
        self.damaged += chunks;
        self.damage.get_or_insert_with(|| error.to_string());
        Ok(())
    }

    /// Counts what is special about chunks with this header.
    fn count(&mut self, header: &Header, chunks: u64) {
        let counted = |is_so: bool| if is_so { chunks } else { 0 };
        self.stored += counted(is_stored(header));
        self.instrumented += counted(header.is_instrumented());
        self.big_endian += counted(header.is_big_endian());
        if !has_no_streams(header) {
            self.codec_meta.get_or_insert(header.codec_meta());
            self.codec_version.get_or_insert(header.codec_version());
        }
    }

    /// What a chunk says that its container does not.
    fn take_header(&mut self, header: &Header) {
        self.typesize = header.typesize();
        self.blocksize = (!header.has_vlblocks()).then_some(header.blocksize() as u64);
        self.filters = known(header.pipeline());
        // Special values are neither compressed nor split.
        if header.special().is_none() {
            self.codec = Some(header.codec());
            self.split = Some(if header.is_split() { SplitMode::Always } else { SplitMode::Never });
        }
        self.has_dict = header.has_dict();
        self.has_vlblocks = header.has_vlblocks();
    }

    fn of_frame(frame: &Frame) -> Result<Self> {
        let version = match frame.version() {
            FrameVersion::Early(EarlyFrame::Beta1) => 0,
            FrameVersion::Current(version) => version.into(),
            _ => 1,
        };
        let mut facts = Self::new(FileFormat::of_frame(frame), version);
        facts.layout = Some(if frame.layout() == FrameLayout::Sparse { "sparse" } else { "contiguous" });
        facts.checksum = frame.has_checksums().then(|| "xxh3".to_owned());
        facts.dead_bytes = match frame.dead_bytes() {
            Err(error) if error.kind() != ErrorKind::Io => None,
            dead => Some(dead?),
        };
        facts.take_super_chunk(frame)?;
        if !format::is_array(frame)
            && let Ok(Some(array)) = metadata::described_in_frame(frame)
        {
            facts.take_numpy(&array);
        }
        Ok(facts)
    }

    fn take_super_chunk(&mut self, sc: &SuperChunk) -> Result<()> {
        self.nbytes = sc.nbytes();
        self.cbytes = sc.cbytes();
        self.typesize = sc.typesize();
        self.chunksize = sc.chunksize().map(|size| size as u64);
        self.nchunks = sc.nchunks() as u64;
        self.codec = Some(sc.codec());
        self.level = Some(sc.level().into());
        self.filters = known(sc.pipeline());
        self.split = Some(sc.split());
        self.has_dict = sc.has_dict();
        self.has_vlblocks = sc.has_vlblocks();
        self.blocksize = sc.blocksize().map(|size| size as u64);
        self.bitshuffle = sc.bitshuffle_rule();
        let mut blocksize = None;
        for run in sc.chunk_runs() {
            let chunks = run.chunks.len() as u64;
            match run.header {
                Ok(Some(header)) => {
                    self.count(&header, chunks);
                    blocksize.get_or_insert(header.blocksize() as u64);
                    let is_ambiguous = sc.is_bitshuffle_ambiguous(run.chunks.start)?;
                    self.ambiguous += if is_ambiguous { chunks } else { 0 };
                }
                Ok(None) => {}
                Err(error) => self.note_damage(chunks, error)?,
            }
            self.specials.count(run.special, chunks);
        }
        if !self.has_vlblocks {
            self.blocksize = self.blocksize.or(blocksize);
        }
        let layers = sc.metalayers().iter();
        self.metalayers = layers.map(|(name, content)| (name.to_owned(), Some(content.len() as u64))).collect();
        for name in sc.vlmetalayers().names() {
            let nbytes = sc.vlmetalayers().nbytes(name).ok().flatten();
            self.vlmetalayers.push((name.to_owned(), nbytes.map(|nbytes| nbytes as u64)));
        }
        Ok(())
    }

    fn with_array(mut self, array: &NdArray) -> Self {
        let geometry = array.geometry();
        self.nbytes = geometry.nitems().saturating_mul(geometry.typesize() as u64);
        self.shape = Some(geometry.shape().to_vec());
        self.chunks = Some(geometry.chunks().to_vec());
        self.blocks = Some(geometry.blocks().to_vec());
        self.dtype = Some(array.dtype().to_owned());
        self.order = Some(order_name(array.order()));
        self
    }

    pub(crate) fn take_numpy(&mut self, array: &NpyHeader) {
        self.shape = Some(array.shape().to_vec());
        self.dtype = Some(array.dtype());
        self.order = Some(order_name(array.order()));
    }

    fn of_packed<R: ReadAt>(packed: &PackedSuperChunk<R>) -> Result<Self> {
        let mut facts = Self::new(FileFormat::Packed, 0);
        let header = packed.header();
        facts.nchunks = packed.nchunks() as u64;
        for index in 0..packed.nchunks() {
            let chunk = match packed.chunk_header(index) {
                Ok(chunk) => chunk,
                Err(error) => {
                    facts.note_damage(1, error)?;
                    continue;
                }
            };
            if facts.chunksize.is_none() {
                facts.take_header(&chunk);
                facts.chunksize = Some(chunk.nbytes() as u64);
            }
            facts.nbytes += chunk.nbytes() as u64;
            facts.cbytes += chunk.cbytes() as u64;
            facts.count(&chunk, 1);
        }
        for kind in PackedSpecial::ALL {
            if let Some((offset, chunk)) = packed.special_header(kind)? {
                facts.parts.push((kind.to_string(), offset, chunk.nbytes() as u64, chunk.cbytes() as u64));
            }
        }
        facts.codec = Some(header.codec());
        facts.level = Some(header.level().into());
        facts.filters = header.filters().iter().collect();
        for kind in [PackedSpecial::Metadata, PackedSpecial::UserData] {
            if let Some((_, chunk)) = packed.special_header(kind)? {
                facts.metalayers.push((kind.to_string(), Some(chunk.nbytes() as u64)));
            }
        }
        Ok(facts)
    }

    fn of_bloscpack<R: ReadAt>(file: &Bloscpack<R>) -> Result<Self> {
        let header = file.header();
        let mut facts = Self::new(FileFormat::Blp, header.version().number().into());
        facts.nchunks = file.nchunks()?;
        facts.nbytes = file.nbytes()?;
        for index in 0..facts.nchunks {
            let chunk = file.chunk_header(index)?;
            if index == 0 {
                facts.take_header(&chunk);
            }
            facts.cbytes += chunk.cbytes() as u64;
            facts.count(&chunk, 1);
        }
        facts.chunksize = header.chunk_size().map(|size| size as u64);
        facts.checksum = (header.checksum() != Checksum::None).then(|| header.checksum().name().to_owned());
        facts.metadata = file.metadata().map(|metadata| metadata.text().to_owned());
        if let Ok(Some(array)) = file.numpy() {
            facts.take_numpy(&array);
        }
        Ok(facts)
    }

    /// What a copy of the file should be like.
    pub(crate) fn hints(&self) -> Hints {
        let size = |size: Option<u64>| size.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0);
        let is_container = self.level.is_some();
        Hints {
            typesize: Some(self.typesize),
            codec: self.codec,
            level: self.level.and_then(|level| u8::try_from(level).ok()).filter(|&level| level <= 9),
            filters: Some(self.filters.clone()),
            split: self.split.filter(|_| is_container),
            chunk_size: size(self.chunksize).filter(|_| !self.format.is_chunk()),
            block_size: None,
            checksum: self.checksum.clone(),
            chunks: self.chunks.clone(),
            blocks: self.blocks.clone(),
        }
    }

    /// All facts under their documented names.
    pub(crate) fn to_json(&self) -> Vec<(&'static str, Value)> {
        let layers = |layers: &[(String, Option<u64>)]| {
            let object = |(name, nbytes): &(String, Option<u64>)| {
                json::object(vec![("name", name.as_str().into()), ("nbytes", (*nbytes).into())])
            };
            Value::Array(layers.iter().map(object).collect())
        };
        vec![
            ("format", self.format.name().into()),
            ("layout", self.layout.into()),
            ("version", self.version.into()),
            ("nbytes", self.nbytes.into()),
            ("cbytes", self.cbytes.into()),
            ("file_bytes", self.file_bytes.into()),
            ("ratio", ratio(self.nbytes, self.cbytes).map_or(Value::Null, rounded)),
            ("typesize", self.typesize.into()),
            ("chunksize", self.chunksize.into()),
            ("blocksize", self.blocksize.into()),
            ("nchunks", self.nchunks.into()),
            ("codec", self.codec.map(|codec| codec.to_string()).into()),
            ("codec_meta", self.codec_meta.map(u64::from).into()),
            ("codec_version", self.codec_version.map(u64::from).into()),
            ("level", self.level.into()),
            ("filters", names(&self.filters).into()),
            ("split", self.split.map(split_name).into()),
            ("dict", self.has_dict.into()),
            ("vlblocks", self.has_vlblocks.into()),
            ("special_chunks", json::object(self.specials.named().map(|(name, count)| (name, count.into())))),
            ("stored_chunks", self.stored.into()),
            ("instrumented_chunks", self.instrumented.into()),
            ("big_endian_chunks", self.big_endian.into()),
            ("ambiguous_chunks", self.ambiguous.into()),
            ("parts", Value::Array(self.parts.iter().map(part_json).collect())),
            ("metalayers", layers(&self.metalayers)),
            ("vlmetalayers", layers(&self.vlmetalayers)),
            ("metadata", self.metadata.clone().into()),
            ("shape", self.shape.clone().into()),
            ("chunks", self.chunks.clone().into()),
            ("blocks", self.blocks.clone().into()),
            ("dtype", self.dtype.clone().into()),
            ("order", self.order.into()),
            ("checksum", self.checksum.clone().into()),
            ("dead_bytes", self.dead_bytes.into()),
            ("damaged_chunks", self.damaged.into()),
            ("damage", self.damage.clone().into()),
        ]
    }
}

fn part_json((name, offset, nbytes, cbytes): &(String, u64, u64, u64)) -> Value {
    json::object(vec![
        ("name", name.as_str().into()),
        ("offset", (*offset).into()),
        ("nbytes", (*nbytes).into()),
        ("cbytes", (*cbytes).into()),
    ])
}

/// How many chunks of `sc` nothing tells the rule of bitshuffle of. Those that cannot be read count
/// as none.
pub(crate) fn ambiguous_chunks(sc: &SuperChunk) -> u64 {
    let is_ambiguous = |chunk: usize| sc.is_bitshuffle_ambiguous(chunk).unwrap_or(false);
    sc.chunk_runs().map(|run| if is_ambiguous(run.chunks.start) { run.chunks.len() as u64 } else { 0 }).sum()
}

/// What there is to say of chunks that may hold other data than what they are read as.
pub(crate) fn ambiguity(chunks: &str, rule: BitshuffleRule) -> String {
    let (by, advice) = match rule {
        BitshuffleRule::Current => (
            "as 2.0.0.beta.5 and later write it",
            "if an earlier beta has written the file, read it with --old-bitshuffle",
        ),
        BitshuffleRule::Old => (
            "as releases before 2.0.0.beta.5 wrote it",
            "if a later one has written the file, read it without --old-bitshuffle",
        ),
    };
    format!("bitshuffle is ambiguous in {chunks}, read {by}; {advice}")
}

fn order_name(order: ItemOrder) -> &'static str {
    match order {
        ItemOrder::C => "C",
        ItemOrder::Fortran => "F",
    }
}

/// The name of a special value.
pub(crate) fn special_name(special: Special) -> &'static str {
    match special {
        Special::Zeros => "zeros",
        Special::NaN => "nan",
        Special::Value => "value",
        Special::Uninit => "uninit",
        _ => "other",
    }
}

/// The filters as text.
pub(crate) fn names(filters: &[Filter]) -> Vec<String> {
    filters.iter().map(ToString::to_string).collect()
}

pub(crate) fn known(pipeline: Pipeline) -> Vec<Filter> {
    pipeline.filters().collect()
}

/// Three decimals are enough to read and to compare.
pub(crate) fn rounded(ratio: f64) -> Value {
    Value::from((ratio * 1000.0).round() / 1000.0)
}
