//! What an edit does with a super-chunk: begin, publish, and hand out what is published.

use super::{Store, SuperChunk};
use crate::error::{Result, bail};
use crate::schunk::checked_chunks::CheckedChunks;
use std::sync::{Arc, OnceLock};

impl SuperChunk {
    /// Acquires the right to change the chunks, which is exclusive until
    /// [`release`](Self::release), and reloads if others have published something.
    pub(crate) fn begin(&mut self) -> Result<()> {
        let has_changes = self.is_changed;
        match self.own()?.begin(has_changes)? {
            Some(state) => self.replace_state(state),
            None => self.forget_checked(),
        }
        Ok(())
    }

    /// Releases the right to change the chunks.
    pub(crate) fn release(&mut self) {
        if let Ok(store) = self.own() {
            store.release();
        }
    }

    /// Publishes all changes.
    pub(crate) fn publish(&mut self) -> Result<()> {
        // A panic has interrupted it.
        self.take_back();
        if self.is_broken {
            bail!(Poisoned, "a change has failed and could not be taken back: abort this edit, and begin another one");
        }
        if self.is_changed {
            self.store.own()?.commit(&self.state)?;
            self.is_changed = false;
        }
        Ok(())
    }

    /// Reclaims unused space. All changes have been published.
    pub(crate) fn compact(&mut self) -> Result<()> {
        self.store.own()?.compact(&self.state)
    }

    /// Removes what has been stored and not published.
    pub(crate) fn abandon(&mut self) {
        if let Ok(store) = self.own() {
            store.abandon();
        }
    }

    /// A snapshot of what has been published. Without changes of its own, it is the same as this
    /// one.
    pub(crate) fn snapshot(&self) -> Result<Self> {
        let store = self.store.snapshot(self.compared.is_some())?;
        let mut snapshot =
            Self::with_store(self.state.clone(), Store::Shared(store), self.options.clone(), self.limits);
        snapshot.untold_bitshuffle = self.untold_bitshuffle;
        snapshot.compared = self.compared.as_ref().map(|_| CheckedChunks::default());
        if let Some(Ok(starts)) = self.starts.get() {
            snapshot.starts = OnceLock::from(Ok(Arc::clone(starts)));
        }
        Ok(snapshot)
    }

    /// The same in memory, to be changed; `None` if it is not in memory.
    pub(crate) fn fork(&self) -> Option<Self> {
        let store = Box::new(self.store().facts().memory?.clone());
        let mut fork = Self::with_store(self.state.clone(), Store::Own(store), self.options.clone(), self.limits);
        fork.untold_bitshuffle = self.untold_bitshuffle;
        Some(fork)
    }

    /// Whether both read the same.
    pub(crate) fn shares_store(&self, other: &Self) -> bool {
        match (&self.store, &other.store) {
            (Store::Shared(one), Store::Shared(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// How many bytes are unused: replaced chunks, old indexes and trailers.
    ///
    /// # Errors
    /// As reading the headers of all chunks.
    pub fn dead_bytes(&self) -> Result<u64> {
        let space = self.store().facts().chunk_space;
        if space == 0 {
            return Ok(0);
        }
        let mut live = 0;
        for run in self.chunk_runs() {
            live += run.header?.map_or(0, |header| header.cbytes() as u64);
        }
        Ok(space.saturating_sub(live))
    }

    /// Marks it as changed, though no chunk has been.
    pub(crate) fn mark_changed(&mut self) {
        self.is_changed = true;
    }

    /// Whether it is what has been published, after all calls have ended.
    pub(crate) fn is_as_published(&self) -> bool {
        !self.is_changed && !self.is_broken && self.undo.is_none()
    }

    /// Whether there are changes that are not published.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Marks it as the one of an edit.
    pub(crate) fn set_token(&mut self, token: Option<Arc<()>>) {
        self.token = token;
    }

    pub(crate) fn has_token(&self, token: &Arc<()>) -> bool {
        self.token.as_ref().is_some_and(|own| Arc::ptr_eq(own, token))
    }
}
