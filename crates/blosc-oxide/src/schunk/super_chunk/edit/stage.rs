//! Changing many chunks at once: they are stored first, and become chunks of the super-chunk
//! together.

use crate::chunk::Chunk;
use crate::error::{Result, bail};
use crate::schunk::SuperChunk;
use crate::schunk::store::{NewChunk, Source, Staged};
use std::borrow::Cow;

impl SuperChunk {
    /// Stores a chunk without making it one of these yet.
    pub(crate) fn stage(&mut self, chunk: Vec<u8>) -> Result<Staged> {
        let storable = self.storable(&chunk)?;
        let parsed = Chunk::parse(&storable)?;
        if let NewChunk::Special(special) = Self::incoming(&parsed) {
            return Ok(Staged::Special(special));
        }
        if parsed.header().nbytes() == 0 || parsed.header().has_vlblocks() {
            bail!(InvalidArgument, "a chunk without data, or with variable-length blocks, cannot be put here");
        }
        let chunk = match storable {
            Cow::Borrowed(_) => chunk,
            Cow::Owned(other) => other,
        };
        self.own()?.stage(chunk.into())
    }

    /// Gives up chunks that have been staged, because something has failed.
    pub(crate) fn unstage(&mut self, staged: impl IntoIterator<Item = Staged>) {
        // What has failed is what the caller is told. Space that is not given back does no harm:
        // `compact` finds it.
        let _ = self.give_up(staged);
    }

    /// Gives up chunks that are not part of the sequence.
    pub(in crate::schunk) fn give_up(&mut self, staged: impl IntoIterator<Item = Staged>) -> Result<()> {
        staged.into_iter().try_for_each(|staged| self.own()?.unstage(staged))
    }

    /// Puts a staged chunk in place of one of the same size.
    pub(crate) fn put(&mut self, index: usize, staged: Staged) -> Result<()> {
        self.check_index(index)?;
        self.splice(index..index + 1, vec![staged])?;
        self.changed(self.state.nbytes);
        Ok(())
    }

    /// Makes `sources` what comes after the first `kept` chunks, each of `chunksize` bytes with
    /// blocks of `blocksize`. No old chunk may come twice.
    pub(crate) fn arrange(
        &mut self,
        kept: usize,
        sources: Vec<Source>,
        chunksize: usize,
        blocksize: usize,
    ) -> Result<()> {
        let nbytes = (kept as u64 + sources.len() as u64) * chunksize as u64;
        self.splice_sources(kept, sources)?;
        self.set_sizes(chunksize, blocksize);
        self.state.vlblocks = false;
        self.changed(nbytes);
        Ok(())
    }
}
