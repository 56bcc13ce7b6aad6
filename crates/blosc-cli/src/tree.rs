//! Every file of a directory, several at a time.

use crate::cli::Global;
use crate::failure::{At, Failure, Outcome, tell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What is in a directory and those below it, sorted.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// What there is to do something with.
    pub(crate) files: Vec<PathBuf>,
    /// What is left alone: hidden files, links, devices, and what is not wanted.
    left_alone: Vec<PathBuf>,
}

impl Tree {
    /// Looks for what `is_wanted`, among files and those directories that are one thing (`is_whole`).
    pub(crate) fn of(
        directory: &Path,
        is_whole: &dyn Fn(&Path) -> bool,
        is_wanted: &dyn Fn(&Path) -> bool,
    ) -> Outcome<Self> {
        let mut tree = Self::default();
        let mut open = vec![directory.to_owned()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(&directory).at_path(&directory)? {
                let entry = entry.at_path(&directory)?;
                let kind = entry.file_type().at_path(&directory)?;
                let path = entry.path();
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                if !is_hidden && kind.is_dir() && !is_whole(&path) {
                    open.push(path);
                } else if !is_hidden && (kind.is_file() || kind.is_dir()) && is_wanted(&path) {
                    tree.files.push(path);
                } else {
                    tree.left_alone.push(path);
                }
            }
        }
        tree.files.sort();
        tree.left_alone.sort();
        Ok(tree)
    }

    /// Says what is left alone, and why that may be.
    pub(crate) fn tell_left_alone(&self, directory: &Path, unwanted: &str, global: &Global) {
        let count = self.left_alone.len();
        if global.verbose {
            self.left_alone.iter().for_each(|path| tell(format_args!("{}: left alone", path.display())));
        } else if count > 0 && !global.quiet {
            tell(format_args!(
                "{}: {count} left alone, as hidden, links or {unwanted}; --verbose names them",
                directory.display()
            ));
        }
    }
}

/// Something to do: from a file to its target.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) file: PathBuf,
    pub(crate) target: PathBuf,
}

/// Does `action` for each of `jobs`, up to `workers` at a time. Failures are told as they come, and the worst is what is
/// left.
///
/// Those that are worked on at the same time share the memory. What needs more than its share is done afterwards, with all
/// of it.
pub(crate) fn each(
    jobs: &[Job],
    workers: usize,
    global: &Global,
    action: impl Fn(&Job, &Global) -> Outcome + Sync,
) -> Outcome {
    check_targets(jobs)?;
    let workers = workers.min(jobs.len());
    if workers <= 1 {
        return one_by_one(jobs, Ok(()), global, &action);
    }
    // Where files are shared out, none of them needs more than a thread.
    let shared = global.shared_by(workers);
    let queue = Mutex::new(jobs.iter());
    let (large, worst) = (Mutex::new(Vec::new()), Mutex::new(Ok(())));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(job) = lock(&queue).next() else { return };
                    match make_parent(&job.target).and_then(|()| action(job, &shared)) {
                        Ok(()) => {}
                        Err(Failure::TooLarge(_)) => lock(&large).push(job),
                        Err(failure) => failure.report_among(&mut lock(&worst)),
                    }
                }
            });
        }
    });
    let mut large = large.into_inner().unwrap_or_else(PoisonError::into_inner);
    large.sort_by_key(|job| &job.file);
    let worst = worst.into_inner().unwrap_or_else(PoisonError::into_inner);
    one_by_one(large, worst, global, &action)
}

/// Does `action` for each of `jobs`, after others of which `worst` is left.
fn one_by_one<'a>(
    jobs: impl IntoIterator<Item = &'a Job>,
    mut worst: Outcome,
    global: &Global,
    action: &impl Fn(&Job, &Global) -> Outcome,
) -> Outcome {
    for job in jobs {
        if let Err(failure) = make_parent(&job.target).and_then(|()| action(job, global)) {
            failure.report_among(&mut worst);
        }
    }
    worst
}

/// Refuses to make one file of two.
fn check_targets(jobs: &[Job]) -> Outcome {
    let mut targets = BTreeMap::new();
    for Job { file, target } in jobs {
        if let Some(other) = targets.insert(target, file) {
            let (file, other, target) = (file.display(), other.display(), target.display());
            return Err(Failure::usage(format!(
                "{other} and {file} would both become {target}; take one of them elsewhere"
            )));
        }
    }
    Ok(())
}

fn make_parent(target: &Path) -> Outcome {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => std::fs::create_dir_all(parent).at_path(parent),
        _ => Ok(()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the result for `file` of `directory` goes: to the same place below `output`, or beside it.
pub(crate) fn place_below(directory: &Path, file: &Path, output: Option<&Path>) -> PathBuf {
    match output {
        Some(output) => output.join(file.strip_prefix(directory).unwrap_or(file)),
        None => file.to_owned(),
    }
}
