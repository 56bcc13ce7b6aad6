//! Data that a program makes while it is compressed, block by block.

use crate::code::{INVALID_PARAM, Outcome};
use crate::context::{Context, PREFILTER_FAILED};
use crate::structs::PrefilterParams;
use std::ptr::null_mut;

impl Context {
    /// What the program's prefilter makes of `nbytes` bytes that begin at `src`.
    pub(crate) fn prefiltered(&mut self, src: *const u8, nbytes: usize) -> Outcome<Vec<u8>> {
        let Some(prefilter) = self.cparams.prefilter else { return Err(INVALID_PARAM) };
        let blocksize = self.compressor()?.blocksize_for(nbytes).max(1);
        let mut data = vec![0; nbytes];
        let mut scratch = vec![0; 4 * blocksize];
        let number = |size: usize| i32::try_from(size).map_err(|_| INVALID_PARAM);
        for (index, block) in data.chunks_mut(blocksize).enumerate() {
            let offset = index * blocksize;
            let mut params = PrefilterParams {
                user_data: self.preparams.map_or(null_mut(), |params| params.user_data),
                input: src.wrapping_add(offset),
                output: block.as_mut_ptr(),
                output_size: number(block.len())?,
                output_typesize: self.cparams.typesize,
                output_offset: number(offset)?,
                nchunk: self.nchunk,
                nblock: number(index)?,
                tid: 0,
                ttmp: scratch.as_mut_ptr(),
                ttmp_nbytes: scratch.len(),
                ctx: &raw mut *self,
                output_is_disposable: false,
            };
            // SAFETY: the parameters say of the output what it is, and of the input what the
            // program has said itself.
            if unsafe { prefilter(&raw mut params) } != 0 {
                return Err(PREFILTER_FAILED);
            }
        }
        Ok(data)
    }
}
