//! How data is to be compressed: what was asked for, and what is done about the rest.

use crate::arguments::array;
use crate::arguments::cli::Global;
use crate::arguments::level::{self, Digit};
use crate::arguments::size;
use crate::arguments::words::Words;
use crate::failure::{Failure, Outcome};
use crate::inputs::format::FileFormat;
use crate::inputs::input::read_layer;
use crate::show::metadata::{BLP_NAME, Metadata};
use crate::tune::Candidate;
use blosc_oxide::bloscpack::{Checksum, NpyHeader, Version};
use blosc_oxide::{Codec, Compressor, Filter, Format, Limits, Options, SplitMode, Threads, limits::MAX_NBYTES};
use clap::{Args, ValueEnum};

/// What chunks hold unless told otherwise.
const CHUNK_SIZE: usize = 4 << 20;
/// The same for Bloscpack files, as its own program has it.
const BLP_CHUNK_SIZE: usize = 1 << 20;
const LEVEL: u8 = 3;
/// What a b2nd array can have.
const MAX_DIMENSIONS: usize = 16;
/// How much of the data is looked at to find out how large its items are.
pub(crate) const SAMPLE: usize = 256 << 10;
/// Sizes of items that data is tried with, when nothing says what it is.
const TYPESIZES: [usize; 4] = [2, 4, 8, 16];

/// The options of commands that compress.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Compression")]
pub(crate) struct Encoding {
    /// The format to write; by default that of the extension of OUTPUT, else b2frame, or b2nd for
    /// an .npy file
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileFormat>,
    /// blosclz, lz4, lz4hc, zlib, zstd, or in Blosc1 chunks snappy; with a loss, for arrays of
    /// floats: zfp_acc:EXPONENT of the largest error, zfp_prec:BITS, zfp_rate:PERCENT [default:
    /// zstd]
    #[arg(long, value_name = "NAME[:META]", value_parser = Words { parse: parse_codec, words: &CODECS })]
    codec: Option<(Codec, u8)>,
    /// From 0, which only stores, to 9, the smallest; `-1` to `-9` in short [default: 3]
    #[arg(long, overrides_with_all = level::IDS, value_parser = clap::value_parser!(u8).range(0..=9))]
    level: Option<u8>,
    #[command(flatten)]
    digit: Digit,
    /// The size of an item in bytes [default: found out from the data]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..))]
    typesize: Option<u32>,
    /// A filter: shuffle, bitshuffle, delta, bytedelta, trunc_prec:BITS, int_trunc:BITS, none;
    /// repeat for several [default: shuffle]
    #[arg(long, value_name = "NAME[:META]", value_parser = Words { parse: parse_filter, words: &FILTERS })]
    filter: Vec<FilterArg>,
    /// When blocks are split into a stream for each byte of an item [default: forward]
    #[arg(long, value_enum)]
    split: Option<SplitArg>,
    /// How much data a chunk holds; of an array, about how much [default: 4M; 1M for blp, 8M for
    /// b2nd]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory, conflicts_with = "chunks")]
    pub(crate) chunk_size: Option<usize>,
    /// How much data a block holds; of an array, about how much [default: automatic]
    #[arg(long, value_name = "SIZE", value_parser = size::parse_memory, conflicts_with = "blocks")]
    block_size: Option<usize>,
    /// Give each chunk a dictionary (lz4, lz4hc, zstd)
    #[arg(long)]
    dict: bool,
    /// The checksum of chunks: none or xxh3 for frames; none, adler32, crc32, md5, sha1, sha224,
    /// sha256, sha384, sha512 for blp [default: xxh3, adler32]
    #[arg(long, value_name = "NAME")]
    checksum: Option<String>,
    /// The version of a blp file
    #[arg(long, value_name = "1|2|3", value_parser = parse_version)]
    blp_version: Option<Version>,
    /// The type of the items, in NumPy's words: float32, int64, bool, `datetime64[ns]`, `<f8`,
    /// or fields, `[('x', 'float32'), ('n', 'int8')]`
    #[arg(long, help_heading = "Arrays")]
    pub(crate) dtype: Option<String>,
    /// The shape of the array, such as 100,200; one length can be -1, which is found out
    #[arg(long, help_heading = "Arrays", value_name = "N,...", allow_hyphen_values = true, value_parser = array::parse_lengths)]
    pub(crate) shape: Option<array::Lengths>,
    /// The shape of its chunks; -1 is all of an axis
    #[arg(long, help_heading = "Arrays", value_name = "N,...", allow_hyphen_values = true, value_parser = array::parse_lengths)]
    pub(crate) chunks: Option<array::Lengths>,
    /// The shape of its blocks; -1 is all of an axis
    #[arg(long, help_heading = "Arrays", value_name = "N,...", allow_hyphen_values = true, value_parser = array::parse_lengths)]
    pub(crate) blocks: Option<array::Lengths>,
    /// Add a metalayer with the content of a file; a blp file has one place, called `metadata`, for
    /// a JSON text
    #[arg(long, help_heading = "Metadata", value_name = "NAME=FILE", value_parser = parse_named_file)]
    meta: Vec<(String, String)>,
    /// Add a variable-length metalayer with the content of a file
    #[arg(long, help_heading = "Metadata", value_name = "NAME=FILE", value_parser = parse_named_file)]
    vlmeta: Vec<(String, String)>,
}

/// A filter, or none.
#[derive(Debug, Clone, Copy)]
struct FilterArg(Option<Filter>);

/// When blocks are split.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SplitArg {
    /// Wherever the format allows it
    Always,
    /// Never
    Never,
    /// Where it pays off
    Auto,
    /// As the reference does by default
    Forward,
}

/// The name of a way to split.
pub(crate) fn split_name(mode: SplitMode) -> &'static str {
    match mode {
        SplitMode::Always => "always",
        SplitMode::Never => "never",
        SplitMode::Auto => "auto",
        _ => "forward",
    }
}

/// What completions offer for codecs and filters; what is not listed may still be read.
const CODECS: [&str; 9] = ["blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy", "zfp_acc:", "zfp_prec:", "zfp_rate:"];
const FILTERS: [&str; 7] = ["shuffle", "bitshuffle", "delta", "bytedelta", "trunc_prec:", "int_trunc:", "none"];

fn parse_codec(text: &str) -> Result<(Codec, u8), String> {
    const WRITTEN: &str = "it can be blosclz, lz4, lz4hc, snappy, zlib or zstd";
    match Codec::parse_with_meta(&text.to_ascii_lowercase()) {
        Ok((Codec::Lizard, _)) => Err(format!("lizard is read, but not written: {WRITTEN}")),
        Ok((codec, _)) if !codec.is_built_in() => Err(WRITTEN.to_owned()),
        Err(error) if text.starts_with("zfp") => Err(error.to_string()),
        found => found.map_err(|_| WRITTEN.to_owned()),
    }
}

fn parse_filter(text: &str) -> Result<FilterArg, String> {
    if text == "none" {
        return Ok(FilterArg(None));
    }
    text.parse().map(|filter| FilterArg(Some(filter))).map_err(|error: blosc_oxide::Error| error.to_string())
}

fn parse_version(text: &str) -> Result<Version, String> {
    let version = text.parse().ok().and_then(Version::from_number);
    version.ok_or_else(|| "it can be 1, 2 or 3".to_owned())
}

fn parse_named_file(text: &str) -> Result<(String, String), String> {
    let (name, file) = text.split_once('=').ok_or("NAME=FILE is needed")?;
    Ok((name.to_owned(), file.to_owned()))
}

/// What the data, or the file that it comes from, says about how it should be compressed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hints {
    pub(crate) typesize: Option<usize>,
    pub(crate) codec: Option<Codec>,
    pub(crate) level: Option<u8>,
    pub(crate) filters: Option<Vec<Filter>>,
    pub(crate) split: Option<SplitMode>,
    pub(crate) chunk_size: Option<usize>,
    pub(crate) block_size: Option<usize>,
    pub(crate) checksum: Option<String>,
    pub(crate) chunks: Option<Vec<u64>>,
    pub(crate) blocks: Option<Vec<u64>>,
}

/// Everything that writing a file takes, but the data.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    pub(crate) format: FileFormat,
    pub(crate) options: Options,
    pub(crate) typesize: usize,
    pub(crate) codec: Codec,
    pub(crate) level: u8,
    pub(crate) filters: Vec<Filter>,
    pub(crate) chunk_size: usize,
    pub(crate) checksum: Option<Checksum>,
    pub(crate) has_xxh3: bool,
    pub(crate) version: Option<Version>,
    pub(crate) array: Option<NpyHeader>,
    pub(crate) chunks: Option<Vec<u64>>,
    pub(crate) blocks: Option<Vec<u64>>,
    /// About how much data a chunk of an array has, if its shape is not given.
    pub(crate) array_chunk_size: Option<usize>,
    /// About how much data a block of an array has, if its shape is not given.
    pub(crate) array_block_size: Option<usize>,
    pub(crate) metadata: Metadata,
    pub(crate) nbytes: Option<u64>,
    pub(crate) threads: Threads,
    pub(crate) limits: Limits,
}

impl Encoding {
    /// Whether anything is asked for that chunks which are copied as they are could not have.
    pub(crate) fn changes_chunks(&self) -> bool {
        self.codec.is_some()
            || self.level().is_some()
            || self.typesize.is_some()
            || !self.filter.is_empty()
            || self.split.is_some()
            || self.chunk_size.is_some()
            || self.block_size.is_some()
            || self.dict
            || self.dtype.is_some()
            || self.shape.is_some()
            || self.chunks.is_some()
            || self.blocks.is_some()
    }

    /// The level that was asked for, in either way.
    fn level(&self) -> Option<u8> {
        self.level.or(self.digit.0)
    }

    /// The same with a setting that was found by measuring.
    pub(crate) fn with_candidate(mut self, candidate: &Candidate) -> Self {
        self.codec = Some((candidate.codec, 0));
        self.level = Some(candidate.level);
        self.filter = candidate.filters.iter().map(|&filter| FilterArg(Some(filter))).collect();
        if self.filter.is_empty() {
            self.filter.push(FilterArg(None));
        }
        self
    }

    /// The same with shapes that were found by measuring.
    pub(crate) fn with_shapes(mut self, chunks: &[u64], blocks: &[u64]) -> Self {
        self.chunks = Some(array::Lengths::from(chunks));
        self.blocks = Some(array::Lengths::from(blocks));
        self
    }

    /// Whether shapes of chunks or blocks were asked for.
    pub(crate) fn has_shapes(&self) -> bool {
        self.chunks.is_some() || self.blocks.is_some() || self.chunk_size.is_some() || self.block_size.is_some()
    }

    /// Whether an array is described.
    pub(crate) fn describes_array(&self) -> bool {
        self.shape.is_some() || self.chunks.is_some() || self.blocks.is_some()
    }

    /// Whether the data is said to be other items than it says itself.
    pub(crate) fn redescribes(&self) -> bool {
        self.shape.is_some() || self.dtype.is_some()
    }

    /// Whether metadata was given.
    pub(crate) fn adds_metadata(&self) -> bool {
        !self.meta.is_empty() || !self.vlmeta.is_empty()
    }

    /// Refuses options that mean nothing for a format: whoever gives one expects something of it.
    fn check_meant_for(&self, format: FileFormat) -> Outcome {
        let is_array = format == FileFormat::B2nd;
        let unmet = [
            ("--chunks", self.chunks.is_some() && !is_array, "is for b2nd"),
            ("--blocks", self.blocks.is_some() && !is_array, "is for b2nd"),
            ("--blp-version", self.blp_version.is_some() && format != FileFormat::Blp, "is for blp"),
            ("--chunk-size", self.chunk_size.is_some() && format.is_chunk(), "is for files of several chunks"),
        ];
        match unmet.into_iter().find(|(_, is_unmet, _)| *is_unmet) {
            Some((option, _, why)) => {
                Err(Failure::usage(format!("{option} {why}, and the format is {}", format.name())))
            }
            None => Ok(()),
        }
    }

    /// Reads the metadata that was asked for.
    fn read_metadata(&self, format: FileFormat, metadata: &mut Metadata, limits: Limits) -> Outcome {
        for (name, file) in &self.meta {
            let content = read_layer(file, limits)?;
            if format == FileFormat::Blp && name == BLP_NAME {
                let text = String::from_utf8(content);
                metadata.json = Some(text.map_err(|_| Failure::usage(format!("{file}: the metadata must be JSON")))?);
            } else {
                metadata.set_layer(name, content);
            }
        }
        for (name, file) in &self.vlmeta {
            metadata.set_vllayer(name, read_layer(file, limits)?);
        }
        Ok(())
    }

    /// Puts what was asked for, what the data says and the defaults together. `sample` is the start
    /// of the data.
    pub(crate) fn recipe(
        &self,
        format: FileFormat,
        hints: &Hints,
        mut metadata: Metadata,
        sample: &[u8],
        nbytes: Option<u64>,
        global: &Global,
    ) -> Outcome<Recipe> {
        let threads = global.threads();
        self.check_meant_for(format)?;
        self.read_metadata(format, &mut metadata, global.limits())?;
        let array = self.array(&metadata, hints, nbytes)?;
        if let Some(array) = array.as_ref().filter(|_| self.redescribes()) {
            metadata.redescribe(array);
        }
        if let Some(array) =
            array.as_ref().filter(|array| format == FileFormat::B2nd && array.shape().len() > MAX_DIMENSIONS)
        {
            return Err(Failure::usage(format!(
                "the array has {} dimensions, and b2nd has up to {MAX_DIMENSIONS}; --format b2frame keeps it, with its shape",
                array.shape().len()
            )));
        }
        metadata.settle(format);
        let mut typesize = self.typesize(array.as_ref(), hints, sample);
        let is_ragged = nbytes.is_some_and(|nbytes| !nbytes.is_multiple_of(typesize as u64));
        if format == FileFormat::B2nd && is_ragged && array.is_none() && self.typesize.is_none() {
            // An array has whole items only.
            typesize = 1;
        }
        if let Some(array) = &array
            && array.itemsize() != typesize
        {
            let (dtype, itemsize) = (array.dtype(), array.itemsize());
            return Err(Failure::usage(format!(
                "items of type {dtype} have {itemsize} bytes, not {typesize}: leave --typesize out"
            )));
        }
        if format == FileFormat::B2nd || self.redescribes() {
            self.check_length(array.as_ref(), nbytes)?;
        }
        let (codec, codec_meta) = self.codec.unwrap_or_else(|| (default_codec(hints.codec, format), 0));
        if codec.is_zfp() && format != FileFormat::B2nd {
            return Err(Failure::usage(format!("--codec {codec} is for arrays: write b2nd, with --shape and --dtype")));
        }
        let level = self.level().or(hints.level).unwrap_or(LEVEL);
        let filters =
            if codec.is_zfp() && self.filter.is_empty() { Vec::new() } else { self.filters(hints, format, typesize) };
        let options =
            self.options(format, hints, typesize, codec, level, &filters, &threads).with_codec_meta(codec_meta);
        let (checksum, has_xxh3) = self.checksum(format, hints)?;
        let chunk_size = self.chunk_size(format, hints, typesize)?;
        let flat = nbytes.map(|nbytes| nbytes / typesize as u64);
        let (chunks, blocks) =
            self.cells(hints, array.as_ref().map(NpyHeader::shape).or(flat.as_ref().map(std::slice::from_ref)));
        let version = self.blp_version;
        Ok(Recipe {
            format,
            options,
            typesize,
            codec,
            level,
            filters,
            chunk_size,
            checksum,
            has_xxh3,
            version,
            array,
            chunks,
            blocks,
            array_chunk_size: self.chunk_size,
            array_block_size: self.block_size,
            metadata,
            nbytes,
            threads,
            limits: global.limits(),
        })
    }

    /// The shapes of chunks and blocks: those of the source are kept as long as nothing is asked
    /// for that they depend on.
    fn cells(&self, hints: &Hints, shape: Option<&[u64]>) -> (Option<Vec<u64>>, Option<Vec<u64>>) {
        let asked = |lengths: &Option<array::Lengths>| lengths.as_ref().map(|lengths| lengths.within(shape));
        let keeps_chunks = self.shape.is_none() && self.dtype.is_none() && self.chunk_size.is_none();
        let keeps_blocks = keeps_chunks && self.chunks.is_none() && self.block_size.is_none();
        let kept = |keeps: bool, lengths: &Option<Vec<u64>>| lengths.clone().filter(|_| keeps);
        (
            asked(&self.chunks).or_else(|| kept(keeps_chunks, &hints.chunks)),
            asked(&self.blocks).or_else(|| kept(keeps_blocks, &hints.blocks)),
        )
    }

    fn array(&self, metadata: &Metadata, hints: &Hints, nbytes: Option<u64>) -> Outcome<Option<NpyHeader>> {
        let stored = metadata.array();
        if self.shape.is_none() && self.dtype.is_none() {
            return Ok(stored);
        }
        let typesize = self.typesize.map(|size| size as usize).or(hints.typesize).unwrap_or(1);
        if let (None, Some(dtype), Some(stored)) = (&self.shape, &self.dtype, &stored) {
            return array::seen_as(stored, dtype).map(Some);
        }
        let dtype = self.dtype.clone().or_else(|| stored.as_ref().map(NpyHeader::dtype));
        let dtype = dtype.unwrap_or_else(|| array::default_dtype(typesize));
        let shape = self.shape.as_ref().map(|shape| array::resolved(&dtype, shape, nbytes)).transpose()?;
        // The same bytes in another shape: whichever axis varied fastest still does.
        let order = stored.as_ref().map(NpyHeader::order).unwrap_or_default();
        array::described(&dtype, shape, order, nbytes).map(Some)
    }

    /// Whether the array that is described is as long as the data.
    fn check_length(&self, array: Option<&NpyHeader>, nbytes: Option<u64>) -> Outcome {
        let (Some(array), Some(nbytes)) = (array, nbytes) else { return Ok(()) };
        if array.nbytes() == nbytes {
            return Ok(());
        }
        let message = format!("an array of {} bytes is described, there are {nbytes}", array.nbytes());
        Err(match (&self.shape, &self.dtype) {
            (None, _) => Failure::data(message + "; give its --shape"),
            (Some(_), None) => {
                Failure::usage(format!("{message}; its items are {}, unless --dtype says what", array.dtype()))
            }
            (Some(_), Some(_)) => Failure::usage(message),
        })
    }

    fn typesize(&self, array: Option<&NpyHeader>, hints: &Hints, sample: &[u8]) -> usize {
        let asked = self.typesize.map(|size| size as usize);
        asked
            .or_else(|| array.map(NpyHeader::itemsize))
            .or(hints.typesize)
            .unwrap_or_else(|| best_typesize(sample))
            .max(1)
    }

    fn filters(&self, hints: &Hints, format: FileFormat, typesize: usize) -> Vec<Filter> {
        if !self.filter.is_empty() {
            return self.filter.iter().filter_map(|filter| filter.0).collect();
        }
        let usual = vec![Filter::Shuffle];
        match &hints.filters {
            Some(filters) if fits(filters, format, typesize) => filters.clone(),
            _ => usual,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "it puts together what its caller has resolved")]
    fn options(
        &self,
        format: FileFormat,
        hints: &Hints,
        typesize: usize,
        codec: Codec,
        level: u8,
        filters: &[Filter],
        threads: &Threads,
    ) -> Options {
        let split = match self.split {
            Some(SplitArg::Always) => SplitMode::Always,
            Some(SplitArg::Never) => SplitMode::Never,
            Some(SplitArg::Auto) => SplitMode::Auto,
            Some(SplitArg::Forward) => SplitMode::ForwardCompat,
            None => hints.split.unwrap_or_default(),
        };
        let family =
            if matches!(format, FileFormat::Blosc1 | FileFormat::Blp) { Format::Blosc1 } else { Format::Blosc2 };
        Options::new(typesize)
            .with_codec(codec)
            .with_level(level)
            .with_filters(filters.iter().copied())
            .with_split(split)
            .with_blocksize(self.block_size.or(hints.block_size).filter(|_| format != FileFormat::B2nd))
            .with_dict(self.dict)
            .with_format(family)
            .with_threads(threads.clone())
    }

    fn checksum(&self, format: FileFormat, hints: &Hints) -> Outcome<(Option<Checksum>, bool)> {
        let Some(name) = self.checksum.as_deref() else {
            let kept = hints.checksum.as_deref().filter(|_| format == FileFormat::Blp).and_then(checksum_by_name);
            return Ok((kept, true));
        };
        let wrong =
            |choice: &str| Err(Failure::usage(format!("--checksum {name}: for {} it can be {choice}", format.name())));
        match (format, name) {
            (FileFormat::Blp, _) => match checksum_by_name(name) {
                Some(checksum) => Ok((Some(checksum), true)),
                None => wrong("none, adler32, crc32, md5, sha1, sha224, sha256, sha384 or sha512"),
            },
            (FileFormat::B2frame | FileFormat::Sframe | FileFormat::B2nd, "none") => Ok((None, false)),
            (FileFormat::B2frame | FileFormat::Sframe | FileFormat::B2nd, "xxh3") => Ok((None, true)),
            (FileFormat::B2frame | FileFormat::Sframe | FileFormat::B2nd, _) => wrong("none or xxh3"),
            (_, "none") => Ok((None, false)),
            _ => wrong("none only: it has no place for one"),
        }
    }

    fn chunk_size(&self, format: FileFormat, hints: &Hints, typesize: usize) -> Outcome<usize> {
        if let Some(size) = self.chunk_size.filter(|size| !(1..=MAX_NBYTES).contains(size)) {
            return Err(Failure::usage(format!("--chunk-size {size}: a chunk can hold 1 to {MAX_NBYTES} bytes")));
        }
        let usual = if format == FileFormat::Blp { BLP_CHUNK_SIZE } else { CHUNK_SIZE };
        let size = self.chunk_size.or(hints.chunk_size).unwrap_or(usual).clamp(1, MAX_NBYTES);
        Ok((size - size % typesize).max(typesize))
    }
}

fn checksum_by_name(name: &str) -> Option<Checksum> {
    let name = if name == "none" { "None" } else { name };
    Checksum::from_name(name)
}

/// The codec of the source if the target can have it.
fn default_codec(hint: Option<Codec>, format: FileFormat) -> Codec {
    let is_blosc1 = matches!(format, FileFormat::Blosc1 | FileFormat::Blp | FileFormat::Packed);
    let usual = [Codec::Zstd, Codec::Lz4, Codec::BloscLz].into_iter().find(|codec| codec.is_built_in());
    // Data that has lost something once is not to lose more.
    let fits = |codec: &Codec| codec.is_built_in() && !codec.is_zfp() && (is_blosc1 || *codec != Codec::Snappy);
    hint.filter(fits).or(usual).unwrap_or(Codec::BloscLz)
}

/// Whether a format can have these filters.
pub(crate) fn fits(filters: &[Filter], format: FileFormat, typesize: usize) -> bool {
    let is_simple = |filter: &Filter| matches!(filter, Filter::Shuffle | Filter::BitShuffle);
    match format {
        FileFormat::Blosc1 | FileFormat::Blp => filters.len() <= 1 && filters.iter().all(is_simple),
        FileFormat::Packed | FileFormat::FrameBeta1 | FileFormat::FrameBeta5 => {
            filters.len() <= 1 && filters.iter().all(is_simple)
        }
        _ => {
            filters.iter().all(|filter| !matches!(filter, Filter::Plugin { .. }))
                && (typesize <= 255 || filters.iter().all(is_simple))
        }
    }
}

/// The typesize with which a quick compression of the start of the data is smallest.
pub(crate) fn best_typesize(sample: &[u8]) -> usize {
    let sample = &sample[..sample.len().min(SAMPLE)];
    let cbytes = |typesize: usize| {
        let options = Options::new(typesize).with_codec(Codec::Lz4).with_level(1).with_threads(Threads::serial());
        Compressor::new(options)
            .and_then(|mut compressor| compressor.compress(sample))
            .map_or(usize::MAX, |chunk| chunk.len())
    };
    let mut best = (1, cbytes(1));
    for typesize in TYPESIZES.into_iter().filter(|&typesize| typesize <= sample.len()) {
        let size = cbytes(typesize);
        // A little less may be chance; what is twice as large as the items costs more than it
        // gains.
        if size.saturating_mul(20) < best.1.saturating_mul(19) {
            best = (typesize, size);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::best_typesize;

    #[test]
    fn the_size_of_items_is_found_out() {
        let floats: Vec<u8> = (0..20_000_u32).flat_map(|i| (f64::from(i).sqrt()).to_le_bytes()).collect();
        assert_eq!(best_typesize(&floats), 8);
        let shorts: Vec<u8> = (0..20_000_u16).flat_map(|i| (i / 3).to_le_bytes()).collect();
        assert_eq!(best_typesize(&shorts), 2);
        assert_eq!(best_typesize(include_bytes!("encoding.rs")), 1);
        assert_eq!(best_typesize(&[]), 1);
    }
}
