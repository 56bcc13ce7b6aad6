//! Filters that store a block cell by cell, so that items that are close in space are close in the
//! bytes.

use super::Geometry;
use super::coordinates::advance;
use crate::error::{Result, bail};
use crate::filter::{FilterContext, FilterPlugin};

/// The most dimensions that cells are defined for.
const MAX_DIMS: usize = 8;

/// The shape of blocks, for filters that cut them into cells.
#[derive(Debug, Clone)]
pub(in crate::array) struct Cells {
    shape: Vec<usize>,
    typesize: usize,
    /// Whether the items of a cell are replaced by their mean.
    is_averaging: bool,
}

impl Cells {
    pub(in crate::array) fn new(geometry: &Geometry) -> Self {
        let shape = geometry.blocks().iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX)).collect();
        Self { shape, typesize: geometry.typesize(), is_averaging: false }
    }

    /// The shape of blocks in items.
    pub(in crate::array) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The same with means.
    pub(in crate::array) fn averaging(&self) -> Self {
        Self { is_averaging: true, ..self.clone() }
    }

    /// Calls `visit` for each run of bytes, cell by cell, with its position in the block in C
    /// order.
    fn each_run(&self, edge: usize, visit: &mut impl FnMut(Run)) {
        let ndim = self.shape.len();
        let mut cell = vec![0; ndim];
        loop {
            self.each_row(&cell, edge, visit);
            if !advance(&mut cell, |axis| self.shape[axis].div_ceil(edge)) {
                return;
            }
        }
    }

    fn each_row(&self, cell: &[usize], edge: usize, visit: &mut impl FnMut(Run)) {
        let last = cell.len() - 1;
        let length = |axis: usize| edge.min(self.shape[axis] - cell[axis] * edge);
        let mut row = vec![0; last];
        let mut is_first = true;
        loop {
            let at = (0..=last).fold(0, |at, axis| {
                let within = if axis == last { 0 } else { row[axis] };
                at * self.shape[axis] + cell[axis] * edge + within
            });
            visit(Run { start: at * self.typesize, len: length(last) * self.typesize, starts_cell: is_first });
            is_first = false;
            if !advance(&mut row, length) {
                return;
            }
        }
    }

    fn check(&self, meta: u8, len: usize) -> Result<usize> {
        let nbytes = self.shape.iter().fold(self.typesize, |nbytes, &length| nbytes.saturating_mul(length));
        if meta == 0 || self.shape.is_empty() || self.shape.len() > MAX_DIMS || nbytes != len {
            bail!(
                Corrupt,
                "cells of {meta} do not fit a block of {len} bytes that is {:?} items of {}",
                self.shape,
                self.typesize
            );
        }
        Ok(usize::from(meta))
    }
}

/// A run of bytes of a block.
struct Run {
    start: usize,
    len: usize,
    starts_cell: bool,
}

impl FilterPlugin for Cells {
    fn forward(&self, src: &[u8], dst: &mut [u8], context: FilterContext) -> Result<()> {
        let edge = self.check(context.meta, src.len())?;
        let mut at = 0;
        let mut starts = Vec::new();
        self.each_run(edge, &mut |run| {
            if run.starts_cell {
                starts.push(at);
            }
            dst[at..at + run.len].copy_from_slice(&src[run.start..run.start + run.len]);
            at += run.len;
        });
        if self.is_averaging {
            starts.push(at);
            for cell in starts.windows(2) {
                average(&mut dst[cell[0]..cell[1]], self.typesize)?;
            }
        }
        Ok(())
    }

    fn backward(&self, src: &[u8], dst: &mut [u8], context: FilterContext) -> Result<()> {
        let edge = self.check(context.meta, src.len())?;
        let mut at = 0;
        self.each_run(edge, &mut |run| {
            dst[run.start..run.start + run.len].copy_from_slice(&src[at..at + run.len]);
            at += run.len;
        });
        Ok(())
    }
}

/// Replaces all floats of a cell by their mean.
fn average(cell: &mut [u8], typesize: usize) -> Result<()> {
    let count = cell.len() / typesize;
    match typesize {
        4 => {
            let items = cell.as_chunks::<4>().0.iter().copied();
            #[expect(clippy::cast_precision_loss, reason = "a cell has few items")]
            let mean = items.map(f32::from_le_bytes).sum::<f32>() / count as f32;
            cell.as_chunks_mut::<4>().0.fill(mean.to_le_bytes());
        }
        8 => {
            let items = cell.as_chunks::<8>().0.iter().copied();
            #[expect(clippy::cast_precision_loss, reason = "a cell has few items")]
            let mean = items.map(f64::from_le_bytes).sum::<f64>() / count as f64;
            cell.as_chunks_mut::<8>().0.fill(mean.to_le_bytes());
        }
        _ => bail!(InvalidArgument, "ndmean is for floats of 4 or 8 bytes, not for items of {typesize}"),
    }
    Ok(())
}
