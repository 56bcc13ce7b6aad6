//! The bits of a stream that is being written.

/// Puts bits into a stream, the lowest of a byte first.
pub(super) struct BitWriter<'a> {
    dst: &'a mut [u8],
    /// Where the next bytes go.
    next: usize,
    /// Bits that were put and not written.
    held: u64,
    /// How many these are, below 64.
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        Self { dst, next: 0, held: 0, count: 0 }
    }

    /// Puts the low `count` bits of `value`, which has no others. Between two flushes there may be
    /// 56 bits.
    #[inline(always)]
    pub(super) fn put(&mut self, value: u64, count: u32) {
        debug_assert!(self.count + count < 64 && value >> count == 0);
        self.held |= value << (self.count & 63);
        self.count += count;
    }

    /// Writes all whole bytes; `None` if there is no space for them.
    #[inline(always)]
    pub(super) fn flush(&mut self) -> Option<()> {
        let Some(place) = self.dst.get_mut(self.next..).and_then(<[u8]>::first_chunk_mut) else {
            return self.flush_last();
        };
        *place = self.held.to_le_bytes();
        self.next += (self.count / 8) as usize;
        self.held >>= self.count & 56;
        self.count &= 7;
        Some(())
    }

    /// [`flush`](Self::flush) near the end of the output.
    #[cold]
    #[inline(never)]
    fn flush_last(&mut self) -> Option<()> {
        while self.count >= 8 {
            *self.dst.get_mut(self.next)? = self.held.to_le_bytes()[0];
            self.next += 1;
            self.held >>= 8;
            self.count -= 8;
        }
        Some(())
    }

    /// Fills the last byte up with zeros and writes all.
    pub(super) fn align(&mut self) -> Option<()> {
        self.count = self.count.next_multiple_of(8);
        self.flush()
    }

    /// Writes bytes where nothing is held.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Option<()> {
        debug_assert_eq!(self.count, 0);
        self.dst.get_mut(self.next..)?.get_mut(..bytes.len())?.copy_from_slice(bytes);
        self.next += bytes.len();
        Some(())
    }

    /// How many bits are missing to a whole number of bytes.
    pub(super) fn bits_to_byte(&self) -> u32 {
        self.count.wrapping_neg() & 7
    }

    /// Ends the stream: how long it is.
    pub(super) fn finish(mut self) -> Option<usize> {
        self.align()?;
        Some(self.next)
    }
}
