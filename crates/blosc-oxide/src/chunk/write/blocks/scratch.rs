//! What each worker keeps.

use crate::chunk::memory::room;
use crate::codec::EncodeState;
use crate::error::Result;
use crate::filter::{BlockPlace, Stages};
use std::sync::Mutex;

/// What each worker keeps.
#[derive(Default)]
pub(in crate::chunk) struct Scratch {
    pub(in crate::chunk) codec: EncodeState,
    pub(in crate::chunk) filtered: Filtered,
    /// A stream that may be too long for its slot.
    pub(in crate::chunk) spare: Vec<u8>,
}

/// Memory that a block is filtered in.
#[derive(Default)]
pub(in crate::chunk) struct Filtered {
    a: Vec<u8>,
    b: Vec<u8>,
}

impl Filtered {
    /// Filters a block; the result is in the block itself or in this scratch.
    pub(in crate::chunk) fn filter<'b>(
        &'b mut self,
        stages: &Stages<'_>,
        place: BlockPlace<'_>,
        block: &'b [u8],
    ) -> Result<&'b [u8]> {
        if stages.is_empty() {
            return Ok(block);
        }
        let Self { a, b } = self;
        stages.forward(place, block, room(a, block.len()), room(b, block.len()))
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.filtered.a.len() + self.filtered.b.len() + self.spare.len())
    }
}

impl Scratch {
    /// Filters a block; the result is in the block itself or in this scratch. Also returns the
    /// state that compresses it.
    pub(in crate::chunk) fn filter<'b>(
        &'b mut self,
        stages: &Stages<'_>,
        place: BlockPlace<'_>,
        block: &'b [u8],
    ) -> Result<(&'b [u8], &'b mut EncodeState, &'b mut Vec<u8>)> {
        let Self { codec, filtered, spare } = self;
        Ok((filtered.filter(stages, place, block)?, codec, spare))
    }
}

/// The scratch of a worker, which no other worker uses.
pub(in crate::chunk) fn own(worker: &mut Mutex<Scratch>) -> &mut Scratch {
    worker.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}
