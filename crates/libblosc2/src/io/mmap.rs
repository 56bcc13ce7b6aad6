//! Files that are mapped into memory, for programs that call these functions themselves. A
//! super-chunk with this kind of input and output is read and written like any other file, since
//! the bytes are the same: only its mode counts.

use crate::code::{FAILURE, FILE_TRUNCATE, INVALID_PARAM, Outcome};
use crate::structs::StdioMmap;
use c_boundary::{memory, variables};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Write;
use std::path::Path;
use std::ptr::null_mut;

/// What may be done to a mapped file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    Create,
    /// Changes stay in memory.
    Private,
}

/// The mode that parameters say.
///
/// # Safety
/// `params` is NULL, or points to parameters of a map.
pub(crate) unsafe fn mode_of(params: *mut c_void) -> Outcome<Mode> {
    // SAFETY: the caller promises it.
    let params = unsafe { memory::shared(params.cast::<StdioMmap>().cast_const()) }.ok_or(INVALID_PARAM)?;
    // SAFETY: the mode is NULL or a string.
    match unsafe { memory::text(params.mode) }.map(CStr::to_bytes) {
        Some(b"r") => Ok(Mode::Read),
        Some(b"r+") => Ok(Mode::Write),
        Some(b"w+") => Ok(Mode::Create),
        Some(b"c") => Ok(Mode::Private),
        _ => Err(INVALID_PARAM),
    }
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "r",
            Self::Write => "r+",
            Self::Create => "w+",
            Self::Private => "c",
        }
    }
}

/// Says on stderr what is opened, as C-Blosc2 does, if the environment asks for it.
///
/// # Safety
/// As for [`mode_of`].
pub(crate) unsafe fn say(path: &Path, mode: Mode, params: *mut c_void) {
    if variables::text("BLOSC_INFO").is_none() {
        return;
    }
    // SAFETY: the caller promises it.
    let params = unsafe { memory::shared(params.cast::<StdioMmap>().cast_const()) };
    let len = std::fs::metadata(path).map_or(0, |facts| facts.len());
    let asked = params.and_then(|params| u64::try_from(params.initial_mapping_size).ok()).unwrap_or_default();
    let size = if mode == Mode::Read { len } else { asked };
    // Nobody may listen.
    let _ = writeln!(
        std::io::stderr(),
        "[INFO] - Opened memory-mapped file {} in mode {} with an mapping size of {size}.",
        path.display(),
        mode.name()
    );
}

/// The map that a stream is.
///
/// # Safety
/// `stream` is NULL, or comes from [`open`] and is not destroyed yet.
unsafe fn map<'a>(stream: *mut c_void) -> Option<&'a mut StdioMmap> {
    // SAFETY: the caller promises it.
    unsafe { memory::exclusive(stream.cast::<StdioMmap>()) }
}

/// # Safety
/// The contract of `blosc2_stdio_mmap_open`: the path is a string, `params` are parameters.
pub(crate) unsafe extern "C" fn open(urlpath: *const c_char, _mode: *const c_char, params: *mut c_void) -> *mut c_void {
    // SAFETY: the caller promises it.
    let (Some(path), Ok(mode)) = (unsafe { memory::text(urlpath) }, unsafe { mode_of(params) }) else {
        return null_mut();
    };
    // SAFETY: the caller promises it.
    let Some(fields) = (unsafe { map(params) }) else { return null_mut() };
    if !fields.addr.is_null() {
        // SAFETY: it was taken with `strdup`.
        let is_same = unsafe { memory::text(fields.urlpath) } == Some(path);
        return if is_same { params } else { null_mut() };
    }
    match fields.begin(path, mode) {
        Some(()) => params,
        None => {
            fields.end();
            null_mut()
        }
    }
}

impl StdioMmap {
    fn begin(&mut self, path: &CStr, mode: Mode) -> Option<()> {
        let how = match mode {
            Mode::Read | Mode::Private => c"rb",
            Mode::Write => c"rb+",
            Mode::Create => c"wb+",
        };
        // SAFETY: both are strings.
        self.file = unsafe { libc::fopen(path.as_ptr(), how.as_ptr()) };
        if self.file.is_null() {
            return None;
        }
        // SAFETY: the file is open.
        self.fd = unsafe { libc::fileno(self.file) };
        self.urlpath = memory::copy_for_c(path);
        self.is_memory_only = mode == Mode::Private;
        (self.access_flags, self.map_flags) = match mode {
            Mode::Read => (libc::PROT_READ.into(), libc::MAP_SHARED.into()),
            Mode::Write | Mode::Create => ((libc::PROT_READ | libc::PROT_WRITE).into(), libc::MAP_SHARED.into()),
            Mode::Private => {
                ((libc::PROT_READ | libc::PROT_WRITE).into(), (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS).into())
            }
        };
        self.file_size = self.size_on_disk()?;
        let room = if mode == Mode::Read { self.file_size } else { self.initial_mapping_size.max(self.file_size) };
        self.take(room.max(1))?;
        if mode == Mode::Private { self.fill() } else { Some(()) }
    }

    fn size_on_disk(&self) -> Option<usize> {
        // SAFETY: all of its fields can be zero.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the file is open, and the place is for this.
        let code = unsafe { libc::fstat(self.fd, &raw mut status) };
        usize::try_from(status.st_size).ok().filter(|_| code == 0)
    }

    /// Maps `len` bytes.
    fn take(&mut self, len: usize) -> Option<()> {
        let (access, flags) = (c_int::try_from(self.access_flags).ok()?, c_int::try_from(self.map_flags).ok()?);
        let fd = if self.is_memory_only { -1 } else { self.fd };
        // SAFETY: new memory is asked for, of a file that is open or of none.
        let place = unsafe { libc::mmap(null_mut(), len, access, flags, fd, 0) };
        if place == libc::MAP_FAILED {
            return None;
        }
        (self.addr, self.mapping_size) = (place.cast(), len);
        Some(())
    }

    /// Copies the file into private memory.
    fn fill(&self) -> Option<()> {
        // SAFETY: there is room for as many bytes, which nobody else knows of; the file is open.
        let read = unsafe { libc::fread(self.addr.cast(), 1, self.file_size, self.file) };
        (read == self.file_size).then_some(())
    }

    /// Makes the file, or the private copy, `size` bytes long.
    fn resize(&mut self, size: usize) -> Option<()> {
        if !self.is_memory_only {
            // SAFETY: the file is open.
            let code = unsafe { libc::ftruncate(self.fd, libc::off_t::try_from(size).ok()?) };
            if code != 0 {
                return None;
            }
        }
        if size > self.mapping_size {
            let (old, old_len) = (self.addr, self.mapping_size);
            self.take(size.max(old_len.saturating_mul(2)))?;
            if self.is_memory_only {
                // SAFETY: both have so many bytes, and do not overlap.
                unsafe { std::ptr::copy_nonoverlapping(old, self.addr, self.file_size) };
            }
            // SAFETY: it was mapped in `take`, and is not used any more.
            unsafe { libc::munmap(old.cast(), old_len) };
        }
        self.file_size = size;
        Some(())
    }

    /// Gives everything back.
    fn end(&mut self) -> c_int {
        let mut code = 0;
        if !self.addr.is_null() {
            // SAFETY: it was mapped in `take`, and is not used any more.
            code |= unsafe { libc::munmap(self.addr.cast(), self.mapping_size) };
        }
        if !self.file.is_null() {
            // SAFETY: it is open.
            code |= unsafe { libc::fclose(self.file) };
        }
        // SAFETY: it was taken with `strdup`, or is NULL.
        unsafe { memory::free(self.urlpath) };
        (self.addr, self.file, self.urlpath, self.fd) = (null_mut(), null_mut(), null_mut(), -1);
        code
    }
}

/// A map stays until it is destroyed, for the next time that the file is opened.
///
/// # Safety
/// Any pointer will do.
pub(crate) unsafe extern "C" fn close(stream: *mut c_void) -> c_int {
    if stream.is_null() { FAILURE } else { 0 }
}

/// # Safety
/// `stream` is NULL, or comes from [`open`] and is not destroyed yet.
pub(crate) unsafe extern "C" fn size(stream: *mut c_void) -> i64 {
    // SAFETY: the caller promises it.
    let Some(fields) = (unsafe { map(stream) }) else { return FAILURE.into() };
    i64::try_from(fields.file_size).unwrap_or(FAILURE.into())
}

/// Where a range of items begins and ends.
fn range(position: i64, size: i64, count: i64) -> Option<(usize, usize)> {
    let start = usize::try_from(position).ok()?;
    let len = usize::try_from(size).ok()?.checked_mul(usize::try_from(count).ok()?)?;
    Some((start, start.checked_add(len)?))
}

/// # Safety
/// As for [`size`]; `bytes` has as many items of the size.
pub(crate) unsafe extern "C" fn write(
    bytes: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: the caller promises it.
    let Some(fields) = (unsafe { map(stream) }) else { return 0 };
    let Some((start, end)) = range(position, size, nitems) else { return 0 };
    if fields.access_flags & i64::from(libc::PROT_WRITE) == 0 || bytes.is_null() {
        return 0;
    }
    if end > fields.file_size && fields.resize(end).is_none() {
        return 0;
    }
    let place = fields.addr.cast::<u8>().wrapping_add(start);
    // SAFETY: so many bytes are there in both, by the caller's promise and as compared above. They
    // may overlap.
    unsafe { std::ptr::copy(bytes.cast::<u8>(), place, end - start) };
    nitems
}

/// # Safety
/// As for [`size`]; `place` can be written to.
pub(crate) unsafe extern "C" fn read(
    place: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    // SAFETY: the caller promises it.
    let Some(fields) = (unsafe { map(stream) }) else { return 0 };
    let Some((start, end)) = range(position, size, nitems) else { return 0 };
    if end > fields.file_size {
        return 0;
    }
    // SAFETY: the caller promises it. The start is inside the map, as compared above.
    unsafe { memory::store(place, fields.addr.wrapping_add(start).cast()) };
    nitems
}

/// # Safety
/// As for [`size`].
pub(crate) unsafe extern "C" fn truncate(stream: *mut c_void, size: i64) -> c_int {
    // SAFETY: the caller promises it.
    let Some(fields) = (unsafe { map(stream) }) else { return FILE_TRUNCATE };
    let size = usize::try_from(size).ok();
    if size.and_then(|size| fields.resize(size)).is_some() { 0 } else { FILE_TRUNCATE }
}

/// # Safety
/// `params` is NULL, or parameters that are not used any more.
pub(crate) unsafe extern "C" fn destroy(params: *mut c_void) -> c_int {
    // SAFETY: the caller promises it.
    let Some(fields) = (unsafe { map(params) }) else { return 0 };
    let (code, needs_free) = (fields.end(), fields.needs_free);
    if needs_free {
        // SAFETY: the program has taken it with `malloc`, and says that it is to be freed here.
        unsafe { memory::free(params) };
    }
    code
}
