//! Files that the functions of a program read and write.

use super::directory::ProgramDirectory;
use crate::code::{FILE_OPEN, Outcome};
use crate::structs::IoCallbacks;
use blosc_oxide::storage::{ReadAt, Storage};
use std::ffi::{CStr, CString, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// The functions of a program for files, and what it wants to have passed on to them.
#[derive(Clone, Copy)]
pub(crate) struct Callbacks {
    functions: &'static IoCallbacks,
    params: *mut c_void,
}

// SAFETY: the functions are called by one thread at a time for each file, and the program has given
// them for being called from where its super-chunk is used.
unsafe impl Send for Callbacks {}
// SAFETY: as above.
unsafe impl Sync for Callbacks {}

impl Callbacks {
    /// The functions that are registered under an id.
    ///
    /// # Safety
    /// `params` is what these functions expect, as long as the result is used.
    pub(crate) unsafe fn new(id: u8, params: *mut c_void) -> Option<Self> {
        super::functions(id).map(|functions| Self { functions, params })
    }

    /// A file.
    pub(crate) fn at(self, path: &Path) -> Outcome<ProgramFile> {
        let path = CString::new(path.as_os_str().as_bytes()).map_err(|_| FILE_OPEN)?;
        Ok(ProgramFile { callbacks: self, path, turn: Mutex::new(()) })
    }

    /// Files in a directory.
    pub(crate) fn in_directory(self, path: &Path) -> ProgramDirectory {
        ProgramDirectory::new(self, path)
    }
}

/// A file that a program's functions know of. It is opened for each call, as C-Blosc2 does, so that
/// all is written when a call has returned.
pub(crate) struct ProgramFile {
    callbacks: Callbacks,
    path: CString,
    turn: Mutex<()>,
}

/// A file that is open.
struct Stream {
    functions: &'static IoCallbacks,
    stream: *mut c_void,
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(close) = self.functions.close {
            // SAFETY: it was opened by the function beside it.
            unsafe { close(self.stream) };
        }
    }
}

fn missing(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("the program has no function to {what}"))
}

fn failed(what: &str) -> io::Error {
    io::Error::other(format!("the program's function to {what} has failed"))
}

impl ProgramFile {
    fn with<T>(&self, mode: &CStr, action: impl FnOnce(&Stream) -> io::Result<T>) -> io::Result<T> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Callbacks { functions, params } = self.callbacks;
        let open = functions.open.ok_or_else(|| missing("open"))?;
        // SAFETY: both are strings, and the parameters are what the function expects.
        let stream = unsafe { open(self.path.as_ptr(), mode.as_ptr(), params) };
        if stream.is_null() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the program cannot open it"));
        }
        action(&Stream { functions, stream })
    }

    /// Makes it an empty file, whatever there was.
    pub(crate) fn empty(&self) -> Outcome<()> {
        self.with(c"wb", |_| Ok(())).map_err(|_| FILE_OPEN)
    }

    /// Whether it can be opened.
    pub(super) fn check(&self, mode: &CStr) -> io::Result<()> {
        self.with(mode, |_| Ok(()))
    }
}

impl ReadAt for ProgramFile {
    fn len(&self) -> io::Result<u64> {
        self.with(c"rb", |file| {
            let size = file.functions.size.ok_or_else(|| missing("tell the size"))?;
            // SAFETY: the stream is open.
            u64::try_from(unsafe { size(file.stream) }).map_err(|_| failed("tell the size"))
        })
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        let len = i64::try_from(buffer.len()).map_err(io::Error::other)?;
        let position = i64::try_from(position).map_err(io::Error::other)?;
        if len == 0 {
            return Ok(());
        }
        self.with(c"rb", |file| {
            let read = file.functions.read.ok_or_else(|| missing("read"))?;
            let own: *mut c_void = buffer.as_mut_ptr().cast();
            let mut place = if file.functions.is_allocation_necessary { own } else { null_mut() };
            // SAFETY: there is room for as many bytes, if the function wants it.
            let count = unsafe { read(&raw mut place, 1, len, position, file.stream) };
            if count != len {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if place != own {
                if place.is_null() {
                    return Err(failed("read"));
                }
                // SAFETY: the function says that so many bytes are there; ours are in no other
                // place.
                unsafe { std::ptr::copy_nonoverlapping(place.cast::<u8>(), own.cast::<u8>(), buffer.len()) };
            }
            Ok(())
        })
    }
}

impl Storage for ProgramFile {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let len = i64::try_from(bytes.len()).map_err(io::Error::other)?;
        let position = i64::try_from(position).map_err(io::Error::other)?;
        self.with(c"rb+", |file| {
            let write = file.functions.write.ok_or_else(|| missing("write"))?;
            // SAFETY: there are so many bytes.
            let count = unsafe { write(bytes.as_ptr().cast(), 1, len, position, file.stream) };
            if count == len { Ok(()) } else { Err(failed("write")) }
        })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = i64::try_from(len).map_err(io::Error::other)?;
        self.with(c"rb+", |file| {
            let truncate = file.functions.truncate.ok_or_else(|| missing("truncate"))?;
            // SAFETY: the stream is open.
            if unsafe { truncate(file.stream, len) } == 0 { Ok(()) } else { Err(failed("truncate")) }
        })
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
