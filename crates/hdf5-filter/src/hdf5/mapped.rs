//! The libraries of the process.

use std::ffi::{CStr, CString, c_void};

/// A library that the process has mapped.
pub(super) struct Library(*mut c_void);

impl Library {
    /// Where a symbol is; NULL if the library has none of that name.
    pub(super) fn address(&self, name: &CStr) -> *mut c_void {
        // SAFETY: a library that is open, or what stands for all, and a string.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `F` is the type of a function pointer, and that of the function with this name.
    pub(super) unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let address = self.address(name);
        // SAFETY: it is not NULL, and as the caller promises the address of an `F`.
        (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if self.0 != libc::RTLD_DEFAULT {
            // SAFETY: `dlopen` gave it. Whoever has mapped the library keeps it.
            unsafe { libc::dlclose(self.0) };
        }
    }
}

/// Where HDF5 may be: what all of the process sees, and then each library that has HDF5 in its
/// name. A program that loads HDF5 for itself, as Python does for h5py, hides it from all others.
pub(super) fn libraries() -> Vec<Library> {
    let mut paths: Vec<CString> = Vec::new();
    list(&mut paths);
    let named = paths.iter().filter_map(|path| {
        // SAFETY: a string; with `RTLD_NOLOAD` nothing is loaded, and nothing is run.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        (!handle.is_null()).then_some(Library(handle))
    });
    std::iter::once(Library(libc::RTLD_DEFAULT)).chain(named).collect()
}

/// The paths of libraries that have HDF5 in their name.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn list(paths: &mut Vec<CString>) {
    // SAFETY: `note` takes what it is given here, and is done when this returns.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut *paths).cast()) };
}

#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
fn list(_paths: &mut Vec<CString>) {}

/// Notes the path of a library.
///
/// # Safety
/// `info` is what `dl_iterate_phdr` gives, and `paths` is a `Vec<CString>` that nobody else uses.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _size: usize, paths: *mut c_void) -> std::ffi::c_int {
    // SAFETY: the caller promises it.
    let name = unsafe { (*info).dlpi_name };
    if name.is_null() {
        return 0;
    }
    // SAFETY: a name that is there is a string.
    let path = unsafe { CStr::from_ptr(name) };
    let bytes = path.to_bytes();
    let file = bytes.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    if file.windows(4).any(|part| part == b"hdf5") {
        // SAFETY: the caller promises it.
        unsafe { (*paths.cast::<Vec<CString>>()).push(path.to_owned()) };
    }
    0
}
