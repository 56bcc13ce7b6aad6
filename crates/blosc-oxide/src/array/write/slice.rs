//! Writing parts of an array.

use super::edit::ArrayEdit;
use super::encoder::{Filled, ranges_of};
use crate::array::geometry::coordinates::advance;
use crate::array::geometry::copy::size;
use crate::array::reader::ArrayReader;
use crate::array::select::axis::{AxisBlock, AxisSelection};
use crate::array::select::plan::{Selection, each_box};
use crate::error::{Result, bail};
use blosc_kernels::boxes::{Source, copy_box};
use std::ops::Range;

impl ArrayEdit {
    /// Writes `data`, in C order, over the items that `selections` select. The chunks that are
    /// touched are compressed again, in parallel.
    ///
    /// # Errors
    /// `InvalidArgument` if there is not a selection for each axis, one is outside, or `data` is
    /// not as long as these items; as reading and writing the chunks. Nothing changes then.
    pub fn write(&mut self, selections: &[AxisSelection], data: &[u8]) -> Result<()> {
        self.edit(|array| {
            let selection = Selection::new(array.geometry(), selections, array.sc.limits())?;
            if data.len() != selection.nbytes {
                bail!(InvalidArgument, "{} bytes are given for a slice of {}", data.len(), selection.nbytes);
            }
            let strides = selection.c_strides(array.geometry().typesize());
            array.write_selection(&selection, data, &strides)
        })
    }

    /// Writes items of `data` over those that `selections` select; along each remaining axis they
    /// are `strides` bytes apart in `data`. A stride of 0 writes one item everywhere.
    ///
    /// # Errors
    /// As [`write`](Self::write); `InvalidArgument` if there is not one stride for each remaining
    /// axis, or if `data` does not have all items.
    pub fn write_strided(&mut self, selections: &[AxisSelection], data: &[u8], strides: &[usize]) -> Result<()> {
        self.edit(|array| {
            let selection = Selection::new(array.geometry(), selections, array.sc.limits())?;
            let strides = selection.all_strides(strides)?;
            let reach =
                selection.axes.iter().zip(&strides).try_fold(array.geometry().typesize(), |reach, (axis, stride)| {
                    axis.count.saturating_sub(1).checked_mul(*stride)?.checked_add(reach)
                });
            if selection.nbytes > 0 && reach.is_none_or(|reach| reach > data.len()) {
                bail!(InvalidArgument, "strides of {strides:?} reach beyond the {} bytes that are given", data.len());
            }
            array.write_selection(&selection, data, &strides)
        })
    }

    fn write_selection(&mut self, selection: &Selection, data: &[u8], strides: &[usize]) -> Result<()> {
        if selection.nbytes == 0 {
            return Ok(());
        }
        let geometry = self.geometry().clone();
        let counts = selection.chunk_counts();
        let which = |job: usize| place(&counts, job);
        let jobs = counts.iter().product();
        let writer = Writer { selection, data, strides, block_strides: self.block_strides() };
        let staged = self.encode(&geometry, jobs, &|array, job, chunk, _| writer.fill(array, &which(job), chunk))?;
        for (job, staged) in staged.into_iter().enumerate() {
            self.array.sc.put(selection.chunk_index(&geometry, &which(job)), staged)?;
        }
        Ok(())
    }
}

/// The coordinates of a number in a grid of these lengths.
fn place(counts: &[usize], mut number: usize) -> Vec<usize> {
    let mut place = vec![0; counts.len()];
    for (at, &count) in place.iter_mut().zip(counts).rev() {
        *at = number % count;
        number /= count;
    }
    place
}

/// Puts the written items into the data of chunks.
struct Writer<'a> {
    selection: &'a Selection,
    data: &'a [u8],
    strides: &'a [usize],
    block_strides: Vec<usize>,
}

impl Writer<'_> {
    /// Fills the data of one of the chunks that are touched, or those of its blocks that are.
    fn fill(&self, array: &ArrayReader, which: &[usize], chunk: &mut [u8]) -> Result<Filled<'static>> {
        let geometry = array.geometry();
        let old = self.selection.chunk_index(geometry, which);
        let axes = || self.selection.axes.iter().zip(which).map(|(axis, &at)| &axis.chunks[at]);
        let is_covered = axes().all(|chunk| chunk.is_covered);
        let blocks: Vec<&[AxisBlock]> = axes().map(|chunk| &chunk.blocks[..]).collect();
        let number = |chosen: &[&AxisBlock]| size(geometry.block_number(chosen.iter().map(|block| block.place)));
        let nblocks = chunk.len() / geometry.block_nbytes();
        // They are flags first, and then ranges of bytes.
        array.sc.limits().check_list::<Range<usize>>("the list of blocks", nblocks as u64)?;
        let mut changed = vec![false; nblocks];
        each_choice(&blocks, |chosen| changed[number(chosen)] = true);
        if !is_covered {
            array.sc.ranges_into(old, &ranges_of(&changed, geometry.block_nbytes()), chunk)?;
        } else if geometry.has_padding(&geometry.spans_of_chunk(old as u64)) {
            chunk.fill(0);
        }
        each_choice(&blocks, |chosen| {
            let block = &mut chunk[number(chosen) * geometry.block_nbytes()..][..geometry.block_nbytes()];
            self.fill_block(geometry.typesize(), chosen, block);
        });
        Ok(if is_covered { Filled::Whole } else { Filled::Blocks { old, changed } })
    }

    fn fill_block(&self, typesize: usize, blocks: &[&AxisBlock], block: &mut [u8]) {
        let strides: Vec<isize> = self.strides.iter().map(|stride| stride.cast_signed()).collect();
        each_box(blocks, &self.block_strides, |found| {
            let start = found.to.iter().zip(self.strides).map(|(to, stride)| to * stride).sum();
            let source = Source { bytes: self.data, start, strides: &strides };
            copy_box(typesize, &found.shape, source, block, found.start, &found.strides);
        });
    }
}

/// Calls `action` for each block that is the product of those along each axis.
fn each_choice<'b>(blocks: &[&'b [AxisBlock]], mut action: impl FnMut(&[&'b AxisBlock])) {
    let mut at = vec![0; blocks.len()];
    loop {
        let chosen: Vec<&AxisBlock> = blocks.iter().zip(&at).map(|(blocks, &at)| &blocks[at]).collect();
        action(&chosen);
        if !advance(&mut at, |axis| blocks[axis].len()) {
            return;
        }
    }
}
