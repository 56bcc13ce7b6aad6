//! Super-chunks of C programs. The struct of blosc2.h is the source of truth: programs read and
//! write its fields, so each function begins with what they say now.

pub(crate) mod chunks;
pub(crate) mod disk;
pub(crate) mod edit;
pub(crate) mod frames;
pub(crate) mod meta;
pub(crate) mod slices;

use crate::code::{INVALID_PARAM, NULL_POINTER, Outcome};
use crate::context::{Context, PANICKED};
use crate::exports::contexts::{new_cctx, new_dctx};
use crate::frame::{Buffer, Frame};
use crate::io;
use crate::structs::{Cparams, Dparams, Io, Schunk, Storage};
use crate::{b2nd, defaults, tuner};
use c_boundary::{guarded, memory};
use std::ffi::c_void;
use std::ptr::null_mut;

/// There is no chunk yet that would tell the size of all.
const NO_CHUNKSIZE: i32 = -1;

/// The super-chunk that a pointer of C's points to, with all that others have made of what is
/// stored.
///
/// # Safety
/// `schunk` is NULL, or a super-chunk that is not freed yet and not in use.
pub(crate) unsafe fn of_c<'a>(schunk: *mut Schunk) -> Outcome<&'a mut Schunk> {
    // SAFETY: the caller promises it.
    let schunk = unsafe { fields(schunk) }?;
    guarded(Err(PANICKED), || schunk.catch_up())?;
    Ok(schunk)
}

/// The super-chunk that a pointer of C's points to, as it is.
///
/// # Safety
/// As for [`of_c`].
pub(crate) unsafe fn fields<'a>(schunk: *mut Schunk) -> Outcome<&'a mut Schunk> {
    // SAFETY: the caller promises it.
    unsafe { memory::exclusive(schunk) }.ok_or(NULL_POINTER)
}

/// An empty super-chunk, in memory that C may look into; its chunks are where the storage says.
///
/// # Safety
/// `storage` is NULL or a storage, whose pointers are NULL or point to what they are for.
pub(crate) unsafe fn new(storage: *const Storage) -> Outcome<*mut Schunk> {
    // SAFETY: the caller promises it.
    let asked = unsafe { memory::shared(storage) }.copied().unwrap_or(defaults::STORAGE);
    // SAFETY: the caller promises it.
    let cparams = unsafe { memory::shared(asked.cparams) }.copied().unwrap_or(defaults::CPARAMS);
    // SAFETY: the caller promises it.
    let dparams = unsafe { memory::shared(asked.dparams) }.copied().unwrap_or(defaults::DPARAMS);
    // SAFETY: the caller promises it.
    let io = unsafe { memory::shared(asked.io) }.copied().unwrap_or(defaults::IO);
    // SAFETY: every field can be zero: numbers, NULL, and functions that are not there.
    let schunk = Box::into_raw(unsafe { Box::<Schunk>::new_zeroed().assume_init() });
    // SAFETY: it was made just now.
    let made = unsafe { of_c(schunk) }.and_then(|fields| {
        // SAFETY: the parameters are those of the storage.
        unsafe { fields.begin(schunk, asked.contiguous, cparams, dparams, io) }?;
        // SAFETY: the caller promises it.
        match unsafe { memory::text(asked.urlpath) } {
            // SAFETY: the caller promises it.
            Some(path) => unsafe { fields.create(path, asked.contiguous, &io) },
            None => Ok(()),
        }
    });
    match made {
        Ok(()) => Ok(schunk),
        Err(code) => {
            // SAFETY: it was made above, and nobody has seen it.
            unsafe { free(schunk) };
            Err(code)
        }
    }
}

/// Frees a super-chunk with all that it has.
///
/// # Safety
/// `schunk` comes from [`new`], and is not used any more.
pub(crate) unsafe fn free(schunk: *mut Schunk) {
    // SAFETY: the caller promises it.
    let mut schunk = unsafe { Box::from_raw(schunk) };
    if !schunk.view {
        schunk.drop_chunks();
    }
    schunk.drop_layers();
    for context in [schunk.cctx, schunk.dctx] {
        if !context.is_null() {
            // SAFETY: contexts of a super-chunk are its own, whether it or the program has made
            // them.
            unsafe { tuner::release(context) };
        }
    }
    if !schunk.frame.is_null() && !schunk.view {
        // SAFETY: it was made of a box, and belongs to this super-chunk.
        drop(unsafe { Box::from_raw(schunk.frame) });
    }
    // SAFETY: it was taken with `malloc`, or is NULL.
    unsafe { memory::free(schunk.blockshape) };
    if !schunk.storage.is_null() {
        // SAFETY: it was made of a box in `begin`.
        let storage = unsafe { Box::from_raw(schunk.storage) };
        // SAFETY: it was made of a box in `begin`.
        drop(unsafe { Box::from_raw(storage.cparams) });
        // SAFETY: it was made of a box in `begin`.
        drop(unsafe { Box::from_raw(storage.dparams) });
        // SAFETY: it was made of a box in `begin`.
        let io = unsafe { Box::from_raw(storage.io) };
        // SAFETY: the frame, which has used them, is dropped above.
        unsafe { io::release(&io) };
        // SAFETY: it was taken with `malloc`, or is NULL.
        unsafe { memory::free(storage.urlpath) };
    }
}

impl Schunk {
    /// Fills the fields of a new one.
    ///
    /// # Safety
    /// `own` points to this super-chunk, and the parameters are those of a storage.
    unsafe fn begin(
        &mut self,
        own: *mut Self,
        contiguous: bool,
        mut cparams: Cparams,
        mut dparams: Dparams,
        io: Io,
    ) -> Outcome<()> {
        let own: *mut c_void = own.cast();
        (cparams.schunk, dparams.schunk) = (own, own);
        let storage = Storage {
            contiguous,
            urlpath: null_mut(),
            cparams: Box::into_raw(Box::new(cparams)),
            dparams: Box::into_raw(Box::new(dparams)),
            io: Box::into_raw(Box::new(io)),
        };
        self.storage = Box::into_raw(Box::new(storage));
        // SAFETY: the caller promises it.
        let cctx = unsafe { new_cctx(cparams) }?;
        self.take_cparams(&cctx.cparams);
        self.cctx = tuner::placed(cctx)?;
        // SAFETY: the caller promises it.
        self.dctx = Box::into_raw(Box::new(unsafe { new_dctx(dparams) }));
        self.chunksize = NO_CHUNKSIZE;
        Ok(())
    }

    fn take_cparams(&mut self, cparams: &Cparams) {
        self.compcode = cparams.compcode;
        self.compcode_meta = cparams.compcode_meta;
        self.clevel = cparams.clevel;
        self.splitmode = u8::try_from(cparams.splitmode).unwrap_or_default();
        self.typesize = cparams.typesize;
        self.blocksize = cparams.blocksize;
        self.use_dict = u8::from(cparams.use_dict != 0);
        self.filters = cparams.filters;
        self.filters_meta = cparams.filters_meta;
        self.tuner_params = cparams.tuner_params;
        self.tuner_id = cparams.tuner_id;
    }

    /// The parameters that its chunks are made with, by its fields.
    pub(crate) fn cparams(&self) -> Cparams {
        let mut cparams = defaults::CPARAMS;
        // SAFETY: it is NULL, or a context of this super-chunk.
        if let Some(context) = unsafe { memory::shared(self.cctx) } {
            cparams = context.cparams;
        }
        cparams.compcode = self.compcode;
        cparams.compcode_meta = self.compcode_meta;
        cparams.clevel = self.clevel;
        cparams.splitmode = self.splitmode.into();
        cparams.typesize = self.typesize;
        cparams.blocksize = self.blocksize;
        cparams.use_dict = self.use_dict.into();
        cparams.filters = self.filters;
        cparams.filters_meta = self.filters_meta;
        cparams
    }

    /// The parameters that its chunks are read with.
    pub(crate) fn dparams(&self) -> Dparams {
        // SAFETY: it is NULL, or a context of this super-chunk.
        unsafe { memory::shared(self.dctx) }.map_or(defaults::DPARAMS, |context| context.dparams)
    }

    /// What compresses, for the chunk of this number.
    pub(crate) fn writer(&mut self, nchunk: i64) -> Outcome<&mut Context> {
        // SAFETY: it is NULL, or a context of this super-chunk, which nobody else uses.
        let context = unsafe { memory::exclusive(self.cctx) }.ok_or(INVALID_PARAM)?;
        self.current_nchunk = nchunk;
        context.nchunk = nchunk;
        self.tell_block_shape(context);
        Ok(context)
    }

    /// What decompresses, for the chunk of this number.
    pub(crate) fn reader(&mut self, nchunk: i64) -> Outcome<&'static mut Context> {
        // SAFETY: it is NULL, or a context of this super-chunk, which nobody else uses; the result
        // is used during one call.
        let context = unsafe { memory::exclusive(self.dctx) }.ok_or(INVALID_PARAM)?;
        self.current_nchunk = nchunk;
        context.nchunk = nchunk;
        self.tell_block_shape(context);
        Ok(context)
    }

    /// Tells a context the shape of blocks, if the super-chunk is that of an array.
    fn tell_block_shape(&mut self, context: &mut Context) {
        if self.blockshape.is_null()
            && let Some(blocks) = b2nd::block_shape(self)
        {
            self.set_blockshape(&blocks);
        }
        let ndim = usize::try_from(self.ndim).unwrap_or_default();
        // SAFETY: it is NULL, or has as many numbers as there are axes.
        let lens = unsafe { memory::values(self.blockshape.cast_const(), ndim) }.unwrap_or_default();
        let is_told = |told: &Vec<usize>| told.iter().zip(lens).all(|(told, len)| i64::try_from(*told) == Ok(*len));
        if context.block_shape.as_ref().is_none_or(|told| told.len() != lens.len() || !is_told(told)) {
            context.block_shape = Some(lens.iter().map(|&len| Self::size(len)).collect()).filter(|_| ndim > 0);
        }
    }

    /// The size of an item.
    pub(crate) fn item(&self) -> Outcome<usize> {
        usize::try_from(self.typesize).ok().filter(|&size| size > 0).ok_or(INVALID_PARAM)
    }

    /// Says that its blocks are parts of arrays of this shape, which some codecs need to know.
    pub(crate) fn set_blockshape(&mut self, shape: &[i32]) {
        let lens: Vec<i64> = shape.iter().map(|&len| len.into()).collect();
        // SAFETY: the numbers are so many bytes.
        let bytes = unsafe { memory::input(lens.as_ptr().cast(), size_of_val(lens.as_slice())) }.unwrap_or_default();
        // SAFETY: it was taken with `malloc`, or is NULL.
        unsafe { memory::free(self.blockshape) };
        self.blockshape = memory::bytes_for_c(bytes).cast();
        self.ndim = i8::try_from(shape.len()).unwrap_or_default();
    }

    /// A number of bytes as a field has it.
    pub(crate) fn size(number: i64) -> usize {
        usize::try_from(number).unwrap_or_default()
    }

    /// The buffer of a frame that belongs to it, which C programs have given away with it.
    pub(crate) fn keep(&mut self, cframe: *mut u8) {
        self.frame = guarded(null_mut(), || Box::into_raw(Box::new(Frame::Buffer(Buffer::new(cframe)))));
    }
}
