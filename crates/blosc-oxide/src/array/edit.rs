//! Editing an array.

use super::geometry::copy::{Plain, c_strides, put_into_blocks, size};
use super::meta::{self, Meta};
use super::nd_array::NdArray;
use super::options::{ArrayOptions, Fill};
use super::reader::{ArrayReader, read_meta};
use super::write::encode::{Encoder, Fill as FillChunk, Filled};
use crate::array::geometry::Geometry;
use crate::chunk::{Special, fill_chunk};
use crate::error::{Result, bail};
use crate::exec::lock;
use crate::frame::{Frame, Transaction};
use crate::schunk::{Metalayers, Source, Staged, SuperChunk, VlMetalayers};
use crate::storage::Location;
use std::fmt;
use std::ops::Deref;
use std::sync::Mutex;

/// An edit of an array, from [`NdArray::edit`] or [`NdArray::create`]: all of it is published by
/// one [`commit`](Self::commit), shape and items together, or nothing of it. Dropping it takes
/// everything back.
///
/// The changes can be read through this edit only, until they are published. A call that fails
/// leaves the array as it was before the call.
///
/// ```
/// use blosc_oxide::{ArrayOptions, NdArray, Options};
/// let array = NdArray::from_data(&ArrayOptions::new(&[2, 2], Options::new(1)), b"abcd")?;
/// let mut edit = array.edit()?;
/// edit.append(0, b"ef")?;
/// edit.write(&[2.into(), 0.into()], b"E")?;
/// let longer = edit.commit()?;
/// assert_eq!((longer.to_vec()?, array.to_vec()?), (b"abcdEf".to_vec(), b"abcd".to_vec()));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub struct ArrayEdit {
    pub(super) array: ArrayReader,
    /// Encoders that are not in use.
    pub(super) encoders: Mutex<Vec<Encoder>>,
    transaction: Transaction,
}

impl ArrayEdit {
    /// Begins an edit of the newest state of the array in a frame.
    pub(super) fn begin(frame: &Frame) -> Result<Self> {
        let (mut transaction, sc) = Transaction::begin(frame.origin())?;
        match read_meta(&sc) {
            Ok((geometry, dtype)) => {
                let array = ArrayReader::new(sc, geometry, dtype);
                Ok(Self { array, encoders: Mutex::default(), transaction })
            }
            Err(error) => {
                transaction.end(sc);
                Err(error)
            }
        }
    }

    /// Begins a new array and fills it. It has these metalayers besides its own.
    pub(super) fn build(
        location: Location,
        options: &ArrayOptions,
        metalayers: &[(&str, &[u8])],
        fill: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<Self> {
        let (geometry, chunks) = options.resolve()?;
        let mut frame = options.frame_options(chunks);
        frame = frame.with_metalayer(meta::NAME, Meta::write(&geometry, options.dtype())?);
        for (name, content) in meta::order_layer(options.order()).iter().chain(metalayers) {
            frame = frame.with_metalayer(*name, *content);
        }
        let (transaction, sc) = Transaction::create(location, frame)?;
        let array = ArrayReader::new(sc, geometry, options.dtype().to_owned());
        let mut edit = Self { array, encoders: Mutex::default(), transaction };
        let (chunksize, blocksize) = (edit.geometry().chunk_nbytes(), edit.geometry().block_nbytes().max(1));
        edit.array.sc.set_sizes(chunksize, blocksize);
        edit.check_chunks(edit.geometry())?;
        fill(&mut edit)?;
        Ok(edit)
    }

    /// Publishes all changes, those of the shape and those of the items, and returns the array with
    /// them. If that fails, they are taken back.
    ///
    /// # Errors
    /// As [`FrameEdit::commit`](crate::FrameEdit::commit).
    pub fn commit(mut self) -> Result<NdArray> {
        self.checkpoint()
    }

    /// Publishes all changes so far, and goes on editing; the array that is returned has them.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn checkpoint(&mut self) -> Result<NdArray> {
        let frame = self.transaction.publish(&mut self.array.sc)?;
        self.snapshot(frame)
    }

    /// Publishes all changes so far, and reclaims unused space, as
    /// [`FrameEdit::compact`](crate::FrameEdit::compact) does.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn compact(&mut self) -> Result<NdArray> {
        let frame = self.transaction.compact(&mut self.array.sc)?;
        self.snapshot(frame)
    }

    fn snapshot(&self, frame: Frame) -> Result<NdArray> {
        let sc = frame.super_chunk().snapshot()?;
        Ok(NdArray::new_snapshot(ArrayReader::new(sc, self.geometry().clone(), self.dtype().to_owned()), frame))
    }

    /// Takes back everything that has not been published. Dropping the edit does the same.
    pub fn abort(self) {}

    /// The metalayers, to be changed. Without those that describe it, it is no longer an array.
    pub fn metalayers_mut(&mut self) -> &mut Metalayers {
        self.array.sc.metalayers_mut()
    }

    /// The variable-length metalayers, to be changed.
    pub fn vlmetalayers_mut(&mut self) -> &mut VlMetalayers {
        self.array.sc.vlmetalayers_mut()
    }

    /// Runs an action that changes the array. If it fails, nothing has changed.
    pub(super) fn edit<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.array.sc.begin_edit()?;
        let result = action(self);
        self.array.sc.end_edit(result)
    }

    /// Some filters and all encoders depend on the shape.
    fn register_filters(&mut self) {
        self.array.register_filters();
        lock(&self.encoders).clear();
    }

    pub(super) fn fill(&mut self, fill: &Fill) -> Result<()> {
        let special = match fill {
            Fill::Zeros => Special::Zeros,
            Fill::NaN => Special::NaN,
            Fill::Uninit => Special::Uninit,
            Fill::Value(value) => return self.fill_value(value),
        };
        if special == Special::NaN && !matches!(self.array.geometry.typesize(), 4 | 8) {
            bail!(InvalidArgument, "items of {} bytes cannot be NaN", self.array.geometry.typesize());
        }
        let (nchunks, size) = (self.array.geometry.nchunks(), self.array.geometry.chunk_nbytes());
        if nchunks == 0 || size == 0 {
            return self.fill_with(Vec::new());
        }
        self.array.sc.fill(special, nchunks.saturating_mul(size as u64), size)
    }

    fn fill_value(&mut self, value: &[u8]) -> Result<()> {
        let typesize = self.array.geometry.typesize();
        if value.len() != typesize {
            bail!(InvalidArgument, "a value of {} bytes is given for items of {typesize}", value.len());
        }
        let chunk = fill_chunk(value, self.array.geometry.chunk_nbytes(), self.array.sc.options())?;
        let staged = (0..self.array.geometry.nchunks()).map(|_| self.array.sc.stage(chunk.clone()));
        let staged = staged.collect::<Result<_>>()?;
        self.fill_with(staged)
    }

    pub(super) fn fill_with_data(&mut self, data: &[u8]) -> Result<()> {
        let geometry = self.array.geometry.clone();
        let expected = geometry.nitems().checked_mul(geometry.typesize() as u64);
        if expected != Some(data.len() as u64) {
            bail!(
                InvalidArgument,
                "{} bytes are given for an array of {} items of {}",
                data.len(),
                geometry.nitems(),
                geometry.typesize()
            );
        }
        let strides = c_strides(geometry.shape().iter().map(|&length| size(length)), geometry.typesize());
        self.fill_chunks(&|_, number, chunk, _| {
            let spans = geometry.spans_of_chunk(number as u64);
            let start: usize = spans.iter().zip(&strides).map(|(span, stride)| size(span.start) * stride).sum();
            let shape: Vec<usize> = spans.iter().map(|span| size(span.end - span.start)).collect();
            if geometry.has_padding(&spans) {
                chunk.fill(0);
            } else if geometry.keeps_order() {
                return Ok(Filled::Ready(&data[start..start + chunk.len()]));
            }
            put_into_blocks(&geometry, &shape, Plain { bytes: data, start, strides: &strides }, chunk);
            Ok(Filled::Whole)
        })
    }

    /// Makes all chunks of a new array.
    pub(super) fn fill_chunks(&mut self, fill: &FillChunk<'_>) -> Result<()> {
        let geometry = self.array.geometry.clone();
        let staged = self.encode(&geometry, size(geometry.nchunks()), fill)?;
        self.fill_with(staged)
    }

    /// Makes `staged` the chunks of a new array.
    fn fill_with(&mut self, staged: Vec<Staged>) -> Result<()> {
        let sources = staged.into_iter().map(Source::New).collect();
        self.array.sc.arrange(0, sources, self.array.geometry.chunk_nbytes(), self.array.geometry.block_nbytes().max(1))
    }

    /// Changes shape and chunks together: `sources` come after the first `kept` chunks.
    pub(super) fn become_geometry(&mut self, geometry: Geometry, kept: usize, sources: Vec<Source>) -> Result<()> {
        let content = Meta::write(&geometry, &self.array.dtype)?;
        let (content, name) = match self.array.sc.metalayers().get(meta::NAME) {
            Some(_) => (content, meta::NAME),
            None => (Meta::write_old(&geometry)?, meta::OLD_NAME),
        };
        self.array.sc.arrange(kept, sources, geometry.chunk_nbytes(), geometry.block_nbytes().max(1))?;
        self.array.sc.metalayers_mut().update(name, content)?;
        self.array.geometry = geometry;
        self.register_filters();
        Ok(())
    }
}

impl Drop for ArrayEdit {
    fn drop(&mut self) {
        self.transaction.end(std::mem::replace(&mut self.array.sc, SuperChunk::placeholder()));
    }
}

impl Deref for ArrayEdit {
    type Target = ArrayReader;

    fn deref(&self) -> &ArrayReader {
        &self.array
    }
}

impl fmt::Debug for ArrayEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ArrayEdit").field(&self.array).finish()
    }
}
