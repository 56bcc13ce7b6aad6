//! Where results go: a hidden directory beside the target, out of which they are renamed when all is there, or standard
//! output.

use crate::changing::LOCK_NAME;
use crate::failure::{At, Failure, Outcome};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// The exit code of a program that Ctrl-C has ended, as shells have it.
const INTERRUPTED: i32 = 130;
/// How often another name is tried for a directory, if there is one of that name.
const NAMES: usize = 100;

/// The directories that must be removed if the program is interrupted.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static HANDLER: Once = Once::new();

/// A file or directory that is being made. Dropping it removes what there is.
#[derive(Debug)]
pub(crate) struct Output {
    /// A directory that nobody else can look into.
    room: PathBuf,
    temporary: PathBuf,
    target: Option<PathBuf>,
    is_forced: bool,
    permissions: Option<Permissions>,
    /// Whether what there is stays, being all that is left.
    is_kept: bool,
}

impl Output {
    /// What will be at `target`, where there must be nothing yet unless `is_forced`.
    pub(crate) fn to(target: &Path, is_forced: bool) -> Outcome<Self> {
        check_free(target, is_forced)?;
        if target.file_name().is_none() {
            return Err(Failure::usage(format!("{}: this is no name of a file", target.display())));
        }
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !parent.is_dir() {
            return Err(Failure::usage(format!("{}: there is no such directory; make it first", parent.display())));
        }
        Self::unfinished(parent, Some(target.to_owned()), is_forced)
    }

    /// A file that is needed for a while only.
    pub(crate) fn scratch() -> Outcome<Self> {
        Self::unfinished(&std::env::temp_dir(), None, true)
    }

    fn unfinished(directory: &Path, target: Option<PathBuf>, is_forced: bool) -> Outcome<Self> {
        HANDLER.call_once(|| {
            // Without a handler an interrupted run leaves a temporary file behind; that is no reason not to run. Whoever
            // has a signal ignored, as `nohup` does, wants it to stay so.
            let _ = ctrlc::try_set_handler(end_interrupted);
        });
        let mut unfinished = lock();
        let room = make_room(directory)?;
        unfinished.push(room.clone());
        Ok(Self { temporary: room.join("new"), room, target, is_forced, permissions: None, is_kept: false })
    }

    /// The same, to be read and written by those who can read and write the file at `path`, as other compressors do it.
    pub(crate) fn like(mut self, path: &Path) -> Self {
        let in_directory = path.join("chunks.b2frame");
        let path = if path.is_dir() { &in_directory } else { path };
        self.permissions = path.metadata().ok().filter(fs::Metadata::is_file).map(|metadata| metadata.permissions());
        self
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
    pub(crate) fn finish(mut self) -> Outcome {
        let Some(target) = self.target.take() else { return Ok(()) };
        let target = target.as_path();
        if let Some(permissions) = &self.permissions {
            permit(&self.temporary, permissions).at_path(target)?;
        }
        // Whoever interrupts the program waits until there is one or the other.
        let mut unfinished = lock();
        // Somebody else may have been faster.
        check_free(target, self.is_forced)?;
        let there = target.symlink_metadata().ok();
        let is_in_the_way = there.is_some_and(|there| there.is_dir() || self.temporary.is_dir());
        // A directory cannot be replaced in one step: the old one is kept until the new one is there.
        let old = self.room.join("old");
        if is_in_the_way {
            fs::rename(target, &old).at_path(target)?;
        }
        let Err(error) = fs::rename(&self.temporary, target) else { return Ok(()) };
        if is_in_the_way && fs::rename(&old, target).is_err() {
            return Err(self.keep(&error, &mut unfinished)).at_path(target);
        }
        Err(error).at_path(target)
    }

    /// Leaves what there is where it is, and says so.
    fn keep(&mut self, error: &io::Error, unfinished: &mut Vec<PathBuf>) -> Failure {
        self.is_kept = true;
        unfinished.retain(|other| other != &self.room);
        Failure::usage(format!("{error}; what was there and what was to replace it are in {}", self.room.display()))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        remove(&self.room);
        lock().retain(|other| other != &self.room);
    }
}

/// Makes a directory that nobody else can look into.
fn make_room(directory: &Path) -> Outcome<PathBuf> {
    let builder = private_builder();
    let mut made = Err(io::ErrorKind::AlreadyExists.into());
    for _ in 0..NAMES {
        let room = directory.join(format!(".blosc-{}-{}.tmp", std::process::id(), next_number()));
        made = builder.create(&room);
        match &made {
            Ok(()) => return Ok(room),
            // Another process had our number once and was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => break,
        }
    }
    made.map(|()| directory.to_owned()).at_path(directory)
}

#[cfg(unix)]
fn private_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(not(unix))]
fn private_builder() -> DirBuilder {
    DirBuilder::new()
}

/// Gives a file, or a directory and all files in it, these permissions. Who may read a directory may enter it, and its
/// owner may do anything with it: a directory that cannot be written to cannot even be moved.
fn permit(path: &Path, permissions: &Permissions) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = permissions.mode() & 0o777;
        if !path.is_dir() {
            return fs::set_permissions(path, Permissions::from_mode(mode));
        }
        for entry in fs::read_dir(path)? {
            fs::set_permissions(entry?.path(), Permissions::from_mode(mode))?;
        }
        fs::set_permissions(path, Permissions::from_mode(mode | 0o700 | (mode & 0o444) >> 2))
    }
    #[cfg(not(unix))]
    {
        let _ = (path, permissions);
        Ok(())
    }
}

/// Writes a little at a time. For large writes some file systems cache a file in large pages, and to fill those for the
/// first time took a virtual machine three times as long as all the decoding.
#[derive(Debug)]
pub(crate) struct LittleByLittle(pub(crate) File);

impl LittleByLittle {
    const MOST: usize = 128 << 10;
}

impl Write for LittleByLittle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..bytes.len().min(Self::MOST)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
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
            || name == LOCK_NAME
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

/// Removes what is unfinished, and ends the program.
fn end_interrupted() {
    // Held to the end: nothing new is begun, and nothing is half renamed.
    let unfinished = lock();
    for room in unfinished.iter() {
        // Under another name, so that those who are still writing find no place for more.
        let gone = room.with_extension("gone");
        remove(if fs::rename(room, &gone).is_ok() { &gone } else { room });
    }
    std::process::exit(INTERRUPTED);
}

fn remove(path: &Path) {
    // What is not there need not be removed, and nobody is left to tell about the rest.
    let _ = fs::remove_dir_all(path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_written_little_by_little() {
        let output = Output::scratch().unwrap();
        let data: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut file = LittleByLittle(output.create().unwrap());
        assert_eq!(file.write(&data).unwrap(), LittleByLittle::MOST);
        file.write_all(&data[LittleByLittle::MOST..]).unwrap();
        assert_eq!(fs::read(output.path()).unwrap(), data);
    }

    #[test]
    fn what_can_neither_be_replaced_nor_put_back_is_kept_and_its_place_told() {
        let directory = make_room(&std::env::temp_dir()).unwrap();
        let mut output = Output::to(&directory.join("out.sframe"), false).unwrap();
        let room = output.room.clone();
        fs::write(room.join("old"), "precious").unwrap();
        let failure = output.keep(&io::Error::other("the disk is gone"), &mut lock());
        drop(output);
        assert!(!lock().contains(&room), "an interrupt leaves it alone");
        assert_eq!(fs::read(room.join("old")).unwrap(), b"precious");
        let message = format!("{failure:?}");
        assert!(message.contains("the disk is gone") && message.contains(room.to_str().unwrap()), "{message}");
        remove(&directory);
    }
}
