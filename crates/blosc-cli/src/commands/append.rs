//! `blosc append`

use crate::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::format::{self, FileFormat};
use crate::input::PlainFile;
use crate::source::{Opening, Source};
use blosc_oxide::bloscpack::{AppendOptions, append_to_file};
use blosc_oxide::{FileStorage, Frame, NdArray, PackedWriter};
use clap::Args;
use std::io::Read;
use std::path::PathBuf;

/// What new chunks hold where the file does not say it.
const CHUNK_SIZE: usize = 4 << 20;
/// How much of what is added to an array is in memory at a time.
const LAYERS: u64 = 64 << 20;

/// Append data to a frame, an array, a Bloscpack file or a packed super-chunk.
///
/// The data is compressed as that in the file is. An array grows along its first axis, by whole layers.
#[derive(Debug, Args)]
pub(crate) struct Append {
    /// The file to append to
    file: PathBuf,
    /// The data; `-` is standard input
    data: PathBuf,
}

impl Append {
    pub(crate) fn run(&self, global: &Global) -> Outcome {
        let place = self.file.display();
        let source = Opening::new(global).open(&self.file)?;
        let data = PlainFile::open(&self.data)?;
        match source {
            Source::Frame(frame) if format::is_array(&frame) => {
                drop(frame);
                self.append_to_array(data, global)
            }
            Source::Frame(frame)
                if !matches!(FileFormat::of_frame(&frame), FileFormat::FrameBeta1 | FileFormat::FrameBeta5) =>
            {
                drop(frame);
                self.append_to_frame(data.reader, global)
            }
            Source::Frame(_) => Err(Failure::data("an early frame cannot be changed; convert it to b2frame first")),
            Source::Bloscpack(file) => {
                drop(file);
                let options = AppendOptions::new().rewrite(true).threads(global.threads()).limits(global.limits());
                append_to_file(&self.file, data.reader, &options)?;
                Ok(())
            }
            Source::Packed(packed) => {
                let first = if packed.nchunks() > 0 { Some(packed.chunk_header(0)?) } else { None };
                drop(packed);
                let (typesize, size) = first.map_or((1, CHUNK_SIZE), |header| (header.typesize(), header.nbytes()));
                self.append_to_packed(data.reader, typesize, size, global)
            }
            Source::Chunk(_) => Err(Failure::usage("a single chunk cannot grow; convert it to b2frame first")),
        }
        .at(place)
    }

    fn append_to_frame(&self, data: impl Read + Send, global: &Global) -> Outcome {
        let mut frame = Frame::open_writable_with(&self.file, Opening::new(global).frame_options())?;
        let chunk_size = frame.chunksize().unwrap_or(CHUNK_SIZE - CHUNK_SIZE % frame.typesize().min(CHUNK_SIZE));
        frame.extend_from(data, chunk_size)?;
        Ok(frame.commit()?)
    }

    fn append_to_array(&self, mut data: PlainFile, global: &Global) -> Outcome {
        let frame = Frame::open_writable_with(&self.file, Opening::new(global).frame_options())?;
        let mut array = NdArray::from_frame(frame)?;
        if let Some(described) = &data.array
            && described.dtype() != array.dtype()
        {
            return Err(Failure::usage(format!(
                "items of type {} are given, the array has {}",
                described.dtype(),
                array.dtype()
            )));
        }
        let Some((&chunk, inner)) = array.geometry().chunks().first().zip(array.shape().get(1..)) else {
            return Err(Failure::usage("an array without axes cannot grow"));
        };
        let layer = inner.iter().product::<u64>().saturating_mul(array.geometry().typesize() as u64).max(1);
        // Whole chunks at a time, so that none is compressed twice.
        let piece = layer.saturating_mul(chunk.max(1)).saturating_mul((LAYERS / layer / chunk.max(1)).max(1));
        loop {
            let mut layers = Vec::new();
            data.reader.by_ref().take(piece).read_to_end(&mut layers)?;
            if layers.is_empty() {
                return Ok(array.commit()?);
            }
            if !(layers.len() as u64).is_multiple_of(layer) {
                return Err(Failure::usage(format!(
                    "the data does not make up whole layers, which have {layer} bytes"
                )));
            }
            array.append(0, &layers)?;
        }
    }

    fn append_to_packed(&self, mut data: impl Read, typesize: usize, size: usize, global: &Global) -> Outcome {
        let storage = FileStorage::open_writable(&self.file)?;
        let mut writer = PackedWriter::open_with_limits(storage, typesize, global.limits())?;
        loop {
            let mut buffer = Vec::new();
            data.by_ref().take(size.max(1) as u64).read_to_end(&mut buffer)?;
            if buffer.is_empty() {
                return Ok(writer.commit()?);
            }
            writer.append(&buffer)?;
        }
    }
}
