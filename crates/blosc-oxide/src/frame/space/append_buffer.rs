//! The append buffer: bytes added at the end of a frame that are not yet written to the storage.

/// How many bytes are collected before they are written.
const CAPACITY: usize = 1 << 20;

/// Bytes that follow one another from a position on.
#[derive(Debug)]
pub(in crate::frame) struct AppendBuffer {
    start: u64,
    bytes: Vec<u8>,
}

impl AppendBuffer {
    /// An empty one, whose first byte goes to `start`.
    pub(in crate::frame) fn new(start: u64) -> Self {
        Self { start, bytes: Vec::new() }
    }

    pub(in crate::frame) fn start(&self) -> u64 {
        self.start
    }

    /// Where the next bytes go.
    pub(in crate::frame) fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    pub(in crate::frame) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds bytes and returns where they start.
    pub(in crate::frame) fn push(&mut self, bytes: &[u8]) -> u64 {
        let position = self.end();
        self.bytes.extend_from_slice(bytes);
        position
    }

    /// Adds zeros up to a position.
    pub(in crate::frame) fn pad_to(&mut self, position: u64) {
        let missing = usize::try_from(position.saturating_sub(self.end())).unwrap_or_default();
        self.bytes.resize(self.bytes.len() + missing, 0);
    }

    pub(in crate::frame) fn is_full(&self) -> bool {
        self.bytes.len() >= CAPACITY
    }

    /// Empties it: all bytes have been written.
    pub(in crate::frame) fn flushed(&mut self) {
        self.start = self.end();
        self.bytes.clear();
    }

    /// Puts what it has of the bytes from `position` on into `out`, and returns how many before
    /// that it has not. Bytes after its end are not its own.
    pub(in crate::frame) fn read(&self, position: u64, out: &mut [u8]) -> usize {
        if position >= self.end() {
            return out.len();
        }
        let before = usize::try_from(self.start.saturating_sub(position)).unwrap_or(usize::MAX).min(out.len());
        let here = &mut out[before..];
        if here.is_empty() {
            return before;
        }
        let from = usize::try_from((position + before as u64) - self.start).unwrap_or(usize::MAX);
        let known = self.bytes.get(from..).unwrap_or_default();
        let len = known.len().min(here.len());
        here[..len].copy_from_slice(&known[..len]);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_divided_between_storage_and_memory() {
        let mut buffer = AppendBuffer::new(10);
        assert_eq!(buffer.push(&[1, 2, 3, 4]), 10);
        assert_eq!(buffer.end(), 14);
        let cases = [(0, 4, [0; 4]), (8, 2, [0, 0, 1, 2]), (10, 0, [1, 2, 3, 4]), (14, 4, [0; 4]), (99, 4, [0; 4])];
        for (position, before, expected) in cases {
            let mut out = [0; 4];
            assert_eq!(buffer.read(position, &mut out), before);
            assert_eq!(out, expected);
        }
        buffer.flushed();
        assert_eq!((buffer.start(), buffer.end()), (14, 14));
    }
}
