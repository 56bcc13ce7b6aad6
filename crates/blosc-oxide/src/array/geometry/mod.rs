//! Shape, chunk shape and block shape of an array, and everything that follows from them.
//!
//! An array is divided into chunks, and each chunk into blocks. Chunks at the border are as large
//! as the others, and so are blocks at the border of a chunk: what lies outside is padding. All
//! products are checked when a [`Geometry`] is made.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation, clippy::unwrap_used)]

#[allow(
    clippy::arithmetic_side_effects,
    reason = "positions inside a block, whose length is a product that was checked"
)]
pub(in crate::array) mod cells;
#[allow(clippy::arithmetic_side_effects, reason = "coordinates below a length")]
pub(in crate::array) mod coordinates;
#[allow(
    clippy::arithmetic_side_effects,
    reason = "positions inside a chunk, whose length is a product that was checked"
)]
pub(in crate::array) mod copy;

use crate::error::{Result, bail, error};
use crate::limits::{MAX_BLOCKSIZE, MAX_DIMS, MAX_NBYTES};
use std::ops::Range;

/// How an array is divided into chunks and blocks.
///
/// ```
/// use blosc_oxide::Geometry;
/// let geometry = Geometry::new(8, &[1000, 250], &[100, 100], &[10, 100])?;
/// assert_eq!((geometry.grid(), geometry.nchunks()), (&[10, 3][..], 30));
/// assert_eq!((geometry.chunk_nbytes(), geometry.block_nbytes()), (80_000, 8000));
/// // Chunks at the edge of the array are cut off.
/// assert_eq!(geometry.chunk_spans(2)?, [0..100, 200..250]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Geometry {
    typesize: usize,
    shape: Vec<u64>,
    chunks: Vec<u64>,
    blocks: Vec<u64>,
    /// How many chunks there are along each dimension.
    grid: Vec<u64>,
    /// How many blocks a chunk has along each dimension.
    block_grid: Vec<u64>,
    nitems: u64,
    nchunks: u64,
    chunk_nbytes: usize,
    block_nbytes: usize,
}

impl Geometry {
    /// Checks that the three shapes go together.
    ///
    /// # Errors
    /// `InvalidArgument` if they have different numbers of dimensions, more than 16, a chunk or
    /// block of no length along a dimension that has some, blocks longer than chunks, or products
    /// beyond what the format can hold.
    pub fn new(typesize: usize, shape: &[u64], chunks: &[u64], blocks: &[u64]) -> Result<Self> {
        if shape.len() > MAX_DIMS || chunks.len() != shape.len() || blocks.len() != shape.len() {
            bail!(
                InvalidArgument,
                "array: shape, chunks and blocks have {}, {} and {} dimensions; it must be the same number, to {MAX_DIMS}",
                shape.len(),
                chunks.len(),
                blocks.len()
            );
        }
        if typesize == 0 {
            bail!(InvalidArgument, "array: items of 0 bytes");
        }
        for (axis, ((&length, &chunk), &block)) in shape.iter().zip(chunks).zip(blocks).enumerate() {
            if length > 0 && (chunk == 0 || block == 0) {
                bail!(
                    InvalidArgument,
                    "array: axis {axis} has {length} items, but chunks of {chunk} and blocks of {block}"
                );
            }
            if block > chunk {
                bail!(InvalidArgument, "array: axis {axis} has blocks of {block}, longer than its chunks of {chunk}");
            }
        }
        let block_grid: Vec<u64> = chunks.iter().zip(blocks).map(|(&chunk, &block)| cells(chunk, block)).collect();
        let grid: Vec<u64> = shape.iter().zip(chunks).map(|(&length, &chunk)| cells(length, chunk)).collect();
        let block_nbytes = nbytes("block", blocks.iter().copied(), typesize, MAX_BLOCKSIZE)?;
        let padded = padded_chunk(blocks, &block_grid)?;
        let chunk_nbytes = nbytes("chunk", padded.into_iter(), typesize, MAX_NBYTES)?;
        let nitems = product("items", shape.iter().copied())?;
        let nchunks = product("chunks", grid.iter().copied())?;
        // Padding included, since that is what is stored.
        let Some(_) = nchunks.checked_mul(chunk_nbytes as u64).filter(|&all| i64::try_from(all).is_ok()) else {
            bail!(InvalidArgument, "array: {nchunks} chunks of {chunk_nbytes} bytes are too much");
        };
        Ok(Self {
            typesize,
            shape: shape.to_vec(),
            chunks: chunks.to_vec(),
            blocks: blocks.to_vec(),
            grid,
            block_grid,
            nitems,
            nchunks,
            chunk_nbytes,
            block_nbytes,
        })
    }

    /// The same chunks and blocks for another shape.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_shape(&self, shape: &[u64]) -> Result<Self> {
        Self::new(self.typesize, shape, &self.chunks, &self.blocks)
    }

    /// How many dimensions there are.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.shape.len()
    }

    /// The size of an item.
    #[must_use]
    pub fn typesize(&self) -> usize {
        self.typesize
    }

    /// How many items there are along each dimension.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// How many items a chunk has along each dimension.
    #[must_use]
    pub fn chunks(&self) -> &[u64] {
        &self.chunks
    }

    /// How many items a block has along each dimension.
    #[must_use]
    pub fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// How many items there are.
    #[must_use]
    pub fn nitems(&self) -> u64 {
        self.nitems
    }

    /// How many chunks there are.
    #[must_use]
    pub fn nchunks(&self) -> u64 {
        self.nchunks
    }

    /// How many chunks there are along each dimension.
    #[must_use]
    pub fn grid(&self) -> &[u64] {
        &self.grid
    }

    /// How many blocks a chunk has along each dimension.
    #[must_use]
    pub fn block_grid(&self) -> &[u64] {
        &self.block_grid
    }

    /// The size of a chunk's data, padding included.
    #[must_use]
    pub fn chunk_nbytes(&self) -> usize {
        self.chunk_nbytes
    }

    /// The size of a block's data, padding included.
    #[must_use]
    pub fn block_nbytes(&self) -> usize {
        self.block_nbytes
    }

    /// The number of the chunk at these coordinates of the grid.
    #[must_use]
    pub fn chunk_index(&self, place: &[u64]) -> u64 {
        self.number_of(place.iter().copied())
    }

    pub(in crate::array) fn number_of(&self, place: impl Iterator<Item = u64>) -> u64 {
        number(&self.grid, place)
    }

    /// The number of the block at these coordinates of the grid of a chunk's blocks.
    pub(in crate::array) fn block_number(&self, place: impl Iterator<Item = u64>) -> u64 {
        number(&self.block_grid, place)
    }

    /// Which items the chunk with this number has along each axis.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such chunk.
    pub fn chunk_spans(&self, chunk: u64) -> Result<Vec<Range<u64>>> {
        let nchunks = self.nchunks();
        if chunk >= nchunks {
            bail!(InvalidArgument, "chunk {chunk} is asked for, the array has {nchunks}");
        }
        Ok(self.spans_of_chunk(chunk))
    }

    /// The same for a number that is known to be valid.
    pub(in crate::array) fn spans_of_chunk(&self, chunk: u64) -> Vec<Range<u64>> {
        self.chunk_coordinates(chunk).into_iter().enumerate().map(|(axis, at)| self.chunk_span(axis, at)).collect()
    }

    /// Whether the items of a chunk without padding follow each other in the array, in the order in
    /// which they are stored.
    pub(in crate::array) fn keeps_order(&self) -> bool {
        is_run(&self.chunks, &self.shape) && is_run(&self.blocks, &self.chunks)
    }

    /// Whether a chunk has padding besides these items: behind the end of the array, or behind its
    /// last block.
    pub(in crate::array) fn has_padding(&self, spans: &[Range<u64>]) -> bool {
        let lengths = self.chunks.iter().zip(&self.blocks);
        spans
            .iter()
            .zip(lengths)
            .any(|(span, (&chunk, &block))| span.end.saturating_sub(span.start) < chunk || !chunk.is_multiple_of(block))
    }

    /// The coordinates in the grid of the chunk with this number.
    #[must_use]
    pub fn chunk_coordinates(&self, chunk: u64) -> Vec<u64> {
        place(&self.grid, chunk)
    }

    /// Which items along an axis the chunk at this index of the grid has; the last one may have
    /// fewer.
    #[must_use]
    pub fn chunk_span(&self, axis: usize, place: u64) -> Range<u64> {
        let (Some(&chunk), Some(&length)) = (self.chunks.get(axis), self.shape.get(axis)) else { return 0..0 };
        let start = place.saturating_mul(chunk);
        start..start.saturating_add(chunk).min(length)
    }
}

/// Whether the items of a cell at the start of a box follow each other in it, in C order.
fn is_run(cell: &[u64], whole: &[u64]) -> bool {
    let is_longer_than_one = cell.iter().position(|&length| length > 1).unwrap_or(cell.len());
    cell.iter().zip(whole).skip(is_longer_than_one.saturating_add(1)).all(|(cell, whole)| cell == whole)
}

/// How many cells of a size cover a length.
fn cells(length: u64, cell: u64) -> u64 {
    if length == 0 || cell == 0 { 0 } else { length.div_ceil(cell) }
}

/// The lengths of a chunk with its padding.
fn padded_chunk(blocks: &[u64], block_grid: &[u64]) -> Result<Vec<u64>> {
    blocks
        .iter()
        .zip(block_grid)
        .map(|(&block, &count)| {
            block
                .checked_mul(count)
                .ok_or_else(|| error!(InvalidArgument, "array: {count} blocks of {block} are too long"))
        })
        .collect()
}

fn product(what: &str, mut lengths: impl Iterator<Item = u64>) -> Result<u64> {
    let product = lengths.try_fold(1_u64, u64::checked_mul);
    product.ok_or_else(|| error!(InvalidArgument, "array: there are more {what} than 64 bits can count"))
}

fn nbytes(what: &str, lengths: impl Iterator<Item = u64>, typesize: usize, max: usize) -> Result<usize> {
    let items = product(what, lengths)?;
    let nbytes = usize::try_from(items).ok().and_then(|items| items.checked_mul(typesize));
    match nbytes {
        Some(nbytes) if nbytes <= max => Ok(nbytes),
        _ => bail!(InvalidArgument, "array: a {what} of {items} items of {typesize} bytes is more than {max} bytes"),
    }
}

/// The number of coordinates in a grid, counted in C order.
fn number(grid: &[u64], place: impl Iterator<Item = u64>) -> u64 {
    grid.iter().zip(place).fold(0, |number: u64, (&length, at)| number.saturating_mul(length).saturating_add(at))
}

/// The coordinates of a number in a grid.
fn place(grid: &[u64], mut number: u64) -> Vec<u64> {
    let mut place = vec![0; grid.len()];
    for (at, &length) in place.iter_mut().zip(grid).rev() {
        *at = number.checked_rem(length).unwrap_or_default();
        number = number.checked_div(length).unwrap_or_default();
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn borders_are_padded() {
        let geometry = Geometry::new(4, &[5, 7], &[4, 5], &[2, 3]).unwrap();
        assert_eq!(geometry.grid(), [2, 2]);
        assert_eq!(geometry.block_grid(), [2, 2]);
        assert_eq!(geometry.chunk_nbytes(), 4 * 6 * 4);
        assert_eq!(geometry.block_nbytes(), 2 * 3 * 4);
        assert_eq!((geometry.nitems(), geometry.nchunks()), (35, 4));
        assert_eq!(geometry.chunk_coordinates(2), [1, 0]);
        assert_eq!(geometry.chunk_index(&[1, 0]), 2);
        assert_eq!(geometry.chunk_span(0, 1), 4..5);
    }

    #[test]
    fn chunks_of_whole_rows_keep_the_order_of_items() {
        let keeps_order =
            |chunks: &[u64], blocks: &[u64]| Geometry::new(1, &[8, 6, 4], chunks, blocks).unwrap().keeps_order();
        assert!(keeps_order(&[4, 6, 4], &[1, 3, 4]));
        assert!(keeps_order(&[4, 6, 4], &[2, 6, 4]));
        assert!(keeps_order(&[1, 3, 4], &[1, 1, 2]));
        assert!(keeps_order(&[1, 1, 2], &[1, 1, 1]));
        assert!(!keeps_order(&[4, 3, 4], &[1, 3, 4]));
        assert!(!keeps_order(&[4, 6, 4], &[2, 3, 4]));
        assert!(!keeps_order(&[4, 6, 4], &[1, 2, 2]));
    }

    #[test]
    fn no_dimensions_are_one_item() {
        let geometry = Geometry::new(8, &[], &[], &[]).unwrap();
        assert_eq!((geometry.nitems(), geometry.nchunks(), geometry.chunk_nbytes()), (1, 1, 8));
    }

    #[test]
    fn a_dimension_of_no_length_has_no_chunks() {
        let geometry = Geometry::new(4, &[0, 10], &[3, 5], &[3, 5]).unwrap();
        assert_eq!((geometry.nitems(), geometry.nchunks()), (0, 0));
        assert_eq!(geometry.chunk_nbytes(), 60);
    }

    #[test]
    fn what_cannot_be_is_refused_at_once() {
        let start = Instant::now();
        let huge = [1_u64 << 31; 16];
        assert!(Geometry::new(1, &huge, &huge, &huge).is_err());
        assert!(Geometry::new(1, &[u64::MAX; 16], &[1; 16], &[1; 16]).is_err());
        assert!(Geometry::new(1, &[10], &[0], &[0]).is_err());
        assert!(Geometry::new(1, &[10], &[2], &[3]).is_err());
        assert!(Geometry::new(0, &[10], &[2], &[2]).is_err());
        assert!(Geometry::new(1, &[1; 17], &[1; 17], &[1; 17]).is_err());
        assert!(Geometry::new(1, &[10], &[2, 2], &[2]).is_err());
        assert!(start.elapsed() < Duration::from_millis(10));
    }
}
