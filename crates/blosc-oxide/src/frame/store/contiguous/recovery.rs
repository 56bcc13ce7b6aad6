//! A frame that others have left: what a crash has left unfinished, and what others have committed.

use super::Contiguous;
use super::access::Access;
use super::overwrites::View;
use crate::error::{Result, bail};
use crate::frame::format::footer::{self, Footer};
use crate::frame::format::header::FIXED_LEN;
use crate::frame::read::load::{self, Loaded};
use crate::frame::store::committed::CHANGED_MEANWHILE;
use crate::schunk::State;
use crate::storage::MemoryStorage;
use std::sync::Arc;

impl Contiguous {
    /// Finishes a commit that a crash has interrupted, unless another handle is changing the frame:
    /// then there was no crash.
    pub(super) fn heal_if_alone(&mut self) -> Result<()> {
        let Some(is_torn) = self.unhealed else { return Ok(()) };
        let right = if self.right.is_some() { None } else { self.access.as_write()?.own()? };
        if self.right.is_some() || right.is_some() {
            self.unhealed = None;
            self.guarded(|store| store.heal(is_torn))?;
        }
        Ok(())
    }

    /// Puts the header back that was found torn, and cuts off a footer that would undo what other
    /// programs do to metalayers. Takes over what the footer knows of the frame.
    pub(super) fn heal(&mut self, is_torn: bool) -> Result<()> {
        let footer = footer::read(self.access.as_read(), self.base, self.settings.limits);
        if is_torn {
            let (base, header) = (self.base, self.header.clone());
            self.storage()?.write_at(base, &header)?;
            self.sync()?;
        }
        let Some(footer) = footer else { return Ok(()) };
        if self.header.starts_with(&footer.new) {
            let place = footer.start..footer.start + Footer::len(footer.new.len()) as u64;
            self.space.adopt(&footer.free_space, self.header.len() as u64, place);
        } else if self.header.starts_with(&footer.old) && self.has_chunks_before(footer.free_space.chunks_end)? {
            self.space.adopt_unfinished(&footer.free_space, self.header.len() as u64);
        }
        if footer.new.len() > FIXED_LEN { self.cut(footer.start) } else { Ok(()) }
    }

    /// Whether there are chunks, and all of them before a position: not while they are being moved
    /// together.
    pub(super) fn has_chunks_before(&self, position: u64) -> Result<bool> {
        let last = self.index.offsets()?.max();
        Ok(last.is_some_and(|offset| self.position_of(offset) < position))
    }

    /// Reclaims the space of uncommitted bytes behind the frame, left by a process that was killed
    /// or has aborted. A footer stays; so does everything where there are no chunks, because
    /// deleted ones may lie there that others are reading. Opening a frame does not do this: where
    /// there are no locks, another process may be about to commit.
    pub(super) fn cut_uncommitted(&mut self) -> Result<()> {
        let end = self.space.index().end;
        if self.index.len() == 0 || self.limit <= end || !self.space.footer().is_empty() {
            return Ok(());
        }
        self.guarded(|store| store.cut(end))
    }

    /// Reloads if another process has committed, now that none can; returns the new state if so.
    pub(super) fn catch_up(&mut self, has_changes: bool) -> Result<Option<State>> {
        let is_current = self.has_known_state()?;
        if is_current && self.access.as_read().len()? == self.base + self.readable_end() && self.is_undisturbed()? {
            self.heal_if_alone()?;
            return self.cut_uncommitted().map(|()| None);
        }
        if has_changes && !is_current {
            bail!(Conflict, "{CHANGED_MEANWHILE}");
        }
        // Somebody may also have written something behind the frame or to free places, and have
        // given it up.
        let loaded = load::load(self.access.as_read(), self.base, self.settings.limits)?;
        let state = self.become_loaded(loaded)?;
        self.cut_uncommitted()?;
        Ok((!is_current).then_some(state))
    }

    /// Becomes what has been found on its storage.
    pub(super) fn become_loaded(&mut self, loaded: Loaded) -> Result<State> {
        let access = std::mem::replace(&mut self.access, Access::Read(Arc::new(MemoryStorage::default())));
        let right = self.right.take();
        let view = View::newest(Arc::clone(self.view.shared()));
        let (store, state) = Self::of_loaded(access, right, self.base, loaded, self.settings, view)?;
        *self = store;
        Ok(state)
    }
}
