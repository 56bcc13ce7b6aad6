//! Where results go: a temporary file or directory beside the target, renamed when all is there, or standard output.

use crate::failure::{At, Failure, Outcome};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// The exit code of a program that Ctrl-C has ended, as shells have it.
const INTERRUPTED: i32 = 130;

/// What must be removed if the program is interrupted.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static HANDLER: Once = Once::new();

/// A file or directory that is being made. Dropping it removes what there is.
#[derive(Debug)]
pub(crate) struct Output {
    temporary: PathBuf,
    target: Option<PathBuf>,
    is_forced: bool,
}

impl Output {
    /// What will be at `target`, where there must be nothing yet unless `is_forced`.
    pub(crate) fn to(target: &Path, is_forced: bool) -> Outcome<Self> {
        check_free(target, is_forced)?;
        let name = target
            .file_name()
            .ok_or_else(|| Failure::usage(format!("{}: this is no name of a file", target.display())))?;
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !parent.is_dir() {
            return Err(Failure::usage(format!("{}: there is no such directory; make it first", parent.display())));
        }
        Ok(Self::unfinished(parent, &name.to_string_lossy(), Some(target.to_owned()), is_forced))
    }

    /// A file that is needed for a while only.
    pub(crate) fn scratch() -> Self {
        Self::unfinished(&std::env::temp_dir(), "blosc", None, true)
    }

    fn unfinished(directory: &Path, name: &str, target: Option<PathBuf>, is_forced: bool) -> Self {
        HANDLER.call_once(|| {
            // Without a handler an interrupted run leaves a temporary file behind; that is no reason not to run.
            let _ = ctrlc::set_handler(|| {
                remove_unfinished();
                std::process::exit(INTERRUPTED);
            });
        });
        let mut unfinished = lock();
        let number = next_number();
        let temporary = directory.join(format!(".{name}.{}-{number}.tmp", std::process::id()));
        unfinished.push(temporary.clone());
        Self { temporary, target, is_forced }
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Makes the file.
    pub(crate) fn create(&self) -> Outcome<File> {
        File::options().read(true).write(true).create_new(true).open(&self.temporary).at_path(self.shown())
    }

    /// The path to tell the user.
    fn shown(&self) -> &Path {
        self.target.as_deref().unwrap_or(&self.temporary)
    }

    /// Makes what was written appear at the target.
    pub(crate) fn finish(self) -> Outcome {
        let Some(target) = &self.target else { return Ok(()) };
        // Somebody else may have been faster.
        check_free(target, self.is_forced)?;
        let there = target.symlink_metadata().ok();
        let is_in_the_way = there.is_some_and(|there| there.is_dir() || self.temporary.is_dir());
        // A directory cannot be replaced in one step: the old one is kept until the new one is there.
        let old = is_in_the_way.then(|| self.temporary.with_extension("old"));
        if let Some(old) = &old {
            fs::rename(target, old).at_path(target)?;
        }
        fs::rename(&self.temporary, target).at_path(target)?;
        forget(&self.temporary);
        if let Some(old) = &old {
            remove(old);
        }
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if forget(&self.temporary) {
            remove(&self.temporary);
        }
    }
}

/// Standard output, without the buffer that looks for ends of lines.
pub(crate) fn stdout() -> Outcome<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(File::from(io::stdout().as_fd().try_clone_to_owned().at("standard output")?))
    }
    #[cfg(windows)]
    {
        use std::os::windows::io::AsHandle;
        Ok(File::from(io::stdout().as_handle().try_clone_to_owned().at("standard output")?))
    }
}

/// Copies a file to standard output.
pub(crate) fn copy_to_stdout(path: &Path) -> Outcome {
    let mut file = File::open(path).at_path(path)?;
    let mut out = stdout()?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer).at_path(path)?;
        if count == 0 {
            return out.flush().at("standard output");
        }
        out.write_all(&buffer[..count]).at("standard output")?;
    }
}

/// Refuses to overwrite what was not asked to be.
pub(crate) fn check_free(target: &Path, is_forced: bool) -> Outcome {
    if !is_forced && target.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("{}: there is something already; --force overwrites it", target.display())));
    }
    let Ok(there) = target.symlink_metadata() else { return Ok(()) };
    if there.is_dir() && !is_sparse_frame(target) {
        let shown = target.display();
        return Err(Failure::usage(format!(
            "{shown}: this is a directory, and no sparse frame; --force leaves it alone"
        )));
    }
    if !there.is_dir() && !there.is_file() && !there.is_symlink() {
        let shown = target.display();
        return Err(Failure::usage(format!("{shown}: this is no regular file; write to - and redirect that")));
    }
    Ok(())
}

/// Whether a directory holds nothing but what a sparse frame consists of.
fn is_sparse_frame(directory: &Path) -> bool {
    let is_of_frame = |name: &str| {
        let number = name.strip_suffix(".chunk").unwrap_or_default();
        name.starts_with("chunks.b2frame")
            || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let Ok(mut entries) = fs::read_dir(directory) else { return false };
    directory.join("chunks.b2frame").is_file()
        && entries.all(|entry| entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_of_frame)))
}

fn lock() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Many outputs can be under way in one program.
fn next_number() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// Whether `path` was still unfinished.
fn forget(path: &Path) -> bool {
    let mut unfinished = lock();
    let before = unfinished.len();
    unfinished.retain(|other| other != path);
    unfinished.len() < before
}

fn remove_unfinished() {
    for path in lock().iter() {
        remove(path);
    }
}

fn remove(path: &Path) {
    // What is not there need not be removed, and nobody is left to tell about the rest.
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}
