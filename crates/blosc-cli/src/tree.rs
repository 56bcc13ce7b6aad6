//! Every file of a directory, several at a time.

use crate::cli::Global;
use crate::failure::{At, Failure, Outcome};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files below `directory`, sorted, without those that programs hide and those that a directory is one thing of.
pub(crate) fn files(directory: &Path, is_whole: &dyn Fn(&Path) -> bool) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).at_path(&directory)? {
            let entry = entry.at_path(&directory)?;
            let kind = entry.file_type().at_path(&directory)?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            match kind.is_dir() {
                true if is_whole(&entry.path()) => found.push(entry.path()),
                true => open.push(entry.path()),
                false if kind.is_file() => found.push(entry.path()),
                false => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Does `job` for each of `files`, as many at a time as there are threads. Failures are told as they come, and the
/// worst is what is left.
pub(crate) fn each(files: &[PathBuf], global: &Global, job: impl Fn(&Path, &Global) -> Outcome + Sync) -> Outcome {
    let workers = global.thread_count().min(files.len());
    // Where files are shared out, none of them needs more than a thread.
    let inner = if workers > 1 { global.clone().single() } else { global.clone() };
    let queue = Mutex::new(files.iter());
    let worst = Mutex::new(Ok(()));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(file) = lock(&queue).next() {
                    if let Err(failure) = job(file, &inner) {
                        failure.report();
                        let told = failure.told();
                        let mut worst = lock(&worst);
                        if worst.is_ok() || matches!(told, Failure::ToldUsage) {
                            *worst = Err(told);
                        }
                    }
                }
            });
        }
    });
    worst.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the result for `file` of `directory` goes: to the same place below `output`, or beside it.
pub(crate) fn place_below(directory: &Path, file: &Path, output: Option<&Path>) -> Outcome<PathBuf> {
    let Some(output) = output else { return Ok(file.to_owned()) };
    let target = output.join(file.strip_prefix(directory).unwrap_or(file));
    if let Some(parent) = target.parent() {
        std::fs::create_dir_all(parent).at_path(parent)?;
    }
    Ok(target)
}
