//! Bytes in a file, with positioned reads and writes.

use super::{ReadAt, Storage, WriteRight, plain};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Storage in a file.
///
/// ```
/// use blosc_oxide::storage::{FileStorage, ReadAt, Storage};
/// # let path = std::env::temp_dir().join(format!("blosc-oxide-file-{}", std::process::id()));
/// let file = FileStorage::create_new(&path)?;
/// file.write_at(0, b"some data")?;
/// let mut end = [0; 4];
/// file.read_at(5, &mut end)?;
/// assert_eq!(&end, b"data");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct FileStorage {
    file: File,
}

impl FileStorage {
    /// Opens a file for reading; writes will fail.
    ///
    /// # Errors
    /// `InvalidInput` if it is a pipe, a device or anything else but a regular file; else what the
    /// operating system reports.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { file: plain::open(path.as_ref(), OpenOptions::new().read(true))? })
    }

    /// Opens a file for reading and writing.
    ///
    /// # Errors
    /// As [`open`](Self::open); else what the operating system reports.
    pub fn open_writable(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { file: plain::open(path.as_ref(), OpenOptions::new().read(true).write(true))? })
    }

    /// Makes a new file, which must not be there yet.
    ///
    /// # Errors
    /// `AlreadyExists` if it is; else what the operating system reports.
    pub fn create_new(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self { file: OpenOptions::new().read(true).write(true).create_new(true).open(path)? })
    }

    /// Makes a file, or empties the one that is there.
    ///
    /// # Errors
    /// What the operating system reports.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let options = &mut OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        Ok(Self { file: plain::open(path.as_ref(), options)? })
    }

    /// Identifies the file, by whatever path it was opened; `None` where the system has no such
    /// number.
    #[cfg(feature = "frame")]
    pub(crate) fn identity(&self) -> io::Result<Option<plain::FileIdentity>> {
        plain::identity(&self.file)
    }

    /// The file by itself.
    #[cfg_attr(not(feature = "bloscpack"), expect(dead_code, reason = "only Bloscpack files are locked themselves"))]
    pub(crate) fn into_file(self) -> File {
        self.file
    }
}

impl From<File> for FileStorage {
    fn from(file: File) -> Self {
        Self { file }
    }
}

impl ReadAt for FileStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    #[cfg(unix)]
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, position)
    }

    #[cfg(windows)]
    fn read_at(&self, mut position: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        use std::os::windows::fs::FileExt;
        while !buffer.is_empty() {
            match self.file.seek_read(buffer, position) {
                Ok(0) => return Err(super::unexpected_end()),
                Ok(read) => {
                    buffer = &mut buffer[read..];
                    position += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[cfg(not(any(unix, windows)))]
    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(position))?;
        file.read_exact(buffer)
    }
}

impl Storage for FileStorage {
    #[cfg(unix)]
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, position)
    }

    #[cfg(not(unix))]
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        use std::io::{Seek, SeekFrom, Write};
        let mut file = &self.file;
        file.seek(SeekFrom::Start(position))?;
        file.write_all(bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn own(&self) -> io::Result<Option<WriteRight>> {
        plain::own(self.file.try_clone()?)
    }
}
