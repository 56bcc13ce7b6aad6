//! Bloscpack files (`.blp`): data of any length in Blosc1 chunks, with checksums, offsets and
//! metadata.
//!
//! ```
//! use blosc_oxide::bloscpack::{self, AppendOptions, Bloscpack, BloscpackOptions, Checksum};
//! use blosc_oxide::{Codec, Options};
//! # let path = std::env::temp_dir().join(format!("blosc-oxide-doc-{}.blp", std::process::id()));
//!
//! let options = BloscpackOptions::new(Options::new(8).with_codec(Codec::Zstd)).with_checksum(Checksum::Sha256);
//! bloscpack::pack_to_file(&[7; 3_000_000][..], &path, &options)?;
//! bloscpack::append_to_file(&path, &[8; 1_000_000][..], &AppendOptions::new())?;
//!
//! let file = Bloscpack::open(&path)?;
//! assert_eq!(file.nbytes()?, 4_000_000);
//! assert_eq!(file.read_range(2_999_999..3_000_001)?, [7, 8]);
//! # drop(file);
//! # std::fs::remove_file(&path)?;
//! # Ok::<(), blosc_oxide::Error>(())
//! ```
//!
//! * [`Bloscpack`] reads a file, [`unpack`] a stream.
//! * [`pack`] writes a stream, [`pack_to_file`] and [`pack_to_storage`] write where header and
//!   offsets can be filled in, and [`BloscpackWriter`] takes data piece by piece for both.
//! * [`append`], [`replace_metadata`] and [`rewrite`] change files; [`recover`] is for those that a
//!   crash has left.
//! * [`NpyHeader`], [`pack_npy`] and [`Bloscpack::copy_to_npy`] are for NumPy.

mod batch;
mod format;
mod json;
mod npy;
mod options;
mod read;
mod write;

pub use crate::numpy::{ItemOrder, NpyHeader};
pub use format::checksum::Checksum;
pub(crate) use format::header::is_bloscpack;
pub use format::header::{FileHeader, Version};
pub use format::metadata::{Metadata, MetadataOptions};
pub use format::offsets::Offsets;
pub use npy::{pack_npy, pack_npy_to_stream, unpack_npy};
pub use options::BloscpackOptions;
pub use read::ranges::Verified;
pub use read::reader::{Bloscpack, ReadOptions};
pub use read::stream::{Unpacked, unpack};
pub use write::append::{AppendOptions, append, append_or_rewrite, append_to_file};
pub use write::edit::{Recovery, recover, replace_metadata};
pub use write::rewrite::rewrite;
pub use write::writer::{BloscpackWriter, Summary};

use crate::error::{AtPath, Result};
use crate::storage::{FileStorage, MemoryStorage, Storage};
use std::io::{Read, Write};
use std::path::Path;

/// Writes a file with all that comes out of `data` to a stream, which may be a pipe.
///
/// # Errors
/// As [`BloscpackWriter::to_stream`] and [`BloscpackWriter::push_all`].
pub fn pack(data: impl Read, out: impl Write, options: &BloscpackOptions) -> Result<Summary> {
    let mut writer = BloscpackWriter::to_stream(out, options)?;
    writer.push_all(data)?;
    writer.finish()
}

/// Writes a file with all that comes out of `data` to a storage, in place of what that holds.
///
/// # Errors
/// As [`BloscpackWriter::to_storage`] and [`BloscpackWriter::push_all`].
pub fn pack_to_storage(data: impl Read, storage: &mut dyn Storage, options: &BloscpackOptions) -> Result<Summary> {
    let mut writer = BloscpackWriter::to_storage(storage, options)?;
    writer.push_all(data)?;
    writer.finish()
}

/// Writes a file with all that comes out of `data` at `path`, in place of one that may be there.
///
/// # Errors
/// As [`pack_to_storage`].
pub fn pack_to_file(data: impl Read, path: impl AsRef<Path>, options: &BloscpackOptions) -> Result<Summary> {
    let path = path.as_ref();
    pack_to_storage(data, &mut FileStorage::create(path).at_path(path)?, options)
}

/// The bytes of a file that holds `data`.
///
/// # Errors
/// As [`BloscpackWriter::to_storage`].
pub fn pack_slice(data: &[u8], options: &BloscpackOptions) -> Result<Vec<u8>> {
    let mut storage = MemoryStorage::default();
    let options = options.clone().with_nbytes(data.len() as u64);
    let mut writer = BloscpackWriter::to_storage(&mut storage, &options)?;
    writer.push(data)?;
    writer.finish()?;
    Ok(storage.into_bytes())
}
