//! Where results go: a hidden directory beside the target, out of which they are renamed when all
//! is there, or standard output.

use crate::failure::{At, Failure, Outcome};
use crate::inputs::format;
use crate::inputs::input;
use crate::outputs::changing::LOCK_NAME;
use crate::outputs::placement::{self, Misplaced, Names, Placed};
use crate::process::{progress, signals, terminal};
use clap::Args;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

/// What a result is called before it gets its name, or what it has replaced afterwards.
const NEW_NAME: &str = "new";
/// What a thing is called that is to be replaced and cannot change names with the result.
const OLD_NAME: &str = "old";
/// How often another name is tried for a directory, if there is one of that name.
const NAMES: usize = 100;

/// The directories that must be removed if the program is interrupted.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static HANDLER: Once = Once::new();

/// The options of commands that write files.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Writing {
    /// Overwrite what is there; compress overwrites only Blosc files
    #[arg(long, short)]
    force: bool,
    /// Do not wait until the result is on the disk: faster, but a power cut can then lose it and
    /// what it replaces
    #[arg(long)]
    no_sync: bool,
    /// Whether only Blosc files may be overwritten.
    #[arg(skip)]
    spares_others: bool,
    #[arg(skip)]
    is_inside: bool,
}

impl Writing {
    /// The same, where nothing but Blosc files may be overwritten.
    pub(crate) fn sparing_others(self) -> Self {
        Self { spares_others: true, ..self }
    }

    /// Whether something may be overwritten.
    pub(crate) fn is_forced(self) -> bool {
        self.force
    }

    /// Whether results are to survive a power cut.
    pub(crate) fn is_synced(self) -> bool {
        !self.no_sync
    }

    /// For files in a directory that is unfinished itself: they are written at their place.
    pub(crate) const INSIDE: Self = Self { force: false, no_sync: true, spares_others: false, is_inside: true };

    /// Whether the directory is unfinished itself.
    pub(crate) fn is_inside(self) -> bool {
        self.is_inside
    }

    /// What is needed for a while only.
    const SCRATCH: Self = Self { force: true, no_sync: true, spares_others: false, is_inside: false };
}

/// A file or directory that is being made. Dropping it removes what there is.
#[derive(Debug)]
pub(crate) struct Output {
    /// A directory that nobody else can look into.
    room: PathBuf,
    temporary: PathBuf,
    target: Option<PathBuf>,
    writing: Writing,
    permissions: Option<Permissions>,
    /// Whether what there is stays, being all that is left.
    is_kept: bool,
}

impl Output {
    /// What will be at `target`, where there must be nothing yet unless it may be overwritten.
    pub(crate) fn to(target: &Path, writing: Writing) -> Outcome<Self> {
        check_free(target, writing)?;
        if target.file_name().is_none() {
            return Err(Failure::usage(format!("{}: this is no name of a file", target.display())));
        }
        let parent = placement::parent(target);
        if !parent.is_dir() {
            return Err(Failure::usage(format!("{}: there is no such directory; make it first", parent.display())));
        }
        let mut output = Self::unfinished(parent, Some(target.to_owned()), writing)?;
        output.permissions = permissions(target);
        Ok(output)
    }

    /// A file beside `path` that is gone at the end, for a change that may have to write `path`
    /// anew.
    pub(crate) fn beside(path: &Path) -> Outcome<Self> {
        Self::unfinished(placement::parent(path), None, Writing::SCRATCH)
    }

    /// A file that is needed for a while only.
    pub(crate) fn scratch() -> Outcome<Self> {
        Self::unfinished(&std::env::temp_dir(), None, Writing::SCRATCH)
    }

    fn unfinished(directory: &Path, target: Option<PathBuf>, writing: Writing) -> Outcome<Self> {
        catch_interrupts();
        let mut unfinished = lock();
        let room = make_room(directory)?;
        unfinished.push(room.clone());
        Ok(Self { temporary: room.join(NEW_NAME), room, target, writing, permissions: None, is_kept: false })
    }

    /// The same, to be read and written by those who can read and write the file at `path`, as
    /// other compressors do it. What comes from standard input is as private as what it replaces.
    pub(crate) fn like(mut self, path: &Path) -> Self {
        if !input::is_stream(path) {
            self.permissions = permissions(path).or_else(|| self.permissions.take());
        }
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
        if self.writing.is_synced() {
            placement::sync(&self.temporary).at_path(target)?;
        }
        self.place(target)
    }

    /// The same for a link, which has neither permissions nor content.
    pub(crate) fn finish_link(mut self) -> Outcome {
        let Some(target) = self.target.take() else { return Ok(()) };
        self.place(&target)
    }

    /// Puts the result in its place, and the new name on the disk. If that fails, the old is there
    /// again.
    fn place(&mut self, target: &Path) -> Outcome {
        // What cannot be opened cannot be synced: that is found out before anything is moved.
        let names = if self.writing.is_synced() { Names::of(placement::parent(target)).at_path(target)? } else { None };
        // Whoever interrupts the program waits until there is one or the other.
        let mut unfinished = lock();
        // Somebody else may have been faster.
        check_free(target, self.writing)?;
        let aside = self.room.join(OLD_NAME);
        let moved = if self.writing.is_forced() {
            placement::put(&self.temporary, target, &aside)
        } else {
            placement::put_free(&self.temporary, target).map(|()| Placed::Free).map_err(Misplaced::Unchanged)
        };
        let synced = moved.and_then(|placed| {
            let Some(Err(error)) = names.map(|names| names.sync()) else { return Ok(()) };
            Err(placement::take_back(placed, &self.temporary, target, &aside, error))
        });
        match synced {
            Ok(()) => Ok(()),
            Err(Misplaced::Unchanged(error)) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(there_already(target))
            }
            Err(Misplaced::Unchanged(error)) => Err(error).at_path(target),
            Err(Misplaced::Placed(error)) => {
                Err(Failure::usage(format!("{error}; the result is there, but a power cut may lose it")))
                    .at_path(target)
            }
            Err(Misplaced::Aside(error)) => Err(self.keep(&error, &mut unfinished)).at_path(target),
        }
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

/// Makes directories that nobody else can look into.
#[cfg(unix)]
pub(crate) fn private_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(not(unix))]
pub(crate) fn private_builder() -> DirBuilder {
    DirBuilder::new()
}

/// Gives a file, or a directory and all that is in it, these permissions. Who may read a directory
/// may enter it, and its owner may do anything with it: a directory that cannot be written to
/// cannot even be moved.
fn permit(path: &Path, permissions: &Permissions) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = permissions.mode() & 0o777;
        if !path.is_dir() {
            return fs::set_permissions(path, Permissions::from_mode(mode));
        }
        for entry in fs::read_dir(path)? {
            permit(&entry?.path(), permissions)?;
        }
        fs::set_permissions(path, Permissions::from_mode(mode | 0o700 | (mode & 0o444) >> 2))
    }
    #[cfg(not(unix))]
    {
        let _ = (path, permissions);
        Ok(())
    }
}

/// Writes a little at a time. For large writes some file systems cache a file in large pages, and
/// to fill those for the first time took a virtual machine three times as long as all the decoding.
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

/// Refuses to print compressed data where somebody would read it.
pub(crate) fn check_no_terminal(writing: Writing) -> Outcome {
    if !terminal::stdout_is_terminal() || writing.is_forced() {
        return Ok(());
    }
    Err(Failure::usage("compressed data is not printed on a terminal; write it with -o FILE, or force it with -f"))
}

/// Refuses to overwrite what was not asked to be.
pub(crate) fn check_free(target: &Path, writing: Writing) -> Outcome {
    let Ok(there) = target.symlink_metadata() else { return Ok(()) };
    if there.is_dir() && !is_sparse_frame(target) {
        let shown = target.display();
        return Err(Failure::usage(format!(
            "{shown}: this is a directory, and no sparse frame, which is not replaced; give the name of a file"
        )));
    }
    if writing.spares_others && is_other_file(target) {
        return Err(Failure::usage(format!(
            "{}: this is no Blosc file, and compress overwrites no other files, not even with --force; \
             give another OUTPUT, or remove it first",
            target.display()
        )));
    }
    if !writing.is_forced() {
        return Err(there_already(target));
    }
    if !there.is_dir() && !there.is_file() && !there.is_symlink() {
        let shown = target.display();
        return Err(Failure::usage(format!("{shown}: this is no regular file; write to - and redirect that")));
    }
    Ok(())
}

fn there_already(target: &Path) -> Failure {
    Failure::usage(format!("{}: there is something already; -f or --force overwrites it", target.display()))
}

/// Whether something would be lost with the file at `path`, or the one that a link there leads to,
/// that is no Blosc file.
fn is_other_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|there| there.is_file() && there.len() > 0) && !format::is_blosc(path)
}

/// Who may do what with a file, or with the files of a sparse frame.
fn permissions(path: &Path) -> Option<Permissions> {
    let in_directory = path.join(format::INDEX_NAME);
    let path = if path.is_dir() { &in_directory } else { path };
    path.metadata().ok().filter(fs::Metadata::is_file).map(|metadata| metadata.permissions())
}

/// Whether a directory holds nothing but what a sparse frame consists of.
pub(crate) fn is_sparse_frame(directory: &Path) -> bool {
    let is_of_frame = |name: &str| {
        let number = name.strip_suffix(".chunk").unwrap_or_default();
        name.starts_with(format::INDEX_NAME)
            || name == LOCK_NAME
            || (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    let is_part = |entry: fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| !kind.is_dir()) && entry.file_name().to_str().is_some_and(is_of_frame)
    };
    let Ok(mut entries) = fs::read_dir(directory) else { return false };
    directory.join(format::INDEX_NAME).is_file() && entries.all(|entry| entry.is_ok_and(is_part))
}

fn lock() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Many outputs can be under way in one program.
fn next_number() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// From now on, whoever interrupts the program leaves neither files nor a line behind.
pub(crate) fn catch_interrupts() {
    HANDLER.call_once(|| signals::before_end(end_interrupted));
}

/// Removes what is unfinished, and ends the program.
fn end_interrupted() {
    let _no_line = progress::clear();
    // Held to the end: nothing new is begun, and nothing is half renamed.
    let unfinished = lock();
    for room in unfinished.iter() {
        // Under another name, so that those who are still writing find no place for more.
        let gone = room.with_extension("gone");
        remove(if fs::rename(room, &gone).is_ok() { &gone } else { room });
    }
    std::process::exit(signals::INTERRUPTED);
}

/// Removes a directory that results are made in, with what they have replaced.
fn remove(path: &Path) {
    // Without its index, who is still reading a sparse frame knows that it was taken away, and does
    // not call it damaged.
    for name in [NEW_NAME, OLD_NAME] {
        let _ = fs::remove_file(path.join(name).join(format::INDEX_NAME));
    }
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
        let mut output = Output::to(&directory.join("out.sframe"), Writing::SCRATCH).unwrap();
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
