//! Arrays that show the data of others with other axes. They have the chunks of the other array,
//! which has to outlive them; metalayers and contexts are their own.

use super::shape::Shapes;
use super::{Array, LAYERS, drop_array, empty, meta};
use crate::code::{INVALID_INDEX, INVALID_PARAM, NULL_POINTER, Outcome};
use crate::schunk;
use crate::structs::{Schunk, Storage};
use c_boundary::memory;
use std::ptr::null_mut;

impl Array {
    /// The same without some of the axes that have one item.
    pub(crate) fn squeezed(&self, is_dropped: &[bool]) -> Outcome<Box<Self>> {
        let shapes = self.shapes();
        let mut left = Shapes { shape: Vec::new(), chunks: Vec::new(), blocks: Vec::new() };
        for (axis, &is_dropped) in is_dropped.iter().enumerate() {
            if !is_dropped {
                left.shape.push(shapes.shape[axis]);
                left.chunks.push(shapes.chunks[axis]);
                left.blocks.push(shapes.blocks[axis]);
            } else if shapes.shape[axis] != 1 {
                return Err(INVALID_INDEX);
            } else if shapes.chunks[axis] != 1 || shapes.blocks[axis] != 1 {
                // The chunks have more items along this axis than the array.
                return Err(INVALID_PARAM);
            }
        }
        self.seen_as(&left)
    }

    /// The same with more axes, of one item each, where `is_new` says so.
    pub(crate) fn expanded(&self, is_new: &[bool]) -> Outcome<Box<Self>> {
        let shapes = self.shapes();
        let mut wider = Shapes { shape: Vec::new(), chunks: Vec::new(), blocks: Vec::new() };
        let mut old = 0;
        for &is_new in is_new {
            let lens = (shapes.shape.get(old), shapes.chunks.get(old), shapes.blocks.get(old));
            let (shape, chunk, block) = match lens {
                _ if is_new => (1, 1, 1),
                (Some(&shape), Some(&chunk), Some(&block)) => (shape, chunk, block),
                _ => return Err(INVALID_PARAM),
            };
            old += usize::from(!is_new);
            wider.shape.push(shape);
            wider.chunks.push(chunk);
            wider.blocks.push(block);
        }
        if old < self.axes() { Err(INVALID_PARAM) } else { self.seen_as(&wider) }
    }

    /// The same chunks with other shapes, which have the same items.
    fn seen_as(&self, shapes: &Shapes) -> Outcome<Box<Self>> {
        let base = self.schunk()?;
        let mut view = empty(base.copy_parameters()?);
        view.set_shapes(shapes);
        // SAFETY: it is NULL or a string of the array's.
        let dtype = unsafe { memory::text(self.dtype) }.ok_or(NULL_POINTER)?;
        view.set_dtype(dtype, self.dtype_format);
        match view.describe_view(base).and_then(|()| view.schunk()?.show(base)) {
            Ok(()) => Ok(view),
            Err(code) => {
                drop_array(view);
                Err(code)
            }
        }
    }

    fn describe_view(&self, base: &Schunk) -> Outcome<()> {
        let shapes = self.shapes();
        let sc = self.schunk()?;
        // SAFETY: it is a string of the array's.
        let dtype = unsafe { memory::text(self.dtype) }.ok_or(NULL_POINTER)?;
        sc.add_meta(LAYERS[0], &meta::write(&shapes, dtype, self.dtype_format)?)?;
        for (name, content) in base.all_meta().filter(|(name, _)| !LAYERS.contains(name)) {
            sc.add_meta(name, content)?;
        }
        base.copy_vlmeta(sc)?;
        sc.set_blockshape(&shapes.blocks);
        Ok(())
    }
}

impl Schunk {
    /// An empty super-chunk in memory that has the same parameters.
    fn copy_parameters(&self) -> Outcome<*mut Self> {
        let (mut cparams, mut dparams) = (self.cparams(), self.dparams());
        (cparams.prefilter, cparams.preparams) = (None, null_mut());
        (cparams.tuner_id, cparams.tuner_params) = (0, null_mut());
        (dparams.postfilter, dparams.postparams) = (None, null_mut());
        let mut io = crate::defaults::IO;
        let storage = Storage {
            contiguous: false,
            urlpath: null_mut(),
            cparams: &raw mut cparams,
            dparams: &raw mut dparams,
            io: &raw mut io,
        };
        // SAFETY: the storage points to parameters that live until it returns.
        unsafe { schunk::new(&raw const storage) }
    }

    /// Shows the chunks of another super-chunk, whose they stay. Nothing is written to its
    /// metalayers: this one has its own.
    fn show(&mut self, base: &Self) -> Outcome<()> {
        (self.data, self.data_len, self.frame) = (base.data, base.data_len, base.frame);
        (self.nchunks, self.nbytes, self.cbytes) = (base.nchunks, base.nbytes, base.cbytes);
        (self.chunksize, self.flags2, self.view) = (base.chunksize, base.flags2, true);
        // SAFETY: it is NULL, or the context of that super-chunk, which nobody writes to meanwhile.
        let of_base = unsafe { memory::shared(base.dctx) }.ok_or(NULL_POINTER)?;
        // SAFETY: it is NULL, or the context of this super-chunk, which nobody else uses.
        let own = unsafe { memory::exclusive(self.dctx) }.ok_or(NULL_POINTER)?;
        own.dparams.postfilter = of_base.dparams.postfilter;
        own.postparams = of_base.postparams;
        Ok(())
    }
}
