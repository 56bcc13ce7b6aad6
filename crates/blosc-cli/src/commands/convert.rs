//! `blosc convert`

use super::compress::{Target, warn_left_out, write_target};
use crate::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::format::FileFormat;
use crate::inputs::input::{self, Data};
use crate::inputs::reading::{Plain, unpickled};
use crate::inputs::source::{Opening, Source};
use crate::inputs::steady::read_steadily;
use crate::outputs::copying;
use crate::outputs::encoding::{Encoding, Recipe};
use crate::outputs::output::{self, Output, Writing};
use crate::process::progress::open_shown;
use crate::show::facts::{Examined, Facts};
use crate::show::metadata::Metadata;
use crate::store::{self, Store};
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
    /// The file to convert; `-` is standard input
    input: PathBuf,
    /// Where to write; `-` is standard output
    output: PathBuf,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    encoding: Encoding,
}

impl Convert {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        read_steadily(&self.input, || self.convert(global)).map_err(|failure| failure.or_repair(&self.input))
    }

    fn convert(&self, global: &Global) -> Outcome {
        let place = input::shown(&self.input);
        if !input::is_stream(&self.input) && self.input.exists() && self.is_whole_store()? {
            return self.convert_store(global);
        }
        let format = self.format()?;
        if !input::is_stream(&self.output) {
            output::check_free(&self.output, self.writing)?;
        }
        let (source, progress) = open_shown(&self.input, "converting", global)?;
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
        self.check_replaced(&recipe).at(&place)?;
        warn_left_out(&recipe, &place, global);
        let is_copied = pickled.is_none() && self.copies(&examined, &recipe).in_data(&place)?;
        drop(progress);
        if !is_copied {
            let data = match pickled {
                Some((_, items)) => Data::stream(Cursor::new(items)),
                None => Data::stream(Plain::from(examined).into_reader().in_data(&place)?),
            };
            let permitted = self.permitted();
            let target = Target { path: &self.output, writing: self.writing, source: permitted };
            write_target(&recipe, data, &target, "converting", global).in_data(&place)?;
        }
        Ok(())
    }

    /// Whether INPUT is a store that is no frame by itself.
    fn is_whole_store(&self) -> Outcome<bool> {
        let is_single = Container::detect_path(&self.input).at_path(&self.input)?.is_some();
        Ok(!is_single && store::is_store(&self.input)?)
    }

    /// The members of a store as they are, in a directory.
    fn convert_store(&self, global: &Global) -> Outcome {
        let (shown, output) = (self.input.display(), &self.output);
        let is_directory = output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("b2d"));
        if !is_directory || self.encoding.format.is_some() || self.encoding.changes_chunks() {
            return Err(Failure::usage(format!(
                "{shown}: a store becomes a directory store as it is, OUTPUT.b2d; its members are converted one by one, \
                 FILE/member"
            )));
        }
        let opening = Opening::new(global);
        let store = Store::open(&self.input, &opening)?;
        store::unpack(&store, output, self.writing, None, &opening)
    }

    /// Refuses to replace INPUT by a file that has no place for all of its metadata.
    fn check_replaced(&self, recipe: &Recipe) -> Outcome {
        let left_out = recipe.left_out();
        let are_files = !input::is_stream(&self.input) && !input::is_stream(&self.output) && self.output.exists();
        if left_out.is_empty() || !are_files || !input::is_same_file(&self.output, self.permitted())? {
            return Ok(());
        }
        let (format, left_out) = (recipe.format.name(), left_out.join(", "));
        Err(Failure::usage(format!(
            "a file of format {format} has no place for {left_out}, and would replace INPUT; give another OUTPUT"
        )))
    }

    /// The file whose permissions the result has.
    fn permitted(&self) -> &Path {
        store::split(&self.input).map_or(self.input.as_path(), |(store, _)| store)
    }

    fn format(&self) -> Outcome<FileFormat> {
        let by_output =
            if input::is_stream(&self.output) { Some(FileFormat::Blp) } else { FileFormat::of_path(&self.output) };
        self.encoding.format.or(by_output).ok_or_else(|| {
            let output = self.output.display();
            Failure::usage(format!("{output}: its extension is that of no Blosc format; give --format"))
        })
    }

    /// Copies chunks, if that can be done.
    fn copies(&self, examined: &Examined, recipe: &Recipe) -> Outcome<bool> {
        let copy = |path: &Path| match self.encoding.changes_chunks() {
            true => copying::rechunk(examined, recipe, path),
            false => copying::copy(examined, recipe, path),
        };
        if input::is_stream(&self.output) {
            let scratch = Output::scratch()?;
            let is_copied = recipe.format != FileFormat::Sframe && copy(scratch.path())?;
            if is_copied {
                output::copy_to_stdout(scratch.path())?;
            }
            return Ok(is_copied);
        }
        let output = Output::to(&self.output, self.writing)?.like(self.permitted());
        let is_copied = copy(output.path())?;
        if is_copied {
            output.finish()?;
        }
        Ok(is_copied)
    }
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
