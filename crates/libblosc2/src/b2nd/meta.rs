//! The metalayer that makes an array of a super-chunk: shapes and dtype in msgpack.

use super::shape::Shapes;
use crate::code::{FAILURE, INVALID_PARAM, Outcome};
use crate::structs::MAX_DIM;
use std::ffi::{CStr, CString};
use std::fmt;

const VERSION: u8 = 0;
const ENTRIES: u8 = 7;
const FIX_ARRAY: u8 = 0x90;
const INT64: u8 = 0xd3;
const INT32: u8 = 0xd2;
const STR32: u8 = 0xdb;

/// What the metalayer says.
#[derive(Clone)]
pub(crate) struct Meta {
    pub(crate) shapes: Shapes,
    pub(crate) dtype: Option<CString>,
    pub(crate) dtype_format: i8,
    /// How long the metalayer is.
    pub(crate) len: usize,
}

impl fmt::Display for Meta {
    /// As `b2nd_print_meta` prints it, but for the end of the last line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shapes { shape, chunks, blocks } = &self.shapes;
        writeln!(f, "b2nd metalayer parameters:\n Ndim:       {}", shape.len())?;
        writeln!(f, " shape:      {}", list(shape))?;
        writeln!(f, " chunkshape: {}", list(chunks))?;
        if let Some(dtype) = &self.dtype {
            writeln!(f, " dtype: {}", dtype.to_string_lossy())?;
        }
        write!(f, " blockshape: {}", list(blocks))
    }
}

fn list<T: ToString>(lens: &[T]) -> String {
    lens.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The bytes of the metalayer.
pub(crate) fn write(shapes: &Shapes, dtype: &CStr, dtype_format: i8) -> Outcome<Vec<u8>> {
    let ndim =
        u8::try_from(shapes.shape.len()).ok().filter(|&ndim| usize::from(ndim) <= MAX_DIM).ok_or(INVALID_PARAM)?;
    let list = if ndim < 16 { vec![FIX_ARRAY | ndim] } else { vec![FIX_ARRAY] };
    let mut bytes = vec![FIX_ARRAY | ENTRIES, VERSION, ndim];
    bytes.extend(&list);
    for len in &shapes.shape {
        bytes.push(INT64);
        bytes.extend(len.to_be_bytes());
    }
    for lens in [&shapes.chunks, &shapes.blocks] {
        bytes.extend(&list);
        for len in lens {
            bytes.push(INT32);
            bytes.extend(len.to_be_bytes());
        }
    }
    bytes.extend([dtype_format.cast_unsigned(), STR32]);
    let text = dtype.to_bytes();
    bytes.extend(u32::try_from(text.len()).map_err(|_| INVALID_PARAM)?.to_be_bytes());
    bytes.extend(text);
    Ok(bytes)
}

/// Reads the metalayer.
pub(crate) fn read(bytes: &[u8]) -> Outcome<Meta> {
    let mut rest = Rest(bytes);
    let [_, _, ndim] = rest.take()?;
    let ndim = usize::from(ndim);
    if ndim > MAX_DIM {
        return Err(FAILURE);
    }
    rest.take::<1>()?;
    let mut shape = Vec::with_capacity(ndim);
    for _ in 0..ndim {
        rest.take::<1>()?;
        shape.push(i64::from_be_bytes(rest.take()?));
    }
    let mut lists = [Vec::new(), Vec::new()];
    for list in &mut lists {
        rest.take::<1>()?;
        for _ in 0..ndim {
            rest.take::<1>()?;
            list.push(i32::from_be_bytes(rest.take()?));
        }
    }
    let [chunks, blocks] = lists;
    let (mut dtype, mut dtype_format) = (None, 0);
    if !rest.0.is_empty() {
        let [format, marker] = rest.take()?;
        if marker != STR32 {
            return Err(FAILURE);
        }
        let len = usize::try_from(i32::from_be_bytes(rest.take()?)).map_err(|_| FAILURE)?;
        let (text, behind) = rest.0.split_at_checked(len).ok_or(FAILURE)?;
        rest.0 = behind;
        dtype_format = format.cast_signed();
        dtype = Some(CString::new(text).map_err(|_| FAILURE)?);
    }
    Ok(Meta { shapes: Shapes { shape, chunks, blocks }, dtype, dtype_format, len: bytes.len() - rest.0.len() })
}

/// What is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Outcome<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(FAILURE)?;
        self.0 = rest;
        Ok(*taken)
    }
}
