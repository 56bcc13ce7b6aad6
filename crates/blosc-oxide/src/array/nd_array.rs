//! The array itself: how it is made and opened, and what it is.

use super::geometry::cells::Cells;
use super::geometry::copy::{Plain, c_strides, put_into_blocks, size};
use super::location::Location;
use super::meta::{self, Meta};
use super::options::{ArrayOptions, Fill};
use super::write::encode::{Encoder, Fill as FillChunk, Filled};
use crate::array::geometry::Geometry;
use crate::chunk::{Special, fill_chunk};
use crate::error::{Result, bail, error};
use crate::exec::lock;
use crate::filter::id as filter_id;
use crate::frame::{Creation, Frame};
use crate::numpy::ItemOrder;
use crate::schunk::{Source, Staged, SuperChunk};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// An array of any number of dimensions up to 16, in chunks and blocks: a slice decodes only the blocks that it touches.
///
/// Changes count when they are [committed](Self::commit), all together: shape and data of an array on disk are always
/// those of one commit. Dropping an array commits, but for a panic; [`rollback`](Self::rollback) gives changes up.
///
/// ```
/// use blosc_oxide::{ArrayOptions, Fill, NdArray, Options, AxisSelection};
/// let mut array = NdArray::new(&ArrayOptions::new(&[100, 200], Options::new(4)).with_dtype("<i4"), &Fill::Zeros)?;
/// array.write(&[AxisSelection::from(7), (10..13).into()], &[1_i32, 2, 3].map(i32::to_le_bytes).concat())?;
/// assert_eq!(array.slice(&[AxisSelection::from(7), AxisSelection::from(11)])?, 2_i32.to_le_bytes());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub struct NdArray {
    pub(super) sc: SuperChunk,
    geometry: Geometry,
    dtype: String,
    /// Those that are not in use.
    pub(super) encoders: Mutex<Vec<Encoder>>,
    /// The generation of the super-chunk that shape and type are of.
    generation: u64,
}

impl NdArray {
    /// Makes an array in memory.
    ///
    /// # Errors
    /// `InvalidArgument` if the options contradict each other.
    pub fn new(options: &ArrayOptions, fill: &Fill) -> Result<Self> {
        Self::create(Location::Memory, options, fill)
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
    /// As [`new`](Self::new); `InvalidArgument` if `data` has another length than the shape asks for.
    pub fn from_data(options: &ArrayOptions, data: &[u8]) -> Result<Self> {
        Self::create_with_data(Location::Memory, options, data)
    }

    /// Makes an array somewhere, usually at a path, where there must be nothing yet. It is there with all of its items or
    /// not at all.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`Frame::create`].
    pub fn create(place: impl Into<Location>, options: &ArrayOptions, fill: &Fill) -> Result<Self> {
        Self::build(place.into(), options, &[], |array| array.fill(fill))
    }

    /// Makes an array somewhere, usually at a path, that holds `data`, all of its items in C order.
    ///
    /// # Errors
    /// As [`from_data`](Self::from_data) and [`create`](Self::create).
    pub fn create_with_data(place: impl Into<Location>, options: &ArrayOptions, data: &[u8]) -> Result<Self> {
        Self::build(place.into(), options, &[], |array| array.fill_with_data(data))
    }

    /// Makes an array that is there when it has been filled, or not at all. It has these metalayers besides its own.
    pub(super) fn build(
        place: Location,
        options: &ArrayOptions,
        metalayers: &[(&str, &[u8])],
        fill: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<Self> {
        let (geometry, chunks) = options.resolve()?;
        let mut frame = options.frame_options(chunks.clone());
        frame = frame.with_metalayer(meta::NAME, Meta::write(&geometry, options.dtype())?);
        for (name, content) in meta::order_layer(options.order()).iter().chain(metalayers) {
            frame = frame.with_metalayer(*name, *content);
        }
        let (creation, sc) = match place {
            Location::Memory => {
                let mut sc = SuperChunk::new(chunks)?;
                for (name, content) in frame.metalayers() {
                    sc.metalayers_mut().add(name, content)?;
                }
                (None, sc)
            }
            Location::Path(path) => some(Creation::at_path(&path, frame)?),
            Location::Storage(storage) => some(Creation::in_storage(storage, frame)?),
            Location::Directory(directory) => some(Creation::in_directory(directory, frame)?),
        };
        let mut array = Self::with(sc, geometry, options.dtype().to_owned());
        let (chunksize, blocksize) = (array.geometry.chunk_nbytes(), array.geometry.block_nbytes().max(1));
        array.sc.set_sizes(chunksize, blocksize);
        let filled = array.check_chunks(&array.geometry).and_then(|()| fill(&mut array));
        match (creation, filled) {
            (None, filled) => filled.map(|()| array),
            (Some(creation), Ok(())) => {
                let Self { sc, geometry, dtype, encoders, generation } = array;
                Ok(Self { sc: creation.finish(sc)?, geometry, dtype, encoders, generation })
            }
            (Some(creation), Err(error)) => {
                creation.abandon(array.sc);
                Err(error)
            }
        }
    }

    fn with(sc: SuperChunk, geometry: Geometry, dtype: String) -> Self {
        let generation = sc.generation();
        let mut array = Self { sc, geometry, dtype, encoders: Mutex::default(), generation };
        array.register_filters();
        array
    }

    /// Whether the list of the chunks of an array is within the limits.
    pub(super) fn check_chunks(&self, geometry: &Geometry) -> Result<()> {
        let limits = self.sc.limits();
        limits.check_chunks(geometry.nchunks())?;
        limits.check_list::<Source>("the list of chunks", geometry.nchunks())
    }

    pub(super) fn fill(&mut self, fill: &Fill) -> Result<()> {
        let special = match fill {
            Fill::Zeros => Special::Zeros,
            Fill::NaN => Special::NaN,
            Fill::Uninit => Special::Uninit,
            Fill::Value(value) => return self.fill_value(value),
        };
        if special == Special::NaN && !matches!(self.geometry.typesize(), 4 | 8) {
            bail!(InvalidArgument, "items of {} bytes cannot be NaN", self.geometry.typesize());
        }
        let (nchunks, size) = (self.geometry.nchunks(), self.geometry.chunk_nbytes());
        if nchunks == 0 || size == 0 {
            return self.fill_with(Vec::new());
        }
        self.sc.fill(special, nchunks.saturating_mul(size as u64), size)
    }

    fn fill_value(&mut self, value: &[u8]) -> Result<()> {
        let typesize = self.geometry.typesize();
        if value.len() != typesize {
            bail!(InvalidArgument, "a value of {} bytes is given for items of {typesize}", value.len());
        }
        let chunk = fill_chunk(value, self.geometry.chunk_nbytes(), self.sc.options())?;
        let staged = (0..self.geometry.nchunks()).map(|_| self.sc.stage(chunk.clone()));
        let staged = staged.collect::<Result<_>>()?;
        self.fill_with(staged)
    }

    fn fill_with_data(&mut self, data: &[u8]) -> Result<()> {
        let geometry = self.geometry.clone();
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
        let geometry = self.geometry.clone();
        let staged = self.encode(&geometry, size(geometry.nchunks()), fill)?;
        self.fill_with(staged)
    }

    /// Makes `staged` the chunks of a new array.
    fn fill_with(&mut self, staged: Vec<Staged>) -> Result<()> {
        let sources = staged.into_iter().map(Source::New).collect();
        self.sc.arrange(0, sources, self.geometry.chunk_nbytes(), self.geometry.block_nbytes().max(1))
    }

    /// Changes shape and chunks together: `sources` come after the first `kept` chunks.
    pub(super) fn become_geometry(&mut self, geometry: Geometry, kept: usize, sources: Vec<Source>) -> Result<()> {
        let content = Meta::write(&geometry, &self.dtype)?;
        let (content, name) = match self.sc.metalayers().get(meta::NAME) {
            Some(_) => (content, meta::NAME),
            None => (Meta::write_old(&geometry)?, meta::OLD_NAME),
        };
        self.sc.arrange(kept, sources, geometry.chunk_nbytes(), geometry.block_nbytes().max(1))?;
        self.sc.metalayers_mut().update(name, content)?;
        self.geometry = geometry;
        self.register_filters();
        Ok(())
    }

    /// Opens the array at `path`, a file or a directory, for reading.
    ///
    /// # Errors
    /// As [`Frame::open`] and [`from_super_chunk`](Self::from_super_chunk).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_super_chunk(Frame::open(path)?.into_inner())
    }

    /// Opens the array at `path`, a file or a directory, for reading and writing.
    ///
    /// # Errors
    /// As [`Frame::open_writable`] and [`from_super_chunk`](Self::from_super_chunk).
    pub fn open_writable(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_super_chunk(Frame::open_writable(path)?.into_inner())
    }

    /// Opens an array that is a contiguous frame in memory, for reading and writing.
    ///
    /// # Errors
    /// As [`Frame::from_bytes`] and [`from_super_chunk`](Self::from_super_chunk).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        Self::from_super_chunk(Frame::from_bytes(bytes)?.into_inner())
    }

    /// Commits, and returns the contiguous frame that the array is kept in as bytes.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options, Location, storage::MemoryStorage};
    /// let options = ArrayOptions::new(&[2, 3], Options::new(1));
    /// let mut array = NdArray::create_with_data(Location::storage(MemoryStorage::default()), &options, b"abcdef")?;
    /// assert_eq!(NdArray::from_bytes(array.to_bytes()?)?.to_vec()?, b"abcdef");
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`commit`](Self::commit); `InvalidArgument` if it is kept in memory as chunks, or in a directory.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        Frame::bytes_of(&mut self.sc)
    }

    /// The array that a frame holds, however it was opened.
    ///
    /// # Errors
    /// As [`from_super_chunk`](Self::from_super_chunk).
    pub fn from_frame(frame: Frame) -> Result<Self> {
        Self::from_super_chunk(frame.into_inner())
    }

    /// The array that a super-chunk holds.
    ///
    /// # Errors
    /// `InvalidArgument` if it has no metalayer of an array, `Corrupt` if that describes an array that cannot be, or does
    /// not go with its chunks.
    pub fn from_super_chunk(sc: SuperChunk) -> Result<Self> {
        let (geometry, dtype) = read_meta(&sc)?;
        Ok(Self::with(sc, geometry, dtype))
    }

    /// Some filters work on blocks of a shape, which chunks do not know.
    fn register_filters(&mut self) {
        let cells = Arc::new(Cells::new(&self.geometry));
        self.sc.add_filter(filter_id::NDCELL, cells.clone());
        self.sc.add_filter(filter_id::NDMEAN, Arc::new(cells.averaging()));
        lock(&self.encoders).clear();
    }

    /// The super-chunk that holds it, with its metalayers.
    #[must_use]
    pub fn super_chunk(&self) -> &SuperChunk {
        &self.sc
    }

    /// The super-chunk, for changing metalayers. An array whose chunks or whose own metalayer are changed in this way may
    /// be none any more.
    pub fn super_chunk_mut(&mut self) -> &mut SuperChunk {
        &mut self.sc
    }

    /// The super-chunk by itself.
    #[must_use]
    pub fn into_super_chunk(self) -> SuperChunk {
        self.sc
    }

    /// How it is cut up.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// How many items there are along each dimension.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.geometry.shape()
    }

    /// The type of the items, as NumPy writes it.
    #[must_use]
    pub fn dtype(&self) -> &str {
        &self.dtype
    }

    /// The order that its items had before they became an array, and have again when it is written as an .npy file. Chunks
    /// and slices are in C order all the same; nothing that changes shape or items changes it.
    #[must_use]
    pub fn order(&self) -> ItemOrder {
        meta::read_order(self.sc.metalayers())
    }

    /// Options for an array like this one: shape, chunks, blocks, type, order and compression.
    #[must_use]
    pub fn options(&self) -> ArrayOptions {
        ArrayOptions::new(self.shape(), self.sc.options().clone())
            .with_chunks(self.geometry.chunks())
            .with_blocks(self.geometry.blocks())
            .with_dtype(self.dtype.as_str())
            .with_order(self.order())
    }

    /// Publishes all changes, those of the shape and those of the items together.
    ///
    /// # Errors
    /// As [`SuperChunk::commit`].
    pub fn commit(&mut self) -> Result<()> {
        self.sc.commit()
    }

    /// Gives up all changes since the last commit, those of the shape and those of the items.
    ///
    /// # Errors
    /// As [`SuperChunk::rollback`].
    pub fn rollback(&mut self) -> Result<()> {
        self.sc.rollback()?;
        self.catch_up()
    }

    /// Reloads if another handle or process has committed since; returns whether it did. An array with changes of its own
    /// does not.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn refresh(&mut self) -> Result<bool> {
        let is_new = self.sc.reload()?;
        if is_new {
            self.catch_up()?;
        }
        Ok(is_new)
    }

    /// Runs an action that changes the array, while nobody else does.
    pub(super) fn edit<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let is_new = self.sc.begin_edit()?;
        let ready = if self.sc.generation() == self.generation { Ok(()) } else { self.catch_up() };
        let result = ready.and_then(|()| action(self));
        self.sc.end_edit(is_new, result)
    }

    /// Becomes what the metalayer says, which another process may have changed.
    fn catch_up(&mut self) -> Result<()> {
        (self.geometry, self.dtype) = read_meta(&self.sc)?;
        self.generation = self.sc.generation();
        self.register_filters();
        Ok(())
    }
}

fn some((creation, sc): (Creation, SuperChunk)) -> (Option<Creation>, SuperChunk) {
    (Some(creation), sc)
}

/// How the array in a super-chunk is cut up, and the type of its items.
fn read_meta(sc: &SuperChunk) -> Result<(Geometry, String)> {
    let meta = Meta::find(sc.metalayers())?;
    let geometry = Geometry::new(sc.typesize(), &meta.shape, &meta.chunks, &meta.blocks);
    // It is the file that says so, not the caller.
    let geometry = geometry.map_err(|cause| error!(Corrupt, "{cause}"))?;
    if sc.nchunks() as u64 != geometry.nchunks() {
        bail!(Corrupt, "array: its shape makes {} chunks, there are {}", geometry.nchunks(), sc.nchunks());
    }
    if geometry.nchunks() > 0 && sc.chunksize() != Some(geometry.chunk_nbytes()) {
        let found = sc.chunksize().map_or_else(|| "different sizes".to_owned(), |size| format!("{size} bytes"));
        bail!(Corrupt, "array: its chunks are of {} bytes, those that are there of {found}", geometry.chunk_nbytes());
    }
    let dtype = meta.dtype.unwrap_or_else(|| format!("|S{}", sc.typesize()));
    Ok((geometry, dtype))
}

impl std::fmt::Debug for NdArray {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NdArray")
            .field("shape", &self.shape())
            .field("chunks", &self.geometry.chunks())
            .field("blocks", &self.geometry.blocks())
            .field("dtype", &self.dtype)
            .finish_non_exhaustive()
    }
}
