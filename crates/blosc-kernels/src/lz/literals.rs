//! Copying literals from the input of an encoder to its output.

/// How many bytes are copied at once when both sides have space for them.
const SHORT: usize = 16;
/// How many bytes of longer runs are copied at a time.
const WIDE: usize = 32;

/// Copies `count` bytes; bytes of `dst` beyond them may be overwritten too.
#[inline(always)]
pub(crate) fn copy_literals(src: &[u8], from: usize, dst: &mut [u8], to: usize, count: usize) {
    let (src, dst) = (&src[from..], &mut dst[to..]);
    if count <= SHORT
        && let (Some(part), Some(out)) = (src.first_chunk::<SHORT>(), dst.first_chunk_mut())
    {
        *out = *part;
    } else {
        copy_many(src, dst, count);
    }
}

/// Copies the first `count` bytes.
#[inline(never)]
fn copy_many(src: &[u8], dst: &mut [u8], count: usize) {
    let (src, dst) = (&src[..count], &mut dst[..count]);
    for (out, part) in dst.as_chunks_mut::<WIDE>().0.iter_mut().zip(src.as_chunks::<WIDE>().0) {
        *out = *part;
    }
    if let (Some(part), Some(out)) = (src.last_chunk::<WIDE>(), dst.last_chunk_mut()) {
        *out = *part;
    } else if let (Some(first), Some(last)) = (src.first_chunk::<SHORT>(), src.last_chunk::<SHORT>()) {
        dst[..SHORT].copy_from_slice(first);
        dst[count - SHORT..].copy_from_slice(last);
    } else {
        dst.copy_from_slice(src);
    }
}
