//! Where the data go.

use super::LizardError;
use super::fields::Fields;
use crate::lz::copy::{self, OVER};
use crate::lz::hint::likely;
use crate::lz::vectors::Vectors;

/// The shortest distance of a match that writers make. The reference decoder copies eight bytes at
/// a time, and so makes other bytes of shorter ones than a copy byte by byte would.
const MIN_OFFSET: usize = 8;

/// The data so far, and the space for more.
pub(super) struct Output<'a> {
    dst: &'a mut [u8],
    written: usize,
}

impl<'a> Output<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        Self { dst, written: 0 }
    }

    /// How many bytes there are.
    #[inline(always)]
    pub(super) fn written(&self) -> usize {
        self.written
    }

    /// Appends the next `len` bytes of `literals`.
    #[inline(always)]
    pub(super) fn literals<V: Vectors>(
        &mut self,
        vectors: V,
        literals: &mut Fields<'_>,
        len: usize,
    ) -> Result<(), LizardError> {
        if len > literals.len() {
            return Err(literals.cut());
        }
        if len > self.room() {
            return Err(self.full());
        }
        let (bytes, from) = literals.place();
        copy::literals_inside(vectors, bytes, from, self.dst, self.written, len);
        literals.skip(len);
        self.written += len;
        Ok(())
    }

    /// Appends `len` bytes that are the same as those `offset` bytes before.
    #[inline(always)]
    pub(super) fn repeat<V: Vectors>(&mut self, vectors: V, offset: usize, len: usize) -> Result<(), LizardError> {
        if offset < MIN_OFFSET || offset > self.written {
            return Err(LizardError::BadOffset { offset, available: self.written });
        }
        if len > self.room() {
            return Err(self.full());
        }
        if likely(self.room() - len >= OVER) {
            // SAFETY: the comparisons above: the offset is from 8 to `written`, and OVER bytes are
            // behind the match.
            unsafe { copy::match_over(vectors, self.dst, self.written, offset, len) };
        } else {
            copy::match_inside(vectors, self.dst, self.written, offset, len);
        }
        self.written += len;
        Ok(())
    }

    #[inline(always)]
    fn room(&self) -> usize {
        self.dst.len() - self.written
    }

    #[inline(always)]
    fn full(&self) -> LizardError {
        LizardError::OutputFull { written: self.written, room: self.dst.len() }
    }
}
