//! What an edit has done so far, so that one that fails is taken back: all of a call happens, or
//! nothing of it.

use super::SuperChunk;
use super::state::{ChunkSize, State};
use super::store::{Source, Staged};
use crate::chunk::Special;
use crate::error::Result;
use std::ops::Range;
use std::sync::OnceLock;

/// How many chunks are taken away at once when an edit is taken back.
const MAX_TAKEN_BACK: usize = 1 << 16;

/// One change of the sequence of chunks.
#[derive(Debug)]
struct Step {
    /// Where chunks have been put.
    at: usize,
    /// How many have been put there.
    put: usize,
    /// Those that were there before.
    taken: Vec<Staged>,
    /// Which of them have been put there again; none if it is empty.
    is_reused: Vec<bool>,
    /// Which of those that have been put there were there before; none if it is empty.
    is_old: Vec<bool>,
}

/// What changes with the chunks.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    chunksize: ChunkSize,
    blocksize: usize,
    nbytes: u64,
    vlblocks: bool,
}

impl Sizes {
    fn of(state: &State) -> Self {
        Self { chunksize: state.chunksize, blocksize: state.blocksize, nbytes: state.nbytes, vlblocks: state.vlblocks }
    }

    fn restore(self, state: &mut State) {
        state.chunksize = self.chunksize;
        state.blocksize = self.blocksize;
        state.nbytes = self.nbytes;
        state.vlblocks = self.vlblocks;
    }
}

/// The steps of an edit that has not ended, and what was there before them.
#[derive(Debug)]
pub(super) struct Undo {
    steps: Vec<Step>,
    sizes: Sizes,
    was_changed: bool,
}

impl SuperChunk {
    /// Runs an action that changes chunks. If it fails, nothing has changed. Edits are not nested.
    pub(super) fn edit<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.begin_edit()?;
        let result = action(self);
        self.end_edit(result)
    }

    /// The same for an action that changes metalayers, too.
    pub(super) fn edit_metadata<T>(&mut self, action: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
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
        let was_changed = self.is_changed;
        self.undo = Some(Undo { steps: Vec::new(), sizes: Sizes::of(&self.state), was_changed });
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
        let steps = self.undo.take().map(|undo| undo.steps).unwrap_or_default();
        steps.into_iter().try_for_each(|Step { taken, is_reused, .. }| self.give_up(without(taken, &is_reused)))
    }

    /// Takes back what an edit has done that has failed, or that a panic has interrupted.
    pub(super) fn take_back(&mut self) {
        let Some(Undo { steps, sizes, was_changed }) = self.undo.take() else { return };
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
                Ok(failed) => self.unstage(without(failed, &is_old)),
                // What is there now is neither the old nor the new sequence.
                Err(_) => self.is_broken = true,
            }
        }
        let has_other_blocks = self.state.blocksize != sizes.blocksize;
        sizes.restore(&mut self.state);
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
    pub(super) fn splice(&mut self, range: Range<usize>, chunks: Vec<Staged>) -> Result<()> {
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
    pub(super) fn insert_specials(&mut self, at: usize, special: Special, count: usize) -> Result<()> {
        self.own()?.insert_specials(at, special, count)?;
        self.done(Step { at, put: count, taken: Vec::new(), is_reused: Vec::new(), is_old: Vec::new() })
    }

    /// Makes `sources` what comes after the first `kept` chunks. No old chunk may come twice.
    pub(super) fn splice_sources(&mut self, kept: usize, sources: Vec<Source>) -> Result<()> {
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
            self.unstage(without(chunks, &is_old));
            return Err(error);
        }
        self.done(Step { at: kept, put: chunks.len(), taken, is_reused, is_old })
    }

    /// Takes notice of a step. Outside of an edit nothing is taken back.
    fn done(&mut self, step: Step) -> Result<()> {
        let Some(undo) = &mut self.undo else {
            return self.give_up(without(step.taken, &step.is_reused));
        };
        match undo.steps.last_mut() {
            // Chunks that are appended one by one need no list of their own.
            Some(last) if step.taken.is_empty() && last.is_old.is_empty() && last.at + last.put == step.at => {
                last.put += step.put;
            }
            _ => undo.steps.push(step),
        }
        Ok(())
    }
}

/// Those that are not marked.
fn without<'m>(chunks: Vec<Staged>, is_marked: &'m [bool]) -> impl Iterator<Item = Staged> + use<'m> {
    let marks = is_marked.iter().copied().chain(std::iter::repeat(false));
    chunks.into_iter().zip(marks).filter_map(|(chunk, is_marked)| (!is_marked).then_some(chunk))
}
