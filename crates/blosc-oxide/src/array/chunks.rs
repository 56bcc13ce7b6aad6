//! An array chunk by chunk.

use super::geometry::copy::{c_strides, size};
use super::reader::ArrayReader;
use crate::error::Result;
use std::ops::Range;

/// The items of one chunk of an array, without padding.
///
/// ```
/// use blosc_oxide::{ArrayOptions, NdArray, Options};
/// let options = ArrayOptions::new(&[3, 2], Options::new(1)).with_chunks(&[2, 2]).with_blocks(&[1, 2]);
/// let array = NdArray::from_data(&options, b"abcdef")?;
/// for chunk in array.chunks() {
///     let chunk = chunk?;
///     println!("chunk {} holds {:?} of the items {:?}", chunk.number, chunk.data, chunk.spans);
/// }
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayChunk {
    /// Which chunk it is.
    pub number: u64,
    /// Which items it has along each axis.
    pub spans: Vec<Range<u64>>,
    /// The items in C order.
    pub data: Vec<u8>,
}

impl ArrayReader {
    /// The items of all chunks, one chunk after the other: each block is
    /// decoded once, and no more memory is needed than for one chunk.
    ///
    /// ```
    /// use blosc_oxide::{ArrayOptions, NdArray, Options};
    /// let options = ArrayOptions::new(&[3, 2], Options::new(1)).with_chunks(&[2, 2]).with_blocks(&[1, 2]);
    /// let array = NdArray::from_data(&options, &[1, 2, 3, 4, 5, 6])?;
    /// let last = array.chunks().last().unwrap()?;
    /// assert_eq!((last.spans, last.data), (vec![2..3, 0..2], vec![5, 6]));
    /// # Ok::<(), blosc_oxide::Error>(())
    /// ```
    pub fn chunks(&self) -> impl Iterator<Item = Result<ArrayChunk>> + '_ {
        (0..self.geometry().nchunks()).map(|number| self.chunk_items(number))
    }

    fn chunk_items(&self, number: u64) -> Result<ArrayChunk> {
        let spans = self.geometry().spans_of_chunk(number);
        let lengths: Vec<usize> = spans.iter().map(|span| size(span.end - span.start)).collect();
        let typesize = self.geometry().typesize();
        let nbytes = lengths.iter().product::<usize>() * typesize;
        self.sc.limits().check("the data of a chunk", nbytes)?;
        let mut data = vec![0; nbytes];
        self.read_spans(&spans, &mut data, &c_strides(lengths.into_iter(), typesize))?;
        Ok(ArrayChunk { number, spans, data })
    }
}
