//! A snapshot of an array, to read.

use super::reader::ArrayReader;
use crate::error::Result;
use crate::frame::{Frame, OpenOptions};
use crate::storage::Location;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// One committed state of an array of up to 16 dimensions, in chunks and blocks: a slice decodes
/// only the blocks that it touches. Clones are cheap and share it; the methods that read it are
/// those of [`ArrayReader`].
///
/// It does not change, whatever is committed later. Changes are made by an [edit](Self::edit), and
/// are committed all together: shape and items of an array on disk are always those of one commit.
///
/// ```
/// use blosc_oxide::{ArrayOptions, Fill, NdArray, Options, AxisSelection};
/// let array = NdArray::new(&ArrayOptions::new(&[100, 200], Options::new(4)).with_dtype("<i4"), &Fill::Zeros)?;
/// let mut edit = array.edit()?;
/// edit.write(&[AxisSelection::from(7), (10..13).into()], &[1_i32, 2, 3].map(i32::to_le_bytes).concat())?;
/// let array = edit.commit()?;
/// assert_eq!(array.slice(&[AxisSelection::from(7), AxisSelection::from(11)])?, 2_i32.to_le_bytes());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Clone)]
pub struct NdArray {
    array: Arc<ArrayReader>,
    frame: Frame,
}

impl NdArray {
    pub(super) fn new_snapshot(array: ArrayReader, frame: Frame) -> Self {
        Self { array: Arc::new(array), frame }
    }

    /// Opens an array.
    ///
    /// # Errors
    /// As [`Frame::open`] and [`from_frame`](Self::from_frame).
    pub fn open(location: impl Into<Location>) -> Result<Self> {
        Self::from_frame(Frame::open(location)?)
    }

    /// Opens an array in another way.
    ///
    /// # Errors
    /// As [`Frame::open_with`] and [`from_frame`](Self::from_frame).
    pub fn open_with(location: impl Into<Location>, options: &OpenOptions) -> Result<Self> {
        Self::from_frame(Frame::open_with(location, options)?)
    }

    /// The array that a frame holds.
    ///
    /// # Errors
    /// `InvalidArgument` if it has no metalayer of an array, `Corrupt` if that describes an array
    /// that cannot exist, or does not match the chunks.
    pub fn from_frame(frame: Frame) -> Result<Self> {
        let array = frame.connection().named(frame.super_chunk().snapshot().and_then(ArrayReader::of))?;
        Ok(Self::new_snapshot(array, frame))
    }

    /// The frame that holds it.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The bytes of the contiguous frame that the array is stored in.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options, storage::MemoryStorage};
    /// let options = ArrayOptions::new(&[2, 3], Options::new(1));
    /// let array = NdArray::create_with_data(MemoryStorage::default(), &options, b"abcdef")?;
    /// assert_eq!(NdArray::open(array.to_bytes()?)?.to_vec()?, b"abcdef");
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Frame::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.frame.to_bytes()
    }

    /// Reloads if somebody has committed since; returns whether it did. Clones do not change.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn refresh(&mut self) -> Result<bool> {
        let mut frame = self.frame.clone();
        let is_new = frame.refresh()?;
        if is_new {
            *self = Self::from_frame(frame)?;
        }
        Ok(is_new)
    }
}

impl NdArray {
    /// From now on, compares each chunk with its checksum before any of its items is returned, as
    /// [`Frame::check_on_read`] says.
    ///
    /// # Errors
    /// As there.
    pub fn check_on_read(&mut self) -> Result<()> {
        let mut frame = self.frame.clone();
        frame.check_on_read()?;
        *self = Self::from_frame(frame)?;
        Ok(())
    }
}

impl Deref for NdArray {
    type Target = ArrayReader;

    fn deref(&self) -> &ArrayReader {
        &self.array
    }
}

impl fmt::Debug for NdArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NdArray").field(&self.array).finish()
    }
}
