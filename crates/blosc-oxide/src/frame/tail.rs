//! The end of a frame: bytes that have been added but not yet handed to the storage.

/// How many bytes are gathered before they are written.
const CAPACITY: usize = 1 << 20;

/// Bytes from a position on.
#[derive(Debug)]
pub(super) struct Tail {
    start: u64,
    bytes: Vec<u8>,
}

impl Tail {
    /// Nothing, from `start` on.
    pub(super) fn new(start: u64) -> Self {
        Self { start, bytes: Vec::new() }
    }

    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Where the next bytes go.
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds bytes and returns where they start.
    pub(super) fn push(&mut self, bytes: &[u8]) -> u64 {
        let position = self.end();
        self.bytes.extend_from_slice(bytes);
        position
    }

    /// Adds zeros up to a position.
    pub(super) fn pad_to(&mut self, position: u64) {
        let missing = usize::try_from(position.saturating_sub(self.end())).unwrap_or_default();
        self.bytes.resize(self.bytes.len() + missing, 0);
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= CAPACITY
    }

    /// All bytes are on the storage now.
    pub(super) fn flushed(&mut self) {
        self.start = self.end();
        self.bytes.clear();
    }

    /// Puts what it has of the bytes from `position` on into `out`, and returns how many before
    /// that it has not. Bytes after its end are not its own.
    pub(super) fn read(&self, position: u64, out: &mut [u8]) -> usize {
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
        let mut tail = Tail::new(10);
        assert_eq!(tail.push(&[1, 2, 3, 4]), 10);
        assert_eq!(tail.end(), 14);
        let cases = [(0, 4, [0; 4]), (8, 2, [0, 0, 1, 2]), (10, 0, [1, 2, 3, 4]), (14, 4, [0; 4]), (99, 4, [0; 4])];
        for (position, before, expected) in cases {
            let mut out = [0; 4];
            assert_eq!(tail.read(position, &mut out), before);
            assert_eq!(out, expected);
        }
        tail.flushed();
        assert_eq!((tail.start(), tail.end()), (14, 14));
    }
}
