//! `blosc convert`

use super::compress::{Target, warn_left_out, write_target};
use crate::cli::Global;
use crate::copying;
use crate::encoding::{Encoding, Recipe};
use crate::facts::{Examined, Facts};
use crate::failure::{At, Failure, Outcome};
use crate::format::FileFormat;
use crate::input::{self, Data};
use crate::metadata::Metadata;
use crate::output::{self, Output, Writing};
use crate::progress::open_shown;
use crate::reading::Plain;
use clap::Args;
use std::path::{Path, PathBuf};

/// Convert a file to another format.
///
/// Metadata is kept where the target has a place for it. Chunks are copied as they are where both formats have the same
/// ones and no option asks for something else; codec, level, filters and sizes stay what they were where that is
/// possible.
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
        self.convert(global).map_err(|failure| failure.or_repair(&self.input))
    }

    fn convert(&self, global: &Global) -> Outcome {
        let place = input::shown(&self.input);
        let format = self.format()?;
        if !input::is_stream(&self.output) {
            output::check_free(&self.output, self.writing)?;
        }
        let (source, progress) = open_shown(&self.input, "converting", global)?;
        let mut metadata = Metadata::of(&source).in_data(&place)?;
        let (facts, examined) = Facts::of(source).in_data(&place)?;
        if let Examined::Array(array) = &examined {
            metadata.describe(array);
        }
        let recipe = self.encoding.recipe(format, &facts.hints(), metadata, &[], Some(facts.nbytes), global);
        let recipe = recipe.at(&place)?;
        warn_left_out(&recipe, &place, global);
        let is_copied = self.copies(&examined, &recipe).in_data(&place)?;
        drop(progress);
        if !is_copied {
            let reader = Plain::from(examined).into_reader().in_data(&place)?;
            let target = Target { path: &self.output, writing: self.writing, source: &self.input };
            write_target(&recipe, Data::stream(reader), &target, "converting", global).in_data(&place)?;
        }
        Ok(())
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
        let output = Output::to(&self.output, self.writing)?.like(&self.input);
        let is_copied = copy(output.path())?;
        if is_copied {
            output.finish()?;
        }
        Ok(is_copied)
    }
}
