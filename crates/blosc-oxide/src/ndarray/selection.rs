//! Picks of all axes together: which chunks and blocks they touch, and where the items go.

use super::copy::{Transfer, c_strides};
use super::geometry::{Geometry, number};
use super::pick::{AxisPick, Hits, Pick};
use crate::error::{Result, bail, error};
use std::ops::Range;

/// A checked pick for each axis.
pub(super) struct Selection {
    pub(super) axes: Vec<AxisPick>,
    /// The size of what is taken.
    pub(super) nbytes: usize,
    /// Bytes from one item to the next along each axis of what is taken, in C order.
    strides: Vec<usize>,
}

/// A chunk that is touched.
pub(super) struct TouchedChunk {
    pub(super) number: usize,
    pub(super) blocks: Vec<TouchedBlock>,
    /// Whether all items of the chunk that are in the array are taken.
    pub(super) is_covered: bool,
}

/// A block that is touched.
pub(super) struct TouchedBlock {
    /// Where it starts in the chunk's data.
    pub(super) start: usize,
    /// For each axis, what is taken of it.
    hits: Vec<Hits>,
}

impl Selection {
    pub(super) fn new(geometry: &Geometry, picks: &[Pick]) -> Result<Self> {
        if picks.len() != geometry.ndim() {
            bail!(InvalidArgument, "{} picks are given for {} dimensions", picks.len(), geometry.ndim());
        }
        let lengths = geometry.shape().iter().enumerate();
        let axes: Vec<AxisPick> = picks
            .iter()
            .zip(lengths)
            .map(|(pick, (axis, &length))| AxisPick::new(pick, axis, length))
            .collect::<Result<_>>()?;
        let counts = axes.iter().map(AxisPick::count);
        let nbytes = counts.clone().try_fold(geometry.typesize(), usize::checked_mul);
        let nbytes = nbytes.ok_or_else(|| error!(LimitExceeded, "a slice has more bytes than can be counted"))?;
        let strides = c_strides(counts, geometry.typesize());
        Ok(Self { axes, nbytes, strides })
    }

    /// The shape of what is taken: axes of a single index are gone.
    pub(super) fn shape(&self) -> Vec<usize> {
        self.axes.iter().filter(|axis| axis.keeps_axis).map(AxisPick::count).collect()
    }

    /// The places in the grid of the chunks that are touched.
    pub(super) fn chunk_places(&self, geometry: &Geometry) -> Vec<Vec<u64>> {
        if self.nbytes == 0 {
            return Vec::new();
        }
        let cells = geometry.chunks().iter().zip(geometry.grid());
        let touched: Vec<Vec<u64>> =
            self.axes.iter().zip(cells).map(|(axis, (&chunk, &count))| axis.touched(chunk, count)).collect();
        product(&touched)
    }

    /// What is touched of the chunk at a place of the grid.
    pub(super) fn chunk(&self, geometry: &Geometry, place: &[u64]) -> TouchedChunk {
        let spans = place.iter().enumerate().map(|(axis, &at)| geometry.chunk_span(axis, at));
        let blocks_of_axes: Vec<Vec<(u64, Hits)>> = spans
            .enumerate()
            .map(|(axis, span)| blocks_of_axis(&self.axes[axis], &span, geometry.blocks()[axis]))
            .collect();
        let is_covered = blocks_of_axes.iter().zip(place.iter().enumerate()).all(|(blocks, (axis, &at))| {
            let span = geometry.chunk_span(axis, at);
            let taken: usize = blocks.iter().map(|(_, hits)| hits.distinct()).sum();
            taken as u64 == span.end - span.start
        });
        let counts: Vec<Vec<u64>> = blocks_of_axes.iter().map(|blocks| (0..blocks.len() as u64).collect()).collect();
        let blocks =
            product(&counts).into_iter().map(|choice| touched_block(geometry, &blocks_of_axes, &choice)).collect();
        let number = usize::try_from(geometry.chunk_number(place)).unwrap_or(usize::MAX);
        TouchedChunk { number, blocks, is_covered }
    }

    /// How the items of a block go to or from what is taken.
    pub(super) fn transfer<'a>(
        &'a self,
        block: &'a TouchedBlock,
        block_strides: &'a [usize],
        typesize: usize,
    ) -> Transfer<'a> {
        Transfer { hits: &block.hits, block_strides, buffer_strides: &self.strides, typesize }
    }
}

/// The blocks of a chunk along one axis that are touched, with what is taken of each.
fn blocks_of_axis(axis: &AxisPick, chunk: &Range<u64>, block: u64) -> Vec<(u64, Hits)> {
    let in_chunk = axis.hits(chunk);
    let block_of = |pair: &(usize, usize)| pair.0 as u64 / block;
    in_chunk
        .pairs
        .chunk_by(|a, b| block_of(a) == block_of(b))
        .map(|pairs| {
            let at = block_of(&pairs[0]);
            let start = usize::try_from(at * block).unwrap_or(usize::MAX);
            let pairs = pairs.iter().map(|&(index, place)| (index - start, place)).collect();
            (at, Hits { pairs, is_run: in_chunk.is_run })
        })
        .collect()
}

fn touched_block(geometry: &Geometry, blocks_of_axes: &[Vec<(u64, Hits)>], choice: &[u64]) -> TouchedBlock {
    let chosen = blocks_of_axes.iter().zip(choice).map(|(blocks, &at)| &blocks[usize::try_from(at).unwrap_or(0)]);
    let (place, hits): (Vec<u64>, Vec<Hits>) = chosen.cloned().unzip();
    let number = usize::try_from(number(geometry.block_grid(), &place)).unwrap_or(usize::MAX);
    TouchedBlock { start: number * geometry.block_nbytes(), hits }
}

/// All ways to take one of each list, the last one changing fastest; one empty way for no lists.
fn product(lists: &[Vec<u64>]) -> Vec<Vec<u64>> {
    lists.iter().fold(vec![Vec::new()], |ways, list| {
        ways.iter()
            .flat_map(|way| {
                list.iter().map(move |&choice| {
                    let mut way = way.clone();
                    way.push(choice);
                    way
                })
            })
            .collect()
    })
}
