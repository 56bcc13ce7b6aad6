//! A file written anew around the chunks of another.

use super::target::{Counts, File, Target};
use super::writer::Summary;
use crate::bloscpack::format::header::Sizes;
use crate::bloscpack::options::BloscpackOptions;
use crate::bloscpack::read::reader::Bloscpack;
use crate::error::Result;
use crate::storage::{ReadAt, Storage};

/// Writes a file to `storage`, in place of what that holds, with the chunks of `file` as they are.
/// Of the options, version, checksum, offsets, room and metadata count; metadata that is not given
/// is not taken over.
///
/// # Errors
/// As [`Bloscpack::compressed_chunk`] and
/// [`BloscpackWriter::to_storage`](crate::bloscpack::BloscpackWriter::to_storage).
pub fn rewrite<S: ReadAt>(
    file: &Bloscpack<S>,
    storage: &mut dyn Storage,
    options: &BloscpackOptions,
) -> Result<Summary> {
    let counts = counts(file)?;
    let typesize = match (file.header().typesize(), counts.nchunks) {
        (0, 1..) => file.chunk_header(0)?.typesize(),
        (typesize, _) => usize::from(typesize),
    };
    let plan = options.clone().typesize(typesize).plan_for(false, counts.sizes, Some(counts.nchunks))?;
    let checksum = plan.header.checksum();
    let mut target = File::start(storage, plan)?;
    for index in 0..counts.nchunks {
        let mut record = file.compressed_chunk(index)?;
        checksum.append_to(&mut record);
        target.put(&record)?;
    }
    let (header, len) = target.finish(counts)?;
    Ok(Summary { header, nbytes: counts.nbytes, nchunks: counts.nchunks, len })
}

/// What the header of the new file says.
fn counts<S: ReadAt>(file: &Bloscpack<S>) -> Result<Counts> {
    let (nbytes, nchunks) = (file.nbytes()?, file.nchunks()?);
    let chunk = match file.header().chunk_size() {
        Some(size) => Some(size),
        None => uniform_size(file, nchunks)?,
    };
    let last = match nchunks.checked_sub(1) {
        Some(last) if chunk.is_some() => Some(file.chunk_header(last)?.nbytes()),
        _ => None,
    };
    Ok(Counts { nbytes, nchunks, sizes: Sizes { chunk, last } })
}

/// The size of chunks, if all but the last have the same and that has no more.
fn uniform_size<S: ReadAt>(file: &Bloscpack<S>, nchunks: u64) -> Result<Option<usize>> {
    let Some(last) = nchunks.checked_sub(1) else { return Ok(None) };
    let size = file.chunk_header(0)?.nbytes();
    for index in 1..nchunks {
        let nbytes = file.chunk_header(index)?.nbytes();
        if nbytes > size || (nbytes < size && index < last) {
            return Ok(None);
        }
    }
    Ok(Some(size))
}
