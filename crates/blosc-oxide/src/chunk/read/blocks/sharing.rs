//! Whether it saves time to share work among threads.

use crate::chunk::format::plan::{Block, Stream};
use crate::codec::Codec;

/// What decoding `nbytes` amounts to, in bytes of the slowest codecs: waiting for a second thread
/// takes as long as the fast ones take for a few hundred kilobytes.
pub(in crate::chunk::read) fn work(codec: Codec, nbytes: usize) -> usize {
    match codec {
        Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc | Codec::Snappy | Codec::Zstd | Codec::Lizard => nbytes / 8,
        _ => nbytes,
    }
}

/// Whether decoding the streams of a block side by side saves time: in picoseconds, for an average
/// processor.
///
/// What one thread has decoded and another one filters goes from cache to cache, which takes longer
/// than decoding it took if the codec is fast. And streams are of different kinds: often one of
/// them takes longer than all others together.
pub(in crate::chunk::read) fn is_worth_sharing(block: &Block<'_>, codec: Codec) -> bool {
    const WAKING_UP: u64 = 30_000_000;
    const MOVING_A_BYTE: u64 = 150;
    let for_a_byte = match codec {
        Codec::BloscLz | Codec::Lz4 | Codec::Lz4Hc | Codec::Snappy => return false,
        Codec::Zstd => 400,
        _ => 2000,
    };
    let (mut all, mut longest) = (0, 0);
    for stream in block.streams().flatten() {
        if let Stream::Compressed(bytes) = stream {
            let time = bytes.len() as u64 * for_a_byte;
            all += time;
            longest = longest.max(time);
        }
    }
    all - longest.max(all / 2) > WAKING_UP + block.len as u64 / 2 * MOVING_A_BYTE
}
