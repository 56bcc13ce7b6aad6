//! .npy files and Bloscpack files, each made from the other.

use super::format::header::FileHeader;
use super::format::metadata::Metadata;
use super::options::BloscpackOptions;
use super::read::reader::{Bloscpack, ReadOptions};
use super::read::stream::{Unpacked, unpack_after};
use super::write::writer::{BloscpackWriter, Summary};
use crate::error::{Result, bail, error};
use crate::numpy::NpyHeader;
use crate::storage::{ReadAt, Storage};
use std::io::{Read, Write};

impl BloscpackOptions {
    /// Sets metadata, typesize and length of the data to those of an array.
    #[must_use]
    pub fn array(self, array: &NpyHeader) -> Self {
        self.typesize(array.itemsize().max(1)).with_metadata(array.to_json()).with_nbytes(array.nbytes())
    }
}

/// Makes a Bloscpack file in `storage` from the .npy file that comes out of `npy`. Type, shape and
/// order are kept as metadata; the typesize is that of the items.
///
/// # Errors
/// As [`NpyHeader::read_npy_header`] and [`pack_to_storage`](super::pack_to_storage); `Truncated`
/// if the data is shorter than the shape says.
pub fn pack_npy(mut npy: impl Read, storage: &mut dyn Storage, options: &BloscpackOptions) -> Result<Summary> {
    let array = NpyHeader::read_npy_header(&mut npy)?;
    let writer = BloscpackWriter::to_storage(storage, &options.clone().array(&array))?;
    push_array(writer, npy, &array)
}

/// The same to a stream.
///
/// # Errors
/// As [`pack_npy`] and [`pack`](super::pack).
pub fn pack_npy_to_stream(mut npy: impl Read, out: impl Write, options: &BloscpackOptions) -> Result<Summary> {
    let array = NpyHeader::read_npy_header(&mut npy)?;
    let writer = BloscpackWriter::to_stream(out, &options.clone().array(&array))?;
    push_array(writer, npy, &array)
}

fn push_array(mut writer: BloscpackWriter<'_>, data: impl Read, array: &NpyHeader) -> Result<Summary> {
    let came = writer.push_all(data.take(array.nbytes()))?;
    if came < array.nbytes() {
        bail!(Truncated, "npy: an array of {} bytes is announced, {came} are there", array.nbytes());
    }
    writer.finish()
}

/// Makes an .npy file from the Bloscpack file that comes out of `input`.
///
/// # Errors
/// As [`unpack`](super::unpack); `InvalidArgument` if the file holds no array, `Corrupt` if it has
/// another size than its shape says.
pub fn unpack_npy(input: impl Read, out: impl Write, options: &ReadOptions) -> Result<Unpacked> {
    let mut expected = 0;
    let unpacked = unpack_after(input, out, options, |header, metadata, mut out| {
        let array = stored_array(metadata)?;
        expected = array.nbytes();
        check_announced(header, expected)?;
        array.write_npy_header(&mut out)
    })?;
    check_nbytes(unpacked.nbytes, expected)?;
    Ok(unpacked)
}

impl<S: ReadAt> Bloscpack<S> {
    /// The array that the file holds; `None` if it has no metadata about one.
    ///
    /// # Errors
    /// As [`NpyHeader::from_json`].
    pub fn numpy(&self) -> Result<Option<NpyHeader>> {
        self.metadata().map_or(Ok(None), Metadata::numpy)
    }

    /// Writes the array that the file holds as an .npy file.
    ///
    /// # Errors
    /// As [`copy_to`](Self::copy_to); `InvalidArgument` if the file holds no array, `Corrupt` if it
    /// has another size than its shape says.
    pub fn copy_to_npy(&self, mut out: impl Write) -> Result<NpyHeader> {
        let array = stored_array(self.metadata())?;
        check_nbytes(self.nbytes()?, array.nbytes())?;
        array.write_npy_header(&mut out)?;
        self.copy_to(out)?;
        Ok(array)
    }
}

fn stored_array(metadata: Option<&Metadata>) -> Result<NpyHeader> {
    metadata
        .map_or(Ok(None), Metadata::numpy)?
        .ok_or_else(|| error!(InvalidArgument, "the file holds no NumPy array: its metadata does not describe one"))
}

/// A stream that says its length can be refused before anything is written.
fn check_announced(header: &FileHeader, expected: u64) -> Result<()> {
    let (Some(nchunks), Some(chunk), Some(last)) = (header.nchunks(), header.chunk_size(), header.last_chunk()) else {
        return Ok(());
    };
    let full = nchunks.saturating_sub(1).saturating_mul(chunk as u64);
    check_nbytes(full.saturating_add(last as u64), expected)
}

fn check_nbytes(nbytes: u64, expected: u64) -> Result<()> {
    if nbytes != expected {
        bail!(Corrupt, "the file holds {nbytes} bytes, the array in its metadata has {expected}");
    }
    Ok(())
}
