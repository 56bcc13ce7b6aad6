//! `blosc append`

use crate::changing;
use crate::cli::Global;
use crate::failure::{At, Failure, Outcome};
use crate::format::{self, FileFormat};
use crate::input::{self, PlainFile};
use crate::output::Output;
use crate::progress::{Progress, Task};
use crate::source::{Opening, Source};
use blosc_oxide::bloscpack::{AppendOptions, append_to_file};
use blosc_oxide::{FileStorage, NdArray, NumpyArray, PackedWriter};
use clap::Args;
use std::io::Read;
use std::path::PathBuf;

/// What new chunks hold where the file does not say it.
const CHUNK_SIZE: usize = 4 << 20;

/// Append data to a frame, an array, a Bloscpack file or a packed super-chunk.
///
/// The data is compressed as that in the file is. An array grows along its first axis, by whole layers. If it fails, the
/// file is as it was.
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
        if input::is_same_file(&self.file, &self.data)? {
            return Err(Failure::usage(format!("{place}: a file cannot be appended to itself; append a copy of it")));
        }
        let mut data = PlainFile::open(&self.data)?;
        let task = Task { verb: "appending", total: data.nbytes, compressed: None };
        let progress = Progress::start(task, global.shows_progress());
        data.data = progress.reading_data(data.data);
        match source {
            Source::Frame(frame) if format::is_array(&frame) => {
                drop(frame);
                self.append_to_array(data, global)
            }
            Source::Frame(frame)
                if !matches!(FileFormat::of_frame(&frame), FileFormat::FrameBeta1 | FileFormat::FrameBeta5) =>
            {
                drop(frame);
                self.append_to_frame(data.data.reader, global)
            }
            Source::Frame(_) => Err(Failure::data("an early frame cannot be changed; convert it to b2frame first")),
            Source::Bloscpack(file) => {
                drop(file);
                self.append_to_bloscpack(data.data.reader, global)
            }
            Source::Packed(packed) => {
                let first = if packed.nchunks() > 0 { Some(packed.chunk_header(0)?) } else { None };
                drop(packed);
                let (typesize, size) = first.map_or((1, CHUNK_SIZE), |header| (header.typesize(), header.nbytes()));
                self.append_to_packed(data.data.reader, typesize, size, global)
            }
            Source::Chunk(_) => Err(Failure::usage("a single chunk cannot grow; convert it to b2frame first")),
        }
        .at(place)
    }

    fn append_to_frame(&self, data: impl Read + Send, global: &Global) -> Outcome {
        changing::change(&self.file, global, |frame| {
            let chunk_size = frame.chunksize().unwrap_or(CHUNK_SIZE - CHUNK_SIZE % frame.typesize().min(CHUNK_SIZE));
            frame.extend_from(data, chunk_size)?;
            Ok(())
        })
    }

    fn append_to_array(&self, data: PlainFile, global: &Global) -> Outcome {
        let mut array = NdArray::from_frame(changing::open(&self.file, global)?)?;
        if let Some(described) = &data.array {
            check_layers(described, &array)?;
        }
        let order = data.array.as_ref().map_or_else(|| array.order(), NumpyArray::order);
        let file = data.data.into_file().at(input::shown(&self.data))?;
        let appended = array.append_from(0, &file, order).and_then(|()| array.commit());
        if appended.is_err() {
            // Dropping it would commit. After a write that failed nothing can be, and there is nothing to give up.
            let _ = array.rollback();
        }
        Ok(appended?)
    }

    fn append_to_bloscpack(&self, data: impl Read, global: &Global) -> Outcome {
        // Of a link, the file that it leads to is changed.
        let path = self.file.canonicalize()?;
        // A file without room is written anew, where an interrupted run leaves nothing behind.
        let spare = Output::beside(&path)?;
        let options = AppendOptions::new().rewrite(true).spare(spare.path());
        let options = options.threads(global.threads()).limits(global.limits());
        append_to_file(&path, data, &options)?;
        Ok(())
    }

    fn append_to_packed(&self, mut data: impl Read, typesize: usize, size: usize, global: &Global) -> Outcome {
        let storage = FileStorage::open_writable(&self.file)?;
        let mut writer = PackedWriter::open_with_limits(storage, typesize, global.limits())?;
        let appended = append_chunks(&mut writer, &mut data, size);
        if appended.is_err() {
            writer.abandon();
        }
        appended
    }
}

fn append_chunks(writer: &mut PackedWriter<FileStorage>, data: &mut impl Read, size: usize) -> Outcome {
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        data.by_ref().take(size.max(1) as u64).read_to_end(&mut buffer)?;
        if buffer.is_empty() {
            return Ok(writer.commit()?);
        }
        writer.append(&buffer)?;
    }
}

/// Whether what an .npy file describes is layers of the array, or one.
fn check_layers(described: &NumpyArray, array: &NdArray) -> Outcome {
    if described.dtype() != array.dtype() {
        let (given, there) = (described.dtype(), array.dtype());
        return Err(Failure::usage(format!("items of type {given} are given, the array has {there}")));
    }
    let inner = array.shape().get(1..).unwrap_or_default();
    if described.shape().get(1..) != Some(inner) && described.shape() != inner {
        let (given, there) = (described.shape(), array.shape());
        return Err(Failure::usage(format!("an array of shape {given:?} does not go behind one of {there:?}")));
    }
    Ok(())
}
