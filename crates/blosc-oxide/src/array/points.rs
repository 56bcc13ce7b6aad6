//! Scattered items: by their indices, or by a mask.

use super::geometry::copy::size;
use super::reader::ArrayReader;
use super::write::edit::ArrayEdit;
use super::write::encoder::{Filled, ranges_of};
use crate::array::geometry::Geometry;
use crate::error::{Result, bail, error};
use crate::exec::{lock, tick};
use std::ops::Range;
use std::sync::Mutex;

/// Where a point is stored, and which of the points it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    chunk: usize,
    /// Where its item starts in the chunk's data.
    offset: usize,
    number: usize,
}

impl ArrayReader {
    /// The items at scattered points, one after the other. `points` has an index for each axis of
    /// the first point, then those of the second, and so on, in any order. Each block that is
    /// touched is decoded once, in parallel.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options};
    /// let array = NdArray::from_data(&ArrayOptions::new(&[2, 3], Options::new(1)), b"abcdef")?;
    /// assert_eq!(array.gather(&[1, 2, 0, 0, 1, 2])?, b"faf");
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` if `points` does not have an index for each axis of each point, or one is
    /// outside; as reading the chunks.
    pub fn gather(&self, points: &[u64]) -> Result<Vec<u8>> {
        let points = self.located(points)?;
        self.gather_points(&points)
    }

    /// The items at which `mask` is true, in C order; it has the shape of the array.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options};
    /// let array = NdArray::from_data(&ArrayOptions::new(&[2, 2], Options::new(1)), b"abcd")?;
    /// assert_eq!(array.masked(&[true, false, false, true])?, b"ad");
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` if `mask` has another length than the array has items; as reading the
    /// chunks.
    pub fn masked(&self, mask: &[bool]) -> Result<Vec<u8>> {
        let points = self.under_mask(mask)?;
        self.gather_points(&points)
    }

    /// Where points are stored, in that order.
    fn located(&self, points: &[u64]) -> Result<Vec<Point>> {
        let geometry = self.geometry();
        let ndim = geometry.ndim();
        if ndim == 0 || !points.len().is_multiple_of(ndim) {
            bail!(InvalidArgument, "{} indices are given for points of {ndim} dimensions", points.len());
        }
        let locator = Locator::new(geometry);
        let mut located = Vec::with_capacity(points.len() / ndim);
        for (number, place) in points.chunks_exact(ndim).enumerate() {
            for (axis, (&index, &length)) in place.iter().zip(geometry.shape()).enumerate() {
                if index >= length {
                    bail!(InvalidArgument, "point {number}: {index} is not within the {length} items of axis {axis}");
                }
            }
            located.push(locator.locate(place, number));
        }
        located.sort_unstable();
        Ok(located)
    }

    fn under_mask(&self, mask: &[bool]) -> Result<Vec<Point>> {
        let geometry = self.geometry();
        if mask.len() as u64 != geometry.nitems() {
            bail!(InvalidArgument, "a mask of {} is given for {} items", mask.len(), geometry.nitems());
        }
        let locator = Locator::new(geometry);
        let mut place = vec![0; geometry.ndim()];
        let mut located = Vec::with_capacity(mask.iter().filter(|is_taken| **is_taken).count());
        for &is_taken in mask {
            if is_taken {
                located.push(locator.locate(&place, located.len()));
            }
            for (at, &length) in place.iter_mut().zip(geometry.shape()).rev() {
                *at += 1;
                if *at < length {
                    break;
                }
                *at = 0;
            }
        }
        located.sort_unstable();
        Ok(located)
    }

    fn gather_points(&self, points: &[Point]) -> Result<Vec<u8>> {
        let typesize = self.geometry().typesize();
        let nbytes = points.len().checked_mul(typesize);
        let nbytes = nbytes.ok_or_else(|| error!(LimitExceeded, "{} points are too many", points.len()))?;
        self.sc.limits().check("gathered items", nbytes)?;
        let mut stored = vec![0; nbytes];
        self.read_points(points, &mut stored)?;
        if points.iter().enumerate().all(|(at, point)| point.number == at) {
            return Ok(stored);
        }
        let mut items = vec![0; nbytes];
        for (point, item) in points.iter().zip(stored.chunks_exact(typesize)) {
            items[point.number * typesize..][..typesize].copy_from_slice(item);
        }
        Ok(items)
    }

    /// Reads the items of points, which are in the order in which they are stored, in that order.
    fn read_points(&self, points: &[Point], out: &mut [u8]) -> Result<()> {
        self.sc.limits().check("a block", self.geometry().block_nbytes())?;
        let typesize = self.geometry().typesize();
        let mut rest = out;
        let mut jobs = Vec::new();
        for of_chunk in points.chunk_by(|a, b| a.chunk == b.chunk) {
            let (own, after) = std::mem::take(&mut rest).split_at_mut(of_chunk.len() * typesize);
            rest = after;
            jobs.push((of_chunk, own));
        }
        let threads = &self.sc.options().threads;
        let decoded = jobs.len().saturating_mul(self.geometry().block_nbytes());
        let workers = threads.workers(jobs.len(), decoded);
        let jobs = Mutex::new(jobs.into_iter());
        let failure = Mutex::new(None);
        threads.run(workers, &|_| {
            let mut block = Vec::new();
            loop {
                tick();
                let Some((points, out)) = lock(&jobs).next() else { return };
                if let Err(error) = self.read_points_of_chunk(points, out, &mut block) {
                    *lock(&jobs) = Vec::new().into_iter();
                    lock(&failure).get_or_insert(error);
                }
            }
        });
        match failure.into_inner().unwrap_or_default() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn read_points_of_chunk(&self, points: &[Point], out: &mut [u8], block: &mut Vec<u8>) -> Result<()> {
        let Some(first) = points.first() else { return Ok(()) };
        let (typesize, block_nbytes) = (self.geometry().typesize(), self.geometry().block_nbytes());
        let in_blocks = || points.chunk_by(|a, b| a.offset / block_nbytes == b.offset / block_nbytes);
        let wanted: Vec<Range<usize>> =
            in_blocks().map(|points| points[0].offset..points[points.len() - 1].offset + typesize).collect();
        self.sc.with_parts(first.chunk, &wanted, |parts| {
            let mut items = out.chunks_exact_mut(typesize);
            for (points, wanted) in in_blocks().zip(&wanted) {
                if block.len() < wanted.len() {
                    block.resize(wanted.len(), 0);
                }
                parts.read(wanted.start, &mut block[..wanted.len()])?;
                for (point, item) in points.iter().zip(&mut items) {
                    item.copy_from_slice(&block[point.offset - wanted.start..][..typesize]);
                }
            }
            Ok(())
        })
    }
}

impl ArrayEdit {
    /// Writes an item to each of some scattered points, given as for
    /// [`gather`](super::ArrayReader::gather). Of two for the same point, the last one is kept.
    ///
    /// # Errors
    /// As [`gather`](super::ArrayReader::gather) and [`write`](Self::write); `InvalidArgument` if
    /// `data` does not have an item for each point.
    pub fn scatter(&mut self, points: &[u64], data: &[u8]) -> Result<()> {
        self.edit(|array| {
            let points = array.located(points)?;
            array.scatter_points(&points, data)
        })
    }

    /// Writes `data` over the items at which `mask` is true, in C order.
    ///
    /// # Errors
    /// As [`masked`](super::ArrayReader::masked) and [`write`](Self::write); `InvalidArgument` if
    /// `data` does not have an item for each that is true.
    pub fn write_masked(&mut self, mask: &[bool], data: &[u8]) -> Result<()> {
        self.edit(|array| {
            let points = array.under_mask(mask)?;
            array.scatter_points(&points, data)
        })
    }

    fn scatter_points(&mut self, points: &[Point], data: &[u8]) -> Result<()> {
        let typesize = self.geometry().typesize();
        if Some(data.len()) != points.len().checked_mul(typesize) {
            bail!(InvalidArgument, "{} bytes are given for {} items of {typesize}", data.len(), points.len());
        }
        let block_nbytes = self.geometry().block_nbytes();
        let chunks: Vec<&[Point]> = points.chunk_by(|a, b| a.chunk == b.chunk).collect();
        let geometry = self.geometry().clone();
        let staged = self.encode(&geometry, chunks.len(), &|array, which, chunk, _| {
            let old = chunks[which][0].chunk;
            let mut changed = vec![false; chunk.len() / block_nbytes];
            for of_block in chunks[which].chunk_by(|a, b| a.offset / block_nbytes == b.offset / block_nbytes) {
                changed[of_block[0].offset / block_nbytes] = true;
            }
            array.sc.ranges_into(old, &ranges_of(&changed, block_nbytes), chunk)?;
            for point in chunks[which] {
                chunk[point.offset..][..typesize].copy_from_slice(&data[point.number * typesize..][..typesize]);
            }
            Ok(Filled::Blocks { old, changed })
        })?;
        chunks.iter().zip(staged).try_for_each(|(points, staged)| self.array.sc.put(points[0].chunk, staged))
    }
}

/// Finds where items are stored.
struct Locator<'a> {
    geometry: &'a Geometry,
}

impl<'a> Locator<'a> {
    fn new(geometry: &'a Geometry) -> Self {
        Self { geometry }
    }

    /// Where the item at these coordinates is stored.
    fn locate(&self, place: &[u64], number: usize) -> Point {
        let geometry = self.geometry;
        let (mut chunk, mut block, mut item) = (0, 0, 0);
        for (axis, &index) in place.iter().enumerate() {
            let (chunk_length, block_length) = (geometry.chunks()[axis], geometry.blocks()[axis]);
            let in_chunk = index % chunk_length;
            chunk = chunk * geometry.grid()[axis] + index / chunk_length;
            block = block * geometry.block_grid()[axis] + in_chunk / block_length;
            item = item * block_length + in_chunk % block_length;
        }
        let offset = size(block) * geometry.block_nbytes() + size(item) * geometry.typesize();
        Point { chunk: size(chunk), offset, number }
    }
}
