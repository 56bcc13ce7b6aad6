//! `blosc convert`

use super::compress::{Compress, Target, lost_precision, warn_left_out, write_target};
use super::decompress::Decompress;
use crate::arguments::cli::Global;
use crate::arguments::names::{Destination, Names};
use crate::failure::{At, Failure, Outcome, tell};
use crate::inputs::format::{self, FileFormat};
use crate::inputs::input::{self, Data, is_npy_name};
use crate::inputs::reading::{Plain, unpickled};
use crate::inputs::source::{Opening, Source, is_single};
use crate::inputs::steady::read_steadily;
use crate::outputs::copying;
use crate::outputs::encoding::{Encoding, Hints, Recipe};
use crate::outputs::output::{self, Output, Writing};
use crate::process::progress::{Progress, Task, open_shown};
use crate::show::facts::{Examined, Facts};
use crate::show::metadata::Metadata;
use crate::store::{self, Store};
use crate::zarr::{self, Version, Zarr};
use blosc_oxide::{Container, ErrorKind, NpyHeader};
use clap::Args;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// Convert a file to another format.
///
/// Metadata is kept where the target has a place for it. Chunks are copied as they are where both
/// formats have the same ones and no option asks for something else; codec, level, filters and
/// sizes stay what they were where that is possible.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    #[command(flatten)]
    names: Names,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    encoding: Encoding,
    /// The version of Zarr to write [default: 3]
    #[arg(long, value_name = "2|3", value_parser = parse_zarr_version)]
    zarr_version: Option<Version>,
}

impl Convert {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let named = self.names.resolve(is_output)?;
        let target = |path: &Path, destination: &Destination| self.target(path, destination);
        named.each(target, |path, destination| {
            let output = self.target(path, destination)?;
            self.names.check_removable(path)?;
            let is_there = !input::is_stream(path) && path.exists();
            let is_npy = is_there && path.is_file() && input::is_npy(path)?;
            if is_npy_name(&output) && !is_npy && self.encoding.format.is_none() {
                let npy = Decompress::to_npy(self.names.clone(), self.writing);
                return npy.run_input(path, &Destination::Named(output), global);
            }
            if is_npy && !zarr::is_named(&output) {
                let compress = Compress::of(self.names.clone(), self.writing, self.encoding.clone());
                return compress.run_file(path, &Destination::Named(output), global);
            }
            if is_there && path.is_dir() && Zarr::is_at(path) {
                return self.convert_zarr(path, &output, global);
            }
            let is_zarr = zarr::is_named(&output) && self.encoding.format.is_none();
            let done = read_steadily(path, || match is_zarr {
                true => self.to_zarr(path, &output, global),
                false => self.convert(path, &output, global),
            });
            done.map_err(|failure| failure.or_repair(path))?;
            self.names.remove(path, &output)
        })
    }

    /// Where the file at `path` goes: with the extension of the format, if nothing else is said.
    fn target(&self, path: &Path, destination: &Destination) -> Outcome<PathBuf> {
        if let Some(name) = destination.name() {
            return Ok(name.to_owned());
        }
        let Some(format) = self.encoding.format else {
            return Err(Failure::usage(format!(
                "{}: what it is to become is not said; give OUTPUT or --format",
                path.display()
            )));
        };
        let bare = format::without_extension(path).unwrap_or_else(|| path.to_owned());
        Ok(format.name_for(&destination.place_for(&bare)))
    }

    fn convert(&self, path: &Path, output: &Path, global: &Global) -> Outcome {
        let place = input::shown(path);
        if !input::is_stream(path) && path.exists() && is_whole_store(path)? {
            return self.convert_store(path, output, global);
        }
        let format = self.format(output)?;
        if input::is_stream(output) {
            output::check_no_terminal(self.writing)?;
        } else {
            output::check_free(output, self.writing)?;
        }
        let (source, progress) = open_shown(path, "converting", global)?;
        source.check_has_data().in_data(&place)?;
        if !matches!(format, FileFormat::B2frame | FileFormat::Sframe) {
            store::check_single(&source).in_data(&place)?;
        }
        let pickled = pickled(&source, format).in_data(&place)?;
        let mut metadata = Metadata::of(&source).and_then(Metadata::described).in_data(&place)?;
        let (facts, examined) = Facts::of(source).in_data(&place)?;
        if let Examined::Array(array) = &examined {
            metadata.describe(array);
        }
        let mut nbytes = facts.nbytes;
        if let Some((array, _)) = &pickled {
            metadata = Metadata::of_array(array);
            nbytes = array.nbytes();
        }
        let mut hints = facts.hints();
        // Chunks that are compressed anew are in memory, several at a time and with what they
        // become.
        hints.chunk_size = hints.chunk_size.filter(|&size| size <= global.max_chunk());
        let recipe = self.encoding.recipe(format, &hints, metadata, &[], Some(nbytes), global);
        let recipe = recipe.at(&place)?;
        self.check_replaced(&recipe, &hints, path, output).at(&place)?;
        warn_left_out(&recipe, &place, global);
        let is_copied = pickled.is_none() && self.copies(&examined, &recipe, path, output).in_data(&place)?;
        drop(progress);
        if !is_copied {
            let data = match pickled {
                Some((_, items)) => Data::stream(Cursor::new(items)),
                None => Data::stream(Plain::from(examined).into_reader().in_data(&place)?),
            };
            let target = Target { path: output, writing: self.writing, source: permitted(path) };
            write_target(&recipe, data, &target, "converting", global).in_data(&place)?;
        }
        Ok(())
    }

    /// Makes a b2nd array of one of Zarr.
    fn convert_zarr(&self, path: &Path, output: &Path, global: &Global) -> Outcome {
        let place = input::shown(path);
        let format = self.format(output)?;
        if format != FileFormat::B2nd || input::is_stream(output) || self.names.removes() {
            return Err(Failure::usage(format!(
                "{place}: an array of Zarr becomes NAME.b2nd, without --rm; that converts to other formats"
            )));
        }
        self.check_not_redescribed(&place)?;
        output::check_free(output, self.writing)?;
        let zarr = Zarr::open(path, global.limits())?;
        let description = &zarr.description;
        let shape = description.array.shape();
        let chunks = description.chunks.iter().zip(shape).map(|(&chunk, &length)| chunk.min(length.max(1))).collect();
        let is_small = description.chunk_nbytes() <= global.max_chunk() as u64;
        let hints = Hints { typesize: Some(description.array.itemsize()), ..Hints::default() };
        let hints = Hints { chunks: Some(chunks).filter(|_| is_small), ..hints };
        let (metadata, nbytes) = (Metadata::of_array(&description.array), Some(description.array.nbytes()));
        let recipe = self.encoding.recipe(format, &hints, metadata, &[], nbytes, global).at(&place)?;
        let model = ["zarr.json", ".zarray"].map(|name| path.join(name)).into_iter().find(|file| file.is_file());
        let written = Output::to(output, self.writing)?.like(model.as_deref().unwrap_or(path));
        let task = Task { verb: "converting", total: nbytes, compressed: Some(written.path().to_owned()) };
        let progress = Progress::start(task, global.shows_progress());
        zarr.write_to(&recipe, written.path(), &progress)?;
        drop(progress);
        written.finish()
    }

    /// Makes an array of Zarr of a b2nd array.
    fn to_zarr(&self, path: &Path, output: &Path, global: &Global) -> Outcome {
        let place = input::shown(path);
        self.check_not_redescribed(&place)?;
        if self.encoding.adds_metadata() {
            return Err(Failure::usage(format!("{place}: Zarr has no place for what --meta and --vlmeta add")));
        }
        output::check_free(output, self.writing)?;
        let (source, progress) = open_shown(path, "converting", global)?;
        source.check_has_data().in_data(&place)?;
        let (facts, examined) = Facts::of(source).in_data(&place)?;
        let Examined::Array(array) = &examined else {
            return Err(Failure::usage(format!(
                "{place}: this is no array; `blosc convert {place} NAME.b2nd --dtype ... --shape ...` makes one"
            )));
        };
        let mut metadata = Metadata::default();
        metadata.describe(array);
        let hints = facts.hints();
        let recipe = self.encoding.recipe(FileFormat::B2nd, &hints, metadata, &[], Some(facts.nbytes), global);
        let recipe = recipe.at(&place)?;
        self.check_replaced(&recipe, &hints, path, output).at(&place)?;
        let fixed = array.super_chunk().metalayers().iter().map(|(name, _)| name);
        let fixed = fixed.filter(|name| !format::ARRAY_LAYERS.contains(name));
        let variable = array.super_chunk().vlmetalayers().names().filter(|name| *name != zarr::LAYER);
        let lost: Vec<&str> = fixed.chain(variable).collect();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            if self.names.removes() {
                return Err(Failure::usage(format!("{place}: Zarr has no place for {lost}; leave --rm out")));
            }
            if !global.quiet {
                tell(format_args!("{place}: Zarr has no place for {lost}; left out"));
            }
        }
        let written = Output::to(output, self.writing)?.like(permitted(path));
        let version = self.zarr_version.unwrap_or(Version::V3);
        zarr::write(array, &recipe, version, written.path()).in_data(&place)?;
        drop(progress);
        written.finish()
    }

    /// Refuses to make other items of an array on the way from or to Zarr.
    fn check_not_redescribed(&self, place: &str) -> Outcome {
        if !self.encoding.redescribes() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "{place}: --shape and --dtype are for other formats: an array keeps both from and to Zarr; convert the .b2nd"
        )))
    }

    /// The members of a store as they are, in a directory.
    fn convert_store(&self, path: &Path, output: &Path, global: &Global) -> Outcome {
        let shown = path.display();
        let is_directory = output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("b2d"));
        if !is_directory || self.encoding.format.is_some() || self.encoding.changes_chunks() {
            return Err(Failure::usage(format!(
                "{shown}: a store becomes a directory store as it is, OUTPUT.b2d; its members are converted one by one, \
                 FILE/member"
            )));
        }
        let opening = Opening::new(global);
        let store = Store::open(path, &opening)?;
        store::unpack(&store, output, self.writing, None, &opening)
    }

    /// Refuses to replace or remove INPUT where the result has no place for all of its metadata,
    /// or has less precision.
    fn check_replaced(&self, recipe: &Recipe, hints: &Hints, path: &Path, output: &Path) -> Outcome {
        let left_out = recipe.left_out();
        let are_files = !input::is_stream(path) && !input::is_stream(output);
        let is_replaced = are_files && output.exists() && input::is_same_file(output, permitted(path))?;
        if !is_replaced && !self.names.removes() {
            return Ok(());
        }
        // To items of another size the same filter does something else.
        let filters = hints.filters.as_deref().filter(|_| hints.typesize == Some(recipe.typesize));
        if let Some(lost) = lost_precision(recipe, filters.unwrap_or_default()) {
            return Err(Failure::usage(format!(
                "the result would lose {lost}, and INPUT would be gone; give another OUTPUT, without --rm"
            )));
        }
        if left_out.is_empty() {
            return Ok(());
        }
        let (format, left_out) = (recipe.format.name(), left_out.join(", "));
        Err(Failure::usage(format!(
            "a file of format {format} has no place for {left_out}, and INPUT would be gone; give another OUTPUT, without --rm"
        )))
    }

    fn format(&self, output: &Path) -> Outcome<FileFormat> {
        let by_output = if input::is_stream(output) { Some(FileFormat::Blp) } else { FileFormat::of_path(output) };
        self.encoding.format.or(by_output).ok_or_else(|| {
            let output = output.display();
            Failure::usage(format!(
                "{output}: its extension is that of no format (.b2nd, .b2frame, .blp, .npy, .zarr ...); give --format"
            ))
        })
    }

    /// Copies chunks, if that can be done.
    fn copies(&self, examined: &Examined, recipe: &Recipe, from: &Path, output: &Path) -> Outcome<bool> {
        let copy = |path: &Path| match self.encoding.changes_chunks() {
            true => copying::rechunk(examined, recipe, path),
            false => copying::copy(examined, recipe, path),
        };
        if input::is_stream(output) {
            let scratch = Output::scratch()?;
            let is_copied = recipe.format != FileFormat::Sframe && copy(scratch.path())?;
            if is_copied {
                output::copy_to_stdout(scratch.path())?;
            }
            return Ok(is_copied);
        }
        let output = Output::to(output, self.writing)?.like(permitted(from));
        let is_copied = copy(output.path())?;
        if is_copied {
            output.finish()?;
        }
        Ok(is_copied)
    }
}

fn parse_zarr_version(text: &str) -> Result<Version, String> {
    match text {
        "2" => Ok(Version::V2),
        "3" => Ok(Version::V3),
        _ => Err("it can be 2 or 3".to_owned()),
    }
}

/// Whether the second of two names is where the first goes. What is there and has the name of a
/// Blosc file or a store may be one more input, as where the shell has put both names in the place
/// of a pattern.
fn is_output(first: &Path, second: &Path) -> Outcome<bool> {
    let is_in_place = first.exists() && second.exists() && input::is_same_file(second, first)?;
    let is_blosc_name = FileFormat::of_path(second).is_some() || store::without_extension(second).is_some();
    if is_blosc_name && second.exists() && !is_in_place {
        let shown = second.display();
        return Err(Failure::usage(format!(
            "{shown}: it is there, and could be an INPUT or the OUTPUT; to replace it, type -o {shown}"
        )));
    }
    let is_named = FileFormat::of_path(second).is_some() || zarr::is_named(second) || !second.exists();
    Ok(is_named || (input::is_stream(first) || is_single(first)?) && !is_single(second)?)
}

/// Whether there is a store that is no frame by itself.
fn is_whole_store(path: &Path) -> Outcome<bool> {
    let is_single = Container::detect_path(path).at_path(path)?.is_some();
    Ok(!is_single && store::is_store(path)?)
}

/// The file whose permissions the result has.
fn permitted(path: &Path) -> &Path {
    store::split(path).map_or(path, |(store, _)| store)
}

/// The array that a chunk holds as a pickle, for all formats but those that are a chunk again. A
/// pickle of something else is data like any other, but no array.
fn pickled(source: &Source, format: FileFormat) -> blosc_oxide::Result<Option<(NpyHeader, Vec<u8>)>> {
    if format.is_chunk() {
        return Ok(None);
    }
    match unpickled(source) {
        Err(error) if error.kind() == ErrorKind::Unsupported && format != FileFormat::B2nd => Ok(None),
        other => other,
    }
}
