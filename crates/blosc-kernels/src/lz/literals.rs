//! Copying literals from the input of an encoder to its output.

/// How many bytes are copied at a time while both sides have room to spare.
const WIDE: usize = 16;

/// Copies `count` bytes; bytes of `dst` beyond them may be overwritten too.
#[inline(always)]
pub(crate) fn copy_literals(src: &[u8], from: usize, dst: &mut [u8], to: usize, count: usize) {
    let rounded = count.next_multiple_of(WIDE);
    let (Some(wide_src), Some(wide_dst)) = (src.get(from..from + rounded), dst.get_mut(to..to + rounded)) else {
        dst[to..to + count].copy_from_slice(&src[from..from + count]);
        return;
    };
    for (out, part) in wide_dst.chunks_exact_mut(WIDE).zip(wide_src.chunks_exact(WIDE)) {
        out.copy_from_slice(part);
    }
}
