//! Every file of a directory, several at a time.

use crate::arguments::cli::Global;
use crate::failure::{At, Failure, Outcome, tell};
use crate::outputs::output::{self, Output, Writing};
use crate::outputs::placement;
use crate::outputs::targets;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What is done with a file or a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// What the command does.
    Work,
    /// It stays as it is, with all that is in it, for this reason.
    Keep(&'static str),
    /// It is a directory of others.
    Enter,
}

/// What a directory and those below it hold, sorted.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    root: PathBuf,
    /// What there is to do something with.
    pub(crate) files: Vec<PathBuf>,
    /// What stays as it is, and why.
    kept: Vec<(PathBuf, &'static str)>,
    /// The directories, each before those in it.
    directories: Vec<PathBuf>,
    /// Pipes, sockets and devices.
    unfit: Vec<PathBuf>,
}

impl Tree {
    /// Looks at everything in `root` but `output`; `judge` says what is done with files and
    /// directories that are not hidden.
    pub(crate) fn of(root: &Path, output: Option<&Path>, judge: &dyn Fn(&Path) -> Outcome<Fate>) -> Outcome<Self> {
        let mut tree = Self { root: root.to_owned(), ..Self::default() };
        let output = output.and_then(place_of);
        let mut open = vec![(root.to_owned(), None)];
        while let Some((directory, kept)) = open.pop() {
            for entry in fs::read_dir(&directory).at_path(&directory)? {
                let entry = entry.at_path(&directory)?;
                let (path, kind) = (entry.path(), entry.file_type().at_path(&directory)?);
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                if kind.is_dir() && output.is_some() && place_of(&path) == output {
                    continue;
                }
                let fate = match kept {
                    _ if kind.is_symlink() => Fate::Keep("link"),
                    _ if !kind.is_file() && !kind.is_dir() => {
                        tree.unfit.push(path);
                        continue;
                    }
                    Some(reason) => Fate::Keep(reason),
                    None if is_hidden => Fate::Keep("hidden"),
                    None => judge(&path)?,
                };
                match fate {
                    Fate::Work => tree.files.push(path),
                    Fate::Keep(reason) if kind.is_dir() => open.push((path, Some(reason))),
                    Fate::Keep(reason) => tree.kept.push((path, reason)),
                    Fate::Enter => open.push((path, None)),
                }
            }
            tree.directories.push(directory);
        }
        tree.files.sort();
        tree.kept.sort();
        tree.unfit.sort();
        Ok(tree)
    }

    /// Says what stays as it is, and why.
    fn tell_kept(&self, is_copied: bool, global: &Global) {
        let (done, all_done) =
            if is_copied { ("copied as it is", "copied as they are") } else { ("left alone", "left alone") };
        if global.verbose {
            for (path, reason) in &self.kept {
                tell(format_args!("{}: {done} ({reason})", path.display()));
            }
        } else if !self.kept.is_empty() && !global.quiet {
            let mut counts = BTreeMap::new();
            self.kept.iter().for_each(|(_, reason)| *counts.entry(reason).or_insert(0_u64) += 1);
            let counts: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
            let (root, count) = (self.root.display(), self.kept.len());
            tell(format_args!("{root}: {count} {all_done}: {}; --verbose names them", counts.join(", ")));
        }
        if !is_copied && !global.quiet {
            self.unfit.iter().for_each(|path| tell(format_args!("{}: left alone (no plain file)", path.display())));
        }
    }

    /// Does `action` for each file, up to `workers` at a time, with the target that `place` gives
    /// it. With an `output` everything else goes there too, as it is.
    pub(crate) fn each(
        self,
        plan: &Plan<'_>,
        workers: usize,
        global: &Global,
        action: impl Fn(&Job, &Global) -> Outcome + Sync,
    ) -> Outcome {
        let output = plan.output(&self.root);
        let below = |path: &Path| match &output {
            Some(output) => output.join(path.strip_prefix(&self.root).unwrap_or(path)),
            None => path.to_owned(),
        };
        let work = self.files.iter().map(|file| Job { target: (plan.name)(file, below(file)), file: file.clone() });
        let work: Vec<Job> = work.collect();
        let targets = check_targets(&work)?;
        if plan.writing.is_forced() {
            targets::check_inputs(&work)?;
        }
        let kept = self.kept.iter().filter(|_| output.is_some());
        let kept = kept.map(|(file, _)| Job { file: file.clone(), target: below(file) });
        let (in_the_way, kept): (Vec<Job>, Vec<Job>) = kept.partition(|job| is_taken(&targets, &job.target));
        self.tell_kept(output.is_some(), global);
        let directories = output.as_ref().map(|_| self.directories.iter().map(|from| (from.clone(), below(from))));
        let made = make_directories(directories.into_iter().flatten(), plan.writing)?;
        let mut worst = each(&work, workers, global, action);
        for job in &kept {
            if let Err(failure) = carry(job, plan.writing) {
                failure.report_among(&mut worst);
            }
        }
        permit_directories(&made)?;
        for path in self.unfit.iter().filter(|_| output.is_some()) {
            Failure::data(format!("{}: no plain file, and not copied", path.display())).report_among(&mut worst);
        }
        // That a file is there as another one becomes it is no loss.
        for Job { file, target } in in_the_way.iter().filter(|job| !is_same(&job.file, &job.target).unwrap_or(false)) {
            let (file, target) = (file.display(), target.display());
            Failure::data(format!("{file}: not copied, another file becomes {target}")).report_among(&mut worst);
        }
        if work.is_empty() && worst.is_ok() {
            return Err(Failure::data(format!("{}: there is nothing to {} in it", self.root.display(), plan.verb)));
        }
        worst
    }
}

/// Where the files of a directory go.
pub(crate) struct Plan<'a> {
    /// What the command does, for messages.
    pub(crate) verb: &'a str,
    /// The directory to write to, if it is another.
    pub(crate) output: Option<&'a Path>,
    pub(crate) writing: Writing,
    /// The target of a file, from the place that it would have with the name that it has.
    pub(crate) name: &'a dyn Fn(&Path, PathBuf) -> PathBuf,
}

impl Plan<'_> {
    /// The directory to write to, if it is not the one that is read.
    fn output(&self, root: &Path) -> Option<PathBuf> {
        let is_root = |output: &&Path| place_of(output).is_some_and(|there| place_of(root) == Some(there));
        self.output.filter(|output| !is_root(output)).map(Path::to_owned)
    }
}

/// Where a directory really is, if it is there.
fn place_of(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Something to do: from a file to its target.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) file: PathBuf,
    pub(crate) target: PathBuf,
}

/// Does `action` for each of `jobs`, up to `workers` at a time. Failures are told as they come, and
/// the worst is what is left.
///
/// Those that are worked on at the same time share the memory. What needs more than its share is
/// done afterwards, with all of it.
fn each(jobs: &[Job], workers: usize, global: &Global, action: impl Fn(&Job, &Global) -> Outcome + Sync) -> Outcome {
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
                    match action(job, &shared) {
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
        if let Err(failure) = action(job, global) {
            failure.report_among(&mut worst);
        }
    }
    worst
}

/// Refuses to make one file of two, or a file where a directory is needed.
fn check_targets(jobs: &[Job]) -> Outcome<BTreeMap<&Path, &PathBuf>> {
    let mut targets = BTreeMap::new();
    for Job { file, target } in jobs {
        if let Some(other) = targets.insert(target.as_path(), file) {
            return Err(targets::both_become(other, file, target));
        }
    }
    for (target, file) in &targets {
        if let Some(other) = target.ancestors().skip(1).find_map(|parent| targets.get(parent)) {
            let (file, other) = (file.display(), other.display());
            return Err(Failure::usage(format!(
                "{other} would become a file where {file} needs a directory; take one of them elsewhere"
            )));
        }
    }
    Ok(targets)
}

/// Whether one of the targets has this name, or a part of it.
fn is_taken(targets: &BTreeMap<&Path, &PathBuf>, path: &Path) -> bool {
    path.ancestors().any(|part| targets.contains_key(part))
}

/// Makes the directories that are not there yet, with their names on the disk; those that were
/// made, with what they are made after.
fn make_directories(
    directories: impl Iterator<Item = (PathBuf, PathBuf)>,
    writing: Writing,
) -> Outcome<Vec<(PathBuf, PathBuf)>> {
    let mut made = Vec::new();
    for (from, to) in directories {
        let missing: Vec<&Path> =
            to.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.is_dir()).collect();
        for path in missing.iter().rev() {
            // Not to be looked into before it has the permissions that it will have.
            let created = if *path == to { output::private_builder().create(path) } else { fs::create_dir(path) };
            created.at_path(path)?;
            if writing.is_synced() {
                placement::sync_directory(placement::parent(path)).at_path(path)?;
            }
        }
        if !missing.is_empty() {
            made.push((from, to));
        }
    }
    Ok(made)
}

/// Gives directories the permissions of those that they are made after, when nothing more is
/// written to them.
fn permit_directories(made: &[(PathBuf, PathBuf)]) -> Outcome {
    for (from, to) in made.iter().rev() {
        let permissions = from.metadata().at_path(from)?.permissions();
        fs::set_permissions(to, permissions).at_path(to)?;
    }
    Ok(())
}

/// Puts a file or a link where it is to be, as it is.
fn carry(Job { file, target }: &Job, writing: Writing) -> Outcome {
    if is_same(file, target).at_path(file)? {
        return Ok(());
    }
    let output = Output::to(target, writing)?.like(file);
    if file.is_symlink() {
        link(&fs::read_link(file).at_path(file)?, output.path()).at_path(target)?;
        return output.finish_link();
    }
    io::copy(&mut File::open(file).at_path(file)?, &mut output.create()?).at_path(file)?;
    output.finish()
}

/// Whether there is the same already.
fn is_same(file: &Path, target: &Path) -> io::Result<bool> {
    let Ok(there) = target.symlink_metadata() else { return Ok(false) };
    if file.is_symlink() {
        return Ok(there.is_symlink() && fs::read_link(file)? == fs::read_link(target)?);
    }
    if !there.is_file() || there.len() != file.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (File::open(file)?, File::open(target)?);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    loop {
        first.clear();
        second.clear();
        Read::by_ref(&mut one).take(1 << 20).read_to_end(&mut first)?;
        Read::by_ref(&mut other).take(1 << 20).read_to_end(&mut second)?;
        if first != second || first.is_empty() {
            return Ok(first == second);
        }
    }
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
