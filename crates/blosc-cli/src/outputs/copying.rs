//! Chunks that are taken over as they are, where both formats store them alike.

use crate::arguments::array;
use crate::failure::Outcome;
use crate::inputs::format::{ARRAY_LAYERS, FileFormat};
use crate::inputs::source::{ChunkFile, Source};
use crate::outputs::encoding::Recipe;
use crate::outputs::sink;
use crate::show::facts::Examined;
use blosc_oxide::bloscpack::rewrite;
use blosc_oxide::{Codec, Frame, FrameOptions, FrameVersion, Options, Result, SuperChunk, storage::FileStorage};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// From how many special chunks on they have no checksums.
const MANY: usize = 1 << 20;
/// The version of the chunks of C-Blosc 1.x.
const BLOSC1_VERSION: u8 = 2;

/// Writes a file at `path` with the chunks of another; `false` if they must be compressed anew.
pub(crate) fn copy(from: &Examined, recipe: &Recipe, path: &Path) -> Outcome<bool> {
    let is_frame = matches!(recipe.format, FileFormat::B2frame | FileFormat::Sframe);
    match from {
        Examined::Array(array) if recipe.format == FileFormat::B2nd => copy_array(array.super_chunk(), recipe, path)?,
        Examined::Flat(Source::Frame(frame)) if is_frame && is_current(frame) && is_written(frame.codec()) => {
            copy_frame(frame, recipe, path)?;
        }
        Examined::Flat(Source::Chunk(chunk)) if is_frame && fits_frame(chunk) => wrap_chunk(chunk, recipe, path)?,
        Examined::Flat(Source::Frame(frame)) if recipe.format == FileFormat::Chunk && is_one_chunk(frame) => {
            write_file(path, &frame.chunk(0)?)?;
        }
        Examined::Flat(Source::Chunk(chunk))
            if recipe.format == Source::format_of_chunk(chunk)
                && is_portable(chunk)
                && is_written(chunk.header.codec()) =>
        {
            write_file(path, &chunk.bytes)?;
        }
        Examined::Flat(Source::Bloscpack(file)) if recipe.format == FileFormat::Blp => {
            rewrite(file, &mut FileStorage::create_new(path)?, &sink::bloscpack_options(recipe))?;
        }
        Examined::Flat(Source::Bloscpack(file)) if recipe.format == FileFormat::Blosc1 && file.nchunks()? == 1 => {
            write_file(path, &file.compressed_chunk(0)?)?;
        }
        Examined::Flat(Source::Packed(packed)) if recipe.format == FileFormat::Packed => {
            packed.copy_to(FileStorage::create_new(path)?)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Writes an array at `path` with the items of another, in other chunks or compressed in another
/// way; `false` if they are no array, or become another.
pub(crate) fn rechunk(from: &Examined, recipe: &Recipe, path: &Path) -> Outcome<bool> {
    let Examined::Array(array) = from else { return Ok(false) };
    let described = array::description(array, array.shape())?;
    if recipe.format != FileFormat::B2nd || recipe.array.as_ref() != Some(&described) {
        return Ok(false);
    }
    let options = sink::array_options(recipe, array.shape(), sink::frame_options(recipe));
    let mut sc = array.copy(path, &options)?.frame().edit()?;
    // Those of the source have been copied; others have been asked for.
    for (name, content) in &recipe.metadata.layers {
        if sc.metalayers().get(name) != Some(content.as_slice()) {
            if sc.metalayers().get(name).is_some() {
                sc.metalayers_mut().remove(name)?;
            }
            sc.metalayers_mut().add(name, content.as_slice())?;
        }
    }
    for (name, content) in &recipe.metadata.vllayers {
        match sc.vlmetalayers().get(name)? {
            Some(there) if there == *content => {}
            Some(_) => sc.vlmetalayers_mut().update(name, content)?,
            None => sc.vlmetalayers_mut().add(name, content)?,
        }
    }
    sc.commit()?;
    Ok(true)
}

/// What is only read is not passed on: readers of today do not have it.
fn is_written(codec: Codec) -> bool {
    codec != Codec::Lizard
}

fn is_current(frame: &Frame) -> bool {
    matches!(frame.version(), FrameVersion::Current(_))
}

fn is_one_chunk(frame: &Frame) -> bool {
    is_current(frame) && frame.nchunks() == 1
}

/// Frames hold Blosc2 chunks with data.
fn fits_frame(chunk: &ChunkFile) -> bool {
    let header = &chunk.header;
    let codec = header.codec();
    let is_readable = codec.is_built_in() && !codec.is_zfp() && chunk.follows_current_rule();
    header.is_extended() && !header.is_lazy() && header.nbytes() > 0 && is_readable
}

/// Whether today's readers of its format read the chunk, and read the same data: C-Blosc 1.x reads
/// version 2 alone, and C-Blosc2 reads everything else by the current rule of bitshuffle.
fn is_portable(chunk: &ChunkFile) -> bool {
    if chunk.header.is_extended() { chunk.follows_current_rule() } else { chunk.header.version() == BLOSC1_VERSION }
}

/// How a frame is made with the chunks of another: without checksums if there are more than a
/// million special chunks, and fewer others. A list with 8 bytes for each of them would be all that
/// the file is. More stored chunks than there is memory to list are refused: a small file can name
/// one of them a hundred million times.
fn frame_options(of: &SuperChunk, recipe: &Recipe) -> Result<FrameOptions> {
    let (mut special, mut stored) = (0, 0);
    for run in of.chunk_runs() {
        *(if run.special.is_some() { &mut special } else { &mut stored }) += run.chunks.len();
    }
    recipe.limits.check("the list of chunks", stored.saturating_mul(size_of::<u64>()))?;
    let options = sink::frame_options(recipe).with_chunks(of.options().clone());
    Ok(if special > MANY && special > stored { options.with_checksums(false) } else { options })
}

fn copy_frame(frame: &SuperChunk, recipe: &Recipe, path: &Path) -> Outcome {
    let options = frame_options(frame, recipe)?;
    sink::build(path, options, recipe, |sc| {
        sc.append_all(frame)?;
        sink::add_vllayers(sc, &recipe.metadata, true)
    })
}

fn copy_array(array: &SuperChunk, recipe: &Recipe, path: &Path) -> Outcome {
    let options = frame_options(array, recipe)?;
    let own = array.metalayers().iter().filter(|(name, _)| ARRAY_LAYERS.contains(name));
    let options = own.fold(options, |options, (name, content)| options.with_metalayer(name, content));
    sink::build(path, options, recipe, |sc| {
        sc.append_all(array)?;
        sink::add_vllayers(sc, &recipe.metadata, recipe.metadata.array().is_none())
    })
}

fn wrap_chunk(chunk: &ChunkFile, recipe: &Recipe, path: &Path) -> Outcome {
    let header = &chunk.header;
    let options = Options::new(header.typesize())
        .with_codec(header.codec())
        .with_level(recipe.level)
        .with_pipeline(header.pipeline());
    sink::build(path, sink::frame_options(recipe).with_chunks(options), recipe, |sc| {
        sc.append_chunk(&chunk.bytes)?;
        sink::add_vllayers(sc, &recipe.metadata, true)
    })
}

fn write_file(path: &Path, bytes: &[u8]) -> Outcome {
    Ok(File::create_new(path)?.write_all(bytes)?)
}
