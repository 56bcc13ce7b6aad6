//! .npy files made from arrays, and arrays from .npy files, in bounded memory.

use super::geometry::copy::{Plain, c_strides, put_into_blocks, size};
use super::nd_array::NdArray;
use super::options::{ArrayOptions, Fill};
use super::read::file_items::FileItems;
use super::read::parts::PART_NBYTES;
use super::read::regions::{Axis, Budget, Regions, in_order};
use super::reader::ArrayReader;
use super::select::axis::AxisSelection;
use super::write::edit::ArrayEdit;
use super::write::encoder::Filled;
use crate::error::{Result, bail, error};
use crate::numpy::NpyHeader;
use crate::storage::{Location, ReadAt};
use std::io::{Read, Write};

/// The most bytes of a stream that are kept until there are whole chunks.
const READ_NBYTES: u64 = 256 << 20;
/// How many bytes of an .npy file are read at once for its header.
const HEADER_READ: usize = 4096;

impl NdArray {
    /// Makes an array from an .npy file. Shape, typesize, type and order of `options` are ignored:
    /// they are those of the file.
    ///
    /// The file is read chunk by chunk, several at the same time: no more of it is in memory than a
    /// few chunks for each thread.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, ItemOrder, NdArray, NpyHeader, Options, AxisSelection, Location, storage::MemoryStorage};
    /// let mut npy = Vec::new();
    /// NpyHeader::new("<u2", [2, 2], ItemOrder::Fortran)?.write_npy_header(&mut npy)?;
    /// npy.extend([1, 0, 3, 0, 2, 0, 4, 0]);
    /// let options = ArrayOptions::new(&[], Options::new(1));
    /// let array = NdArray::from_npy(Location::Memory, &MemoryStorage::new(npy), &options)?;
    /// assert_eq!((array.shape(), array.dtype()), (&[2, 2][..], "<u2"));
    /// assert_eq!(array.to_vec()?, [1, 0, 2, 0, 3, 0, 4, 0]);
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`NpyHeader::read_npy_header`] and [`create`](Self::create); `Truncated` if the file is
    /// shorter than its shape says.
    pub fn from_npy(place: impl Into<Location>, file: &impl ReadAt, options: &ArrayOptions) -> Result<Self> {
        let (header, start) = read_header(file)?;
        Self::from_file(place.into(), file, start, &header, options)
    }

    /// The same from a file that has no header, only the items, which `described` describes.
    ///
    /// # Errors
    /// As [`from_npy`](Self::from_npy).
    pub fn from_plain(
        place: impl Into<Location>,
        file: &impl ReadAt,
        described: &NpyHeader,
        options: &ArrayOptions,
    ) -> Result<Self> {
        Self::from_file(place.into(), file, 0, described, options)
    }

    fn from_file(
        place: Location,
        file: &impl ReadAt,
        start: u64,
        header: &NpyHeader,
        options: &ArrayOptions,
    ) -> Result<Self> {
        if file.len()?.saturating_sub(start) < header.nbytes() {
            bail!(Truncated, "npy: an array of {} bytes is announced, the file is shorter", header.nbytes());
        }
        let options = described_by(header, options)?;
        let (shape, typesize, order) = (header.shape(), header.itemsize(), header.order());
        let items = FileItems { file, start, shape, typesize, order };
        ArrayEdit::build(place, &options, &[], |array| {
            let geometry = array.geometry().clone();
            array.fill_chunks(&|_, number, chunk, scratch| {
                let spans = geometry.spans_of_chunk(number as u64);
                if geometry.has_padding(&spans) {
                    chunk.fill(0);
                }
                let strides = items.read(&spans, scratch)?;
                let shape: Vec<usize> = spans.iter().map(|span| size(span.end - span.start)).collect();
                put_into_blocks(&geometry, &shape, Plain { bytes: scratch, start: 0, strides: &strides }, chunk);
                Ok(Filled::Whole)
            })
        })?
        .commit()
    }

    /// The same from a stream, which may be a pipe. Data is kept until there are whole chunks,
    /// up to 256 MiB: if a row of chunks has more, chunks are compressed more than once, which
    /// [`from_npy`](Self::from_npy) avoids.
    ///
    /// # Errors
    /// As [`from_npy`](Self::from_npy).
    pub fn from_npy_stream(place: impl Into<Location>, mut npy: impl Read, options: &ArrayOptions) -> Result<Self> {
        let header = NpyHeader::read_npy_header(&mut npy)?;
        let options = described_by(&header, options)?;
        ArrayEdit::build(place.into(), &options, &[], |array| {
            array.fill(&Fill::Zeros)?;
            let geometry = array.geometry().clone();
            let order = header.order();
            let lengths = geometry.shape().iter().zip(geometry.chunks());
            let axes: Vec<Axis> =
                lengths.map(|(&length, &chunk)| Axis { length, start: 0, chunk, block: chunk }).collect();
            let budget = Budget { usual: PART_NBYTES, row: READ_NBYTES };
            let mut data = Vec::new();
            for region in Regions::new(&in_order(&axes, order), geometry.typesize(), budget) {
                let lengths = region.spans.iter().map(|range| size(range.end - range.start));
                let strides = in_order(&c_strides(lengths.clone(), geometry.typesize()), order);
                let nbytes = lengths.product::<usize>() * geometry.typesize();
                data.resize(nbytes, 0);
                npy.read_exact(&mut data).map_err(|cause| cut_off(header.nbytes(), cause))?;
                let selections: Vec<AxisSelection> =
                    in_order(&region.spans, order).into_iter().map(AxisSelection::from).collect();
                array.write_strided(&selections, &data, &strides)?;
            }
            Ok(())
        })?
        .commit()
    }
}

impl ArrayReader {
    /// Writes the array as an .npy file, in its own [order](Self::order), in as little memory as
    /// [`write_to`](Self::write_to).
    ///
    /// # Errors
    /// `Unsupported` or `Corrupt` if the type of the items is not one that an .npy file can have;
    /// as reading, and whatever `out` reports.
    pub fn to_npy(&self, mut out: impl Write) -> Result<NpyHeader> {
        let header = NpyHeader::new(self.dtype(), self.shape(), self.order())?;
        if header.itemsize() != self.geometry().typesize() {
            bail!(
                Corrupt,
                "items of the type {} have {} bytes, those of the array {}",
                self.dtype(),
                header.itemsize(),
                self.geometry().typesize()
            );
        }
        header.write_npy_header(&mut out)?;
        self.in_order(self.order()).write_to(0..self.nbytes(), out)?;
        Ok(header)
    }
}

/// The options of an array that an .npy file describes.
fn described_by(header: &NpyHeader, options: &ArrayOptions) -> Result<ArrayOptions> {
    if header.itemsize() == 0 {
        bail!(Unsupported, "npy: items of the type {} have no bytes", header.dtype());
    }
    Ok(options.clone().for_items(header.shape(), header.itemsize(), header.dtype()).with_order(header.order()))
}

fn cut_off(nbytes: u64, cause: std::io::Error) -> crate::error::Error {
    if cause.kind() == std::io::ErrorKind::UnexpectedEof {
        error!(Truncated, "npy: an array of {nbytes} bytes is announced, there is less")
    } else {
        cause.into()
    }
}

/// The header of an .npy file, and where its data starts.
fn read_header(file: &impl ReadAt) -> Result<(NpyHeader, u64)> {
    let mut input = FileStart { file, at: 0 };
    let header = NpyHeader::read_npy_header(&mut input)?;
    Ok((header, input.at))
}

/// A file as a stream, from its start on.
struct FileStart<'a, F: ReadAt> {
    file: &'a F,
    at: u64,
}

impl<F: ReadAt> Read for FileStart<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let there = size(self.file.len()?.saturating_sub(self.at));
        let len = buffer.len().min(there).min(HEADER_READ);
        self.file.read_at(self.at, &mut buffer[..len])?;
        self.at += len as u64;
        Ok(len)
    }
}
