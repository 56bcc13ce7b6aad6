//! A call that fails changes nothing: its steps are logged, and undone.

use crate::chunk::Special;
use crate::error::Result;
use crate::schunk::SuperChunk;
use crate::schunk::store::{Source, Staged};
use crate::schunk::undo::{Step, UndoLog, unmarked};
use std::ops::Range;
use std::sync::OnceLock;

/// How many chunks are removed at once when a call is undone.
const MAX_TAKEN_BACK: usize = 1 << 16;

impl SuperChunk {
    /// Runs an action that changes chunks. If it fails, nothing has changed. Edits are not nested.
    pub(in crate::schunk) fn edit<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.begin_edit()?;
        let result = action(self);
        self.end_edit(result)
    }

    /// The same for an action that changes metalayers, too.
    pub(in crate::schunk) fn edit_metadata<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.begin_edit()?;
        let (fixed, variable) = (self.state.metalayers.clone(), self.state.vlmetalayers.clone());
        let result = action(self);
        if result.is_err() {
            (self.state.metalayers, self.state.vlmetalayers) = (fixed, variable);
        }
        self.end_edit(result)
    }

    /// Begins an edit, if anything can be changed.
    pub(crate) fn begin_edit(&mut self) -> Result<()> {
        self.take_back();
        self.begin()?;
        self.undo = Some(UndoLog::new(&self.state, self.is_changed));
        Ok(())
    }

    /// Ends an edit: what it has done is kept, or taken back if it has failed.
    pub(crate) fn end_edit<T>(&mut self, result: Result<T>) -> Result<T> {
        let result = result.and_then(|value| self.keep().map(|()| value));
        self.take_back();
        result
    }

    /// Gives up the space of what has been replaced. If that cannot be written, nothing can be
    /// committed any more.
    fn keep(&mut self) -> Result<()> {
        let steps = self.undo.take().map(UndoLog::into_steps).unwrap_or_default();
        steps.into_iter().try_for_each(|step| self.give_up(step.replaced()))
    }

    /// Takes back what an edit has done that has failed, or that a panic has interrupted.
    pub(in crate::schunk) fn take_back(&mut self) {
        let Some((steps, sizes, was_changed)) = self.undo.take().map(UndoLog::into_parts) else { return };
        for Step { at, mut put, taken, is_old, .. } in steps.into_iter().rev() {
            // Rows of special chunks can be as long as an index allows: they are taken away little
            // by little.
            while put > MAX_TAKEN_BACK && is_old.is_empty() {
                put -= MAX_TAKEN_BACK;
                match self.splice_store(at + put..at + put + MAX_TAKEN_BACK, &[]) {
                    Ok(failed) => self.unstage(failed),
                    Err(_) => self.is_broken = true,
                }
            }
            match self.splice_store(at..at + put, &taken) {
                Ok(failed) => self.unstage(unmarked(failed, is_old)),
                // What is there now is neither the old nor the new sequence.
                Err(_) => self.is_broken = true,
            }
        }
        let has_other_blocks = sizes.restore(&mut self.state);
        if has_other_blocks {
            self.options = self.state.options(&self.options);
            self.compressor = None;
        }
        self.is_changed = was_changed;
        self.starts = OnceLock::new();
    }

    fn splice_store(&mut self, range: Range<usize>, chunks: &[Staged]) -> Result<Vec<Staged>> {
        self.own()?.splice(range, chunks)
    }

    /// Puts chunks in place of those at `range`. If that fails, they are given up.
    pub(in crate::schunk) fn splice(&mut self, range: Range<usize>, chunks: Vec<Staged>) -> Result<()> {
        let at = range.start;
        match self.splice_store(range, &chunks) {
            Ok(taken) => {
                let (is_reused, is_old) = (Vec::new(), Vec::new());
                self.done(Step { at, put: chunks.len(), taken, is_reused, is_old })
            }
            Err(error) => {
                self.unstage(chunks);
                Err(error)
            }
        }
    }

    /// Puts chunks of a special value in front of the one at `at`, or at the end.
    pub(in crate::schunk) fn insert_specials(&mut self, at: usize, special: Special, count: usize) -> Result<()> {
        self.own()?.insert_specials(at, special, count)?;
        self.done(Step { at, put: count, taken: Vec::new(), is_reused: Vec::new(), is_old: Vec::new() })
    }

    /// Makes `sources` what comes after the first `kept` chunks. No old chunk may come twice.
    pub(in crate::schunk) fn splice_sources(&mut self, kept: usize, sources: Vec<Source>) -> Result<()> {
        let taken = self.splice_store(kept..self.nchunks(), &[])?;
        let mut is_reused = vec![false; taken.len()];
        let is_old: Vec<bool> = sources.iter().map(|source| matches!(source, Source::Old(_))).collect();
        let chunks: Vec<Staged> = sources
            .into_iter()
            .map(|source| match source {
                Source::Old(at) => {
                    is_reused[at - kept] = true;
                    taken[at - kept].clone()
                }
                Source::New(staged) => staged,
            })
            .collect();
        if let Err(error) = self.splice_store(kept..kept, &chunks) {
            // Nothing is there now where the old ones were.
            self.is_broken |= self.splice_store(kept..kept, &taken).is_err();
            self.unstage(unmarked(chunks, is_old));
            return Err(error);
        }
        self.done(Step { at: kept, put: chunks.len(), taken, is_reused, is_old })
    }

    /// Logs a step. Outside of an edit nothing is undone.
    fn done(&mut self, step: Step) -> Result<()> {
        match &mut self.undo {
            Some(undo) => undo.push(step),
            None => self.give_up(step.replaced())?,
        }
        Ok(())
    }
}
