//! The bit shuffle in portable Rust.
//!
//! A tile of eight groups of eight elements gives eight bytes to each row, so that rows are read
//! and written in whole words: the bits of each group are transposed by themselves, and then the
//! bytes of all groups. Single bytes, each of another row, would fall into the same few sets of
//! the cache.

/// Groups of eight elements that are worked on at a time.
const TILE: usize = 8;
/// A typesize that is not known when this is compiled.
const ANY: usize = 0;

/// Both slices have the same length and `typesize` is not 0.
pub(super) fn bitshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let layout = Layout::new(typesize, src.len());
    dst[layout.whole()..].copy_from_slice(&src[layout.whole()..]);
    match typesize {
        1 => layout.shuffle::<1>(src, dst),
        2 => layout.shuffle::<2>(src, dst),
        4 => layout.shuffle::<4>(src, dst),
        8 => layout.shuffle::<8>(src, dst),
        _ => layout.shuffle::<ANY>(src, dst),
    }
}

/// Both slices have the same length and `typesize` is not 0.
pub(super) fn bitunshuffle(typesize: usize, src: &[u8], dst: &mut [u8]) {
    let layout = Layout::new(typesize, src.len());
    dst[layout.whole()..].copy_from_slice(&src[layout.whole()..]);
    match typesize {
        1 => layout.unshuffle::<1>(src, dst),
        2 => layout.unshuffle::<2>(src, dst),
        4 => layout.unshuffle::<4>(src, dst),
        8 => layout.unshuffle::<8>(src, dst),
        _ => layout.unshuffle::<ANY>(src, dst),
    }
}

/// Where the elements and the rows of bits are.
#[derive(Clone, Copy)]
struct Layout {
    typesize: usize,
    /// Groups of eight elements, and so the bytes of a row.
    groups: usize,
}

impl Layout {
    fn new(typesize: usize, len: usize) -> Self {
        Self { typesize, groups: len / typesize / 8 }
    }

    /// Length of what is transposed. Without a group it is 0, however large an element is.
    fn whole(self) -> usize {
        self.groups * 8 * self.typesize
    }

    fn group_len(self) -> usize {
        8 * self.typesize
    }

    /// The same for elements of `T` bytes, if that is not [`ANY`].
    #[inline(always)]
    fn of<const T: usize>(self) -> Self {
        if T == ANY { self } else { Self { typesize: T, ..self } }
    }

    /// Behind the groups that are in tiles.
    fn tiled(self) -> usize {
        self.groups - self.groups % TILE
    }

    /// Where the byte of a group is in the row of bit `k` of byte `j`.
    #[inline(always)]
    fn row(self, j: usize, k: usize, group: usize) -> usize {
        (8 * j + k) * self.groups + group
    }

    #[inline(always)]
    fn shuffle<const T: usize>(self, src: &[u8], dst: &mut [u8]) {
        let layout = self.of::<T>();
        for first in (0..layout.tiled()).step_by(TILE) {
            let tile = &src[first * layout.group_len()..][..TILE * layout.group_len()];
            for j in 0..layout.typesize {
                let mut words = [0; TILE];
                for (group, word) in words.iter_mut().enumerate() {
                    *word = transpose_bits(layout.gather(tile, group, j));
                }
                for (k, word) in transpose_bytes(words).into_iter().enumerate() {
                    dst[layout.row(j, k, first)..][..TILE].copy_from_slice(&word.to_le_bytes());
                }
            }
        }
        for group in layout.tiled()..layout.groups {
            for j in 0..layout.typesize {
                let planes = transpose_bits(layout.gather(src, group, j));
                for (k, plane) in planes.to_le_bytes().into_iter().enumerate() {
                    dst[layout.row(j, k, group)] = plane;
                }
            }
        }
    }

    #[inline(always)]
    fn unshuffle<const T: usize>(self, src: &[u8], dst: &mut [u8]) {
        let layout = self.of::<T>();
        for first in (0..layout.tiled()).step_by(TILE) {
            let tile = &mut dst[first * layout.group_len()..][..TILE * layout.group_len()];
            for j in 0..layout.typesize {
                let words = core::array::from_fn(|k| word(&src[layout.row(j, k, first)..]));
                for (group, word) in transpose_bytes(words).into_iter().enumerate() {
                    layout.scatter(tile, group, j, transpose_bits(word));
                }
            }
        }
        for group in layout.tiled()..layout.groups {
            for j in 0..layout.typesize {
                let planes = core::array::from_fn(|k| src[layout.row(j, k, group)]);
                layout.scatter(dst, group, j, transpose_bits(u64::from_le_bytes(planes)));
            }
        }
    }

    /// Byte `j` of the elements of a group, that of the first one as the lowest.
    #[inline(always)]
    fn gather(self, src: &[u8], group: usize, j: usize) -> u64 {
        let items = &src[group * self.group_len()..][..self.group_len()];
        u64::from_le_bytes(core::array::from_fn(|i| items[i * self.typesize + j]))
    }

    /// Undoes [`gather`](Self::gather).
    #[inline(always)]
    fn scatter(self, dst: &mut [u8], group: usize, j: usize, word: u64) {
        let items = &mut dst[group * self.group_len()..][..self.group_len()];
        for (i, byte) in word.to_le_bytes().into_iter().enumerate() {
            items[i * self.typesize + j] = byte;
        }
    }
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(core::array::from_fn(|index| bytes[index]))
}

/// Transposes an 8 by 8 matrix of bytes: byte `k` of word `i` becomes byte `i` of word `k`.
#[inline(always)]
fn transpose_bytes(mut words: [u64; 8]) -> [u64; 8] {
    // Not a loop over the steps, which the compiler would leave as one.
    let mut step = |distance: usize, mask: u64| {
        let shift = 8 * distance;
        for i in 0..8 {
            if i & distance == 0 {
                let changed = (words[i] >> shift ^ words[i + distance]) & mask;
                words[i + distance] ^= changed;
                words[i] ^= changed << shift;
            }
        }
    };
    step(4, 0x0000_0000_FFFF_FFFF);
    step(2, 0x0000_FFFF_0000_FFFF);
    step(1, 0x00FF_00FF_00FF_00FF);
    words
}

/// Transposes an 8 by 8 matrix of bits: bit `k` of byte `i` becomes bit `i` of byte `k`.
#[inline(always)]
fn transpose_bits(matrix: u64) -> u64 {
    let swap = |x: u64, distance: u32, mask: u64| {
        let changed = (x ^ (x >> distance)) & mask;
        x ^ changed ^ (changed << distance)
    };
    let x = swap(matrix, 7, 0x00AA_00AA_00AA_00AA);
    let x = swap(x, 14, 0x0000_CCCC_0000_CCCC);
    swap(x, 28, 0x0000_0000_F0F0_F0F0)
}
