//! Super-chunks of C-Blosc2.

use super::{CParams, DParams, Params, Peer, int};
use libloading::Library;
use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Where a super-chunk is, as `blosc2.h` lays it out.
#[repr(C)]
pub(super) struct Storage {
    contiguous: bool,
    urlpath: *const c_char,
    cparams: *const CParams,
    dparams: *const c_void,
    io: *const c_void,
}

impl Storage {
    /// A storage in memory.
    pub(super) fn in_memory(cparams: &CParams, dparams: &DParams) -> Self {
        let null = std::ptr::null();
        Self { contiguous: false, urlpath: null, cparams, dparams: (&raw const *dparams).cast(), io: null.cast() }
    }
}

type Schunk = *mut c_void;
type VlMeta = unsafe extern "C" fn(Schunk, *const c_char, *const u8, i32, *const c_void) -> c_int;

/// The functions of the library that work on super-chunks.
pub(super) struct Functions {
    new: unsafe extern "C" fn(*const Storage) -> Schunk,
    open: unsafe extern "C" fn(*const c_char) -> Schunk,
    free: unsafe extern "C" fn(Schunk) -> c_int,
    append: unsafe extern "C" fn(Schunk, *const c_void, i32) -> i64,
    update: unsafe extern "C" fn(Schunk, i64, *const u8, bool) -> i64,
    decompress: unsafe extern "C" fn(Schunk, i64, *mut c_void, i32) -> c_int,
    slice: unsafe extern "C" fn(Schunk, i64, i64, *mut c_void) -> c_int,
    to_file: unsafe extern "C" fn(Schunk, *const c_char) -> i64,
    vlmeta_add: VlMeta,
    vlmeta_update: VlMeta,
}

impl Functions {
    pub(super) fn load(library: &Library) -> Result<Self, libloading::Error> {
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type that it is stored as is the one that blosc2.h declares for this
                // name.
                unsafe { *library.get($name)? }
            };
        }
        Ok(Self {
            new: function!(b"blosc2_schunk_new"),
            open: function!(b"blosc2_schunk_open"),
            free: function!(b"blosc2_schunk_free"),
            append: function!(b"blosc2_schunk_append_buffer"),
            update: function!(b"blosc2_schunk_update_chunk"),
            decompress: function!(b"blosc2_schunk_decompress_chunk"),
            slice: function!(b"blosc2_schunk_get_slice_buffer"),
            to_file: function!(b"blosc2_schunk_to_file"),
            vlmeta_add: function!(b"blosc2_vlmeta_add"),
            vlmeta_update: function!(b"blosc2_vlmeta_update"),
        })
    }
}

/// A super-chunk of the library.
pub(crate) struct PeerFrame<'p> {
    functions: &'p Functions,
    schunk: Schunk,
}

impl Peer {
    /// A super-chunk in memory.
    pub(crate) fn memory_frame(&self, params: Params) -> PeerFrame<'_> {
        let cparams = CParams::new(params);
        let null = std::ptr::null();
        let storage = Storage {
            contiguous: false,
            urlpath: null,
            cparams: &raw const cparams,
            dparams: null.cast(),
            io: null.cast(),
        };
        // SAFETY: the structures are laid out as the library declares them, and it copies what it
        // keeps.
        let schunk = unsafe { (self.frames.new)(&raw const storage) };
        PeerFrame::new(&self.frames, schunk)
    }

    /// A super-chunk in a new file.
    pub(crate) fn new_frame(&self, params: Params, path: &Path) -> PeerFrame<'_> {
        let (cparams, path) = (CParams::new(params), c_path(path));
        let null = std::ptr::null();
        let storage =
            Storage { contiguous: true, urlpath: path.as_ptr(), cparams: &raw const cparams, dparams: null, io: null };
        // SAFETY: the structures are laid out as the library declares them, the path ends with a
        // zero byte, and it copies what it keeps.
        let schunk = unsafe { (self.frames.new)(&raw const storage) };
        PeerFrame::new(&self.frames, schunk)
    }

    /// Opens the frame in a file.
    pub(crate) fn open_frame(&self, path: &Path) -> PeerFrame<'_> {
        let path = c_path(path);
        // SAFETY: the path ends with a zero byte.
        let schunk = unsafe { (self.frames.open)(path.as_ptr()) };
        PeerFrame::new(&self.frames, schunk)
    }
}

impl<'p> PeerFrame<'p> {
    fn new(functions: &'p Functions, schunk: Schunk) -> Self {
        assert!(!schunk.is_null(), "C-Blosc2 makes no super-chunk");
        Self { functions, schunk }
    }

    /// Compresses a buffer and appends it.
    pub(crate) fn append(&mut self, buffer: &[u8]) {
        // SAFETY: the super-chunk is alive, and the buffer has the length that is given.
        let nchunks = unsafe { (self.functions.append)(self.schunk, buffer.as_ptr().cast(), int(buffer.len())) };
        assert!(nchunks > 0, "C-Blosc2 fails to append: {nchunks}");
    }

    /// Puts a chunk in place of another.
    pub(crate) fn update(&mut self, index: usize, chunk: &[u8]) {
        // SAFETY: the super-chunk is alive, and the chunk, whose header tells its length, is
        // copied.
        let nchunks = unsafe { (self.functions.update)(self.schunk, long(index), chunk.as_ptr(), true) };
        assert!(nchunks > 0, "C-Blosc2 fails to update: {nchunks}");
    }

    /// Decompresses a chunk.
    pub(crate) fn decompress(&mut self, index: usize, dst: &mut [u8]) {
        // SAFETY: the super-chunk is alive, and the buffer has the length that is given.
        let len =
            unsafe { (self.functions.decompress)(self.schunk, long(index), dst.as_mut_ptr().cast(), int(dst.len())) };
        assert_eq!(usize::try_from(len), Ok(dst.len()), "C-Blosc2 fails to decompress a chunk");
    }

    /// Reads one item of `dst.len()` bytes, the size of items.
    pub(crate) fn item(&mut self, index: usize, dst: &mut [u8]) {
        self.slice(index, index + 1, dst);
    }

    /// Reads the items from `start` to `stop`, of which `dst` has the length.
    pub(crate) fn slice(&mut self, start: usize, stop: usize, dst: &mut [u8]) {
        // SAFETY: the super-chunk is alive, and the buffer takes the items.
        let code = unsafe { (self.functions.slice)(self.schunk, long(start), long(stop), dst.as_mut_ptr().cast()) };
        assert_eq!(code, 0, "C-Blosc2 fails to read items");
    }

    /// Writes the whole super-chunk to a new file.
    pub(crate) fn write_to(&mut self, path: &Path) {
        let path = c_path(path);
        // SAFETY: the super-chunk is alive, and the path ends with a zero byte.
        let len = unsafe { (self.functions.to_file)(self.schunk, path.as_ptr()) };
        assert!(len > 0, "C-Blosc2 fails to write a file: {len}");
    }

    /// Adds a variable-length metalayer.
    pub(crate) fn add_vlmetalayer(&mut self, name: &str, content: &[u8]) {
        self.change_vlmetalayer(self.functions.vlmeta_add, name, content);
    }

    /// Changes a variable-length metalayer.
    pub(crate) fn update_vlmetalayer(&mut self, name: &str, content: &[u8]) {
        self.change_vlmetalayer(self.functions.vlmeta_update, name, content);
    }

    fn change_vlmetalayer(&mut self, change: VlMeta, name: &str, content: &[u8]) {
        let name = CString::new(name).expect("a name without zeros");
        // SAFETY: the super-chunk is alive, the name ends with a zero byte, and the content has the
        // length that is given.
        let code =
            unsafe { change(self.schunk, name.as_ptr(), content.as_ptr(), int(content.len()), std::ptr::null()) };
        assert!(code >= 0, "C-Blosc2 fails to change a metalayer: {code}");
    }
}

impl Drop for PeerFrame<'_> {
    fn drop(&mut self) {
        // SAFETY: the super-chunk is alive, and nobody has it after this.
        unsafe { (self.functions.free)(self.schunk) };
    }
}

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("a path without zeros")
}

fn long(index: usize) -> i64 {
    i64::try_from(index).expect("frames here are small")
}
