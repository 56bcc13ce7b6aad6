//! Writing a file of any format from plain data.

use crate::arguments::array;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::format::FileFormat;
use crate::inputs::input::{Data, read_whole};
use crate::outputs::encoding::Recipe;
use crate::outputs::output::Output;
use crate::show::metadata::{JSON_LAYER, Metadata, USER_LAYER};
use blosc_oxide::bloscpack::{BloscpackOptions, BloscpackWriter, NpyHeader};
use blosc_oxide::{
    ArrayOptions, Compressor, ErrorKind, Frame, FrameLayout, FrameOptions, Geometry, ItemOrder, NdArray, Result,
    SuperChunk,
    legacy::{EarlyFrame, PackedOptions, PackedSpecial, PackedWriter},
    limits::MAX_NBYTES,
    storage::{Durability, FileStorage, ReadAt},
};
use std::cmp::Ordering;
use std::fs::File;
use std::io::{Cursor, Read, Write};
use std::path::Path;

/// What is said about data besides itself, where a format has no place for it.
const DESCRIPTION: &str = "the description of the data";
/// How much of a stream is kept until there are whole chunks of an array.
const ROW_NBYTES: u64 = 256 << 20;

/// What can be read one byte after the other.
type Stream = Box<dyn Read + Send>;

/// Writes a new file at `path`.
pub(crate) fn write(recipe: &Recipe, data: Data, path: &Path) -> Outcome {
    check_list(recipe)?;
    match recipe.format {
        FileFormat::B2nd => write_array(recipe, data, path),
        FileFormat::B2frame | FileFormat::Sframe => write_frame(recipe, data.reader, path),
        FileFormat::Blp => write_bloscpack(recipe, data.reader, path),
        FileFormat::Chunk | FileFormat::Blosc1 => write_chunk(recipe, data.reader, path),
        FileFormat::Packed => write_packed(recipe, data.reader, path),
        FileFormat::FrameBeta1 => write_early(recipe, EarlyFrame::Beta1, data.reader, path),
        FileFormat::FrameBeta5 => write_early(recipe, EarlyFrame::Beta5, data.reader, path),
    }
}

/// Refuses to begin with more chunks than there is memory to know where each is. A small file can
/// announce any number.
fn check_list(recipe: &Recipe) -> Outcome {
    let has_list = match recipe.format {
        FileFormat::B2frame | FileFormat::Sframe | FileFormat::Packed => true,
        FileFormat::FrameBeta1 | FileFormat::FrameBeta5 => true,
        FileFormat::B2nd | FileFormat::Blp | FileFormat::Chunk | FileFormat::Blosc1 => false,
    };
    if let Some(nbytes) = recipe.nbytes.filter(|_| has_list) {
        let bytes = nbytes.div_ceil(recipe.chunk_size.max(1) as u64).saturating_mul(size_of::<u64>() as u64);
        recipe.limits.check("the list of chunks", usize::try_from(bytes).unwrap_or(usize::MAX))?;
    }
    Ok(())
}

/// Writes a Bloscpack file to a stream.
pub(crate) fn stream(recipe: &Recipe, data: Data, out: impl Write) -> Outcome {
    let mut writer = BloscpackWriter::to_stream(out, &bloscpack_options(recipe))?;
    writer.push_all(data.reader)?;
    writer.finish()?;
    Ok(())
}

/// How a frame is kept while it is made: the file counts when it is renamed, so nothing needs to
/// last before.
pub(crate) fn frame_options(recipe: &Recipe) -> FrameOptions {
    let layout = if recipe.format == FileFormat::Sframe { FrameLayout::Sparse } else { FrameLayout::Contiguous };
    let options = FrameOptions::new(recipe.options.clone());
    options
        .with_layout(layout)
        .with_durability(Durability::None)
        .with_checksums(recipe.has_xxh3)
        .with_limits(recipe.limits)
}

fn with_layers(options: FrameOptions, metadata: &Metadata) -> FrameOptions {
    metadata.layers.iter().fold(options, |options, (name, content)| options.with_metalayer(name, content.as_slice()))
}

/// Makes a frame with the metalayers of `recipe` and what `fill` puts into it.
pub(crate) fn build(
    path: &Path,
    options: FrameOptions,
    recipe: &Recipe,
    fill: impl FnOnce(&mut SuperChunk) -> Result<()>,
) -> Outcome {
    let mut edit = Frame::create(path, with_layers(options, &recipe.metadata))?;
    fill(&mut edit)?;
    edit.commit()?;
    Ok(())
}

fn write_frame(recipe: &Recipe, data: Stream, path: &Path) -> Outcome {
    build(path, frame_options(recipe), recipe, |sc| {
        sc.extend_from(data, recipe.chunk_size)?;
        add_vllayers(sc, &recipe.metadata, true)
    })
}

/// Adds the variable-length metalayers, and the JSON text if it is not told otherwise already.
pub(crate) fn add_vllayers(sc: &mut SuperChunk, metadata: &Metadata, has_json: bool) -> Result<()> {
    let json = metadata.json.iter().filter(|_| has_json).map(|json| (JSON_LAYER, json.as_bytes()));
    let layers = metadata.vllayers.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
    for (name, content) in layers.chain(json) {
        sc.vlmetalayers_mut().add(name, content)?;
    }
    Ok(())
}

/// How an array of this shape is made.
pub(crate) fn array_options(recipe: &Recipe, shape: &[u64], frame: FrameOptions) -> ArrayOptions {
    let order = recipe.array.as_ref().map(NpyHeader::order).unwrap_or_default();
    let mut options = ArrayOptions::new(shape, recipe.options.clone()).with_frame(frame).with_order(order);
    if let Some(chunks) = &recipe.chunks {
        options = options.with_chunks(chunks);
    }
    if let Some(blocks) = &recipe.blocks {
        options = options.with_blocks(blocks);
    }
    if let Some(nbytes) = recipe.array_chunk_size {
        options = options.with_chunk_nbytes(nbytes);
    }
    if let Some(nbytes) = recipe.array_block_size {
        options = options.with_block_nbytes(nbytes);
    }
    options
}

fn write_array(recipe: &Recipe, data: Data, path: &Path) -> Outcome {
    let array = described_array(recipe)?;
    let frame = with_layers(frame_options(recipe), &recipe.metadata);
    let options = array_options(recipe, array.shape(), frame);
    let target = if data.file.is_some() || row_of_chunks(&options.geometry()?, array.order()) > ROW_NBYTES {
        let file = data.into_file()?;
        check_length(&array, file.len()?)?;
        NdArray::from_plain(path, &file, &array, &options)?
    } else {
        stream_array(data.reader, &array, &options, path)?
    };
    let mut edit = target.frame().edit()?;
    add_vllayers(&mut edit, &recipe.metadata, recipe.metadata.array().is_none())?;
    edit.commit()?;
    Ok(())
}

/// Chunks are put together from what comes out of a stream.
fn stream_array(mut data: Stream, array: &NpyHeader, options: &ArrayOptions, path: &Path) -> Outcome<NdArray> {
    let mut header = Vec::new();
    array.write_npy_header(&mut header)?;
    let made = NdArray::from_npy_stream(path, Cursor::new(header).chain(&mut data), options);
    let made = made.map_err(|error| match error.kind() {
        ErrorKind::Truncated => wrong_length(array, "fewer"),
        _ => error.into(),
    })?;
    if data.read(&mut [0])? > 0 {
        return Err(wrong_length(array, "more"));
    }
    Ok(made)
}

/// How much data comes until the first chunks of an array are whole.
fn row_of_chunks(geometry: &Geometry, order: ItemOrder) -> u64 {
    let whole = geometry.nitems().saturating_mul(geometry.typesize() as u64);
    let outer = if order == ItemOrder::C { 0 } else { geometry.ndim().saturating_sub(1) };
    match (geometry.shape().get(outer), geometry.chunks().get(outer)) {
        (Some(&length), Some(&chunk)) if length > 0 => (whole / length).saturating_mul(chunk.min(length)),
        _ => whole,
    }
}

fn check_length(array: &NpyHeader, nbytes: u64) -> Outcome {
    match nbytes.cmp(&array.nbytes()) {
        Ordering::Less => Err(wrong_length(array, "fewer")),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(wrong_length(array, "more")),
    }
}

fn wrong_length(array: &NpyHeader, how: &str) -> Failure {
    Failure::usage(format!("an array of {} bytes is described, there are {how}", array.nbytes()))
}

/// The array as it was described; else all items in one row.
fn described_array(recipe: &Recipe) -> Outcome<NpyHeader> {
    if let Some(array) = &recipe.array {
        return Ok(array.clone());
    }
    array::described(&array::default_dtype(recipe.typesize), None, ItemOrder::C, recipe.nbytes)
}

/// How a Bloscpack file is written.
pub(crate) fn bloscpack_options(recipe: &Recipe) -> BloscpackOptions {
    let mut options =
        BloscpackOptions::new(recipe.options.clone()).with_chunk_size(recipe.chunk_size).with_nbytes(recipe.nbytes);
    if let Some(version) = recipe.version {
        options = options.with_version(version);
    }
    if let Some(checksum) = recipe.checksum {
        options = options.with_checksum(checksum);
    }
    if let Some(json) = recipe.blp_metadata() {
        options = options.with_metadata(json);
    }
    options
}

fn write_bloscpack(recipe: &Recipe, data: Stream, path: &Path) -> Outcome {
    let mut storage = FileStorage::create_new(path)?;
    let mut writer = BloscpackWriter::to_storage(&mut storage, &bloscpack_options(recipe))?;
    writer.push_all(data)?;
    writer.finish()?;
    Ok(())
}

fn write_chunk(recipe: &Recipe, data: Stream, path: &Path) -> Outcome {
    let plain = read_whole(data.take(MAX_NBYTES as u64 + 1), "the data of a chunk", recipe.limits)?;
    if plain.len() > MAX_NBYTES {
        return Err(Failure::usage(format!(
            "a chunk holds up to {MAX_NBYTES} bytes, the data has more; write b2frame"
        )));
    }
    let chunk = Compressor::new(recipe.options.clone())?.compress(&plain)?;
    File::create_new(path)?.write_all(&chunk)?;
    Ok(())
}

fn write_packed(recipe: &Recipe, mut data: Stream, path: &Path) -> Outcome {
    let mut options = PackedOptions::new(recipe.typesize)
        .with_codec(recipe.codec)
        .with_level(recipe.level)
        .with_filters(recipe.filters.iter().copied())
        .with_threads(recipe.threads.clone());
    if let Some(json) = &recipe.metadata.json {
        options = options.with_special(PackedSpecial::Metadata, json.as_bytes());
    }
    if let Some((_, content)) = recipe.metadata.vllayers.iter().find(|(name, _)| name == USER_LAYER) {
        options = options.with_special(PackedSpecial::UserData, content.as_slice());
    }
    let storage = FileStorage::create_new(path)?;
    let mut writer = PackedWriter::create_in(storage, options)?.with_durability(Durability::None);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        data.by_ref().take(recipe.chunk_size as u64).read_to_end(&mut buffer)?;
        if buffer.is_empty() {
            break;
        }
        writer.append(&buffer)?;
    }
    writer.commit()?;
    Ok(())
}

/// Early frames are written from a frame of today.
fn write_early(recipe: &Recipe, format: EarlyFrame, data: Stream, path: &Path) -> Outcome {
    let scratch = Output::scratch()?;
    let mut frame = Frame::create(scratch.path(), with_layers(frame_options(recipe), &recipe.metadata))?;
    frame.extend_from(data, recipe.chunk_size)?;
    if let Some(json) = &recipe.metadata.json {
        frame.metalayers_mut().add(JSON_LAYER, json.as_bytes())?;
    }
    let user = recipe.metadata.vllayers.iter().find(|(name, _)| name == USER_LAYER && format == EarlyFrame::Beta5);
    if let Some((name, content)) = user {
        frame.vlmetalayers_mut().add(name, content)?;
    }
    let frame = frame.commit()?;
    let file = File::create_new(path).at_path(path)?;
    frame.write_early(format, std::io::BufWriter::new(file))?;
    Ok(())
}

impl Recipe {
    /// The metadata of a Bloscpack file: an array's description, or any other JSON text.
    fn blp_metadata(&self) -> Option<String> {
        let has_place = self.version.is_none_or(|version| version.number() == 3);
        let array = self.array.as_ref().map(NpyHeader::to_json);
        self.metadata.json.clone().or(array).filter(|_| has_place)
    }

    /// What the format has no place for, in words.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let names = |layers: &[(String, Vec<u8>)], kept: &str| {
            layers.iter().map(|(name, _)| name.clone()).filter(|name| name != kept).collect::<Vec<_>>()
        };
        let Metadata { layers, vllayers, json, .. } = &self.metadata;
        match self.format {
            FileFormat::B2frame | FileFormat::Sframe | FileFormat::B2nd => Vec::new(),
            FileFormat::FrameBeta5 => names(vllayers, USER_LAYER),
            FileFormat::FrameBeta1 => names(vllayers, ""),
            FileFormat::Packed => [names(layers, ""), names(vllayers, USER_LAYER)].concat(),
            FileFormat::Blp => {
                let is_described = json.is_some() || self.array.is_some();
                let described = (is_described && self.blp_metadata().is_none()).then(|| DESCRIPTION.to_owned());
                [names(layers, ""), names(vllayers, ""), described.into_iter().collect()].concat()
            }
            FileFormat::Chunk | FileFormat::Blosc1 => {
                let json = json.iter().map(|_| DESCRIPTION.to_owned()).collect();
                [names(layers, ""), names(vllayers, ""), json].concat()
            }
        }
    }
}
