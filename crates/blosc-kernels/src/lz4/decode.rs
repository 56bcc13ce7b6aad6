//! The decoder of LZ4 blocks.

use crate::lz::LzError;

/// Decodes the LZ4 block `src` into `dst` and returns how many bytes it made.
///
/// The result is less than `dst.len()` when the stream ends early; whoever needs an exact length compares.
///
/// # Errors
/// When the stream is cut off, needs more room than `dst` has, or has a match that goes back too far.
pub fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<false>(src, &[], dst)
}

/// Decodes the LZ4 block `src` whose matches may also refer to the last 64 KiB of `dict`, as if `dict` stood right
/// before `dst`.
///
/// # Errors
/// As [`decompress`].
pub fn decompress_with_dict(src: &[u8], dict: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<false>(src, dict, dst)
}

/// Decodes the start of the LZ4 block `src`: stops as soon as `dst` is full, without looking at the rest.
///
/// The result is less than `dst.len()` only when the whole stream makes fewer bytes.
///
/// # Errors
/// As [`decompress`], except that a stream with more bytes than `dst` has room for is not an error.
pub fn decompress_prefix(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<true>(src, &[], dst)
}

/// [`decompress_prefix`] of a block made with a dictionary, see [`decompress_with_dict`].
///
/// # Errors
/// As [`decompress_prefix`].
pub fn decompress_prefix_with_dict(src: &[u8], dict: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<true>(src, dict, dst)
}

fn decode<const PREFIX: bool>(src: &[u8], dict: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    let cut = LzError::InputEnded { input: src.len() };
    let (mut read, mut written) = (0, 0);
    if PREFIX && dst.is_empty() {
        return Ok(0);
    }
    loop {
        let Some(&token) = src.get(read) else {
            return Err(if read == 0 { cut } else { LzError::BadEnd { read } });
        };
        read += 1;
        let full = LzError::OutputFull { written, room: dst.len() };

        let mut literals = length(src, &mut read, usize::from(token >> 4)).ok_or(cut)?;
        if literals > dst.len() - written {
            if !PREFIX {
                return Err(full);
            }
            literals = dst.len() - written;
        }
        let from = src[read..].get(..literals).ok_or(cut)?;
        dst[written..written + literals].copy_from_slice(from);
        read += literals;
        written += literals;
        if read == src.len() || (PREFIX && written == dst.len()) {
            return Ok(written);
        }

        let &[low, high] = src[read..].get(..2).ok_or(cut)? else { return Err(cut) };
        read += 2;
        let distance = usize::from(u16::from_le_bytes([low, high]));
        let mut matched = length(src, &mut read, usize::from(token & 15)).ok_or(cut)?.saturating_add(4);
        if distance == 0 || distance > written + dict.len() {
            return Err(LzError::DistanceTooFar { distance, available: written + dict.len() });
        }
        if matched > dst.len() - written {
            if !PREFIX {
                return Err(full);
            }
            matched = dst.len() - written;
        }
        for _ in 0..matched {
            dst[written] =
                if distance > written { dict[dict.len() + written - distance] } else { dst[written - distance] };
            written += 1;
        }
        if PREFIX && written == dst.len() {
            return Ok(written);
        }
    }
}

/// A length whose four bits in the token are `nibble`: 15 goes on with bytes up to the first that is not 255.
fn length(src: &[u8], read: &mut usize, nibble: usize) -> Option<usize> {
    let mut total = nibble;
    if nibble == 15 {
        loop {
            let byte = *src.get(*read)?;
            *read += 1;
            total = total.saturating_add(usize::from(byte));
            if byte != 255 {
                break;
            }
        }
    }
    Some(total)
}
