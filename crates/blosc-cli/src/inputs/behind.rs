//! What lies behind a frame or a Bloscpack file in its file. If `cat` has put another one there, it
//! would be lost without a word: gzip and zstd read such files to their end, so that people make
//! them.

use blosc_oxide::bloscpack::{Bloscpack, ReadOptions};
use blosc_oxide::{Container, Error, ErrorKind, Result, storage::ReadAt};

/// The fixed part of the header of a frame, and where it has its lengths.
const FIXED_LEN: u64 = 87;
const HEADER_LEN_AT: usize = 11;
const FRAME_LEN_AT: usize = 16;
/// What a commit leaves behind a frame: two copies of its header, or of the fixed part of it, and
/// so many bytes more, of which the last ones start with a magic and the place of all this.
const FOOTER_LEN: u64 = 168;
const FOOTER_TAIL: u64 = 32;
const FOOTER_MAGIC: &[u8] = b"b2footer";

/// Refuses a frame with another container behind it.
pub(crate) fn check_frame(bytes: &dyn ReadAt) -> Result<()> {
    let Some(Lengths { header, frame }) = lengths(bytes, 0)? else { return Ok(()) };
    let by_copies = [FIXED_LEN, header].map(|copy| frame.saturating_add(2 * copy).saturating_add(FOOTER_LEN));
    for end in [bytes.len()?].into_iter().chain(by_copies) {
        if is_footer(bytes, frame, end)? {
            return check(bytes, end, "frame");
        }
    }
    check(bytes, frame, "frame")
}

/// Refuses a Bloscpack file with another container behind it.
pub(crate) fn check_bloscpack(bytes: &dyn ReadAt, options: ReadOptions) -> Result<()> {
    let file = Bloscpack::with_options(bytes, options)?;
    let Some(last) = file.header().nchunks().and_then(|count| count.checked_sub(1)) else { return Ok(()) };
    // That a chunk cannot be found is told when it is read.
    let place = file.chunk_position(last).and_then(|place| Ok((place, file.chunk_header(last)?.cbytes())));
    let Ok((place, cbytes)) = place else { return Ok(()) };
    let end = place.saturating_add(cbytes as u64).saturating_add(file.header().checksum().len() as u64);
    check(bytes, end, "Bloscpack file")
}

fn check(bytes: &dyn ReadAt, end: u64, what: &str) -> Result<()> {
    let left = bytes.len()?.saturating_sub(end);
    let is_another = match if left == 0 { None } else { Container::detect(bytes, end)? } {
        Some(Container::Bloscpack) => true,
        Some(Container::Frame) => lengths(bytes, end)?.is_some_and(|lengths| lengths.frame <= left),
        _ => false,
    };
    if is_another {
        let message = format!(
            "another Blosc file follows the {what}: with --offset 0 the first is taken alone, with --offset {end} the other"
        );
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    Ok(())
}

/// What the header of a frame says.
struct Lengths {
    header: u64,
    frame: u64,
}

/// The lengths of the frame at `offset`, which are at the same place in all versions; `None` if
/// there are none.
fn lengths(bytes: &dyn ReadAt, offset: u64) -> Result<Option<Lengths>> {
    let mut head = [0; FRAME_LEN_AT + 8];
    if bytes.len()?.saturating_sub(offset) < head.len() as u64 {
        return Ok(None);
    }
    bytes.read_at(offset, &mut head)?;
    let header = head.get(HEADER_LEN_AT..).and_then(|rest| rest.first_chunk()).map(|bytes| u32::from_be_bytes(*bytes));
    let frame = head.last_chunk().map(|bytes| u64::from_be_bytes(*bytes));
    Ok(header.zip(frame).map(|(header, frame)| Lengths { header: header.into(), frame }))
}

/// Whether what is between `start` and `end` is the footer of a frame.
fn is_footer(bytes: &dyn ReadAt, start: u64, end: u64) -> Result<bool> {
    let Some(at) = end.checked_sub(FOOTER_TAIL).filter(|&at| at >= start) else { return Ok(false) };
    if end > bytes.len()? {
        return Ok(false);
    }
    let mut tail = [0; 16];
    bytes.read_at(at, &mut tail)?;
    Ok(tail == *[FOOTER_MAGIC, &start.to_le_bytes()].concat())
}
