//! `blosc compress`

use crate::cli::Global;
use crate::failure::{At, Failure, Outcome, tell};
use crate::inputs::format::{self, FileFormat};
use crate::inputs::input::{self, Data, PlainFile};
use crate::outputs::encoding::{Encoding, Hints, Recipe};
use crate::outputs::output::{self, Output, Writing};
use crate::outputs::sink;
use crate::outputs::tree::{Fate, Plan, Tree};
use crate::process::progress::{Progress, Task};
use crate::show::facts;
use crate::show::metadata::Metadata;
use crate::size;
use crate::store;
use clap::Args;
use std::path::{Path, PathBuf};

/// Compress a file, or every file of a directory.
///
/// An .npy file gives its dtype, shape and typesize by itself.
#[derive(Debug, Args)]
pub(crate) struct Compress {
    /// The file or directory to compress; `-` is standard input
    input: PathBuf,
    /// Where to write; `-` is standard output, for which the format is blp [default: INPUT with an
    /// extension]
    output: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    encoding: Encoding,
}

impl Compress {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        if format::is_directory(&self.input)? {
            return self.run_directory(global);
        }
        let output = self.output.clone().or_else(|| input::is_stream(&self.input).then(|| PathBuf::from("-")));
        self.compress(&self.input, output.as_deref(), global)
    }

    /// Every file but those that are compressed already, each beside itself or below OUTPUT.
    fn run_directory(&self, global: &Global) -> Outcome {
        if self.output.as_deref().is_some_and(input::is_stream) {
            return Err(Failure::usage(format!("{}: a directory cannot go to standard output", self.input.display())));
        }
        let tree = Tree::of(&self.input, self.output.as_deref(), &fate)?;
        // Of a file that becomes one chunk all is in memory: one at a time is enough.
        let is_chunk = self.encoding.format.is_some_and(FileFormat::is_chunk);
        let workers = if is_chunk { 1 } else { global.thread_count() };
        // What cannot be read is told when it is compressed.
        let is_array = |file: &Path| self.looks_for_arrays(file) && input::is_npy(file).unwrap_or(false);
        let format = |file: &Path| self.format(None, is_array(file));
        let name = |file: &Path, place: PathBuf| format(file).name_for(&place);
        let writing = self.writing.sparing_others();
        let plan = Plan { verb: "compress", output: self.output.as_deref(), writing, name: &name };
        tree.each(&plan, workers, global, |job, global| self.compress(&job.file, Some(&job.target), global))
    }

    fn compress(&self, path: &Path, output: Option<&Path>, global: &Global) -> Outcome {
        let data = PlainFile::open(path, self.looks_for_arrays(path))?;
        let format = self.format(output, data.array.is_some());
        let target = output.map_or_else(|| format.name_for(path), Path::to_owned);
        if !input::is_stream(&target) {
            output::check_free(&target, self.writing.sparing_others())?;
            // In a directory, `fate` has left alone what is compressed.
            if path == self.input {
                check_plain(path, &target)?;
            }
        }
        let place = input::shown(path);
        let hints = Hints::default();
        let metadata = data.array.as_ref().map(Metadata::of_array).unwrap_or_default();
        let recipe = self.encoding.recipe(format, &hints, metadata, &data.sample, data.nbytes, global).at(&place)?;
        warn_left_out(&recipe, &place, global);
        let target = Target { path: &target, writing: self.writing.sparing_others(), source: path };
        write_target(&recipe, data.data, &target, "compressing", global).at(&place)
    }

    /// Whether a file that is an .npy file by its content becomes an array. If its name does not
    /// say so, the way back from a name that nobody has given would end at the items alone.
    fn looks_for_arrays(&self, path: &Path) -> bool {
        let is_named = path == self.input && self.output.is_some();
        is_named || input::is_stream(path) || input::is_npy_name(path)
    }

    fn format(&self, output: Option<&Path>, is_array: bool) -> FileFormat {
        let by_output = match output {
            Some(path) if input::is_stream(path) => Some(FileFormat::Blp),
            Some(path) => FileFormat::of_path(path),
            None => None,
        };
        let usual = if is_array || self.encoding.describes_array() { FileFormat::B2nd } else { FileFormat::B2frame };
        self.encoding.format.or(by_output).unwrap_or(usual)
    }
}

/// Refuses to replace a Blosc file by another one compressed once more: `blosc c --force *.b2nd` is
/// a mistake.
fn check_plain(path: &Path, target: &Path) -> Outcome {
    if !input::is_stream(path) && target.exists() && format::is_blosc(path) {
        return Err(Failure::usage(format!(
            "{}: it is compressed already, and would replace {}; `blosc convert` compresses it in another way",
            path.display(),
            target.display()
        )));
    }
    Ok(())
}

/// What is done with something in a directory. What is compressed already stays as it is, if its
/// name says so too: of a file of another name, as the chunks of Zarr, `decompress` could not tell
/// that it was never compressed by us.
fn fate(path: &Path) -> Outcome<Fate> {
    const COMPRESSED: Fate = Fate::Keep("compressed already");
    let is_store = || store::without_extension(path).map_or(Ok(false), |_| store::is_store(path));
    if path.is_dir() {
        return Ok(if format::is_sparse_frame(path)? || is_store()? { COMPRESSED } else { Fate::Enter });
    }
    let is_named = FileFormat::of_path(path).is_some();
    Ok(if is_named && format::has_blosc_content(path)? || is_store()? { COMPRESSED } else { Fate::Work })
}

/// Says what the format has no place for.
pub(crate) fn warn_left_out(recipe: &Recipe, place: &str, global: &Global) {
    let left_out = recipe.left_out();
    if !left_out.is_empty() && !global.quiet {
        tell(format_args!(
            "{place}: a file of format {} has no place for {}; left out",
            recipe.format.name(),
            left_out.join(", ")
        ));
    }
}

/// Where a file is written.
pub(crate) struct Target<'a> {
    pub(crate) path: &'a Path,
    pub(crate) writing: Writing,
    /// The file that it is made from.
    pub(crate) source: &'a Path,
}

/// Writes what `recipe` says to a file or to standard output.
pub(crate) fn write_target(
    recipe: &Recipe,
    data: Data,
    target: &Target<'_>,
    verb: &'static str,
    global: &Global,
) -> Outcome {
    if input::is_stream(target.path) {
        let progress = Progress::start(Task { verb, total: recipe.nbytes, compressed: None }, global.shows_progress());
        let data = progress.reading_data(data);
        if recipe.format == FileFormat::Blp {
            return sink::stream(recipe, data, output::stdout()?);
        }
        if recipe.format == FileFormat::Sframe {
            return Err(Failure::usage(
                "a sparse frame is a directory, it cannot go to standard output; write b2frame",
            ));
        }
        let scratch = Output::scratch()?;
        sink::write(recipe, data, scratch.path())?;
        return output::copy_to_stdout(scratch.path());
    }
    let output = Output::to(target.path, target.writing)?.like(target.source);
    let task = Task { verb, total: recipe.nbytes, compressed: Some(output.path().to_owned()) };
    let progress = Progress::start(task, global.shows_progress());
    sink::write(recipe, progress.reading_data(data), output.path())?;
    let nbytes = progress.done();
    drop(progress);
    output.finish()?;
    if global.verbose {
        let cbytes = size::of_path(target.path);
        let ratio = facts::ratio(nbytes, cbytes).unwrap_or_default();
        tell(format_args!(
            "{}: {} to {}, {ratio:.2} times smaller",
            target.path.display(),
            size::display(nbytes),
            size::display(cbytes)
        ));
    }
    Ok(())
}
