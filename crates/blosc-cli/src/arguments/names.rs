//! Which of the names on the command line are inputs, and where the results go.

use crate::failure::{At, Failure, Outcome};
use crate::inputs::format;
use crate::inputs::input;
use crate::inputs::source::is_single;
use crate::outputs::output;
use crate::outputs::targets;
use crate::outputs::tree::Job;
use crate::process::terminal;
use crate::store;
use crate::zarr::Zarr;
use clap::Args;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The names, and the options that say what becomes of inputs and results.
#[derive(Debug, Clone, Args)]
pub(crate) struct Names {
    /// Files and directories; `-` is standard input, which is also read if nothing is named and it
    /// is no terminal. Of exactly two names the second can be OUTPUT: see the manual
    #[arg(value_name = "INPUT")]
    names: Vec<PathBuf>,
    /// Where to write: a file, a directory, or `-` for standard output [default: beside INPUT]
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Write to standard output
    #[arg(long, short = 'c', conflicts_with = "output")]
    stdout: bool,
    /// Keep INPUT, which is the default
    #[arg(long, short, conflicts_with = "rm")]
    keep: bool,
    /// Remove INPUT once the result is on the disk
    #[arg(long)]
    rm: bool,
    /// Accepted because others have it: a directory is always taken with all that is in it
    #[arg(long, short, hide = true)]
    recursive: bool,
}

/// Where the result of one input goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Beside the input, under a name made from its own.
    Beside,
    /// Into a directory, under such a name.
    Into(PathBuf),
    /// Under this name; `-` is standard output.
    Named(PathBuf),
}

impl Destination {
    /// The name that was given, if one was.
    pub(crate) fn name(&self) -> Option<&Path> {
        if let Self::Named(path) = self { Some(path) } else { None }
    }

    /// The directory to write the files of the directory `root` to, if it is another.
    pub(crate) fn root_for(&self, root: &Path) -> Outcome<Option<PathBuf>> {
        match self {
            Self::Beside => Ok(None),
            Self::Into(_) => Ok(Some(self.place_for(root))),
            Self::Named(path) if input::is_stream(path) => {
                let shown = root.display();
                Err(Failure::usage(format!(
                    "{shown}: a directory cannot go to standard output; `blosc cat` takes files"
                )))
            }
            Self::Named(path) => Ok(Some(path.clone())),
        }
    }

    /// `path`, or what has its name in the directory to write to.
    pub(crate) fn place_for(&self, path: &Path) -> PathBuf {
        match (self, path.file_name()) {
            (Self::Into(directory), Some(name)) => directory.join(name),
            _ => path.to_owned(),
        }
    }
}

/// Inputs, each with the place for its result.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) destination: Destination,
}

impl Names {
    /// Whether inputs are to be removed when they are done.
    pub(crate) fn removes(&self) -> bool {
        self.rm
    }

    /// Tells inputs from the output. `is_output` says whether the second of two names is one.
    pub(crate) fn resolve(&self, is_output: impl Fn(&Path, &Path) -> Outcome<bool>) -> Outcome<Named> {
        let mut inputs = self.names.clone();
        let mut output = if self.stdout { Some(PathBuf::from("-")) } else { self.output.clone() };
        if let ([first, second], None) = (inputs.as_slice(), &output)
            && (input::is_stream(second) || is_output(first, second)?)
        {
            output = inputs.pop();
        }
        if let ([_, second], None) = (inputs.as_slice(), &output)
            && store::split(second).is_none()
            && matches!(second.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound)
        {
            let shown = second.display();
            return Err(Failure::usage(format!("{shown}: there is no such file; to write there, type -o {shown}")));
        }
        if inputs.is_empty() {
            inputs.push(standard_input()?);
        }
        if self.rm && output.as_deref().is_some_and(input::is_stream) {
            return Err(Failure::usage("--rm and standard output: nobody knows whether the result has been kept"));
        }
        let destination = match output {
            None if inputs.iter().any(|path| input::is_stream(path)) && inputs.len() == 1 => {
                Destination::Named(PathBuf::from("-"))
            }
            None => Destination::Beside,
            Some(output) => destination(output, &inputs)?,
        };
        Ok(Named { inputs, destination })
    }

    /// Refuses to remove a directory with more in it than the files of a sparse frame.
    pub(crate) fn check_removable(&self, path: &Path) -> Outcome {
        if !self.rm || input::is_stream(path) || !format::is_directory(path)? || output::is_sparse_frame(path) {
            return Ok(());
        }
        let shown = path.display();
        Err(Failure::usage(format!(
            "{shown}: --rm would remove what there is in it beside the files of a sparse frame; leave it out"
        )))
    }

    /// Removes an input whose result is at `target`, if that was asked for.
    pub(crate) fn remove(&self, path: &Path, target: &Path) -> Outcome {
        // Where the result has replaced the input there is nothing left to remove.
        let is_kept = !self.rm || input::is_stream(path) || input::is_stream(target);
        if is_kept || input::is_same_file(target, path)? {
            return Ok(());
        }
        self.check_removable(path)?;
        let is_directory = path.symlink_metadata().at_path(path)?.is_dir();
        if is_directory { fs::remove_dir_all(path) } else { fs::remove_file(path) }.at_path(path)
    }
}

impl Named {
    /// Does `action` for each input. The others are still done when one fails, unless they go to
    /// one stream. Nothing is done if a result would take the place of another or of an input;
    /// `target` says where it goes.
    pub(crate) fn each(
        &self,
        target: impl Fn(&Path, &Destination) -> Outcome<PathBuf>,
        action: impl Fn(&Path, &Destination) -> Outcome,
    ) -> Outcome {
        let is_there = |path: &&PathBuf| path.exists() || store::split(path).is_some();
        // Why there is no target is told when its turn comes.
        let job = |file: &PathBuf| Job {
            target: target(file, &self.destination).unwrap_or_else(|_| file.clone()),
            file: file.clone(),
        };
        targets::check(&self.inputs.iter().filter(is_there).map(job).collect::<Vec<_>>())?;
        if let Destination::Into(directory) = &self.destination {
            fs::create_dir_all(directory).at_path(directory)?;
        }
        let is_stream = self.destination.name().is_some_and(input::is_stream);
        let mut worst = Ok(());
        for path in &self.inputs {
            match action(path, &self.destination) {
                Err(failure) if self.inputs.len() > 1 && !is_stream => failure.report_among(&mut worst),
                other => other?,
            }
        }
        worst
    }
}

/// `-` where nothing was named, if something can come from there.
pub(crate) fn standard_input() -> Outcome<PathBuf> {
    if terminal::stdin_is_terminal() {
        return Err(Failure::usage("no INPUT: name a file, or pipe data into it; try --help"));
    }
    Ok(PathBuf::from("-"))
}

/// What an OUTPUT means for these inputs.
fn destination(output: PathBuf, inputs: &[PathBuf]) -> Outcome<Destination> {
    if input::is_stream(&output) {
        return Ok(Destination::Named(output));
    }
    let ends_like_directory = output.as_os_str().to_string_lossy().ends_with(std::path::is_separator);
    let is_tree = |path: &PathBuf| Ok::<bool, Failure>(format::is_directory(path)? && !is_single(path)?);
    if let [only] = inputs
        && is_tree(only)?
    {
        return Ok(Destination::Named(output));
    }
    let is_directory = format::is_directory(&output)? && !is_single(&output)? && !Zarr::is_at(&output);
    if is_directory || ends_like_directory {
        return Ok(Destination::Into(output));
    }
    if inputs.len() > 1 {
        let shown = output.display();
        return Err(Failure::usage(format!(
            "{shown}: {} inputs need a directory to go to; write {shown}/ to make it",
            inputs.len()
        )));
    }
    Ok(Destination::Named(output))
}
