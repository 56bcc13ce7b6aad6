//! Bytes in memory.

use super::{ReadAt, Storage, unexpected_end};
use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Storage in memory. Clones share the bytes.
///
/// ```
/// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
/// let storage = MemoryStorage::default();
/// Frame::create(storage.clone(), Options::new(1))?.commit()?;
/// assert_eq!(Frame::open(storage.to_bytes())?.nbytes(), 0);
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct MemoryStorage(Arc<RwLock<Vec<u8>>>);

impl MemoryStorage {
    /// Storage that holds `bytes`.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Arc::new(RwLock::new(bytes)))
    }

    /// The bytes it holds; a copy of them if there are clones.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        match Arc::try_unwrap(self.0) {
            Ok(bytes) => bytes.into_inner().unwrap_or_else(PoisonError::into_inner),
            Err(shared) => Self(shared).to_bytes(),
        }
    }

    /// A copy of the bytes it holds.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.bytes().clone()
    }

    fn bytes(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn bytes_mut(&self) -> RwLockWriteGuard<'_, Vec<u8>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
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
        Ok(self.bytes().len() as u64)
    }

    fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.bytes().as_slice().read_at(position, buffer)
    }
}

impl Storage for MemoryStorage {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        let start = usize::try_from(position).map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        let end = start.checked_add(bytes.len()).ok_or_else(|| io::Error::from(io::ErrorKind::StorageFull))?;
        let mut stored = self.bytes_mut();
        if start == stored.len() {
            stored.extend_from_slice(bytes);
            return Ok(());
        }
        if stored.len() < end {
            stored.resize(end, 0);
        }
        stored[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::StorageFull))?;
        self.bytes_mut().resize(len, 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_beyond_the_end_leave_zeros_between() {
        let storage = MemoryStorage::new(vec![1, 2]);
        storage.write_at(4, &[5, 6]).unwrap();
        assert_eq!(storage.to_bytes(), [1, 2, 0, 0, 5, 6]);
        storage.write_at(1, &[9, 9]).unwrap();
        storage.set_len(3).unwrap();
        assert_eq!(storage.to_bytes(), [1, 9, 9]);
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
