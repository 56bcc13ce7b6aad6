//! Reading parts of an array.

use crate::array::geometry::coordinates::advance;
use crate::array::geometry::copy::{Dims, c_strides, size};
use crate::array::reader::ArrayReader;
use crate::array::select::axis::{AxisBlock, AxisSelection, CheckedSelection};
use crate::array::select::plan::{Part, Parts, Selection, checked, each_box};
use crate::error::{Result, bail, error};
use crate::exec::{lock, tick};
use crate::schunk::Parts as ChunkParts;
use blosc_kernels::boxes::{BoxMut, Source};
use std::ops::Range;
use std::sync::Mutex;

/// If this share of a block is selected, all of it is decoded: that costs less than leaving the
/// rest out.
const MOST_OF_A_BLOCK: (usize, usize) = (3, 4);

impl ArrayReader {
    /// The whole array, in C order.
    ///
    /// # Errors
    /// As [`slice`](Self::slice).
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        self.slice(&vec![AxisSelection::All; self.geometry().ndim()])
    }

    /// The items that `selections` select, one selection for each axis, in C order. Only the blocks
    /// that are touched are decoded.
    ///
    /// # Errors
    /// `InvalidArgument` if there is not a selection for each axis or one is outside; as reading
    /// the chunks.
    pub fn slice(&self, selections: &[AxisSelection]) -> Result<Vec<u8>> {
        let selection = self.bounded(selections)?;
        let mut out = vec![0; selection.nbytes];
        self.read(&selection, &mut out)?;
        Ok(out)
    }

    /// How many bytes `selections` select, if that is within the limits.
    pub(in crate::array) fn slice_nbytes(&self, selections: &[AxisSelection]) -> Result<usize> {
        Ok(self.bounded(selections)?.nbytes)
    }

    fn bounded(&self, selections: &[AxisSelection]) -> Result<Selection> {
        let selection = Selection::new(self.geometry(), selections, self.sc.limits())?;
        self.sc.limits().check("a slice", selection.nbytes)?;
        Ok(selection)
    }

    /// Puts the items that `selections` select into `out`, in C order.
    ///
    /// # Errors
    /// As [`slice`](Self::slice); `InvalidArgument` if `out` is not as long as these items.
    pub fn slice_into(&self, selections: &[AxisSelection], out: &mut [u8]) -> Result<()> {
        let selection = Selection::new(self.geometry(), selections, self.sc.limits())?;
        check_len(out.len(), &selection)?;
        self.read(&selection, out)
    }

    /// Puts the items that `selections` select into `out`, where items along each remaining axis
    /// are `strides` bytes apart: into a part of a larger array, or in another order.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options, AxisSelection};
    /// let options = ArrayOptions::new(&[2, 3], Options::new(1));
    /// let array = NdArray::from_data(&options, &[1, 2, 3, 4, 5, 6])?;
    /// let mut columns_first = [0; 6];
    /// array.slice_into_strided(&[AxisSelection::All, AxisSelection::All], &mut columns_first, &[1, 2])?;
    /// assert_eq!(columns_first, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`slice`](Self::slice); `InvalidArgument` if there is not one stride for each remaining
    /// axis, if items would overlap, or if `out` is too short.
    pub fn slice_into_strided(&self, selections: &[AxisSelection], out: &mut [u8], strides: &[usize]) -> Result<()> {
        let selection = Selection::new(self.geometry(), selections, self.sc.limits())?;
        let strides = selection.all_strides(strides)?;
        let target = BoxMut::new(out, self.geometry().typesize(), &selection.counts(), &strides);
        let target = target.ok_or_else(|| {
            error!(InvalidArgument, "strides of {strides:?}: items overlap, or are not all inside the buffer")
        })?;
        self.read_box(&selection, target, true)
    }

    /// The shape of the result of `selections`: an axis with a single index is dropped.
    ///
    /// # Errors
    /// `InvalidArgument` if there is not a selection for each axis or one is outside.
    pub fn slice_shape(&self, selections: &[AxisSelection]) -> Result<Vec<usize>> {
        let kept = checked(self.geometry(), selections)?.into_iter().filter(|selection| selection.keeps_axis);
        Ok(kept.map(|selection| selection.count()).collect())
    }

    /// How many items `selections` select along each axis.
    pub(in crate::array) fn taken(&self, selections: &[AxisSelection]) -> Result<Vec<usize>> {
        Ok(checked(self.geometry(), selections)?.iter().map(CheckedSelection::count).collect())
    }

    /// Reads a box of items into `out`, in C order, on this thread alone.
    pub(in crate::array) fn read_spans(&self, spans: &[Range<u64>], out: &mut [u8], strides: &[usize]) -> Result<()> {
        let selections: Vec<AxisSelection> = spans.iter().cloned().map(AxisSelection::from).collect();
        let selection = Selection::new(self.geometry(), &selections, self.sc.limits())?;
        let Some(target) = BoxMut::new(out, self.geometry().typesize(), &selection.counts(), strides) else {
            bail!(InvalidArgument, "there is no room for a box of {:?}", selection.counts());
        };
        self.read_box(&selection, target, false)
    }

    fn read(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        let typesize = self.geometry().typesize();
        let target = BoxMut::new(out, typesize, &selection.counts(), &selection.c_strides(typesize));
        match target {
            Some(target) => self.read_box(selection, target, true),
            None => bail!(InvalidArgument, "a slice of {} bytes cannot be addressed", selection.nbytes),
        }
    }

    /// Reads the selected items; each worker has parts of the result to itself.
    fn read_box(&self, selection: &Selection, target: BoxMut<'_>, in_parallel: bool) -> Result<()> {
        if selection.nbytes == 0 {
            return Ok(());
        }
        let geometry = self.geometry();
        self.sc.limits().check("a block", geometry.block_nbytes())?;
        let threads = &self.sc.options().threads;
        let nblocks = selection.nblocks();
        let workers =
            if in_parallel { threads.workers(nblocks, nblocks.saturating_mul(geometry.block_nbytes())) } else { 1 };
        let groups = selection.groups(workers);
        let mut parts = Parts::new(&groups, target);
        let strides = self.block_strides();
        if workers == 1 {
            let mut worker = Worker { array: self, selection, strides: &strides, block: Vec::new() };
            return parts.try_for_each(|part| worker.read(part));
        }
        let parts = Mutex::new(parts);
        let failure = Mutex::new(None);
        threads.run(workers, &|_| {
            let mut worker = Worker { array: self, selection, strides: &strides, block: Vec::new() };
            loop {
                tick();
                let Some(part) = lock(&parts).next() else { return };
                if let Err(error) = worker.read(part) {
                    lock(&parts).stop();
                    lock(&failure).get_or_insert(error);
                }
            }
        });
        match failure.into_inner().unwrap_or_default() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Bytes from one item of a block to the next along each axis.
    pub(in crate::array) fn block_strides(&self) -> Vec<usize> {
        c_strides(self.geometry().blocks().iter().map(|&length| size(length)), self.geometry().typesize())
    }
}

/// Reads one part of a selection after the other.
struct Worker<'a> {
    array: &'a ArrayReader,
    selection: &'a Selection,
    strides: &'a [usize],
    /// Which bytes of a block are decoded.
    block: Vec<u8>,
}

impl Worker<'_> {
    fn read(&mut self, mut part: Part<'_>) -> Result<()> {
        let ndim = part.groups.len();
        let mut which = vec![0; ndim];
        loop {
            let mut chunk_coordinates = Dims::new(ndim);
            let mut blocks: Vec<&[AxisBlock]> = Vec::with_capacity(ndim);
            for (axis, group) in part.groups.iter().enumerate() {
                let chunk = &self.selection.axes[axis].chunks[group.chunks.start + which[axis]];
                chunk_coordinates[axis] = chunk.place;
                blocks.push(group.blocks.clone().map_or(&chunk.blocks[..], |range| &chunk.blocks[range]));
            }
            let number = size(self.array.geometry().number_of(chunk_coordinates.iter().copied()));
            let origin: Vec<usize> = part.groups.iter().map(|group| group.places.start).collect();
            self.read_chunk(number, &blocks, &origin, &mut part.target)?;
            if !advance(&mut which, |axis| part.groups[axis].chunks.len()) {
                return Ok(());
            }
        }
    }

    /// Reads the blocks of one chunk that are the product of those along each axis.
    fn read_chunk(
        &mut self,
        number: usize,
        blocks: &[&[AxisBlock]],
        origin: &[usize],
        target: &mut BoxMut<'_>,
    ) -> Result<()> {
        let count = blocks.iter().fold(1_usize, |count, blocks| count.saturating_mul(blocks.len()));
        self.array.sc.limits().check_list::<Range<usize>>("the list of blocks", count as u64)?;
        let mut wanted = Vec::with_capacity(count);
        let mut which = vec![0; blocks.len()];
        loop {
            wanted.push(self.wanted(&chosen(blocks, &which)));
            if !advance(&mut which, |axis| blocks[axis].len()) {
                break;
            }
        }
        let sc = &self.array.sc;
        sc.with_parts(number, &wanted, |parts| {
            for range in &wanted {
                self.read_block(parts, &chosen(blocks, &which), range, origin, target)?;
                advance(&mut which, |axis| blocks[axis].len());
            }
            Ok(())
        })
    }

    /// The bytes of a chunk's data that are decoded for the selected items of a block.
    fn wanted(&self, blocks: &[&AxisBlock]) -> Range<usize> {
        let geometry = self.array.geometry();
        let number = size(geometry.block_number(blocks.iter().map(|block| block.place)));
        let start = number * geometry.block_nbytes();
        let offset = |index: fn(&AxisBlock) -> usize| -> usize {
            blocks.iter().zip(self.strides).map(|(block, &stride)| index(block) * stride).sum()
        };
        let (first, end) = (offset(|block| block.first), offset(|block| block.last) + geometry.typesize());
        let (part, whole) = MOST_OF_A_BLOCK;
        if (end - first) * whole >= geometry.block_nbytes() * part {
            start..start + geometry.block_nbytes()
        } else {
            start + first..start + end
        }
    }

    fn read_block(
        &mut self,
        parts: &mut ChunkParts<'_>,
        blocks: &[&AxisBlock],
        wanted: &Range<usize>,
        origin: &[usize],
        target: &mut BoxMut<'_>,
    ) -> Result<()> {
        if let Some(out) = in_place(blocks, wanted.len(), origin, target) {
            return parts.read(wanted.start, out);
        }
        if self.block.len() < wanted.len() {
            self.block.resize(wanted.len(), 0);
        }
        let block = &mut self.block[..wanted.len()];
        parts.read(wanted.start, block)?;
        let skipped = wanted.start % self.array.geometry().block_nbytes();
        each_box(blocks, self.strides, |found| {
            let mut to = found.to;
            to.iter_mut().zip(origin).for_each(|(to, origin)| *to -= origin);
            let source = Source { bytes: block, start: found.start - skipped, strides: &found.strides };
            target.copy_from(&to, &found.shape, source);
        });
        Ok(())
    }
}

/// The selection within one block, along each axis.
fn chosen<'b>(blocks: &[&'b [AxisBlock]], which: &[usize]) -> Vec<&'b AxisBlock> {
    blocks.iter().zip(which).map(|(blocks, &at)| &blocks[at]).collect()
}

/// The range of the result that the selected items of a block can be decoded into, if its bytes are
/// the same there.
fn in_place<'t>(
    blocks: &[&AxisBlock],
    len: usize,
    origin: &[usize],
    target: &'t mut BoxMut<'_>,
) -> Option<&'t mut [u8]> {
    let mut to = Dims::new(blocks.len());
    let mut shape = Dims::new(blocks.len());
    for (axis, block) in blocks.iter().enumerate() {
        let [span] = &block.spans[..] else { return None };
        if span.count > 1 && span.step != 1 {
            return None;
        }
        to[axis] = span.to - origin[axis];
        shape[axis] = span.count;
    }
    // As many items are taken as are decoded, so that there are no others between them.
    target.contiguous_mut(&to, &shape).filter(|out| out.len() == len)
}

fn check_len(len: usize, selection: &Selection) -> Result<()> {
    if len != selection.nbytes {
        bail!(InvalidArgument, "{len} bytes are given for a slice of {}", selection.nbytes);
    }
    Ok(())
}

impl Selection {
    /// A stride for each axis, from those of the axes that are kept.
    pub(in crate::array) fn all_strides(&self, kept: &[usize]) -> Result<Vec<usize>> {
        if kept.len() != self.shape().len() {
            bail!(InvalidArgument, "{} strides are given for {} dimensions", kept.len(), self.shape().len());
        }
        let mut kept = kept.iter();
        Ok(self.axes.iter().map(|axis| if axis.keeps_axis { kept.next().copied().unwrap_or(0) } else { 0 }).collect())
    }
}
