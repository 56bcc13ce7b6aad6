//! The array itself: what it is, and how its parts are read and written.

use super::cells::Cells;
use super::copy::c_strides;
use super::geometry::Geometry;
use super::meta::{self, Meta};
use super::options::{ArrayOptions, Fill};
use super::pick::Pick;
use super::selection::{Selection, TouchedChunk};
use crate::chunk::Special;
use crate::error::{Result, bail};
use crate::exec::lock;
use crate::filter::id as filter_id;
use crate::frame::Frame;
use crate::schunk::SuperChunk;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// An array of any number of dimensions up to 16, in chunks and blocks: a slice decodes only the blocks that it touches.
///
/// ```
/// use blosc_oxide::{ArrayOptions, Fill, NdArray, Options, Pick};
/// let mut array = NdArray::new(&ArrayOptions::new(&[100, 200], Options::new(4)).dtype("<i4"), &Fill::Zeros)?;
/// array.write(&[Pick::from(7), (10..13).into()], &[1_i32, 2, 3].map(i32::to_le_bytes).concat())?;
/// assert_eq!(array.slice(&[Pick::from(7), Pick::from(11)])?, 2_i32.to_le_bytes());
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
pub struct NdArray {
    sc: SuperChunk,
    geometry: Geometry,
    dtype: String,
}

impl NdArray {
    /// Makes an array in memory.
    ///
    /// # Errors
    /// `InvalidArgument` if the options contradict each other.
    pub fn new(options: &ArrayOptions, fill: &Fill) -> Result<Self> {
        let (geometry, chunks) = options.resolve()?;
        let mut sc = SuperChunk::new(chunks)?;
        sc.metalayers_mut().add(meta::NAME, Meta::write(&geometry, options.dtype_text())?)?;
        Self::filled(sc, geometry, options, fill)
    }

    /// Makes an array at `path`, a file or a directory as the options of its frame say; there must be nothing yet.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`Frame::create`].
    pub fn create(path: impl AsRef<Path>, options: &ArrayOptions, fill: &Fill) -> Result<Self> {
        let (geometry, chunks) = options.resolve()?;
        let frame = options.frame_options(chunks).metalayer(meta::NAME, Meta::write(&geometry, options.dtype_text())?);
        let sc = Frame::create(path, frame)?.into_inner();
        let mut array = Self::filled(sc, geometry, options, fill)?;
        array.commit()?;
        Ok(array)
    }

    fn filled(sc: SuperChunk, geometry: Geometry, options: &ArrayOptions, fill: &Fill) -> Result<Self> {
        let mut array = Self { sc, geometry, dtype: options.dtype_text().to_owned() };
        array.register_filters();
        array.sc.set_chunksize(array.geometry.chunk_nbytes());
        let (count, nbytes) = (array.geometry.nchunks(), array.geometry.chunk_nbytes());
        let special = match fill {
            Fill::Zeros => Special::Zeros,
            Fill::NaN => Special::NaN,
            Fill::Uninit => Special::Uninit,
            Fill::Value(value) => {
                array.fill_value(value)?;
                return Ok(array);
            }
        };
        array.sc.fill(special, count * nbytes as u64, nbytes)?;
        Ok(array)
    }

    fn fill_value(&mut self, value: &[u8]) -> Result<()> {
        if value.len() != self.geometry.typesize() {
            bail!(
                InvalidArgument,
                "a value of {} bytes is given for items of {}",
                value.len(),
                self.geometry.typesize()
            );
        }
        let chunk = crate::chunk::fill_chunk(value, self.geometry.chunk_nbytes(), self.sc.options())?;
        (0..self.geometry.nchunks()).try_for_each(|_| self.sc.append_chunk(&chunk))
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

    /// The array that a super-chunk holds.
    ///
    /// # Errors
    /// `InvalidArgument` if it has no metalayer of an array or one that cannot be, `Corrupt` if that does not go with its
    /// chunks.
    pub fn from_super_chunk(sc: SuperChunk) -> Result<Self> {
        let meta = Meta::find(sc.metalayers())?;
        let geometry = Geometry::new(sc.typesize(), &meta.shape, &meta.chunks, &meta.blocks)?;
        if sc.nchunks() as u64 != geometry.nchunks() {
            bail!(Corrupt, "array: its shape makes {} chunks, there are {}", geometry.nchunks(), sc.nchunks());
        }
        if geometry.nchunks() > 0 && sc.chunksize() != Some(geometry.chunk_nbytes()) {
            let found = sc.chunksize().map_or_else(|| "different sizes".to_owned(), |size| format!("{size} bytes"));
            bail!(
                Corrupt,
                "array: its chunks are of {} bytes, those that are there of {found}",
                geometry.chunk_nbytes()
            );
        }
        let dtype = meta.dtype.unwrap_or_else(|| format!("|S{}", sc.typesize()));
        let mut array = Self { sc, geometry, dtype };
        array.register_filters();
        Ok(array)
    }

    /// Some filters work on blocks of a shape, which chunks do not know.
    fn register_filters(&mut self) {
        let cells = Arc::new(Cells::new(&self.geometry));
        self.sc.add_filter(filter_id::NDCELL, cells.clone());
        self.sc.add_filter(filter_id::NDMEAN, Arc::new(cells.averaging()));
    }

    /// The super-chunk that holds it, with its metalayers.
    #[must_use]
    pub fn super_chunk(&self) -> &SuperChunk {
        &self.sc
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

    /// Publishes all changes.
    ///
    /// # Errors
    /// As [`SuperChunk::commit`].
    pub fn commit(&mut self) -> Result<()> {
        self.sc.commit()
    }

    /// The whole array, in C order.
    ///
    /// # Errors
    /// As [`slice`](Self::slice).
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        self.slice(&vec![Pick::All; self.geometry.ndim()])
    }

    /// What `picks` take, a pick for each axis, in C order.
    ///
    /// # Errors
    /// `InvalidArgument` if there is not a pick for each axis or one is outside; as reading the chunks.
    pub fn slice(&self, picks: &[Pick]) -> Result<Vec<u8>> {
        let selection = Selection::new(&self.geometry, picks)?;
        self.sc.limits().check("a slice", selection.nbytes)?;
        let mut out = vec![0; selection.nbytes];
        self.read(&selection, &mut out)?;
        Ok(out)
    }

    /// Puts what `picks` take into `out`, in C order.
    ///
    /// # Errors
    /// As [`slice`](Self::slice); `InvalidArgument` if `out` is not as long as what they take.
    pub fn slice_into(&self, picks: &[Pick], out: &mut [u8]) -> Result<()> {
        let selection = Selection::new(&self.geometry, picks)?;
        check_len(out.len(), &selection)?;
        self.read(&selection, out)
    }

    /// The shape of what `picks` take: axes of a single index are gone.
    ///
    /// # Errors
    /// `InvalidArgument` if there is not a pick for each axis or one is outside.
    pub fn slice_shape(&self, picks: &[Pick]) -> Result<Vec<usize>> {
        Ok(Selection::new(&self.geometry, picks)?.shape())
    }

    /// Writes `data`, in C order, over what `picks` take. The chunks that are touched are compressed again.
    ///
    /// # Errors
    /// `InvalidArgument` if there is not a pick for each axis, one is outside, or `data` is not as long as what they
    /// take; as reading and writing the chunks.
    pub fn write(&mut self, picks: &[Pick], data: &[u8]) -> Result<()> {
        let selection = Selection::new(&self.geometry, picks)?;
        check_len(data.len(), &selection)?;
        self.sc.limits().check("the data of a chunk", self.geometry.chunk_nbytes())?;
        let mut chunk_data = vec![0; self.geometry.chunk_nbytes()];
        for place in selection.chunk_places(&self.geometry) {
            let touched = selection.chunk(&self.geometry, &place);
            self.write_chunk(&selection, &touched, data, &mut chunk_data)?;
        }
        Ok(())
    }

    fn write_chunk(
        &mut self,
        selection: &Selection,
        touched: &TouchedChunk,
        data: &[u8],
        chunk_data: &mut [u8],
    ) -> Result<()> {
        if touched.is_covered {
            chunk_data.fill(0);
        } else {
            self.sc.decompress_into(touched.number, chunk_data)?;
        }
        let strides = self.block_strides();
        let block_nbytes = self.geometry.block_nbytes();
        for block in &touched.blocks {
            let transfer = selection.transfer(block, &strides, self.geometry.typesize());
            transfer.write(data, &mut chunk_data[block.start..block.start + block_nbytes]);
        }
        self.sc.update(touched.number, chunk_data)
    }

    fn block_strides(&self) -> Vec<usize> {
        let lengths = self.geometry.blocks().iter().map(|&length| usize::try_from(length).unwrap_or(usize::MAX));
        c_strides(lengths, self.geometry.typesize())
    }

    fn read(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        let places = selection.chunk_places(&self.geometry);
        self.sc.limits().check("a block", self.geometry.block_nbytes())?;
        let threads = &self.sc.options().threads;
        let workers = threads.workers(places.len(), selection.nbytes);
        let queue = Mutex::new(places.iter());
        let out = Mutex::new(out);
        let failure = Mutex::new(None);
        threads.run(workers, &|_| {
            let mut block = vec![0; self.geometry.block_nbytes()];
            while let Some(place) = next(&queue) {
                let touched = selection.chunk(&self.geometry, place);
                if let Err(error) = self.read_chunk(selection, &touched, &mut block, &out) {
                    *lock(&queue) = [].iter();
                    lock(&failure).get_or_insert(error);
                }
            }
        });
        match failure.into_inner().unwrap_or_default() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Decodes block after block outside the lock, and copies what is taken of it inside.
    fn read_chunk(
        &self,
        selection: &Selection,
        touched: &TouchedChunk,
        block_data: &mut [u8],
        out: &Mutex<&mut [u8]>,
    ) -> Result<()> {
        let strides = self.block_strides();
        let wanted: Vec<Range<usize>> =
            touched.blocks.iter().map(|block| block.start..block.start + block_data.len()).collect();
        self.sc.with_parts(touched.number, &wanted, |parts| {
            for block in &touched.blocks {
                parts.read(block.start, block_data)?;
                let transfer = selection.transfer(block, &strides, self.geometry.typesize());
                transfer.read(block_data, &mut lock(out));
            }
            Ok(())
        })
    }
}

/// The next place of a queue that several workers take from.
fn next<'a>(queue: &Mutex<std::slice::Iter<'a, Vec<u64>>>) -> Option<&'a Vec<u64>> {
    lock(queue).next()
}

fn check_len(len: usize, selection: &Selection) -> Result<()> {
    if len != selection.nbytes {
        bail!(InvalidArgument, "{len} bytes are given for a slice of {}", selection.nbytes);
    }
    Ok(())
}
