//! `blosc compress`

use crate::arguments::cli::Global;
use crate::arguments::names::{Destination, Names};
use crate::arguments::size;
use crate::arguments::slice;
use crate::failure::{At, Failure, Outcome, tell};
use crate::inputs::format::{self, FileFormat};
use crate::inputs::input::{self, Data, PlainFile};
use crate::outputs::encoding::{self, Encoding, Hints, Recipe};
use crate::outputs::output::{self, Output, Writing};
use crate::outputs::sink;
use crate::outputs::tree::{Fate, Plan, Tree};
use crate::process::progress::{Progress, Task};
use crate::process::summary::Done;
use crate::show::metadata::Metadata;
use crate::store;
use crate::tune::{self, Measurement, Trial, Wishes};
use blosc_oxide::{Filter, ItemOrder, NpyHeader};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Compress files, or every file of a directory.
///
/// An .npy file gives its dtype, shape and typesize by itself.
#[derive(Debug, Args)]
pub(crate) struct Compress {
    #[command(flatten)]
    names: Names,
    /// Take the bytes as they are, also those of an .npy file
    #[arg(long)]
    raw: bool,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    encoding: Encoding,
    #[command(flatten)]
    wishes: Wishes,
}

/// Who has chosen the name of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    /// The user, for this file.
    User,
    /// Nobody: it is made from that of the input.
    Default,
    /// Nobody either, and the input was found in a directory.
    Tree,
}

impl Compress {
    /// What compresses as another command asks for it.
    pub(crate) fn of(names: Names, writing: Writing, encoding: Encoding) -> Self {
        Self { names, raw: false, writing, encoding, wishes: Wishes::default() }
    }

    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let named = self.names.resolve(|_, second| Ok(FileFormat::of_path(second).is_some()))?;
        if named.inputs.len() > 1 && named.destination.name().is_some() {
            return Err(Failure::usage(
                "several results cannot go to standard output one behind the other; `cat FILE... | blosc` makes one of them",
            ));
        }
        let target = |path: &Path, destination: &Destination| self.target(path, destination);
        named.each(target, |path, destination| match !input::is_stream(path) && format::is_directory(path)? {
            true => self.run_directory(path, destination, global),
            false => self.run_file(path, destination, global),
        })
    }

    /// Where the result of an input goes.
    fn target(&self, path: &Path, destination: &Destination) -> Outcome<PathBuf> {
        if format::is_directory(path)? {
            return Ok(destination.root_for(path)?.unwrap_or_else(|| path.to_owned()));
        }
        let named = destination.name().map(Path::to_owned);
        Ok(named.unwrap_or_else(|| self.format(None, self.is_array(path)).name_for(&destination.place_for(path))))
    }

    /// Compresses one file.
    pub(crate) fn run_file(&self, path: &Path, destination: &Destination, global: &Global) -> Outcome {
        let data = PlainFile::open(path, self.looks_for_arrays(path, destination.name().is_some()))?;
        let format = self.format(destination.name(), data.array.is_some());
        let target = match destination.name() {
            Some(name) => name.to_owned(),
            None if input::is_stream(path) => {
                return Err(Failure::usage("standard input has no name to make one of; give -o FILE"));
            }
            None => format.name_for(&destination.place_for(path)),
        };
        let chosen = if destination.name().is_some() { Chosen::User } else { Chosen::Default };
        self.compress(path, data, format, &target, chosen, global)
    }

    /// Every file but those that are compressed already, each beside itself or below OUTPUT.
    fn run_directory(&self, root: &Path, destination: &Destination, global: &Global) -> Outcome {
        let output = destination.root_for(root)?;
        let output = output.as_deref();
        let tree = Tree::of(root, output, &fate)?;
        // Of a file that becomes one chunk all is in memory: one at a time is enough.
        let is_chunk = self.encoding.format.is_some_and(FileFormat::is_chunk);
        let workers = if is_chunk { 1 } else { global.thread_count() };
        let name = |file: &Path, place: PathBuf| self.format(None, self.is_array(file)).name_for(&place);
        let writing = self.writing.sparing_others();
        let plan = Plan { verb: "compress", output, writing, name: &name };
        tree.each(&plan, workers, global, |job, global| {
            let data = PlainFile::open(&job.file, self.looks_for_arrays(&job.file, false))?;
            let format = self.format(Some(&job.target), data.array.is_some());
            self.compress(&job.file, data, format, &job.target, Chosen::Tree, global)
        })
    }

    fn compress(
        &self,
        path: &Path,
        data: PlainFile,
        format: FileFormat,
        target: &Path,
        chosen: Chosen,
        global: &Global,
    ) -> Outcome {
        if input::is_stream(target) {
            output::check_no_terminal(self.writing)?;
        } else {
            output::check_free(target, self.writing.sparing_others())?;
            // In a directory, `fate` has left alone what is compressed.
            if chosen != Chosen::Tree {
                check_plain(path, target)?;
            }
        }
        let place = input::shown(path);
        let hints = Hints::default();
        let metadata = data.array.as_ref().map(Metadata::of_array).unwrap_or_default();
        let recipe = |encoding: &Encoding| {
            encoding.recipe(format, &hints, metadata.clone(), &data.sample, data.nbytes, global).at(&place)
        };
        let mut recipe_made = recipe(&self.encoding)?;
        if self.wishes.are_any() {
            recipe_made = recipe(&self.tuned(&data, &place, &recipe_made, global).at(&place)?)?;
        }
        let recipe = recipe_made;
        if self.names.removes() {
            check_nothing_lost(&recipe).at(&place)?;
        }
        warn_left_out(&recipe, &place, global);
        let written = Target { path: target, writing: self.writing.sparing_others(), source: path };
        write_target(&recipe, data.data, &written, "compressing", global).at(&place)?;
        self.names.remove(path, target)
    }

    /// The settings that are the best for this data, by measuring.
    fn tuned(&self, data: &PlainFile, place: &str, recipe: &Recipe, global: &Global) -> Outcome<Encoding> {
        let sample = tune::sample_of(data, recipe.typesize)?;
        if sample.is_empty() {
            return Ok(self.encoding.clone());
        }
        let mut trial = Trial::new(&sample, recipe.typesize, global.threads());
        let fits = |filters: &[Filter]| encoding::fits(filters, recipe.format, recipe.typesize);
        let found = tune::quick(&mut trial, &self.wishes, &fits)?;
        let Some((best, note)) = self.wishes.best(&found) else { return Ok(self.encoding.clone()) };
        let mut tuned = self.encoding.clone().with_candidate(&found[best].candidate);
        let shapes = self.shapes(data, recipe, &found[best], global)?;
        if let Some((chunks, blocks)) = &shapes {
            tuned = tuned.with_shapes(chunks, blocks);
        }
        if !global.quiet {
            let note = note.map_or_else(String::new, |note| format!(" ({note})"));
            let shapes = shapes.map_or_else(String::new, |(chunks, blocks)| {
                let joined = |shape: &[u64]| shape.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
                format!(" --chunks {} --blocks {}", joined(&chunks), joined(&blocks))
            });
            let (of, measured) = (size::display(sample.len() as u64), found.len());
            tell(format_args!("{place}: tuned{note}: {}{shapes}; {measured} settings tried on {of}", found[best]));
        }
        Ok(tuned)
    }

    /// The shapes of chunks and blocks that suit what will be read of an array.
    fn shapes(
        &self,
        data: &PlainFile,
        recipe: &Recipe,
        best: &Measurement,
        global: &Global,
    ) -> Outcome<Option<(Vec<u64>, Vec<u64>)>> {
        let array = recipe.array.as_ref().filter(|_| recipe.format == FileFormat::B2nd);
        let (Some(array), Some(file)) = (array, &data.data.file) else {
            return match &self.wishes.access {
                Some(_) => Err(Failure::usage("--access is for arrays in files: an .npy file, or --dtype and --shape")),
                None => Ok(None),
            };
        };
        let access = slice::parse(self.wishes.access.as_deref().unwrap_or_default(), array.shape())?;
        let is_plain = array.order() == ItemOrder::C && !array.shape().is_empty() && array.nbytes() > 0;
        if !is_plain || self.encoding.has_shapes() {
            return Ok(None);
        }
        let options = best.candidate.options(array.itemsize(), &global.threads());
        tune::best_shapes(array, &tune::Part::of(array, file)?, &access, &options)
    }

    /// Whether a file that nobody has named a result for becomes an array. What cannot be read is
    /// told when it is compressed, and what can be read only once is left for that.
    fn is_array(&self, file: &Path) -> bool {
        self.looks_for_arrays(file, false) && file.is_file() && input::is_npy(file).unwrap_or(false)
    }

    /// Whether a file that is an .npy file by its content becomes an array. If its name does not
    /// say so, the way back from a name that nobody has given would end at the items alone.
    fn looks_for_arrays(&self, path: &Path, is_named: bool) -> bool {
        !self.raw && (is_named || input::is_stream(path) || input::is_npy_name(path))
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

/// Refuses to remove an input of which the result does not have all.
fn check_nothing_lost(recipe: &Recipe) -> Outcome {
    let lost: Vec<String> = recipe.left_out().into_iter().chain(lost_precision(recipe, &[])).collect();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(Failure::usage(format!("--rm would lose {}; leave it out", lost.join(", ")))),
    }
}

/// The precision that data loses, in words, which has gone through the filters `gone_through`
/// already.
pub(crate) fn lost_precision(recipe: &Recipe, gone_through: &[Filter]) -> Option<String> {
    let is_lossy = |filter: &&Filter| {
        matches!(filter, Filter::TruncPrec(_) | Filter::IntTrunc(_)) && !gone_through.contains(filter)
    };
    let codec = recipe.codec.is_zfp().then(|| recipe.codec.to_string());
    let by = recipe.filters.iter().find(is_lossy).map(Filter::to_string).or(codec);
    by.map(|by| format!("precision, by {by}"))
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
    let total = recipe.nbytes.or_else(|| recipe.array.as_ref().map(NpyHeader::nbytes));
    if input::is_stream(target.path) {
        let progress = Progress::start(Task { verb, total, compressed: None }, global.shows_progress());
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
    let start = Instant::now();
    let output = Output::to(target.path, target.writing)?.like(target.source);
    let task = Task { verb, total, compressed: Some(output.path().to_owned()) };
    let progress = Progress::start(task, global.shows_progress());
    sink::write(recipe, progress.reading_data(data), output.path())?;
    let nbytes = progress.done();
    drop(progress);
    output.finish()?;
    let done = Done { nbytes, stored: size::of_path(target.path), is_decompressed: false, time: start.elapsed() };
    global.tell_done(target.path.display(), &done);
    Ok(())
}
