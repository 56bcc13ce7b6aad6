//! How an array is made.

use crate::array::geometry::Geometry;
use crate::chunk::Options;
use crate::error::{Result, bail};
use crate::frame::FrameOptions;
use crate::numpy::{DType, ItemOrder};

/// The items of a new array.
///
/// ```
/// use blosc_oxide::{ArrayOptions, Fill, NdArray, Options};
/// let options = ArrayOptions::new(&[2, 2], Options::new(2)).with_dtype("<u2");
/// let array = NdArray::new(&options, &Fill::Value(258_u16.to_le_bytes().to_vec()))?;
/// assert_eq!(array.to_vec()?, [2, 1, 2, 1, 2, 1, 2, 1]);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fill {
    /// Zeros, which take no space.
    Zeros,
    /// NaNs, for items of 4 or 8 bytes; they take no space.
    NaN,
    /// Nothing yet; reads as zeros and takes no space.
    Uninit,
    /// One value over and over.
    Value(Vec<u8>),
}

/// Blocks have at most this many bytes when no shape is given for them: they fit into the
/// second cache.
const BLOCK_NBYTES: usize = 256 << 10;
/// Chunks have about this many bytes at most when no shape is given for them.
const CHUNK_NBYTES: usize = 8 << 20;

/// Options for making an array.
///
/// Shapes of chunks and blocks that are not given come from the shape of the array: its longest
/// axis, the first of several, is halved until a chunk has at most 8 MiB, and that of the chunk
/// until a block has at most 256 KiB. Then each length of a chunk that is less than that of the
/// array is raised to a multiple of its block, so that there is no padding between blocks. Sizes
/// are about those that python-blosc2 chooses on most machines; unlike there, they do not depend on
/// the machine, and chunks are as long one way as the other, so that slices are about as fast along
/// every axis. An array that is read row by row is better off with chunks of whole rows.
///
/// ```
/// use blosc_oxide::{ArrayOptions, Codec, Options};
/// let compression = Options::new(4).with_codec(Codec::Zstd);
/// let options = ArrayOptions::new(&[10_000, 5000], compression).with_dtype("<f4").with_chunks(&[1000, 5000]);
/// assert_eq!(options.geometry()?.nchunks(), 10);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayOptions {
    pub(super) shape: Vec<u64>,
    pub(super) chunks: Option<Vec<u64>>,
    pub(super) blocks: Option<Vec<u64>>,
    chunk_nbytes: usize,
    block_nbytes: usize,
    dtype: String,
    order: ItemOrder,
    frame: FrameOptions,
    options: Options,
}

impl ArrayOptions {
    /// An array of this shape, with items of the typesize of `options`.
    #[must_use]
    pub fn new(shape: &[u64], options: Options) -> Self {
        let dtype = format!("|S{}", options.typesize);
        Self {
            shape: shape.to_vec(),
            chunks: None,
            blocks: None,
            chunk_nbytes: CHUNK_NBYTES,
            block_nbytes: BLOCK_NBYTES,
            dtype,
            order: ItemOrder::C,
            frame: FrameOptions::default(),
            options,
        }
    }

    /// Sets the shape of chunks.
    #[must_use]
    pub fn with_chunks(mut self, chunks: &[u64]) -> Self {
        self.chunks = Some(chunks.to_vec());
        self
    }

    /// Sets the shape of blocks.
    #[must_use]
    pub fn with_blocks(mut self, blocks: &[u64]) -> Self {
        self.blocks = Some(blocks.to_vec());
        self
    }

    /// Sets how many bytes chunks have at most when no shape is given for them, instead of 8 MiB.
    #[must_use]
    pub fn with_chunk_nbytes(mut self, nbytes: usize) -> Self {
        self.chunk_nbytes = nbytes;
        self
    }

    /// Sets how many bytes blocks have at most when no shape is given for them, instead of 256 KiB.
    #[must_use]
    pub fn with_block_nbytes(mut self, nbytes: usize) -> Self {
        self.block_nbytes = nbytes;
        self
    }

    /// Sets the type of the items, as NumPy writes it; it is kept as it is. `|S` and the typesize
    /// if not given. A type of NumPy whose size is not the typesize is an error when the array is
    /// made.
    #[must_use]
    pub fn with_dtype(mut self, dtype: impl Into<String>) -> Self {
        self.dtype = dtype.into();
        self
    }

    /// Sets the order of the array outside of its chunks, as in an .npy file; see
    /// [`NdArray::order`](super::ArrayReader::order).
    #[must_use]
    pub fn with_order(mut self, order: ItemOrder) -> Self {
        self.order = order;
        self
    }

    /// Sets what chunks are compressed with. The typesize stays what it is, and blocks have the
    /// shape that is set here.
    #[must_use]
    pub fn with_compression(mut self, options: Options) -> Self {
        let typesize = self.options.typesize;
        self.options = options;
        self.options.typesize = typesize;
        self
    }

    /// Removes the shapes of chunks and blocks, so that they are chosen automatically.
    #[must_use]
    pub fn with_automatic_chunks(mut self) -> Self {
        self.chunks = None;
        self.blocks = None;
        self
    }

    /// Sets how the frame of an array on disk is stored. Its options for chunks are ignored.
    #[must_use]
    pub fn with_frame(mut self, frame: FrameOptions) -> Self {
        self.frame = frame;
        self
    }

    /// The shape of the array.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The shape of chunks that was asked for.
    #[must_use]
    pub fn chunks(&self) -> Option<&[u64]> {
        self.chunks.as_deref()
    }

    /// The shape of blocks that was asked for.
    #[must_use]
    pub fn blocks(&self) -> Option<&[u64]> {
        self.blocks.as_deref()
    }

    /// How many bytes chunks have at most when no shape is given for them.
    #[must_use]
    pub fn chunk_nbytes(&self) -> usize {
        self.chunk_nbytes
    }

    /// How many bytes blocks have at most when no shape is given for them.
    #[must_use]
    pub fn block_nbytes(&self) -> usize {
        self.block_nbytes
    }

    /// The type of the items, as NumPy writes it.
    #[must_use]
    pub fn dtype(&self) -> &str {
        &self.dtype
    }

    /// The order of the items outside of the chunks.
    #[must_use]
    pub fn order(&self) -> ItemOrder {
        self.order
    }

    /// What chunks are compressed with.
    #[must_use]
    pub fn compression(&self) -> &Options {
        &self.options
    }

    /// How the frame of an array on disk is stored.
    #[must_use]
    pub fn frame(&self) -> &FrameOptions {
        &self.frame
    }

    /// How an array with these options is divided into chunks and blocks.
    ///
    /// # Errors
    /// As [`Geometry::new`].
    pub fn geometry(&self) -> Result<Geometry> {
        Ok(self.resolve()?.0)
    }

    /// The same for other items and another shape.
    pub(super) fn for_items(mut self, shape: &[u64], typesize: usize, dtype: impl Into<String>) -> Self {
        self.shape = shape.to_vec();
        self.options.typesize = typesize;
        self.dtype = dtype.into();
        self
    }

    pub(super) fn frame_options(&self, chunks: Options) -> FrameOptions {
        self.frame.clone().with_chunks(chunks)
    }

    /// Checks that items have the size of their type: NumPy cannot make an array of others. Types
    /// that are not NumPy's are not checked.
    fn check_dtype(&self) -> Result<()> {
        let typesize = self.options.typesize;
        match DType::parse(&self.dtype).map(|dtype| dtype.itemsize()) {
            Ok(itemsize) if itemsize != typesize => {
                bail!(
                    InvalidArgument,
                    "array: items of the type {} have {itemsize} bytes, the typesize is {typesize}",
                    self.dtype
                )
            }
            _ => Ok(()),
        }
    }

    /// Geometry, and the options for chunks.
    pub(super) fn resolve(&self) -> Result<(Geometry, Options)> {
        let typesize = self.options.typesize as u64;
        if typesize == 0 {
            bail!(InvalidArgument, "array: items of 0 bytes");
        }
        self.check_dtype()?;
        let chunks = self.chunks.clone().unwrap_or_else(|| halved(&self.shape, self.chunk_nbytes as u64 / typesize));
        let blocks = self.blocks.clone().unwrap_or_else(|| halved(&chunks, self.block_nbytes as u64 / typesize));
        let chunks = if self.chunks.is_none() { raised(&chunks, &blocks, &self.shape) } else { chunks };
        let geometry = Geometry::new(self.options.typesize, &self.shape, &chunks, &blocks)?;
        let options = self.options.clone().with_blocksize(geometry.block_nbytes().max(1));
        Ok((geometry, options))
    }
}

/// `shape` with its longest axis halved until it has at most `max` items.
fn halved(shape: &[u64], max: u64) -> Vec<u64> {
    let mut shape: Vec<u64> = shape.iter().map(|&length| length.clamp(1, 1 << 31)).collect();
    let items = |shape: &[u64]| shape.iter().fold(1_u64, |items, &length| items.saturating_mul(length));
    while items(&shape) > max.max(1) {
        match shape.iter_mut().rev().max() {
            Some(longest) if *longest > 1 => *longest = longest.div_ceil(2),
            _ => break,
        }
    }
    shape
}

/// Lengths of chunks as multiples of those of blocks, except where a chunk reaches from one end of
/// the array to the other.
fn raised(chunks: &[u64], blocks: &[u64], shape: &[u64]) -> Vec<u64> {
    let lengths = chunks.iter().zip(blocks).zip(shape);
    lengths.map(|((&chunk, &block), &length)| chunk.next_multiple_of(block.max(1)).min(length.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dtype_of_another_size_than_the_items_is_refused() {
        let options = |dtype: &str| ArrayOptions::new(&[10], Options::new(4)).with_dtype(dtype);
        for dtype in ["<f8", "|u1", "|S5", "[('a', '<i4'), ('b', '<i4')]"] {
            let error = options(dtype).geometry().unwrap_err();
            assert_eq!(error.kind(), crate::error::ErrorKind::InvalidArgument, "{dtype}: {error}");
        }
        for dtype in ["<f4", ">i4", "|S4", "[('a', '<i2'), ('b', '<u2')]", "bfloat32", ""] {
            assert!(options(dtype).geometry().is_ok(), "{dtype}");
        }
    }

    #[test]
    fn the_longest_axis_is_halved_until_it_fits() {
        assert_eq!(halved(&[1000, 10], 1000), [63, 10]);
        assert!(halved(&[], 10).is_empty());
        assert_eq!(halved(&[3, 3], 1), [1, 1]);
        assert_eq!(halved(&[0, 7], 100), [1, 7]);
        assert_eq!(halved(&[8, 8, 8], 256), [4, 8, 8]);
    }

    #[test]
    fn sizes_are_about_those_of_python_blosc2() {
        // What it chooses with caches of 1.25 MiB and 48 MiB: chunks of 8 to 12 MB, blocks of 200
        // to 320 KB.
        for (typesize, shape) in [
            (4, &[512, 512, 512][..]),
            (8, &[10_000, 10_000]),
            (1, &[1_000_000_000]),
            (4, &[365, 720, 1440]),
            (8, &[1_000_000, 3]),
            (20, &[64, 64, 64, 64]),
            (4, &[1, 1, 100_000_000]),
        ] {
            let (geometry, _) = ArrayOptions::new(shape, Options::new(typesize)).resolve().unwrap();
            let (chunk, block) = (geometry.chunk_nbytes(), geometry.block_nbytes());
            assert!((3 << 20..10 << 20).contains(&chunk), "{shape:?}: {geometry:?}");
            assert!((100 << 10..=256 << 10).contains(&block), "{shape:?}: {geometry:?}");
        }
        for shape in [&[5][..], &[1000], &[7, 11, 13], &[]] {
            let (geometry, _) = ArrayOptions::new(shape, Options::new(4)).resolve().unwrap();
            assert_eq!((geometry.chunks(), geometry.blocks()), (shape, shape));
        }
    }

    #[test]
    fn sizes_can_be_chosen_without_shapes() {
        let options =
            ArrayOptions::new(&[500, 600], Options::new(4)).with_chunk_nbytes(100_000).with_block_nbytes(5000);
        let (geometry, _) = options.resolve().unwrap();
        assert!((25_000..=110_000).contains(&geometry.chunk_nbytes()), "{geometry:?}");
        assert!((1250..=5000).contains(&geometry.block_nbytes()), "{geometry:?}");
    }

    #[test]
    fn there_is_no_padding_between_blocks() {
        let (geometry, _) = ArrayOptions::new(&[1000, 1001, 999], Options::new(4)).resolve().unwrap();
        let lengths = || geometry.chunks().iter().zip(geometry.blocks());
        assert!(lengths().all(|(chunk, block)| chunk.is_multiple_of(*block)), "{geometry:?}");
    }
}
