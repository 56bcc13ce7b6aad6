//! The data sets that are measured: real ones, which `bench install` gets, and a few made by
//! formula.

pub(crate) mod formula;
pub(crate) mod real;

/// A data set: bytes, and the size of the items they are.
pub(crate) struct DataSet {
    pub(crate) name: &'static str,
    pub(crate) typesize: usize,
    pub(crate) bytes: Vec<u8>,
}

impl DataSet {
    /// The length of a chunk of whole items, at most `len` bytes.
    pub(crate) fn chunk_len(&self, len: usize) -> usize {
        len.min(self.bytes.len()) / self.typesize * self.typesize
    }

    /// Chunks of at most `len` bytes, as many as `total` bytes have room for and at least one. They
    /// are spread evenly over the set: its start may be a header or an ocean.
    pub(crate) fn chunks(&self, len: usize, total: usize) -> Vec<&[u8]> {
        let len = self.chunk_len(len);
        let count = (total / len).clamp(1, self.bytes.len() / len);
        let stride = self.bytes.len() / count;
        let start = |number: usize| (number * stride + (stride - len) / 2) / self.typesize * self.typesize;
        (0..count).map(|number| &self.bytes[start(number)..start(number) + len]).collect()
    }

    /// A set of at most `len` bytes from the middle of this one.
    pub(crate) fn middle(&self, len: usize) -> Self {
        Self { bytes: self.chunks(len, len)[0].to_vec(), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered() -> DataSet {
        DataSet { name: "numbered", typesize: 3, bytes: (0..100).flat_map(|item| [item; 3]).collect() }
    }

    #[test]
    fn chunks_are_whole_items_spread_over_the_set() {
        let set = numbered();
        let chunks = set.chunks(31, 100);
        assert_eq!(chunks.iter().map(|chunk| chunk.len()).collect::<Vec<_>>(), [30; 3]);
        assert_eq!(chunks.iter().map(|chunk| (chunk[0], chunk[2])).collect::<Vec<_>>(), [(11, 11), (45, 45), (78, 78)]);
    }

    #[test]
    fn a_chunk_is_no_longer_than_the_set() {
        assert_eq!(numbered().chunks(1 << 20, 1 << 20), [&numbered().bytes[..]]);
        assert_eq!(numbered().middle(6).bytes, [49, 49, 49, 50, 50, 50]);
    }
}
