//! Looking for damage.

use super::{Frame, checksums};
use crate::error::{Error, ErrorKind, Result, error};
use crate::schunk::{Checks, SuperChunk};

/// What a verification has found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// How many chunks were decoded.
    pub chunks: usize,
    /// How many of them have a checksum.
    pub checksums: usize,
    /// Whether another program, one that knows nothing of checksums, has changed metalayers of fixed size since.
    pub has_foreign_metalayers: bool,
    /// Whether such a program has changed anything else since: the checksums of chunks no longer count.
    pub has_foreign_changes: bool,
    /// What is damaged.
    pub damage: Vec<Damage>,
}

/// A damaged part of a frame.
#[derive(Debug)]
#[non_exhaustive]
pub struct Damage {
    /// The chunk; `None` if it is a metalayer, or the list of checksums.
    pub chunk: Option<usize>,
    /// What is wrong with it.
    pub error: Error,
}

impl Verification {
    /// Whether nothing is damaged.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.damage.is_empty()
    }
}

impl Frame {
    /// Decodes all chunks and metalayers and compares all checksums. Header, index and trailer have been compared when
    /// the frame was opened.
    ///
    /// # Errors
    /// `Io` if the frame cannot be read; damage is not an error but found.
    pub fn verify(&mut self) -> Result<Verification> {
        verify(&mut self.0)
    }

    /// Makes every chunk that is read whole from now on be compared with its checksum, where there is one: a damaged one
    /// is `ChecksumMismatch` then, and not whatever it decodes to. A change of the frame ends it.
    ///
    /// # Errors
    /// `Corrupt` if the checksums themselves are damaged.
    pub fn check_when_read(&mut self) -> Result<()> {
        check_when_read(&mut self.0)
    }
}

/// Makes every chunk of `sc` that is read whole be compared with its hash.
fn check_when_read(sc: &mut SuperChunk) -> Result<()> {
    let hashes = (0..sc.nchunks()).map(|index| sc.store.hash(index)).collect::<Result<_>>()?;
    sc.set_checks(Checks { hashes, of: checksums::of_chunk });
    Ok(())
}

/// Decodes all chunks and metalayers of `sc` and compares all hashes that are kept.
pub(crate) fn verify(sc: &mut SuperChunk) -> Result<Verification> {
    let foreign = sc.store.foreign();
    let mut found = Verification {
        has_foreign_metalayers: foreign.metalayers,
        has_foreign_changes: foreign.rest,
        ..Verification::default()
    };
    let mut has_hashes = true;
    for index in 0..sc.nchunks() {
        found.chunks += 1;
        let expected = match if has_hashes { sc.store.hash(index) } else { Ok(None) } {
            Err(error) if error.kind() != ErrorKind::Io => {
                // They are read all at once.
                has_hashes = false;
                found.damage.push(Damage { chunk: None, error });
                None
            }
            expected => expected?,
        };
        found.checksums += usize::from(expected.is_some());
        if let Err(error) = verify_chunk(sc, index, expected) {
            found.damage.push(Damage { chunk: Some(index), error });
        }
    }
    for name in sc.vlmetalayers().names() {
        if let Err(error) = sc.vlmetalayers().get(name) {
            found.damage.push(Damage { chunk: None, error });
        }
    }
    Ok(found)
}

fn verify_chunk(sc: &SuperChunk, index: usize, expected: Option<u64>) -> Result<()> {
    if let Some(expected) = expected {
        let found = checksums::of_chunk(&sc.chunk(index)?);
        if found != expected {
            return Err(error!(ChecksumMismatch, "chunk {index}: its hash is {found:016x}, not {expected:016x}"));
        }
    }
    sc.decompress(index).map(|_| ())
}
