//! An input as choices: each takes a few bytes from the front, and there is always a next one.

/// The bytes that are left.
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte; 0 when there is none.
    pub(crate) fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    pub(crate) fn is_set(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end <= 256 { usize::from(self.byte()) % end } else { u32::from_le_bytes(self.array()) as usize % end }
    }

    pub(crate) fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Up to `most` bytes.
    pub(crate) fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }

    /// `len` bytes that follow from two of the input: noise, a count, or one byte over and over.
    pub(crate) fn data(&mut self, len: usize) -> Vec<u8> {
        let (kind, seed) = (self.byte(), self.byte());
        let mut rng = testkit::Rng::new(u64::from(seed));
        (0..len)
            .map(|at| match kind % 4 {
                0 => rng.byte(),
                1 => (at / 4).to_le_bytes()[at % 4].wrapping_add(seed),
                2 => rng.byte() % 3,
                _ => seed,
            })
            .collect()
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        let bytes = self.bytes(N);
        array[..bytes.len()].copy_from_slice(bytes);
        array
    }
}
