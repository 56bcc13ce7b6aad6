//! Changing the shape of an array: growing and cutting it, deleting and inserting items.
//!
//! Each axis of the new shape is described by pieces that come from the old items, from new data,
//! or are zeros. Chunks that hold the same items as before are kept as they are; the others are
//! assembled and compressed again. Nothing of the array changes before all of them are stored, and
//! then shape and chunks change together.

use super::edit::ArrayEdit;
use super::encoder::Filled;
use crate::array::geometry::Geometry;
use crate::array::geometry::coordinates::advance;
use crate::array::geometry::copy::{Plain, ReadItems, c_strides, copy_items, put_into_blocks, size};
use crate::array::read::file_items::FileItems;
use crate::array::reader::ArrayReader;
use crate::chunk::Special;
use crate::error::{Result, bail, error};
use crate::numpy::ItemOrder;
use crate::schunk::{Source, Staged};
use crate::storage::ReadAt;
use std::ops::Range;

/// Where the items of a piece come from, by the index of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Old(u64),
    Data(u64),
    Zeros,
}

impl From {
    fn after(self, items: u64) -> Self {
        match self {
            Self::Old(first) => Self::Old(first + items),
            Self::Data(first) => Self::Data(first + items),
            Self::Zeros => Self::Zeros,
        }
    }
}

/// Items in a row along an axis of the new shape.
#[derive(Debug, Clone)]
struct Piece {
    range: Range<u64>,
    from: From,
}

/// One axis of the new shape.
type AxisPieces = Vec<Piece>;

impl ArrayEdit {
    /// Makes the array longer or shorter along any axis. Items that are new are zeros.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options};
    /// let mut array = NdArray::from_data(&ArrayOptions::new(&[2, 2], Options::new(1)), &[1, 2, 3, 4])?.edit()?;
    /// array.resize(&[3, 1])?;
    /// assert_eq!(array.to_vec()?, [1, 3, 0]);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` if `shape` has another number of dimensions or is more than the format can
    /// hold; as reading and writing the chunks. Nothing changes then.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.edit(|array| {
            let geometry = array.geometry().with_shape(shape)?;
            let lengths = array.shape().iter().zip(shape);
            let axes: Vec<AxisPieces> = lengths.map(|(&old, &new)| cut_or_extended(old, new)).collect();
            array.rebuild(geometry, &axes, None)
        })
    }

    /// Adds `data` at the end of `axis`: whole layers, all items in C order.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options};
    /// let mut array = NdArray::from_data(&ArrayOptions::new(&[2, 2], Options::new(1)), &[1, 2, 3, 4])?.edit()?;
    /// array.append(1, &[7, 8])?;
    /// assert_eq!((array.shape(), array.to_vec()?), (&[2, 3][..], vec![1, 2, 7, 3, 4, 8]));
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn append(&mut self, axis: usize, data: &[u8]) -> Result<()> {
        self.edit(|array| {
            let end = array.length(axis)?;
            array.insert_here(axis, end, data)
        })
    }

    /// Adds the bytes of a file at the end of `axis`: whole layers, all items in `order`. They are
    /// read chunk by chunk, so that no more of them is in memory than a few chunks for each thread.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), and whatever reading the file reports.
    pub fn append_from(&mut self, axis: usize, file: &impl ReadAt, order: ItemOrder) -> Result<()> {
        self.edit(|array| {
            let end = array.length(axis)?;
            let shape = array.inserted_shape(axis, file.len()?)?;
            let typesize = array.geometry().typesize();
            let items = FileItems { file, start: 0, shape: &shape, typesize, order };
            array.insert_items(axis, end, shape[axis], &|spans, out, strides| {
                let mut bytes = Vec::new();
                let own = items.read(spans, &mut bytes)?;
                let lengths: Vec<usize> = spans.iter().map(|span| size(span.end - span.start)).collect();
                copy_items(typesize, &lengths, Plain { bytes: &bytes, start: 0, strides: &own }, out, strides);
                Ok(())
            })
        })
    }

    /// Puts `data` in front of the index `at` of `axis`: whole layers, all items in C order. Where
    /// neither `at` nor the number of layers is a multiple of the length of chunks, all chunks
    /// behind it are compressed again. No data is no layers, also where layers have no items.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such axis or index, or if `data` does not make up whole
    /// layers; as reading and writing the chunks. Nothing changes then.
    pub fn insert(&mut self, axis: usize, at: u64, data: &[u8]) -> Result<()> {
        self.edit(|array| array.insert_here(axis, at, data))
    }

    fn insert_here(&mut self, axis: usize, at: u64, data: &[u8]) -> Result<()> {
        let old = self.length(axis)?;
        if at > old {
            bail!(InvalidArgument, "items are to be put at {at} of axis {axis}, which has {old}");
        }
        let shape = self.inserted_shape(axis, data.len() as u64)?;
        let typesize = self.geometry().typesize();
        let own = c_strides(shape.iter().map(|&length| size(length)), typesize);
        self.insert_items(axis, at, shape[axis], &|spans, out, strides| {
            let start = spans.iter().zip(&own).map(|(span, stride)| size(span.start) * stride).sum();
            let lengths: Vec<usize> = spans.iter().map(|span| size(span.end - span.start)).collect();
            copy_items(typesize, &lengths, Plain { bytes: data, start, strides: &own }, out, strides);
            Ok(())
        })
    }

    /// The shape of so many bytes that are to be put into `axis`.
    fn inserted_shape(&self, axis: usize, nbytes: u64) -> Result<Vec<u64>> {
        let layer = self.layer_nbytes(axis)?;
        // The number of layers without items does not follow from their bytes; no data is no
        // layers.
        let count = if nbytes == 0 { Some(0) } else { nbytes.checked_div(layer) };
        let Some(count) = count.filter(|count| count * layer == nbytes) else {
            bail!(InvalidArgument, "{nbytes} bytes are no whole layers of {layer} bytes along axis {axis}");
        };
        let mut shape = self.shape().to_vec();
        shape[axis] = count;
        Ok(shape)
    }

    /// Puts `count` layers, which `read` gives, in front of the index `at` of `axis`.
    fn insert_items(&mut self, axis: usize, at: u64, count: u64, read: &ReadItems<'_>) -> Result<()> {
        let mut shape = self.shape().to_vec();
        let length = shape[axis].checked_add(count);
        shape[axis] = length.ok_or_else(|| error!(InvalidArgument, "axis {axis} gets too long"))?;
        let geometry = self.geometry().with_shape(&shape)?;
        let mut axes: Vec<AxisPieces> = self.shape().iter().map(|&length| cut_or_extended(length, length)).collect();
        axes[axis] = vec![
            Piece { range: 0..at, from: From::Old(0) },
            Piece { range: at..at + count, from: From::Data(0) },
            Piece { range: at + count..shape[axis], from: From::Old(at) },
        ];
        axes[axis].retain(|piece| !piece.range.is_empty());
        self.rebuild(geometry, &axes, Some(read))
    }

    /// Deletes the items of `range` along `axis`.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options};
    /// let mut array = NdArray::from_data(&ArrayOptions::new(&[5], Options::new(1)), &[1, 2, 3, 4, 5])?.edit()?;
    /// array.delete(0, 1..3)?;
    /// assert_eq!(array.to_vec()?, [1, 4, 5]);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such axis or range; as reading and writing the chunks.
    /// Nothing has changed then.
    pub fn delete(&mut self, axis: usize, range: Range<u64>) -> Result<()> {
        self.edit(|array| {
            let old = array.length(axis)?;
            if range.start > range.end || range.end > old {
                bail!(InvalidArgument, "items {range:?} are to be taken out of axis {axis}, which has {old}");
            }
            let mut shape = array.shape().to_vec();
            shape[axis] = old - (range.end - range.start);
            let geometry = array.geometry().with_shape(&shape)?;
            let mut axes: Vec<AxisPieces> =
                array.shape().iter().map(|&length| cut_or_extended(length, length)).collect();
            axes[axis] = vec![
                Piece { range: 0..range.start, from: From::Old(0) },
                Piece { range: range.start..shape[axis], from: From::Old(range.end) },
            ];
            axes[axis].retain(|piece| !piece.range.is_empty());
            array.rebuild(geometry, &axes, None)
        })
    }

    /// Removes axes of length 1.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such axis, if it has another length, or if chunks are
    /// longer along it than the array: such an array must be copied with chunks of 1 first.
    pub fn squeeze(&mut self, axes: &[usize]) -> Result<()> {
        self.edit(|array| {
            let old = array.geometry().clone();
            for &axis in axes {
                let length = array.length(axis)?;
                if length != 1 || old.chunks()[axis] != 1 {
                    let chunk = old.chunks()[axis];
                    bail!(
                        InvalidArgument,
                        "axis {axis} has {length} items in chunks of {chunk}, it must be 1 in chunks of 1"
                    );
                }
            }
            let kept = |lengths: &[u64]| -> Vec<u64> {
                let kept = lengths.iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
                kept.map(|(_, &length)| length).collect()
            };
            let (shape, chunks, blocks) = (kept(old.shape()), kept(old.chunks()), kept(old.blocks()));
            array.relabel(Geometry::new(old.typesize(), &shape, &chunks, &blocks)?)
        })
    }

    /// Adds an axis of length 1 in front of `axis`, or at the end.
    ///
    /// # Errors
    /// `InvalidArgument` if there are fewer axes than `axis`, or 16 already.
    pub fn expand_dims(&mut self, axis: usize) -> Result<()> {
        self.edit(|array| {
            let old = array.geometry().clone();
            if axis > old.ndim() {
                bail!(InvalidArgument, "an axis is to be put at {axis}, there are {}", old.ndim());
            }
            let with_one = |lengths: &[u64]| [&lengths[..axis], &[1], &lengths[axis..]].concat();
            let (shape, chunks, blocks) = (with_one(old.shape()), with_one(old.chunks()), with_one(old.blocks()));
            array.relabel(Geometry::new(old.typesize(), &shape, &chunks, &blocks)?)
        })
    }

    /// Changes the description of the same chunks.
    fn relabel(&mut self, geometry: Geometry) -> Result<()> {
        let kept = self.sc.nchunks();
        self.become_geometry(geometry, kept, Vec::new())
    }

    fn length(&self, axis: usize) -> Result<u64> {
        let length = self.shape().get(axis).copied();
        length.ok_or_else(|| error!(InvalidArgument, "there is no axis {axis}, there are {}", self.shape().len()))
    }

    /// The size of the items at one index of an axis.
    fn layer_nbytes(&self, axis: usize) -> Result<u64> {
        let others = self.shape().iter().enumerate().filter(|(other, _)| *other != axis);
        let nbytes = others.map(|(_, &length)| length).try_fold(self.geometry().typesize() as u64, u64::checked_mul);
        nbytes.ok_or_else(|| error!(InvalidArgument, "a layer of axis {axis} is more than a file can hold"))
    }

    /// Becomes an array whose axes are made of these pieces.
    fn rebuild(&mut self, geometry: Geometry, axes: &[AxisPieces], data: Option<&ReadItems<'_>>) -> Result<()> {
        if geometry.shape() == self.shape() {
            // Nothing is inserted, and nothing deleted.
            return Ok(());
        }
        self.check_chunks(&geometry)?;
        let old = self.geometry().clone();
        let kept = chunks_kept(&old, &geometry, axes);
        let (mut sources, mut composed) = (Vec::with_capacity(size(geometry.nchunks() - kept)), Vec::new());
        for number in kept..geometry.nchunks() {
            let ready = ready_source(&old, &geometry, axes, number);
            if ready.is_none() {
                composed.push(number);
            }
            sources.push(ready.unwrap_or(Source::New(Staged::Special(Special::Zeros))));
        }
        let staged = self.encode(&geometry, composed.len(), &|array, which, chunk, scratch| {
            compose(array, &geometry, axes, data, composed[which], chunk, scratch)
        })?;
        for (number, staged) in composed.into_iter().zip(staged) {
            sources[size(number - kept)] = Source::New(staged);
        }
        self.become_geometry(geometry, size(kept), sources)
    }
}

/// How many chunks at the start do not change: those before the first change of the first
/// axis, if no other axis changes.
fn chunks_kept(old: &Geometry, new: &Geometry, axes: &[AxisPieces]) -> u64 {
    let (Some(first), Some(&chunk)) = (axes.first().and_then(|pieces| pieces.first()), new.chunks().first()) else {
        return 0;
    };
    if first.from != From::Old(0) || old.shape().get(1..) != new.shape().get(1..) {
        return 0;
    }
    let rows = first.range.end.checked_div(chunk).unwrap_or_default();
    new.grid().iter().skip(1).fold(rows, |kept, &length| kept.saturating_mul(length))
}

/// An axis that is cut, or goes on with zeros.
fn cut_or_extended(old: u64, new: u64) -> AxisPieces {
    let kept = old.min(new);
    let pieces = [Piece { range: 0..kept, from: From::Old(0) }, Piece { range: kept..new, from: From::Zeros }];
    pieces.into_iter().filter(|piece| !piece.range.is_empty()).collect()
}

/// The pieces of an axis that the items of `span` are in, cut to it.
fn pieces_in<'p>(pieces: &'p AxisPieces, span: &Range<u64>) -> impl Iterator<Item = Piece> + use<'p> {
    let span = span.clone();
    pieces.iter().filter_map(move |piece| {
        let start = piece.range.start.max(span.start);
        let end = piece.range.end.min(span.end);
        (start < end).then(|| Piece { range: start..end, from: piece.from.after(start - piece.range.start) })
    })
}

/// Where a chunk of the new array comes from, if it is one of the old ones or nothing but zeros.
fn ready_source(old: &Geometry, new: &Geometry, axes: &[AxisPieces], number: u64) -> Option<Source> {
    let spans = new.spans_of_chunk(number);
    let mut place = Vec::with_capacity(spans.len());
    let mut is_old = true;
    for ((axis, span), &chunk) in axes.iter().zip(&spans).zip(new.chunks()) {
        let mut pieces = pieces_in(axis, span);
        match (pieces.next(), pieces.next()) {
            (Some(Piece { from: From::Zeros, .. }), None) => {
                return Some(Source::New(Staged::Special(Special::Zeros)));
            }
            (Some(Piece { from: From::Old(first), .. }), None) if first.is_multiple_of(chunk) => {
                place.push(first / chunk);
            }
            _ => is_old = false,
        }
    }
    is_old.then(|| Source::Old(size(old.chunk_index(&place))))
}

/// Assembles a chunk of the new array.
fn compose(
    array: &ArrayReader,
    geometry: &Geometry,
    axes: &[AxisPieces],
    data: Option<&ReadItems<'_>>,
    number: u64,
    chunk: &mut [u8],
    scratch: &mut Vec<u8>,
) -> Result<Filled<'static>> {
    let spans = geometry.spans_of_chunk(number);
    let shape: Vec<usize> = spans.iter().map(|span| size(span.end - span.start)).collect();
    let strides = c_strides(shape.iter().copied(), geometry.typesize());
    scratch.clear();
    scratch.resize(shape.iter().product::<usize>() * geometry.typesize(), 0);
    let pieces: Vec<Vec<Piece>> = axes.iter().zip(&spans).map(|(axis, span)| pieces_in(axis, span).collect()).collect();
    let mut which = vec![0; pieces.len()];
    loop {
        let chosen: Vec<&Piece> = pieces.iter().zip(&which).map(|(pieces, &at)| &pieces[at]).collect();
        put_piece(array, data, &chosen, &spans, &strides, scratch)?;
        if !advance(&mut which, |axis| pieces[axis].len()) {
            break;
        }
    }
    chunk.fill(0);
    put_into_blocks(geometry, &shape, Plain { bytes: scratch, start: 0, strides: &strides }, chunk);
    Ok(Filled::Whole)
}

/// Puts a box of items into `out`, which starts with the first item of `spans`.
fn put_piece(
    array: &ArrayReader,
    data: Option<&ReadItems<'_>>,
    pieces: &[&Piece],
    spans: &[Range<u64>],
    strides: &[usize],
    out: &mut [u8],
) -> Result<()> {
    if pieces.iter().any(|piece| piece.from == From::Zeros) {
        return Ok(());
    }
    let offsets = pieces.iter().zip(spans).zip(strides);
    let start: usize = offsets.map(|((piece, span), stride)| size(piece.range.start - span.start) * stride).sum();
    let first = |piece: &Piece| match piece.from {
        From::Old(first) | From::Data(first) => first,
        From::Zeros => 0,
    };
    let taken: Vec<Range<u64>> =
        pieces.iter().map(|piece| first(piece)..first(piece) + (piece.range.end - piece.range.start)).collect();
    let out = &mut out[start..];
    if !pieces.iter().any(|piece| matches!(piece.from, From::Data(_))) {
        return array.read_spans(&taken, out, strides);
    }
    match data {
        Some(read) => read(&taken, out, strides),
        None => bail!(InvalidArgument, "there is no data for new items"),
    }
}
