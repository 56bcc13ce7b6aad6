//! The decoder of BloscLZ streams.

use crate::lz::LzError;

/// Decodes the BloscLZ stream `src` into `dst` and returns how many bytes it made.
///
/// The result is less than `dst.len()` when the stream ends early; whoever needs an exact length compares. An empty
/// stream makes no bytes.
///
/// # Errors
/// When the stream is cut off, ends with a match, needs more room than `dst` has, or has a match that goes back too
/// far.
pub fn decompress(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<false>(src, dst)
}

/// Decodes the start of the BloscLZ stream `src`: stops as soon as `dst` is full, without looking at the rest.
///
/// The result is less than `dst.len()` only when the whole stream makes fewer bytes.
///
/// # Errors
/// As [`decompress`], except that a stream with more bytes than `dst` has room for is not an error.
pub fn decompress_prefix(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    decode::<true>(src, dst)
}

fn decode<const PREFIX: bool>(src: &[u8], dst: &mut [u8]) -> Result<usize, LzError> {
    let cut = LzError::InputEnded { input: src.len() };
    let (mut read, mut written) = (0, 0);
    let mut ended_well = true;
    while read < src.len() && !(PREFIX && written == dst.len()) {
        // The first opcode is a run of literals whatever its upper bits say.
        let opcode = usize::from(if read == 0 { src[0] & 31 } else { src[read] });
        read += 1;
        let full = LzError::OutputFull { written, room: dst.len() };
        let room = dst.len() - written;
        if opcode < 32 {
            let mut literals = opcode + 1;
            if literals > room {
                if !PREFIX {
                    return Err(full);
                }
                literals = room;
            }
            let from = src[read..].get(..literals).ok_or(cut)?;
            dst[written..written + literals].copy_from_slice(from);
            read += literals;
            written += literals;
            ended_well = true;
            continue;
        }
        let mut next = || {
            let byte = src.get(read).copied().map(usize::from).ok_or(cut);
            read += 1;
            byte
        };
        let mut matched = (opcode >> 5) + 2;
        if matched == 9 {
            loop {
                let byte = next()?;
                matched = matched.saturating_add(byte);
                if byte != 255 {
                    break;
                }
            }
        }
        let mut distance = ((opcode & 31) << 8) + next()? + 1;
        if distance == 8192 {
            distance += (next()? << 8) + next()?;
        }
        if distance > written {
            return Err(LzError::DistanceTooFar { distance, available: written });
        }
        if matched > room {
            if !PREFIX {
                return Err(full);
            }
            matched = room;
        }
        for _ in 0..matched {
            dst[written] = dst[written - distance];
            written += 1;
        }
        ended_well = false;
    }
    if ended_well || (PREFIX && written == dst.len()) { Ok(written) } else { Err(LzError::BadEnd { read }) }
}
