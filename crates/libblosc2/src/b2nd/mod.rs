//! Arrays of C programs: super-chunks with a metalayer that says their shapes.

pub(crate) mod boxes;
mod copy;
pub(crate) mod fill;
mod join;
pub(crate) mod meta;
pub(crate) mod resize;
pub(crate) mod select;
pub(crate) mod shape;
pub(crate) mod slice;
mod sparse;
mod view;

use crate::code::{DATA, INVALID_PARAM, METALAYER_NOT_FOUND, NULL_POINTER, Outcome};
use crate::structs::{Array, Cparams, Dparams, Io, MAX_DIM, Metalayer, Schunk, Storage};
use crate::{defaults, schunk};
use c_boundary::memory;
use shape::Shapes;
use std::ffi::{CStr, CString, c_char};
use std::ptr::null_mut;

/// The names that the metalayer has and had.
const LAYERS: [&CStr; 2] = [c"b2nd", c"caterva"];
const DEFAULT_DTYPE: &CStr = c"|u1";

/// What an array is to be like. The first two fields are where programs look for them.
#[repr(C)]
pub(crate) struct Plan {
    pub(crate) ndim: i8,
    pub(crate) shape: [i64; MAX_DIM],
    pub(crate) chunks: [i32; MAX_DIM],
    pub(crate) blocks: [i32; MAX_DIM],
    pub(crate) dtype: CString,
    pub(crate) dtype_format: i8,
    contiguous: bool,
    /// Where it is stored, if it is not in memory.
    urlpath: Option<CString>,
    pub(crate) cparams: Cparams,
    dparams: Dparams,
    io: Io,
    metalayers: Vec<(CString, Vec<u8>)>,
}

const _: () = assert!(std::mem::offset_of!(Plan, ndim) == 0);
const _: () = assert!(std::mem::offset_of!(Plan, shape) == 8);

impl Plan {
    /// # Safety
    /// `storage` is NULL or a storage, and `metalayers` are what they should be.
    pub(crate) unsafe fn new(
        storage: *const Storage,
        shapes: &Shapes,
        (dtype, dtype_format): (Option<&CStr>, i8),
        metalayers: &[Metalayer],
    ) -> Outcome<Self> {
        shapes.check()?;
        // SAFETY: the caller promises it.
        let storage = unsafe { memory::shared(storage) }.copied().unwrap_or(defaults::STORAGE);
        // SAFETY: the caller promises it.
        let cparams = unsafe { memory::shared(storage.cparams) }.copied().unwrap_or(defaults::CPARAMS);
        // SAFETY: the caller promises it.
        let dparams = unsafe { memory::shared(storage.dparams) }.copied().unwrap_or(defaults::DPARAMS);
        // SAFETY: the caller promises it.
        let io = unsafe { memory::shared(storage.io) }.copied().unwrap_or(defaults::IO);
        // SAFETY: the caller promises it.
        let urlpath = unsafe { memory::text(storage.urlpath) }.map(CStr::to_owned);
        let mut own = Vec::with_capacity(metalayers.len());
        for layer in metalayers {
            // SAFETY: the caller promises it.
            let name = unsafe { memory::text(layer.name) }.ok_or(INVALID_PARAM)?;
            let len = usize::try_from(layer.content_len).map_err(|_| INVALID_PARAM)?;
            // SAFETY: the caller promises it.
            let content = unsafe { memory::input(layer.content.cast(), len) }.ok_or(INVALID_PARAM)?;
            own.push((name.to_owned(), content.to_vec()));
        }
        let mut plan = Self {
            ndim: 0,
            shape: [1; MAX_DIM],
            chunks: [1; MAX_DIM],
            blocks: [1; MAX_DIM],
            dtype: dtype.unwrap_or(DEFAULT_DTYPE).to_owned(),
            dtype_format,
            contiguous: storage.contiguous,
            urlpath,
            cparams,
            dparams,
            io,
            metalayers: own,
        };
        plan.set_shapes(shapes);
        Ok(plan)
    }

    pub(crate) fn set_shapes(&mut self, shapes: &Shapes) {
        self.ndim = i8::try_from(shapes.shape.len()).unwrap_or_default();
        for (axis, &len) in shapes.shape.iter().enumerate() {
            self.shape[axis] = len;
            self.chunks[axis] = shapes.chunks[axis];
            self.blocks[axis] = shapes.blocks[axis];
        }
    }

    pub(crate) fn shapes(&self) -> Shapes {
        let axes = usize::try_from(self.ndim).unwrap_or_default();
        Shapes {
            shape: self.shape[..axes].to_vec(),
            chunks: self.chunks[..axes].to_vec(),
            blocks: self.blocks[..axes].to_vec(),
        }
    }

    /// An array without chunks.
    pub(crate) fn begin(&self) -> Outcome<Box<Array>> {
        let shapes = self.shapes();
        shapes.check()?;
        let mut array = empty(null_mut());
        array.set_shapes(&shapes);
        let mut cparams = self.cparams;
        let typesize = i64::from(cparams.typesize.max(1));
        let size = |items: i64| i32::try_from(items.saturating_mul(typesize)).map_err(|_| INVALID_PARAM);
        cparams.blocksize = size(array.blocknitems.into())?;
        let chunksize = size(array.extchunknitems)?;
        let (mut dparams, mut io) = (self.dparams, self.io);
        let storage = Storage {
            contiguous: self.contiguous,
            urlpath: self.urlpath.as_ref().map_or(null_mut(), |path| path.as_ptr().cast_mut()),
            cparams: &raw mut cparams,
            dparams: &raw mut dparams,
            io: &raw mut io,
        };
        // SAFETY: the storage points to parameters that live until it returns.
        array.sc = unsafe { schunk::new(&raw const storage) }?;
        let made = array.describe(self, chunksize);
        match made {
            Ok(()) => Ok(array),
            Err(code) => {
                drop_array(array);
                Err(code)
            }
        }
    }
}

/// An array with nothing in it.
fn empty(sc: *mut Schunk) -> Box<Array> {
    // SAFETY: every field can be zero: numbers and NULL.
    let mut array = unsafe { Box::<Array>::new_zeroed().assume_init() };
    array.sc = sc;
    array.chunk_cache.nchunk = -1;
    array
}

/// Frees an array with its super-chunk.
#[allow(clippy::needless_pass_by_value, reason = "it is gone afterwards")]
pub(crate) fn drop_array(array: Box<Array>) {
    if !array.sc.is_null() {
        // SAFETY: it belongs to the array.
        unsafe { schunk::free(array.sc) };
    }
    // SAFETY: it was taken with `malloc`, or is NULL.
    unsafe { memory::free(array.dtype) };
    // SAFETY: it was taken with `malloc`, or is NULL.
    unsafe { memory::free(array.chunk_cache.data) };
}

impl Schunk {
    /// The shapes of the array that it is, if it is one.
    fn shapes_of_array(&self) -> Outcome<Option<Shapes>> {
        let Some(bytes) = LAYERS.iter().find_map(|name| self.meta(name)) else { return Ok(None) };
        let shapes = meta::read(bytes)?.shapes;
        shapes.check()?;
        Ok(Some(shapes))
    }

    /// How many axes it has; one, if it is no array.
    pub(crate) fn axes(&self) -> Outcome<usize> {
        Ok(self.shapes_of_array()?.map_or(1, |shapes| shapes.shape.len()))
    }

    /// The numbers of the chunks that have items between two positions.
    pub(crate) fn chunks_of(&self, start: &[i64], stop: &[i64]) -> Outcome<Vec<i64>> {
        let number = |index: usize| i64::try_from(index).map_err(|_| INVALID_PARAM);
        let Some(shapes) = self.shapes_of_array()? else {
            let pieces = self.pieces(*start.first().ok_or(INVALID_PARAM)?, *stop.first().ok_or(INVALID_PARAM)?)?;
            return pieces.iter().map(|piece| number(piece.index)).collect();
        };
        let chunk = |axis: usize| i64::from(shapes.chunks[axis].max(1));
        let axes = 0..shapes.shape.len();
        if axes.clone().any(|axis| start[axis] < 0 || stop[axis] > shapes.shape[axis]) {
            return Err(INVALID_PARAM);
        }
        if axes.clone().any(|axis| start[axis] >= stop[axis]) {
            return Ok(Vec::new());
        }
        let grid: Vec<i64> = axes.clone().map(|axis| (shapes.shape[axis] + chunk(axis) - 1) / chunk(axis)).collect();
        let first: Vec<i64> = axes.clone().map(|axis| start[axis] / chunk(axis)).collect();
        let end: Vec<i64> = axes.map(|axis| (stop[axis] - 1) / chunk(axis) + 1).collect();
        let strides = shape::strides(&grid);
        let mut found = Vec::new();
        shape::each_position(&first, &end, |place| {
            found.push(place.iter().zip(&strides).map(|(at, stride)| at * stride).sum());
            Ok(())
        })?;
        Ok(found)
    }
}

/// The array of a super-chunk, which belongs to it from then on.
pub(crate) fn of_schunk(sc: *mut Schunk) -> Outcome<Box<Array>> {
    // SAFETY: the caller's contract: a super-chunk that nobody else uses.
    let fields = unsafe { schunk::of_c(sc) }?;
    let meta = meta_of(fields)?;
    meta.shapes.check()?;
    let mut array = empty(sc);
    array.set_shapes(&meta.shapes);
    array.set_dtype(meta.dtype.as_deref().unwrap_or(DEFAULT_DTYPE), meta.dtype_format);
    let chunksize = array.extchunknitems.saturating_mul(fields.typesize.max(1).into());
    fields.chunksize = i32::try_from(chunksize).map_err(|_| INVALID_PARAM)?;
    fields.set_blockshape(&meta.shapes.blocks);
    Ok(array)
}

/// What the metalayer of a super-chunk says of its array.
fn meta_of(sc: &Schunk) -> Outcome<meta::Meta> {
    let found = LAYERS.iter().find_map(|name| sc.meta(name));
    meta::read(found.ok_or(METALAYER_NOT_FOUND)?)
}

/// The shape of the blocks of a super-chunk that is that of an array.
pub(crate) fn block_shape(sc: &Schunk) -> Option<Vec<i32>> {
    meta_of(sc).ok().map(|meta| meta.shapes.blocks)
}

/// The array that a pointer of C's points to.
///
/// # Safety
/// `array` is NULL, or an array that is not freed yet and not in use.
pub(crate) unsafe fn of_c<'a>(array: *mut Array) -> Outcome<&'a mut Array> {
    // SAFETY: the caller promises it.
    let array = unsafe { fields(array) }?;
    array.catch_up()?;
    Ok(array)
}

/// The array that a pointer of C's points to, as it is.
///
/// # Safety
/// As for [`of_c`].
pub(crate) unsafe fn fields<'a>(array: *mut Array) -> Outcome<&'a mut Array> {
    // SAFETY: the caller promises it.
    unsafe { memory::exclusive(array) }.ok_or(NULL_POINTER)
}

impl Array {
    /// Takes notice of another shape that somebody has given it in its file; whether somebody has.
    pub(crate) fn catch_up(&mut self) -> Outcome<bool> {
        let sc = self.schunk()?;
        if sc.disk().is_none() || sc.view || sc.change_tick == self.last_tick {
            return Ok(false);
        }
        self.follow_meta()
    }

    /// Has the shape that its metalayer says; whether it had another one.
    fn follow_meta(&mut self) -> Outcome<bool> {
        let sc = self.schunk()?;
        self.last_tick = sc.change_tick;
        let Some(shapes) = sc.shapes_of_array()? else { return Ok(false) };
        let known = self.shapes();
        if (&shapes.chunks, &shapes.blocks) != (&known.chunks, &known.blocks) {
            return Err(DATA);
        }
        let is_new = shapes.shape != known.shape;
        if is_new {
            self.set_shapes(&shapes);
        }
        Ok(is_new)
    }

    fn set_dtype(&mut self, dtype: &CStr, format: i8) {
        self.dtype = memory::copy_for_c(dtype);
        self.dtype_format = format;
    }

    /// Fills what a new array's super-chunk says of it.
    fn describe(&mut self, plan: &Plan, chunksize: i32) -> Outcome<()> {
        self.set_dtype(&plan.dtype, plan.dtype_format);
        let shapes = self.shapes();
        let bytes = meta::write(&shapes, &plan.dtype, plan.dtype_format)?;
        let sc = self.schunk()?;
        sc.add_meta(LAYERS[0], &bytes)?;
        for (name, content) in &plan.metalayers {
            sc.add_meta(name, content)?;
        }
        sc.chunksize = chunksize;
        sc.set_blockshape(&shapes.blocks);
        Ok(())
    }

    /// The super-chunk.
    pub(crate) fn schunk(&self) -> Outcome<&'static mut Schunk> {
        // SAFETY: it belongs to the array, which is not in use by others; the result is used during
        // one call.
        unsafe { schunk::of_c(self.sc) }
    }

    /// What its metalayer says.
    pub(crate) fn stored_meta(&self) -> Outcome<meta::Meta> {
        meta_of(self.schunk()?)
    }

    pub(crate) fn item(&self) -> Outcome<usize> {
        self.schunk()?.item()
    }

    /// How many bytes a chunk has.
    pub(crate) fn chunk_nbytes(&self) -> Outcome<usize> {
        let items = usize::try_from(self.extchunknitems).map_err(|_| INVALID_PARAM)?;
        items.checked_mul(self.item()?).ok_or(INVALID_PARAM)
    }

    /// Writes the shapes to the metalayer.
    pub(crate) fn write_meta(&self) -> Outcome<()> {
        // SAFETY: it is NULL or a string of the array's.
        let dtype = unsafe { memory::text(self.dtype.cast::<c_char>()) }.unwrap_or(DEFAULT_DTYPE);
        let bytes = meta::write(&self.shapes(), dtype, self.dtype_format)?;
        self.schunk()?.replace_meta(LAYERS[0], &bytes).map(drop)
    }
}
