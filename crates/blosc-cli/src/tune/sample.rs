//! A sample of the data: pieces from all over it.

use crate::arguments::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::inputs::format::FileFormat;
use crate::inputs::input::{self, PlainFile};
use crate::inputs::reading::Plain;
use crate::inputs::source::Opening;
use crate::outputs::encoding::best_typesize;
use crate::store;
use blosc_oxide::{Container, storage::ReadAt};
use std::io::Read;
use std::path::Path;

/// In how many pieces a long file is sampled.
const PIECES: u64 = 8;
/// How much data is tried with where nobody asks for it.
const QUICK_ROOM: usize = 4 << 20;

/// Some of the data, and what is known about all of it.
pub(crate) struct Sample {
    pub(crate) bytes: Vec<u8>,
    pub(crate) typesize: usize,
    /// How much data there is in all, if that is known.
    pub(crate) total: Option<u64>,
    /// The name for the same data in another compression, if it is compressed already.
    pub(crate) converted: Option<String>,
}

impl Sample {
    /// Takes up to `room` bytes of the data of `path`, which may be compressed already.
    pub(crate) fn of(path: &Path, typesize: Option<usize>, room: usize, global: &Global) -> Outcome<Self> {
        if !input::is_stream(path) && path.exists() && store::is_store(path)? {
            return Err(Failure::data(format!("{}: {}", path.display(), store::SEVERAL)));
        }
        let mut sample = if is_blosc(path) { Self::of_blosc(path, room, global)? } else { Self::of_plain(path, room)? };
        if sample.bytes.is_empty() {
            return Err(Failure::usage(format!("{}: there is no data in it to try anything with", input::shown(path))));
        }
        if let Some(typesize) = typesize {
            sample.typesize = typesize;
        } else if sample.typesize == 0 {
            sample.typesize = best_typesize(&sample.bytes);
        }
        let whole = sample.bytes.len() - sample.bytes.len() % sample.typesize.max(1);
        if whole > 0 {
            sample.bytes.truncate(whole);
        }
        Ok(sample)
    }

    fn of_blosc(path: &Path, room: usize, global: &Global) -> Outcome<Self> {
        let place = input::shown(path);
        let source = Opening::new(global).open(path)?;
        let typesize = source.typesize().in_data(&place)?;
        let plain = Plain::new(source).in_data(&place)?;
        let total = plain.nbytes().in_data(&place)?;
        let mut bytes = Vec::new();
        for (start, len) in pieces(total, room, typesize) {
            plain.write_range(start..start + len, &mut bytes).in_data(&place)?;
        }
        let extension = if matches!(plain, Plain::Array(_)) { FileFormat::B2nd } else { FileFormat::B2frame };
        let converted = path.with_extension(format!("tuned.{}", extension.extension()));
        Ok(Self { bytes, typesize, total: Some(total), converted: Some(converted.display().to_string()) })
    }

    fn of_plain(path: &Path, room: usize) -> Outcome<Self> {
        let place = input::shown(path);
        let mut file = PlainFile::open(path, true)?;
        let typesize = file.array.as_ref().map_or(0, blosc_oxide::NpyHeader::itemsize);
        let mut bytes = Vec::new();
        match (&file.data.file, file.nbytes) {
            (Some(storage), Some(total)) if total > room as u64 => {
                for (start, len) in pieces(total, room, typesize.max(1)) {
                    let at = bytes.len();
                    bytes.resize(at + usize::try_from(len).unwrap_or(0), 0);
                    storage.read_at(start, &mut bytes[at..]).at(&place)?;
                }
            }
            _ => {
                file.data.reader.by_ref().take(room as u64).read_to_end(&mut bytes).at(&place)?;
            }
        }
        Ok(Self { bytes, typesize, total: file.nbytes, converted: None })
    }
}

/// Pieces from all over data that is to be compressed; of what comes through a pipe, its start.
pub(crate) fn sample_of(file: &PlainFile, typesize: usize) -> Outcome<Vec<u8>> {
    let (Some(storage), Some(total)) = (&file.data.file, file.nbytes) else {
        let whole = file.sample.len() - file.sample.len() % typesize.max(1);
        return Ok(file.sample[..whole].to_vec());
    };
    let mut bytes = Vec::new();
    for (start, len) in pieces(total - total % typesize.max(1) as u64, QUICK_ROOM, typesize.max(1)) {
        let at = bytes.len();
        bytes.resize(at + usize::try_from(len).unwrap_or(0), 0);
        storage.read_at(start, &mut bytes[at..])?;
    }
    Ok(bytes)
}

fn is_blosc(path: &Path) -> bool {
    !input::is_stream(path) && (matches!(Container::detect_path(path), Ok(Some(_))) || store::split(path).is_some())
}

/// Where the pieces of a sample start, and how long each is: all of the data if it is short enough.
fn pieces(total: u64, room: usize, typesize: usize) -> Vec<(u64, u64)> {
    // Pieces start at items, and at places that any common item divides.
    let unit = (typesize as u64).saturating_mul(64).max(64);
    let len = room as u64 / PIECES / unit * unit;
    if total <= room as u64 || len == 0 {
        return vec![(0, total.min(room as u64))];
    }
    let step = (total - len) / (PIECES - 1) / unit * unit;
    (0..PIECES).map(|piece| (piece * step, len)).collect()
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_come_from_all_over_and_lie_inside() {
        assert_eq!(pieces(1000, 5000, 8), [(0, 1000)]);
        let found = pieces(1 << 30, 8 << 20, 8);
        assert_eq!(found.len(), 8);
        assert!(found.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
        assert!(found.iter().all(|&(start, len)| start % 8 == 0 && start + len <= 1 << 30));
        assert!(found[7].0 > 900 << 20);
    }
}
