//! Looking for damage.

use crate::error::{Error, ErrorKind, Result};
use crate::schunk::{Slot, SuperChunk};
use std::collections::HashMap;
use std::hash::Hash;

/// How many damaged parts are described. There may be millions, in a file that is small.
const MAX_DESCRIBED: usize = 1000;

/// How many chunks are remembered, so that one that an index names again and again is decoded once.
const MAX_REMEMBERED: usize = 1 << 16;

/// What is known of chunks that were found good, by where they are and what is expected of them.
#[derive(Debug)]
pub(in crate::frame) struct Remembered<K, V>(HashMap<K, V>);

impl<K: Hash + Eq, V: Copy> Remembered<K, V> {
    pub(in crate::frame) fn new() -> Self {
        Self(HashMap::new())
    }

    /// What `find` says of `key`, or has said before.
    pub(in crate::frame) fn get_or(&mut self, key: K, find: impl FnOnce() -> Result<V>) -> Result<V> {
        if let Some(known) = self.0.get(&key) {
            return Ok(*known);
        }
        let found = find()?;
        if self.0.len() == MAX_REMEMBERED {
            self.0.clear();
        }
        self.0.insert(key, found);
        Ok(found)
    }
}

/// What a verification has found.
///
/// ```
/// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
/// let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
/// edit.append(b"data")?;
/// let found = edit.commit()?.verify()?;
/// assert!(found.is_good());
/// assert_eq!((found.chunks, found.checksums), (1, 1));
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// How many chunks were decoded.
    pub chunks: usize,
    /// How many of them have a checksum.
    pub checksums: usize,
    /// Whether another program, one that knows nothing of checksums, has changed metalayers of
    /// fixed size since.
    pub has_foreign_metalayers: bool,
    /// Whether such a program has changed anything else since: the checksums of chunks no longer
    /// count.
    pub has_foreign_changes: bool,
    /// How many parts are damaged: chunks, metalayers, the list of checksums.
    pub damaged: usize,
    /// What is wrong with the first 1000 of them.
    pub damage: Vec<Damage>,
    /// How many parts could not be examined, which may be good: their codec or a filter is not
    /// known here, or they ask for more memory than the limits allow.
    pub unexamined: usize,
    /// Why the first of them could not be.
    pub obstacle: Option<Error>,
}

/// Whether something may be good but cannot be examined here.
pub(in crate::frame) fn is_obstacle(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::LimitExceeded | ErrorKind::Unsupported)
}

/// A damaged part of a frame.
///
/// ```
/// use blosc_oxide::{Frame, Options, storage::MemoryStorage};
/// let mut edit = Frame::create(MemoryStorage::default(), Options::new(1))?;
/// edit.append(b"data")?;
/// let frame = edit.commit()?;
/// let position = frame.chunk_position(0)?.unwrap_or_default() as usize;
/// let mut bytes = frame.to_bytes()?;
/// bytes[position + 33] ^= 1;
/// for damage in Frame::open(bytes)?.verify()?.damage {
///     assert_eq!(damage.chunk, Some(0));
///     println!("{}", damage.error);
/// }
/// # Ok::<(), blosc_oxide::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The chunk; `None` if it is a metalayer, the list of checksums, or that chunks do not hold
    /// what is announced.
    pub chunk: Option<usize>,
    /// What is wrong with it.
    pub error: Error,
}

impl Damage {
    /// Counts it, and describes it if it is one of the first.
    pub(in crate::frame) fn note(self, damaged: &mut usize, described: &mut Vec<Self>) {
        *damaged += 1;
        if described.len() < MAX_DESCRIBED {
            described.push(self);
        }
    }
}

impl Verification {
    /// Whether everything was examined, and nothing is damaged.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.damaged == 0 && self.unexamined == 0
    }

    /// Takes note of what has become of chunks of which the same is stored; the first of them is
    /// described.
    fn noting_all(&mut self, index: usize, count: usize, result: Result<()>) -> Result<()> {
        let (damaged, unexamined) = (self.damaged, self.unexamined);
        self.noting(Some(index), result)?;
        self.damaged += (self.damaged - damaged) * (count - 1);
        self.unexamined += (self.unexamined - unexamined) * (count - 1);
        Ok(())
    }

    /// Takes note of damage; what cannot be read or examined, or is there no more because others
    /// have committed, is not called damaged.
    fn noting<T>(&mut self, chunk: Option<usize>, result: Result<T>) -> Result<Option<T>> {
        match result {
            Err(error) if is_obstacle(&error) => {
                self.unexamined += 1;
                self.obstacle.get_or_insert(error);
                Ok(None)
            }
            Err(error) if !matches!(error.kind(), ErrorKind::Io | ErrorKind::Conflict) => {
                Damage { chunk, error }.note(&mut self.damaged, &mut self.damage);
                Ok(None)
            }
            result => result.map(Some),
        }
    }
}

impl SuperChunk {
    /// Decodes all chunks and metalayers and compares all checksums. Header, index and trailer have
    /// been compared when the frame was opened. Metalayers of variable length are held to the
    /// limits together: those that are too much are counted as unexamined.
    ///
    /// # Errors
    /// `Io` if the frame cannot be read, `Conflict` if others have moved or removed its chunks
    /// since it was opened; damage is not an error but found, and so is what cannot be examined.
    pub fn verify(&self) -> Result<Verification> {
        let foreign = self.store().facts().foreign;
        let mut found = Verification {
            has_foreign_metalayers: foreign.metalayers,
            has_foreign_changes: foreign.rest,
            ..Verification::default()
        };
        // They are read all at once: if they are damaged, none is known. Those that are gone are
        // not damaged.
        let fetched = self.store().fetch_hashes();
        if !matches!(&fetched, Err(error) if error.kind() == ErrorKind::Conflict) {
            found.noting(None, fetched)?;
        }
        verify_chunks(self, &mut found)?;
        found.noting(None, self.check_sizes())?;
        for (_, examined) in self.vlmetalayers().examine() {
            found.noting(None, examined)?;
        }
        Ok(found)
    }
}

/// Decodes all chunks, which are compared with their hashes when they are read. Of special ones
/// there is nothing to decode.
fn verify_chunks(sc: &SuperChunk, found: &mut Verification) -> Result<()> {
    let mut good = Remembered::new();
    let mut index = 0;
    while index < sc.nchunks() {
        let hash = sc.store().hash(index);
        let end = if hash.is_some() { index + 1 } else { same_until(sc, index) };
        found.chunks += end - index;
        found.checksums += usize::from(hash.is_some());
        found.noting_all(index, end - index, examine(sc, index, hash, &mut good))?;
        index = end;
    }
    Ok(())
}

/// Decodes a chunk, unless the same was found good before.
fn examine(
    sc: &SuperChunk,
    index: usize,
    hash: Option<u64>,
    good: &mut Remembered<(u64, usize, Option<u64>), ()>,
) -> Result<()> {
    match sc.chunk_position(index)? {
        Some(position) => good.get_or((position, sc.chunk_nbytes(index)?, hash), || sc.examine(index)),
        None => sc.examine(index),
    }
}

/// Where the chunks end that are the same as the chunk `index`, which has no hash, and of which
/// none has one.
fn same_until(sc: &SuperChunk, index: usize) -> usize {
    let Ok((slot, end)) = sc.store().run(index) else { return index + 1 };
    // The last one may be shorter than the others.
    let end = end.min(sc.nchunks() - 1).max(index + 1);
    if slot != Slot::Stored {
        return end;
    }
    (index + 1..end).find(|&at| sc.store().hash(at).is_some()).unwrap_or(end)
}
