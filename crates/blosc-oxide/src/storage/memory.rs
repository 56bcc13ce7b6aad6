//! Bytes in memory.

use super::{ReadAt, Storage, unexpected_end};
use std::io;

/// Storage in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryStorage(Vec<u8>);

impl MemoryStorage {
    /// Storage that holds `bytes`.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes it holds.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The bytes it holds.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The bytes from `position` on that fill a buffer of `len`.
fn slice(bytes: &[u8], position: u64, len: usize) -> io::Result<&[u8]> {
    let start = usize::try_from(position).map_err(|_| unexpected_end())?;
    let end = start.checked_add(len).ok_or_else(unexpected_end)?;
    bytes.get(start..end).ok_or_else(unexpected_end)
}

impl ReadAt for [u8] {
    fn len(&self) -> io::Result<u64> {
        Ok(<[u8]>::len(self) as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        buffer.copy_from_slice(slice(self, position, buffer.len())?);
        Ok(())
    }
}

impl ReadAt for MemoryStorage {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_at(position, buffer)
    }
}

impl Storage for MemoryStorage {
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let start = usize::try_from(position).map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        let end = start.checked_add(bytes.len()).ok_or_else(|| io::Error::from(io::ErrorKind::StorageFull))?;
        if start == self.0.len() {
            self.0.extend_from_slice(bytes);
            return Ok(());
        }
        if self.0.len() < end {
            self.0.resize(end, 0);
        }
        self.0[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        self.0.resize(len, 0);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_beyond_the_end_leave_zeros_between() {
        let mut storage = MemoryStorage::new(vec![1, 2]);
        storage.write_at(4, &[5, 6]).unwrap();
        assert_eq!(storage.as_bytes(), [1, 2, 0, 0, 5, 6]);
        storage.write_at(1, &[9, 9]).unwrap();
        storage.set_len(3).unwrap();
        assert_eq!(storage.as_bytes(), [1, 9, 9]);
    }

    #[test]
    fn reads_past_the_end_are_errors() {
        let storage = MemoryStorage::new(vec![1, 2, 3]);
        let mut buffer = [0; 2];
        storage.read_at(1, &mut buffer).unwrap();
        assert_eq!(buffer, [2, 3]);
        for position in [2, 3, u64::MAX] {
            assert_eq!(storage.read_at(position, &mut buffer).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
