//! The undo log of a call that changes chunks.

use super::state::{ChunkSize, State};
use super::store::Staged;

/// One change of the sequence of chunks.
#[derive(Debug)]
pub(super) struct Step {
    /// Index of the first chunk that was put in.
    pub(super) at: usize,
    /// How many chunks were put in.
    pub(super) put: usize,
    /// The chunks that they replaced.
    pub(super) taken: Vec<Staged>,
    /// Which of `taken` were put in again; none if it is empty.
    pub(super) is_reused: Vec<bool>,
    /// Which of the chunks put in were there before; none if it is empty.
    pub(super) is_old: Vec<bool>,
}

impl Step {
    /// The replaced chunks that were not put in again.
    pub(super) fn replaced(self) -> impl Iterator<Item = Staged> {
        unmarked(self.taken, self.is_reused)
    }
}

/// What changes with the chunks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    chunksize: ChunkSize,
    blocksize: usize,
    nbytes: u64,
    vlblocks: bool,
}

impl Sizes {
    fn of(state: &State) -> Self {
        Self { chunksize: state.chunksize, blocksize: state.blocksize, nbytes: state.nbytes, vlblocks: state.vlblocks }
    }

    /// Restores these; whether the block size is another one again.
    pub(super) fn restore(self, state: &mut State) -> bool {
        let has_other_blocks = state.blocksize != self.blocksize;
        state.chunksize = self.chunksize;
        state.blocksize = self.blocksize;
        state.nbytes = self.nbytes;
        state.vlblocks = self.vlblocks;
        has_other_blocks
    }
}

/// The steps of a call that has not ended, and what was there before them.
#[derive(Debug)]
pub(super) struct UndoLog {
    steps: Vec<Step>,
    sizes: Sizes,
    was_changed: bool,
}

impl UndoLog {
    pub(super) fn new(state: &State, was_changed: bool) -> Self {
        Self { steps: Vec::new(), sizes: Sizes::of(state), was_changed }
    }

    /// Adds a step.
    pub(super) fn push(&mut self, step: Step) {
        match self.steps.last_mut() {
            // Chunks that are appended one by one need no list of their own.
            Some(last) if step.taken.is_empty() && last.is_old.is_empty() && last.at + last.put == step.at => {
                last.put += step.put;
            }
            _ => self.steps.push(step),
        }
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    /// The steps, the sizes before them, and whether there were unpublished changes before them.
    pub(super) fn into_parts(self) -> (Vec<Step>, Sizes, bool) {
        (self.steps, self.sizes, self.was_changed)
    }
}

/// The chunks that are not marked.
pub(super) fn unmarked(chunks: Vec<Staged>, is_marked: Vec<bool>) -> impl Iterator<Item = Staged> {
    let marks = is_marked.into_iter().chain(std::iter::repeat(false));
    chunks.into_iter().zip(marks).filter_map(|(chunk, is_marked)| (!is_marked).then_some(chunk))
}
