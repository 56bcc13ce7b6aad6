//! What follows from the shapes of an array, of its chunks and of its blocks.

use crate::code::{INVALID_PARAM, Outcome};
use crate::structs::{Array, MAX_DIM};

/// The three shapes.
#[derive(Clone)]
pub(crate) struct Shapes {
    pub(crate) shape: Vec<i64>,
    pub(crate) chunks: Vec<i32>,
    pub(crate) blocks: Vec<i32>,
}

impl Shapes {
    /// Refuses shapes that no array can have.
    pub(crate) fn check(&self) -> Outcome<()> {
        let is_good = |((&len, &chunk), &block): ((&i64, &i32), &i32)| {
            len >= 0 && chunk >= 0 && block >= 0 && (len == 0 || (chunk > 0 && block > 0 && block <= chunk))
        };
        let axes = self.shape.iter().zip(&self.chunks).zip(&self.blocks);
        let all = axes.clone().all(is_good);
        if self.shape.len() > MAX_DIM || !all || self.items().is_none() { Err(INVALID_PARAM) } else { Ok(()) }
    }

    /// How many items all chunks have, rounded up; `None` if that is more than a number can say.
    fn items(&self) -> Option<i64> {
        let mut nitems = 1_i64;
        for ((&len, &chunk), &block) in self.shape.iter().zip(&self.chunks).zip(&self.blocks) {
            let chunk = rounded(chunk.max(1).into(), block.max(1).into());
            nitems = nitems.checked_mul(len.checked_add(chunk).map(|_| rounded(len, chunk).max(1))?)?;
        }
        Some(nitems)
    }
}

/// `len` rounded up to whole `unit`s.
fn rounded(len: i64, unit: i64) -> i64 {
    if unit == 0 { 0 } else { (len + unit - 1) / unit * unit }
}

/// How far apart neighbours along each axis are, in a C-ordered array.
pub(crate) fn strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    strides
}

impl Array {
    pub(crate) fn axes(&self) -> usize {
        usize::try_from(self.ndim).unwrap_or_default().min(MAX_DIM)
    }

    pub(crate) fn shapes(&self) -> Shapes {
        let axes = self.axes();
        Shapes {
            shape: self.shape[..axes].to_vec(),
            chunks: self.chunkshape[..axes].to_vec(),
            blocks: self.blockshape[..axes].to_vec(),
        }
    }

    /// Fills all fields that follow from the shapes, which have been checked.
    pub(crate) fn set_shapes(&mut self, shapes: &Shapes) {
        let axes = shapes.shape.len();
        self.ndim = i8::try_from(axes).unwrap_or_default();
        (self.shape, self.extshape, self.extchunkshape) = ([1; MAX_DIM], [1; MAX_DIM], [1; MAX_DIM]);
        (self.chunkshape, self.blockshape) = ([1; MAX_DIM], [1; MAX_DIM]);
        for axis in 0..axes {
            let (len, chunk, block) = (shapes.shape[axis], shapes.chunks[axis], shapes.blocks[axis]);
            self.shape[axis] = len;
            self.chunkshape[axis] = chunk;
            self.blockshape[axis] = block;
            self.extshape[axis] = rounded(len, chunk.into());
            self.extchunkshape[axis] = rounded(chunk.into(), block.into());
        }
        self.nitems = self.shape[..axes].iter().product();
        self.extnitems = self.extshape[..axes].iter().product();
        self.chunknitems = self.chunkshape[..axes].iter().fold(1, |items, &len| items.wrapping_mul(len));
        self.blocknitems = self.blockshape[..axes].iter().fold(1, |items, &len| items.wrapping_mul(len));
        self.extchunknitems = self.extchunkshape[..axes].iter().product();
        self.set_strides();
    }

    fn set_strides(&mut self) {
        let axes = self.axes();
        let wide = |lens: &[i32]| lens.iter().map(|&len| i64::from(len)).collect::<Vec<i64>>();
        let counts = |lens: &[i64], units: &[i32]| -> Vec<i64> {
            lens.iter().zip(units).map(|(&len, &unit)| len.checked_div(unit.into()).unwrap_or(0)).collect()
        };
        let put = |place: &mut [i64; MAX_DIM], shape: &[i64]| {
            *place = [0; MAX_DIM];
            place[..axes].copy_from_slice(&strides(shape));
        };
        put(&mut self.item_array_strides, &self.shape[..axes]);
        put(&mut self.item_chunk_strides, &wide(&self.chunkshape[..axes]));
        put(&mut self.item_extchunk_strides, &self.extchunkshape[..axes]);
        put(&mut self.item_block_strides, &wide(&self.blockshape[..axes]));
        put(&mut self.block_chunk_strides, &counts(&self.extchunkshape[..axes], &self.blockshape[..axes]));
        put(&mut self.chunk_array_strides, &counts(&self.extshape[..axes], &self.chunkshape[..axes]));
    }

    /// The number of chunks.
    pub(crate) fn chunk_count(&self) -> i64 {
        let chunknitems = i64::from(self.chunknitems);
        if self.nitems == 0 || chunknitems == 0 { 0 } else { self.extnitems / chunknitems }
    }

    /// How many chunks there are along each axis.
    pub(crate) fn grid(&self) -> Vec<i64> {
        (0..self.axes())
            .map(|axis| self.extshape[axis].checked_div(self.chunkshape[axis].into()).unwrap_or(0))
            .collect()
    }

    /// How many blocks a chunk has along each axis.
    pub(crate) fn block_grid(&self) -> Vec<i64> {
        let blocks = |axis: usize| self.extchunkshape[axis].checked_div(self.blockshape[axis].into()).unwrap_or(0);
        (0..self.axes()).map(blocks).collect()
    }
}

/// Calls `action` with every position of a box, from `start` to `stop` along each axis, in C order.
pub(crate) fn each_position(start: &[i64], stop: &[i64], mut action: impl FnMut(&[i64]) -> Outcome<()>) -> Outcome<()> {
    if start.iter().zip(stop).any(|(start, stop)| start >= stop) {
        return Ok(());
    }
    let mut position = start.to_vec();
    loop {
        action(&position)?;
        let next = (0..position.len()).rev().find(|&axis| {
            position[axis] += 1;
            let is_inside = position[axis] < stop[axis];
            if !is_inside {
                position[axis] = start[axis];
            }
            is_inside
        });
        if next.is_none() {
            return Ok(());
        }
    }
}
