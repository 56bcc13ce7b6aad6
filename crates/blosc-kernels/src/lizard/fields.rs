//! Fields that follow one another.

use super::LizardError;

/// Reads from the front of a slice. Integers are little-endian.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    #[inline(always)]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes are left.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// All bytes, and where the next one to read is: for copies that may read more than they need.
    #[inline(always)]
    pub(super) fn place(&self) -> (&'a [u8], usize) {
        (self.bytes, self.at)
    }

    /// Goes on behind `count` bytes that are there.
    #[inline(always)]
    pub(super) fn skip(&mut self, count: usize) {
        debug_assert!(count <= self.len());
        self.at += count;
    }

    /// The next `count` bytes.
    #[inline(always)]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], LizardError> {
        let taken = self.bytes[self.at..].get(..count).ok_or(self.cut())?;
        self.at += count;
        Ok(taken)
    }

    #[inline(always)]
    pub(super) fn u8(&mut self) -> Result<u8, LizardError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    #[inline(always)]
    pub(super) fn u16(&mut self) -> Result<usize, LizardError> {
        Ok(usize::from(u16::from_le_bytes(self.array()?)))
    }

    #[inline(always)]
    pub(super) fn u24(&mut self) -> Result<usize, LizardError> {
        let [low, middle, high] = self.array()?.map(usize::from);
        Ok(low | middle << 8 | high << 16)
    }

    /// The value that a length in a token is extended by: a byte, or 254 and two bytes, or 255 and
    /// three.
    #[inline(always)]
    pub(super) fn extension(&mut self) -> Result<usize, LizardError> {
        match self.u8()? {
            254 => self.u16(),
            255 => self.u24(),
            value => Ok(usize::from(value)),
        }
    }

    #[inline(always)]
    pub(super) fn cut(&self) -> LizardError {
        LizardError::InputEnded { input: self.bytes.len() }
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], LizardError> {
        let &array = self.bytes[self.at..].first_chunk().ok_or(self.cut())?;
        self.at += N;
        Ok(array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_has_one_three_or_four_bytes() {
        for (bytes, value) in [
            (&[0][..], 0),
            (&[253], 253),
            (&[254, 0x34, 0x12], 0x1234),
            (&[254, 1, 0], 1),
            (&[255, 0x56, 0x34, 0x12], 0x12_3456),
        ] {
            let mut fields = Fields::new(bytes);
            assert_eq!(fields.extension(), Ok(value));
            assert!(fields.is_empty());
            let cut = Fields::new(&bytes[..bytes.len() - 1]).extension();
            assert_eq!(cut, Err(LizardError::InputEnded { input: bytes.len() - 1 }));
        }
    }

    #[test]
    fn what_is_not_there_is_not_taken() {
        let mut fields = Fields::new(&[1, 2, 3]);
        assert_eq!(fields.u16(), Ok(0x0201));
        assert_eq!(fields.u16(), Err(LizardError::InputEnded { input: 3 }));
        assert_eq!(fields.take(2), Err(LizardError::InputEnded { input: 3 }));
        assert_eq!(fields.take(1), Ok(&[3][..]));
        assert!(fields.is_empty());
    }
}
