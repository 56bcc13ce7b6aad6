//! Reading arrays.

use super::geometry::cells::Cells;
use super::meta::{self, Meta};
use super::options::ArrayOptions;
use crate::array::geometry::Geometry;
use crate::error::{Result, bail, error};
use crate::filter::id as filter_id;
use crate::frame::Verification;
use crate::numpy::ItemOrder;
use crate::schunk::{Source, SuperChunk};
use std::fmt;
use std::sync::Arc;

/// An array to be read: the methods that [`NdArray`](crate::NdArray) and
/// [`ArrayEdit`](crate::ArrayEdit) share.
///
/// ```
/// use blosc_oxide::{ArrayOptions, ArrayReader, NdArray, Options};
/// fn nitems(array: &ArrayReader) -> u64 {
///     array.shape().iter().product()
/// }
/// let array = NdArray::from_data(&ArrayOptions::new(&[2, 3], Options::new(1)), b"abcdef")?;
/// let edit = array.edit()?;
/// assert_eq!((nitems(&array), nitems(&edit)), (6, 6));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
pub struct ArrayReader {
    pub(super) sc: SuperChunk,
    pub(super) geometry: Geometry,
    pub(super) dtype: String,
}

impl ArrayReader {
    /// The array that a super-chunk holds.
    pub(super) fn of(sc: SuperChunk) -> Result<Self> {
        let (geometry, dtype) = read_meta(&sc)?;
        Ok(Self::new(sc, geometry, dtype))
    }

    pub(super) fn new(sc: SuperChunk, geometry: Geometry, dtype: String) -> Self {
        let mut array = Self { sc, geometry, dtype };
        array.register_filters();
        array
    }

    /// Registers the filters and codecs that need the shape of blocks, which chunks do not know.
    pub(super) fn register_filters(&mut self) {
        let cells = Arc::new(Cells::new(&self.geometry));
        self.sc.add_filter(filter_id::NDCELL, cells.clone());
        self.sc.add_filter(filter_id::NDMEAN, Arc::new(cells.averaging()));
        self.sc.set_block_shape(cells.shape());
    }

    /// Whether the list of the chunks of an array is within the limits.
    pub(super) fn check_chunks(&self, geometry: &Geometry) -> Result<()> {
        let limits = self.sc.limits();
        limits.check_chunks(geometry.nchunks())?;
        limits.check_list::<Source>("the list of chunks", geometry.nchunks())
    }

    /// Decodes all chunks and metalayers and compares all checksums, as [`SuperChunk::verify`]
    /// does; the filters that only arrays have are known here.
    ///
    /// # Errors
    /// As [`SuperChunk::verify`].
    pub fn verify(&self) -> Result<Verification> {
        self.sc.verify()
    }

    /// The super-chunk that holds it, with its metalayers.
    #[must_use]
    pub fn super_chunk(&self) -> &SuperChunk {
        &self.sc
    }

    /// How it is divided into chunks and blocks.
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

    /// The order that its items had before they became an array, and have again when it is written
    /// as an .npy file. Chunks and slices are in C order all the same; nothing that changes shape
    /// or items changes it.
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
}

/// The geometry of the array in a super-chunk, and the type of its items.
pub(super) fn read_meta(sc: &SuperChunk) -> Result<(Geometry, String)> {
    let meta = Meta::find(sc.metalayers())?;
    let geometry = Geometry::new(sc.typesize(), &meta.shape, &meta.chunks, &meta.blocks);
    // The sizes are from the file, not from the caller.
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

impl fmt::Debug for ArrayReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayReader")
            .field("shape", &self.shape())
            .field("chunks", &self.geometry.chunks())
            .field("blocks", &self.geometry.blocks())
            .field("dtype", &self.dtype)
            .finish_non_exhaustive()
    }
}
