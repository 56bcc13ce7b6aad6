//! What a thread keeps from one call to the next, so that calls of the same size allocate no memory
//! but for their result.

use blosc_oxide::limits::MAX_NBYTES;
use blosc_oxide::{Compressor, Decompressor, Limits, Options, Result};
use std::cell::Cell;

/// A buffer that has got longer than this is not kept.
const MAX_KEPT: usize = 4 << 20;

/// The memory of one thread.
pub(crate) struct Scratch {
    compressor: Option<Compressor>,
    pub(crate) decompressor: Decompressor,
    /// A private copy of a source.
    pub(crate) source: Vec<u8>,
    /// A result that is to be copied to where it belongs.
    pub(crate) result: Vec<u8>,
}

thread_local! {
    static KEPT: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl Scratch {
    fn new() -> Box<Self> {
        let limits = Limits::new().with_max_allocation(MAX_NBYTES);
        let decompressor = Decompressor::new().with_limits(limits);
        Box::new(Self { compressor: None, decompressor, source: Vec::new(), result: Vec::new() })
    }

    /// Takes the memory of this thread; a call from within a call gets new memory.
    pub(crate) fn take() -> Box<Self> {
        KEPT.take().unwrap_or_else(Self::new)
    }

    /// Keeps the memory for the next call of this thread.
    pub(crate) fn keep(mut self: Box<Self>) {
        for buffer in [&mut self.source, &mut self.result] {
            if buffer.len() > MAX_KEPT {
                *buffer = Vec::new();
            }
        }
        KEPT.set(Some(self));
    }

    /// The compressor of this thread, with these options.
    pub(crate) fn compressor(slot: &mut Option<Compressor>, options: Options) -> Result<&mut Compressor> {
        match slot {
            Some(compressor) => compressor.set_options(options)?,
            None => *slot = Some(Compressor::new(options)?),
        }
        Ok(slot.as_mut().expect("it was just made"))
    }

    /// The compressor, and the buffers that go with it.
    pub(crate) fn compressing(&mut self) -> (&mut Option<Compressor>, &mut Vec<u8>, &mut Vec<u8>) {
        (&mut self.compressor, &mut self.source, &mut self.result)
    }
}

/// The first `len` bytes of `buffer`, which is made longer if it is too short.
pub(crate) fn room(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        *buffer = vec![0; len];
    }
    &mut buffer[..len]
}
