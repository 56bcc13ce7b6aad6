//! Memory of other Python objects, which other threads may write to while a call works on it.
//!
//! A call releases the lock of the interpreter, and even one that holds it is not alone: NumPy
//! works without it. So memory that anybody can write to must not become a `&[u8]`, which promises
//! that its bytes stay what they are: a decoder may check a length and read it again, and go by the
//! second value. Nor may a `&mut [u8]` point to memory that others read and write.
//!
//! * The memory of a `bytes` object never changes, and is borrowed as it is. So is a read-only view
//!   of one, such as a NumPy array from `numpy.frombuffer`: its owner is looked for, and its
//!   address compared.
//! * All other memory is read once, by atomic loads, into memory of our own ([`Source::bytes`]),
//!   and written by atomic stores from memory of our own ([`Target::store`]). A load or store that
//!   another thread interferes with gives some value: wrong data, which the checks of the library
//!   then see as they see any other data.
//! * The memory of a `bytes` object that has just been made is known to nobody else, and is written
//!   to directly. It is not set before: whoever fills it writes all of it, or fails, and then the
//!   object is dropped.

use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyMemoryError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

const WORD: usize = size_of::<usize>();
/// How many owners of a view are looked at: NumPy makes the first array the base of all views of
/// it.
const MAX_OWNERS: usize = 4;

/// A buffer that is read.
pub(crate) struct Source {
    memory: Memory,
    len: usize,
    itemsize: usize,
}

enum Memory {
    /// Bytes of a `bytes` object, from this place on.
    Constant { owner: Py<PyBytes>, at: usize },
    /// Memory that anybody may write to.
    Shared(PyUntypedBuffer),
}

impl Source {
    /// The memory of an object with the buffer protocol.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            let len = bytes.as_bytes().len();
            return Ok(Self { memory: Memory::Constant { owner: bytes.clone().unbind(), at: 0 }, len, itemsize: 1 });
        }
        let (buffer, itemsize) = contiguous(object)?;
        let len = buffer.len_bytes();
        let memory = match constant_owner(object, &buffer)? {
            Some((owner, at)) => Memory::Constant { owner, at },
            None => Memory::Shared(buffer),
        };
        Ok(Self { memory, len, itemsize })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether [`bytes`](Self::bytes) has nothing to copy.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.memory, Memory::Constant { .. })
    }

    /// The size of an item, as the object tells it.
    pub(crate) fn itemsize(&self) -> usize {
        self.itemsize
    }

    /// The bytes: borrowed if they cannot change, or else copied to the start of `copy`.
    pub(crate) fn bytes<'s>(&'s self, copy: &'s mut Vec<u8>) -> &'s [u8] {
        match &self.memory {
            Memory::Constant { owner, at } => &constant_bytes(owner)[*at..*at + self.len],
            Memory::Shared(buffer) => {
                let copy = super::scratch::room(copy, self.len);
                // SAFETY: the buffer is contiguous and has `len_bytes()` bytes, which is the length
                // of `copy`; it is not released before `self` is dropped.
                unsafe { load(buffer.buf_ptr().cast(), copy) };
                copy
            }
        }
    }
}

/// The content of a `bytes` object, without the lock of the interpreter.
fn constant_bytes(owner: &Py<PyBytes>) -> &[u8] {
    let object = owner.as_ptr();
    // SAFETY: `object` is a `bytes` object; the function only computes an address in it.
    let start = unsafe { ffi::PyBytes_AsString(object) };
    // SAFETY: as above; the function only reads a length that never changes.
    let len = unsafe { ffi::PyBytes_Size(object) };
    // SAFETY: the object is alive as long as the reference that is borrowed here, and its bytes
    // never change.
    unsafe { std::slice::from_raw_parts(start.cast(), len.unsigned_abs()) }
}

/// The `bytes` object that a read-only buffer is inside of, and where.
fn constant_owner(object: &Bound<'_, PyAny>, buffer: &PyUntypedBuffer) -> PyResult<Option<(Py<PyBytes>, usize)>> {
    if !buffer.readonly() {
        return Ok(None);
    }
    let py = object.py();
    let mut owner = object.clone();
    for _ in 0..MAX_OWNERS {
        if let Ok(bytes) = owner.cast_exact::<PyBytes>() {
            let content = bytes.as_bytes();
            let at = (buffer.buf_ptr() as usize).wrapping_sub(content.as_ptr() as usize);
            let is_inside = at <= content.len() && buffer.len_bytes() <= content.len() - at;
            return Ok(is_inside.then(|| (bytes.clone().unbind(), at)));
        }
        let name = if owner.is_instance_of::<PyMemoryView>() { intern!(py, "obj") } else { intern!(py, "base") };
        match owner.getattr_opt(name)? {
            Some(next) => owner = next,
            None => break,
        }
    }
    Ok(None)
}

/// A buffer that is written to.
pub(crate) struct Target(PyUntypedBuffer);

impl Target {
    /// The memory of an object with the buffer protocol.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (buffer, _) = contiguous(object)?;
        if buffer.readonly() {
            return Err(PyBufferError::new_err("`out` is a read-only buffer"));
        }
        Ok(Self(buffer))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len_bytes()
    }

    /// Copies `bytes`, no more than it has, to its start.
    pub(crate) fn store(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.len(), "{} bytes for a buffer of {}", bytes.len(), self.len());
        // SAFETY: the buffer is contiguous and writable, and was just seen to be long enough; it is
        // not released before `self` is dropped.
        unsafe { store(bytes, self.0.buf_ptr().cast()) };
    }
}

/// The buffer of an object, in C order, and the size of its items.
fn contiguous(object: &Bound<'_, PyAny>) -> PyResult<(PyUntypedBuffer, usize)> {
    let py = object.py();
    // SAFETY: the object is alive; the function only looks at its type.
    if unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) } == 0 {
        let name = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a bytes-like object is required, not '{name}'")));
    }
    let buffer = match PyUntypedBuffer::get(object) {
        Ok(buffer) => buffer,
        // A buffer without dimensions has no list of them.
        Err(error) if error.is_instance_of::<PyBufferError>(py) => {
            let view = PyMemoryView::from(object)?;
            let bytes = view.call_method1(intern!(py, "cast"), ("B", [view.getattr("nbytes")?]))?;
            return Ok((PyUntypedBuffer::get(&bytes)?, view.getattr("itemsize")?.extract()?));
        }
        Err(error) => return Err(error),
    };
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("the buffer is not contiguous in C order"));
    }
    if holds_objects(buffer.format().to_bytes()) {
        return Err(PyTypeError::new_err("the buffer holds references to Python objects"));
    }
    let itemsize = buffer.item_size().max(1);
    Ok((buffer, itemsize))
}

/// Whether a format of the module `struct` has items that are Python objects; names of fields are
/// between colons.
fn holds_objects(format: &[u8]) -> bool {
    format.split(|&byte| byte == b':').step_by(2).any(|types| types.contains(&b'O'))
}

/// A new `bytes` object of `len` bytes that `fill` writes, with the lock of the interpreter
/// released.
pub(crate) fn new_bytes<'py, E: Send>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<(), E> + Send,
) -> PyResult<Result<Bound<'py, PyBytes>, E>> {
    let size = py_len(len)?;
    // SAFETY: a null pointer asks for an object whose bytes are not set yet.
    let object = unsafe { ffi::PyBytes_FromStringAndSize(std::ptr::null(), size) };
    // SAFETY: it is a new reference, or null with an exception set.
    let object = unsafe { Bound::from_owned_ptr_or_err(py, object) }?.cast_into::<PyBytes>()?;
    // SAFETY: it is a `bytes` object; the function only computes an address in it.
    let start = unsafe { ffi::PyBytes_AsString(object.as_ptr()) };
    // SAFETY: the object has `len` bytes, and nobody else knows of it, unless it is the empty one,
    // of which there is only one.
    let filled = unsafe { fill_new(py, start.cast(), len, fill) };
    Ok(filled.map(|()| object))
}

/// A new `bytearray` of `len` bytes that `fill` writes, with the lock of the interpreter released.
pub(crate) fn new_bytearray<'py, E: Send>(
    py: Python<'py>,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<(), E> + Send,
) -> PyResult<Result<Bound<'py, PyByteArray>, E>> {
    let size = py_len(len)?;
    // SAFETY: a null pointer asks for an object whose bytes are not set yet.
    let object = unsafe { ffi::PyByteArray_FromStringAndSize(std::ptr::null(), size) };
    // SAFETY: it is a new reference, or null with an exception set.
    let object = unsafe { Bound::from_owned_ptr_or_err(py, object) }?.cast_into::<PyByteArray>()?;
    // SAFETY: it is a `bytearray`; the function only computes an address in it.
    let start = unsafe { ffi::PyByteArray_AsString(object.as_ptr()) };
    // SAFETY: the object has `len` bytes, and nobody else knows of it.
    let filled = unsafe { fill_new(py, start.cast(), len, fill) };
    Ok(filled.map(|()| object))
}

fn py_len(len: usize) -> PyResult<ffi::Py_ssize_t> {
    ffi::Py_ssize_t::try_from(len)
        .map_err(|_| PyMemoryError::new_err(format!("{len} bytes are more than there can be")))
}

/// Lets `fill` write the memory of a new object.
///
/// # Safety
/// `len` bytes can be written from `start` on, and nobody else does.
unsafe fn fill_new<E: Send>(
    py: Python<'_>,
    start: *mut u8,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<(), E> + Send,
) -> Result<(), E> {
    if len == 0 {
        return fill(&mut []);
    }
    let start = start as usize;
    py.detach(|| {
        let start = start as *mut u8;
        // SAFETY: the caller vouches for the bytes.
        unsafe { settle(start, len) };
        // SAFETY: as above; they were just settled.
        fill(unsafe { std::slice::from_raw_parts_mut(start, len) })
    })
}

/// Makes memory that Python has allocated, and nobody has written yet, memory that holds some
/// bytes: those that are there. To set them all would cost up to a third of what decoding does.
///
/// # Safety
/// `len` bytes can be written from `start` on, and nobody else does.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe fn settle(start: *mut u8, _len: usize) {
    // SAFETY: it is no instruction at all. But it may write memory as far as the compiler knows,
    // which so has to take the bytes for written.
    unsafe { std::arch::asm!("/* {0} */", in(reg) start, options(nostack, preserves_flags)) };
}

/// The same where the compiler cannot be told so: all bytes are set.
///
/// # Safety
/// As above.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn settle(start: *mut u8, len: usize) {
    // SAFETY: the caller vouches for the bytes.
    unsafe { start.write_bytes(0, len) };
}

/// Copies `to.len()` bytes, each of them read once.
///
/// # Safety
/// As many bytes can be read from `from` on. Others may write to them meanwhile.
unsafe fn load(from: *const u8, to: &mut [u8]) {
    let head = from.align_offset(WORD).min(to.len());
    let (head, rest) = to.split_at_mut(head);
    let (words, tail) = rest.as_chunks_mut::<WORD>();
    let first_word = from.wrapping_add(head.len());
    let after_words = first_word.wrapping_add(words.len() * WORD);
    for (index, byte) in head.iter_mut().enumerate() {
        // SAFETY: the caller vouches for the byte.
        *byte = unsafe { load_byte(from.wrapping_add(index)) };
    }
    for (index, word) in words.iter_mut().enumerate() {
        // SAFETY: the caller vouches for these bytes, and the address is a multiple of their
        // number.
        let atomic = unsafe { &*first_word.wrapping_add(index * WORD).cast::<AtomicUsize>() };
        #[expect(clippy::host_endian_bytes, reason = "the bytes keep the order that they have in memory")]
        {
            *word = atomic.load(Ordering::Relaxed).to_ne_bytes();
        }
    }
    for (index, byte) in tail.iter_mut().enumerate() {
        // SAFETY: the caller vouches for the byte.
        *byte = unsafe { load_byte(after_words.wrapping_add(index)) };
    }
}

/// # Safety
/// The byte can be read.
unsafe fn load_byte(from: *const u8) -> u8 {
    // SAFETY: the caller vouches for it; a byte is always aligned.
    unsafe { &*from.cast::<AtomicU8>() }.load(Ordering::Relaxed)
}

/// Copies all of `from`, each byte written once.
///
/// # Safety
/// As many bytes can be written from `to` on. Others may read and write them meanwhile.
unsafe fn store(from: &[u8], to: *mut u8) {
    let head = to.align_offset(WORD).min(from.len());
    let (head, rest) = from.split_at(head);
    let (words, tail) = rest.as_chunks::<WORD>();
    let first_word = to.wrapping_add(head.len());
    let after_words = first_word.wrapping_add(words.len() * WORD);
    for (index, &byte) in head.iter().enumerate() {
        // SAFETY: the caller vouches for the byte.
        unsafe { store_byte(byte, to.wrapping_add(index)) };
    }
    for (index, word) in words.iter().enumerate() {
        // SAFETY: the caller vouches for these bytes, and the address is a multiple of their
        // number.
        let atomic = unsafe { &*first_word.wrapping_add(index * WORD).cast::<AtomicUsize>() };
        #[expect(clippy::host_endian_bytes, reason = "the bytes keep the order that they have in memory")]
        atomic.store(usize::from_ne_bytes(*word), Ordering::Relaxed);
    }
    for (index, &byte) in tail.iter().enumerate() {
        // SAFETY: the caller vouches for the byte.
        unsafe { store_byte(byte, after_words.wrapping_add(index)) };
    }
}

/// # Safety
/// The byte can be written.
unsafe fn store_byte(byte: u8, to: *mut u8) {
    // SAFETY: the caller vouches for it; a byte is always aligned.
    unsafe { &*to.cast::<AtomicU8>() }.store(byte, Ordering::Relaxed);
}
