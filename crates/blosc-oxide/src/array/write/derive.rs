//! New arrays made of others: copied with other chunks or another codec, transposed, joined.

use super::edit::ArrayEdit;
use super::encoder::Filled;
use crate::array::geometry::Geometry;
use crate::array::geometry::copy::{Plain, ReadItems, c_strides, put_into_blocks, size};
use crate::array::meta;
use crate::array::nd_array::NdArray;
use crate::array::options::ArrayOptions;
use crate::array::reader::ArrayReader;
use crate::error::{Result, bail};
use crate::storage::Location;
use std::ops::Range;

impl ArrayReader {
    /// A copy with other chunks, with another codec or at another location: start with
    /// [`options`](Self::options). All metalayers are copied too. The shape, typesize and type of
    /// `options` are ignored.
    ///
    /// It is made chunk by chunk, several at the same time: no more of it is in memory than a few
    /// chunks for each thread.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, Codec, Fill, NdArray, Options, Location};
    /// let options = ArrayOptions::new(&[100, 100], Options::new(4)).with_chunks(&[100, 10]).with_blocks(&[100, 1]);
    /// let array = NdArray::new(&options, &Fill::Value(vec![1, 2, 3, 4]))?;
    /// let options = array.options().with_chunks(&[10, 100]).with_blocks(&[5, 100]).with_compression(Options::new(4).with_codec(Codec::Zstd));
    /// let copy = array.copy(Location::Memory, &options)?;
    /// assert_eq!(copy.geometry().chunks(), [10, 100]);
    /// assert_eq!(copy.to_vec()?, array.to_vec()?);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As reading the one and [creating](crate::NdArray::create) the other.
    pub fn copy(&self, place: impl Into<Location>, options: &ArrayOptions) -> Result<NdArray> {
        let options = options.clone().for_items(self.shape(), self.geometry().typesize(), self.dtype());
        self.derive(place.into(), &options, &|spans, out, strides| self.read_spans(spans, out, strides))
    }

    /// A copy whose axis `i` is the axis `axes[i]` of this one. See [`copy`](Self::copy) for
    /// `options`; chunks and blocks are those of the copy ([`ArrayOptions::transposed`] helps).
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options, Location};
    /// let array = NdArray::from_data(&ArrayOptions::new(&[2, 3], Options::new(1)), &[1, 2, 3, 4, 5, 6])?;
    /// let turned = array.transpose(Location::Memory, &[1, 0], &array.options().transposed(&[1, 0])?)?;
    /// assert_eq!((turned.shape(), turned.to_vec()?), (&[3, 2][..], vec![1, 4, 2, 5, 3, 6]));
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`copy`](Self::copy); `InvalidArgument` if `axes` does not have each axis once.
    pub fn transpose(&self, place: impl Into<Location>, axes: &[usize], options: &ArrayOptions) -> Result<NdArray> {
        check_axes(axes, self.shape().len())?;
        let shape: Vec<u64> = axes.iter().map(|&axis| self.shape()[axis]).collect();
        let options = options.clone().for_items(&shape, self.geometry().typesize(), self.dtype());
        self.derive(place.into(), &options, &|spans, out, strides| {
            let mut own = (vec![0..0; axes.len()], vec![0; axes.len()]);
            for (at, &axis) in axes.iter().enumerate() {
                own.0[axis] = spans[at].clone();
                own.1[axis] = strides[at];
            }
            self.read_spans(&own.0, out, &own.1)
        })
    }

    /// Makes an array chunk by chunk, with the metalayers of this one.
    fn derive(&self, place: Location, options: &ArrayOptions, read: &ReadItems<'_>) -> Result<NdArray> {
        let metalayers = self.sc.metalayers().iter().filter(|(name, _)| !meta::is_own(name));
        let metalayers: Vec<(&str, &[u8])> = metalayers.collect();
        ArrayEdit::build(place, options, &metalayers, |array| {
            array.vlmetalayers_mut().extend(self.sc.vlmetalayers())?;
            let geometry = array.geometry().clone();
            array.fill_chunks(&|_, number, chunk, scratch| fill_chunk(&geometry, number as u64, read, chunk, scratch))
        })?
        .commit()
    }
}

impl NdArray {
    /// Joins arrays along an axis into a new one, with the metalayers of the first. See
    /// [`copy`](crate::ArrayReader::copy) for `options`.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options, Location};
    /// let row = |data: &[u8]| NdArray::from_data(&ArrayOptions::new(&[1, 2], Options::new(1)), data);
    /// let (a, b) = (row(&[1, 2])?, row(&[3, 4])?);
    /// let both = NdArray::concatenate(Location::Memory, &[&a, &b], 0, &a.options())?;
    /// assert_eq!((both.shape(), both.to_vec()?), (&[2, 2][..], vec![1, 2, 3, 4]));
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`copy`](crate::ArrayReader::copy); `InvalidArgument` if there is no array or no such
    /// axis, or if the arrays have items of different types or different lengths along another
    /// axis.
    pub fn concatenate(
        place: impl Into<Location>,
        arrays: &[&ArrayReader],
        axis: usize,
        options: &ArrayOptions,
    ) -> Result<Self> {
        let Some((&first, others)) = arrays.split_first() else {
            bail!(InvalidArgument, "there are no arrays to join")
        };
        let mut shape = first.shape().to_vec();
        if axis >= shape.len() {
            bail!(InvalidArgument, "there is no axis {axis}, there are {}", shape.len());
        }
        for other in others {
            let fits = other.shape().len() == shape.len()
                && shape.iter().zip(other.shape()).enumerate().all(|(at, (a, b))| at == axis || a == b);
            if !fits || other.dtype() != first.dtype() || other.geometry().typesize() != first.geometry().typesize() {
                bail!(
                    InvalidArgument,
                    "an array of shape {:?} and type {} does not go with one of {shape:?} and {} along axis {axis}",
                    other.shape(),
                    other.dtype(),
                    first.dtype()
                );
            }
            shape[axis] = shape[axis].saturating_add(other.shape()[axis]);
        }
        let options = options.clone().for_items(&shape, first.geometry().typesize(), first.dtype());
        first.derive(place.into(), &options, &|spans, out, strides| joined(arrays, axis, spans, out, strides))
    }
}

fn check_axes(axes: &[usize], ndim: usize) -> Result<()> {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..ndim) {
        bail!(InvalidArgument, "axes {axes:?} are not each of the {ndim} once");
    }
    Ok(())
}

/// Fills the data of a chunk with what `read` gives for it.
fn fill_chunk(
    geometry: &Geometry,
    number: u64,
    read: &ReadItems<'_>,
    chunk: &mut [u8],
    scratch: &mut Vec<u8>,
) -> Result<Filled<'static>> {
    let spans = geometry.spans_of_chunk(number);
    let shape: Vec<usize> = spans.iter().map(|span| size(span.end - span.start)).collect();
    let strides = c_strides(shape.iter().copied(), geometry.typesize());
    scratch.resize(shape.iter().product::<usize>() * geometry.typesize(), 0);
    read(&spans, scratch, &strides)?;
    if geometry.has_padding(&spans) {
        chunk.fill(0);
    }
    put_into_blocks(geometry, &shape, Plain { bytes: scratch, start: 0, strides: &strides }, chunk);
    Ok(Filled::Whole)
}

/// Reads a box of items of arrays that are joined along an axis.
fn joined(arrays: &[&ArrayReader], axis: usize, spans: &[Range<u64>], out: &mut [u8], strides: &[usize]) -> Result<()> {
    let mut start = 0;
    for array in arrays {
        let end = start + array.shape()[axis];
        let (from, to) = (spans[axis].start.max(start), spans[axis].end.min(end));
        if from < to {
            let mut own = spans.to_vec();
            own[axis] = from - start..to - start;
            let offset = size(from - spans[axis].start) * strides[axis];
            array.read_spans(&own, &mut out[offset..], strides)?;
        }
        start = end;
    }
    Ok(())
}

impl ArrayOptions {
    /// The same for an array whose axis `i` is the axis `axes[i]` of this one.
    ///
    /// # Errors
    /// `InvalidArgument` if `axes` does not have each axis once.
    pub fn transposed(mut self, axes: &[usize]) -> Result<Self> {
        check_axes(axes, self.shape.len())?;
        let turned = |lengths: &[u64]| axes.iter().filter_map(|&axis| lengths.get(axis).copied()).collect();
        self.shape = turned(&self.shape);
        self.chunks = self.chunks.map(|chunks| turned(&chunks));
        self.blocks = self.blocks.map(|blocks| turned(&blocks));
        Ok(self)
    }
}
