//! A transaction on an array.

use super::encoder::Encoder;
use crate::array::geometry::Geometry;
use crate::array::meta::{self, Meta};
use crate::array::nd_array::NdArray;
use crate::array::options::{ArrayOptions, Fill};
use crate::array::reader::{ArrayReader, read_meta};
use crate::error::Result;
use crate::exec::lock;
use crate::frame::{Frame, Transaction};
use crate::schunk::{Metalayers, Source, SuperChunk, VlMetalayers};
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
    pub(in crate::array) array: ArrayReader,
    /// Encoders that are not in use.
    pub(in crate::array) encoders: Mutex<Vec<Encoder>>,
    transaction: Transaction,
}

impl NdArray {
    /// Makes an array in memory.
    ///
    /// # Errors
    /// `InvalidArgument` if the options contradict each other.
    pub fn new(options: &ArrayOptions, fill: &Fill) -> Result<Self> {
        Self::create(Location::Memory, options, fill)?.commit()
    }

    /// Makes an array in memory that holds `data`, all of its items in C order.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options, AxisSelection};
    /// let array = NdArray::from_data(&ArrayOptions::new(&[2, 3], Options::new(1)), b"abcdef")?;
    /// assert_eq!(array.slice(&[AxisSelection::All, AxisSelection::Index(1)])?, b"be");
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new); `InvalidArgument` if `data` has another length than the shape asks
    /// for.
    pub fn from_data(options: &ArrayOptions, data: &[u8]) -> Result<Self> {
        Self::create_with_data(Location::Memory, options, data)
    }

    /// Begins an array somewhere, usually at a path, where there must be nothing yet. Nothing is
    /// there before the first commit.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, Fill, NdArray, Options, storage::MemoryStorage};
    /// let options = ArrayOptions::new(&[2, 3], Options::new(1));
    /// let mut edit = NdArray::create(MemoryStorage::default(), &options, &Fill::Zeros)?;
    /// edit.write(&[1.into(), 1.into()], b"x")?;
    /// assert_eq!(edit.commit()?.to_vec()?, b"\0\0\0\0x\0");
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`Frame::create`].
    pub fn create(location: impl Into<Location>, options: &ArrayOptions, fill: &Fill) -> Result<ArrayEdit> {
        ArrayEdit::build(location.into(), options, &[], |array| array.fill(fill))
    }

    /// Makes an array somewhere, usually at a path, that holds `data`, all of its items in C order,
    /// and commits it.
    ///
    /// # Errors
    /// As [`from_data`](Self::from_data) and [`create`](Self::create).
    pub fn create_with_data(location: impl Into<Location>, options: &ArrayOptions, data: &[u8]) -> Result<Self> {
        ArrayEdit::build(location.into(), options, &[], |array| array.fill_with_data(data))?.commit()
    }

    /// Begins an edit of the newest state, as [`Frame::edit`] does.
    ///
    /// # Errors
    /// As [`Frame::edit`] and [`from_frame`](Self::from_frame).
    pub fn edit(&self) -> Result<ArrayEdit> {
        ArrayEdit::begin(self.frame())
    }
}

impl ArrayEdit {
    /// Begins an edit of the newest state of the array in a frame.
    pub(in crate::array) fn begin(frame: &Frame) -> Result<Self> {
        let (mut transaction, sc) = Transaction::begin(frame.connection())?;
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
    pub(in crate::array) fn build(
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
    pub(in crate::array) fn edit<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.array.sc.begin_edit()?;
        let result = action(self);
        self.array.sc.end_edit(result)
    }

    /// Some filters and all encoders depend on the shape.
    fn register_filters(&mut self) {
        self.array.register_filters();
        lock(&self.encoders).clear();
    }

    /// Changes shape and chunks together: `sources` come after the first `kept` chunks.
    pub(in crate::array) fn become_geometry(
        &mut self,
        geometry: Geometry,
        kept: usize,
        sources: Vec<Source>,
    ) -> Result<()> {
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
